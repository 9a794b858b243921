"""Masking on tokens: the same word on both sides (oracle), or one that never matches (anti-oracle).

How a word is masked depends on what the metric counts:

- `word` metrics (BLEU, TER, WER): one placeholder per token.
- `length` metrics (chrF, and whatever counts characters): one placeholder letter per letter, so
  that the rest of the sentence weighs as much as before.
- `type` metrics (MacroF, MicroF): a shared placeholder would melt all words of the feature into
  one type. So the oracle puts the words that the output lacks in the place of its wrong ones, one
  by one, and the anti-oracle spoils each of the output's words into a type of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, count
from typing import Literal, NamedTuple

from assay.data import Segment
from assay.features.annotation import Annotation, Feature, TokenSpan
from assay.metrics.base import Metric
from assay.results import Mark, Words, marked_text

__all__ = [
    "Extremes",
    "FeatureText",
    "Line",
    "MaskUnit",
    "MaskedPair",
    "Masks",
    "Spans",
    "Treat",
    "Treatment",
    "always",
    "judge_words",
    "line_of",
    "mask",
    "mask_best",
    "mask_extremes",
    "mask_side",
    "masks_of",
    "note_words",
    "plain_text",
    "side_of",
]

Treatment = Literal["oracle", "anti", "plain"]
Treat = Callable[[str], Treatment]
MaskUnit = Literal["token", "span"]
Spans = Sequence[TokenSpan]


class Masks(NamedTuple):
    """The placeholders of a metric family, and how they stand in for a word."""

    policy: Literal["word", "length", "type"]
    shared: str
    reference: str
    hypothesis: str


def masks_of(metric: Metric, segments: Sequence[Segment] = ()) -> Masks:
    """The placeholders that suit a metric, and that none of the texts has."""
    texts = {text for segment in segments for text in (segment[0], *segment[1])}
    for number in count(1, 3):
        words = [metric.placeholder(number + offset) for offset in range(3)]
        if not any(word in text for text in texts for word in words):
            break
    return Masks(metric.mask_policy, *words)


def always(treatment: Treatment) -> Treat:
    """Treat every word alike."""
    return lambda _: treatment


def plain_text(annotation: Annotation) -> str:
    """The tokens, apart by blanks."""
    return " ".join(annotation.tokens)


class FeatureText(NamedTuple):
    """One text and the tokens of a feature in it, span by span."""

    tokens: tuple[str, ...]
    spans: tuple[tuple[int, int], ...] = ()
    positions: tuple[int, ...] = ()


def side_of(annotation: Annotation, spans: Spans) -> FeatureText:
    """The text with the places of a feature; a place in several spans is one place."""
    bounds = tuple([(start, end) for start, end, _ in spans])
    places = {at for start, end in bounds for at in range(start, end)}
    return FeatureText(annotation.tokens, bounds, tuple(sorted(places)))


class MaskedPair(NamedTuple):
    """A hypothesis and its references after masking."""

    hypothesis: str
    references: tuple[str, ...]


def mask(
    hypothesis: FeatureText,
    references: Sequence[FeatureText],
    masks: Masks,
    treat: Treat,
    per: MaskUnit = "token",
) -> MaskedPair:
    """Both sides masked; `treat` says for each word of the feature how."""
    if masks.policy == "type":
        wanted = next((side for side in references if side.spans), FeatureText(()))
        texts = tuple(" ".join(side.tokens) for side in references)
        return MaskedPair(_mask_types(hypothesis, wanted, treat), texts)
    return MaskedPair(
        mask_side(hypothesis, masks, masks.hypothesis, treat, per),
        tuple(mask_side(side, masks, masks.reference, treat, per) for side in references),
    )


def mask_side(
    side: FeatureText, masks: Masks, own: str, treat: Treat, per: MaskUnit = "token"
) -> str:
    """One text masked: `own` is the placeholder that only this side has.

    With a mask per span, the span's first word says how it is treated.
    """
    tokens = list(side.tokens)
    stretch = masks.policy == "length"
    for at in side.positions if per == "token" else [start for start, _ in side.spans]:
        word = side.tokens[at]
        treatment = treat(word)
        if treatment != "plain":
            placeholder = masks.shared if treatment == "oracle" else own
            tokens[at] = placeholder * len(word) if stretch else placeholder
    if per == "span":
        tokens = _without_rest(side, tokens)
    return " ".join(tokens)


class Line(NamedTuple):
    """A text with blanks between its tokens, where each begins, and where one more would."""

    text: str
    starts: Sequence[int]


def line_of(annotation: Annotation) -> Line:
    """The tokens, apart by blanks."""
    ends = accumulate([len(token) + 1 for token in annotation.tokens])
    return Line(plain_text(annotation), [0, *ends])


class Extremes(NamedTuple):
    """Outputs masked for the best, and the same masked for the worst."""

    best: list[str]
    worst: list[str]


def mask_extremes(lines: Iterable[Line], spans: Iterable[Spans], masks: Masks) -> Extremes:
    """What `mask_side` gives for outputs where every token is masked, in less time."""
    shared, own = masks.shared, masks.hypothesis
    pairs = zip(lines, spans, strict=True)
    if masks.policy == "length":
        best = [_stretched(line, own, shared) for line, own in pairs]
        return Extremes(best, [text.replace(shared, own) for text in best])
    gaps = [_gaps(line, own) for line, own in pairs]
    return Extremes([*map(shared.join, gaps)], [*map(own.join, gaps)])


def mask_best(line: Line, spans: Spans, masks: Masks) -> str:
    """One text with the shared mask on every token, on either side."""
    if masks.policy == "length":
        return _stretched(line, spans, masks.shared)
    return masks.shared.join(_gaps(line, spans))


def _gaps(line: Line, spans: Spans) -> list[str]:
    """What stands before, between and after the tokens of the spans."""
    text, starts = line
    gaps, last, before = [], 0, -1
    for start, end, _ in spans:
        if end - start != 1 or start <= before:
            places = sorted({at for start, end, _ in spans for at in range(start, end)})
            return _gaps(line, [TokenSpan(at, at + 1, "") for at in places])
        gaps.append(text[last : starts[start]])
        last, before = starts[end] - 1, start
    gaps.append(text[last:])
    return gaps


def _stretched(line: Line, spans: Spans, placeholder: str) -> str:
    """The text with a placeholder letter for every letter of the spans' tokens."""
    text, starts = line
    for span in spans:
        for at in range(span.start, span.end):
            start, end = starts[at], starts[at + 1] - 1
            text = text[:start] + placeholder * (end - start) + text[end:]
    return text


def _without_rest(side: FeatureText, tokens: Sequence[str]) -> list[str]:
    """Only the first word of the spans whose first word is masked."""
    rest = {
        at
        for start, end in side.spans
        if tokens[start] != side.tokens[start]
        for at in range(start + 1, end)
    }
    return [token for at, token in enumerate(tokens) if at not in rest]


def _mask_types(hypothesis: FeatureText, wanted: FeatureText, treat: Treat) -> str:
    """The output with its wrong words corrected, or all of them spoilt, as `treat` says."""
    tokens = list(hypothesis.tokens)
    missing = [wanted.tokens[at] for at in wanted.positions]
    wrong = []
    for at in hypothesis.positions:
        word = tokens[at]
        match treat(word):
            case "anti":
                tokens[at] = _spoilt(word)
            case "oracle" if word in missing:
                missing.remove(word)
            case "oracle":
                wrong.append(at)
            case "plain":
                pass
    # What is generated too often has no word to be corrected into.
    for at, word in zip(wrong, missing, strict=False):
        tokens[at] = word
    return " ".join(tokens)


def _spoilt(word: str) -> str:
    """A word of private letters, one for each letter, which nothing splits or matches."""
    return "".join([chr(_SPOILT + ord(letter) % 0xFFFE) for letter in word])


_SPOILT = 0x100000
"""Where the private letters of spoilt words begin."""


def note_words(text: Annotation, feature: Feature) -> Words:
    """The text with the feature's words noted."""
    return _marked(text, {at: "note" for at in _places(text, feature)})


def judge_words(output: Annotation, references: Sequence[Annotation], feature: Feature) -> Words:
    """The feature's words in the output: good as often as they are in a reference, else bad.

    Only the reference's words with the same feature count, without regard to case.
    """
    left: Counter[str] = Counter()
    for text in references:
        left |= Counter(text.tokens[at].casefold() for at in _places(text, feature))
    marks: dict[int, Mark] = {}
    for at in _places(output, feature):
        word = output.tokens[at].casefold()
        marks[at] = "good" if left[word] else "bad"
        left[word] -= left[word] > 0
    return _marked(output, marks)


def _places(text: Annotation, feature: Feature) -> list[int]:
    spans = feature.spans(text)
    return sorted({at for span in spans for at in range(span.start, span.end)})


def _marked(text: Annotation, marks: Mapping[int, Mark]) -> Words:
    return marked_text((token, marks.get(at, "")) for at, token in enumerate(text.tokens))
