"""What became of systems from one campaign to the next, on the items that all campaigns share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, starmap
from typing import Literal, NamedTuple, TypedDict

import numpy as np

from assay.data import DataError
from assay.metrics.base import Array
from assay.suite.model import Item
from assay.suite.statistics.accuracy import Accuracies, Row, measured
from assay.suite.statistics.counting import Policy, counted
from assay.suite.statistics.first_cluster import Correction, Test
from assay.suite.statistics.gains import Gain, gains_of
from assay.suite.statistics.proportions import Exactness
from assay.suite.verdicts import Verdicts

__all__ = ["Average", "Flip", "Gain", "Paired", "Step", "Version", "Versions", "compare_versions"]

Average = Literal["micro", "category macro", "phenomenon macro"]
"""By which average the best system of a campaign is chosen."""

Paired = Literal["midp", "mcnemar"]
"""McNemar's test on the common items, with mid-p or exact."""


class Version(NamedTuple):
    """A system as it was in one campaign."""

    campaign: str
    system: str


@dataclass(frozen=True)
class Flip:
    """An item that passed only once: `gained` where it passes after, with both outputs."""

    item: Item
    gained: bool
    before: str
    after: str


@dataclass(frozen=True)
class Step:
    """From one version of a system to another: a gain per row, and the items that flipped.

    `gains` are in the order of `accuracy.Accuracies.rows`, `flips` in that of the items.
    """

    before: Version
    after: Version
    gains: tuple[Gain, ...]
    flips: tuple[Flip, ...]


@dataclass(frozen=True, eq=False)
class Versions:
    """Campaigns in order of time, compared on their common items.

    `every` has the accuracies of all systems of all campaigns; its systems are `versions`, in
    order, under names such as "UEdin (wmt20)". `best` has the best system of each campaign, one
    per campaign, with first clusters among them (Table 4 of the paper). `steps` are from each
    campaign to the next that the system took part in (Table 6), system by system; `best_steps`
    are from the best system of each campaign to that of the next.
    """

    campaigns: tuple[str, ...]
    versions: tuple[Version, ...]
    items: tuple[Item, ...]
    every: Accuracies
    best_versions: tuple[Version, ...]
    best: Accuracies
    steps: tuple[Step, ...]
    best_steps: tuple[Step, ...]


def compare_versions(
    campaigns: Mapping[str, Verdicts],
    *,
    policy: Policy = "fair",
    test: Paired = "midp",
    correct: Correction = "none",
    level: float = 0.95,
    best_by: Average = "category macro",
) -> Versions:
    """Two or more campaigns, the oldest first, by their names.

    Only items that all campaigns have are compared; under "fair", only those that are decided for
    all systems of all campaigns. Under other policies, a step is over the items that count before
    and after. Where several systems of a campaign are best, the first of them stands for them.
    `correct` is over the rows of a level: "none", "holm" or "bh". First clusters are corrected for
    the number of systems in any case.
    """
    if len(campaigns) < 2:
        raise DataError("one campaign: a comparison over time needs two or more.")
    versions = [Version(name, each) for name in campaigns for each in campaigns[name].systems]
    joint = _joined(campaigns, versions)
    counts = counted(joint, policy)
    clusters: Correction = "row" if correct == "none" else correct
    options: _Options = {"test": test, "correct": clusters, "level": level}
    every = measured(joint.systems, joint.items, counts, **options)
    best = _best(versions, every.row(best_by))
    names = [joint.systems[at] for at in best]
    stepped = partial(_step, joint, versions, counts.values, test=test, correct=correct)
    return Versions(
        campaigns=tuple(campaigns),
        versions=tuple(versions),
        items=joint.items,
        every=every,
        best_versions=tuple(versions[at] for at in best),
        best=measured(names, joint.items, counts.of(best), **options),
        steps=tuple(starmap(stepped, _pairs(versions))),
        best_steps=tuple(starmap(stepped, pairwise(best))),
    )


class _Options(TypedDict):
    test: Test
    correct: Correction
    level: float


def _joined(campaigns: Mapping[str, Verdicts], versions: Sequence[Version]) -> Verdicts:
    """All systems of all campaigns on the common items, which are those of the last campaign."""
    places = [{item.id: at for at, item in enumerate(v.items)} for v in campaigns.values()]
    last = [*campaigns.values()][-1]
    items = tuple(item for item in last.items if all(item.id in place for place in places))
    if not items:
        raise DataError(f"{', '.join(campaigns)}: no item is common to all of these campaigns.")
    cuts = [[place[item.id] for item in items] for place in places]
    parts = [*zip(campaigns.values(), cuts, strict=True)]
    return Verdicts(
        systems=tuple(f"{each.system} ({each.campaign})" for each in versions),
        items=items,
        codes=np.concatenate([part.codes[:, cut] for part, cut in parts]),
        by=[[row[at] for at in cut] for part, cut in parts for row in part.by],
        outputs=[[row[at] for at in cut] for part, cut in parts for row in part.outputs],
    )


def _best(versions: Sequence[Version], row: Row) -> list[int]:
    """The position of the best version of each campaign."""
    best: dict[str, int] = {}
    for at, version in enumerate(versions):
        other = best.setdefault(version.campaign, at)
        if row.accuracy[at] > row.accuracy[other] or math.isnan(row.accuracy[other]):
            best[version.campaign] = at
    return [*best.values()]


def _pairs(versions: Sequence[Version]) -> list[tuple[int, int]]:
    """Each system's campaigns, two by two in order, system by system."""
    places: dict[str, list[int]] = {}
    for at, version in enumerate(versions):
        places.setdefault(version.system, []).append(at)
    return [pair for each in places.values() for pair in pairwise(each)]


def _step(
    joint: Verdicts,
    versions: Sequence[Version],
    values: Array,
    before: int,
    after: int,
    *,
    test: Paired,
    correct: Correction,
) -> Step:
    pair = values[[before, after]]
    pair[:, np.isnan(pair).any(axis=0)] = np.nan
    flips = tuple(
        Flip(
            item=joint.items[at],
            gained=bool(pair[1, at] == 1),
            before=joint.outputs[before][at],
            after=joint.outputs[after][at],
        )
        for at in np.flatnonzero(np.abs(pair[1] - pair[0]) == 1).tolist()
    )
    method: Exactness = "exact" if test == "mcnemar" else "midp"
    gains = gains_of(joint.items, pair, method=method, correct=correct)
    return Step(versions[before], versions[after], gains, flips)
