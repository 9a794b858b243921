// Columns sort at a click: figures from the highest, texts from A; unknown values stay last.
"use strict";
const collator = new Intl.Collator(undefined, { numeric: true });

function compare(a, b, numeric, sign) {
  if (a === "" || b === "") return (a === "") - (b === "");
  return sign * (numeric ? a - b : collator.compare(a, b));
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
  const rows = [...table.tBodies[0].rows].map((row) => [key(row), row]);
  rows.sort((a, b) => compare(a[0], b[0], numeric, sign));
  for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", order);
  table.tBodies[0].append(...rows.map((each) => each[1]));
}

for (const table of document.querySelectorAll("table")) {
  if (table.tBodies[0].rows.length < 2) continue;
  [...table.tHead.rows[0].cells].forEach((header, index) => {
    const button = document.createElement("button");
    button.append(...header.childNodes);
    const rows = [...table.tBodies[0].rows];
    const numeric = rows.some((row) => "value" in row.cells[index].dataset);
    button.addEventListener("click", () => sort(table, index, header, numeric));
    header.append(button);
  });
}
