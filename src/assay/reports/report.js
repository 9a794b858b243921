// The report: plots, the list of findings and the browser of segments, drawn from the page's data.
// Data is put in as text, never as markup. The address after `#` says what is seen: `#verdict`,
// `#finding-f3`, `#segments?finding=f3&sort=loss`, `#segment-12`; so links, back, forward and
// reloading lead to the same view.
{
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

document.documentElement.classList.add("with-script");

// --- Elements ---------------------------------------------------------------------------------

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

// --- Numbers ----------------------------------------------------------------------------------

const minus = (printed) => (Number(printed.replace("−", "-")) === 0 ? printed.replace(/^[-−]/, "") : printed.replace("-", "−"));
const fixed = (value, digits) => (value == null ? "–" : minus(value.toFixed(digits)));
const signed = (value, digits) => {
  const printed = fixed(value, digits);
  return value > 0 && Number(printed) !== 0 ? `+${printed}` : printed;
};
const interval = (low, high, digits) => (low == null || high == null ? "" : `[${fixed(low, digits)}, ${fixed(high, digits)}]`);
const percent = (share) => `${fixed(100 * share, Math.abs(share) < 0.1 ? 1 : 0)} %`;
const chance = (p) => (p == null ? "–" : p < 0.00005 ? "<0.0001" : p.toFixed(4));

/** Round numbers between two ends, about `wanted` of them. */
function ticks(low, high, wanted) {
  const rough = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough);
  const found = [];
  for (let at = Math.ceil(low / step); at * step <= high + step * 1e-6; at += 1) found.push(at * step);
  return { values: found, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

// --- The address ------------------------------------------------------------------------------

function address() {
  const whole = location.hash.slice(1);
  const cut = whole.indexOf("?");
  const place = cut < 0 ? whole : whole.slice(0, cut);
  const query = new URLSearchParams(cut < 0 ? "" : whole.slice(cut + 1));
  try {
    return { place: decodeURIComponent(place), query };
  } catch {
    return { place, query };
  }
}

function withQuery(place, query) {
  const written = query.toString();
  return `#${place}${written ? `?${written}` : ""}`;
}

const findingAddress = (id) => `#finding-${encodeURIComponent(id)}`;
const segmentAddress = (number) => `#segment-${number}`;
const segmentsOf = (finding) => withQuery("segments", new URLSearchParams({ finding: finding.id }));

function show(element, { focus = element, block = "start" } = {}) {
  element.closest("details")?.setAttribute("open", "");
  element.scrollIntoView({ block });
  focus?.focus({ preventScroll: true });
}

/** Show what the address says. */
function route() {
  const { place, query } = address();
  const [, kind, id] = /^(finding|segment)-(.*)$/s.exec(place) ?? [];
  if (kind === "finding" && findingById.has(id)) return showFinding(id);
  if (kind === "segment" && Number(id) >= 1 && Number(id) <= count) return showSegment(Number(id));
  if (place === "where") return showFindings(query);
  if (place === "segments") return showSegments(query);
  const target = place && byId(place);
  if (target) show(target, { focus: target.hasAttribute("tabindex") ? target : null });
}

/** One step up: from a segment to the list, to its finding, to the verdict. */
function up() {
  const { place, query } = address();
  const finding = findingById.get(query.get("finding"));
  if (place.startsWith("segment-")) location.hash = browser.lastList;
  else if (place === "segments" && finding) location.hash = findingAddress(finding.id);
  else location.hash = "#verdict";
}

// --- Scoreboard -------------------------------------------------------------------------------

function scoreboard() {
  const table = byId("scores");
  table.dataset.view = "scores";
  for (const button of document.querySelectorAll("#views button")) {
    button.addEventListener("click", () => {
      table.dataset.view = button.dataset.view;
      for (const each of button.parentNode.children) each.setAttribute("aria-pressed", each === button);
    });
  }
  // The first click shows the best first, where that is the lowest too.
  table.addEventListener("click", ({ target }) => {
    const header = target.closest("button")?.closest("th");
    if (header?.dataset.best === "low" && !header.hasAttribute("aria-sort")) header.setAttribute("aria-sort", "descending");
  }, true);
  const scroll = table.closest(".scroll");
  scroll.after(copyButtons(scoreRows, () => shownRows(table)));
  for (const metric of metrics) {
    const plot = make("div.plot");
    byId("dots").append(make("figure.card.panel", {}, make("figcaption", {}, text(metric.title, "b"), " ", make("span.soft", {}, metric.higher ? "higher is better →" : "← lower is better")), plot, make("p.tools", {}, downloadButton(() => plot.firstChild, `scores-${metric.id}`))));
    new ResizeObserver(() => redraw(plot, (width) => dotPlot(metric, width))).observe(plot);
  }
}

function redraw(plot, drawing) {
  const width = Math.floor(plot.clientWidth);
  if (!width || plot.dataset.width === String(width)) return;
  plot.dataset.width = width;
  plot.replaceChildren(drawing(width));
}

/** One dot with its interval for each system, from the best down, on the metric's own axis. */
function dotPlot(metric, width) {
  const sign = metric.higher ? -1 : 1;
  const entries = data.scoreboard.filter((entry) => entry.metric === metric.id && entry.score != null);
  entries.sort((a, b) => sign * (a.score - b.score));
  const ends = entries.flatMap((entry) => [entry.low, entry.score, entry.high].filter((end) => end != null));
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const margin = (most - least || Math.abs(most) || 1) * 0.06;
  const longest = Math.max(...entries.map((entry) => textWidth(entry.system)));
  const left = Math.min(longest, width * 0.4) + 12;
  const row = 22;
  const height = entries.length * row + 8;
  const x = (value) => left + ((value - least + margin) / (most - least + 2 * margin)) * (width - left - 8);
  const chart = draw("svg", { class: "chart", role: "img", width, height: height + 22, viewBox: `0 0 ${width} ${height + 22}`, "aria-label": `${metric.title}: ${entries.map((entry) => `${entry.system} ${fixed(entry.score, metric.digits)}`).join(", ")}` });
  const axis = ticks(least - margin, most + margin, Math.max(2, (width - left) / 70));
  for (const value of axis.values) {
    chart.append(
      draw("line", { class: "grid", x1: x(value), x2: x(value), y1: 4, y2: height }),
      draw("text", { class: "tick", x: x(value), y: height + 15, "text-anchor": "middle" }, fixed(value, axis.digits)),
    );
  }
  entries.forEach((entry, at) => {
    const y = 4 + row * (at + 0.5);
    const next = entries[at + 1];
    if (next && entry.cluster != null && next.cluster !== entry.cluster) {
      chart.append(draw("line", { class: "cut", x1: 0, x2: width, y1: y + row / 2, y2: y + row / 2 }));
    }
    const known = entry.low != null && entry.high != null;
    chart.append(draw("g", { class: at === 0 ? "first" : "" },
      draw("title", {}, `${entry.system}: ${fixed(entry.score, metric.digits)} ${interval(entry.low, entry.high, metric.digits)}`),
      draw("text", { class: "label", x: left - 10, y: y + 4, "text-anchor": "end" }, shortened(entry.system, left - 12)),
      known && draw("line", { class: "range", x1: x(entry.low), x2: x(entry.high), y1: y, y2: y }),
      draw("circle", { class: entry.system === baseline && systems.length > 1 ? "dot hollow" : "dot", cx: x(entry.score), cy: y, r: 4.5 }),
    ));
  });
  return chart;
}

function textWidth(words, font = "12px system-ui, sans-serif") {
  textWidth.context ??= document.createElement("canvas").getContext("2d");
  textWidth.context.font = font;
  return textWidth.context.measureText(words).width;
}

function shortened(words, room) {
  if (textWidth(words) <= room) return words;
  let letters = [...words];
  while (letters.length > 1 && textWidth(`${letters.join("")}…`) > room) letters = letters.slice(0, -1);
  return `${letters.join("")}…`;
}

function scoreRows() {
  const names = ["score", "low", "high", "rank_low", "rank_high", "cluster", "difference", "difference_low", "difference_high", "p"];
  const rows = data.scoreboard.map((entry) => [entry.system, metricById.get(entry.metric)?.title ?? entry.metric, ...names.map((name) => entry[name] ?? "")]);
  return [["system", "metric", ...names], ...rows];
}

// --- Findings ---------------------------------------------------------------------------------

const where = { kind: "", pair: "", established: false, most: FINDINGS_AT_ONCE };

const pairOf = (finding) => (finding.other == null ? finding.system : `${finding.system} against ${finding.other}`);
const metricTitle = (finding) => metricById.get(finding.metric)?.title ?? finding.metric;
const withUnit = (printed, finding) => (finding.unit ? `${printed} ${finding.unit}` : printed);

function findingsSection() {
  const section = byId("where");
  if (!findings.length) {
    section.append(make("p.empty", {}, "There are no findings."));
    return;
  }
  const kinds = [...new Set(findings.map((finding) => finding.kind))];
  const pairs = [...new Set(findings.map(pairOf))];
  const chips = make("p.choices", { role: "group", "aria-label": "Kind of finding" });
  for (const kind of ["", ...kinds]) {
    const size = findings.filter((finding) => !kind || finding.kind === kind).length;
    chips.append(make("button", { type: "button", "data-kind": kind, click: () => goToFindings({ kind }) }, kind ? kindTitle.get(kind) ?? kind : "All", " ", make("span.soft", {}, size)));
  }
  const select = make("select", { id: "pair", change: ({ target }) => goToFindings({ pair: target.value }) }, make("option", { value: "" }, "all pairs"), ...pairs.map((pair) => make("option", { value: pair }, pair)));
  const box = make("input", { type: "checkbox", id: "established", change: ({ target }) => goToFindings({ established: target.checked }) });
  section.append(
    make("div.filters", {},
      kinds.length > 1 && chips,
      pairs.length > 1 && make("label", {}, "Pair ", select),
      make("label", {}, box, " established only"),
    ),
    make("p.note", {}, "Each line is a difference between two systems on a part of the test set, with its 95 % interval; right of the zero line, the system named first is better. Each metric has a scale of its own. Filled dots are established after adjusting for all tests; hollow ones are not."),
    make("ol.findings", { id: "findings" }),
    make("p.tools", {}, make("button", { type: "button", id: "more", click: () => goToFindings({ most: where.most + FINDINGS_AT_ONCE }) }, "More"), ...copyButtons(findingRows).children, downloadButton(() => forestPlot(listedFindings().slice(0, where.most)), "findings")),
  );
  drawFindings();
}

function goToFindings(change) {
  const next = { ...where, most: FINDINGS_AT_ONCE, ...change };
  const query = new URLSearchParams();
  if (next.kind) query.set("kind", next.kind);
  if (next.pair) query.set("pair", next.pair);
  if (next.established) query.set("established", "yes");
  if (next.most !== FINDINGS_AT_ONCE) query.set("most", next.most);
  goToFindings.inside = true;
  location.hash = withQuery("where", query);
}

function showFindings(query) {
  where.kind = query.get("kind") ?? "";
  where.pair = query.get("pair") ?? "";
  where.established = query.get("established") === "yes";
  where.most = Math.max(FINDINGS_AT_ONCE, Number(query.get("most")) || 0);
  drawFindings();
  if (!goToFindings.inside) show(byId("where"), { focus: null });
  goToFindings.inside = false;
}

function showFinding(id) {
  const main = mainOf(findingById.get(id));
  if (!listedFindings().includes(main)) Object.assign(where, { kind: "", pair: "", established: false });
  const place = listedFindings().indexOf(main);
  if (place >= where.most) where.most = place + 1;
  drawFindings();
  show(byId(`finding-${id}`), { block: "center" });
}

/** The finding under which this one is folded, or itself. */
function mainOf(finding) {
  return findingById.get(finding.under) ?? finding;
}

function folded(finding) {
  const ids = new Set([...finding.also, ...findings.filter((each) => each.under === finding.id).map((each) => each.id)]);
  return [...ids].map((id) => findingById.get(id)).filter((each) => each && each !== finding);
}

function passes(finding) {
  return (!where.kind || finding.kind === where.kind) && (!where.pair || pairOf(finding) === where.pair) && (!where.established || finding.established);
}

/** What passes the filters, without those that are folded under another one that does. */
function listedFindings() {
  const passing = findings.filter(passes).sort((a, b) => a.rank - b.rank);
  const kept = new Set(passing);
  return passing.filter((finding) => mainOf(finding) === finding || !kept.has(mainOf(finding)));
}

function drawFindings() {
  const list = byId("findings");
  if (!list) return;
  for (const chip of document.querySelectorAll("[data-kind]")) chip.setAttribute("aria-pressed", chip.dataset.kind === where.kind);
  const pair = byId("pair");
  if (pair) pair.value = where.pair;
  byId("established").checked = where.established;
  const listed = listedFindings();
  const shown = listed.slice(0, where.most);
  const scale = scales(shown);
  list.replaceChildren(...shown.map((finding) => findingItem(finding, scale)));
  if (!shown.length) list.append(make("li.empty", {}, "No finding passes these filters."));
  const more = byId("more");
  more.hidden = listed.length <= shown.length;
  more.textContent = `Show ${Math.min(FINDINGS_AT_ONCE, listed.length - shown.length)} more of ${listed.length}`;
}

const scaleName = (finding) => `${finding.metric}\n${finding.unit}`;

/** For each metric, how far its plots reach to both sides. */
function scales(shown) {
  const found = new Map();
  for (const finding of shown.flatMap((each) => [each, ...folded(each)])) {
    const far = Math.max(...[finding.difference, finding.low, finding.high].map((end) => Math.abs(end ?? 0)));
    found.set(scaleName(finding), Math.max(found.get(scaleName(finding)) ?? 0, far));
  }
  return found;
}

function findingItem(finding, scale) {
  const under = folded(finding).filter((each) => each !== mainOf(finding));
  const item = make("li.finding", { id: `finding-${finding.id}`, tabindex: -1, class: verdictClass(finding) },
    make("span.place", {}, finding.rank),
    make("div.what", {},
      make("h3", {}, make("a", { href: segmentsOf(finding) }, text(finding.title)), " ", make("span.tag", {}, kindTitle.get(finding.kind) ?? finding.kind), !finding.established && make("span.tag.unsure", {}, "not established")),
      text(finding.text, "p"),
    ),
    findingPlot(finding, scale),
    figures(finding),
    make("p.onward", {}, ...onward(finding)),
  );
  if (under.length) {
    item.append(make("details.also", { open: under.some((each) => location.hash === findingAddress(each.id)) },
      make("summary", {}, `also seen as ${plural(under.length, "finding")}`),
      make("ul", {}, ...under.map((each) => make("li", { id: `finding-${each.id}`, tabindex: -1, class: verdictClass(each) }, make("a", { href: segmentsOf(each) }, text(each.title)), " ", text(each.text), " ", make("span.soft", {}, figuresInWords(each)))))));
  }
  return item;
}

const verdictClass = (finding) => `finding ${finding.better == null ? "even" : finding.better ? "good" : "bad"}${finding.established ? "" : " unsure"}`;

function onward(finding) {
  const links = [make("a", { href: segmentsOf(finding) }, finding.segments.length ? `${plural(finding.segments.length, "segment")} →` : "segments →")];
  const part = byId(`section-${finding.section ?? `${finding.kind}s`}`) ?? byId(`section-${finding.kind}`);
  if (part) links.push(" · ", make("a", { href: `#${part.id}` }, "table"));
  if (finding.share != null) links.push(" · ", make("span.soft", {}, `${percent(finding.share)} of the whole difference`));
  if (mainOf(finding) !== finding) links.push(" · ", make("a", { href: findingAddress(finding.under) }, `under finding ${mainOf(finding).rank}`));
  return links;
}

function figures(finding) {
  const { digits } = finding;
  return make("p.figures", {},
    make("b", {}, withUnit(signed(finding.difference, digits), finding)), " ",
    make("span.range", {}, interval(finding.low, finding.high, digits)),
    make("span.soft", {}, `${metricTitle(finding)} ${fixed(finding.value, digits)}${finding.value_other == null ? "" : ` against ${fixed(finding.value_other, digits)}`}`),
    make("span.soft", {}, `n ${finding.n ?? "–"} · p ${chance(finding.p_adjusted ?? finding.p)}${finding.p_adjusted == null ? "" : " adjusted"}`),
  );
}

function figuresInWords(finding) {
  const p = finding.p_adjusted ?? finding.p;
  return `${metricTitle(finding)} ${withUnit(signed(finding.difference, finding.digits), finding)} ${interval(finding.low, finding.high, finding.digits)}${p == null ? "" : `, p ${chance(p)}`}${finding.established ? "" : ", not established"}`;
}

function findingPlot(finding, scale) {
  const [width, height] = [280, 34];
  const chart = draw("svg", { class: "chart forest", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": figuresInWords(finding) });
  chart.append(...forestMarks(finding, scale, 0, width, height / 2));
  return chart;
}

/** Zero line, interval and dot of a finding; to the right is better, whatever the metric. */
function forestMarks(finding, scale, left, width, y) {
  const far = scale.get(scaleName(finding)) || 1;
  const sign = finding.higher ? 1 : -1;
  const x = (value) => left + width / 2 + (sign * value * (width / 2 - 8)) / far;
  const look = finding.better == null ? "even" : finding.better ? "good" : "bad";
  return [
    draw("line", { class: "grid", x1: left, x2: left + width, y1: y, y2: y }),
    draw("line", { class: "zero", x1: x(0), x2: x(0), y1: y - 15, y2: y + 15 }),
    finding.low != null && finding.high != null && draw("line", { class: `range ${look}`, x1: x(finding.low), x2: x(finding.high), y1: y, y2: y }),
    finding.difference != null && draw("circle", { class: `dot ${look}${finding.established ? "" : " hollow"}`, cx: x(finding.difference), cy: y, r: 5 }),
  ].filter(Boolean);
}

/** The findings as one drawing, to be saved. */
function forestPlot(shown) {
  const [left, width, right, row] = [330, 300, 250, 34];
  const scale = scales(shown);
  const height = shown.length * row + 40;
  const total = left + width + right;
  const chart = draw("svg", { class: "chart", viewBox: `0 0 ${total} ${height}`, width: total, height });
  chart.append(
    draw("text", { class: "tick", x: left + width / 2 - 10, y: 18, "text-anchor": "end" }, "← worse"),
    draw("text", { class: "tick", x: left + width / 2 + 10, y: 18 }, "better →"),
  );
  shown.forEach((finding, at) => {
    const y = 30 + row * (at + 0.5);
    chart.append(
      draw("text", { class: "label", x: 8, y: y - 3 }, shortened(`${finding.rank}. ${finding.title}`, left - 20)),
      draw("text", { class: "tick", x: 8, y: y + 12 }, shortened(`${pairOf(finding)}${finding.established ? "" : ", not established"}`, left - 20)),
      ...forestMarks(finding, scale, left, width, y),
      draw("text", { class: "label", x: left + width + 12, y: y + 4 }, `${metricTitle(finding)} ${withUnit(signed(finding.difference, finding.digits), finding)} ${interval(finding.low, finding.high, finding.digits)}`),
    );
  });
  return chart;
}

function findingRows() {
  const names = ["rank", "kind", "title", "metric", "unit", "system", "other", "n", "value", "value_other", "difference", "low", "high", "p", "p_adjusted", "share"];
  return [[...names, "established", "text"], ...listedFindings().map((finding) => [...names.map((name) => finding[name] ?? ""), finding.established ? "yes" : "no", finding.text])];
}

// --- Words ------------------------------------------------------------------------------------

// Words, numbers and signs; the scripts that are written without spaces letter by letter.
const TOKEN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]\p{M}*|\p{N}+(?:[.,]\p{N}+)*|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[\p{L}\p{M}])+(?:['’-]\p{L}+)*|\S/gu;

function tokens(line) {
  return [...line.matchAll(TOKEN)].map((match) => ({ text: match[0], start: match.index, end: match.index + match[0].length }));
}

/** For each token of `a`, whether it is in the longest common subsequence with `b`. */
function common(a, b) {
  const kept = new Array(a.length).fill(false);
  const keptOther = new Array(b.length).fill(false);
  let start = 0;
  while (start < a.length && start < b.length && a[start].text === b[start].text) start += 1;
  let [end, endOther] = [a.length, b.length];
  while (end > start && endOther > start && a[end - 1].text === b[endOther - 1].text) [end, endOther] = [end - 1, endOther - 1];
  kept.fill(true, 0, start).fill(true, end);
  keptOther.fill(true, 0, start).fill(true, endOther);
  const [rows, columns] = [end - start, endOther - start];
  if (rows * columns > MOST_CELLS) return bags(a, b);
  const width = columns + 1;
  const longest = new Uint16Array((rows + 1) * width);
  for (let i = rows - 1; i >= 0; i -= 1) {
    for (let j = columns - 1; j >= 0; j -= 1) {
      const at = i * width + j;
      longest[at] = a[start + i].text === b[start + j].text ? longest[at + width + 1] + 1 : Math.max(longest[at + width], longest[at + 1]);
    }
  }
  for (let i = 0, j = 0; i < rows && j < columns;) {
    const at = i * width + j;
    if (a[start + i].text === b[start + j].text) {
      kept[start + i] = keptOther[start + j] = true;
      [i, j] = [i + 1, j + 1];
    } else if (longest[at + width] >= longest[at + 1]) i += 1;
    else j += 1;
  }
  return { kept, keptOther };
}

/** The same for very long texts: words that both have, in whatever order. */
function bags(a, b) {
  const match = (these, those) => {
    const left = new Map();
    for (const { text: word } of those) left.set(word, (left.get(word) ?? 0) + 1);
    return these.map(({ text: word }) => {
      const found = left.get(word) ?? 0;
      if (found) left.set(word, found - 1);
      return found > 0;
    });
  };
  return { kept: match(a, b), keptOther: match(b, a) };
}

/** The reference that shares most words with the tokens. */
function nearestReference(words, references) {
  let best = null;
  for (const reference of references) {
    const own = tokens(clipped(reference));
    const found = common(words, own);
    const size = found.kept.filter(Boolean).length;
    if (!best || size > best.size) best = { ...found, size, words: own };
  }
  return best;
}

/** One class per word: how it differs from the other output or from the reference. */
function markings(words, other, references, mode) {
  if (mode === "none") return words.map(() => "");
  const reference = nearestReference(words, references);
  if (mode === "reference") return reference ? reference.kept.map((kept) => (kept ? "" : "bad")) : words.map(() => "");
  if (other == null) return words.map(() => "");
  const shared = common(words, tokens(clipped(other))).kept;
  return shared.map((kept, at) => (kept ? "" : !reference ? "note" : reference.kept[at] ? "good" : "bad"));
}

const REMARKS = { good: "in the reference; not in the other output", bad: "not in the reference", note: "not in the other output" };

/** The text with its marked words; neighbours with the same mark are set as one. */
function marked(line, words, marks) {
  const parts = [];
  let at = 0;
  for (let first = 0; first < words.length; first += 1) {
    if (!marks[first]) continue;
    let last = first;
    while (last + 1 < words.length && marks[last + 1] === marks[first]) last += 1;
    parts.push(line.slice(at, words[first].start), make(`mark.${marks[first]}`, { title: REMARKS[marks[first]] }, line.slice(words[first].start, words[last].end)));
    at = words[last].end;
    first = last;
  }
  return [...parts, line.slice(at)];
}

const clipped = (line) => (line.length > LONG_TEXT ? line.slice(0, LONG_TEXT) : line);

/** A text in full, or its beginning with a button for the rest. */
function paragraph(line, paint = (shown) => [shown]) {
  const place = make("p.text", { dir: "auto" });
  if (line === "") return fill(place, {}, [make("span.empty", {}, "(empty)")]);
  place.append(...paint(clipped(line)));
  if (line.length > LONG_TEXT) {
    const button = make("button", { type: "button", click: () => place.replaceChildren(...paint(line)) }, `… show all ${line.length.toLocaleString("en")} characters`);
    place.append(" ", button);
  }
  return place;
}

// --- Segments ---------------------------------------------------------------------------------

const browser = { view: null, found: [], lastList: "#segments", opened: null };
const numbers = Array.from({ length: count }, (_, at) => at + 1);
const labelNames = Object.keys(segments.labels ?? {});
const faultKinds = [...new Set(Object.values(segments.faults ?? {}).flatMap(Object.keys))];
const scoreOf = (metric, system, number) => segments.scores[metric]?.[system]?.[number - 1] ?? null;

const SORTS = {
  carried: "as they carry the finding",
  order: "in order",
  loss: "largest loss of A first",
  gain: "largest gain of A first",
  lowest: "lowest score of A first",
  highest: "highest score of A first",
};
const MARKS = { pair: "between A and B", reference: "from the reference", none: "not at all" };

/** What a view is unless the address says otherwise. */
function defaults(query) {
  const finding = findingById.get(query.get("finding"));
  const a = finding?.system ?? bestSystem();
  const b = finding?.other ?? (a === baseline ? systems.find((system) => system !== a) : baseline) ?? "";
  const metric = metricById.has(finding?.metric) ? finding.metric : metrics[0]?.id ?? "";
  return { q: "", finding: "", slice: "", document: "", fault: "", low: "", high: "", a, b, metric, sort: finding?.segments.length ? "carried" : "order", marks: "pair", page: "1" };
}

function bestSystem() {
  const metric = metrics[0];
  const entries = data.scoreboard.filter((entry) => entry.metric === metric?.id && entry.system !== baseline && entry.score != null);
  entries.sort((a, b) => (metric.higher ? b.score - a.score : a.score - b.score));
  return entries[0]?.system ?? systems.find((system) => system !== baseline) ?? systems[0];
}

function viewOf(query) {
  const view = defaults(query);
  for (const key of Object.keys(view)) view[key] = query.get(key) ?? view[key];
  if (!systems.includes(view.a)) view.a = systems[0];
  if (!systems.includes(view.b)) view.b = "";
  view.labels = Object.fromEntries(labelNames.map((name) => [name, query.get(`label.${name}`) ?? ""]));
  const named = query.getAll("system").filter((system) => systems.includes(system));
  view.systems = named.length ? named : systems.length <= FEW_SYSTEMS ? systems : systems.filter((system) => system === view.a || system === view.b);
  view.named = named.length > 0;
  return view;
}

function queryOf(view) {
  const query = new URLSearchParams();
  if (view.finding) query.set("finding", view.finding);
  for (const [key, value] of Object.entries(defaults(query))) if (view[key] !== value) query.set(key, view[key]);
  for (const [name, value] of Object.entries(view.labels)) if (value) query.set(`label.${name}`, value);
  if (view.named) for (const system of view.systems) query.append("system", system);
  return query;
}

/** Change the view, by way of the address; `quietly` where a letter is typed. */
function goToSegments(change, { quietly = false } = {}) {
  const to = withQuery("segments", queryOf({ ...browser.view, page: "1", ...change }));
  if (quietly) {
    history.replaceState(null, "", to);
    showSegments(address().query, { inside: true });
  } else if (to === location.hash) drawSegments();
  else {
    goToSegments.inside = true;
    location.hash = to;
  }
}

/** The segments of the view, in its order. */
function matching(view) {
  const finding = findingById.get(view.finding);
  const slice = sliceById.get(view.slice);
  let found = finding?.segments.length ? finding.segments : numbers;
  if (finding && !finding.segments.length) found = sliceById.get(finding.slice)?.segments ?? numbers;
  const keep = (test) => { found = found.filter(test); };
  if (slice) {
    const own = new Set(slice.segments);
    keep((number) => own.has(number));
  }
  if (view.document) keep((number) => segments.documents[number - 1] === view.document);
  for (const [name, value] of Object.entries(view.labels)) if (value) keep((number) => segments.labels[name][number - 1] === value);
  if (view.fault) {
    const own = new Set(view.systems.flatMap((system) => segments.faults[system]?.[view.fault] ?? []));
    keep((number) => own.has(number));
  }
  if (view.low !== "") keep((number) => (scoreOf(view.metric, view.a, number) ?? -Infinity) >= Number(view.low));
  if (view.high !== "") keep((number) => (scoreOf(view.metric, view.a, number) ?? Infinity) <= Number(view.high));
  if (view.q) {
    const wanted = view.q.toLowerCase();
    keep((number) => haystack(number).includes(wanted));
  }
  return sorted(found, view);
}

/** All texts of a segment in lower case, kept once they are made. */
function haystack(number) {
  haystack.kept ??= [];
  return (haystack.kept[number] ??= [segments.sources[number - 1] ?? "", ...(segments.references[number - 1] ?? []), ...systems.map((system) => segments.outputs[system][number - 1])].join("\n").toLowerCase());
}

function difference(view, number, metric = view.metric) {
  const [own, others] = [scoreOf(metric, view.a, number), view.b ? scoreOf(metric, view.b, number) : null];
  return own == null || others == null ? null : own - others;
}

function sorted(found, view) {
  const { sort } = view;
  if (sort === "carried" && view.finding) return found;
  const higher = metricById.get(view.metric)?.higher ?? true;
  const key = sort === "loss" || sort === "gain" ? (number) => difference(view, number) : sort === "lowest" || sort === "highest" ? (number) => scoreOf(view.metric, view.a, number) : (number) => number;
  const sign = sort === "highest" || sort === (higher ? "gain" : "loss") ? -1 : 1;
  const keyed = found.map((number) => [key(number), number]);
  keyed.sort(([a, first], [b, second]) => (a == null || b == null ? (a == null) - (b == null) : sign * (a - b)) || first - second);
  return keyed.map(([, number]) => number);
}

function segmentsSection() {
  byId("segments").append(make("div", { id: "controls" }), make("div", { id: "listing" }));
  browser.view = viewOf(new URLSearchParams());
  drawControls();
  drawSegments();
}

function showSegments(query, { inside = goToSegments.inside } = {}) {
  const cameBack = browser.opened;
  const finding = browser.view.finding;
  browser.view = viewOf(query);
  browser.opened = null;
  browser.lastList = location.hash;
  if (!inside || finding !== browser.view.finding || !byId("search")) drawControls();
  else updateControls();
  drawSegments();
  goToSegments.inside = false;
  const item = cameBack && byId(`segment-${cameBack}`);
  if (item) show(item, { block: "center" });
  else if (!inside) show(byId("segments"), { focus: byId("segments-title") });
}

function showSegment(number) {
  browser.opened = number;
  byId("controls").hidden = true;
  const view = { ...browser.view, systems };
  const order = browser.found.includes(number) ? browser.found : numbers;
  const place = order.indexOf(number);
  const step = (by, words) => order[place + by] && make("a", { href: segmentAddress(order[place + by]) }, words);
  byId("listing").replaceChildren(
    make("p.banner", {}, make("a", { href: browser.lastList }, "← back to the list"), " ", make("span.steps", {}, step(-1, "previous"), " ", step(1, "next"))),
    legend(view),
    make("ol.list", {}, segmentItem(number, view, { whole: true })),
  );
  show(byId("segments"), { focus: byId(`segment-${number}`) });
}

// Controls.

function option(value, words, chosen) {
  return make("option", { value, selected: value === chosen }, words);
}

function control(words, element, name = "label.field") {
  return make(name, {}, make("span", {}, words), element);
}

function choice(name, chosen, options, change = ({ target }) => goToSegments({ [name]: target.value })) {
  return make("select", { name, change }, ...options.map((each) => (Array.isArray(each) ? option(...each, chosen) : each)));
}

function drawControls() {
  const { view } = browser;
  const own = [...new Set(segments.documents ?? [])];
  const groups = [...Map.groupBy(slices, (slice) => slice.kind)].map(([kind, held]) => make("optgroup", { label: kindTitle.get(kind) ?? kind }, ...held.map((slice) => option(slice.id, `${slice.name} (${slice.segments.length})`, view.slice))));
  const chosen = findings.filter((finding) => !finding.under).slice(0, FINDINGS_TO_CHOOSE);
  if (view.finding && !chosen.includes(findingById.get(view.finding))) chosen.unshift(findingById.get(view.finding));
  const pair = systems.map((system) => [system, system]);
  const measures = metrics.map((metric) => [metric.id, metric.title]);
  const range = (name, words) => make("input", { type: "number", step: "any", name, value: view[name], "aria-label": words, placeholder: words, change: ({ target }) => goToSegments({ [name]: target.value }) });
  let waiting = 0;
  const search = make("input", { type: "search", id: "search", placeholder: "Search all texts", "aria-label": "Search all texts", value: view.q, autocomplete: "off", input: ({ target }) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => goToSegments({ q: target.value }, { quietly: true }), 150);
  } });
  const more = make("details.more", { open: matchMedia("(min-width: 64rem)").matches || filterCount(view) > 0 },
    make("summary", {}, "Filters and order"),
    make("div.fields", {},
      findings.length > 0 && control("Finding", choice("finding", view.finding, [["", "any"], ...chosen.filter(Boolean).map((finding) => [finding.id, `${finding.rank}. ${finding.title}`])], ({ target }) => goToSegments({ ...defaults(new URLSearchParams({ finding: target.value })), finding: target.value }))),
      slices.length > 0 && control("Part of the test set", choice("slice", view.slice, [["", "any"], ...groups])),
      own.length > 1 && control("Document", choice("document", view.document, [["", "any"], ...own.map((name) => [name, name])])),
      ...labelNames.map((name) => control(name, choice(`label.${name}`, view.labels[name], [["", "any"], ...[...new Set(segments.labels[name])].sort().map((value) => [value, value])], ({ target }) => goToSegments({ labels: { ...browser.view.labels, [name]: target.value } })))),
      faultKinds.length > 0 && control("Fault", choice("fault", view.fault, [["", "any"], ...faultKinds.map((kind) => [kind, kind])])),
      systems.length > 1 && control("System A", choice("a", view.a, pair)),
      systems.length > 1 && control("System B", choice("b", view.b, pair)),
      metrics.length > 0 && control("Metric", choice("metric", view.metric, measures)),
      metrics.length > 0 && control("Score of A", make("span.range", {}, range("low", "from"), range("high", "to")), "div.field"),
      control("Order", choice("sort", view.sort, Object.entries(SORTS))),
      control("Mark differing words", choice("marks", view.marks, Object.entries(MARKS))),
    ),
    systems.length > FEW_SYSTEMS && make("details.systems", {}, make("summary", {}, "Systems shown"), make("div.boxes", {}, ...systems.map((system) => make("label", {}, make("input", { type: "checkbox", name: "system", value: system, checked: view.systems.includes(system), change: chooseSystems }), " ", text(system))))),
  );
  byId("controls").hidden = false;
  byId("controls").replaceChildren(search, more);
  updateControls();
}

/** Put the view's values into the controls that are there. */
function updateControls() {
  const { view } = browser;
  const controls = byId("controls");
  controls.hidden = false;
  for (const each of controls.querySelectorAll("select, input[type=number]")) {
    const label = each.name.startsWith("label.") && each.name.slice(6);
    each.value = label === false ? view[each.name] : view.labels[label];
  }
  for (const box of controls.querySelectorAll("[name=system]")) box.checked = view.systems.includes(box.value);
  const search = byId("search");
  if (search !== document.activeElement) search.value = view.q;
  controls.querySelector("[value=carried]").disabled = !view.finding;
}

function chooseSystems() {
  const boxes = [...byId("controls").querySelectorAll("[name=system]:checked")];
  goToSegments({ systems: boxes.map((box) => box.value), named: boxes.length > 0 });
}

const filterCount = (view) => [view.slice, view.document, view.fault, view.low, view.high, ...Object.values(view.labels)].filter(Boolean).length;

// The list.

function drawSegments() {
  const { view } = browser;
  browser.found = matching(view);
  const pages = Math.max(1, Math.ceil(browser.found.length / SEGMENTS_AT_ONCE));
  const page = Math.min(pages, Math.max(1, Math.floor(Number(view.page)) || 1));
  view.page = String(page);
  const start = (page - 1) * SEGMENTS_AT_ONCE;
  const shown = browser.found.slice(start, start + SEGMENTS_AT_ONCE);
  const finding = findingById.get(view.finding);
  byId("listing").replaceChildren(...[
    finding && make("p.banner", {}, make("a", { href: findingAddress(finding.id) }, `← finding ${finding.rank}`), " ", text(finding.text)),
    statusLine(view),
    legend(view),
    shown.length ? make("ol.list", { id: "list", start: start + 1 }, ...shown.map((number) => segmentItem(number, view))) : make("p.empty", {}, "No segment passes these filters."),
    pages > 1 && pager(page, pages),
  ].filter(Boolean));
  highlight(view.q);
}

function statusLine(view) {
  const line = make("p.status", { role: "status" }, make("b", {}, browser.found.length.toLocaleString("en")), ` of ${plural(count, "segment")}`);
  if (view.q) line.append(" with “", text(view.q), "”");
  if (view.q || view.finding || filterCount(view)) line.append(" · ", make("a", { href: "#segments" }, "show all"));
  return line;
}

function legend(view) {
  const pair = view.b && view.marks === "pair";
  const known = segments.references.length > 0;
  if (view.marks === "none" || (!pair && !known)) return "";
  if (!pair) return make("p.legend", {}, make("mark.bad", {}, "words"), " that the reference does not have");
  const line = make("p.legend", {}, "Words that ", text(view.a, "b"), " and ", text(view.b, "b"), " do not share: ");
  if (!known) line.append(make("mark.note", {}, "different"));
  else line.append(make("mark.good", {}, "in the reference"), " ", make("mark.bad", {}, "not in the reference"));
  return line;
}

function pager(page, pages) {
  const link = (to, words) => (to < 1 || to > pages ? make("span.soft", {}, words) : make("a", { href: withQuery("segments", queryOf({ ...browser.view, page: String(to) })) }, words));
  return make("nav.pager", { "aria-label": "Pages of segments" }, link(page - 1, "← previous"), make("span", {}, ` page ${page} of ${pages.toLocaleString("en")} `), link(page + 1, "next →"));
}

function segmentItem(number, view, { whole = false } = {}) {
  const at = number - 1;
  const metric = metricById.get(view.metric);
  const gap = difference(view, number);
  const meta = [segments.documents[at], ...labelNames.map((name) => segments.labels[name][at])].filter(Boolean);
  const references = segments.references[at] ?? [];
  const row = (name, line) => make("tr.given", {}, make("th", { scope: "row" }, name), make("td", { colspan: metrics.length + 1 }, paragraph(line)));
  const item = make("li.segment", { id: `segment-${number}`, tabindex: -1, "data-number": number },
    make("header", {},
      make("h3", {}, make("a", { href: segmentAddress(number), title: "This segment, all systems" }, `Segment ${number}`)), " ",
      make("span.soft.meta", {}, ...meta.flatMap((words, place) => [place ? " · " : "", text(words)])),
      gap != null && make("span.gap", {}, text(view.a), " − ", text(view.b), `: ${metric.title} `, make("b", { class: gap === 0 ? "" : gap > 0 === metric.higher ? "good" : "bad" }, signed(gap, metric.digits))),
    ),
    make("table", {},
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "System"), make("th", { scope: "col" }, "Text"), ...metrics.map((each) => make("th.number", { scope: "col" }, `${each.title} ${each.higher ? "↑" : "↓"}`)))),
      make("tbody", {},
        segments.sources.length > 0 && row("source", segments.sources[at]),
        ...references.map((line, place) => row(references.length > 1 ? `reference ${place + 1}` : "reference", line)),
        ...view.systems.map((system) => outputRow(number, system, view, references)),
      ),
    ),
  );
  if (whole) item.append(belongings(number));
  return item;
}

function outputRow(number, system, view, references) {
  const line = segments.outputs[system][number - 1];
  const other = system === view.b ? view.a : view.b;
  const against = other ? segments.outputs[other][number - 1] : null;
  const paint = (shown) => {
    const words = tokens(shown);
    return marked(shown, words, markings(words, against, references, view.marks));
  };
  const faults = faultKinds.filter((kind) => segments.faults[system]?.[kind]?.includes(number));
  const letter = !view.b ? "" : system === view.a ? "A" : system === view.b ? "B" : "";
  return make("tr", {},
    make("th", { scope: "row" }, text(system), letter && " ", letter && make("span.tag", {}, letter)),
    make("td", {}, paragraph(line, paint), faults.length > 0 && make("p.faults", {}, ...faults.map((kind) => make("span.tag.unsure", {}, kind)))),
    ...metrics.map((metric) => make("td.number", { "data-label": metric.title }, fixed(scoreOf(metric.id, system, number), metric.digits))),
  );
}

/** The parts of the test set and the findings that a segment belongs to, as links. */
function belongings(number) {
  const parts = slices.filter((slice) => slice.segments.includes(number));
  const own = findings.filter((finding) => finding.segments.includes(number)).slice(0, FINDINGS_AT_ONCE);
  const list = (title, links) => links.length > 0 && make("p.belongs", {}, make("span.soft", {}, title), " ", ...links.flatMap((link, at) => [at ? " · " : "", link]));
  return make("footer", {},
    list("Part of", parts.map((slice) => make("a", { href: withQuery("segments", new URLSearchParams({ slice: slice.id })) }, text(slice.name)))),
    list("Carries", own.map((finding) => make("a", { href: findingAddress(finding.id) }, `${finding.rank}. `, text(finding.title)))),
  );
}

/** Set off what was searched for, without touching the elements. */
function highlight(wanted) {
  if (!("highlights" in CSS)) return;
  CSS.highlights.delete("search");
  if (!wanted) return;
  const lower = wanted.toLowerCase();
  const ranges = [];
  for (const place of document.querySelectorAll("#list .text")) {
    const nodes = textNodes(place);
    const whole = nodes.map((node) => node.data.toLowerCase()).join("");
    for (let at = whole.indexOf(lower); at >= 0; at = whole.indexOf(lower, at + lower.length)) {
      const range = new Range();
      range.setStart(...position(nodes, at));
      range.setEnd(...position(nodes, at + lower.length));
      ranges.push(range);
    }
  }
  CSS.highlights.set("search", new Highlight(...ranges));
}

function textNodes(place) {
  const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) found.push(walker.currentNode);
  return found;
}

function position(nodes, at) {
  for (const node of nodes) {
    if (at <= node.length) return [node, at];
    at -= node.length;
  }
  return [nodes.at(-1), nodes.at(-1).length];
}

// --- Copies and drawings ----------------------------------------------------------------------

function copyButtons(forTSV, forLaTeX = forTSV) {
  return make("p.tools", {},
    make("button", { type: "button", click: () => copy(asTSV(forTSV())) }, "Copy as TSV"),
    make("button", { type: "button", click: () => copy(asLaTeX(forLaTeX())) }, "Copy as LaTeX"),
  );
}

/** The cells of a table as they are seen. */
function shownRows(table) {
  const cell = (each) => [...each.querySelectorAll(".unseen")].reduce((words, unseen) => words.replace(unseen.innerText, ""), each.innerText).replace(/\s+/g, " ").trim();
  return [...table.rows].map((row) => [...row.cells].map(cell));
}

/** The cells of a table with their numbers in full. */
function fullRows(table) {
  return [...table.rows].map((row) => [...row.cells].map((cell) => cell.dataset.value ?? cell.innerText.replace(/\s+/g, " ").trim()));
}

const asTSV = (rows) => rows.map((row) => row.map((cell) => String(cell).replace(/[\t\r\n]+/g, " ")).join("\t")).join("\n") + "\n";

const LATEX = { "\\": "\\textbackslash{}", "{": "\\{", "}": "\\}", $: "\\$", "&": "\\&", "#": "\\#", _: "\\_", "%": "\\%", "^": "\\textasciicircum{}", "~": "\\textasciitilde{}", "<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}", "[": "{[}", "]": "{]}", "*": "{*}", "–": "\\textendash{}", "−": "\\ensuremath{-}", "↑": "\\ensuremath{\\uparrow}", "↓": "\\ensuremath{\\downarrow}", "→": "\\ensuremath{\\rightarrow}" };
const inLaTeX = (cell) => String(cell).replace(/[\\{}$&#_%^~<>|[\]*–−↑↓→]/g, (sign) => LATEX[sign]);

function asLaTeX([head, ...rows]) {
  const columns = head.map((_, at) => (at > 0 && rows.every((row) => /^[\d\s.,+\-−–<[\]%]*$/.test(row[at])) ? "r" : "l")).join("");
  const line = (row) => `${row.map(inLaTeX).join(" & ")} \\\\`;
  return ["% Needs the package booktabs.", `\\begin{tabular}{${columns}}`, "\\toprule", line(head), "\\midrule", ...rows.map(line), "\\bottomrule", "\\end{tabular}", ""].join("\n");
}

/** To the clipboard; a browser that refuses gets a box to copy from. */
async function copy(words) {
  try {
    await navigator.clipboard.writeText(words);
    tell("Copied.");
  } catch {
    const area = make("textarea", { readonly: true, rows: 12, "aria-label": "Text to copy" });
    area.value = words;
    dialog("Copy this text", area);
    area.select();
  }
}

function downloadButton(drawing, name) {
  return make("button", { type: "button", click: () => save(drawing(), name) }, "Download SVG");
}

const DRAWN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "font-family", "font-size", "font-weight", "opacity"];

/** Save a drawing as a file of its own, with its looks written into it. */
function save(drawing, name) {
  const chart = drawing.cloneNode(true);
  const frame = make("div.saved", { "aria-hidden": "true" }, chart);
  document.body.append(frame);
  for (const element of chart.querySelectorAll("*")) {
    const looks = getComputedStyle(element);
    for (const property of DRAWN) element.setAttribute(property, looks.getPropertyValue(property));
    element.removeAttribute("class");
  }
  const ground = getComputedStyle(frame).backgroundColor;
  chart.prepend(draw("rect", { width: "100%", height: "100%", fill: ground }));
  chart.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  frame.remove();
  const file = new Blob([new XMLSerializer().serializeToString(chart)], { type: "image/svg+xml" });
  const link = make("a", { href: URL.createObjectURL(file), download: `${name}.svg` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

function sectionTools() {
  for (const table of document.querySelectorAll(".part table")) {
    (table.closest(".scroll") ?? table).after(copyButtons(() => fullRows(table), () => shownRows(table)));
  }
  document.querySelectorAll(".part .plot svg").forEach((chart, at) => {
    chart.closest(".plot").after(make("p.tools", {}, downloadButton(() => chart, `chart-${at + 1}`)));
  });
}

// --- Keys, help and colours -------------------------------------------------------------------

function dialog(title, ...children) {
  const box = make("dialog", { "aria-label": title, close: () => box.remove() },
    make("h2", {}, title), ...children, make("p.tools", {}, make("button", { type: "button", click: () => box.close() }, "Close")));
  document.body.append(box);
  box.showModal();
}

function help() {
  const keys = [["?", "this help"], ["/", "search the segments"], ["j, k", "next, previous finding or segment"], ["Enter", "the segments of a finding; a segment with all systems"], ["Escape", "one step back: segment, list, finding, verdict"]];
  dialog("Keys", make("dl.keys", {}, ...keys.flatMap(([key, words]) => [make("dt", {}, ...key.split(", ").flatMap((each, at) => [at ? " " : "", make("kbd", {}, each)])), make("dd", {}, words)])), make("p.note", {}, "Every view has its own address: copy it from the address bar to come back to it, or to show it to somebody who has the same file."));
}

/** Whether the reader looks at segments rather than findings. */
function amongSegments() {
  if (document.activeElement.closest("#segments")) return true;
  if (document.activeElement.closest("#where")) return false;
  return byId("segments").getBoundingClientRect().top < innerHeight / 2;
}

function step(by) {
  if (browser.opened && amongSegments()) {
    const order = browser.found.includes(browser.opened) ? browser.found : numbers;
    const next = order[order.indexOf(browser.opened) + by];
    if (next) location.hash = segmentAddress(next);
    return;
  }
  const items = [...document.querySelectorAll(amongSegments() ? "#list > .segment" : "#findings > .finding")];
  const current = items.indexOf(document.activeElement.closest("#list > .segment, #findings > .finding"));
  const next = current < 0 ? items[by > 0 ? 0 : items.length - 1] : items[current + by];
  if (next) show(next, { block: "nearest" });
  else if (amongSegments()) turnPage(by);
}

function turnPage(by) {
  const page = Number(browser.view.page) + by;
  if (page < 1 || (page - 1) * SEGMENTS_AT_ONCE >= browser.found.length) return;
  history.pushState(null, "", withQuery("segments", queryOf({ ...browser.view, page: String(page) })));
  showSegments(address().query, { inside: true });
  const items = document.querySelectorAll("#list > .segment");
  show(items[by > 0 ? 0 : items.length - 1], { block: by > 0 ? "start" : "end" });
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const { target, key } = event;
  const typing = target.closest("input:not([type=checkbox]), select, textarea");
  const actions = {
    "?": help,
    "/": () => { if (browser.opened) up(); byId("search").scrollIntoView({ block: "center" }); byId("search").focus(); },
    j: () => step(1),
    k: () => step(-1),
    Escape: up,
    Enter: () => { if (target.matches(".finding, .segment")) target.querySelector("a").click(); },
  };
  if (typing) {
    if (key === "Escape") typing.blur();
    return;
  }
  if (!(key in actions) || (key === "Enter" && !target.matches(".finding, .segment"))) return;
  event.preventDefault();
  actions[key]();
}

const THEMES = ["auto", "light", "dark"];

function theme() {
  const button = byId("theme");
  const choose = (name) => {
    if (name === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    button.textContent = name[0].toUpperCase() + name.slice(1);
    button.setAttribute("aria-label", `Colours: ${name}`);
    button.dataset.name = name;
  };
  let kept = null;
  try { kept = localStorage.getItem("assay-theme"); } catch { /* A browser may refuse to keep things. */ }
  choose(THEMES.includes(kept) ? kept : "auto");
  button.addEventListener("click", () => {
    choose(THEMES[(THEMES.indexOf(button.dataset.name) + 1) % THEMES.length]);
    try { localStorage.setItem("assay-theme", button.dataset.name); } catch { /* As above. */ }
  });
}

theme();
scoreboard();
findingsSection();
segmentsSection();
sectionTools();
byId("keys").addEventListener("click", help);
document.addEventListener("keydown", onKey);
addEventListener("hashchange", route);
if (location.hash) route();
}
