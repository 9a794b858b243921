// The scoreboard: two views of its table, and a plot for each metric.

function scoreboard() {
  const table = byId("scores");
  table.dataset.view = "scores";
  for (const button of document.querySelectorAll("#views button")) {
    button.addEventListener("click", () => {
      table.dataset.view = button.dataset.view;
      for (const each of button.parentNode.children)
        each.setAttribute("aria-pressed", each === button);
    });
  }
  // The first click shows the best first, where that is the lowest too.
  table.addEventListener(
    "click",
    ({ target }) => {
      const header = target.closest("button")?.closest("th");
      if (header?.dataset.best === "low" && !header.hasAttribute("aria-sort"))
        header.setAttribute("aria-sort", "descending");
    },
    true,
  );
  const scroll = table.closest(".scroll");
  scroll.after(copyButtons(scoreRows, () => shownRows(table)));
  byId("dots").classList.toggle("in-pairs", metrics.length === 2 || metrics.length === 4);
  for (const metric of metrics) {
    const plot = make("div.plot");
    byId("dots").append(
      make(
        "figure.card.panel",
        {},
        make(
          "figcaption",
          {},
          text(metric.title, "b"),
          " ",
          make("span.soft", {}, metric.higher ? "higher is better →" : "← lower is better"),
          downloadButton(() => plot.firstChild, `scores-${metric.id}`, "SVG"),
        ),
        plot,
      ),
    );
    // A frame later: what is drawn while sizes are told would change them again.
    const later = () => requestAnimationFrame(() => redraw(plot, (width) => dotPlot(metric, width)));
    new ResizeObserver(later).observe(plot);
  }
}

function redraw(plot, drawing) {
  const width = Math.floor(plot.clientWidth);
  if (!width || plot.dataset.width === String(width)) return;
  plot.dataset.width = width;
  plot.replaceChildren(drawing(width));
}

/** One dot with its interval for each system, from the best down, on the metric's own axis. */
function dotPlot(metric, width) {
  const sign = metric.higher ? -1 : 1;
  const entries = data.scoreboard.filter(
    (entry) => entry.metric === metric.id && entry.score != null,
  );
  entries.sort((a, b) => sign * (a.score - b.score));
  const ends = entries.flatMap((entry) =>
    [entry.low, entry.score, entry.high].filter((end) => end != null),
  );
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const margin = (most - least || Math.abs(most) || 1) * 0.06;
  const longest = Math.max(...entries.map((entry) => textWidth(entry.system)));
  const left = Math.min(longest, width * 0.4) + 16;
  const row = 22;
  const height = entries.length * row + 8;
  const x = (value) =>
    left + ((value - least + margin) / (most - least + 2 * margin)) * (width - left - 8);
  const chart = draw("svg", {
    class: "chart",
    role: "img",
    width,
    height: height + 22,
    viewBox: `0 0 ${width} ${height + 22}`,
    "aria-label": `${metric.title}: ${entries.map((entry) => `${entry.system} ${fixed(entry.score, metric.digits)}`).join(", ")}`,
  });
  const axis = ticks(least - margin, most + margin, Math.max(2, (width - left) / 70));
  for (const value of axis.values) {
    chart.append(
      draw("line", { class: "grid", x1: x(value), x2: x(value), y1: 4, y2: height }),
      draw(
        "text",
        { class: "tick", x: x(value), y: height + 15, "text-anchor": "middle" },
        fixed(value, axis.digits),
      ),
    );
  }
  entries.forEach((entry, at) => {
    const y = 4 + row * (at + 0.5);
    const next = entries[at + 1];
    if (next && entry.cluster != null && next.cluster !== entry.cluster) {
      chart.append(
        draw("line", { class: "cut", x1: 0, x2: width, y1: y + row / 2, y2: y + row / 2 }),
      );
    }
    const known = entry.low != null && entry.high != null;
    chart.append(
      draw(
        "g",
        { class: at === 0 ? "first" : "" },
        draw(
          "title",
          {},
          `${entry.system}: ${fixed(entry.score, metric.digits)} ${interval(entry.low, entry.high, metric.digits)}`,
        ),
        draw(
          "text",
          { class: "label", x: left - 10, y: y + 4, "text-anchor": "end" },
          fitting(entry.system, left - 14),
        ),
        known &&
          draw("line", { class: "range", x1: x(entry.low), x2: x(entry.high), y1: y, y2: y }),
        draw("circle", {
          class: entry.system === baseline && systems.length > 1 ? "dot hollow" : "dot",
          cx: x(entry.score),
          cy: y,
          r: 4.5,
        }),
      ),
    );
  });
  return chart;
}

function textWidth(words, font = "650 12px system-ui, sans-serif") {
  textWidth.context ??= document.createElement("canvas").getContext("2d");
  textWidth.context.font = font;
  return textWidth.context.measureText(words).width;
}

function fitting(words, room) {
  if (textWidth(words) <= room) return words;
  let letters = [...words];
  while (letters.length > 1 && textWidth(`${letters.join("")}…`) > room)
    letters = letters.slice(0, -1);
  return `${letters.join("")}…`;
}

function scoreRows() {
  const names = [
    "score",
    "low",
    "high",
    "rank_low",
    "rank_high",
    "cluster",
    "difference",
    "difference_low",
    "difference_high",
    "p",
  ];
  const rows = data.scoreboard.map((entry) => [
    entry.system,
    metricById.get(entry.metric)?.title ?? entry.metric,
    ...names.map((name) => entry[name] ?? ""),
  ]);
  return [["system", "metric", ...names], ...rows];
}
