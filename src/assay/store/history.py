"""`history`: a metric, a slice or a phenomenon over the runs in a store, with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import NamedTuple

from assay.data import DataError
from assay.io.files import FilePath
from assay.metrics.base import Statistics, parse
from assay.plots import line_chart
from assay.registry import did_you_mean
from assay.results import Cell, CellValue, Chart, Charts, Column, Record, Result, Table, known
from assay.statistics.intervals import standard_error
from assay.statistics.signflips import sign_flip_p
from assay.store.results import ResultStore
from assay.store.runs import Observation, RunRecord

__all__ = ["HistoryPoint", "HistoryResult", "HistorySeries", "history"]

ALPHA = 0.05
AVERAGE = "micro-average"
"""What is shown of a store that knows of test suites only, unless something is asked for."""

NAMED = 12
"""So many names are listed where one is not known."""


class RunChange(NamedTuple):
    """The difference to the run before; interval and p are known where both runs' rows are."""

    value: float
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan


@dataclass(frozen=True)
class HistoryPoint:
    """What a run says of one system, and the change to the run before that has the same system."""

    run: RunRecord
    seen: Observation
    change: RunChange | None = None


@dataclass(frozen=True)
class HistorySeries:
    """Figures that can be compared: one subject, one signature, one test set; the oldest first."""

    points: tuple[HistoryPoint, ...]

    @property
    def first(self) -> HistoryPoint:
        """Its first point, which tells what all are about."""
        return self.points[0]

    @property
    def subject(self) -> str:
        """What the figures are about, in words."""
        seen = self.first.seen
        if seen.kind == "metric":
            return seen.name
        kind = "fault: " if seen.kind == "fault" else ""
        return f"{kind}{seen.name} ({seen.metric})"

    @property
    def test_set(self) -> str:
        """The test set by its name, or by the first digits of its digest."""
        run = self.first.run
        named = " ".join(filter(None, (run.test_set, run.languages)))
        return named or f"test set {run.test_set_sha256[:8]}"


def history(
    store: FilePath,
    metrics: str | Sequence[str] = (),
    *,
    slices: str | Sequence[str] = (),
    phenomena: str | Sequence[str] = (),
    systems: str | Sequence[str] = (),
    since: str | date | None = None,
    last: int | None = None,
) -> HistoryResult:
    """Metrics, slices and phenomena over the runs in a store: `history("runs/", "chrf")`.

    - `metrics`: by the names that they were asked for with, or their titles (default: all, unless
      slices or phenomena are named).
    - `slices`: slices of `compare` and `check` by name, as in `"with a number"`; faults as in
      `"fault:numbers"`.
    - `phenomena`: categories and phenomena of test suites, and their averages.
    - `systems`: only these.
    - `since`: only runs from this day on (UTC), as in `"2026-11-01"`.
    - `last`: only so many of the newest runs.

    Only figures on the same test set and with the same signature, but for the version of the
    package, are set side by side; others have a table of their own. The change to the run before
    has an interval and a p, by sign flips, where the store still has the rows of both.

    >>> import tempfile
    >>> import assay
    >>> from assay.demo import read_demo
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("one", "two"):
    ...         result = assay.score(read_demo(), ["chrf"], store=folder, run_name=name)
    ...     seen = history(folder, "chrf", systems="atlas").records()
    >>> [(record["run_name"], round(record["value"], 2), record["change"]) for record in seen]
    [('one', 67.88, None), ('two', 67.88, 0.0)]
    """
    opened = ResultStore(store, create=False)
    runs = opened.runs()
    if not runs:
        raise DataError(f"{opened.folder} has no runs yet: fill it by assay score ... --store.")
    if last is not None and last < 1:
        raise DataError(f"last={last}: give at least 1.")
    chosen = _Selection(_listed(metrics), _listed(slices), _listed(phenomena), _listed(systems))
    chosen.check(runs, opened)
    there = [run for run in runs if chosen.of(run)]
    if not there:
        raise DataError(
            f"no run in {opened.folder} has all of that: leave out a metric, slice, phenomenon or "
            "system."
        )
    earliest, newest = _since(since), there[-1]
    there = [run for run in there if run.time >= earliest]
    if not there:
        raise DataError(f"since={since}: no run is that new; the newest is of {newest.time[:10]}.")
    there = there[-last:] if last else there
    series = _series((run, seen) for run in there for seen in chosen.of(run))
    compared = tuple(_with_changes(points, opened) for points in series)
    others = {each for run in there for each in map(_named, run.observations)}
    shown = {_named(point.seen) for line in compared for point in line.points}
    return HistoryResult(str(opened.folder), compared, tuple(sorted(others - shown)))


@dataclass(frozen=True, eq=False)
class HistoryResult(Result):
    """Tables and charts of what was asked for; `others` is what the runs have besides."""

    store: str
    series: tuple[HistorySeries, ...]
    others: tuple[tuple[str, str], ...] = ()

    def summary(self) -> list[str]:
        """How many runs these are, from when to when, and what else there is."""
        runs = self._runs
        days = sorted({run.time[:10] for run in runs})
        span = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
        found = [f"{_plural(len(runs), 'run')} in {self.store}, {span}."]
        kinds: dict[str, list[str]] = {}
        for kind, name in self.others:
            kinds.setdefault(kind, []).append(name)
        if kinds:
            parts = [
                f"{_plural(len(names), kind)} ({names[0]}{' ...' * (len(names) > 1)})"
                for kind, names in kinds.items()
            ]
            found.append(f"These runs also have {', '.join(parts)}.")
        return found

    def tables(self) -> list[Table]:
        """A table for each subject, test set and signature, a row for each run and system."""
        titles = self._titles()
        return [self._table(line, title) for line, title in zip(self.series, titles, strict=True)]

    def charts(self) -> Charts:
        """A line per system, in the band of its intervals, where there is more than one run."""
        charts = Charts()
        for line, title in zip(self.series, self._titles(), strict=True):
            if len({point.run.run for point in line.points}) > 1:
                charts.append(self._chart(line, title))
        return charts

    def records(self) -> list[Record]:
        """One for each run, system and subject."""
        return [_record(point) for line in self.series for point in line.points]

    @property
    def _runs(self) -> list[RunRecord]:
        return list(
            {point.run.run: point.run for line in self.series for point in line.points}.values()
        )

    def _titles(self) -> list[str]:
        """What tells the tables apart: the subject, the test set, and the signature if need be."""
        titles = [f"{line.subject} on {line.test_set}" for line in self.series]
        digests = [line.first.run.test_set_sha256[:8] for line in self.series]
        titles = [
            title if titles.count(title) == 1 or digest in title else f"{title} {digest}"
            for title, digest in zip(titles, digests, strict=True)
        ]
        return [
            title if titles.count(title) == 1 else f"{title}, {_settings(line.first.seen)}"
            for title, line in zip(titles, self.series, strict=True)
        ]

    def _table(self, line: HistorySeries, title: str) -> Table:
        seen = line.first.seen
        digits = 1 if seen.unit == "%" else None
        look = Column("", digits=digits, finer=seen.finer, unit=seen.unit, style="estimate")
        columns: list[str | Column] = [
            "run", "time (UTC)", "system",
            replace(look, name=_heading(seen)), replace(look, name="change"), Column("n"),
        ]  # fmt: skip
        rows = [self._row(point) for point in line.points]
        if any(point.run.passed is not None for point in line.points):
            columns.append("check")
            answers = {True: "passed", False: "FAILED", None: None}
            for row, point in zip(rows, line.points, strict=True):
                row.append(answers[point.run.passed])
        return Table(title, columns, rows, self._note(line))

    def _row(self, point: HistoryPoint) -> list[CellValue]:
        run, seen, change = point.run, point.seen, point.change
        moved: CellValue = None
        if change is not None:
            star = "*" if change.p < ALPHA else ""
            moved = Cell(change.value, change.low, change.high, p=change.p, mark=star)
        figure = Cell(seen.value, seen.low, seen.high, n=seen.n)
        return [run.name, _minute(run), seen.system, figure, moved, seen.n]

    def _note(self, line: HistorySeries) -> str:
        seen = line.first.seen
        estimates = (point.seen for point in line.points)
        levels = sorted({each.level for each in estimates if not math.isnan(each.low)})
        told = [f"[ ]: {' or '.join(f'{level:.0%}' for level in levels)} interval."] * bool(levels)
        if any(point.change for point in line.points):
            told.append("change: to the run before with the same system.")
        if any(point.change and not math.isnan(point.change.p) for point in line.points):
            told.append(f"*: p below {ALPHA:g} by sign flips, not adjusted for the number of runs.")
        if len({point.seen.n for point in line.points}) > 1:
            told.append("n differs: not all figures are of the same segments or items.")
        versions = sorted({point.run.version for point in line.points})
        if len(versions) > 1:
            told.append(f"Scored by assay {', '.join(versions)}.")
        if sum(other.subject == line.subject for other in self.series) > 1:
            told.append("Another test set or signature has a table of its own: not comparable.")
        return " ".join([*told, seen.signature])

    def _chart(self, line: HistorySeries, title: str) -> Chart:
        labels = _labels([point.run for point in line.points])
        records = [_record(point) | {"label": labels[point.run.run]} for point in line.points]
        band = ("low", "high") if any(each["low"] is not None for each in records) else None
        note = "Bands: intervals." if band else ""
        chart = line_chart(
            title, records, "label", "value", "system",
            x_title="run", y_title=_heading(line.first.seen), band=band, note=note,
        )  # fmt: skip
        return replace(chart, after=title)


@dataclass(frozen=True)
class _Selection:
    """What is asked for, by name."""

    metrics: Sequence[str]
    slices: Sequence[str]
    phenomena: Sequence[str]
    systems: Sequence[str]

    def check(self, runs: Sequence[RunRecord], store: ResultStore) -> None:
        """Raise a `DataError` for a name that no run has."""
        seen = [each for run in runs for each in run.observations]
        asked: list[tuple[str, Sequence[str], Callable[[Observation], set[str]]]] = [
            ("metric", self.metrics, _metric_names),
            ("slice", self.slices, _slice_names),
            ("phenomenon", self.phenomena, _phenomenon_names),
            ("system", self.systems, lambda each: {each.system}),
        ]
        for what, wanted, names in asked:
            there = list(dict.fromkeys(name for each in seen for name in sorted(names(each))))
            for name in wanted:
                if _folded(name) not in map(_folded, there):
                    plain = [each for each in there if not each.startswith("slice:")]
                    known_names = ", ".join(plain[:NAMED]) + (", ..." if len(plain) > NAMED else "")
                    raise DataError(
                        f"no {what} {name!r} in the runs of {store.folder}"
                        f"{did_you_mean(name, there)}. There are: {known_names or 'none'}."
                    )

    def of(self, run: RunRecord) -> list[Observation]:
        """What the run has of it."""
        return [
            each
            for each in run.observations
            if (not self.systems or each.system in self.systems) and self._wants(each, run)
        ]

    def _wants(self, seen: Observation, run: RunRecord) -> bool:
        if not (self.metrics or self.slices or self.phenomena):
            is_suite = all(each.kind == "phenomenon" for each in run.observations)
            return seen.kind == "metric" or (is_suite and seen.name == AVERAGE)
        return (
            _among(self.metrics, _metric_names(seen))
            or _among(self.slices, _slice_names(seen))
            or _among(self.phenomena, _phenomenon_names(seen))
        )


def _among(wanted: Sequence[str], names: set[str]) -> bool:
    return not {_folded(name) for name in wanted}.isdisjoint(map(_folded, names))


def _folded(name: str) -> str:
    return name.strip().casefold()


def _metric_names(seen: Observation) -> set[str]:
    return {seen.metric, seen.name, seen.resolved} - {""} if seen.kind == "metric" else set()


def _slice_names(seen: Observation) -> set[str]:
    if seen.kind == "fault":
        return {f"fault:{seen.name}"}
    return {seen.name, f"slice:{seen.name}"} if seen.kind == "slice" else set()


def _phenomenon_names(seen: Observation) -> set[str]:
    short = seen.name.partition(": ")[2]
    return {seen.name, short or seen.name} if seen.kind == "phenomenon" else set()


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _since(given: str | date | None) -> str:
    """The time as runs have it; empty for the beginning."""
    if given is None:
        return ""
    try:
        text = given if isinstance(given, str) else given.isoformat()
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise DataError(f"since={given}: write a day as in 2026-11-01.") from None
    in_utc = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return in_utc.isoformat(timespec="microseconds")


_Points = list[HistoryPoint]


def _series(found: Iterable[tuple[RunRecord, Observation]]) -> list[_Points]:
    """What can be compared, together, in the order in which it first appears."""
    lines: dict[tuple[str, ...], _Points] = {}
    for run, seen in found:
        key = (seen.kind, seen.name, seen.metric, _settings(seen), run.test_set_sha256)
        lines.setdefault(key, []).append(HistoryPoint(run, seen))
    return list(lines.values())


def _settings(seen: Observation) -> str:
    """The signature without the version of the package."""
    return "|".join(part for part in seen.signature.split("|") if not part.startswith("version:"))


def _with_changes(points: _Points, store: ResultStore) -> HistorySeries:
    before: dict[str, Observation] = {}
    found = []
    for point in points:
        seen = point.seen
        change = _change(before[seen.system], seen, store) if seen.system in before else None
        found.append(replace(point, change=change))
        before[seen.system] = seen
    return HistorySeries(tuple(found))


def _change(before: Observation, after: Observation, store: ResultStore) -> RunChange:
    """The difference, segment by segment where the rows of both are there."""
    plain = RunChange(after.value - before.value)
    if not (before.rows and after.rows and before.n == after.n):
        return plain
    if before.rows == after.rows:
        return plain._replace(low=plain.value, high=plain.value, p=1.0)
    rows = store.rows([after.rows, before.rows], after.n)
    if rows is None:
        return plain
    try:
        metric = parse(after.resolved)
        return _paired(*(Statistics(metric, own) for own in rows), level=after.level)
    except (ValueError, IndexError, TypeError):
        # A metric that is not installed here, or rows of another one.
        return plain


def _paired(one: Statistics, other: Statistics, *, level: float) -> RunChange:
    from scipy.special import stdtrit

    value = one.corpus() - other.corpus()
    error = standard_error(one.without_each() - other.without_each())
    reach = error * float(stdtrit(max(1, len(one) - 1), (1 + level) / 2))
    return RunChange(value, value - reach, value + reach, sign_flip_p(one.contributions(other)))


def _named(seen: Observation) -> tuple[str, str]:
    return seen.kind, f"fault:{seen.name}" if seen.kind == "fault" else seen.name


def _record(point: HistoryPoint) -> Record:
    run, seen, change = point.run, point.seen, point.change or RunChange(math.nan)
    return {
        "run": run.run,
        "run_name": run.name,
        "time": run.time,
        "command": run.command,
        "passed": run.passed,
        "test_set": run.test_set,
        "test_set_sha256": run.test_set_sha256,
        "system": seen.system,
        "kind": seen.kind,
        "subject": seen.name,
        "metric": seen.metric,
        "signature": seen.signature,
        "n": seen.n,
        "value": known(seen.value),
        "low": known(seen.low),
        "high": known(seen.high),
        "change": known(change.value),
        "change_low": known(change.low),
        "change_high": known(change.high),
        "p": known(change.p),
    }


def _heading(seen: Observation) -> str:
    arrow = {True: " ↑", False: " ↓", None: ""}[seen.higher]
    return f"{seen.name if seen.kind == 'metric' else seen.metric}{arrow}"


def _minute(run: RunRecord) -> str:
    return run.time[:16].replace("T", " ")


def _labels(runs: Sequence[RunRecord]) -> dict[str, str]:
    """A label for each run: its name, with the time where two runs share it."""
    distinct = list({run.run: run for run in runs}.values())
    names = [run.label for run in distinct]
    return {
        run.run: name if names.count(name) == 1 else f"{name} {run.time[:19]} {run.run[-4:]}"
        for run, name in zip(distinct, names, strict=True)
    }


def _plural(count: int, noun: str) -> str:
    several = "phenomena" if noun == "phenomenon" else f"{noun}s"
    return f"{count:,} {noun if count == 1 else several}"
