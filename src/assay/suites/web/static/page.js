// The parts of every page, notices, and questions to the server.

export const find = (selector, root = document) => root.querySelector(selector);
export const main = find("#main");
export const notices = find("#notices");

export function notify(text) {
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

export async function ask(address, options = {}) {
  const headers = { Accept: "application/json" };
  const answer = await fetch(address, { ...options, headers, redirect: "error" });
  if (answer.status === 401) location.assign(`/login?next=${encodeURIComponent(location.pathname)}`);
  const type = answer.headers.get("content-type") ?? "";
  const reply = type.includes("json") ? await answer.json() : { error: await answer.text() };
  return { reply, ok: answer.ok };
}
