"""People's judgements of two systems whose names they did not see (the paper's section 4.3)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from assay.data import DataError
from assay.io.files import FilePath, label, read_lines
from assay.io.tables import read_table, whole_number, write_table
from assay.results import Column, Columns, Record, Result, Table, known

__all__ = [
    "Answer",
    "BlindItem",
    "BlindKey",
    "TallyResult",
    "read_judgements",
    "read_key",
    "tally",
    "write_key",
]

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
    table = read_table(path)
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
    lines = read_lines(path)
    if "better" in lines[0].split("\t"):
        table = read_table(path)
        numbers = [row.line for row in table.rows]
        columns = zip(numbers, table.column("item"), table.column("better"), strict=True)
        return [(number, item.strip(), answer.strip()) for number, item, answer in columns]
    answers = []
    for number, line in enumerate(lines, 1):
        item, tab, answer = line.partition("\t")
        if line.strip() and not tab:
            raise DataError(
                f"{label(path)}, line {number}: no tab. Write the item, a tab, and X, Y or =."
            )
        if line.strip():
            answers.append((number, item.strip(), answer.strip()))
    return answers
