// Tables to copy, drawings to save.

function copyButtons(forTSV, forLaTeX = forTSV) {
  return make(
    "p.tools",
    {},
    make("button", { type: "button", click: () => copy(asTSV(forTSV())) }, "Copy as TSV"),
    make("button", { type: "button", click: () => copy(asLaTeX(forLaTeX())) }, "Copy as LaTeX"),
  );
}

/** The cells of a table as they are seen. */
function shownRows(table) {
  const cell = (each) =>
    [...each.querySelectorAll(".unseen")]
      .reduce((words, unseen) => words.replace(unseen.innerText, ""), each.innerText)
      .replace(/\s+/g, " ")
      .trim();
  return [...table.rows].map((row) => [...row.cells].map(cell));
}

/** The cells of a table with their numbers in full. */
function fullRows(table) {
  return [...table.rows].map((row) =>
    [...row.cells].map((cell) => cell.dataset.value ?? cell.innerText.replace(/\s+/g, " ").trim()),
  );
}

const asTSV = (rows) =>
  rows
    .map((row) => row.map((cell) => String(cell).replace(/[\t\r\n]+/g, " ")).join("\t"))
    .join("\n") + "\n";

const LATEX = {
  "\\": "\\textbackslash{}",
  "{": "\\{",
  "}": "\\}",
  $: "\\$",
  "&": "\\&",
  "#": "\\#",
  _: "\\_",
  "%": "\\%",
  "^": "\\textasciicircum{}",
  "~": "\\textasciitilde{}",
  "<": "\\textless{}",
  ">": "\\textgreater{}",
  "|": "\\textbar{}",
  "[": "{[}",
  "]": "{]}",
  "*": "{*}",
  "–": "\\textendash{}",
  "−": "\\ensuremath{-}",
  "↑": "\\ensuremath{\\uparrow}",
  "↓": "\\ensuremath{\\downarrow}",
  "→": "\\ensuremath{\\rightarrow}",
};
const inLaTeX = (cell) => String(cell).replace(/[\\{}$&#_%^~<>|[\]*–−↑↓→]/g, (sign) => LATEX[sign]);

function asLaTeX([head, ...rows]) {
  const columns = head
    .map((_, at) =>
      at > 0 && rows.every((row) => /^[\d\s.,+\-−–<[\]%]*$/.test(row[at])) ? "r" : "l",
    )
    .join("");
  const line = (row) => `${row.map(inLaTeX).join(" & ")} \\\\`;
  return [
    "% Needs the package booktabs.",
    `\\begin{tabular}{${columns}}`,
    "\\toprule",
    line(head),
    "\\midrule",
    ...rows.map(line),
    "\\bottomrule",
    "\\end{tabular}",
    "",
  ].join("\n");
}

/** To the clipboard; a browser that refuses gets a box to copy from. */
async function copy(words) {
  try {
    await navigator.clipboard.writeText(words);
    tell("Copied.");
  } catch {
    const area = make("textarea", { readonly: true, rows: 12, "aria-label": "Text to copy" });
    area.value = words;
    dialog("Copy this text", area);
    area.select();
  }
}

function downloadButton(drawing, name, words = "Download SVG") {
  const click = () => save(drawing(), name);
  return make("button", { type: "button", title: "Download as SVG", click }, words);
}

const DRAWN = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linecap",
  "font-family",
  "font-size",
  "font-weight",
  "opacity",
];

/** Save a drawing as a file of its own, with its looks written into it. */
function save(drawing, name) {
  const chart = drawing.cloneNode(true);
  const frame = make("div.saved", { "aria-hidden": "true" }, chart);
  document.body.append(frame);
  for (const element of chart.querySelectorAll("*")) {
    const looks = getComputedStyle(element);
    for (const property of DRAWN) element.setAttribute(property, looks.getPropertyValue(property));
    element.removeAttribute("class");
  }
  const ground = getComputedStyle(frame).backgroundColor;
  chart.prepend(draw("rect", { width: "100%", height: "100%", fill: ground }));
  chart.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  frame.remove();
  const file = new Blob([new XMLSerializer().serializeToString(chart)], {
    type: "image/svg+xml",
  });
  const link = make("a", { href: URL.createObjectURL(file), download: `${name}.svg` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

function sectionTools() {
  for (const table of document.querySelectorAll(".part table")) {
    (table.closest(".scroll") ?? table).after(
      copyButtons(
        () => fullRows(table),
        () => shownRows(table),
      ),
    );
  }
  for (const part of document.querySelectorAll(".part")) {
    part.addEventListener("click", ({ target }) => {
      if (target.closest("a[href^='#segment-']")) browser.section = part;
    });
  }
  document.querySelectorAll(".part .plot svg").forEach((chart, at) => {
    chart.closest(".plot").after(
      make(
        "p.tools",
        {},
        downloadButton(() => chart, `chart-${at + 1}`),
      ),
    );
  });
}
