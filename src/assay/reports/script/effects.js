// What each word does to its text's score: chrF with the word less chrF without it, as by
// `assay explain -m chrf --explainer erasure`. Worked out here, for the segments that are looked at.

const ORDERS = 6;
const BETA = 2;
const MOST_WORDS = 250; // Longer texts would take too long.
const STEPS = 4; // Shades of a colour.

/** White-space words with their places. */
const spacedWords = (line) =>
  [...line.matchAll(/\S+/g)].map((match) => ({
    text: match[0],
    start: match.index,
    end: match.index + match[0].length,
  }));

const units = new Map(); // What stands for characters that take two units.

/** The text without blanks, with one unit for each character. */
const characters = (line) =>
  line.replace(/\s+/g, "").replace(/[\u{10000}-\u{10ffff}]/gu, (character) => {
    if (!units.has(character)) units.set(character, String.fromCharCode(0xe000 + units.size));
    return units.get(character);
  });

/** How many characters a text has, and how often each of its n-grams occurs, by order. */
function counted(line) {
  const own = characters(line);
  const counts = Array.from({ length: ORDERS }, (_, at) => {
    const times = new Map();
    for (let start = 0; start + at < own.length; start += 1) {
      const ngram = own.slice(start, start + at + 1);
      times.set(ngram, (times.get(ngram) ?? 0) + 1);
    }
    return times;
  });
  return { size: own.length, counts };
}

/** chrF2 of two texts, 0 to 100; only orders that both have count. */
function chrF(hypothesis, reference) {
  let [precision, recall, orders] = [0, 0, 0];
  for (let at = 0; at < ORDERS; at += 1) {
    const [total, wanted] = [hypothesis.size - at, reference.size - at];
    if (total <= 0 || wanted <= 0) break;
    let matches = 0;
    for (const [ngram, times] of hypothesis.counts[at])
      matches += Math.min(times, reference.counts[at].get(ngram) ?? 0);
    precision += matches / total;
    recall += matches / wanted;
    orders += 1;
  }
  if (!precision) return 0;
  const factor = BETA ** 2;
  return (100 * (1 + factor) * precision * recall) / (factor * precision + recall) / orders;
}

/** By word of a text, what the text's score loses without it; null for a text that is too long. */
function erased(line, score) {
  const words = spacedWords(line);
  if (words.length > MOST_WORDS) return null;
  const whole = score(line);
  return words.map((word, at) => {
    const rest = words.filter((_, other) => other !== at).map((other) => other.text);
    return { ...word, effect: whole - score(rest.join(" ")) };
  });
}

/** What the words of an output do to its score. */
function outputEffects(line, references) {
  const known = references.map(counted);
  return erased(line, (variant) => {
    const hypothesis = counted(variant);
    return Math.max(...known.map((reference) => chrF(hypothesis, reference)));
  });
}

/** What the words of the nearest reference do to an output's score, and which reference that is. */
function referenceEffects(line, references) {
  const hypothesis = counted(line);
  const score = (reference) => chrF(hypothesis, counted(reference));
  const scored = references.map((own, at) => ({ own, at, score: score(own) }));
  scored.sort((one, two) => two.score - one.score || (one.own < two.own ? -1 : 1));
  const [nearest, ...others] = scored;
  const least = Math.max(0, ...others.map((other) => other.score));
  const words = erased(nearest.own, (variant) => Math.max(least, score(variant)));
  return { nearest: nearest.at, words };
}

/** All effects of a segment: by system, and of the reference on system A. */
function effectsOf(number, view, references) {
  const line = (system) => segments.outputs[system][number - 1];
  const outputs = new Map(
    view.systems.map((system) => [system, outputEffects(line(system), references)]),
  );
  const reference = referenceEffects(line(view.a), references);
  const sizes = [...outputs.values(), reference.words]
    .flatMap((words) => words ?? [])
    .map(({ effect }) => Math.abs(effect));
  return { outputs, reference, largest: Math.max(1e-9, ...sizes) };
}

/** The text with its words shaded by what they do; each says its number. */
function shaded(line, words, largest) {
  const parts = [];
  let at = 0;
  for (const { start, end, effect } of words ?? []) {
    if (end > line.length) break;
    const step = Math.round((STEPS * effect) / largest);
    const name = step ? `mark.${step > 0 ? "good" : "bad"}-${Math.abs(step)}` : "span";
    const title = `${signed(effect, 2)} chrF`;
    const word = line.slice(start, end);
    const click = () => tell(`${word}: ${title}`);
    parts.push(line.slice(at, start), make(name, { title, click }, word));
    at = end;
  }
  return [...parts, line.slice(at)];
}
