"""Masking on tokens: the same word on both sides (oracle), or one that never matches (anti-oracle).

How a word is masked depends on what the metric counts:

- `word` metrics (BLEU, TER, WER): one placeholder per token.
- `length` metrics (chrF, and whatever counts characters): one placeholder letter per letter, so
  that the rest of the sentence weighs as much as before.
- `type` metrics (MacroF, MicroF): a shared placeholder would melt all words of the feature into
  one type. So the oracle puts the reference's own words in the place of the output's, one by one,
  and the anti-oracle spoils each of the output's words into a type of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from assay.features.annotation import Annotation, TokenSpan
from assay.metrics.base import Metric

__all__ = [
    "MaskedPair",
    "Masks",
    "Side",
    "Treatment",
    "always",
    "mask",
    "mask_side",
    "masks_of",
    "plain_text",
    "side_of",
]

Treatment = Literal["oracle", "anti", "plain"]
Treat = Callable[[str], Treatment]
Per = Literal["token", "span"]


class Masks(NamedTuple):
    """The placeholders of a metric family, and how they stand in for a word."""

    policy: Literal["word", "length", "type"]
    shared: str
    reference: str
    hypothesis: str


# Letters that no text has; they pass every tokenizer as a letter does.
_LETTERS = ("\U000f0001", "\U000f0002", "\U000f0003")
# ROUGE sees nothing but a-z and 0-9.
_WORDS = ("zqxmaskxqz", "zqxrefxqz", "zqxsysxqz")


def masks_of(metric: Metric) -> Masks:
    """The placeholders that suit a metric."""
    words = _WORDS if metric.name == "rouge" else _LETTERS
    return Masks(metric.mask_policy, *words)


def always(treatment: Treatment) -> Treat:
    """Treat every word alike."""
    return lambda _: treatment


def plain_text(annotation: Annotation) -> str:
    """The tokens, apart by blanks."""
    return " ".join(annotation.tokens)


class Side(NamedTuple):
    """One text and the tokens of a feature in it, span by span."""

    tokens: tuple[str, ...]
    spans: tuple[tuple[int, int], ...] = ()
    positions: tuple[int, ...] = ()


def side_of(annotation: Annotation, spans: Sequence[TokenSpan]) -> Side:
    """The text with the places of a feature."""
    if not spans:
        return Side(annotation.tokens)
    places = {at for span in spans for at in range(span.start, span.end)}
    return Side(annotation.tokens, tuple((s.start, s.end) for s in spans), tuple(sorted(places)))


class MaskedPair(NamedTuple):
    """A hypothesis and its references after masking."""

    hypothesis: str
    references: tuple[str, ...]


def mask(
    hypothesis: Side, references: Sequence[Side], masks: Masks, treat: Treat, per: Per = "token"
) -> MaskedPair:
    """Both sides masked; `treat` says for each word of the feature how."""
    if masks.policy == "type":
        wanted = next((side for side in references if side.spans), Side(()))
        texts = tuple(" ".join(side.tokens) for side in references)
        return MaskedPair(_mask_types(hypothesis, wanted, masks, treat), texts)
    return MaskedPair(
        mask_side(hypothesis, masks, masks.hypothesis, treat, per),
        tuple(mask_side(side, masks, masks.reference, treat, per) for side in references),
    )


def mask_side(side: Side, masks: Masks, own: str, treat: Treat, per: Per = "token") -> str:
    """One text masked: `own` is the placeholder that only this side has."""
    tokens = list(side.tokens)
    stretch = masks.policy == "length"
    for at in side.positions:
        word = tokens[at]
        match treat(word):
            case "oracle":
                tokens[at] = masks.shared * len(word) if stretch else masks.shared
            case "anti":
                tokens[at] = own * len(word) if stretch else own
            case "plain":
                pass
    if per == "span":
        inner = {at for start, end in side.spans for at in range(start + 1, end)}
        tokens = [token for at, token in enumerate(tokens) if at not in inner]
    return " ".join(tokens)


def _mask_types(hypothesis: Side, wanted: Side, masks: Masks, treat: Treat) -> str:
    tokens = list(hypothesis.tokens)
    right = [wanted.tokens[at] for at in wanted.positions]
    for number, at in enumerate(hypothesis.positions):
        match treat(tokens[at]):
            case "oracle":
                # What is generated too often has no word to be corrected into.
                tokens[at] = right[number] if number < len(right) else tokens[at]
            case "anti":
                tokens[at] += masks.hypothesis
            case "plain":
                pass
    return " ".join(tokens)
