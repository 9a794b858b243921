"""Whether documents are found in translation, and which metrics predict it: `assay.retrieval`."""

from __future__ import annotations

from collections.abc import Collection as Some
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan

import numpy as np

from assay.agreement.agree import Agreement, agree
from assay.agreement.coefficients import COEFFICIENTS, Coefficient, Kendall
from assay.agreement.panel import Candidate, MetricChoice, chosen_metrics, computed, given
from assay.agreement.report import tests_note
from assay.agreement.retrieval.collection import (
    BM25,
    Collection,
    Judgements,
    Queries,
    Run,
    Translations,
    translations,
)
from assay.agreement.retrieval.measures import MEASURES, Measure, Truth, relevant_documents
from assay.data import DataError, Dataset, MissingInput, Scores
from assay.io.files import FilePath
from assay.plots import heat_map, scatter
from assay.progress import Track, untracked
from assay.results import Cell, CellValue, Chart, Charts, Column, Record, Result, Table, known
from assay.store.results import use_store

__all__ = [
    "DEFAULT_MEASURES",
    "DEFAULT_METRICS",
    "RetrievalCorrelation",
    "RetrievalResult",
    "RetrievalSetup",
    "SystemRetrieval",
    "correlations",
    "evaluate",
    "judged_by_rank",
    "mismatches",
    "retrieval",
    "truth_of",
]


DEFAULT_METRICS = ("bleu", "macrof", "microf", "chrf")
DEFAULT_MEASURES = ("map", "ndcg", "aqwv", "rbo")

_SHOWN = 3


def retrieval(
    data: Dataset | Mapping[str, Collection],
    metrics: MetricChoice = None,
    *,
    queries: Queries,
    judgements: Judgements | None = None,
    relevant: int = 10,
    measures: Sequence[str | Measure] | None = None,
    coefficients: Sequence[str | Coefficient] = ("kendall",),
    k1: float = 1.5,
    b: float = 0.75,
    depth: int = 1000,
    scores: Sequence[Scores] = (),
    alpha: float = 0.05,
    store: FilePath | None = None,
    track: Track = untracked,
) -> RetrievalResult:
    """Search each system's translation of a collection, and say which metrics predict the outcome.

    As in Gowda et al. (2021), Tables 4 and 5. It needs `pip install 'assay-mt[ir]'`.

    - `data`: a test set with documents; its first reference is the human translation. Or
      collections by name, each `{document: text}`, which are searched as they are.
    - `metrics`: names or metrics (default: BLEU, MacroF1, MicroF1 and chrF, or only `scores` where
      these are given; without a reference only what is named).
    - `queries`: the words of each query, by its id.
    - `judgements`: `{query: {document: relevance}}` (default: the first `relevant` documents that
      each query finds in the human translation).
    - `measures`: by name, as in `["map", "ndcg@10", "rbo:p=0.9"]`, or measures (default: MAP, nDCG,
      AQWV and, with a human translation, RBO).
    - `coefficients`: of agreement between metrics and measures, by name, or coefficients.
    - `k1`, `b`, `depth`: BM25's settings, and how many documents a query finds at most.
    - `scores`: scores of the systems or their segments by other metrics.
    - `alpha`: a p below this is significant.
    - `store`: a folder that keeps results, so that nothing is scored twice: see `score`.

    >>> from assay.demo import read_demo
    >>> queries = {"1": "vote of the town council", "2": "exhibition at the museum"}
    >>> result = retrieval(read_demo(), ["chrf"], queries=queries, measures=["rbo"])
    >>> [(record["system"], round(record["value"], 2)) for record in result.records()[:3]]
    [('atlas', 0.96), ('birch', 0.97), ('cedar', 0.94)]
    """
    bm25 = BM25(k1, b, depth)
    chosen = COEFFICIENTS.parse_all(coefficients)
    searched = translations(data) if isinstance(data, Dataset) else Translations.alone(data)
    human = bm25.search(searched.collections[searched.truth], queries) if searched.truth else None
    documents = list(next(iter(searched.collections.values())))
    setup = RetrievalSetup(
        bm25,
        tuple(_measures(measures, human)),
        truth_of(documents, queries, judgements=judgements, human=human, most=relevant),
        tuple(_notes(searched, judgements, relevant)),
        alpha,
    )
    with use_store(store):
        candidates = _candidates(searched, metrics, scores)
    steps = evaluate(
        searched.collections,
        queries,
        setup.truth,
        setup.measures,
        bm25=bm25,
        humans=searched.humans,
    )
    systems = tuple(track(steps, total=len(searched.collections)))
    odd = () if judgements is None else mismatches(queries, judgements, setup.truth.documents)
    return RetrievalResult(
        setup,
        systems,
        tuple(candidates),
        tuple(correlations(systems, setup.measures, candidates, chosen)),
        tuple(odd),
    )


def _measures(measures: Sequence[str | Measure] | None, human: Run | None) -> list[Measure]:
    """The measures that are asked for; those that need a human translation only with one."""
    asked = MEASURES.parse_all(DEFAULT_MEASURES if measures is None else measures)
    if human is None and measures is not None and any(measure.needs_human for measure in asked):
        raise MissingInput("references", "rbo compares with the human translation")
    return [measure for measure in asked if human is not None or not measure.needs_human]


def _notes(searched: Translations, judgements: Judgements | None, relevant: int) -> Iterator[str]:
    """Where the truth comes from."""
    if judgements is not None:
        yield "relevant: what the judgements say."
    else:
        yield f"relevant: the first {relevant} documents of the ranking on {searched.truth}."
    if not searched.truth and searched.machines.systems:
        yield "no human translation: no RBO, and no metric that needs a reference."


def _candidates(
    searched: Translations, metrics: MetricChoice, scores: Sequence[Scores]
) -> list[Candidate]:
    """The metrics' scores of the machines; without a reference only what was asked for."""
    machines = searched.machines
    if not machines.systems:
        return []
    default = DEFAULT_METRICS if searched.truth else ()
    tested = chosen_metrics(metrics, machines, scores, default)
    systems = list(machines.systems)
    return [
        *computed(machines, tested, granularity="system"),
        *(given(own.select(systems), machines, granularity="system") for own in scores),
    ]


@dataclass(frozen=True, eq=False)
class RetrievalSetup:
    """How retrieval was measured; `notes` say in words where the truth comes from."""

    bm25: BM25
    measures: tuple[Measure, ...]
    truth: Truth
    notes: tuple[str, ...] = ()
    alpha: float = 0.05


@dataclass(frozen=True)
class SystemRetrieval:
    """The value of every measure for one translation of the collection."""

    system: str
    human: bool
    values: tuple[float, ...]


@dataclass(frozen=True)
class RetrievalCorrelation:
    """The agreement of one metric with one measure over the machines."""

    metric: str
    measure: Measure
    coefficient: Coefficient
    agreement: Agreement


@dataclass(frozen=True, eq=False)
class RetrievalResult(Result):
    """How well documents are found in each translation, and how far metrics agree with that."""

    setup: RetrievalSetup
    systems: tuple[SystemRetrieval, ...]
    candidates: tuple[Candidate, ...] = ()
    correlations: tuple[RetrievalCorrelation, ...] = ()
    warnings: tuple[str, ...] = ()
    """Queries, judgements and documents that do not fit together."""

    def tables(self) -> list[Table]:
        """Measures by system, and coefficients by measure and metric."""
        return _tables(self.setup, self.systems, self.candidates, self.correlations)

    def paper_tables(self) -> list[Table]:
        """Tables 4 and 5 of the paper: measures by metrics; without metrics, the measures."""
        first, *correlated = self.tables()
        return correlated or [first]

    def charts(self) -> Charts:
        """The coefficients as a map, and every metric against the first measure."""
        return Charts(_charts(self.setup, self.systems, self.candidates, self.correlations))

    def records(self) -> list[Record]:
        """A record per system and measure, per system and metric, per measure and metric.

        The first have a `system` and a `measure`, the second a `system` and a `metric`, the last
        a `metric`, a `measure` and a `coefficient`.
        """
        return [*self._measured(), *self._scored(), *self._correlated()]

    def _measured(self) -> Iterator[Record]:
        for own in self.systems:
            for measure, value in zip(self.setup.measures, own.values, strict=True):
                yield _record(
                    system=own.system,
                    human=own.human,
                    measure=str(measure),
                    value=value,
                    n=measure.queries(self.setup.truth),
                )

    def _scored(self) -> Iterator[Record]:
        machines = [own.system for own in self.systems if not own.human]
        for candidate in self.candidates:
            for system, score in zip(machines, candidate.of_systems(), strict=True):
                asked = {"metric": candidate.name, "resolved": candidate.resolved}
                yield _record(system=system, human=False, value=score, **asked)

    def _correlated(self) -> Iterator[Record]:
        resolved = {candidate.name: candidate.resolved for candidate in self.candidates}
        for correlation in self.correlations:
            agreement = correlation.agreement
            yield _record(
                metric=correlation.metric,
                resolved=resolved[correlation.metric],
                measure=str(correlation.measure),
                coefficient=str(correlation.coefficient),
                value=agreement.value,
                p=agreement.p,
                n=agreement.n,
                reason=agreement.reason or None,
            )


def _record(**values: object) -> Record:
    names = (
        *("system", "metric", "resolved", "measure", "coefficient"),
        *("value", "p", "n", "human", "reason"),
    )
    return {name: known(values.get(name)) for name in names}


def evaluate(
    collections: Mapping[str, Collection],
    queries: Queries,
    truth: Truth,
    measures: Sequence[Measure],
    *,
    bm25: BM25,
    humans: Sequence[str] = (),
) -> Iterator[SystemRetrieval]:
    """What each translation of the collection is worth, one after the other as they are ready."""
    for system, collection in collections.items():
        run = bm25.search(collection, queries)
        values = tuple(measure.value(run, truth) for measure in measures)
        yield SystemRetrieval(system, system in humans, values)


def truth_of(
    documents: Sequence[str],
    queries: Queries,
    *,
    judgements: Judgements | None = None,
    human: Run | None = None,
    most: int = 10,
) -> Truth:
    """What is true of these documents: the judgements of people, or else the human ranking.

    `human` holds the rankings on the human translation. Without `judgements`, the first `most`
    documents of each count as relevant. Queries without a relevant document are left out.
    """
    if judgements is None:
        if human is None:
            reason = "what is relevant? There is no human translation, whose ranking would tell"
            raise MissingInput("judgements", reason)
        judgements = judged_by_rank(human, most)
    judged = {query: judgements.get(query, {}) for query in queries}
    judged = {query: grades for query, grades in judged.items() if relevant_documents(grades)}
    if not judged:
        raise DataError(
            "no query has a relevant document: do the judgements and the queries use the same ids?"
        )
    if not any(document in grades for grades in judged.values() for document in documents):
        raise DataError(
            "no judged document is in the collection: do the judgements and the documents use "
            "the same ids?"
        )
    rankings = {query: own for query, own in (human or {}).items() if own.documents}
    return Truth(judged, rankings, frozenset(documents))


def judged_by_rank(run: Run, most: int) -> dict[str, dict[str, int]]:
    """The first `most` documents of every ranking as the relevant ones."""
    return {query: dict.fromkeys(ranking.documents[:most], 1) for query, ranking in run.items()}


KENDALL = Kendall()


def correlations(
    systems: Sequence[SystemRetrieval],
    measures: Sequence[Measure],
    candidates: Sequence[Candidate],
    coefficients: Sequence[Coefficient] = (KENDALL,),
) -> Iterator[RetrievalCorrelation]:
    """How far every metric's order of the machines agrees with every measure's."""
    if unfit := [str(own) for own in coefficients if own.needs != "scores"]:
        raise DataError(
            f"{', '.join(unfit)}: needs scores of segments, and retrieval has one value for "
            "each system. Choose kendall, pearson, spearman or accuracy."
        )
    values = np.array([own.values for own in systems if not own.human])
    for coefficient in coefficients:
        for place, measure in enumerate(measures):
            for candidate in candidates:
                own = -candidate.of_systems() if candidate.lower else candidate.of_systems()
                agreement = agree(own[:, None], values[:, place : place + 1], coefficient)
                yield RetrievalCorrelation(
                    candidate.name, measure, coefficient, _reworded(agreement, measure)
                )


def _reworded(agreement: Agreement, measure: Measure) -> Agreement:
    """The same, with a reason that speaks of the measure and not of people."""
    reason = agreement.reason.replace("all human scores", f"all values of {measure.title}")
    return replace(agreement, reason=reason)


def mismatches(queries: Queries, judgements: Judgements, documents: Some[str]) -> Iterator[str]:
    """Remarks for the user; nothing here changes a value."""
    unjudged = [query for query in queries if not relevant_documents(judgements.get(query, {}))]
    if unjudged:
        yield (
            f"{_count(len(unjudged), 'query', 'queries')} of {len(queries):,} left out, without a "
            f"relevant document: {_some(unjudged)}."
        )
    if unknown := [query for query in judgements if query not in queries]:
        hint = " If they count the queries, use numbered=True." if unjudged else ""
        yield (
            f"judgements of {_count(len(unknown), 'query', 'queries')} left out that "
            f"the file of queries does not have: {_some(unknown)}.{hint}"
        )
    wanted = dict.fromkeys(
        document for query in queries for document in relevant_documents(judgements.get(query, {}))
    )
    if missing := [document for document in wanted if document not in documents]:
        yield (
            f"{_count(len(missing), 'relevant document', 'relevant documents')} not in the "
            f"collection, counted as missed: {_some(sorted(missing))}."
        )


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _some(names: list[str]) -> str:
    rest = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + rest


DIGITS = 3
INSIGNIFICANT = "×"
_MEASURES = "Retrieval by system"


def _tables(
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


def _charts(
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
        "\n".join([*_system_notes(setup, systems), *_signatures(candidates)]),
        shaded=frozenset(at for at, system in enumerate(systems) if system.human),
        keys=1,
    )


def _system_notes(setup: RetrievalSetup, systems: Sequence[SystemRetrieval]) -> Iterator[str]:
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
