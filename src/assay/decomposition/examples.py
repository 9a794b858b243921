"""The sentences behind a difference: where one system gets a feature right and another does not."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from assay.data import DataError
from assay.decomposition.decompose import (
    FEW,
    PRESETS,
    Annotated,
    Parts,
    Preset,
    decompose,
    is_few,
    ratio,
)
from assay.decomposition.judging import BlindItem, BlindKey
from assay.decomposition.mask import MaskUnit, judge_words, note_words, plain_text
from assay.features.annotation import Feature
from assay.metrics.base import Metric
from assay.plots import scatter
from assay.results import (
    CellValue,
    Chart,
    Charts,
    Column,
    Columns,
    Record,
    Result,
    Span,
    Table,
    Words,
    known,
)
from assay.statistics.arrays import Array

__all__ = ["ExamplesResult", "MulerExample", "examples"]

POINTS = 400
"""A chart shows at most so many sentences, those that matter most."""


class MulerExample(NamedTuple):
    """What one sentence adds to MuLER of either system; `swapped` puts the second one first."""

    segment: int
    contributions: tuple[float, float]
    swapped: bool = False

    @property
    def difference(self) -> float:
        """Positive where the sentence speaks for the second system: it costs the first one more."""
        first, second = self.contributions
        return first - second


@dataclass(frozen=True, eq=False)
class ExamplesResult(Result):
    """Sentences that have a feature in the reference and in the outputs of two systems.

    `found` has all such sentences, and `shown` those to look at. Blind, the systems are X and Y,
    and which is which is in `key` only.
    """

    annotated: Annotated
    sources: Sequence[str]
    feature: Feature
    metric: Metric
    preset: Preset
    systems: tuple[str, str]
    sizes: tuple[int, int]
    scores: Array
    found: tuple[MulerExample, ...]
    shown: tuple[MulerExample, ...]
    blind: bool

    @property
    def muler(self) -> tuple[float, float]:
        """MuLER of the two systems."""
        first, second = (float(value) for value in ratio(self.scores))
        return first, second

    @property
    def key(self) -> BlindKey:
        """Which system is X and which Y, sentence by sentence."""
        items = []
        for number, each in enumerate(self.shown, 1):
            x, y = self._order(each)
            items.append(BlindItem(number, each.segment + 1, self.systems[x], self.systems[y]))
        return BlindKey(str(self.feature), self.systems, self.muler, tuple(items))

    def tables(self) -> list[Table]:
        """The texts; with the systems' scores before them, unless blind."""
        return [self._blind_texts()] if self.blind else [self._summary(), self._texts()]

    def charts(self) -> Charts:
        """What every sentence adds to the MuLER of either system; nothing if blind."""
        return Charts([] if self.blind else [self._chart()])

    def records(self) -> list[Record]:
        """One per sentence; blind, with an empty field for the judgement."""
        if self.blind:
            return [self._blind_record(*each) for each in enumerate(self.shown, 1)]
        return [self._record(*each) for each in enumerate(self.shown, 1)]

    def _order(self, each: MulerExample) -> tuple[int, int]:
        return (1, 0) if each.swapped else (0, 1)

    def _summary(self) -> Table:
        rows: list[tuple[CellValue, ...]] = [
            (
                name,
                self.sizes[at],
                *(self.preset.scale * self.scores[:, at]).tolist(),
                self.muler[at],
                "few" if is_few(self.sizes[at]) else "",
            )
            for at, name in enumerate(self.systems)
        ]
        few = f" few: n < {FEW}, do not rely on it." if any(map(is_few, self.sizes)) else ""
        note = (
            "Of each system on its own sentences with the feature (n). "
            f"{len(self.found)} sentences have it in the reference and in both outputs.{few}"
            f"\n{self.metric.title}|{self.metric.signature()}|preset:{self.preset.name}"
        )
        digits = None if self.preset.scale == 1 else 3
        columns: Columns = (
            "system",
            Column("n"),
            *(Column(name, digits=digits) for name in ("plain", "oracle", "anti-oracle")),
            Column("MuLER", digits=3),
            "",
        )
        return Table(f"{self.feature}: {' and '.join(self.systems)}", columns, rows, note)

    def _texts(self) -> Table:
        rows = [row for rank, each in enumerate(self.shown, 1) for row in self._rows(rank, each)]
        first, second = self.systems
        note = (
            "difference: what the sentence adds to MuLER of the first system less what it adds to "
            f"that of the second, in thousandths; negative speaks for {first}, positive for "
            f"{second}. Noted: the feature's words in the reference. Green or {{+ +}}: such a word "
            "in the output that is among them. Red or [- -]: one that is not."
        )
        title = f"{self.feature}: the sentences that set {first} and {second} apart most"
        columns: Columns = ("rank", Column("difference"), "segment", "text of", "text")
        return Table(title, columns, rows, note)

    def _rows(self, rank: int, each: MulerExample) -> Iterator[tuple[CellValue, ...]]:
        head: tuple[CellValue, ...] = (rank, 1000 * each.difference, each.segment + 1)
        for name, text in self._lines(each, self.systems):
            yield (*head, name, text)
            head = (None, None, None)

    def _blind_texts(self) -> Table:
        rows: list[tuple[CellValue, ...]] = []
        for number, each in enumerate(self.shown, 1):
            head: CellValue = number
            for name, text in self._lines(each, ("X", "Y")):
                rows.append((head, name, text))
                head = None
        note = (
            f"Which output has the marked words better, X or Y? Write a line for each item: its "
            "number, a tab, and X, Y or = (neither). X and Y change places from item to item. The "
            f"items are {len(self.shown)} of the {len(self.found)} sentences with the feature"
            + (", those that matter most." if len(self.shown) < len(self.found) else ".")
        )
        title = f"{self.feature}: which is better, X or Y?"
        return Table(title, ("item", "text of", "text"), rows, note)

    def _lines(self, each: MulerExample, names: tuple[str, str]) -> Iterator[tuple[str, Words]]:
        """Source, references and outputs with the feature's words marked."""
        at = each.segment
        if self.sources:
            yield "source", (Span(self.sources[at]),)
        references = self.annotated.references[at]
        for number, text in enumerate(references, 1):
            label = "reference" if len(references) == 1 else f"reference {number}"
            yield label, note_words(text, self.feature)
        for name, system in zip(names, self._order(each), strict=True):
            output = self.annotated.systems[self.systems[system]][at]
            if self.blind:
                yield name, note_words(output, self.feature)
            else:
                yield name, judge_words(output, references, self.feature)

    def _record(self, rank: int, each: MulerExample) -> Record:
        first, second = self.systems
        values = {
            "difference": each.difference,
            "contribution": each.contributions[0],
            "contribution_other": each.contributions[1],
        }
        return {
            "rank": rank,
            "segment": each.segment + 1,
            "metric": self.metric.requested,
            "resolved": str(self.metric),
            "feature": self.feature.name,
            "kind": self.feature.kind,
            "system": first,
            "other": second,
            **{key: known(value) for key, value in values.items()},
            **self._plain_texts(each.segment),
            "output": plain_text(self.annotated.systems[first][each.segment]),
            "output_other": plain_text(self.annotated.systems[second][each.segment]),
        }

    def _blind_record(self, item: int, each: MulerExample) -> Record:
        x, y = (self.annotated.systems[self.systems[at]][each.segment] for at in self._order(each))
        texts = self._plain_texts(each.segment)
        return {"item": item, "better": "", **texts, "X": plain_text(x), "Y": plain_text(y)}

    def _plain_texts(self, at: int) -> Record:
        source = {"source": self.sources[at]} if self.sources else {}
        return source | {"reference": plain_text(self.annotated.references[at][0])}

    def _chart(self) -> Chart:
        first, second = (f"{name}: adds to MuLER" for name in self.systems)
        largest = sorted(self.found, key=lambda each: -max(map(abs, each.contributions)))[:POINTS]
        records = [
            {first: a, second: b, "segment": str(each.segment + 1)}
            for each in largest
            for a, b in [each.contributions]
        ]
        title = f"{self.feature}: what every sentence adds to MuLER"
        return scatter(title, records, first, second, "segment")


def examples(
    annotated: Annotated,
    feature: Feature,
    metric: Metric,
    systems: tuple[str, str],
    *,
    sources: Sequence[str] = (),
    preset: Preset = PRESETS["corpus"],
    per: MaskUnit = "token",
    count: int = 10,
    blind: bool = False,
    rng: np.random.Generator,
) -> ExamplesResult:
    """The sentences that most set two systems apart in a feature, by leaving one out.

    What a sentence adds is MuLER with it less MuLER without it. Blind, the same sentences come in
    random order, and so do the two systems in each of them.
    """
    pair = _pair(annotated, systems, count)
    decomposition = decompose(pair, metric, [feature], preset=preset, per=per)
    parts = [decomposition.parts[feature, name] for name in systems]
    found = _examples(parts)
    if not found:
        raise DataError(
            f"no segment has {feature} in the reference and in the outputs of both {systems[0]} "
            f"and {systems[1]}: choose another feature."
        )
    shown = found[:count]
    if blind:
        shown = [
            found[at]._replace(swapped=bool(rng.integers(2))) for at in rng.permutation(len(shown))
        ]
    return ExamplesResult(
        pair,
        sources,
        feature,
        decomposition.metric,
        preset,
        systems,
        (len(parts[0].chosen), len(parts[1].chosen)),
        np.array([each.scores() for each in parts]).T,
        tuple(found),
        tuple(shown),
        blind,
    )


def _pair(annotated: Annotated, systems: tuple[str, str], count: int) -> Annotated:
    for name in systems:
        if name not in annotated.systems:
            known = ", ".join(annotated.systems)
            raise DataError(f"no system {name!r}; there are {known}.")
    if systems[0] == systems[1]:
        raise DataError("examples set two systems apart: name two different ones.")
    if count < 1:
        raise DataError(f"{count} sentences are nothing to show: ask for at least 1 (-n).")
    return Annotated({name: annotated.systems[name] for name in systems}, annotated.references)


def _examples(parts: Sequence[Parts]) -> list[MulerExample]:
    """The sentences in both systems' I, largest difference first, unknown ones last."""
    first, second = (_contributions(each) for each in parts)
    found = [MulerExample(at, (first[at], second[at])) for at in first if at in second]

    def size(each: MulerExample) -> float:
        return -1.0 if math.isnan(each.difference) else abs(each.difference)

    return sorted(found, key=size, reverse=True)


def _contributions(parts: Parts) -> dict[int, float]:
    """What every sentence of I adds to MuLER, by segment."""
    if not len(parts.chosen):
        return {}
    values = ratio(parts.scores()) - ratio(parts.without_each())
    return dict(zip(parts.chosen.tolist(), values.tolist(), strict=True))
