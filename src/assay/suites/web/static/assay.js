// The pages work without this; with it, the next case comes without a reload, and keys do it all.
// Modules run when all of them have come, so that no key finds half of the page.
import { ask, find, main, notices, notify } from "./page.js";
import { keyed, onBack, sendSurely, tellUnsure } from "./queue.js";
import {
  arrive, choose, chooseNext, chosenRow, decisionOnMarked, itemShown, mark, markAll, marks, unmark,
} from "./item.js";
import "./times.js";

const panel = find("#panel");
const toast = find("#toast");
const help = find("#help");
const PAUSE = 200; // ms of quiet before a preview is asked for

let busy = false; // a decision is under way: keys wait, so that nobody judges what they have not seen
let before = null; // what had the focus before the panel opened
let waiting; // the timer of the next preview
let asking; // stops the preview that is under way

// The server sends pieces of pages, all text in them escaped; the policy forbids scripts in them.
function show(reply, { decided = false } = {}) {
  if (reply.go) return location.assign(reply.go);
  if (reply.main !== undefined) replaceMain(reply.main, decided);
  if (reply.toast !== undefined) toast.innerHTML = reply.toast;
  if (reply.notice) notify(reply.notice);
  if (reply.panel !== undefined) openPanel(reply.panel);
}

function replaceMain(html, decided) {
  const key = main.contains(document.activeElement) && document.activeElement.dataset.key;
  const before = { item: itemShown(), output: chosenRow()?.dataset.output };
  const place = window.scrollY;
  main.innerHTML = html;
  arrive(before, decided);
  const same = before.item !== undefined && itemShown() === before.item;
  if (same && decided && !find("#place[data-stays]", main)) chooseNext(before.output);
  if (!same) find(".case", main)?.classList.add("arrived");
  // Whoever works with Tab and Enter stays on the same button.
  const row = chosenRow();
  const button = key && (find(`[data-key="${key}"]`, row ?? main) ?? find(`[data-key="${key}"]`, main));
  (button || (row && find("a.open", row)) || main).focus({ preventScroll: true });
  window.scrollTo(0, same ? place : 0);
  row?.scrollIntoView({ block: "nearest" });
}

function send(form, submitter) {
  const address = submitter?.getAttribute("formaction") ?? form.getAttribute("action");
  return deliver(form, address, new URLSearchParams(new FormData(form, submitter)));
}

async function deliver(form, address, body) {
  if (busy) return;
  busy = true;
  document.body.classList.add("busy");
  try {
    const { reply, ok } = await sendSurely(address, keyed(address, body));
    if (!ok && form.matches(".rule-form")) find(".preview", form).innerHTML = reply.panelError ?? "";
    if (reply.error && !reply.panelError) notify(reply.error);
    if (ok && form.matches(".rule-form")) closePanel();
    show(reply, { decided: ok && address === "/decide" });
  } catch {
    tellUnsure(address, body, () => deliver(form, address, body));
  } finally {
    busy = false;
    document.body.classList.remove("busy");
  }
}

// The words that are selected in an output, and the link that makes a rule from this output.
function selected(link) {
  const selection = window.getSelection();
  const node = selection.isCollapsed ? null : selection.anchorNode;
  const text = (node?.nodeType === Node.TEXT_NODE ? node.parentElement : node)?.closest(".text");
  if (!text?.contains(selection.focusNode)) return { text: "", link };
  return { text: selection.toString().trim(), link: find("a[data-panel]", text.closest(".output-row")) };
}

async function openRule(clicked) {
  const plain = { text: "", link: clicked };
  const { text, link } = clicked.closest("#toast") ? plain : selected(clicked);
  const address = new URL(link.href);
  if (text) address.searchParams.set("text", text);
  address.searchParams.set("back", location.search.slice(1));
  try {
    const { reply } = await ask(address);
    if (reply.error) notify(reply.error);
    show(reply);
  } catch {
    notify("The server does not answer. Try again.");
  }
}

function openPanel(html) {
  if (panel.hidden) before = document.activeElement;
  panel.innerHTML = html;
  panel.hidden = false;
  document.body.classList.add("with-panel");
  const text = find(".pattern", panel);
  text.focus();
  text.select();
}

function closePanel() {
  if (panel.hidden) return;
  clearTimeout(waiting);
  asking?.abort();
  panel.hidden = true;
  panel.replaceChildren();
  document.body.classList.remove("with-panel");
  (before?.isConnected ? before : main).focus({ preventScroll: true });
}

function previewSoon(form, pause = PAUSE) {
  clearTimeout(waiting);
  waiting = setTimeout(() => preview(form), pause);
}

async function preview(form) {
  asking?.abort();
  asking = new AbortController();
  const body = new URLSearchParams(new FormData(form));
  const target = find(".preview", form);
  target.classList.add("stale");
  try {
    const { reply } = await ask(form.dataset.preview, { method: "POST", body, signal: asking.signal });
    const held = target.contains(document.activeElement) && document.activeElement.name;
    target.innerHTML = reply.preview ?? "";
    if (held) form.elements[held]?.focus({ preventScroll: true });
    find(".refused", main)?.remove(); // it spoke of what was there before
    if (reply.error) notify(reply.error);
    target.classList.remove("stale");
  } catch (error) {
    if (error.name !== "AbortError") notify("The server does not answer. Try again.");
  }
}

const changed = (form) =>
  [...form.elements].some((field) => {
    if (field.matches("select")) return field.selectedIndex !== sentIndex(field);
    if (!field.matches("input, textarea")) return false;
    return field.value !== field.defaultValue || field.checked !== field.defaultChecked;
  });

// What was chosen in a select when it was sent: the first option where none was marked.
const sentIndex = (select) => Math.max([...select.options].findIndex((option) => option.defaultSelected), 0);

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const plain = (text) => text.replace(/\\([.*+?^${}()|[\]\\])/g, "$1");

function changeKind(form, kind) {
  const field = form.elements.text;
  if (kind === "regex") field.value = escaped(field.value);
  else if (escaped(plain(field.value)) === field.value) field.value = plain(field.value);
}

function step(by) {
  const all = [...main.querySelectorAll("[data-step]")];
  if (!all.length) return;
  const at = all.findIndex((each) => each.classList.contains("chosen"));
  const to = at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1);
  choose(all[to]);
}

// Tab stays in the panel while it is open.
function cycle(event) {
  const all = [...panel.querySelectorAll("a[href], button, input:not([type=hidden]), select")].filter(
    (each) => each.offsetParent && (each.type !== "radio" || each.checked),
  );
  const edge = event.shiftKey ? all[0] : all.at(-1);
  const inside = panel.contains(document.activeElement);
  if (inside && document.activeElement !== edge) return;
  event.preventDefault();
  (event.shiftKey ? all.at(-1) : all[0]).focus();
}

const STEPS = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 };

function decideMarked(choice) {
  const form = find(".acts", chosenRow() ?? main);
  return deliver(form, "/decide", decisionOnMarked(form, choice));
}

// The keys for several outputs at once; whether this was one of them.
function several(event) {
  const key = event.key.toLowerCase();
  const choice = { p: "pass", f: "fail" }[key];
  if (key === "x" || (key === " " && !event.target.closest("button, summary, input"))) mark(chosenRow());
  else if (key === "a") markAll();
  else if (choice && marks.size) decideMarked(choice);
  else return false;
  return true;
}

function target(key) {
  const wanted = `[data-key~="${CSS.escape(key)}"]`;
  return find(`#toast ${wanted}`) ?? find(`.chosen ${wanted}`, main) ?? find(wanted, main);
}

function escape() {
  if (!panel.hidden) closePanel();
  else if (marks.size && !document.activeElement?.matches("input:not([type=checkbox]), select")) unmark();
  else if (document.activeElement?.matches("input, select, textarea")) document.activeElement.blur();
  else find(".notice:last-child", notices)?.remove();
}

function typed(event) {
  if (event.key === "Escape" && !help.open) return escape();
  if (event.key === "Tab" && !panel.hidden && !help.open) return cycle(event);
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return undefined;
  if (event.target.closest("input:not([type=radio], [type=checkbox]), select, textarea")) return undefined;
  if (panel.hidden && STEPS[event.key] && find("[data-step]", main)) {
    event.preventDefault();
    return step(STEPS[event.key]);
  }
  if (event.repeat) return undefined;
  if (event.key === "?") return help.showModal();
  if (panel.hidden && chosenRow() && several(event)) return event.preventDefault();
  const focus = event.key === "/" && find('[data-focus="/"]');
  const button = focus || (panel.hidden && target(event.key.toLowerCase()));
  if (!button) return undefined;
  event.preventDefault();
  return focus ? focus.focus() : busy || button.click();
}

document.addEventListener("keydown", typed);

document.addEventListener("submit", (event) => {
  if (!event.target.matches("form[data-live]")) return;
  event.preventDefault();
  send(event.target, event.submitter);
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-panel]");
  const many = event.target.closest("[data-many]");
  const plainClick = !event.ctrlKey && !event.metaKey && !event.shiftKey;
  if (link && plainClick) {
    event.preventDefault();
    openRule(link);
  } else if (many) {
    decideMarked(many.dataset.many);
  } else if (event.target.closest("#panel [data-shut]")) {
    event.preventDefault();
    closePanel();
  } else if (event.target.closest("[data-close]")) {
    event.target.closest(".notice").remove();
  } else if (event.target.closest("[data-help]")) {
    help.showModal();
  } else if (event.target.closest("[data-idea]")) {
    const idea = event.target.closest("[data-idea]");
    const form = idea.form ?? idea.closest("form");
    form.elements.kind.value = idea.dataset.kind;
    form.elements.text.value = idea.dataset.text;
    form.elements.text.focus();
    previewSoon(form, 0);
  }
});

document.addEventListener("input", (event) => {
  const form = event.target.closest("form[data-preview]");
  if (!form) return;
  if (event.target.name === "kind") changeKind(form, event.target.value);
  previewSoon(form);
});

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submit]")) event.target.form.requestSubmit();
});

onBack(show);
// What was typed before this script came has no preview yet.
for (const form of document.querySelectorAll("form[data-preview]")) if (changed(form)) previewSoon(form, 0);
find("[data-help]")?.removeAttribute("hidden");
// On a narrow screen the row of pages scrolls: the one that is open is to be seen.
find(".top nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
document.documentElement.classList.add("scripted");
