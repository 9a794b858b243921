"""What people say of every text of every system, and of the systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError
from assay.meta.gold import Chosen, Gold, choose
from assay.meta.sensitivity.resampling import deviations
from assay.meta.sensitivity.texts import Texts
from assay.metrics.base import Array, divide

__all__ = ["People", "people_of"]


@dataclass(frozen=True, eq=False)
class People:
    """One kind of human score.

    `scores` are (systems, texts) means of the rated segments, `nan` where none is; `counts` says
    how many those are, and `rated` which, (systems, segments). `quality` is the average of each
    system, from a file of its own where `given`, and then the same whatever texts are drawn.
    """

    name: str
    scores: Array
    counts: Array
    rated: NDArray[np.bool_]
    quality: Array
    given: bool = False
    notes: tuple[str, ...] = ()

    def quality_on(self, weights: Array) -> Array:
        """The quality of the systems where texts count so often: (b, texts) to (b, systems)."""
        if self.given:
            return np.broadcast_to(self.quality, (len(weights), len(self.quality)))
        return _average(weights, self.scores, self.counts)

    @property
    def spread(self) -> Array:
        """The standard deviation of each system's texts; `nan` for fewer than two."""
        return deviations(self.scores)


def people_of(golds: Sequence[Gold], texts: Texts) -> list[People]:
    """Every kind of human score that tells texts apart."""
    fitting = [each for each in golds if each.scores.level in _levels(texts)]
    if not fitting:
        raise DataError(_too_coarse(golds, texts))
    given = {each.scores.name: each for each in golds if each.scores.level == "system"}
    return [
        _people(each, texts, given.get(each.scores.name))
        for each in choose(fitting, "document", texts.labels)
    ]


def _levels(texts: Texts) -> tuple[str, ...]:
    return ("segment", "document") if texts.kind == "document" else ("segment",)


def _too_coarse(golds: Sequence[Gold], texts: Texts) -> str:
    known = ", ".join(f"{each.source} has scores of {each.scores.level}s" for each in golds)
    wanted = "segments (a column line) or documents (doc_id)"
    if texts.kind == "section":
        wanted = "segments (a column line), since sections are cut out of documents"
    return f"sensitivity needs human scores of {wanted}, but {known}. Name another with --human."


def _people(chosen: Chosen, texts: Texts, given: Gold | None) -> People:
    scores = chosen.scores.values
    rated, counts = _rated(chosen, texts)
    notes = [f"human scores: {chosen.source}."]
    if given is not None:
        notes.append(f"quality: {given.source}.")
        quality = given.scores.values[:, 0]
    else:
        quality = _average(np.ones((1, len(texts))), scores, counts)[0]
    return People(
        name=chosen.scores.name,
        scores=scores,
        counts=counts,
        rated=rated,
        quality=quality,
        given=given is not None,
        notes=tuple(notes),
    )


def _rated(chosen: Chosen, texts: Texts) -> tuple[NDArray[np.bool_], Array]:
    """Which segments people rated, and how many in each text; where only texts are, all of them."""
    known = ~np.isnan(chosen.scores.values)
    if chosen.ratings is None:
        return known[:, texts.places], known.astype(float)
    rated = ~np.isnan(chosen.ratings)
    counts = texts.totals(rated.astype(float))
    if chosen.gold.scores.level == "document":
        # A document with a score, but without rated segments, was read as a whole.
        whole = known & (counts == 0)
        rated, counts = rated | whole[:, texts.places], np.where(whole, 1.0, counts)
    return rated, counts


def _average(weights: Array, scores: Array, counts: Array) -> Array:
    """The mean over rated segments, (b, systems), with texts weighted by (b, texts)."""
    known = ~np.isnan(scores)
    counted = np.where(known, counts, 0.0)
    total = weights @ (counted * np.where(known, scores, 0.0)).T
    count = weights @ counted.T
    return np.where(count > 0, divide(total, count), np.nan)
