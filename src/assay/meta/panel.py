"""What metrics and people say of the same systems, side by side, for one language pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.meta.grouping import Mask, means
from assay.metrics.base import Array, Statistics
from assay.metrics.mean import Mean
from assay.scores import Level

__all__ = ["Candidate", "Panel"]


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
