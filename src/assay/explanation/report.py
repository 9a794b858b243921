"""The result of `explain`: words in colour, and how well they find words labelled as wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from assay.explanation.importances import Explanation, SegmentSide, SystemExplanations
from assay.explanation.quality import DetectionQuality, Labels, WordLabels, detection, mean_quality
from assay.metrics.base import reference_count
from assay.results import (
    CellValue,
    Column,
    Columns,
    Record,
    Result,
    Span,
    Table,
    Words,
    graded,
    known,
    marked_text,
)
from assay.statistics.arrays import Array

__all__ = ["ExplainResult", "largest_importance", "shaded_words", "side_by_side", "tagged_words"]

BESIDE = 2
"""So many systems stand side by side; more come in several tables."""

_DETECTION = ("auc", "average_precision", "recall")


@dataclass(frozen=True, eq=False)
class ExplainResult(Result):
    """Explanations, and which of the segments tables show: their positions, or all of them.

    With `labels` of people it also tells how well wrong words are found, with recall at the `top`
    words of every text, or at as many as are labelled as wrong.
    """

    explanations: SystemExplanations
    shown: tuple[int, ...] | None = None
    labels: WordLabels = field(default_factory=dict)
    top: int | None = None
    notes: tuple[str, ...] = ()
    """What to know about the metric: languages, tokenizers, signatures that do not fit."""

    def quality(self, system: str, side: SegmentSide) -> DetectionQuality:
        """How well the wrong words of one side of a system's segments are found."""
        explained, labels = self.explanations, self.labels[system, side]
        return mean_quality(
            [-explained.helps(text) for text in explained.of_side(system, side)],
            [labels[position] for position in explained.positions],
            top=self.top,
        )

    def records(self) -> list[Record]:
        """One per word; with labels also its label, and how well its text's errors are found."""
        return [
            record
            for (system, position), sides in self.explanations.by_segment.items()
            for explanation in sides
            for record in self._records(system, position, explanation)
        ]

    def tables(self) -> list[Table]:
        """How well wrong words are found, if people labelled them, and the words in colour."""
        explained = self.explanations
        shown = explained.positions if self.shown is None else self.shown
        pairs = [
            explained.systems[at : at + BESIDE] for at in range(0, len(explained.systems), BESIDE)
        ]
        quality = [self._quality()] if self.labels else []
        return quality + [side_by_side(explained, pair, shown, self.labels) for pair in pairs]

    def paper_tables(self) -> list[Table]:
        """All of them: every system has its words in one of the tables."""
        return self.tables()

    def _records(self, system: str, position: int, explanation: Explanation) -> Iterator[Record]:
        labels = self.labels.get((system, explanation.side))
        quality = self._detection(system, position, explanation)
        values = zip(explanation.tokens, explanation.importances.tolist(), strict=True)
        for place, (token, importance) in enumerate(values):
            record: Record = {
                "system": system,
                "segment": position + 1,
                "side": explanation.side,
                "position": place + 1,
                "token": token,
                "importance": known(importance),
            }
            if self.labels:
                record["tag"] = None if labels is None else int(labels[position][place])
            yield record | quality

    def _detection(self, system: str, position: int, explanation: Explanation) -> Record:
        """How well the wrong words of one text are found."""
        if not self.labels:
            return {}
        if (system, explanation.side) not in self.labels:
            return dict.fromkeys(_DETECTION)
        labels = self.labels[system, explanation.side][position]
        values = detection(-self.explanations.helps(explanation), labels, top=self.top)
        return dict(zip(_DETECTION, map(known, values), strict=False))

    def _quality(self) -> Table:
        recall = "recall at k" if self.top is None else f"recall at {self.top}"
        columns: Columns = (
            *("system", "side"),
            *(Column(name) for name in ("segments", "left out")),
            *(Column(name, digits=3) for name in ("AUC", "AP", recall, "tagged")),
        )
        rows: list[tuple[CellValue, ...]] = []
        unknown = 0
        for system, side in self.labels:
            quality = self.quality(system, side)
            unknown += quality.unknown
            left_out = quality.alike + quality.unknown
            rows.append((system, side, quality.texts, left_out, *quality.mean))
        title = "How well do the importances find the words that people tagged as wrong?"
        return Table(title, columns, rows, self._note(unknown))

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


NOTHING = 1e-9
"""Importances up to this share of the score (of 1 for lower scores) are rounding."""


def largest_importance(explanations: Iterable[Explanation]) -> float:
    """The size of the largest importance that is known and more than rounding; 0 for none."""
    sizes = [0.0]
    for explanation in explanations:
        importances = explanation.importances
        finite = np.abs(importances[np.isfinite(importances)])
        score = abs(explanation.score) if np.isfinite(explanation.score) else 0.0
        sizes += finite[finite > NOTHING * max(1.0, score)].tolist()
    return max(sizes)


def shaded_words(tokens: Sequence[str], helps: Array, largest: float) -> Words:
    """Words by what each does to the score: good by degrees above 0, bad below, of the `largest`.

    Every word's own number is its remark; unknown ones have neither mark nor number.
    """
    return tuple(
        _word(token, float(value), largest) for token, value in zip(tokens, helps, strict=True)
    )


def tagged_words(tokens: Sequence[str], labels: Labels) -> Words:
    """The words, with those noted that people labelled as wrong."""
    pairs = zip(tokens, labels.tolist(), strict=True)
    return marked_text((token, "note" if wrong else "") for token, wrong in pairs)


def _word(token: str, helps: float, largest: float) -> Span:
    if not np.isfinite(helps):
        return Span(token)
    return Span(token, graded(helps / largest) if largest else "", f"{helps:+.4g}")


def side_by_side(
    explained: SystemExplanations,
    systems: Sequence[str],
    shown: Sequence[int],
    labels: WordLabels | None = None,
) -> Table:
    """The segments at these positions, with a column per system.

    Every segment has a row with its scores, one per side with the words in colour, and one per
    side that people labelled. A source that is not explained stands above them.
    """
    rows = [row for at in shown for row in _rows(explained, systems, at, labels or {})]
    title = f"{explained.metric.title} of {' and '.join(systems)}, word by word"
    heads = frozenset(at for at, row in enumerate(rows) if row[0] is not None)
    scores = (Column(system, finer=explained.metric.is_small) for system in systems)
    columns: Columns = ("segment", "side", *scores)
    return Table(title, columns, rows, _note(explained, shown), shaded=heads)


def _rows(
    explained: SystemExplanations, systems: Sequence[str], at: int, labels: WordLabels
) -> Iterator[tuple[CellValue, ...]]:
    by_system = [explained.by_segment[system, at] for system in systems]
    # One scale for all systems, so that a colour means the same in all columns.
    largest = largest_importance(
        text for system in explained.systems for text in explained.by_segment[system, at]
    )
    yield (at + 1, "score", *(sides[0].score for sides in by_system))
    sources = explained.dataset.sources
    if sources and "source" not in explained.sides:
        yield (None, "source", (Span(sources[at]),), *([None] * (len(systems) - 1)))
    for number, side in enumerate(explained.sides):
        texts = [sides[number] for sides in by_system]
        words = (shaded_words(text.tokens, explained.helps(text), largest) for text in texts)
        yield (None, side, *words)
        if any((system, side) in labels for system in systems):
            wrong = (
                tagged_words(text.tokens, labels[system, side][at])
                for system, text in zip(systems, texts, strict=True)
            )
            yield (None, "tagged", *wrong)


def _note(explained: SystemExplanations, shown: Sequence[int]) -> str:
    metric, dataset = explained.metric, explained.dataset
    counted = reference_count(dataset.references) if metric.needs_references else None
    lines = [
        f"{_legend(explained)}{_unknown(explained, shown)}{_chosen(explained, shown)}",
        f"{metric.title}|{metric.signature(counted)}|explainer:{explained.explainer.label}",
    ]
    return "\n".join(lines)


def _legend(explained: SystemExplanations) -> str:
    several = any(len(references) > 1 for references in explained.dataset.references)
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
            for text in explained.by_segment[system, at]:
                if text.reason:
                    return f" Without colour: segment {at + 1} of {system}, say: {text.reason}."
    return ""


def _chosen(explained: SystemExplanations, shown: Sequence[int]) -> str:
    count = len(explained.positions)
    if len(shown) == count:
        return ""
    return (
        f" These are the {len(shown)} worst of {count} segments; worst and only choose others, "
        "and the records have all."
    )
