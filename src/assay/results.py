"""What every analysis gives back: tables, charts and flat records, and what can be done with them.

A result knows nothing of formats. Its methods that show or save it load a renderer when called.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeAlias, TypeVar, get_args

if TYPE_CHECKING:
    from pathlib import Path

    import pandas
    import polars

__all__ = [
    "FINER",
    "STEPS",
    "Cell",
    "CellValue",
    "Chart",
    "Charts",
    "Column",
    "Columns",
    "CombinedResult",
    "Direction",
    "Grade",
    "Header",
    "LabelledResult",
    "Mark",
    "Record",
    "Result",
    "Span",
    "Style",
    "Table",
    "Words",
    "graded",
    "known",
    "marked_text",
]

Record = dict[str, Any]
"""One observation: flat, full precision, `None` for unknown."""

Value = TypeVar("Value")


def known(value: Value) -> Value | None:
    """The value as a record has it: None for `nan`, which is unknown; anything else as it is.

    >>> [known(value) for value in (0.5, math.nan, 3, "a")]
    [0.5, None, 3, 'a']
    """
    return None if isinstance(value, float) and math.isnan(value) else value


Grade: TypeAlias = Literal[
    "bad-4", "bad-3", "bad-2", "bad-1", "", "good-1", "good-2", "good-3", "good-4"
]
"""How good or bad something is, by degrees."""

STEPS = 4
"""So many degrees of good, and so many of bad."""

Mark: TypeAlias = Literal["good", "bad", "note"] | Grade


class Span(NamedTuple):
    """A run of text, how to mark it, and what to tell those who point at it."""

    text: str
    mark: Mark = ""
    remark: str = ""


Words = tuple[Span, ...]
"""Text with marked runs; spans are joined by a blank."""


def marked_text(words: Iterable[tuple[str, Mark]]) -> Words:
    """Words, each with its mark, as text: a run of words with the same mark is one span.

    >>> [span.text for span in marked_text([("a", ""), ("b", "good"), ("c", "good")])]
    ['a', 'b c']
    """
    runs = groupby(words, key=itemgetter(1))
    return tuple(Span(" ".join(word for word, _ in run), mark) for mark, run in runs)


def graded(degree: float) -> Grade:
    """The mark of a degree from -1, as bad as can be, to 1; none for 1/8 or less.

    >>> [graded(degree) for degree in (-1, -0.4, 0.1, 0.2)]
    ['bad-4', 'bad-2', '', 'good-1']
    """
    step = round(STEPS * max(-1.0, min(1.0, degree)))
    grades: tuple[Grade, ...] = get_args(Grade)
    return grades[STEPS + step]


FINER = 2
"""Decimals that figures of the size of 1 have beyond those in per cent."""

Direction = Literal["high", "low"]
"""Which values of a column are better."""

Style = Literal["number", "signed", "p", "interval", "estimate"]
"""`12.3`, `+12.3`, `0.0123` or `<0.0001`, `11.0–13.6`, `12.3 [11.0, 13.6]`."""


@dataclass(frozen=True)
class Column:
    """A column of numbers: how they are shown, and which of them is best.

    Without `digits`, numbers have as many decimals as the reader asks for, percentages (`unit`)
    have two, and numbers of the size of 1, which are `finer`, have `FINER` more. Tables for papers
    leave out what is not for a `paper`: columns that say what stars and intervals say as well.
    """

    name: str
    digits: int | None = None
    finer: bool = False
    direction: Direction | None = None
    unit: str = ""
    style: Style = "number"
    paper: bool = True

    @property
    def heading(self) -> str:
        """The name, and the unit where there is one."""
        return f"{self.name} {self.unit}" if self.unit else self.name


Columns: TypeAlias = Sequence[str | Column]
"""A bare name stands for a column without anything special."""


@dataclass(frozen=True)
class Cell:
    """A number and what is known of it: its interval, its p, and how many items it is of.

    `mark` is a sign behind the number, such as `*`; an `approximate` number has `~` in front.
    """

    value: float
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    n: int | None = None
    mark: str = ""
    approximate: bool = False


CellValue = str | int | float | None | Words | Cell
"""What may stand in a table: None is an empty cell, `nan` an unknown number."""


@dataclass(frozen=True)
class Table:
    """Rows for people, under columns.

    A row whose first cell is None belongs to the row above, and stays with it where a page sorts.
    `strong` cells, each a (row, column), are set in bold, `shaded` rows in grey. Of a table with
    `keys`, so many first columns stand again before each part where a terminal is too narrow for
    all columns. `details` says what the intervals and p inside its cells are, for formats that
    show them.

    Of tables of one `group`, which is their common title, a page shows one at a time. The reader
    picks it by its `choice`, pairs of a name and a value such as `("system", "A")`.
    """

    title: str
    columns: Columns
    rows: Sequence[Sequence[CellValue]]
    note: str = ""
    strong: frozenset[tuple[int, int]] = frozenset()
    shaded: frozenset[int] = frozenset()
    keys: int = 0
    details: str = ""
    group: str = ""
    choice: tuple[tuple[str, str], ...] = ()

    @property
    def headings(self) -> tuple[str, ...]:
        """What stands above each column."""
        return tuple(column.heading for column in self.typed_columns)

    @property
    def typed_columns(self) -> tuple[Column, ...]:
        """The columns, bare names made into columns."""
        return tuple(Column(each) if isinstance(each, str) else each for each in self.columns)


@dataclass(frozen=True)
class Chart:
    """A Vega-Lite picture: `spec` is the specification with its data inside.

    `after` is the title of the table that it illustrates; without one it follows the first.
    """

    title: str
    spec: Mapping[str, Any]
    note: str = ""
    after: str = ""

    def save(self, path: Path | str) -> None:
        """Write the picture to a file in .svg, .pdf or .png (needs the extra `report`)."""
        Charts([self]).save(path)

    def _repr_svg_(self) -> str | None:
        from assay.rendering.charts import notebook_drawing

        return notebook_drawing(self)


class Charts(list[Chart]):
    """The pictures of a result."""

    def save(self, path: Path | str) -> list[Path]:
        """Write each chart to a file in .svg, .pdf or .png, and return the paths.

        One chart goes to `fig.svg`, several go to `fig-1.svg`, `fig-2.svg` and so on.
        """
        from assay.rendering.charts import save_charts

        return save_charts(self, path)

    def _repr_html_(self) -> str:
        from assay.rendering.html import charts_fragment

        return charts_fragment(self)


@dataclass(frozen=True)
class Header:
    """How a result came about: for the head of JSON and the foot of a page.

    `inputs` are the files that were read, each with `path`, `sha256` and `segments`.
    """

    command: str | None = None
    seed: int | None = None
    inputs: Sequence[Mapping[str, Any]] = ()
    title: str = "assay report"


class Result(ABC):
    """What an analysis found. Subclasses say what there is to see; showing and saving is free.

    `print(result)` shows the tables as a terminal does, and a notebook shows them as a page does.
    """

    header = Header()

    @abstractmethod
    def tables(self) -> list[Table]:
        """Tables for people to read."""

    @abstractmethod
    def records(self) -> list[Record]:
        """Tidy data: one flat dictionary per observation, None for the unknown."""

    def summary(self) -> list[str]:
        """The answer in sentences, which stand above the tables; none unless a result has some."""
        return []

    def charts(self) -> Charts:
        """Pictures for people to look at; none unless a result has some."""
        return Charts()

    def page(self) -> str | None:
        """A page of its own as HTML, where tables and charts one after the other will not do."""
        return None

    def paper_tables(self) -> list[Table]:
        """What a paper prints of it: the first table, unless a result says otherwise."""
        return self.tables()[:1]

    def with_header(self, header: Header) -> Self:
        """The same result, which also says how it came about."""
        result = copy(self)
        object.__setattr__(result, "header", header)
        return result

    def save(self, path: Path | str, *, digits: int = 2) -> None:
        """Write the result to a file whose ending chooses the format.

        .html, .md, .tex, .txt and .xlsx hold the tables, with scores at so many `digits`; .csv,
        .tsv, .json, .jsonl and .parquet hold the records at full precision. Text files may have
        .gz or .xz after their ending. The file is written completely or not at all.
        """
        from assay.rendering import save

        save(self, path, digits=digits)

    def to_pandas(self) -> pandas.DataFrame:
        """The records as a pandas frame (needs the extra `frames`)."""
        from assay.rendering.exports import pandas_frame

        return pandas_frame(self)

    def to_polars(self) -> polars.DataFrame:
        """The records as a polars frame (needs the extra `frames`)."""
        from assay.rendering.exports import polars_frame

        return polars_frame(self)

    def __str__(self) -> str:
        from assay.rendering.text import text

        return text(self).removesuffix("\n")

    def _repr_html_(self) -> str:
        from assay.rendering.html import tables_fragment

        return tables_fragment(self)


@dataclass(frozen=True)
class LabelledResult(Result):
    """A result under titles that begin with its label, which tells it from others beside it."""

    label: str
    result: Result

    def tables(self) -> list[Table]:
        """The tables, with the label."""
        return [self._labelled(table) for table in self.result.tables()]

    def paper_tables(self) -> list[Table]:
        """The tables for a paper, with the label."""
        return [self._labelled(table) for table in self.result.paper_tables()]

    def charts(self) -> Charts:
        """The charts, with the label, each below its own table."""
        first = next((table.title for table in self.result.tables()), "")
        return Charts(
            replace(chart, title=self._title(chart.title), after=self._title(chart.after or first))
            for chart in self.result.charts()
        )

    def records(self) -> list[Record]:
        """The records as they are."""
        return self.result.records()

    def _labelled(self, table: Table) -> Table:
        group = self._title(table.group) if table.group else ""
        return replace(table, title=self._title(table.title), group=group)

    def _title(self, title: str) -> str:
        return f"{self.label}: {title}"


class CombinedResult(Result):
    """Several results as one, one after the other."""

    def __init__(self, *results: Result) -> None:
        self._results = results

    def tables(self) -> list[Table]:
        """The tables of all."""
        return [table for result in self._results for table in result.tables()]

    def paper_tables(self) -> list[Table]:
        """The tables for a paper of all."""
        return [table for result in self._results for table in result.paper_tables()]

    def charts(self) -> Charts:
        """The charts of all."""
        return Charts(chart for result in self._results for chart in result.charts())

    def records(self) -> list[Record]:
        """The records of all."""
        return [record for result in self._results for record in result.records()]
