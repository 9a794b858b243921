// What the reader chooses segments by.

function option(value, words, chosen) {
  return make("option", { value, selected: value === chosen }, words);
}

function control(words, element, name = "label.field") {
  return make(name, {}, make("span", {}, words), element);
}

function choice(
  name,
  chosen,
  options,
  change = ({ target }) => goToSegments({ [name]: target.value }),
) {
  return make(
    "select",
    { name, change },
    ...options.map((each) => (Array.isArray(each) ? option(...each, chosen) : each)),
  );
}

function drawControls() {
  const { view } = browser;
  const own = [...new Set(segments.documents ?? [])];
  const groups = [...Map.groupBy(slices, (slice) => slice.kind)].map(([kind, held]) =>
    make(
      "optgroup",
      { label: kindTitle.get(kind) ?? kind },
      ...held.map((slice) =>
        option(slice.id, `${slice.name} (${slice.segments.length})`, view.slice),
      ),
    ),
  );
  const chosen = findings.filter((finding) => !finding.under).slice(0, FINDINGS_TO_CHOOSE);
  if (view.finding && !chosen.includes(findingById.get(view.finding)))
    chosen.unshift(findingById.get(view.finding));
  const pair = systems.map((system) => [system, system]);
  const measures = metrics.map((metric) => [metric.id, metric.title]);
  const range = (name, words) =>
    make("input", {
      type: "number",
      step: "any",
      name,
      value: view[name],
      "aria-label": words,
      placeholder: words,
      change: ({ target }) => goToSegments({ [name]: target.value }),
    });
  let waiting = 0;
  const search = make("input", {
    type: "search",
    id: "search",
    placeholder: "Search all texts",
    "aria-label": "Search all texts",
    value: view.q,
    autocomplete: "off",
    input: ({ target }) => {
      clearTimeout(waiting);
      waiting = setTimeout(() => goToSegments({ q: target.value }, { typed: true }), 150);
    },
  });
  const more = make(
    "details.more",
    { open: matchMedia("(min-width: 64rem)").matches || filterCount(view) > 0 },
    make("summary", {}, "Filters and order"),
    make(
      "div.fields",
      {},
      findings.length > 0 &&
        control(
          "Finding",
          choice(
            "finding",
            view.finding,
            [
              ["", "any"],
              ...chosen
                .filter(Boolean)
                .map((finding) => [finding.id, `${finding.rank}. ${finding.title}`]),
            ],
            ({ target }) =>
              goToSegments({
                ...defaults(new URLSearchParams({ finding: target.value })),
                finding: target.value,
              }),
          ),
        ),
      slices.length > 0 &&
        control("Part of the test set", choice("slice", view.slice, [["", "any"], ...groups])),
      own.length > 1 &&
        control(
          "Document",
          choice("document", view.document, [["", "any"], ...own.map((name) => [name, name])]),
        ),
      ...labelNames.map((name) =>
        control(
          name,
          choice(
            `label.${name}`,
            view.labels[name],
            [
              ["", "any"],
              ...[...new Set(segments.labels[name])].sort().map((value) => [value, value]),
            ],
            ({ target }) =>
              goToSegments({ labels: { ...browser.view.labels, [name]: target.value } }),
          ),
        ),
      ),
      faultKinds.length > 0 &&
        control(
          "Fault",
          choice("fault", view.fault, [["", "any"], ...faultKinds.map((kind) => [kind, kind])]),
        ),
      systems.length > 1 && control("System A", choice("a", view.a, pair)),
      systems.length > 1 && control("System B", choice("b", view.b, pair)),
      metrics.length > 0 && control("Metric", choice("metric", view.metric, measures)),
      metrics.length > 0 &&
        control(
          "Score of A",
          make("span.range", {}, range("low", "from"), range("high", "to")),
          "div.field",
        ),
      control("Order", choice("sort", view.sort, Object.entries(SORTS))),
      control("Mark differing words", choice("marks", view.marks, Object.entries(MARKS))),
    ),
    systems.length > FEW_SYSTEMS &&
      make(
        "details.systems",
        {},
        make("summary", {}, "Systems shown"),
        make(
          "div.boxes",
          {},
          ...systems.map((system) =>
            make(
              "label",
              {},
              make("input", {
                type: "checkbox",
                name: "system",
                value: system,
                checked: view.systems.includes(system),
                change: chooseSystems,
              }),
              " ",
              text(system),
            ),
          ),
        ),
      ),
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
  for (const box of controls.querySelectorAll("[name=system]"))
    box.checked = view.systems.includes(box.value);
  const search = byId("search");
  if (search !== document.activeElement) search.value = view.q;
  controls.querySelector("[value=carried]").disabled = !view.finding;
}

function chooseSystems() {
  const boxes = [...byId("controls").querySelectorAll("[name=system]:checked")];
  goToSegments({ systems: boxes.map((box) => box.value), named: boxes.length > 0 });
}

const filterCount = (view) =>
  [
    view.slice,
    view.document,
    view.fault,
    view.low,
    view.high,
    ...Object.values(view.labels),
  ].filter(Boolean).length;
