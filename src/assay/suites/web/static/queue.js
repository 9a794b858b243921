// Requests that are sent until there is an answer, the lease of the item that is shown, and its address.
import { ask, find, main, notices, notify } from "./page.js";

const PAUSES = [500, 2000, 5000]; // ms before a request without an answer is sent again
const LONGEST = 20000; // ms to wait for an answer
const MINUTE = 60000; // ms between two renewals of a lease

const QUIET_COUNTS = 300; // ms after a case is shown before the filters are counted

let recounting; // the timer of the next count
let unsure = null; // a request of which nobody knows whether it was done

const rest = (pause) => new Promise((done) => setTimeout(done, pause));

function newKey() {
  const numbers = crypto.getRandomValues(new Uint8Array(16));
  return [...numbers].map((number) => number.toString(16).padStart(2, "0")).join("");
}

function withoutKey(body) {
  const fields = new URLSearchParams(body);
  fields.delete("key");
  return fields.toString();
}

// Every decision and rule has a key of its own; one that may have been saved keeps its key.
export function keyed(address, body) {
  if (!body.has("key")) return body;
  const same = unsure?.address === address && withoutKey(unsure.body) === withoutKey(body);
  body.set("key", same ? unsure.body.get("key") : newKey());
  return body;
}

// The answer to a request. With a key it is sent again, since what was saved is not saved twice.
export async function sendSurely(address, body) {
  const pauses = body.has("key") ? [...PAUSES] : [];
  for (;;) {
    try {
      const answer = await ask(address, { method: "POST", body, signal: AbortSignal.timeout(LONGEST) });
      unsure = null;
      tellSending("");
      return answer;
    } catch (error) {
      if (!pauses.length) throw error;
      tellSending("The server does not answer. Sending again …");
      await rest(pauses.shift());
    }
  }
}

function tellSending(text) {
  find("#sending")?.remove();
  if (!text) return;
  const note = document.createElement("div");
  Object.assign(note, { id: "sending", className: "notice" });
  const words = document.createElement("p");
  words.textContent = text;
  note.append(words);
  notices.append(note);
}

export function tellUnsure(address, body, again) {
  tellSending("There is no answer: it is not known whether this was saved.");
  if (!body.has("key")) return;
  unsure = { address, body };
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "quiet", textContent: "Try again" });
  button.addEventListener("click", again);
  find("#sending").append(button);
}

const place = () => find("#place", main)?.dataset ?? {};

// The address is that of the case that is shown, so that a reload shows it again.
function follow({ first = false } = {}) {
  const { address } = place();
  if (!address || address === here()) return;
  if (first) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  seen = address;
}

const here = () => location.pathname + location.search;
let seen = here(); // the address of what is shown

async function goBack(show) {
  if (here() === seen) return undefined; // a link within the page
  seen = here();
  if (!find("#place", main)) return location.reload();
  try {
    const { reply, ok } = await ask(here());
    if (!ok) location.reload();
    else show(reply);
  } catch {
    notify("The server does not answer. Try again.");
  }
  return undefined;
}

export const onBack = (show) => window.addEventListener("popstate", () => goBack(show));

async function renew() {
  const { output } = place();
  if (!output || document.visibilityState !== "visible") return;
  try {
    const { reply } = await ask("/lease", { method: "POST", body: new URLSearchParams({ output }) });
    if (place().output === output && reply.until) place().until = reply.until;
  } catch {
    // The next one will do; a lease lasts for several of these.
  }
}

// Filters come without counts after a decision: they are asked for when it is quiet.
function recountSoon() {
  clearTimeout(recounting);
  recounting = setTimeout(recount, QUIET_COUNTS);
}

async function recount() {
  const form = find(".filter[open] form[data-counts]", main);
  if (!form) return;
  try {
    const { reply, ok } = await ask(`/resolve/counts?${form.dataset.counts}`);
    // Whoever is choosing something is not disturbed.
    if (!ok || !form.isConnected || form.contains(document.activeElement)) return;
    form.innerHTML = reply.filters;
    delete form.dataset.counts;
  } catch {
    // The counts are a help; the filters work without them.
  }
}

document.addEventListener("toggle", (event) => event.target.matches?.(".filter") && recountSoon(), true);
setInterval(renew, MINUTE);
document.addEventListener("visibilitychange", renew);
window.addEventListener("pageshow", (event) => event.persisted && renew());
window.addEventListener("pagehide", () => {
  const { output, until } = place();
  if (until) navigator.sendBeacon("/release", new URLSearchParams({ output, until }));
});
new MutationObserver(() => {
  follow();
  recountSoon();
}).observe(main, { childList: true });
follow({ first: true });
