"""`report`: one page with the verdict, the findings, all segments, and every analysis behind it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.comparison.favoritism import favor
from assay.comparison.types import types
from assay.data import Dataset
from assay.decomposition.analysis import muler
from assay.explanation.explain import explain
from assay.features.annotation import Annotator
from assay.io.files import FilePath
from assay.metrics.base import Metric
from assay.metrics.faults import FAULTS
from assay.progress import Engine, Track, spread, untracked
from assay.registry import SEED
from assay.reports.compare import DEFAULT_METRICS, compare
from assay.reports.comparison import ComparisonResult
from assay.reports.findings import Finding
from assay.reports.gate import CheckResult, check
from assay.reports.page import report_page
from assay.reports.people import PeoplesErrors
from assay.reports.probes import KINDS
from assay.reports.wording import describe, subject
from assay.results import Charts, Record, Result, Table
from assay.store.results import use_store
from assay.suites.evaluation import suite_report
from assay.version import __version__

if TYPE_CHECKING:
    from assay.suites.report import RunResult

__all__ = ["Report", "report"]

WORST = 5
"""Segments that are explained word by word."""

FEWER_SEGMENTS = 50
"""So many segments are listed of findings that are not established, or say something again."""

MOST_SLICES = 400
"""Slices by label that the page can filter by."""


class ReportPart(NamedTuple):
    """An analysis behind the report, under its title."""

    id: str
    title: str
    result: Result


@spread
def report(
    data: Dataset,
    output: FilePath | None = None,
    *,
    metrics: Iterable[str | Metric] = DEFAULT_METRICS,
    title: str = "",
    features: Sequence[str] | None = None,
    annotator: str | Annotator | None = None,
    pipeline: str = "",
    tags: Sequence[FilePath] = (),
    cache: bool = True,
    labels: Mapping[str, Sequence[str]] | None = None,
    frequencies: FilePath | Mapping[str, int] | None = None,
    suite: RunResult | None = None,
    errors: PeoplesErrors | None = None,
    limits: FilePath | Mapping[str, Any] | None = None,
    all_pairs: bool = False,
    level: float = 0.95,
    store: FilePath | None = None,
    run_name: str = "",
    seed: int = SEED,
    cluster: Engine = None,
    track: Track = untracked,
) -> Report:
    """Everything about these systems on one page: `report(data, "report.html")`.

    The page opens with the verdict of `compare`, then come scoreboard and findings, a browser of
    all segments, and what lies behind: MuLER, favoritism, words, explanations, the suite. The
    ending of `output` chooses the format, as in `Result.save`: a page, or Markdown for a pull
    request. The parameters are those of `compare`; `limits` are those of `check`, which the first
    other system has to keep against the first one. `store` and `run_name` are those of `score`.

    >>> from assay.demo import read_demo
    >>> report(read_demo(), features=()).comparison.board.systems
    ('atlas', 'birch', 'cedar')
    """
    with use_store(store) as kept:
        comparison = compare(
            data, metrics, features=features, annotator=annotator, pipeline=pipeline, tags=tags,
            cache=cache, labels=labels, frequencies=frequencies, suite=suite, errors=errors,
            all_pairs=all_pairs, level=level, seed=seed, track=track,
        )  # fmt: skip
        names = comparison.tagged
        pair = _first_pair(data, comparison)
        parts = tuple(
            [
                *_words(pair, names, annotator, pipeline, tags, cache, data, track),
                ReportPart("favor", "Segments that decide", favor(pair, count=5)),
                ReportPart("types", "Words", types(pair, count=10)),
                ReportPart(
                    "explain",
                    "Words that help and hurt",
                    explain(pair, "chrf", "lime", worst=WORST),
                ),
                *_suite(suite),
            ]
        )
        gate = None
        if limits:
            first, candidate = pair.systems
            gate = check(
                replace(pair, human=data.human), limits, baseline=first, candidate=candidate,
                features=features, annotator=annotator, pipeline=pipeline,
                tags=_own_tags(tags, data, pair), cache=cache, labels=labels,
                frequencies=frequencies, suite=suite, errors=errors, level=level, track=track,
            )  # fmt: skip
        found = Report(comparison, parts, title or _title(data), gate)
        if kept:
            passed = None if gate is None else gate.passed
            seen = comparison.observations
            kept.add_dataset_run("report", data, seen, name=run_name, passed=passed)
    if output is not None:
        found.save(output)
    return found


def _title(data: Dataset) -> str:
    names = list(data.systems)
    if len(names) == 2:
        return f"{names[1]} against {names[0]}"
    return f"{len(names)} systems" + (f" on {data.name}" if data.name else "")


def _first_pair(data: Dataset, comparison: ComparisonResult) -> Dataset:
    """The first system and the best of the others: details are of these two."""
    first, *_ = data.systems
    others = [comparison.board.systems[at] for at in comparison.board.order]
    other = next(name for name in others if name != first)
    pair = {name: data.systems[name] for name in (first, other)}
    return replace(data, systems=pair, human={})


def _words(
    pair: Dataset,
    names: Sequence[str],
    annotator: str | Annotator | None,
    pipeline: str,
    tags: Sequence[FilePath],
    cache: bool,
    data: Dataset,
    track: Track,
) -> Iterator[ReportPart]:
    """MuLER, where words were tagged."""
    kinds = [kind for kind in ("upos", "ner", "tags") if kind in names]
    if not kinds:
        return
    files = _own_tags(tags, data, pair)
    result = muler(
        pair, "bleu", kinds, annotator=annotator, pipeline=pipeline, tags=files, cache=cache,
        track=track,
    )  # fmt: skip
    yield ReportPart("muler", "Linguistic features (MuLER)", result)


def _own_tags(tags: Sequence[FilePath], data: Dataset, pair: Dataset) -> list[FilePath]:
    """The files of tags that belong to the references and to the pair's systems."""
    if not tags:
        return []
    references = len(tags) - len(data.systems)
    by_system = dict(zip(data.systems, tags[references:], strict=True))
    return [*tags[:references], *(by_system[name] for name in pair.systems)]


def _suite(suite: RunResult | None) -> Iterator[ReportPart]:
    if suite is not None:
        yield ReportPart("suite", "Test suite", suite_report(suite))


@dataclass(frozen=True, eq=False)
class Report(Result):
    """A comparison with all that lies behind it; saved as .html it is the page."""

    comparison: ComparisonResult
    parts: tuple[ReportPart, ...]
    title: str
    gate: CheckResult | None = None

    def summary(self) -> list[str]:
        """The verdict, and whether the limits hold."""
        return [*self.comparison.summary(), *(self.gate.summary() if self.gate else ())]

    def tables(self) -> list[Table]:
        """Scoreboard and findings, and the limits."""
        return [*self.comparison.tables(), *(self.gate.tables() if self.gate else ())]

    def charts(self) -> Charts:
        """Those of the comparison."""
        return self.comparison.charts()

    def records(self) -> list[Record]:
        """One per finding."""
        return self.comparison.records()

    def page(self) -> str:
        """The page as HTML."""
        from assay.rendering.html import sections_html

        gate = [ReportPart("gate", "Limits", self.gate)] if self.gate else []
        sections = [
            {"id": part.id, "title": part.title, "html": sections_html(part.result, name=part.id)}
            for part in (*gate, *self.parts)
        ]
        payload = page_payload(self.comparison.with_header(self.header), sections, self.title)
        return report_page({**payload, "verdict": self.summary()})


def page_payload(
    comparison: ComparisonResult, sections: Sequence[Mapping[str, str]], title: str
) -> dict[str, Any]:
    """All that the page shows, as plain data."""
    data, board = comparison.data, comparison.board
    ids = [str(at) for at in range(len(board.standings))]
    return {
        "title": title,
        "verdict": comparison.summary(),
        "systems": list(board.systems),
        "baseline": board.systems[0],
        "metrics": [
            {
                "id": ids[at],
                "title": standing.label,
                "higher": standing.metric.higher_is_better,
                "digits": 4 if standing.metric.is_small else 2,
                "signature": standing.signature,
            }
            for at, standing in enumerate(board.standings)
        ],
        "scoreboard": list(_scoreboard(comparison, ids)),
        "kinds": [{"id": kind, "title": name} for kind, name in KINDS.items()],
        "findings": [_finding(comparison, finding) for finding in comparison.findings],
        "slices": [
            {"id": f"s{at}", "kind": part.kind, "name": part.name,
             "segments": [int(place) + 1 for place in part.segments]}
            for at, part in enumerate(comparison.slices[:MOST_SLICES])
        ],
        "segments": {
            "sources": list(data.sources),
            "references": [list(lines) for lines in data.references],
            "documents": list(data.documents),
            "labels": {name: list(values) for name, values in comparison.labels.items()},
            "outputs": {name: list(lines) for name, lines in data.systems.items()},
            "scores": {
                ids[at]: dict(zip(board.systems, standing.segments.tolist(), strict=True))
                for at, standing in enumerate(board.standings)
            },
            "faults": _faults(comparison),
        },
        "sections": list(sections),
        "how": _how(comparison),
    }  # fmt: skip


def _scoreboard(comparison: ComparisonResult, ids: Sequence[str]) -> Iterator[dict[str, Any]]:
    for name, standing in zip(ids, comparison.board.standings, strict=True):
        for at, system in enumerate(comparison.board.systems):
            low, high = standing.intervals[at]
            best, worst = standing.ranks[at]
            entry: dict[str, Any] = {
                "system": system, "metric": name, "score": float(standing.scores[at]),
                "low": low, "high": high, "rank_low": best, "rank_high": worst,
                "cluster": standing.clusters[at],
            }  # fmt: skip
            if at:
                difference = standing.difference(at, 0)
                entry |= {
                    "difference": difference.value,
                    "difference_low": difference.low,
                    "difference_high": difference.high,
                    "p": difference.p_adjusted,
                }
            yield entry


def _finding(comparison: ComparisonResult, finding: Finding) -> dict[str, Any]:
    record = finding.record()
    del record["also_seen_as"]
    listed = record["segments"] if finding.domain == "segments" else []
    most = None if finding.leads and finding.established else FEWER_SEGMENTS
    return record | {
        "id": f"f{finding.rank}",
        "title": subject(finding),
        "unit": finding.unit,
        "higher": finding.higher,
        "digits": 4 if finding.finer else 1,
        "established": finding.established,
        "better": finding.better,
        "text": describe(finding),
        "segments": listed[:most],
        "share": record["share"] if comparison.is_told(finding) else None,
        "under": None if finding.under is None else f"f{finding.under}",
        "also": [f"f{other.rank}" for other in comparison.also_seen_as(finding)],
    }


def _faults(comparison: ComparisonResult) -> dict[str, dict[str, list[int]]]:
    """By system and fault, in plain words, the numbers of the segments that have it."""
    return {
        system: {
            FAULTS[kind].description: [int(place) + 1 for place in rows[at].nonzero()[0]]
            for kind, rows in comparison.faults.items()
        }
        for at, system in enumerate(comparison.board.systems)
    }


def _how(comparison: ComparisonResult) -> dict[str, Any]:
    import platform

    import numpy

    header = comparison.header
    small = [subject(finding) for finding in comparison.findings if finding.p != finding.p]
    return {
        "command": header.command or "",
        "seed": header.seed,
        "inputs": [dict(each) for each in header.inputs],
        "signatures": [standing.signature for standing in comparison.board.standings],
        "versions": {
            "assay": __version__,
            "Python": platform.python_version(),
            "NumPy": numpy.__version__,
        },
        "notes": list(comparison.notes),
        "tests": [comparison.tests_note(), *METHODS],
        "too_small": list(dict.fromkeys(small)),
    }


METHODS = (
    "Scores have BCa bootstrap intervals (1,000 resamples), or jackknife intervals for fewer than "
    "100 segments and for metrics over word types. Ranks and clusters are from sign-flip tests of "
    "all pairs of systems, after Holm.",
    "A finding is established where its p, adjusted over everything that was looked at, is below "
    "0.05. What says the same as a stronger finding is listed under it.",
)
