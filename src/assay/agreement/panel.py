"""What metrics and people say of the same systems, side by side, for one language pair."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np

from assay.data import (
    Array,
    DataError,
    Dataset,
    Granularity,
    MissingInput,
    Scores,
    divide,
    human_outputs,
    without_humans,
)
from assay.metrics.base import (
    Metric,
    Statistics,
    labels,
    parse,
    reference_count,
    select_metrics,
    system_statistics,
)
from assay.metrics.mean import Mean
from assay.progress import Track, untracked
from assay.registry import did_you_mean
from assay.statistics.correlation import Mask, means
from assay.statistics.weights import groups

__all__ = [
    "METRICS",
    "Candidate",
    "HumanScores",
    "Humans",
    "MetricChoice",
    "Panel",
    "Rounding",
    "as_printed",
    "chosen_metrics",
    "computed",
    "given",
    "human_at",
    "lower_is_better",
    "outliers",
    "panels",
    "scores_at",
    "signatures",
]

Humans = Literal["out", "in"]
"""Whether human translations among the systems are left out or in."""

MetricChoice: TypeAlias = (
    str | Metric | Sequence[str | Metric] | Callable[[Dataset], Sequence[Metric]] | None
)
"""Metrics by name or as they are, or a function that chooses them for a test set."""

METRICS = ("bleu", "chrf")
"""What is tested where nothing is named."""

CUTOFF = 2.5
"""Further from the median than so many robust standard deviations (Mathur et al., 2020)."""

CONSISTENT = 1.483
"""What makes the median absolute deviation a standard deviation, for normal scores."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A metric that is put to the test, under the name by which it was asked for.

    `scores` are (systems, items), `nan` where unknown. `lower` says that less is better.
    `statistics` has one entry per system where the scores of segments are known: computed from
    text, or given. `signature` says how they were computed, and from how many references.
    """

    name: str
    title: str
    scores: Array
    lower: bool = False
    statistics: tuple[Statistics, ...] = ()
    signature: str = ""

    @property
    def resolved(self) -> str | None:
        """The metric with all of its settings; None for scores from elsewhere."""
        metric = self.statistics[0].metric if self.statistics else None
        return None if metric is None or isinstance(metric, Mean) else str(metric)

    @property
    def oriented(self) -> Array:
        """The scores, turned round where less is better: more is always better here."""
        return -self.scores if self.lower else self.scores

    def of_systems(self) -> Array:
        """One score per system: that of all its text, or the mean of what is given."""
        if self.statistics and self.scores.shape[1] > 1:
            return np.array([system.corpus() for system in self.statistics])
        return means(self.scores)

    def known_segments(self) -> Mask:
        """Of which segments the scores are known, (systems, segments)."""
        return np.array([_known(system) for system in self.statistics])

    def chosen(self, places: Sequence[int]) -> Candidate:
        """The same metric on some of the systems."""
        statistics = tuple(self.statistics[place] for place in places) if self.statistics else ()
        return replace(self, scores=self.scores[list(places)], statistics=statistics)


@dataclass(frozen=True, eq=False)
class Panel:
    """Metrics and one kind of human scores, on the same systems and items.

    `human` is (systems, items), more is better. `ratings` are human scores of segments,
    (systems, segments), where they are known besides. `source` says where the human scores come
    from, `ratings_source` where those of segments do, `notes` what was left out, and why.
    """

    pair: str
    granularity: Granularity
    human_name: str
    systems: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    human: Array
    ratings: Array | None = None
    source: str = ""
    notes: tuple[str, ...] = ()
    ratings_source: str = ""

    def human_of_systems(self) -> Array:
        """One human score per system: the only one, or the mean over items."""
        return means(self.human)

    def without(self, names: Sequence[str], reason: str) -> Panel:
        """The panel without these systems, and a note that says so."""
        if not names:
            return self
        places = [place for place, name in enumerate(self.systems) if name not in names]
        return replace(
            self,
            systems=tuple(self.systems[place] for place in places),
            candidates=tuple(candidate.chosen(places) for candidate in self.candidates),
            human=self.human[places],
            ratings=None if self.ratings is None else self.ratings[places],
            notes=(*self.notes, f"left out ({reason}): {', '.join(names)}."),
        )


def panels(
    dataset: Dataset,
    metrics: Sequence[Metric],
    *,
    human: Sequence[Scores],
    granularities: Sequence[Granularity] = ("system",),
    scores: Sequence[Scores] = (),
    lower: Sequence[str] = (),
    rounding: Rounding | None = None,
    humans: Humans = "out",
    pair: str = "",
    track: Track = untracked,
) -> Iterator[Panel]:
    """One panel per granularity and kind of human score.

    `scores` are metrics that were computed elsewhere; `lower` names those, and the human scores, of
    which less is better.
    """
    people = human_outputs(dataset)
    machines = without_humans(dataset) if humans == "out" else dataset
    systems = list(machines.systems)
    steps = (system_statistics(machines, metric) for metric in metrics)
    statistics = list(track(steps, total=len(metrics)))
    imported = [own.select(systems) for own in scores]
    for granularity in granularities:
        candidates = [
            *computed(machines, metrics, statistics, granularity=granularity),
            *(given(own, machines, granularity=granularity, lower=lower) for own in imported),
        ]
        _check_titles(candidates)
        tested = rounding.apply(candidates) if rounding else tuple(candidates)
        fitting = human_at([own.select(systems) for own in human], granularity, machines.documents)
        for chosen in fitting:
            name = chosen.scores.name
            sign = -1.0 if name in lower else 1.0
            yield Panel(
                pair=pair,
                granularity=granularity,
                human_name=name,
                systems=tuple(systems),
                candidates=tested,
                human=sign * chosen.scores.values,
                ratings=None if chosen.ratings is None else sign * chosen.ratings,
                source=chosen.source,
                ratings_source=chosen.ratings_source,
                notes=tuple(_notes(machines, chosen, people, tested)),
            )


def outliers(scores: Array, *, cutoff: float = CUTOFF) -> Mask:
    """Which of the systems' human scores lie far from the median.

    Nobody where more than half of the scores are equal: the rule says nothing then. Unknown
    scores are no outliers.

    >>> outliers(np.array([0.1, 0.2, 0.15, 0.12, -2.0])).tolist()
    [False, False, False, False, True]
    """
    known = scores[~np.isnan(scores)]
    if not len(known):
        return np.zeros(len(scores), bool)
    middle = np.median(known)
    deviation = CONSISTENT * float(np.median(np.abs(known - middle)))
    distance = np.abs(np.where(np.isnan(scores), middle, scores) - middle)
    return np.asarray((deviation > 0) & (distance > cutoff * deviation))


def chosen_metrics(
    metrics: MetricChoice,
    dataset: Dataset,
    scores: Sequence[Scores] = (),
    default: Sequence[str] = METRICS,
) -> list[Metric]:
    """The metrics, ready for the dataset's languages; by default none beside `scores`."""
    if metrics is None:
        metrics = [] if scores else default
    if not isinstance(metrics, str | Metric | Sequence):
        return list(metrics(dataset))
    selection = select_metrics([metrics] if isinstance(metrics, str | Metric) else metrics, dataset)
    for note in selection.notes:
        warnings.warn(note, stacklevel=3)
    return selection.metrics


def _check_titles(candidates: Sequence[Candidate]) -> None:
    titles = [candidate.title for candidate in candidates]
    if twice := next((title for title in titles if titles.count(title) > 1), None):
        raise DataError(f"{twice} is given twice; leave one out.")


def _notes(
    dataset: Dataset, human: HumanScores, people: Sequence[str], candidates: Sequence[Candidate]
) -> list[str]:
    """Who is not compared, who is not a machine, and what metrics compare with."""
    unmatched = [name for name in human.read.unmatched if name not in people]
    out = [name for name in people if name not in dataset.systems]
    within = [name for name in people if name in dataset.systems]
    notes = []
    if unmatched:
        notes.append(f"left out (rated, but no output here): {', '.join(unmatched)}.")
    if out:
        notes.append(f"left out (human translations): {', '.join(out)}.")
    if within:
        notes.append(
            f"human translations, left in: {', '.join(within)}. One that is a reference scores "
            "perfectly against itself."
        )
    if dataset.reference_names and any(candidate.signature for candidate in candidates):
        notes.append(f"reference: {', '.join(dataset.reference_names)}.")
    return notes


@dataclass(frozen=True, eq=False)
class HumanScores:
    """One kind of human scores at one granularity; those of segments besides, if there are any.

    `read` are the scores as they were read, of segments perhaps; `scores` those compared with.
    """

    read: Scores
    scores: Scores
    ratings: Array | None
    source: str
    ratings_source: str = ""


def human_at(
    human: Sequence[Scores], granularity: Granularity, documents: Sequence[str]
) -> list[HumanScores]:
    """Every kind of human score at this granularity.

    Those that were given so come first; of what is known for segments only, the mean over a
    system's or document's rated segments is taken, and said.
    """
    by_name: dict[str, dict[Granularity, Scores]] = {}
    for scores in human:
        known = by_name.setdefault(scores.name, {})
        if known.setdefault(scores.granularity, scores) is not scores:
            raise DataError(
                f"{scores.source} and {known[scores.granularity].source} are both human scores "
                f"called {scores.name!r} at {scores.granularity} level; rename one."
            )
    kinds = [_human_at(known, granularity, documents) for known in by_name.values()]
    fitting = [kind for kind in kinds if kind is not None]
    if not fitting:
        there = ", ".join(f"{scores.name} ({scores.granularity})" for scores in human)
        raise DataError(f"no human scores fit {granularity} level: there are {there}.")
    return fitting


def _human_at(
    known: Mapping[Granularity, Scores], granularity: Granularity, documents: Sequence[str]
) -> HumanScores | None:
    segments = known.get("segment")
    ratings = segments.values if segments else None
    rated = segments.source if segments else ""
    if granularity in known:
        own = known[granularity]
        return HumanScores(own, own, ratings, own.source, rated)
    scores = segments and scores_at(segments, granularity, documents)
    if not segments or not scores:
        return None
    return HumanScores(segments, scores, ratings, f"means of the rated segments in {rated}", rated)


def scores_at(
    scores: Scores, granularity: Granularity, documents: Sequence[str] = ()
) -> Scores | None:
    """The scores of documents or systems: means over rated segments; None where that cannot be."""
    if scores.granularity == granularity:
        return scores
    if scores.granularity != "segment":
        return None
    if granularity == "system":
        averages = means(scores.values)[:, None]
        return replace(scores, granularity=granularity, items=("",), values=averages)
    if not documents:
        raise MissingInput("documents", "document level needs document ids")
    names, weights = groups(documents)
    known = ~np.isnan(scores.values)
    total, count = weights @ np.where(known, scores.values, 0.0).T, weights @ known.T
    values = np.where(count > 0, divide(total, count), np.nan).T
    return replace(scores, granularity=granularity, items=names, values=values)


def computed(
    dataset: Dataset,
    metrics: Sequence[Metric],
    statistics: Sequence[Sequence[Statistics]] | None = None,
    *,
    granularity: Granularity,
) -> list[Candidate]:
    """Every metric's scores of the systems' texts, documents or segments.

    `statistics`, per metric and system, saves counting again for a second granularity. Segments
    are scored as `Metric.for_segments` says.
    """
    counted = statistics or [system_statistics(dataset, metric) for metric in metrics]
    if granularity == "segment":
        counted = [[each.for_segments() for each in own] for own in counted]
    signed = signatures(dataset, [own[0].metric for own in counted])
    return [
        Candidate(
            name=metric.requested,
            title=title,
            scores=np.array([_scores(system, dataset, granularity) for system in own]),
            lower=not metric.higher_is_better,
            statistics=tuple(own),
            signature=signature,
        )
        for metric, title, own, signature in zip(
            metrics, labels(metrics), counted, signed, strict=True
        )
    ]


def signatures(dataset: Dataset, metrics: Sequence[Metric]) -> list[str]:
    """How each metric is computed, and from how many references."""
    count = reference_count(dataset.references)
    return [
        f"{metric.title}|{metric.signature(count if metric.needs_references else None)}"
        for metric in metrics
    ]


def given(
    scores: Scores, dataset: Dataset, *, granularity: Granularity, lower: Sequence[str] = ()
) -> Candidate:
    """A metric's scores from elsewhere; those of segments are averaged where need be."""
    fitting = scores_at(scores, granularity, dataset.documents)
    if fitting is None:
        raise DataError(
            f"{scores.name}: scores of {scores.granularity}s cannot be compared at {granularity} "
            "level. Scores of segments fit every level."
        )
    turned = scores.name in lower or lower_is_better(scores.name, fitting.values)
    segments = scores.values if scores.granularity == "segment" else ()
    statistics = tuple(Mean(scores.name).of(values) for values in segments)
    return Candidate(scores.name, scores.name, fitting.values, turned, statistics)


def lower_is_better(name: str, values: Array) -> bool:
    """Whether a metric of that name counts errors; not where they are negative already.

    >>> lower_is_better("TER-refA", np.array([[42.0]]))
    True
    """
    if (values < 0).any():
        return False
    try:
        return not parse(re.split(r"[-_. ]", name.lower())[0]).higher_is_better
    except DataError:
        return False


def _scores(statistics: Statistics, dataset: Dataset, granularity: Granularity) -> Array:
    if granularity == "system":
        return np.array([statistics.corpus()])
    if granularity == "segment":
        return statistics.segments()
    if not dataset.documents:
        raise MissingInput("documents", "document level needs document ids")
    return statistics.score(groups(dataset.documents).weights)


def _known(statistics: Statistics) -> Mask:
    """What can be computed from text is known; of what was given, what is not `nan`."""
    if isinstance(statistics.metric, Mean):
        return np.asarray(np.asarray(statistics.rows)[:, 1] > 0)
    return np.ones(len(statistics), bool)


@dataclass(frozen=True)
class Rounding:
    """Decimals for all metrics, and for some of them other decimals; None is not rounded."""

    decimals: int | None = None
    by_metric: Mapping[str, int] = field(default_factory=dict)

    def apply(self, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
        """The metrics with rounded scores."""
        for name in self.by_metric:
            if not any(_goes_by(candidate, name) for candidate in candidates):
                titles = [candidate.title for candidate in candidates]
                known = ", ".join(titles)
                raise DataError(
                    f"rounding: no metric {name!r}{did_you_mean(name, titles)} among {known}."
                )
        return tuple(self._apply(candidate) for candidate in candidates)

    def _apply(self, candidate: Candidate) -> Candidate:
        own = [value for name, value in self.by_metric.items() if _goes_by(candidate, name)]
        decimals = own[0] if own else self.decimals
        if decimals is None:
            return candidate
        return replace(candidate, scores=as_printed(candidate.scores, decimals))


def as_printed(scores: Array, decimals: int) -> Array:
    """The scores as they read when printed with so many decimals.

    >>> as_printed(np.array([[31.25, 31.35]]), 1).tolist()
    [[31.2, 31.4]]
    """
    # NumPy multiplies before it rounds, so that halves may fall to the other side.
    rounded = [round(score, decimals) for score in scores.ravel().tolist()]
    return np.array(rounded, float).reshape(scores.shape)


def _goes_by(candidate: Candidate, name: str) -> bool:
    """Whether a metric is meant: by its title, its settings, or a short form of these."""
    if name.lower() in (candidate.name.lower(), candidate.title.lower()):
        return True
    try:
        return str(parse(name)) == (candidate.resolved or candidate.name)
    except DataError:
        return False
