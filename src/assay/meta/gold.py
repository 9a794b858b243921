"""People's scores at the level that is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from assay.data import DataError
from assay.meta.grouping import means
from assay.metrics.base import Array, divide
from assay.scores import Level, Scores
from assay.weights import groups

__all__ = ["Chosen", "Gold", "choose", "gold_at"]


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
