// Words: how a text differs from another.

// Words, numbers and signs; the scripts that are written without spaces letter by letter.
const TOKEN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]\p{M}*|\p{N}+(?:[.,]\p{N}+)*|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[\p{L}\p{M}])+(?:['’-]\p{L}+)*|\S/gu;

function tokens(line) {
  return [...line.matchAll(TOKEN)].map((match) => ({
    text: match[0],
    start: match.index,
    end: match.index + match[0].length,
  }));
}

/** For each token of `a`, whether it is in the longest common subsequence with `b`. */
function common(a, b) {
  const kept = new Array(a.length).fill(false);
  const keptOther = new Array(b.length).fill(false);
  let start = 0;
  while (start < a.length && start < b.length && a[start].text === b[start].text) start += 1;
  let [end, endOther] = [a.length, b.length];
  while (end > start && endOther > start && a[end - 1].text === b[endOther - 1].text)
    [end, endOther] = [end - 1, endOther - 1];
  kept.fill(true, 0, start).fill(true, end);
  keptOther.fill(true, 0, start).fill(true, endOther);
  const [rows, columns] = [end - start, endOther - start];
  if (rows * columns > MOST_CELLS) return bags(a, b);
  const width = columns + 1;
  const longest = new Uint16Array((rows + 1) * width);
  for (let i = rows - 1; i >= 0; i -= 1) {
    for (let j = columns - 1; j >= 0; j -= 1) {
      const at = i * width + j;
      longest[at] =
        a[start + i].text === b[start + j].text
          ? longest[at + width + 1] + 1
          : Math.max(longest[at + width], longest[at + 1]);
    }
  }
  for (let i = 0, j = 0; i < rows && j < columns;) {
    const at = i * width + j;
    if (a[start + i].text === b[start + j].text) {
      kept[start + i] = keptOther[start + j] = true;
      [i, j] = [i + 1, j + 1];
    } else if (longest[at + width] >= longest[at + 1]) i += 1;
    else j += 1;
  }
  return { kept, keptOther };
}

/** The same for very long texts: words that both have, in whatever order. */
function bags(a, b) {
  const match = (these, those) => {
    const left = new Map();
    for (const { text: word } of those) left.set(word, (left.get(word) ?? 0) + 1);
    return these.map(({ text: word }) => {
      const found = left.get(word) ?? 0;
      if (found) left.set(word, found - 1);
      return found > 0;
    });
  };
  return { kept: match(a, b), keptOther: match(b, a) };
}

/** The reference that shares most words with the tokens. */
function nearestReference(words, references) {
  let best = null;
  for (const reference of references) {
    const own = tokens(clipped(reference));
    const found = common(words, own);
    const size = found.kept.filter(Boolean).length;
    if (!best || size > best.size) best = { ...found, size, words: own };
  }
  return best;
}

/** One class per word: how it differs from the other output or from the reference. */
function markings(words, other, references, mode) {
  if (mode === "none") return words.map(() => "");
  const reference = nearestReference(words, references);
  if (mode === "reference")
    return reference ? reference.kept.map((kept) => (kept ? "" : "bad")) : words.map(() => "");
  if (other == null) return words.map(() => "");
  const shared = common(words, tokens(clipped(other))).kept;
  return shared.map((kept, at) =>
    kept ? "" : !reference ? "note" : reference.kept[at] ? "good" : "bad",
  );
}

const REMARKS = {
  good: "in the reference; not in the other output",
  bad: "not in the reference",
  note: "not in the other output",
};

/** The text with its marked words; neighbours with the same mark are set as one. */
function marked(line, words, marks) {
  const parts = [];
  let at = 0;
  for (let first = 0; first < words.length; first += 1) {
    if (!marks[first]) continue;
    let last = first;
    while (last + 1 < words.length && marks[last + 1] === marks[first]) last += 1;
    parts.push(
      line.slice(at, words[first].start),
      make(
        `mark.${marks[first]}`,
        { title: REMARKS[marks[first]] },
        line.slice(words[first].start, words[last].end),
      ),
    );
    at = words[last].end;
    first = last;
  }
  return [...parts, line.slice(at)];
}

const clipped = (line) => (line.length > LONG_TEXT ? line.slice(0, LONG_TEXT) : line);

/** A text in full, or its beginning with a button for the rest. */
function paragraph(line, paint = (shown) => [shown]) {
  const place = make("p.text", { dir: "auto" });
  if (line === "") return fill(place, {}, [make("span.empty", {}, "(empty)")]);
  place.append(...paint(clipped(line)));
  if (line.length > LONG_TEXT) {
    const button = make(
      "button",
      { type: "button", click: () => place.replaceChildren(...paint(line)) },
      `… show all ${line.length.toLocaleString("en")} characters`,
    );
    place.append(" ", button);
  }
  return place;
}
