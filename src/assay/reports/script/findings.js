// The list of findings, drawn as a forest plot.

const where = { kind: "", pair: "", established: false, most: FINDINGS_AT_ONCE };

const pairOf = (finding) =>
  finding.other == null ? finding.system : `${finding.system} against ${finding.other}`;
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
  const chips = make("p.chips", { role: "group", "aria-label": "Kind of finding" });
  for (const kind of ["", ...kinds]) {
    const size = findings.filter((finding) => !kind || finding.kind === kind).length;
    chips.append(
      make(
        "button",
        { type: "button", "data-kind": kind, click: () => goToFindings({ kind }) },
        kind ? (kindTitle.get(kind) ?? kind) : "All",
        " ",
        make("span.soft", {}, size),
      ),
    );
  }
  const select = make(
    "select",
    { id: "pair", change: ({ target }) => goToFindings({ pair: target.value }) },
    make("option", { value: "" }, "all pairs"),
    ...pairs.map((pair) => make("option", { value: pair }, pair)),
  );
  const box = make("input", {
    type: "checkbox",
    id: "established",
    change: ({ target }) => goToFindings({ established: target.checked }),
  });
  section.append(
    make(
      "div.filters",
      {},
      kinds.length > 1 && chips,
      pairs.length > 1 && make("label", {}, "Pair ", select),
      make("label", {}, box, " established only"),
    ),
    make(
      "p.note",
      {},
      "Each line is a difference between two systems on a part of the test set, with its confidence interval; right of the zero line, the system named first is better. Each metric has a scale of its own. Filled dots are established after adjusting for all tests; hollow ones are not.",
    ),
    make("ol.findings", { id: "findings" }),
    make(
      "p.tools",
      {},
      make(
        "button",
        {
          type: "button",
          id: "more",
          click: () => goToFindings({ most: where.most + FINDINGS_AT_ONCE }),
        },
        "More",
      ),
      ...copyButtons(findingRows).children,
      downloadButton(() => forestPlot(listedFindings().slice(0, where.most)), "findings"),
    ),
  );
  drawFindings();
}

function goToFindings(choice) {
  const next = { ...where, most: FINDINGS_AT_ONCE, ...choice };
  const query = new URLSearchParams();
  if (next.kind) query.set("kind", next.kind);
  if (next.pair) query.set("pair", next.pair);
  if (next.established) query.set("established", "yes");
  if (next.most !== FINDINGS_AT_ONCE) query.set("most", next.most);
  change(withQuery("where", query));
}

function showFindings(query, stay) {
  where.kind = query.get("kind") ?? "";
  where.pair = query.get("pair") ?? "";
  where.established = query.get("established") === "yes";
  where.most = Math.max(FINDINGS_AT_ONCE, Number(query.get("most")) || 0);
  drawFindings();
  if (!stay) show(byId("where"), { focus: null });
}

function showFinding(id) {
  const main = mainOf(findingById.get(id));
  if (!listedFindings().includes(main))
    Object.assign(where, { kind: "", pair: "", established: false });
  const place = listedFindings().indexOf(main);
  if (place >= where.most) where.most = place + 1;
  drawFindings();
  show(byId(findingItemId(id)), { block: "center" });
}

/** The finding under which this one is folded, or itself. */
function mainOf(finding) {
  return findingById.get(finding.under) ?? finding;
}

/** The findings that are folded under this one. */
function folded(finding) {
  folded.under ??= Map.groupBy(findings, (each) => each.under);
  return folded.under.get(finding.id) ?? [];
}

function passes(finding) {
  return (
    (!where.kind || finding.kind === where.kind) &&
    (!where.pair || pairOf(finding) === where.pair) &&
    (!where.established || finding.established)
  );
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
  for (const chip of document.querySelectorAll("[data-kind]"))
    chip.setAttribute("aria-pressed", chip.dataset.kind === where.kind);
  const pair = byId("pair");
  if (pair) pair.value = where.pair;
  byId("established").checked = where.established;
  const listed = listedFindings();
  const shown = listed.slice(0, where.most);
  const scale = scales(shown);
  const heads = make(
    "li.heads",
    { "aria-hidden": "true" },
    make("span", {}, "← worse"),
    make("span", {}, "better →"),
  );
  list.replaceChildren(
    ...(shown.length ? [heads] : []),
    ...shown.map((finding) => findingItem(finding, scale)),
  );
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
    const far = Math.max(
      ...[finding.difference, finding.low, finding.high].map((end) => Math.abs(end ?? 0)),
    );
    found.set(scaleName(finding), Math.max(found.get(scaleName(finding)) ?? 0, far));
  }
  return found;
}

function findingItem(finding, scale) {
  const under = folded(finding);
  const item = make(
    "li.finding",
    { id: findingItemId(finding.id), tabindex: -1, class: verdictClass(finding) },
    make("span.place", {}, finding.rank),
    make(
      "div.what",
      {},
      make(
        "h3",
        {},
        make("a", { href: segmentsOf(finding) }, text(finding.title)),
        " ",
        make("span.tag", {}, kindTitle.get(finding.kind) ?? finding.kind),
        !finding.established && make("span.tag.unsure", {}, "not established"),
      ),
      text(finding.text, "p"),
      make("p.onward", {}, ...onward(finding)),
    ),
    findingPlot(finding, scale),
    figures(finding),
  );
  if (under.length) {
    item.append(
      make(
        "details.also",
        { open: under.some((each) => location.hash === findingAddress(each.id)) },
        make("summary", {}, `also seen as ${plural(under.length, "finding")}`),
        make(
          "ul",
          {},
          ...under.map((each) =>
            make(
              "li",
              { id: findingItemId(each.id), tabindex: -1, class: verdictClass(each) },
              make("a", { href: segmentsOf(each) }, text(each.title)),
              " ",
              text(each.text),
              " ",
              make("span.soft", {}, figuresInWords(each)),
            ),
          ),
        ),
      ),
    );
  }
  return item;
}

const verdictClass = (finding) =>
  `finding ${finding.better == null ? "even" : finding.better ? "good" : "bad"}${finding.established ? "" : " unsure"}`;

function onward(finding) {
  const links = [
    make(
      "a",
      { href: segmentsOf(finding) },
      finding.segments.length ? `${plural(finding.segments.length, "segment")} →` : "segments →",
    ),
  ];
  const part =
    byId(`section-${finding.section ?? `${finding.kind}s`}`) ?? byId(`section-${finding.kind}`);
  if (part) links.push(" · ", make("a", { href: `#${part.id}` }, "table"));
  if (finding.share != null)
    links.push(" · ", make("span.soft", {}, `${percent(finding.share)} of the whole difference`));
  if (mainOf(finding) !== finding)
    links.push(
      " · ",
      make("a", { href: findingAddress(finding.under) }, `under finding ${mainOf(finding).rank}`),
    );
  return links;
}

function figures(finding) {
  const { digits } = finding;
  return make(
    "p.figures",
    {},
    make("b", {}, withUnit(signed(finding.difference, digits), finding)),
    " ",
    make("span.range", {}, interval(finding.low, finding.high, digits)),
    make(
      "span.soft",
      {},
      `${metricTitle(finding)} ${fixed(finding.value, digits)}${finding.value_other == null ? "" : ` against ${fixed(finding.value_other, digits)}`}`,
    ),
    make(
      "span.soft",
      {},
      `n ${finding.n ?? "–"} · p ${chance(finding.p_adjusted ?? finding.p)}${finding.p_adjusted == null ? "" : " adjusted"}`,
    ),
  );
}

function figuresInWords(finding) {
  const p = finding.p_adjusted ?? finding.p;
  return `${metricTitle(finding)} ${withUnit(signed(finding.difference, finding.digits), finding)} ${interval(finding.low, finding.high, finding.digits)}${p == null ? "" : `, p ${chance(p)}`}${finding.established ? "" : ", not established"}`;
}

function findingPlot(finding, scale) {
  const [width, height] = [280, 34];
  const chart = draw("svg", {
    class: "chart forest",
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "img",
    "aria-label": figuresInWords(finding),
  });
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
    finding.low != null &&
      finding.high != null &&
      draw("line", {
        class: `range ${look}`,
        x1: x(finding.low),
        x2: x(finding.high),
        y1: y,
        y2: y,
      }),
    finding.difference != null &&
      draw("circle", {
        class: `dot ${look}${finding.established ? "" : " hollow"}`,
        cx: x(finding.difference),
        cy: y,
        r: 5,
      }),
  ].filter(Boolean);
}

/** The findings as one drawing, to be saved. */
function forestPlot(shown) {
  const [left, width, right, row] = [330, 300, 250, 34];
  const scale = scales(shown);
  const height = shown.length * row + 40;
  const total = left + width + right;
  const chart = draw("svg", {
    class: "chart",
    viewBox: `0 0 ${total} ${height}`,
    width: total,
    height,
  });
  chart.append(
    draw(
      "text",
      { class: "tick", x: left + width / 2 - 10, y: 18, "text-anchor": "end" },
      "← worse",
    ),
    draw("text", { class: "tick", x: left + width / 2 + 10, y: 18 }, "better →"),
  );
  shown.forEach((finding, at) => {
    const y = 30 + row * (at + 0.5);
    chart.append(
      draw(
        "text",
        { class: "label", x: 8, y: y - 3 },
        fitting(`${finding.rank}. ${finding.title}`, left - 20),
      ),
      draw(
        "text",
        { class: "tick", x: 8, y: y + 12 },
        fitting(`${pairOf(finding)}${finding.established ? "" : ", not established"}`, left - 20),
      ),
      ...forestMarks(finding, scale, left, width, y),
      draw(
        "text",
        { class: "label", x: left + width + 12, y: y + 4 },
        `${metricTitle(finding)} ${withUnit(signed(finding.difference, finding.digits), finding)} ${interval(finding.low, finding.high, finding.digits)}`,
      ),
    );
  });
  return chart;
}

function findingRows() {
  const names = [
    "rank",
    "kind",
    "title",
    "metric",
    "unit",
    "system",
    "other",
    "n",
    "value",
    "value_other",
    "difference",
    "low",
    "high",
    "p",
    "p_adjusted",
    "share",
  ];
  return [
    [...names, "established", "text"],
    ...listedFindings().map((finding) => [
      ...names.map((name) => finding[name] ?? ""),
      finding.established ? "yes" : "no",
      finding.text,
    ]),
  ];
}
