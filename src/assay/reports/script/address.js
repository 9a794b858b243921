// The address after `#` says what is seen.

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
const segmentAddress = (number, query = new URLSearchParams()) =>
  withQuery(`segment-${number}`, query);
const segmentsOf = (finding) => withQuery("segments", new URLSearchParams({ finding: finding.id }));

// Items have other ids than their addresses: the browser must not jump to them by itself.
const findingItemId = (id) => `item-finding-${id}`;
const segmentItemId = (number) => `item-segment-${number}`;

function show(element, { focus = element, block = "start" } = {}) {
  element.closest("details")?.setAttribute("open", "");
  element.scrollIntoView({ block });
  focus?.focus({ preventScroll: true });
}

/** Change the view and its address where the reader is, so that nothing jumps. With `replace`, back
    does not lead to the view before. */
function change(to, { replace = false } = {}) {
  if (replace) history.replaceState(null, "", to);
  else if (to !== location.hash) history.pushState(null, "", to);
  route({ stay: true });
}

/** Show what the address says; with `stay`, nothing moves. */
function route({ stay = false } = {}) {
  showPlace(stay);
  document.documentElement.dataset.shown = location.hash;
}

function showPlace(stay) {
  const { place, query } = address();
  const [, kind, id] = /^(finding|segment)-(.*)$/s.exec(place) ?? [];
  if (kind === "finding" && findingById.has(id)) return showFinding(id);
  if (kind === "segment" && Number(id) >= 1 && Number(id) <= count) 
    return showSegment(Number(id), query);
  if (place === "where") return showFindings(query, stay);
  if (place === "segments") return showSegments(query, stay);
  const target = place && byId(place);
  if (target) show(target, { focus: target.hasAttribute("tabindex") ? target : null });
}

/** One step up: from a segment to the list, to its finding, to the verdict. */
function up() {
  const { place, query } = address();
  const finding = findingById.get(query.get("finding"));
  if (place.startsWith("segment-"))
    location.hash = browser.section ? `#${browser.section.id}` : browser.lastList;
  else if (place === "segments" && finding) location.hash = findingAddress(finding.id);
  else location.hash = "#verdict";
}
