// The screen of an item: choosing outputs, marking several, and how they differ from the chosen one.
import { ask, find, main } from "./page.js";

const QUIET = 120; // ms on an output before the differences to it are asked for

export const marks = new Set(); // the numbers of marked outputs
let later; // the timer of the next question for differences
let comparing; // stops the question that is under way

const rows = () => [...main.querySelectorAll(".output-row")];
export const chosenRow = () => find(".output-row.chosen", main);
export const itemShown = () => find(".case", main)?.dataset.item;

export function choose(row, { focus = true } = {}) {
  for (const other of main.querySelectorAll("[data-step].chosen")) other.classList.remove("chosen");
  row.classList.add("chosen");
  row.scrollIntoView({ block: "nearest" });
  if (focus) find("a.open", row)?.focus({ preventScroll: true });
  if (!row.matches(".output-row")) return;
  find("#output", main)?.removeAttribute("id");
  find(".text", row).id = "output";
  find("[aria-current]", main)?.removeAttribute("aria-current");
  find("a.open", row).setAttribute("aria-current", "true");
  lightRules(row);
  noteOn(row.dataset.output);
  compareSoon(row);
}

// "This output" is the one that is chosen, in the list of notes and for a new one; and the page comes
// back to it.
function noteOn(output) {
  const about = find(".note-form form", main).elements.output;
  for (const after of main.querySelectorAll('.desk [name="after"]')) {
    after.value = after.value.replace(`/case/${about.value}?`, `/case/${output}?`);
  }
  about.value = output;
  for (const note of main.querySelectorAll("[data-about]")) {
    const here = note.dataset.about === output;
    find(".on-this", note).hidden = !here;
    find(".on-other", note).hidden = here;
  }
}

function lightRules(row) {
  const hits = row.dataset.rules.split(" ");
  for (const rule of main.querySelectorAll("[data-rule]")) {
    rule.classList.toggle("hit", hits.includes(rule.dataset.rule));
  }
}

function compareSoon(row) {
  clearTimeout(later);
  comparing?.abort();
  later = setTimeout(() => compare(row.dataset.output), QUIET);
}

async function compare(output) {
  comparing = new AbortController();
  try {
    const { reply, ok } = await ask(`/case/${output}/differences`, { signal: comparing.signal });
    if (!ok || chosenRow()?.dataset.output !== output) return;
    for (const row of rows()) {
      const text = find(".text", row);
      const pieces = reply.texts[row.dataset.output];
      // Words that somebody is selecting stay.
      if (pieces !== undefined && !text.contains(getSelection().anchorNode)) text.innerHTML = pieces;
    }
  } catch {
    // The differences are a help; whoever judges is told by the next answer that the server is gone.
  }
}

// After a decision the next warning of the item is chosen, and nothing moves.
export function chooseNext(after) {
  const all = rows();
  const at = Math.max(all.findIndex((row) => row.dataset.output === after), 0);
  const next = [...all.slice(at), ...all.slice(0, at)].find((row) => "open" in row.dataset);
  if (next && next !== chosenRow()) choose(next, { focus: false });
}

function showMarks() {
  for (const row of rows()) {
    const marked = marks.has(row.dataset.output);
    row.classList.toggle("marked", marked);
    find("[data-mark]", row).checked = marked;
  }
  const bar = find(".marks", main);
  if (!bar) return;
  bar.hidden = !marks.size;
  find(".marked-count", bar).textContent = `${marks.size} marked`;
}

export function mark(row) {
  const number = row?.dataset.output;
  if (!number) return;
  if (!marks.delete(number)) marks.add(number);
  showMarks();
}

export function markAll() {
  const open = rows().filter((row) => "open" in row.dataset);
  const whole = open.every((row) => marks.has(row.dataset.output));
  for (const row of open) {
    if (whole) marks.delete(row.dataset.output);
    else marks.add(row.dataset.output);
  }
  showMarks();
}

export function unmark() {
  marks.clear();
  showMarks();
}

// What is sent to settle all that are marked.
export function decisionOnMarked(form, choice) {
  const wanted = rows().filter((row) => marks.has(row.dataset.output));
  const fields = new URLSearchParams(new FormData(form));
  fields.delete("output");
  fields.delete("seen");
  fields.set("outputs", wanted.map((row) => `${row.dataset.output}:${row.dataset.seen}`).join(" "));
  fields.set("choice", choice);
  return fields;
}

// A new item, or the same one after a decision; `before` is what was shown.
export function arrive(before, decided) {
  if (!itemShown() || itemShown() !== before.item) marks.clear();
  const stays = rows()
    .filter((row) => !decided || "open" in row.dataset)
    .map((row) => row.dataset.output);
  for (const number of marks) if (!stays.includes(number)) marks.delete(number);
  showMarks();
  recall();
  if (chosenRow()) lightRules(chosenRow());
}

const places = () => main.querySelectorAll("details[data-remember]");

function recall() {
  for (const place of places()) {
    const known = localStorage.getItem(`open-${place.dataset.remember}`);
    if (known !== null) place.open = known === "1";
  }
}

document.addEventListener("toggle", (event) => {
  if (event.target.matches?.("details[data-remember]")) {
    localStorage.setItem(`open-${event.target.dataset.remember}`, event.target.open ? "1" : "0");
  }
}, true);

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-mark]")) mark(event.target.closest(".output-row"));
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-unmark]")) return unmark();
  if (event.target.closest("[data-mark-all]")) return markAll();
  const row = event.target.closest(".output-row");
  if (!row || event.ctrlKey || event.metaKey || event.shiftKey) return undefined;
  if (event.target.closest("a.open")) event.preventDefault();
  else if (event.target.closest("a, button, input")) return undefined;
  return row.classList.contains("chosen") ? undefined : choose(row, { focus: getSelection().isCollapsed });
});

arrive({ item: itemShown() }, false);
