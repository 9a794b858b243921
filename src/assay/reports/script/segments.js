// The browser of segments: which of them are seen, and in which order.

const browser = { view: null, found: [], opened: null, lastList: "#segments", section: null };
const numbers = Array.from({ length: count }, (_, at) => at + 1);
const labelNames = Object.keys(segments.labels ?? {});
const faultKinds = [...new Set(Object.values(segments.faults ?? {}).flatMap(Object.keys))];
const scoreOf = (metric, system, number) => segments.scores[metric]?.[system]?.[number - 1] ?? null;

const SORTS = {
  carried: "by the finding",
  order: "in order",
  loss: "largest loss of A first",
  gain: "largest gain of A first",
  lowest: "lowest score of A first",
  highest: "highest score of A first",
};
const MARKS = {
  pair: "that A and B do not share",
  reference: "that the reference does not have",
  effect: "that raise or lower chrF",
  none: "none",
};
const explainable = segments.references.length > 0;

/** What a view is unless the address says otherwise. */
function defaults(query) {
  const finding = findingById.get(query.get("finding"));
  const a = finding?.system ?? bestSystem();
  const b =
    finding?.other ?? (a === baseline ? systems.find((system) => system !== a) : baseline) ?? "";
  const metric = metricById.has(finding?.metric) ? finding.metric : (metrics[0]?.id ?? "");
  return {
    q: "",
    finding: "",
    slice: "",
    document: "",
    fault: "",
    low: "",
    high: "",
    a,
    b,
    metric,
    sort: finding?.segments.length ? "carried" : "order",
    marks: "pair",
    page: "1",
  };
}

function bestSystem() {
  const metric = metrics[0];
  const entries = data.scoreboard.filter(
    (entry) => entry.metric === metric?.id && entry.system !== baseline && entry.score != null,
  );
  entries.sort((a, b) => (metric.higher ? b.score - a.score : a.score - b.score));
  return entries[0]?.system ?? systems.find((system) => system !== baseline) ?? systems[0];
}

function viewOf(query) {
  const view = defaults(query);
  for (const key of Object.keys(view)) view[key] = query.get(key) ?? view[key];
  if (!systems.includes(view.a)) view.a = systems[0];
  if (!systems.includes(view.b)) view.b = "";
  if (!(view.marks in MARKS) || (view.marks === "effect" && !explainable)) view.marks = "pair";
  view.labels = Object.fromEntries(
    labelNames.map((name) => [name, query.get(`label.${name}`) ?? ""]),
  );
  const named = query.getAll("system").filter((system) => systems.includes(system));
  view.systems = named.length
    ? named
    : systems.length <= FEW_SYSTEMS
      ? systems
      : systems.filter((system) => system === view.a || system === view.b);
  view.named = named.length > 0;
  const place = (system) => (system === view.a ? 0 : system === view.b ? 1 : 2);
  view.systems = [...view.systems].sort((one, two) => place(one) - place(two));
  return view;
}

function queryOf(view) {
  const query = new URLSearchParams();
  if (view.finding) query.set("finding", view.finding);
  for (const [key, value] of Object.entries(defaults(query)))
    if (view[key] !== value) query.set(key, view[key]);
  for (const [name, value] of Object.entries(view.labels))
    if (value) query.set(`label.${name}`, value);
  if (view.named) for (const system of view.systems) query.append("system", system);
  return query;
}

/** Change the view, by way of the address; letters that are typed make no step to come back to. */
function goToSegments(choice, { typed = false } = {}) {
  const view = { ...browser.view, page: "1", ...choice };
  change(withQuery("segments", queryOf(view)), { replace: typed });
}

/** The segments of the view, in its order. */
function matching(view) {
  const finding = findingById.get(view.finding);
  const slice = sliceById.get(view.slice);
  let found = finding?.segments.length ? finding.segments : numbers;
  if (finding && !finding.segments.length)
    found = sliceById.get(finding.slice)?.segments ?? numbers;
  const keep = (test) => {
    found = found.filter(test);
  };
  if (slice) {
    const own = new Set(slice.segments);
    keep((number) => own.has(number));
  }
  if (view.document) keep((number) => segments.documents[number - 1] === view.document);
  for (const [name, value] of Object.entries(view.labels))
    if (value) keep((number) => segments.labels[name][number - 1] === value);
  if (view.fault) {
    const own = new Set(
      view.systems.flatMap((system) => segments.faults[system]?.[view.fault] ?? []),
    );
    keep((number) => own.has(number));
  }
  if (view.low !== "")
    keep((number) => (scoreOf(view.metric, view.a, number) ?? -Infinity) >= Number(view.low));
  if (view.high !== "")
    keep((number) => (scoreOf(view.metric, view.a, number) ?? Infinity) <= Number(view.high));
  if (view.q) {
    const wanted = view.q.toLowerCase();
    keep((number) => haystack(number).includes(wanted));
  }
  return sorted(found, view);
}

/** All texts of a segment in lower case, kept once they are made. */
function haystack(number) {
  haystack.kept ??= [];
  return (haystack.kept[number] ??= [
    segments.sources[number - 1] ?? "",
    ...(segments.references[number - 1] ?? []),
    ...systems.map((system) => segments.outputs[system][number - 1]),
  ]
    .join("\n")
    .toLowerCase());
}

function difference(view, number, metric = view.metric) {
  const [own, others] = [
    scoreOf(metric, view.a, number),
    view.b ? scoreOf(metric, view.b, number) : null,
  ];
  return own == null || others == null ? null : own - others;
}

function sorted(found, view) {
  const { sort } = view;
  if (sort === "carried" && view.finding) return found;
  const higher = metricById.get(view.metric)?.higher ?? true;
  const key =
    sort === "loss" || sort === "gain"
      ? (number) => difference(view, number)
      : sort === "lowest" || sort === "highest"
        ? (number) => scoreOf(view.metric, view.a, number)
        : (number) => number;
  const sign = sort === "highest" || sort === (higher ? "gain" : "loss") ? -1 : 1;
  const keyed = found.map((number) => [key(number), number]);
  keyed.sort(
    ([a, first], [b, second]) =>
      (a == null || b == null ? (a == null) - (b == null) : sign * (a - b)) || first - second,
  );
  return keyed.map(([, number]) => number);
}

function segmentsSection() {
  byId("segments").append(
    make("div", { id: "banner" }),
    make("div", { id: "controls" }),
    make("p.status", { id: "status", role: "status" }),
    make("div", { id: "listing" }),
  );
  browser.view = viewOf(new URLSearchParams());
  drawControls();
  drawSegments();
}

function showSegments(query, stay) {
  const cameBack = browser.opened;
  browser.view = viewOf(query);
  browser.opened = browser.section = null;
  browser.lastList = location.hash;
  if (stay) updateControls();
  else drawControls();
  drawSegments();
  const item = cameBack && byId(segmentItemId(cameBack));
  if (item) show(item, { block: "center" });
  else if (!stay) show(byId("segments"), { focus: byId("segments-title") });
}

/** How the words of a single segment are marked: as its address says, else as in the list. */
const marksOf = (query) => {
  const asked = query.get("marks");
  return asked in MARKS && (asked !== "effect" || explainable) ? asked : browser.view.marks;
};

function explainLink(number, marks) {
  const on = marks === "effect";
  const query = new URLSearchParams({ marks: on ? "pair" : "effect" });
  const words = on ? "Which words differ?" : "Which words raise or lower the score?";
  return make("a.explain", { href: segmentAddress(number, query) }, words);
}

/** Explain the words, or stop explaining them, where the reader is. */
function toggleExplanation() {
  if (!explainable) return;
  if (browser.opened) {
    const link = document.querySelector("#banner .explain");
    change(link.hash, { replace: true });
  } else goToSegments({ marks: browser.view.marks === "effect" ? "pair" : "effect" });
}

function showSegment(number, query) {
  browser.opened = number;
  byId("controls").hidden = true;
  byId("status").replaceChildren();
  const view = {
    ...browser.view,
    systems: [...new Set([...browser.view.systems, ...systems])],
    marks: marksOf(query),
  };
  const order = browser.found.includes(number) ? browser.found : numbers;
  const place = order.indexOf(number);
  const step = (by, words) =>
    order[place + by] && make("a", { href: segmentAddress(order[place + by], query) }, words);
  const { section } = browser;
  const back =
    section &&
    make("a", { href: `#${section.id}` }, `← ${section.querySelector("h2").textContent}`);
  byId("banner").replaceChildren(
    make(
      "p.banner",
      {},
      back,
      make("a", { href: browser.lastList }, "← back to the list"),
      explainable && explainLink(number, view.marks),
      make("span.steps", {}, step(-1, "previous"), " ", step(1, "next")),
    ),
  );
  byId("listing").replaceChildren(
    legend(view),
    make("ol.list", {}, segmentItem(number, view, { whole: true })),
  );
  show(byId("segments"), { focus: byId(segmentItemId(number)) });
}
