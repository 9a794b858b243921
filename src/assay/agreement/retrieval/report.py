"""What was systems in each translation, and how far a metric predicts it, as people see it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan, nan

from assay.agreement.coefficients import Coefficient
from assay.agreement.panel import Candidate
from assay.agreement.report import tests_note
from assay.agreement.retrieval.analysis import (
    RetrievalCorrelation,
    RetrievalSetup,
    SystemRetrieval,
)
from assay.plots import heat_map, scatter
from assay.results import Cell, CellValue, Chart, Column, Table

__all__ = ["charts", "tables"]


DIGITS = 3
INSIGNIFICANT = "×"
_MEASURES = "Retrieval by system"


def tables(
    setup: RetrievalSetup,
    systems: Sequence[SystemRetrieval],
    candidates: Sequence[Candidate],
    correlations: Sequence[RetrievalCorrelation],
) -> list[Table]:
    """Systems by measures, then one table of measures by metrics for every coefficient."""
    coefficients = dict.fromkeys(correlation.coefficient for correlation in correlations)
    return [
        _by_system(setup, systems, candidates),
        *(
            _by_measure(setup, coefficient, candidates, correlations)
            for coefficient in coefficients
        ),
    ]


def charts(
    setup: RetrievalSetup,
    systems: Sequence[SystemRetrieval],
    candidates: Sequence[Candidate],
    correlations: Sequence[RetrievalCorrelation],
) -> list[Chart]:
    """A map of each coefficient, and every metric against the first measure."""
    coefficients = dict.fromkeys(correlation.coefficient for correlation in correlations)
    maps = [_map(coefficient, candidates, correlations) for coefficient in coefficients]
    machines = [system for system in systems if not system.human]
    if len(machines) < 2:
        return maps
    return [*maps, *(_scatter(setup, machines, candidate) for candidate in candidates)]


def _by_system(
    setup: RetrievalSetup, systems: Sequence[SystemRetrieval], candidates: Sequence[Candidate]
) -> Table:
    titles, metrics = [measure.title for measure in setup.measures], [c.title for c in candidates]
    scores = iter(zip(*(candidate.of_systems() for candidate in candidates), strict=True))
    rows: list[list[CellValue]] = []
    for system in systems:
        own = [None] * len(candidates) if system.human else next(scores, ())
        rows.append([system.system, *system.values, *own])
    return Table(
        _MEASURES,
        ("system", *(Column(title, digits=DIGITS) for title in titles), *map(Column, metrics)),
        rows,
        "\n".join([*_notes(setup, systems), *_signatures(candidates)]),
        shaded=frozenset(at for at, system in enumerate(systems) if system.human),
        keys=1,
    )


def _notes(setup: RetrievalSetup, systems: Sequence[SystemRetrieval]) -> Iterator[str]:
    queries = {measure.queries(setup.truth) for measure in setup.measures}
    counts = "-".join(f"{count:,}" for count in sorted({min(queries), max(queries)}))
    plural = "query" if queries == {1} else "queries"
    yield f"{len(setup.truth.documents):,} documents; means over {counts} {plural}."
    yield from setup.notes
    if people := [system.system for system in systems if system.human]:
        yield f"{', '.join(people)}: by people, so shown but not correlated."
    yield from (measure.remark for measure in setup.measures if measure.remark)
    yield f"BM25|{setup.bm25.signature()}"


def _by_measure(
    setup: RetrievalSetup,
    coefficient: Coefficient,
    candidates: Sequence[Candidate],
    correlations: Sequence[RetrievalCorrelation],
) -> Table:
    """One coefficient: measures down, metrics across, as in Tables 4 and 5 of the paper."""
    rows: list[list[CellValue]] = []
    strong = set()
    for at, measure in enumerate(setup.measures):
        own = [c for c in correlations if c.measure == measure and c.coefficient == coefficient]
        rows.append([measure.title, *(_cell(correlation, setup.alpha) for correlation in own)])
        best = max((round(_known(c), DIGITS) for c in own), default=nan)
        strong |= {(at, 1 + i) for i, c in enumerate(own) if round(_known(c), DIGITS) == best}
    rows = [row for row in rows if len(row) > 1]
    return Table(
        f"{coefficient.label} between MT metrics and retrieval",
        ("measure", *(Column(candidate.title, digits=DIGITS) for candidate in candidates)),
        rows,
        "\n".join(_correlation_notes(setup, coefficient, candidates, correlations)),
        strong=frozenset(strong),
        keys=1,
    )


def _correlation_notes(
    setup: RetrievalSetup,
    coefficient: Coefficient,
    candidates: Sequence[Candidate],
    correlations: Sequence[RetrievalCorrelation],
) -> Iterator[str]:
    own = [correlation for correlation in correlations if correlation.coefficient == coefficient]
    systems = max((correlation.agreement.n for correlation in own), default=0)
    yield (
        f"Over {systems} machines. {INSIGNIFICANT}: not significant at {setup.alpha:g}; "
        "the strongest of a row stands out."
    )
    yield from tests_note({coefficient: [correlation.agreement for correlation in own]})
    titles = {candidate.name: candidate.title for candidate in candidates}
    for candidate in candidates:
        if candidate.lower:
            yield f"{candidate.title}: less is better; its sign is turned."
    for correlation in own:
        if correlation.agreement.reason:
            metric, measure = titles[correlation.metric], correlation.measure.title
            yield f"{metric}, {measure}: {correlation.agreement.reason}."
    yield from _signatures(candidates)


def _signatures(candidates: Sequence[Candidate]) -> list[str]:
    """How the metrics were computed."""
    return [candidate.signature for candidate in candidates if candidate.signature]


def _cell(correlation: RetrievalCorrelation, alpha: float) -> Cell | None:
    agreement = correlation.agreement
    if isnan(agreement.value):
        return None
    mark = "" if agreement.p < alpha else INSIGNIFICANT
    return Cell(agreement.value, p=agreement.p, n=agreement.n, mark=mark)


def _known(correlation: RetrievalCorrelation) -> float:
    value = correlation.agreement.value
    return -2.0 if isnan(value) else value


def _map(
    coefficient: Coefficient,
    candidates: Sequence[Candidate],
    correlations: Sequence[RetrievalCorrelation],
) -> Chart:
    titles = {candidate.name: candidate.title for candidate in candidates}
    records = [
        {
            "metric": titles[correlation.metric],
            "measure": correlation.measure.title,
            coefficient.label: correlation.agreement.value,
        }
        for correlation in correlations
        if correlation.coefficient == coefficient
    ]
    negative = any(
        correlation.agreement.value < 0
        for correlation in correlations
        if correlation.coefficient == coefficient
    )
    title = f"{coefficient.label} between MT metrics and retrieval measures"
    return heat_map(title, records, "metric", "measure", coefficient.label, diverging=negative)


def _scatter(
    setup: RetrievalSetup, machines: Sequence[SystemRetrieval], candidate: Candidate
) -> Chart:
    measure, scores = setup.measures[0], candidate.of_systems()
    records = [
        {"system": machine.system, "score": float(scores[at]), "value": machine.values[0]}
        for at, machine in enumerate(machines)
    ]
    return scatter(
        f"{measure.title} against {candidate.title}",
        records,
        "score",
        "value",
        "system",
        x_title=f"{candidate.title}{', less is better' * candidate.lower}",
        y_title=measure.title,
        note="One point per system.",
    )
