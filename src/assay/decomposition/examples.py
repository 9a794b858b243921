"""The sentences behind a difference, and how people judge them without the systems' names."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from assay.data import Array, DataError, Dataset
from assay.decomposition.decompose import (
    FEW,
    PRESETS,
    Annotated,
    Parts,
    Preset,
    decompose,
    is_few,
    preset_named,
    ratio,
)
from assay.decomposition.mask import MaskUnit, judge_words, note_words, plain_text
from assay.decomposition.texts import annotate
from assay.features.annotation import Annotator, Feature
from assay.io.files import FilePath, label
from assay.io.tables import has_header, parse_table, read_rows, whole_number, write_table
from assay.metrics.base import Metric, select_metrics
from assay.plots import scatter
from assay.progress import Engine, Track, spread, untracked
from assay.registry import SEED
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
from assay.text import Side

__all__ = [
    "Answer",
    "BlindItem",
    "BlindKey",
    "ExamplesResult",
    "MulerExample",
    "TallyResult",
    "find_examples",
    "muler_examples",
    "read_judgements",
    "read_key",
    "tally",
    "write_key",
]

POINTS = 400
"""A chart shows at most so many sentences, those that matter most."""


@spread
def muler_examples(
    data: Dataset,
    metric: str | Metric = "bleu",
    feature: str | Sequence[str] = "upos:NOUN",
    *,
    annotator: str | Annotator | None = None,
    pipeline: str = "",
    tags: Sequence[FilePath] = (),
    cache: bool = True,
    preset: str = "corpus",
    per: MaskUnit = "token",
    count: int = 10,
    blind: bool = False,
    seed: int = SEED,
    cluster: Engine = None,
    track: Track = untracked,
) -> ExamplesResult:
    """The sentences that most set two systems apart in one feature, with its words marked.

    The data has two systems, and `feature` is one: `"ner:PERSON"`, or `"gender"`. A sentence
    counts by what it adds to MuLER: the score with it less the score without it. `count` is how
    many are shown. `blind` calls the systems X and Y, in random order, for a person to judge;
    `result.key` then says who is who (see `assay.decomposition.examples`). For the other options
    see `muler`.

    >>> from dataclasses import replace
    >>> from assay.demo import read_demo
    >>> demo = read_demo()
    >>> two = {name: demo.systems[name] for name in ("atlas", "birch")}
    >>> record = muler_examples(replace(demo, systems=two), "bleu", "gender").records()[0]
    >>> record["segment"], round(record["difference"], 3)
    (116, 0.013)
    """
    way = preset_named(preset)
    selection = select_metrics([metric], data)
    if len(data.systems) != 2:
        raise DataError(
            f"muler examples sets two systems apart, but there are {len(data.systems)}: name two."
        )
    annotated = annotate(
        data,
        feature,
        annotator=annotator,
        pipeline=pipeline,
        tags=tags,
        cache=cache,
        track=track,
    )
    if len(annotated.features) != 1:
        named = ", ".join(map(str, annotated.features))
        raise DataError(
            f"muler examples looks at one feature, not {len(annotated.features)} ({named})."
        )
    first, second = data.systems
    result = find_examples(
        annotated.texts,
        annotated.features[0],
        selection.metrics[0],
        (first, second),
        sources=data.sources,
        preset=way,
        per=per,
        count=count,
        blind=blind,
        rng=np.random.default_rng(seed),
    )
    notes = (*selection.notes, *annotated.notes)
    return replace(result, sides=annotated.sides, notes=notes)


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

    `sentences` has all of these, and `shown` those to look at. Blind, the systems are X and Y,
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
    sentences: tuple[MulerExample, ...]
    shown: tuple[MulerExample, ...]
    blind: bool
    sides: tuple[Side, ...] = ()
    notes: tuple[str, ...] = ()
    """What to know: the languages taken, metrics that do not suit them, a cache that fails."""

    @property
    def muler(self) -> tuple[float, float]:
        """MuLER of the two systems."""
        first, second = (float(value) for value in ratio(self.scores))
        return first, second

    @property
    def key(self) -> BlindKey:
        """Which system is X and which Y, sentence by sentence."""
        items = []
        for number, example in enumerate(self.shown, 1):
            x, y = self._order(example)
            items.append(BlindItem(number, example.segment + 1, self.systems[x], self.systems[y]))
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
            return [self._blind_record(*pair) for pair in enumerate(self.shown, 1)]
        return [self._record(*pair) for pair in enumerate(self.shown, 1)]

    def _order(self, example: MulerExample) -> tuple[int, int]:
        return (1, 0) if example.swapped else (0, 1)

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
            f"{len(self.sentences)} sentences have it in the reference and in both outputs.{few}"
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
        rows = [
            row for rank, example in enumerate(self.shown, 1) for row in self._rows(rank, example)
        ]
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

    def _rows(self, rank: int, example: MulerExample) -> Iterator[tuple[CellValue, ...]]:
        head: tuple[CellValue, ...] = (rank, 1000 * example.difference, example.segment + 1)
        for name, text in self._lines(example, self.systems):
            yield (*head, name, text)
            head = (None, None, None)

    def _blind_texts(self) -> Table:
        rows: list[tuple[CellValue, ...]] = []
        for number, example in enumerate(self.shown, 1):
            head: CellValue = number
            for name, text in self._lines(example, ("X", "Y")):
                rows.append((head, name, text))
                head = None
        note = (
            f"Which output has the marked words better, X or Y? Write a line for each item: its "
            "number, a tab, and X, Y or = (neither). X and Y change places from item to item. The "
            f"items are {len(self.shown)} of the {len(self.sentences)} sentences with the feature"
            + (", those that matter most." if len(self.shown) < len(self.sentences) else ".")
        )
        title = f"{self.feature}: which is better, X or Y?"
        return Table(title, ("item", "text of", "text"), rows, note)

    def _lines(self, example: MulerExample, names: tuple[str, str]) -> Iterator[tuple[str, Words]]:
        """Source, references and outputs with the feature's words marked."""
        at = example.segment
        if self.sources:
            yield "source", (Span(self.sources[at]),)
        references = self.annotated.references[at]
        for number, text in enumerate(references, 1):
            label = "reference" if len(references) == 1 else f"reference {number}"
            yield label, note_words(text, self.feature)
        for name, system in zip(names, self._order(example), strict=True):
            output = self.annotated.systems[self.systems[system]][at]
            if self.blind:
                yield name, note_words(output, self.feature)
            else:
                yield name, judge_words(output, references, self.feature)

    def _record(self, rank: int, example: MulerExample) -> Record:
        first, second = self.systems
        values = {
            "difference": example.difference,
            "contribution": example.contributions[0],
            "contribution_other": example.contributions[1],
        }
        return {
            "rank": rank,
            "segment": example.segment + 1,
            "metric": self.metric.requested,
            "resolved": str(self.metric),
            "feature": self.feature.name,
            "kind": self.feature.kind,
            "system": first,
            "other": second,
            **{key: known(value) for key, value in values.items()},
            **self._plain_texts(example.segment),
            "output": plain_text(self.annotated.systems[first][example.segment]),
            "output_other": plain_text(self.annotated.systems[second][example.segment]),
        }

    def _blind_record(self, item: int, example: MulerExample) -> Record:
        x, y = (
            self.annotated.systems[self.systems[at]][example.segment] for at in self._order(example)
        )
        texts = self._plain_texts(example.segment)
        return {"item": item, "better": "", **texts, "X": plain_text(x), "Y": plain_text(y)}

    def _plain_texts(self, at: int) -> Record:
        source = {"source": self.sources[at]} if self.sources else {}
        return source | {"reference": plain_text(self.annotated.references[at][0])}

    def _chart(self) -> Chart:
        first, second = (f"{name}: adds to MuLER" for name in self.systems)
        largest = sorted(self.sentences, key=lambda example: -max(map(abs, example.contributions)))[
            :POINTS
        ]
        records = [
            {first: a, second: b, "segment": str(example.segment + 1)}
            for example in largest
            for a, b in [example.contributions]
        ]
        title = f"{self.feature}: what every sentence adds to MuLER"
        return scatter(title, records, first, second, "segment")


def find_examples(
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
    sentences = _examples(parts)
    if not sentences:
        raise DataError(
            f"no segment has {feature} in the reference and in the outputs of both {systems[0]} "
            f"and {systems[1]}: choose another feature."
        )
    shown = sentences[:count]
    if blind:
        shown = [
            shown[at]._replace(swapped=bool(rng.integers(2))) for at in rng.permutation(len(shown))
        ]
    return ExamplesResult(
        pair,
        sources,
        feature,
        decomposition.metric,
        preset,
        systems,
        (len(parts[0].chosen), len(parts[1].chosen)),
        np.array([own.scores() for own in parts]).T,
        tuple(sentences),
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
        raise DataError(f"{count} sentences are nothing to show: ask for at least 1.")
    return Annotated({name: annotated.systems[name] for name in systems}, annotated.references)


def _examples(parts: Sequence[Parts]) -> list[MulerExample]:
    """The sentences in both systems' I, largest difference first, unknown ones last."""
    first, second = (_contributions(own) for own in parts)
    examples = [MulerExample(at, (first[at], second[at])) for at in first if at in second]

    def size(example: MulerExample) -> float:
        return -1.0 if math.isnan(example.difference) else abs(example.difference)

    return sorted(examples, key=size, reverse=True)


def _contributions(parts: Parts) -> dict[int, float]:
    """What every sentence of I adds to MuLER, by segment."""
    if not len(parts.chosen):
        return {}
    values = ratio(parts.scores()) - ratio(parts.without_each())
    return dict(zip(parts.chosen.tolist(), values.tolist(), strict=True))


Answer = Literal["X", "Y", "="]

_ANSWERS: dict[str, Answer] = {"X": "X", "Y": "Y", "=": "="}
_COLUMNS = ("item", "segment", "feature", "X", "Y", "muler_X", "muler_Y")


class BlindItem(NamedTuple):
    """Who is X and who is Y in one item; segments count from 1."""

    number: int
    segment: int
    x: str
    y: str


@dataclass(frozen=True)
class BlindKey:
    """What the judge must not see: the systems of every item, and their MuLER."""

    feature: str
    systems: tuple[str, str]
    muler: tuple[float, float]
    items: tuple[BlindItem, ...]


@dataclass(frozen=True)
class TallyResult(Result):
    """How often each system was judged better; A is the one with the lower MuLER."""

    feature: str
    a: str
    b: str
    muler_a: float
    muler_b: float
    equal: int
    a_better: int
    b_better: int
    unjudged: int

    @property
    def agreement(self) -> float:
        """How often A is the better one where they differ."""
        differing = self.a_better + self.b_better
        return self.a_better / differing if differing else math.nan

    @property
    def p(self) -> float:
        """The sign test: how likely chance alone would set A and B so far apart."""
        differing, fewer = self.a_better + self.b_better, min(self.a_better, self.b_better)
        tail = sum(math.comb(differing, at) for at in range(fewer + 1)) / (1 << differing)
        return min(1.0, 2 * tail)

    def tables(self) -> list[Table]:
        """The row of the paper's Table 10."""
        columns: Columns = (
            *("feature", "system A", "system B"),
            *(Column(name) for name in ("A=B", "A>B", "B>A", "not judged")),
            *(Column(name, digits=3) for name in ("MuLER A", "MuLER B")),
            Column("A better", digits=1, unit="%"),
            Column("p", style="p"),
        )
        counts = (self.equal, self.a_better, self.b_better, self.unjudged)
        values = (self.muler_a, self.muler_b, 100 * self.agreement, self.p)
        note = (
            "A is the system with the lower MuLER, which should be the better one. A better: its "
            "share of the items where one is better. p: exact two-sided sign test (no resamples)."
        )
        row = (self.feature, self.a, self.b, *counts, *values)
        return [Table("What people say", columns, [row], note)]

    def records(self) -> list[Record]:
        """One record."""
        values = {"muler_a": self.muler_a, "muler_b": self.muler_b, "agreement": self.agreement}
        return [
            {
                "feature": self.feature,
                "system_a": self.a,
                "system_b": self.b,
                "equal": self.equal,
                "a_better": self.a_better,
                "b_better": self.b_better,
                "unjudged": self.unjudged,
                **{key: known(value) for key, value in values.items()},
                "p": self.p,
            }
        ]


def tally(judgements: Mapping[int, Answer], key: BlindKey) -> TallyResult:
    """Count the answers by system; items without one are not judged."""
    (a, muler_a), (b, muler_b) = _ranked(key)
    better = Counter(
        {"X": item.x, "Y": item.y, "=": None}[judgements[item.number]]
        for item in key.items
        if item.number in judgements
    )
    return TallyResult(
        feature=key.feature,
        a=a,
        b=b,
        muler_a=muler_a,
        muler_b=muler_b,
        equal=better[None],
        a_better=better[a],
        b_better=better[b],
        unjudged=len(key.items) - better.total(),
    )


def _ranked(key: BlindKey) -> list[tuple[str, float]]:
    """The systems with their MuLER, lower first; as they are where that is unknown."""
    pairs = list(zip(key.systems, key.muler, strict=True))
    return pairs[::-1] if pairs[1][1] < pairs[0][1] else pairs


def write_key(key: BlindKey, path: FilePath) -> None:
    """Write the key as a table."""
    muler = dict(zip(key.systems, key.muler, strict=True))
    rows = [
        (str(item.number), str(item.segment), key.feature, item.x, item.y,
         repr(muler[item.x]), repr(muler[item.y]))
        for item in key.items
    ]  # fmt: skip
    write_table(path, _COLUMNS, rows)


def read_key(path: FilePath) -> BlindKey:
    """The key that `write_key` wrote."""
    table = parse_table(path, read_rows(path))
    columns = [table.column(name.lower()) for name in _COLUMNS]
    lines = [row.line for row in table.rows]
    items: list[BlindItem] = []
    muler: dict[str, float] = {}
    for line, item, segment, _, x, y, of_x, of_y in zip(lines, *columns, strict=True):
        number, place = (whole_number(path, line, text) for text in (item, segment))
        items.append(BlindItem(number, place, x, y))
        muler |= {x: _number(path, line, of_x), y: _number(path, line, of_y)}
    if len(muler) != 2:
        raise DataError(f"{label(path)}: a key is of two systems, not {len(muler)}.")
    first, second = sorted(muler)
    return BlindKey(columns[2][0], (first, second), (muler[first], muler[second]), tuple(items))


def _number(path: FilePath, line: int, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise DataError(f"{label(path)}, line {line}: {text!r} is not a number.") from None


def read_judgements(path: FilePath, key: BlindKey) -> dict[int, Answer]:
    """Lines of item, tab, and X, Y or =; or a table with the columns `item` and `better`.

    Blank lines, and items with an empty answer, are not judged yet.
    """
    numbers = {str(item.number): item.number for item in key.items}
    answers: dict[int, Answer] = {}
    for line, item, answer in _answers(path):
        where = f"{label(path)}, line {line}"
        if item not in numbers:
            raise DataError(f"{where}: no item {item!r} in the key; items are 1 to {len(numbers)}.")
        if not answer:
            continue
        if answer.upper() not in _ANSWERS:
            raise DataError(f"{where}: {answer!r} is no answer: write X, Y or =.")
        if numbers[item] in answers:
            raise DataError(f"{where}: item {item} is judged twice; keep one line.")
        answers[numbers[item]] = _ANSWERS[answer.upper()]
    return answers


def _answers(path: FilePath) -> list[tuple[int, str, str]]:
    """Line, item and answer."""
    rows = read_rows(path)
    if has_header(rows, "better"):
        table = parse_table(path, rows)
        columns = zip(table.rows, table.column("item"), table.column("better"), strict=True)
        return [(row.line, item.strip(), answer.strip()) for row, item, answer in columns]
    answers = []
    for line, (item, *rest) in rows:
        answer = "\t".join(rest).strip()
        if not rest and item.strip():
            raise DataError(
                f"{label(path)}, line {line}: no tab. Write the item, a tab, and X, Y or =."
            )
        if item.strip() or answer:
            answers.append((line, item.strip(), answer))
    return answers
