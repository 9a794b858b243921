"""What metrics and people say of the same systems, side by side, for one language pair."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from assay.agreement.pairs import Mask, means
from assay.data import DataError, Dataset, Level, Scores
from assay.metrics.base import Metric, Statistics, reference_count
from assay.metrics.mean import Mean
from assay.registry import parse
from assay.scoring import labels, system_statistics
from assay.statistics.arrays import Array, divide
from assay.statistics.weights import groups

__all__ = [
    "Candidate",
    "Chosen",
    "Gold",
    "Panel",
    "choose",
    "computed",
    "given",
    "gold_at",
    "human_outputs",
    "is_human",
    "lower_is_better",
    "signatures",
    "without_humans",
]

_HUMAN = re.compile(r"(?:human|ref(?:erence)?)(?:[-_. ]?[a-z0-9])?(?:\.\d+)?", re.IGNORECASE)


def is_human(name: str) -> bool:
    """Whether a system is called as WMT calls translations by hand.

    >>> [is_human(name) for name in ("Human-B.0", "HUMAN", "refA", "ref-B", "refined-mt")]
    [True, True, True, True, False]
    """
    return _HUMAN.fullmatch(name) is not None


def human_outputs(dataset: Dataset) -> list[str]:
    """The systems that are people: by their name, or because they are one of the references."""
    references = _whole_references(dataset)
    return [
        name for name, lines in dataset.systems.items() if is_human(name) or lines in references
    ]


def without_humans(dataset: Dataset) -> Dataset:
    """The dataset with machines only."""
    humans = human_outputs(dataset)
    systems = {name: each for name, each in dataset.systems.items() if name not in humans}
    if not systems:
        raise DataError(
            f"all systems are human translations ({', '.join(humans)[:200]}): "
            "keep them with --humans in."
        )
    return replace(dataset, systems=systems)


def _whole_references(dataset: Dataset) -> list[tuple[str, ...]]:
    """The reference sets that have a line for every segment."""
    fewest = min(map(len, dataset.references), default=0)
    return [tuple(each[at] for each in dataset.references) for at in range(fewest)]


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
            return np.array([each.corpus() for each in self.statistics])
        return means(self.scores)

    def known_segments(self) -> Mask:
        """Of which segments the scores are known, (systems, segments)."""
        return np.array([_known(each) for each in self.statistics])

    def chosen(self, places: Sequence[int]) -> Candidate:
        """The same metric on some of the systems."""
        statistics = tuple(self.statistics[at] for at in places) if self.statistics else ()
        return replace(self, scores=self.scores[list(places)], statistics=statistics)


@dataclass(frozen=True, eq=False)
class Panel:
    """Metrics and one kind of human scores, on the same systems and items.

    `gold` is (systems, items), more is better. `ratings` are people's scores of segments,
    (systems, segments), where they are known besides. `source` says where people's scores come
    from, `ratings_source` where those of segments do, `notes` what was left out, and why.
    """

    pair: str
    level: Level
    gold_name: str
    systems: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    gold: Array
    ratings: Array | None = None
    source: str = ""
    notes: tuple[str, ...] = ()
    ratings_source: str = ""

    def gold_of_systems(self) -> Array:
        """One human score per system: the only one, or the mean over items."""
        return means(self.gold)

    def without(self, names: Sequence[str], reason: str) -> Panel:
        """The panel without these systems, and a note that says so."""
        if not names:
            return self
        places = [at for at, name in enumerate(self.systems) if name not in names]
        return replace(
            self,
            systems=tuple(self.systems[at] for at in places),
            candidates=tuple(each.chosen(places) for each in self.candidates),
            gold=self.gold[places],
            ratings=None if self.ratings is None else self.ratings[places],
            notes=(*self.notes, f"left out ({reason}): {', '.join(names)}."),
        )


def _known(statistics: Statistics) -> Mask:
    """What can be computed from text is known; of what was given, what is not `nan`."""
    if isinstance(statistics.metric, Mean):
        return np.asarray(np.asarray(statistics.rows)[:, 1] > 0)
    return np.ones(len(statistics), bool)


@dataclass(frozen=True, eq=False)
class Gold:
    """Human scores from a file; `strangers` are rated there, but have no output here."""

    scores: Scores
    source: str
    strangers: tuple[str, ...] = ()


class Chosen(NamedTuple):
    """Human scores at one level; those of segments besides, where there are any."""

    gold: Gold
    scores: Scores
    ratings: Array | None
    source: str
    ratings_source: str = ""


def choose(golds: Sequence[Gold], level: Level, documents: Sequence[str]) -> list[Chosen]:
    """Every kind of human score at this level.

    Those that were given at this level come first; of what is known for segments only, the mean
    over a system's or document's rated segments is taken, and said.
    """
    by_name: dict[str, dict[Level, Gold]] = {}
    for gold in golds:
        levels = by_name.setdefault(gold.scores.name, {})
        if levels.setdefault(gold.scores.level, gold) is not gold:
            other = levels[gold.scores.level].source
            raise DataError(
                f"{gold.source} and {other} are both human scores called {gold.scores.name!r} "
                f"at {gold.scores.level} level; rename one."
            )
    found = [_chosen(levels, level, documents) for levels in by_name.values()]
    chosen = [each for each in found if each is not None]
    if not chosen:
        known = ", ".join(f"{gold.scores.name} ({gold.scores.level})" for gold in golds)
        raise DataError(f"no human scores fit {level} level: there are {known}.")
    return chosen


def gold_at(scores: Scores, level: Level, documents: Sequence[str] = ()) -> Scores | None:
    """The scores at another level: means over rated segments; None where that cannot be."""
    if scores.level == level:
        return scores
    if scores.level != "segment":
        return None
    if level == "system":
        return replace(scores, level=level, items=("",), values=means(scores.values)[:, None])
    if not documents:
        raise DataError("document level needs document ids: give them with --docs FILE.")
    names, weights = groups(documents)
    known = ~np.isnan(scores.values)
    total, count = (weights @ each.T for each in (np.where(known, scores.values, 0.0), known))
    values = np.where(count > 0, divide(total, count), np.nan).T
    return replace(scores, level=level, items=names, values=values)


def _chosen(levels: dict[Level, Gold], level: Level, documents: Sequence[str]) -> Chosen | None:
    segments = levels.get("segment")
    ratings = segments.scores.values if segments else None
    rated = segments.source if segments else ""
    if level in levels:
        gold = levels[level]
        return Chosen(gold, gold.scores, ratings, gold.source, rated)
    scores = segments and gold_at(segments.scores, level, documents)
    if not segments or not scores:
        return None
    return Chosen(segments, scores, ratings, f"means of the rated segments in {rated}", rated)


def computed(
    dataset: Dataset,
    metrics: Sequence[Metric],
    statistics: Sequence[Sequence[Statistics]] | None = None,
    *,
    level: Level,
) -> list[Candidate]:
    """Every metric's scores of the systems' texts, documents or segments.

    `statistics`, per metric and system, saves counting again for a second level.
    """
    counted = statistics or [system_statistics(dataset, metric) for metric in metrics]
    signed = signatures(dataset, metrics)
    return [
        Candidate(
            name=metric.requested,
            title=title,
            scores=np.array([_at_level(each, dataset, level) for each in own]),
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
    scores: Scores, dataset: Dataset, *, level: Level, lower: Sequence[str] = ()
) -> Candidate:
    """A metric's scores from a file; those of segments are averaged where need be."""
    fitting = gold_at(scores, level, dataset.documents)
    if fitting is None:
        raise DataError(
            f"{scores.name}: scores of {scores.level}s cannot be compared at {level} level. "
            "Scores of segments fit every level."
        )
    turned = scores.name in lower or lower_is_better(scores.name, fitting.values)
    segments = scores.values if scores.level == "segment" else ()
    statistics = tuple(Mean(scores.name).of(each) for each in segments)
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


def _at_level(statistics: Statistics, dataset: Dataset, level: Level) -> Array:
    if level == "system":
        return np.array([statistics.corpus()])
    if level == "segment":
        return statistics.segments()
    if not dataset.documents:
        raise DataError("document level needs document ids: give them with --docs FILE.")
    return statistics.score(groups(dataset.documents).weights)
