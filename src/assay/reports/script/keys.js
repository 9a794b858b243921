// Keys, help and colours; and here everything starts.

function dialog(title, ...children) {
  const box = make(
    "dialog",
    { "aria-label": title, close: () => box.remove() },
    make("h2", {}, title),
    ...children,
    make("p.tools", {}, make("button", { type: "button", click: () => box.close() }, "Close")),
  );
  document.body.append(box);
  box.showModal();
}

function help() {
  const keys = [
    ["?", "this help"],
    ["/", "search the segments"],
    ["j, k", "next, previous finding or segment"],
    ["Enter", "the segments of a finding; a segment with all systems"],
    ["e", "which words raise or lower the score, and back"],
    ["Escape", "one step back: segment, list, finding, verdict"],
  ];
  dialog(
    "Keys",
    make(
      "dl.keys",
      {},
      ...keys.flatMap(([key, words]) => [
        make(
          "dt",
          {},
          ...key.split(", ").flatMap((each, at) => [at ? " " : "", make("kbd", {}, each)]),
        ),
        make("dd", {}, words),
      ]),
    ),
    make(
      "p.note",
      {},
      "Every view has its own address: copy it from the address bar to come back to it, or to show it to somebody who has the same file.",
    ),
  );
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
    if (next) location.hash = segmentAddress(next, address().query);
    return;
  }
  const items = [
    ...document.querySelectorAll(amongSegments() ? "#list > .segment" : "#findings > .finding"),
  ];
  const current = items.indexOf(
    document.activeElement.closest("#list > .segment, #findings > .finding"),
  );
  const next = current < 0 ? items[by > 0 ? 0 : items.length - 1] : items[current + by];
  if (next) show(next, { block: "nearest" });
  else if (amongSegments()) turnPage(by);
}

function turnPage(by) {
  const page = Number(browser.view.page) + by;
  if (page < 1 || (page - 1) * SEGMENTS_AT_ONCE >= browser.found.length) return;
  goToSegments({ page: String(page) });
  const items = document.querySelectorAll("#list > .segment");
  show(items[by > 0 ? 0 : items.length - 1], { block: by > 0 ? "start" : "end" });
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]"))
    return;
  const { target, key } = event;
  const typing = target.closest("input:not([type=checkbox]), select, textarea");
  const actions = {
    "?": help,
    "/": () => {
      if (browser.opened) up();
      byId("search").scrollIntoView({ block: "center" });
      byId("search").focus();
    },
    j: () => step(1),
    k: () => step(-1),
    e: toggleExplanation,
    Escape: up,
    Enter: () => {
      if (target.matches(".finding, .segment")) target.querySelector("a").click();
    },
  };
  if (typing) {
    if (key === "Escape") typing.blur();
    return;
  }
  if (!(key in actions) || (key === "Enter" && !target.matches(".finding, .segment"))) return;
  event.preventDefault();
  actions[key]();
}

/** Mark in the bar which part of the report is being read. */
function markPart() {
  const links = new Map();
  for (const link of document.querySelectorAll(".bar li a"))
    links.set(byId(link.hash.slice(1)), link);
  const seen = (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) links.get(target).setAttribute("aria-current", "location");
      else links.get(target).removeAttribute("aria-current");
    }
  };
  const observer = new IntersectionObserver(seen, { rootMargin: "-25% 0px -74% 0px" });
  for (const part of links.keys()) observer.observe(part);
}

const THEMES = { auto: "◐", light: "○", dark: "●" };

function theme() {
  const button = byId("theme");
  const choose = (name) => {
    if (name === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    button.textContent = THEMES[name];
    button.setAttribute("aria-label", `Colours: ${name}`);
    button.dataset.name = name;
  };
  let kept = null;
  try {
    kept = localStorage.getItem("assay-theme");
  } catch {
    /* A browser may refuse to keep things. */
  }
  choose(kept in THEMES ? kept : "auto");
  button.addEventListener("click", () => {
    const names = Object.keys(THEMES);
    choose(names[(names.indexOf(button.dataset.name) + 1) % names.length]);
    try {
      localStorage.setItem("assay-theme", button.dataset.name);
    } catch {
      /* As above. */
    }
  });
}

document.documentElement.classList.add("with-script");
theme();
scoreboard();
findingsSection();
segmentsSection();
sectionTools();
markPart();
byId("keys").addEventListener("click", help);
document.addEventListener("keydown", onKey);
addEventListener("hashchange", () => route());
if (location.hash) route();
