// What a reader can do with the tables: sort them, see all rows, and choose one of a group.
// Without this script all is there as well: long tables scroll, and tables of a group unfold.
"use strict";
const collator = new Intl.Collator(undefined, { numeric: true });
const ROWS = 25; // so many rows of a long table are shown at first,
const SPARE = 5; // unless there are only a few more

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// Columns sort at a click: figures from the highest, texts from A; unknown values stay last.
function compare(a, b, numeric, sign) {
  if (a === "" || b === "") return (a === "") - (b === "");
  return sign * (numeric ? a - b : collator.compare(a, b));
}

// A row whose first cell is empty belongs to the row above and goes where that one goes.
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

function sortable(table) {
  if (groups(table.tBodies[0]).length < 2) return;
  [...table.tHead.rows[0].cells].forEach((header, index) => {
    const button = document.createElement("button");
    button.append(...header.childNodes);
    const rows = [...table.tBodies[0].rows];
    const numeric = rows.some((row) => "value" in row.cells[index].dataset);
    button.addEventListener("click", () => {
      sort(table, index, header, numeric);
      table.dispatchEvent(new Event("sorted"));
    });
    header.append(button);
  });
}

// A long table shows its first rows, in whatever order it is sorted, and all rows on demand.
function shortened(table) {
  const count = table.tBodies[0].rows.length;
  if (count <= ROWS + SPARE) return;
  const box = table.parentElement;
  const button = element("button", "", { type: "button", class: "rows", "aria-expanded": "false" });
  const tally = element("span", "", { class: "tally" });
  const line = element("p", "", { class: "all-rows" });
  line.append(button, tally);
  box.after(line);
  const show = () => {
    const all = button.getAttribute("aria-expanded") === "true";
    let shown = 0;
    for (const group of groups(table.tBodies[0])) {
      const visible = all || shown < ROWS;
      for (const row of group) row.hidden = !visible;
      if (visible) shown += group.length;
    }
    box.classList.toggle("short", !all);
    button.textContent = all ? `Show the first ${ROWS} rows` : `Show all ${count} rows`;
    tally.textContent = `${shown} of ${count} rows are shown`;
  };
  button.addEventListener("click", () => {
    button.setAttribute("aria-expanded", String(button.getAttribute("aria-expanded") !== "true"));
    show();
    hint(box);
  });
  table.addEventListener("sorted", show);
  show();
}

// Where a phone shows a row of long texts as lines, each cell says what it is, unless it is the
// only long text.
function labelled(table) {
  const headers = [...table.tHead.rows[0].cells];
  const several = headers.filter((header) => header.classList.contains("long")).length > 1;
  for (const row of table.tBodies[0].rows) {
    [...row.cells].forEach((cell, at) => {
      if (several || !cell.classList.contains("long")) cell.dataset.label = headers[at].textContent;
    });
  }
}

// Of a group one table is shown, picked from lists. Pairs can be picked from either end.
function chosen(box) {
  const parts = [...box.children].map((part) => [JSON.parse(part.dataset.choice), part]);
  const names = JSON.parse(box.dataset.names);
  const symmetric = "symmetric" in box.dataset;
  const found = symmetric
    ? parts.flatMap(([[a, b], part]) => [[[a, b], part], [[b, a], part]])
    : parts;
  const line = element("div", "", { class: "chooser" });
  const selects = names.map((name) => {
    const label = element("label", name);
    label.append(document.createElement("select"));
    line.append(label);
    return label.lastChild;
  });
  const options = (level) => {
    const before = selects.slice(0, level).map((select) => select.value);
    const fitting = found.filter(([values]) => before.every((value, at) => values[at] === value));
    return [...new Set(fitting.map(([values]) => values[level]))];
  };
  const fill = (level) => {
    for (let at = level; at < selects.length; at++) {
      const old = selects[at].value;
      const values = options(at);
      selects[at].replaceChildren(...values.map((value) => new Option(value, value)));
      if (values.includes(old)) selects[at].value = old;
    }
    const wanted = selects.map((select) => select.value);
    const [, shown] = found.find(([values]) => values.every((value, at) => value === wanted[at]));
    for (const [, part] of parts) {
      part.hidden = part !== shown;
      part.open = true;
    }
    shown.querySelectorAll(".scroll").forEach(hint);
  };
  selects.forEach((select, level) => select.addEventListener("change", () => fill(level + 1)));
  box.classList.add("one");
  box.before(line);
  fill(0);
}

// What is wider than its box says so.
function hint(box) {
  const wider = box.scrollWidth > box.clientWidth + 1;
  let line = box.nextElementSibling;
  if (!line?.classList.contains("sideways")) {
    if (!wider) return;
    line = element("p", "Scroll sideways to see all of it →", { class: "sideways" });
    box.after(line);
  }
  line.hidden = !wider;
}

document.querySelectorAll("table").forEach(sortable);
document.querySelectorAll("table.texts").forEach(labelled);
document.querySelectorAll("section table:not(.numbers table)").forEach(shortened);
document.querySelectorAll(".choices").forEach(chosen);
const boxes = document.querySelectorAll(".scroll, .plot");
boxes.forEach(hint);
addEventListener("resize", () => boxes.forEach(hint));
