// The list of segments, and one segment with all that is known of it.

function drawSegments() {
  const { view } = browser;
  browser.found = matching(view);
  const pages = Math.max(1, Math.ceil(browser.found.length / SEGMENTS_AT_ONCE));
  const page = Math.min(pages, Math.max(1, Math.floor(Number(view.page)) || 1));
  view.page = String(page);
  const start = (page - 1) * SEGMENTS_AT_ONCE;
  const shown = browser.found.slice(start, start + SEGMENTS_AT_ONCE);
  drawBanner(view);
  drawStatus(view);
  byId("listing").replaceChildren(
    ...[
      legend(view),
      shown.length
        ? make(
            "ol.list",
            { id: "list", start: start + 1 },
            ...shown.map((number) => segmentItem(number, view)),
          )
        : make("p.empty", {}, "No segment passes these filters."),
      pages > 1 && pager(page, pages),
    ].filter(Boolean),
  );
  highlight(view.q);
}

/** The finding whose segments are listed. */
function drawBanner(view) {
  const finding = findingById.get(view.finding);
  byId("banner").replaceChildren();
  if (!finding) return;
  const link = make("a", { href: findingAddress(finding.id) }, `← finding ${finding.rank}`);
  byId("banner").append(make("p.banner", {}, link, " ", text(finding.text)));
}

function drawStatus(view) {
  const line = byId("status");
  line.replaceChildren(
    make("b", {}, browser.found.length.toLocaleString("en")),
    ` of ${plural(count, "segment")}`,
  );
  if (view.q) line.append(" with “", text(view.q), "”");
  if (view.q || view.finding || filterCount(view))
    line.append(" · ", make("a", { href: "#segments" }, "show all"));
}

function legend(view) {
  const pair = view.b && view.marks === "pair";
  if (view.marks === "none" || (!pair && !explainable)) return "";
  if (view.marks === "effect") return effectLegend(view);
  if (!pair)
    return make("p.legend", {}, make("mark.bad", {}, "words"), " that the reference does not have");
  const line = make(
    "p.legend",
    {},
    "Words that ",
    text(view.a, "b"),
    " and ",
    text(view.b, "b"),
    " do not share: ",
  );
  if (!explainable) line.append(make("mark.note", {}, "different"));
  else
    line.append(
      make("mark.good", {}, "in the reference"),
      " ",
      make("mark.bad", {}, "not in the reference"),
    );
  return line;
}

function effectLegend(view) {
  return make(
    "p.legend",
    {},
    "Without a ",
    make("mark.good-3", {}, "green"),
    " word the output's chrF would be lower, without a ",
    make("mark.bad-3", {}, "red"),
    " one higher; hover or touch for the number. In the reference: what its words do to ",
    text(view.a, "b"),
    ".",
  );
}

function pager(page, pages) {
  const link = (to, words) =>
    to < 1 || to > pages
      ? make("span.soft", {}, words)
      : make(
          "a",
          { href: withQuery("segments", queryOf({ ...browser.view, page: String(to) })) },
          words,
        );
  return make(
    "nav.pager",
    { "aria-label": "Pages of segments" },
    link(page - 1, "← previous"),
    make("span", {}, ` page ${page} of ${pages.toLocaleString("en")} `),
    link(page + 1, "next →"),
  );
}

function segmentItem(number, view, { whole = false } = {}) {
  const at = number - 1;
  const metric = metricById.get(view.metric);
  const gap = difference(view, number);
  const meta = [
    segments.documents[at],
    ...labelNames.map((name) => segments.labels[name][at]),
  ].filter(Boolean);
  const references = segments.references[at] ?? [];
  const effects = view.marks === "effect" ? effectsOf(number, view, references) : null;
  const row = (name, line, paint) =>
    make(
      "tr.given",
      {},
      make("th", { scope: "row" }, name),
      make("td", { colspan: metrics.length + 1 }, paragraph(line, paint)),
    );
  const referenceRow = (line, place) => {
    const words = effects?.reference.nearest === place ? effects.reference.words : null;
    return row(references.length > 1 ? `reference ${place + 1}` : "reference", line, (shown) =>
      shaded(shown, words, effects?.largest),
    );
  };
  const item = make(
    "li.segment",
    { id: segmentItemId(number), tabindex: -1, "data-number": number },
    make(
      "header",
      {},
      make(
        "h3",
        {},
        make(
          "a",
          { href: segmentAddress(number), title: "This segment, all systems" },
          `Segment ${number}`,
        ),
      ),
      " ",
      make(
        "span.soft.meta",
        {},
        ...meta.flatMap((words, place) => [place ? " · " : "", text(words)]),
      ),
      gap != null &&
        make(
          "span.gap",
          {},
          text(view.a),
          " − ",
          text(view.b),
          `: ${metric.title} `,
          make(
            "b",
            { class: gap === 0 ? "" : gap > 0 === metric.higher ? "good" : "bad" },
            signed(gap, metric.digits),
          ),
        ),
    ),
    make(
      "table",
      {},
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          make("th", { scope: "col" }, make("span.unseen", {}, "System")),
          make("th", { scope: "col" }, make("span.unseen", {}, "Text")),
          ...metrics.map((each) =>
            make("th.number", { scope: "col" }, `${each.title} ${each.higher ? "↑" : "↓"}`),
          ),
        ),
      ),
      make(
        "tbody",
        {},
        segments.sources.length > 0 && row("source", segments.sources[at]),
        ...references.map(referenceRow),
        ...view.systems.map((system) => outputRow(number, system, view, references, effects)),
      ),
    ),
  );
  if (whole) item.append(belongings(number));
  return item;
}

function outputRow(number, system, view, references, effects) {
  const line = segments.outputs[system][number - 1];
  const other = system === view.b ? view.a : view.b;
  const against = other ? segments.outputs[other][number - 1] : null;
  const paint = (shown) => {
    if (effects) return shaded(shown, effects.outputs.get(system), effects.largest);
    const words = tokens(shown);
    return marked(shown, words, markings(words, against, references, view.marks));
  };
  const faults = faultKinds.filter((kind) => segments.faults[system]?.[kind]?.includes(number));
  const letter = !view.b ? "" : system === view.a ? "A" : system === view.b ? "B" : "";
  return make(
    "tr",
    {},
    make(
      "th",
      { scope: "row" },
      text(system),
      letter && " ",
      letter && make("span.tag", {}, letter),
    ),
    make(
      "td",
      {},
      paragraph(line, paint),
      effects &&
        !effects.outputs.get(system) &&
        make("p.soft", {}, `More than ${MOST_WORDS} words: not explained here.`),
      faults.length > 0 &&
        make("p.faults", {}, ...faults.map((kind) => make("span.tag.unsure", {}, kind))),
    ),
    ...metrics.map((metric) =>
      make(
        "td.number",
        { "data-label": metric.title },
        fixed(scoreOf(metric.id, system, number), metric.digits),
      ),
    ),
  );
}

/** The parts of the test set and the findings that a segment belongs to, as links. */
function belongings(number) {
  const parts = slices.filter((slice) => slice.segments.includes(number));
  const own = findings
    .filter((finding) => finding.segments.includes(number))
    .slice(0, FINDINGS_AT_ONCE);
  const list = (title, links) =>
    links.length > 0 &&
    make(
      "p.belongs",
      {},
      make("span.soft", {}, title),
      " ",
      ...links.flatMap((link, at) => [at ? " · " : "", link]),
    );
  return make(
    "footer",
    {},
    list(
      "Part of",
      parts.map((slice) =>
        make(
          "a",
          { href: withQuery("segments", new URLSearchParams({ slice: slice.id })) },
          text(slice.name),
        ),
      ),
    ),
    list(
      "Carries",
      own.map((finding) =>
        make("a", { href: findingAddress(finding.id) }, `${finding.rank}. `, text(finding.title)),
      ),
    ),
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
