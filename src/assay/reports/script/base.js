// The report: plots, the list of findings and the browser of segments, drawn from the page's data.
// Data is put in as text, never as markup. The address after `#` says what is seen: `#verdict`,
// `#finding-f3`, `#segments?finding=f3&sort=loss`, `#segment-12`; so links, back, forward and
// reloading lead to the same view.
const data = JSON.parse(document.getElementById("data").textContent);
const { systems, baseline, metrics, findings, slices, segments } = data;

const FINDINGS_AT_ONCE = 10;
const SEGMENTS_AT_ONCE = 20;
const FEW_SYSTEMS = 3; // So many are all shown at first; of more systems, only the pair.
const LONG_TEXT = 700; // Characters; longer texts are cut, with a button for the rest.
const MOST_CELLS = 1e6; // Of the table that aligns two texts; longer ones are compared as bags.
const FINDINGS_TO_CHOOSE = 100;

const metricById = new Map(metrics.map((metric) => [metric.id, metric]));
const findingById = new Map(findings.map((finding) => [finding.id, finding]));
const sliceById = new Map(slices.map((slice) => [slice.id, slice]));
const kindTitle = new Map(data.kinds.map((kind) => [kind.id, kind.title]));
const count = segments.outputs[systems[0]].length;

// Elements.

/** `make("p.note", { dir: "auto" }, "text", child)`: an element; texts stay texts. */
function make(name, attributes = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  return fill(element, attributes, children);
}

function draw(name, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child != null && child !== false));
  return element;
}

const byId = (id) => document.getElementById(id);
const text = (words, name = "span") => make(name, { dir: "auto" }, words);
const plural = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;

function tell(message) {
  const place = byId("told");
  place.textContent = message;
  place.classList.add("shown");
  clearTimeout(tell.timer);
  tell.timer = setTimeout(() => place.classList.remove("shown"), 4000);
}

// Numbers.

const minus = (printed) =>
  Number(printed.replace("−", "-")) === 0
    ? printed.replace(/^[-−]/, "")
    : printed.replace("-", "−");
const fixed = (value, digits) => (value == null ? "–" : minus(value.toFixed(digits)));
const signed = (value, digits) => {
  const printed = fixed(value, digits);
  return value > 0 && Number(printed) !== 0 ? `+${printed}` : printed;
};
const interval = (low, high, digits) =>
  low == null || high == null ? "" : `[${fixed(low, digits)}, ${fixed(high, digits)}]`;
const percent = (share) => `${fixed(100 * share, Math.abs(share) < 0.1 ? 1 : 0)} %`;
const chance = (p) => (p == null ? "–" : p < 0.00005 ? "<0.0001" : p.toFixed(4));

/** Round numbers between two ends, about `wanted` of them. */
function ticks(low, high, wanted) {
  const rough = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough);
  const found = [];
  for (let at = Math.ceil(low / step); at * step <= high + step * 1e-6; at += 1)
    found.push(at * step);
  return { values: found, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}
