"""Explanations for people and machines: words in colour, and how well they find tagged errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from assay.explanation.explain import Explanation, Side, SystemExplanations
from assay.explanation.quality import Quality, WordTags, found_words, mean_quality
from assay.metrics.base import reference_count
from assay.results import Cell, Record, Result, Span, Table, Words, graded, known
from assay.statistics.arrays import Array

__all__ = ["ExplainResult", "largest_importance", "shaded_words", "side_by_side", "tagged_words"]

NOTHING = 1e-9
"""Importances up to this share of the score (of 1 for lower scores) are rounding."""


def largest_importance(explanations: Iterable[Explanation]) -> float:
    """The size of the largest importance that is known and more than rounding; 0 for none."""
    sizes = [0.0]
    for each in explanations:
        known = np.abs(each.importances[np.isfinite(each.importances)])
        score = abs(each.score) if np.isfinite(each.score) else 0.0
        sizes += known[known > NOTHING * max(1.0, score)].tolist()
    return max(sizes)


def shaded_words(tokens: Sequence[str], helps: Array, largest: float) -> Words:
    """Words by what each does to the score: good by degrees above 0, bad below, of the `largest`.

    Every word's own number is its remark; unknown ones have neither mark nor number.
    """
    return tuple(
        _word(token, float(each), largest) for token, each in zip(tokens, helps, strict=True)
    )


def tagged_words(tokens: Sequence[str], tags: NDArray[np.bool_]) -> Words:
    """The words, with those that people tagged noted."""
    runs = groupby(zip(tokens, tags.tolist(), strict=True), key=lambda pair: pair[1])
    return tuple(
        Span(" ".join(token for token, _ in run), "note" if tagged else "") for tagged, run in runs
    )


def _word(token: str, helps: float, largest: float) -> Span:
    if not np.isfinite(helps):
        return Span(token)
    return Span(token, graded(helps / largest) if largest else "", f"{helps:+.4g}")


def side_by_side(
    explained: SystemExplanations,
    systems: Sequence[str],
    shown: Sequence[int],
    tags: WordTags | None = None,
) -> Table:
    """The segments at these positions, with a column per system.

    Every segment has a row with its scores, one per side with the words in colour, and one per
    side that people tagged. A source that is not explained stands above them.
    """
    rows = [row for at in shown for row in _rows(explained, systems, at, tags or {})]
    title = f"{explained.metric.title} of {' and '.join(systems)}, word by word"
    finer = frozenset(systems if explained.metric.is_small else ())
    heads = frozenset(at for at, row in enumerate(rows) if row[0] is not None)
    columns = ("segment", "side", *systems)
    return Table(title, columns, rows, _note(explained, shown), shaded=heads, finer=finer)


def _rows(
    explained: SystemExplanations, systems: Sequence[str], at: int, tags: WordTags
) -> Iterator[tuple[Cell, ...]]:
    found = [explained.found[system, at] for system in systems]
    # One scale for all systems, so that a colour means the same in all columns.
    every = [each for system in explained.systems for each in explained.found[system, at]]
    largest = largest_importance(every)
    yield (at + 1, "score", *(sides[0].score for sides in found))
    sources = explained.dataset.sources
    if sources and "source" not in explained.sides:
        yield (None, "source", (Span(sources[at]),), *([None] * (len(systems) - 1)))
    for number, side in enumerate(explained.sides):
        texts = [sides[number] for sides in found]
        words = (shaded_words(each.tokens, explained.helps(each), largest) for each in texts)
        yield (None, side, *words)
        if any((system, side) in tags for system in systems):
            pairs = zip(systems, texts, strict=True)
            yield (None, "tagged", *(tagged_words(e.tokens, tags[s, side][at]) for s, e in pairs))


def _note(explained: SystemExplanations, shown: Sequence[int]) -> str:
    metric, dataset = explained.metric, explained.dataset
    counted = reference_count(dataset.references) if metric.needs_references else None
    lines = [
        f"{_legend(explained)}{_unknown(explained, shown)}{_chosen(explained, shown)}",
        f"{metric.title}|{metric.signature(counted)}|explainer:{explained.explainer.label}",
    ]
    return "\n".join(lines)


def _legend(explained: SystemExplanations) -> str:
    several = any(len(each) > 1 for each in explained.dataset.references)
    truth = {"reference": "the best reference" if several else "the reference"}
    others = [truth.get(side, f"the {side}") for side in explained.sides if side != "hypothesis"]
    missing = "".join(f", and of {side} those that it misses" for side in others)
    return (
        "Green or {+1} to {+4}: the word helps the score of its segment. Red and underlined or "
        "[-1] to [-4]: it hurts. The strongest word of a segment has the strongest colour. Of the "
        f"hypothesis, words that do not help are those that the metric takes for wrong{missing}."
    )


def _unknown(explained: SystemExplanations, shown: Sequence[int]) -> str:
    for system in explained.systems:
        for at in shown:
            for each in explained.found[system, at]:
                if each.reason:
                    return f" Without colour: segment {at + 1} of {system}, say: {each.reason}."
    return ""


def _chosen(explained: SystemExplanations, shown: Sequence[int]) -> str:
    count = len(explained.segments)
    if len(shown) == count:
        return ""
    return (
        f" These are the {len(shown)} worst of {count} segments; --worst and --only choose "
        "others, and json and tsv have all."
    )


BESIDE = 2
"""So many systems stand side by side; more come in several tables."""

_FOUND = ("auc", "average_precision", "recall")


@dataclass(frozen=True, eq=False)
class ExplainResult(Result):
    """Explanations, and which of the segments tables show: their positions, or all of them.

    With `tags` it also tells how well people's tags are found, with recall at the `top` words of
    every text, or at as many as are tagged.
    """

    explanations: SystemExplanations
    shown: tuple[int, ...] | None = None
    tags: WordTags = field(default_factory=dict)
    top: int | None = None

    def quality(self, system: str, side: Side) -> Quality:
        """How well the tags of one side of a system's segments are found."""
        explained, tags = self.explanations, self.tags[system, side]
        return mean_quality(
            [-explained.helps(each) for each in explained.of_side(system, side)],
            [tags[at] for at in explained.segments],
            top=self.top,
        )

    def records(self) -> list[Record]:
        """One per word; with tags also the word's tag, and how well its text's tags are found."""
        return [
            record
            for (system, at), sides in self.explanations.found.items()
            for each in sides
            for record in self._records(system, at, each)
        ]

    def tables(self) -> list[Table]:
        """How well tags are found, if there are any, and the words in colour."""
        explained = self.explanations
        shown = explained.segments if self.shown is None else self.shown
        pairs = [
            explained.systems[at : at + BESIDE] for at in range(0, len(explained.systems), BESIDE)
        ]
        quality = [self._quality()] if self.tags else []
        return quality + [side_by_side(explained, pair, shown, self.tags) for pair in pairs]

    def _records(self, system: str, at: int, each: Explanation) -> Iterator[Record]:
        tags = self.tags.get((system, each.side))
        found = self._found(system, at, each)
        values = zip(each.tokens, each.importances.tolist(), strict=True)
        for position, (token, importance) in enumerate(values):
            record: Record = {
                "system": system,
                "segment": at + 1,
                "side": each.side,
                "position": position + 1,
                "token": token,
                "importance": known(importance),
            }
            if self.tags:
                record["tag"] = None if tags is None else int(tags[at][position])
            yield record | found

    def _found(self, system: str, at: int, each: Explanation) -> Record:
        """How well the tags of one text are found."""
        if not self.tags:
            return {}
        if (system, each.side) not in self.tags:
            return dict.fromkeys(_FOUND)
        tags = self.tags[system, each.side][at]
        found = found_words(-self.explanations.helps(each), tags, top=self.top)
        return dict(zip(_FOUND, map(known, found), strict=False))

    def _quality(self) -> Table:
        recall = "recall at k" if self.top is None else f"recall at {self.top}"
        columns = ("system", "side", "segments", "left out", "AUC", "AP", recall, "tagged")
        rows: list[tuple[Cell, ...]] = []
        unknown = 0
        for system, side in self.tags:
            each = self.quality(system, side)
            unknown += each.unknown
            rows.append((system, side, each.texts, each.alike + each.unknown, *each.mean))
        title = "How well do the importances find the words that people tagged as wrong?"
        return Table(title, columns, rows, self._note(unknown), dict.fromkeys(columns[4:], 3))

    def _note(self, unknown: int) -> str:
        k = "k words, as many as are tagged" if self.top is None else f"{self.top} words"
        guess = ", which is what guessing gets as recall" if self.top is None else ""
        note = (
            "Means over segments; a word is the more suspect the less it helps the score. AUC: how "
            "often a tagged word is more suspect than another one (guessing: 0.5). AP: average "
            f"precision. recall: the share of tagged words among the most suspect {k}. tagged: the "
            f"share of words that are tagged{guess}. left out: people tagged all words or none, so "
            "that nothing can be found."
        )
        return note + (f" Of those left out, {unknown} could not be explained." if unknown else "")
