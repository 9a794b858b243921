"""Retrieval from the translations of every system, and the metrics that predict it."""

from __future__ import annotations

from collections.abc import Collection as Some
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.agreement.agree import Agreement, agree
from assay.agreement.coefficients import Coefficient, Kendall
from assay.agreement.panel import Candidate
from assay.agreement.retrieval.collection import Collection, Judgements, Queries
from assay.agreement.retrieval.measures import Measure, Truth, relevant
from assay.agreement.retrieval.report import Correlation, Found, Setup, charts, tables
from assay.agreement.retrieval.search import BM25, Run
from assay.data import DataError, MissingInput
from assay.results import Charts, Record, Result, Table

__all__ = [
    "RetrievalResult",
    "correlations",
    "evaluate_each",
    "judged_by_rank",
    "mismatches",
    "truth_of",
]

_SHOWN = 3


def mismatches(queries: Queries, judgements: Judgements, documents: Some[str]) -> Iterator[str]:
    """Remarks for the user; nothing here changes a value."""
    unjudged = [query for query in queries if not relevant(judgements.get(query, {}))]
    if unjudged:
        yield (
            f"{_count(len(unjudged), 'query', 'queries')} of {len(queries):,} left out, without a "
            f"relevant document: {_some(unjudged)}."
        )
    if unknown := [query for query in judgements if query not in queries]:
        hint = " If they count the queries, use number_queries=True." if unjudged else ""
        yield (
            f"judgements of {_count(len(unknown), 'query', 'queries')} left out that "
            f"the file of queries does not have: {_some(unknown)}.{hint}"
        )
    wanted = dict.fromkeys(d for query in queries for d in relevant(judgements.get(query, {})))
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


@dataclass(frozen=True, eq=False)
class RetrievalResult(Result):
    """How well documents are found in each translation, and how far metrics agree with that."""

    setup: Setup
    found: tuple[Found, ...]
    candidates: tuple[Candidate, ...] = ()
    correlations: tuple[Correlation, ...] = ()

    def tables(self) -> list[Table]:
        """Measures by system, and coefficients by measure and metric."""
        return tables(self.setup, self.found, self.candidates, self.correlations)

    def paper_tables(self) -> list[Table]:
        """Tables 4 and 5 of the paper: measures by metrics; without metrics, the measures."""
        first, *correlated = self.tables()
        return correlated or [first]

    def charts(self) -> Charts:
        """The coefficients as a map, and every metric against the first measure."""
        return Charts(charts(self.setup, self.found, self.candidates, self.correlations))

    def records(self) -> list[Record]:
        """A record per system and measure, per system and metric, per measure and metric.

        The first have a `system` and a `measure`, the second a `system` and a `metric`, the last
        a `metric`, a `measure` and a `coefficient`.
        """
        return [*self._measured(), *self._scored(), *self._correlated()]

    def _measured(self) -> Iterator[Record]:
        for each in self.found:
            for at, measure in enumerate(self.setup.measures):
                yield _record(
                    system=each.system,
                    human=each.human,
                    measure=str(measure),
                    value=each.values[at],
                    n=measure.queries(self.setup.truth),
                )

    def _scored(self) -> Iterator[Record]:
        machines = [each.system for each in self.found if not each.human]
        for candidate in self.candidates:
            for system, score in zip(machines, candidate.of_systems(), strict=True):
                asked = {"metric": candidate.name, "resolved": candidate.resolved}
                yield _record(system=system, human=False, value=score, **asked)

    def _correlated(self) -> Iterator[Record]:
        resolved = {candidate.name: candidate.resolved for candidate in self.candidates}
        for each in self.correlations:
            yield _record(
                metric=each.metric,
                resolved=resolved[each.metric],
                measure=str(each.measure),
                coefficient=str(each.coefficient),
                value=each.agreement.value,
                p=each.agreement.p,
                n=each.agreement.n,
                reason=each.agreement.reason or None,
            )


def evaluate_each(
    collections: Mapping[str, Collection],
    queries: Queries,
    truth: Truth,
    measures: Sequence[Measure],
    *,
    bm25: BM25,
    humans: Sequence[str] = (),
) -> Iterator[Found]:
    """What each translation of the collection is worth, one after the other as they are ready."""
    for system, collection in collections.items():
        run = bm25.search(collection, queries)
        values = tuple(measure.value(run, truth) for measure in measures)
        yield Found(system, system in humans, values)


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
    kept = {query: each for query in queries if relevant(each := judgements.get(query, {}))}
    if not kept:
        raise DataError(
            "no query has a relevant document: do the judgements and the queries use the same ids?"
        )
    if not any(document in each for each in kept.values() for document in documents):
        raise DataError(
            "no judged document is in the collection: do the judgements and the documents use "
            "the same ids?"
        )
    rankings = {query: each for query, each in (human or {}).items() if each.documents}
    return Truth(kept, rankings, frozenset(documents))


def judged_by_rank(run: Run, most: int) -> dict[str, dict[str, int]]:
    """The first `most` documents of every ranking as the relevant ones."""
    return {query: dict.fromkeys(each.documents[:most], 1) for query, each in run.items()}


def correlations(
    found: Sequence[Found],
    measures: Sequence[Measure],
    candidates: Sequence[Candidate],
    coefficients: Sequence[Coefficient] = (Kendall(),),
) -> Iterator[Correlation]:
    """How far every metric's order of the machines agrees with every measure's."""
    if strangers := [str(each) for each in coefficients if each.needs != "scores"]:
        raise DataError(
            f"{', '.join(strangers)}: needs scores of segments, and retrieval has one value for "
            "each system. Choose kendall, pearson, spearman or accuracy."
        )
    values = np.array([each.values for each in found if not each.human])
    for coefficient in coefficients:
        for at, measure in enumerate(measures):
            for candidate in candidates:
                own = -candidate.of_systems() if candidate.lower else candidate.of_systems()
                agreement = agree(own[:, None], values[:, at : at + 1], coefficient)
                yield Correlation(
                    candidate.name, measure, coefficient, _reworded(agreement, measure)
                )


def _reworded(agreement: Agreement, measure: Measure) -> Agreement:
    """The same, with a reason that speaks of the measure and not of people."""
    reason = agreement.reason.replace("all human scores", f"all values of {measure.title}")
    return replace(agreement, reason=reason)


def _record(**known: object) -> Record:
    names = (
        *("system", "metric", "resolved", "measure", "coefficient"),
        *("value", "p", "n", "human", "reason"),
    )
    return {name: _known(known.get(name)) for name in names}


def _known(value: object) -> object:
    return None if isinstance(value, float) and value != value else value
