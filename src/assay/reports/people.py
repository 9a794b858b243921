"""Errors that people marked, MQM or ESA: how many per 100 words, by category and severity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from assay.data import Array, DataError, Dataset, divide
from assay.io.files import FilePath
from assay.io.tables import read_objects
from assay.reports.probes import SumProbe

__all__ = ["PeoplesErrors", "read_errors"]

_NONE = ("", "no-error", "no error", "none", "hotw")


@dataclass(frozen=True)
class PeoplesErrors:
    """Marked errors: system, segment from 1, category and severity, one for each mark.

    Segments without any mark are taken as rated where their number is among `rated`.
    """

    marks: tuple[tuple[str, int, str, str], ...]
    rated: frozenset[tuple[str, int]]

    def probes(self, data: Dataset) -> Iterator[SumProbe]:
        """Errors per 100 words of the reference, by category and severity, where all were rated."""
        systems = list(data.systems)
        numbers = range(1, len(data) + 1)
        rated = np.array([all((name, at) in self.rated for name in systems) for at in numbers])
        if not rated.any():
            raise DataError("the marked errors have no segment that was rated for all systems.")
        wanted = np.array([len(lines[0].split()) for lines in data.references])
        words = np.broadcast_to(wanted, (len(systems), len(data)))
        counts: dict[str, Array] = {}
        for system, segment, category, severity in self.marks:
            if system in data.systems and rated[segment - 1]:
                for name in dict.fromkeys((category, severity)):
                    if name.lower() not in _NONE:
                        found = counts.setdefault(name, np.zeros(words.shape))
                        found[systems.index(system), segment - 1] += 1
        for name, found in sorted(counts.items()):
            rows = np.stack([found, np.where(rated, words, 0)], axis=-1)
            yield SumProbe("human", name, "errors per 100 words", "", False, False, rows, _rate)


def read_errors(path: FilePath, data: Dataset) -> PeoplesErrors:
    """Marked errors from a table with `system`, `line` (or `segment`), `category`, `severity`."""
    return errors_from([row.values for row in read_objects(path)], data, str(path))


def errors_from(records: Iterable[Mapping[str, object]], data: Dataset, name: str) -> PeoplesErrors:
    """Marked errors from dictionaries; errors name the row, from 1."""
    marks, rated = [], set()
    for number, record in enumerate(records, 1):
        system = str(record.get("system", ""))
        place = str(record.get("line") or record.get("segment") or "")
        if not place.isdigit() or not 1 <= int(place) <= len(data):
            raise DataError(
                f"{name}, row {number}: line {place!r} is no segment from 1 to {len(data)}. The "
                "columns are system, line, category and severity."
            )
        rated.add((system, int(place)))
        category, severity = (str(record.get(key) or "") for key in ("category", "severity"))
        marks.append((system, int(place), category.partition("/")[0], severity))
    return PeoplesErrors(tuple(marks), frozenset(rated))


def _rate(sums: Array) -> Array:
    return 100 * divide(sums[:, 0], sums[:, 1])
