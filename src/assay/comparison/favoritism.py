"""Favoritism (Gowda et al., 2021, section 4.1): the segments that make a metric take sides."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError, Dataset
from assay.metrics.base import Metric, labels, system_statistics
from assay.plots import line_chart, scatter
from assay.results import Cell, Chart, Charts, Record, Result, Span, Table, Words
from assay.statistics.arrays import Array
from assay.text import tokenize

__all__ = ["Favoritism", "FavoritismResult", "MarkedTexts", "favoritism", "mark_differences"]

_EDGES = string.punctuation + "“”„‚‘’«»…–—¿¡。，、！？：；"


class MarkedTexts(NamedTuple):
    """A reference and two outputs with their telling words marked."""

    reference: Words
    first: Words
    second: Words


def mark_differences(
    reference: str, first: str, second: str, *, tokenizer: str = "none"
) -> MarkedTexts:
    """Mark what only one output has right, and what an output has that the reference has not.

    In the outputs a good word is in the reference but not in the other output, a bad word is not
    in the reference. In the reference a noted word is one that a single output has. Words are
    compared without the punctuation at their edges and as often as they occur.

    >>> mark_differences("the cat", "the cat", "the dog").second
    (Span(text='the', mark='', remark=''), Span(text='dog', mark='bad', remark=''))
    """
    wanted, one, other = tokenize([reference, first, second], tokenizer)
    goal, mine, theirs = (Counter(map(_bare, words)) for words in (wanted, one, other))
    only_mine, only_theirs = (mine & goal) - theirs, (theirs & goal) - mine
    return MarkedTexts(
        _mark(wanted, note=only_mine + only_theirs),
        _mark(one, good=only_mine, bad=mine - goal),
        _mark(other, good=only_theirs, bad=theirs - goal),
    )


def _bare(word: str) -> str:
    return word.strip(_EDGES) or word


def _mark(words: Sequence[str], **kinds: Counter[str]) -> Words:
    """Each kind marks as many occurrences of a word as it counts, from the last one back."""
    left = {kind: Counter(counts) for kind, counts in kinds.items()}
    marks = []
    for word in reversed(words):
        kind = next((kind for kind, counts in left.items() if counts[_bare(word)] > 0), "")
        if kind:
            left[kind][_bare(word)] -= 1
        marks.append((kind, word))
    runs = groupby(reversed(marks), key=itemgetter(0))
    return tuple(Span(" ".join(word for _, word in run), kind) for kind, run in runs)


SUMMARY = "Which side do the metrics take?"

POINTS = 400
"""A chart shows at most so many segments, those with the largest favoritism."""


@dataclass(frozen=True, eq=False)
class Favoritism:
    """How a metric takes sides between two systems, segment by segment.

    Benefits are on the metric's own scale and positive where the segment helps its system, also
    for metrics where lower is better.
    """

    metric: Metric
    system: str
    other: str
    scores: tuple[float, float]
    benefit: Array
    benefit_other: Array

    @property
    def values(self) -> Array:
        """Favoritism of every segment: positive favours the first system."""
        return self.benefit - self.benefit_other

    @property
    def favourite(self) -> str | None:
        """The system that more segments favour."""
        balance = np.sign(self.values).sum()
        return None if balance == 0 else self.system if balance > 0 else self.other

    @property
    def contradicts(self) -> bool:
        """Whether more segments favour the system with the worse score."""
        first, other = self.metric.oriented(np.array(self.scores))
        worse = None if first == other else self.system if first < other else self.other
        return worse is not None and worse == self.favourite

    def strongest(self, count: int) -> NDArray[np.intp]:
        """Positions of the segments with the largest magnitude, largest first."""
        return np.argsort(-np.abs(self.values), kind="stable")[:count]


@dataclass(frozen=True, eq=False)
class FavoritismResult(Result):
    """Favoritism by several metrics, and the texts of the `count` strongest segments."""

    dataset: Dataset
    found: tuple[Favoritism, ...]
    count: int

    def records(self) -> list[Record]:
        """Every segment of each metric and pair, largest magnitude first."""
        return [
            {
                "segment": int(at) + 1,
                "metric": each.metric.requested,
                "resolved": str(each.metric),
                "system": each.system,
                "other": each.other,
                "favoritism": float(each.values[at]),
                "benefit": float(each.benefit[at]),
                "benefit_other": float(each.benefit_other[at]),
            }
            for each in self.found
            for at in each.strongest(len(each.values))
        ]

    def tables(self) -> list[Table]:
        """A summary, and the texts of the strongest segments with the telling words marked."""
        return [self._summary(), *(self._texts(each) for each in self.found)]

    def charts(self) -> Charts:
        """How favoritism adds up over the segments, and two metrics against each other."""
        first, *others = [each for each in self.found if each.other == self.found[0].other]
        charts = [self._curve(), *(self._against(first, other) for other in others[:3])]
        return Charts(replace(chart, after=SUMMARY) for chart in charts)

    def _summary(self) -> Table:
        """How many segments are on each side, and what they weigh together."""
        columns = ("metric", "system", "score", "other", "score of other", "favours system", "sum",
                   "favours other", "sum of other", "neither")  # fmt: skip
        rows: list[tuple[Cell, ...]] = []
        for each in self.found:
            sides = [each.values[each.values > 0], -each.values[each.values < 0]]
            pairs = zip((each.system, each.other), each.scores, strict=True)
            rows.append(
                (
                    self._label(each),
                    *(cell for pair in pairs for cell in pair),
                    *(cell for side in sides for cell in (len(side), float(side.sum()))),
                    len(each.values) - sum(map(len, sides)),
                )
            )
        note = (
            "favours: the number of segments whose favoritism is for the one or the other system; "
            "sum: their favoritism added up. A segment is weighed against the rest of its own "
            "system's output, so about as much is for either side whichever score is higher: this "
            f"says where two systems differ, not which is better.{self._contradictions()}"
        )
        return Table(SUMMARY, columns, rows, note, {"sum": 2, "sum of other": 2})

    def _contradictions(self) -> str:
        """The cases in which most segments favour the system with the worse score."""
        cases = [
            f"by {self._label(each)}, most favour {each.favourite}, and the score is better for "
            f"{each.other if each.favourite == each.system else each.system}"
            for each in self.found
            if each.contradicts
        ]
        return f" Here {'; '.join(cases)}." if cases else ""

    def _texts(self, each: Favoritism) -> Table:
        rows = [
            row
            for rank, at in enumerate(each.strongest(self.count), 1)
            for row in self._rows_of(each, rank, int(at))
        ]
        title = f"{self._label(each)}: {each.system} or {each.other}?"
        note = (
            "favoritism: what the segment adds to the score of one system less what it adds to "
            f"the other; positive favours {each.system}.{self._colours()}"
        )
        columns = ("rank", "favoritism", "segment", "text of", "text")
        return Table(title, columns, rows, note, {"favoritism": 3})

    def _rows_of(self, each: Favoritism, rank: int, at: int) -> list[tuple[Cell, ...]]:
        lines = self._lines(each, at)
        if self.dataset.sources:
            lines.insert(0, ("source", (Span(self.dataset.sources[at]),)))
        heads: list[tuple[Cell, ...]] = [(rank, float(each.values[at]), at + 1)]
        heads += [(None, None, None)] * (len(lines) - 1)
        return [(*head, *line) for head, line in zip(heads, lines, strict=True)]

    def _lines(self, each: Favoritism, at: int) -> list[tuple[str, Words]]:
        """Both outputs, marked beside the first reference where there is one."""
        names = (each.system, each.other)
        outputs = [self.dataset.systems[name][at] for name in names]
        references = self.dataset.references[at]
        if not references:
            return [(name, (Span(text),)) for name, text in zip(names, outputs, strict=True)]
        tokenizer = _display_tokenizer(each.metric)
        marked = mark_differences(references[0], *outputs, tokenizer=tokenizer)
        return list(zip(("reference", *names), marked, strict=True))

    def _colours(self) -> str:
        most = max(map(len, self.dataset.references), default=0)
        if not most:
            return ""
        reference = "first reference" if most > 1 else "reference"
        return (
            f" Green or {{+ +}}: in the {reference}, and the other system lacks it. "
            f"Red or [- -]: not in the {reference}."
        )

    def _label(self, each: Favoritism) -> str:
        """The metric's title, or its settings where two have the same title."""
        metrics = list(dict.fromkeys(every.metric for every in self.found))
        return labels(metrics)[metrics.index(each.metric)]

    def _curve(self) -> Chart:
        records = []
        for each in self.found:
            ordered = np.sort(each.values)[::-1]
            running = np.cumsum(ordered)
            for rank in np.unique(np.linspace(0, len(running) - 1, POINTS // 2).astype(int)):
                name = f"{self._label(each)}: {each.system} - {each.other}"
                records.append(
                    {"segments": int(rank) + 1, "running sum": float(running[rank]), "metric": name}
                )
        return line_chart(
            "Favoritism added up, from the segment most for the first system on",
            records,
            "segments",
            "running sum",
            "metric",
        )

    def _against(self, first: Favoritism, other: Favoritism) -> Chart:
        largest = np.argsort(-np.abs(first.values) - np.abs(other.values))[:POINTS]
        one, two = self._label(first), self._label(other)
        x, y = f"favoritism by {one}", f"favoritism by {two}"
        records = [
            {x: float(first.values[at]), y: float(other.values[at]), "segment": str(at + 1)}
            for at in largest
        ]
        return scatter(f"Do {one} and {two} agree?", records, x, y, "segment")


def favoritism(dataset: Dataset, metrics: Sequence[Metric], *, count: int = 10) -> FavoritismResult:
    """The first system against each other one, by every metric."""
    _check(dataset, metrics, count)
    first, *others = dataset.systems
    found = [each for metric in metrics for each in _by_metric(dataset, metric, first, others)]
    return FavoritismResult(dataset, tuple(found), count)


def _check(dataset: Dataset, metrics: Sequence[Metric], count: int) -> None:
    if len(dataset.systems) < 2:
        raise DataError("favoritism compares two systems: give at least two with -i.")
    if len(dataset) < 2:
        raise DataError("favoritism leaves segments out one by one: it needs at least two.")
    if not metrics:
        raise DataError("no metric given: pass at least one.")
    if count < 1:
        raise DataError(f"{count} segments are nothing to show: ask for at least 1 (-n).")


def _by_metric(
    dataset: Dataset, metric: Metric, first: str, others: Sequence[str]
) -> list[Favoritism]:
    mine, *theirs = system_statistics(dataset, metric)
    benefit, score = mine.benefit(), mine.corpus()
    return [
        Favoritism(metric, first, name, (score, each.corpus()), benefit, each.benefit())
        for name, each in zip(others, theirs, strict=True)
    ]


def _display_tokenizer(metric: Metric) -> str:
    """Words between blanks, but the metric's own tokens where words are not so divided."""
    tokenizer = getattr(metric, "tokenize", "none")
    return "none" if tokenizer in ("13a", "intl") else str(tokenizer)
