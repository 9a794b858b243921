"""Explanations for people and machines, and how well they find what people tagged as wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from assay.bmx.explaining import Explanation, Side
from assay.bmx.quality import Quality, found_words, mean_quality
from assay.bmx.sidebyside import side_by_side
from assay.bmx.systems import SystemExplanations
from assay.bmx.wordtags import WordTags
from assay.results import Cell, Chart, Record, Table

__all__ = ["ExplainResult"]

BESIDE = 2
"""So many systems stand side by side; more come in several tables."""

_FOUND = ("auc", "average_precision", "recall")


@dataclass(frozen=True, eq=False)
class ExplainResult:
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

    def charts(self) -> list[Chart]:
        """None: the words are the picture."""
        return []

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
                "importance": _known(importance),
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
        return dict(zip(_FOUND, map(_known, found), strict=False))

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


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
