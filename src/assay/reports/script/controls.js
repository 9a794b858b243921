// What the reader chooses segments by.

function drawControls() {
  const { view } = browser;
  const filtered = matchMedia("(min-width: 64rem)").matches || filterCount(view) > 0;
  byId("controls").replaceChildren(
    searchBox(view),
    make(
      "details.more",
      { open: filtered },
      make("summary", {}, "Filters and order"),
      make("div.fields", {}, ...filterFields(view), ...pairFields(view), ...orderFields(view)),
      systems.length > FEW_SYSTEMS && systemBoxes(view),
    ),
  );
  updateControls();
}

/** Put the view's values into the controls that are there. */
function updateControls() {
  const { view } = browser;
  const controls = byId("controls");
  controls.hidden = false;
  for (const each of controls.querySelectorAll("select, input[type=number]")) {
    const label = each.name.startsWith("label.") && each.name.slice("label.".length);
    each.value = label === false ? view[each.name] : view.labels[label];
  }
  for (const box of controls.querySelectorAll("[name=system]")) {
    box.checked = view.systems.includes(box.value);
  }
  const search = byId("search");
  if (search !== document.activeElement) search.value = view.q;
  controls.querySelector("[value=carried]").disabled = !view.finding;
  controls.querySelector("[value=effect]").disabled = !explainable;
}

const filterCount = ({ slice, document, fault, low, high, labels }) =>
  [slice, document, fault, low, high, ...Object.values(labels)].filter(Boolean).length;

function searchBox(view) {
  let waiting = 0;
  const input = ({ target }) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => goToSegments({ q: target.value }, { typed: true }), 150);
  };
  const words = "Search all texts";
  return make("input", {
    type: "search",
    id: "search",
    autocomplete: "off",
    placeholder: words,
    "aria-label": words,
    value: view.q,
    input,
  });
}

function filterFields(view) {
  const documents = [...new Set(segments.documents)];
  return [
    findings.length > 0 && findingField(view),
    slices.length > 0 && field("Part of the test set", choice("slice", sliceOptions())),
    documents.length > 1 && field("Document", choice("document", withAny(documents))),
    ...labelNames.map(labelField),
    faultKinds.length > 0 && field("Fault", choice("fault", withAny(faultKinds))),
  ];
}

/** To choose a finding is to choose its pair of systems, its metric and its order as well. */
function findingField(view) {
  const first = findings.filter((finding) => !finding.under).slice(0, FINDINGS_TO_CHOOSE);
  const own = findingById.get(view.finding);
  const offered = own && !first.includes(own) ? [own, ...first] : first;
  const options = offered.map(({ id, rank, title }) =>
    make("option", { value: id }, `${rank}. ${title}`),
  );
  const change = ({ target }) => {
    const finding = target.value;
    goToSegments({ ...defaults(new URLSearchParams({ finding })), finding });
  };
  return field("Finding", choice("finding", [anyOption(), ...options], change));
}

function sliceOptions() {
  const option = ({ id, name, segments: own }) =>
    make("option", { value: id }, `${name} (${own.length})`);
  const groups = [...Map.groupBy(slices, (slice) => slice.kind)];
  return [
    anyOption(),
    ...groups.map(([kind, own]) =>
      make("optgroup", { label: kindTitle.get(kind) ?? kind }, ...own.map(option)),
    ),
  ];
}

function labelField(name) {
  const values = [...new Set(segments.labels[name])].sort();
  const change = ({ target }) =>
    goToSegments({ labels: { ...browser.view.labels, [name]: target.value } });
  return field(name, choice(`label.${name}`, withAny(values), change));
}

function pairFields(view) {
  const range = (name, words) =>
    make("input", {
      type: "number",
      step: "any",
      name,
      value: view[name],
      placeholder: words,
      "aria-label": `Score of A ${words}`,
      change: ({ target }) => goToSegments({ [name]: target.value }),
    });
  return [
    systems.length > 1 && field("System A", choice("a", plainOptions(systems))),
    systems.length > 1 && field("System B", choice("b", plainOptions(systems))),
    field(
      "Metric",
      choice(
        "metric",
        metrics.map(({ id, title }) => make("option", { value: id }, title)),
      ),
    ),
    field("Score of A", make("span.range", {}, range("low", "from"), range("high", "to")), "div"),
  ];
}

function orderFields() {
  const options = (names) =>
    Object.entries(names).map(([value, words]) => make("option", { value }, words));
  return [
    field("Order", choice("sort", options(SORTS))),
    field("Mark words", choice("marks", options(MARKS))),
  ];
}

function systemBoxes() {
  const boxes = systems.map((value) =>
    make(
      "label",
      {},
      make("input", { type: "checkbox", name: "system", value, change: chooseSystems }),
      " ",
      text(value),
    ),
  );
  return make(
    "details.systems",
    {},
    make("summary", {}, "Systems shown"),
    make("div.boxes", {}, ...boxes),
  );
}

function chooseSystems() {
  const boxes = [...byId("controls").querySelectorAll("[name=system]:checked")];
  goToSegments({ systems: boxes.map((box) => box.value), named: boxes.length > 0 });
}

function field(words, element, tag = "label") {
  return make(`${tag}.field`, {}, make("span", {}, words), element);
}

function choice(name, options, change = ({ target }) => goToSegments({ [name]: target.value })) {
  return make("select", { name, change }, ...options);
}

const anyOption = () => make("option", { value: "" }, "any");
const plainOptions = (values) => values.map((value) => make("option", { value }, value));
const withAny = (values) => [anyOption(), ...plainOptions(values)];
