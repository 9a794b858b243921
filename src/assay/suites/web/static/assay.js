// The pages work without this; with it, the next case comes without a reload, and keys do it all.
"use strict";

const find = (selector, root = document) => root.querySelector(selector);
const main = find("#main");
const panel = find("#panel");
const toast = find("#toast");
const notices = find("#notices");
const help = find("#help");
const PAUSE = 200; // ms of quiet before a preview is asked for

let busy = false; // a decision is under way: keys wait, so that nobody judges what they have not seen
let before = null; // what had the focus before the panel opened
let waiting; // the timer of the next preview
let asking; // stops the preview that is under way

function notify(text) {
  const note = document.createElement("div");
  note.className = "notice";
  const words = document.createElement("p");
  words.textContent = text;
  const close = document.createElement("button");
  Object.assign(close, { type: "button", className: "close", textContent: "×" });
  close.setAttribute("aria-label", "Close this note");
  close.dataset.close = "";
  note.append(words, close);
  notices.append(note);
  while (notices.children.length > 3) notices.firstElementChild.remove();
}

async function ask(address, options = {}) {
  const headers = { Accept: "application/json" };
  const answer = await fetch(address, { ...options, headers, redirect: "error" });
  if (answer.status === 401) location.assign(`/login?next=${encodeURIComponent(location.pathname)}`);
  const type = answer.headers.get("content-type") ?? "";
  const reply = type.includes("json") ? await answer.json() : { error: await answer.text() };
  return { reply, ok: answer.ok };
}

// The server sends pieces of pages, all text in them escaped; the policy forbids scripts in them.
function show(reply) {
  if (reply.main !== undefined) {
    const key = main.contains(document.activeElement) && document.activeElement.dataset.key;
    main.innerHTML = reply.main;
    const shown = find(".case", main);
    shown?.classList.add("arrived");
    // Whoever works with Tab and Enter stays on the same button.
    ((key && find(`[data-key="${key}"]`, main)) || shown || main).focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }
  if (reply.toast !== undefined) toast.innerHTML = reply.toast;
  if (reply.notice) notify(reply.notice);
  if (reply.panel !== undefined) openPanel(reply.panel);
}

async function send(form, submitter) {
  if (busy) return;
  busy = true;
  document.body.classList.add("busy");
  const address = submitter?.getAttribute("formaction") ?? form.getAttribute("action");
  try {
    const body = new URLSearchParams(new FormData(form, submitter));
    const { reply, ok } = await ask(address, { method: "POST", body });
    if (!ok && form.matches(".rule-form")) find(".preview", form).innerHTML = reply.panelError ?? "";
    if (reply.error && !reply.panelError) notify(reply.error);
    if (ok && form.matches(".rule-form")) closePanel();
    show(reply);
  } catch {
    notify("The server does not answer, so nothing was saved. Try again.");
  } finally {
    busy = false;
    document.body.classList.remove("busy");
  }
}

function selected() {
  const selection = window.getSelection();
  const output = find("#output");
  if (!output || !selection.rangeCount || !output.contains(selection.anchorNode)) return "";
  return output.contains(selection.focusNode) ? selection.toString().trim() : "";
}

async function openRule(link) {
  const address = new URL(link.href);
  const text = link.closest("#toast") ? "" : selected();
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
    target.innerHTML = reply.preview ?? "";
    if (reply.error) notify(reply.error);
    target.classList.remove("stale");
  } catch (error) {
    if (error.name !== "AbortError") notify("The server does not answer. Try again.");
  }
}

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
  all[at]?.classList.remove("chosen");
  all[to].classList.add("chosen");
  all[to].scrollIntoView({ block: "nearest" });
  find("a.open", all[to])?.focus({ preventScroll: true });
}

function target(key) {
  const wanted = `[data-key~="${CSS.escape(key)}"]`;
  return find(`#toast ${wanted}`) ?? find(`.chosen ${wanted}`, main) ?? find(wanted, main);
}

function escape() {
  if (!panel.hidden) closePanel();
  else if (document.activeElement?.matches("input, select, textarea")) document.activeElement.blur();
  else find(".notice:last-child", notices)?.remove();
}

function typed(event) {
  if (event.key === "Escape" && !help.open) return escape();
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || help.open) return undefined;
  if (event.target.closest("input:not([type=radio], [type=checkbox]), select, textarea")) return undefined;
  if (event.key === "?") return help.showModal();
  if (event.key === "j" || event.key === "k") return step(event.key === "j" ? 1 : -1);
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
  const plainClick = !event.ctrlKey && !event.metaKey && !event.shiftKey;
  if (link && plainClick) {
    event.preventDefault();
    openRule(link);
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

find("[data-help]")?.removeAttribute("hidden");
document.documentElement.classList.add("scripted");
