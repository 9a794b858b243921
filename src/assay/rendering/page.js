// Columns sort at a click: figures from the highest, texts from A; unknown values stay last.
// A row whose first cell is empty belongs to the row above and goes where that one goes.
"use strict";
const collator = new Intl.Collator(undefined, { numeric: true });

function compare(a, b, numeric, sign) {
  if (a === "" || b === "") return (a === "") - (b === "");
  return sign * (numeric ? a - b : collator.compare(a, b));
}

function groups(body) {
  const found = [];
  for (const row of body.rows) {
    if (found.length && row.cells[0].textContent.trim() === "") found.at(-1).push(row);
    else found.push([row]);
  }
  return found;
}

function sort(table, index, header, numeric) {
  const first = numeric ? "descending" : "ascending";
  const other = numeric ? "ascending" : "descending";
  const order = header.getAttribute("aria-sort") === first ? other : first;
  const sign = order === "ascending" ? 1 : -1;
  const key = (row) => {
    const cell = row.cells[index];
    return numeric ? cell.dataset.value ?? "" : cell.textContent.trim();
  };
  const keyed = groups(table.tBodies[0]).map((group) => [key(group[0]), group]);
  keyed.sort((a, b) => compare(a[0], b[0], numeric, sign));
  for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", order);
  table.tBodies[0].append(...keyed.flatMap((each) => each[1]));
}

for (const table of document.querySelectorAll("table")) {
  if (groups(table.tBodies[0]).length < 2) continue;
  [...table.tHead.rows[0].cells].forEach((header, index) => {
    const button = document.createElement("button");
    button.append(...header.childNodes);
    const rows = [...table.tBodies[0].rows];
    const numeric = rows.some((row) => "value" in row.cells[index].dataset);
    button.addEventListener("click", () => sort(table, index, header, numeric));
    header.append(button);
  });
}
