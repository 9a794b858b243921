"""Favoritism (Gowda et al., 2021, section 4.1): the segments that make a metric take sides."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.data import Array, DataError, Dataset
from assay.io.files import FilePath
from assay.metrics.base import Metric, labels, select_metrics, system_statistics
from assay.plots import PALETTE, line_chart, scatter
from assay.results import (
    CellValue,
    Chart,
    Charts,
    Column,
    Columns,
    Mark,
    Record,
    Result,
    Span,
    Table,
    Words,
    marked_text,
)
from assay.store.results import use_store
from assay.text import tokenize

__all__ = ["Favoritism", "FavoritismResult", "MarkedTexts", "favor", "mark_differences"]


def favor(
    data: Dataset,
    metrics: str | Metric | Iterable[str | Metric] = ("macrof", "bleu"),
    *,
    count: int = 10,
    store: FilePath | None = None,
) -> FavoritismResult:
    """The segments that make a metric prefer the first system to another, or the other way round.

    Each metric compares the first system with every other one. `metrics` are names,
    specifications (`"chrf:word_order=2"`) or objects. Tables show the `count` strongest segments
    of each metric and pair of systems; the records have all segments, strongest first. `store` is a
    folder that keeps results: see `score`.

    >>> from assay.demo import read_demo
    >>> strongest = favor(read_demo(), "bleu").records()[0]
    >>> strongest["segment"], strongest["other"], round(strongest["favoritism"], 2)
    (84, 'birch', 1.17)
    """
    selection = select_metrics([metrics] if isinstance(metrics, str | Metric) else metrics, data)
    _check(data, selection.metrics, count)
    first, *others = data.systems
    with use_store(store):
        pairs = [
            pair for metric in selection.metrics for pair in _pairs(data, metric, first, others)
        ]
    return FavoritismResult(data, tuple(pairs), count, tuple(selection.notes))


def _check(data: Dataset, metrics: Sequence[Metric], count: int) -> None:
    if len(data.systems) < 2:
        raise DataError("favoritism compares two systems: give at least two.")
    if len(data) < 2:
        raise DataError("favoritism leaves segments out one by one: it needs at least two.")
    if not metrics:
        raise DataError("no metric given: pass at least one.")
    if count < 1:
        raise DataError(f"{count} segments are nothing to show: ask for at least 1.")


def _pairs(data: Dataset, metric: Metric, first: str, others: Sequence[str]) -> list[Favoritism]:
    """The first system against each other one, by one metric."""
    mine, *theirs = system_statistics(data, metric)
    benefit, score = mine.benefit(), mine.corpus()
    return [
        Favoritism(metric, first, name, (score, other.corpus()), benefit, other.benefit())
        for name, other in zip(others, theirs, strict=True)
    ]


SUMMARY = "Which side do the metrics take?"
CASES = 4
"""More contradictions than this are counted, not told one by one."""
TEXTS = "The segments that weigh most"

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
    pairs: tuple[Favoritism, ...]
    count: int
    notes: tuple[str, ...] = ()
    """What to know about the metrics: languages, tokenizers, signatures that do not fit."""

    def records(self) -> list[Record]:
        """Every segment of each metric and pair, largest magnitude first."""
        return [
            {
                "segment": int(at) + 1,
                "metric": pair.metric.requested,
                "resolved": str(pair.metric),
                "system": pair.system,
                "other": pair.other,
                "favoritism": float(pair.values[at]),
                "benefit": float(pair.benefit[at]),
                "benefit_other": float(pair.benefit_other[at]),
            }
            for pair in self.pairs
            for at in pair.strongest(len(pair.values))
        ]

    def tables(self) -> list[Table]:
        """A summary, and the texts of the strongest segments with the telling words marked."""
        return [self._summary(), *(self._texts(pair) for pair in self.pairs)]

    def charts(self) -> Charts:
        """How favoritism adds up over the segments, and two metrics against each other."""
        first, *others = [pair for pair in self.pairs if pair.other == self.pairs[0].other]
        charts = [self._curve(), *(self._against(first, other) for other in others[:3])]
        return Charts(replace(chart, after=SUMMARY) for chart in charts)

    def _summary(self) -> Table:
        """How many segments are on each side, and what they weigh together."""
        columns: Columns = (
            "metric",
            *("system", Column("score")),
            *("other", Column("score of other")),
            *(Column("favours system"), Column("sum", digits=2)),
            *(Column("favours other"), Column("sum of other", digits=2)),
            Column("neither"),
        )
        rows: list[tuple[CellValue, ...]] = []
        for pair in self.pairs:
            sides = [pair.values[pair.values > 0], -pair.values[pair.values < 0]]
            scores = zip((pair.system, pair.other), pair.scores, strict=True)
            rows.append(
                (
                    self._label(pair),
                    *(cell for score in scores for cell in score),
                    *(cell for side in sides for cell in (len(side), float(side.sum()))),
                    len(pair.values) - sum(map(len, sides)),
                )
            )
        note = (
            "favours: the number of segments whose favoritism is for the one or the other system; "
            "sum: their favoritism added up. A segment is weighed against the rest of its own "
            "system's output, so about as much is for either side whichever score is higher: this "
            f"says where two systems differ, not which is better.{self._contradictions()}"
        )
        return Table(SUMMARY, columns, rows, note)

    def _contradictions(self) -> str:
        """The cases in which most segments favour the system with the worse score."""
        cases = [
            f"by {self._label(pair)}, most favour {pair.favourite}, and the score is better for "
            f"{pair.other if pair.favourite == pair.system else pair.system}"
            for pair in self.pairs
            if pair.contradicts
        ]
        if len(cases) > CASES:
            return (
                f" In {len(cases)} of these {len(self.pairs)} cases most segments favour the "
                "system with the worse score."
            )
        return f" Here {'; '.join(cases)}." if cases else ""

    def _texts(self, pair: Favoritism) -> Table:
        rows = [
            row
            for rank, at in enumerate(pair.strongest(self.count), 1)
            for row in self._rows_of(pair, rank, int(at))
        ]
        title = f"{self._label(pair)}: {pair.system} or {pair.other}?"
        note = (
            "favoritism: what the segment adds to the score of one system less what it adds to "
            f"the other; positive favours {pair.system}.{self._colours()}"
        )
        columns: Columns = ("rank", Column("favoritism", digits=3), "segment", "text of", "text")
        choice = (("metric", self._label(pair)), (f"{pair.system} or", pair.other))
        return Table(title, columns, rows, note, group=TEXTS, choice=choice)

    def _rows_of(self, pair: Favoritism, rank: int, at: int) -> list[tuple[CellValue, ...]]:
        lines = self._lines(pair, at)
        if self.dataset.sources:
            lines.insert(0, ("source", (Span(self.dataset.sources[at]),)))
        heads: list[tuple[CellValue, ...]] = [(rank, float(pair.values[at]), at + 1)]
        heads += [(None, None, None)] * (len(lines) - 1)
        return [(*head, *line) for head, line in zip(heads, lines, strict=True)]

    def _lines(self, pair: Favoritism, at: int) -> list[tuple[str, Words]]:
        """Both outputs, marked beside the first reference where there is one."""
        names = (pair.system, pair.other)
        outputs = [self.dataset.systems[name][at] for name in names]
        references = self.dataset.references[at]
        if not references:
            return [(name, (Span(text),)) for name, text in zip(names, outputs, strict=True)]
        tokenizer = _display_tokenizer(pair.metric)
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

    def _label(self, pair: Favoritism) -> str:
        """The metric's title, or its settings where two have the same title."""
        metrics = list(dict.fromkeys(pair.metric for pair in self.pairs))
        return labels(metrics)[metrics.index(pair.metric)]

    def _curve(self) -> Chart:
        many = len(self.pairs) > len(PALETTE)
        points = POINTS // 8 if many else POINTS // 2
        records = []
        for pair in self.pairs:
            ordered = np.sort(pair.values)[::-1]
            running = np.cumsum(ordered)
            for rank in np.unique(np.linspace(0, len(running) - 1, points).astype(int)):
                name = "" if many else f": {pair.system} - {pair.other}"
                records.append(
                    {
                        "segments": int(rank) + 1,
                        "running sum": float(running[rank]),
                        "metric": f"{self._label(pair)}{name}",
                        "other": pair.other,
                    }
                )
        return line_chart(
            "Favoritism added up, from the segment most for the first system on",
            records,
            "segments",
            "running sum",
            "metric",
            panel="other" if many else None,
            note=f"The first system is {self.pairs[0].system}, the other stands above." * many,
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


def _display_tokenizer(metric: Metric) -> str:
    """Words between blanks, but the metric's own tokens where words are not so divided."""
    tokenizer = getattr(metric, "tokenize", "none")
    return "none" if tokenizer in ("13a", "intl") else str(tokenizer)


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
        _mark(wanted, {"note": only_mine + only_theirs}),
        _mark(one, {"good": only_mine, "bad": mine - goal}),
        _mark(other, {"good": only_theirs, "bad": theirs - goal}),
    )


def _bare(word: str) -> str:
    return word.strip(_EDGES) or word


def _mark(words: Sequence[str], counts: Mapping[Mark, Counter[str]]) -> Words:
    """Every mark stands on as many occurrences of a word as it counts, from the last one back."""
    left = {mark: Counter(own) for mark, own in counts.items()}
    marked: list[tuple[str, Mark]] = []
    for word in reversed(words):
        marks = [mark for mark, own in left.items() if own[_bare(word)] > 0]
        mark: Mark = marks[0] if marks else ""
        if mark:
            left[mark][_bare(word)] -= 1
        marked.append((word, mark))
    return marked_text(reversed(marked))
