// Times are stored and sent in UTC; here they become those of the reader's clock.
const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

function localise(root) {
  for (const time of root.querySelectorAll("time[datetime]:not([data-local])")) {
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    time.title = time.textContent;
    time.textContent = clock.format(moment);
    time.dataset.local = "";
  }
  for (const note of root.querySelectorAll(".local-times")) note.hidden = false;
}

localise(document);
new MutationObserver(() => localise(document)).observe(document.body, { childList: true, subtree: true });
