"""A result made of whatever a test wants to see rendered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.results import Chart, Charts, Record, Result, Table


@dataclass(frozen=True)
class Given(Result):
    """A result that gives back what it was given."""

    some_tables: Sequence[Table] = ()
    some_charts: Sequence[Chart] = ()
    some_records: Sequence[Record] = ()

    def tables(self) -> list[Table]:
        return list(self.some_tables)

    def charts(self) -> Charts:
        return Charts(self.some_charts)

    def records(self) -> list[Record]:
        return list(self.some_records)
