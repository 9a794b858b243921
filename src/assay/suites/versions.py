"""What became of systems from one campaign to the next, on the items that all campaigns share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, starmap
from typing import Literal, NamedTuple, TypedDict

import numpy as np

from assay.data import Array, DataError
from assay.statistics.proportions import Exactness, sign_flips
from assay.suites.accuracy import Accuracies, AccuracyRow, Policy, counted, measured
from assay.suites.check import Verdicts
from assay.suites.clusters import (
    Correction,
    Level,
    Tally,
    Test,
    averaged,
    corrected,
    grouped,
    tally,
)
from assay.suites.model import Item

__all__ = [
    "Average",
    "Flip",
    "Gain",
    "Paired",
    "Step",
    "Version",
    "Versions",
    "as_versions",
    "compare_versions",
    "gains_of",
]


@dataclass(frozen=True)
class Gain:
    """A row of the table before and after: percentages over the same items, and their difference.

    `gained` and `lost` are how many items pass only after and only before. `p` is McNemar's, two-
    tailed, of macro-averages by sign flips; `p_corrected` takes the other rows of its level into
    account. `level`, `name` and `category` are as in `accuracy.Row`.
    """

    level: Level
    name: str
    category: str
    items: int
    before: float
    after: float
    gain: float
    gained: int
    lost: int
    p: float
    p_corrected: float


def gains_of(
    items: Sequence[Item], pair: Array, *, method: Exactness, correct: Correction
) -> tuple[Gain, ...]:
    """The gains from the first row of `pair` to the second: 1, 0 or, in both, `nan` per item.

    A macro-average is over the categories or phenomena that have items.
    """
    groups = grouped(items)
    table = tally(groups, pair)
    heads = [_GainHead(group.level, group.name, group.category) for group in groups]
    parts = [table.of([at]) for at in range(len(groups))]
    for macro, some in averaged(groups, table).items():
        heads.append(_GainHead(macro, f"{macro}-average", ""))
        parts.append(some)
    raw = np.array([_two_tailed(counts, method) for counts in parts])
    new = corrected(raw, [head.level for head in heads], correct)
    each = zip(heads, parts, raw.tolist(), new.tolist(), strict=True)
    return tuple(_gain(*one) for one in each)


class _GainHead(NamedTuple):
    level: Level
    name: str
    category: str


def _gain(head: _GainHead, counts: Tally, p: float, p_corrected: float) -> Gain:
    """The row of one group, or of the average over several."""
    items = int(counts.items[:, 0].sum())
    shares = (100 * counts.accuracy).mean(axis=0) if items else np.full(2, np.nan)
    before, after = shares.tolist()
    return Gain(
        *head,
        items=items,
        before=before,
        after=after,
        gain=after - before,
        gained=int(counts.won[:, 1, 0].sum()),
        lost=int(counts.won[:, 0, 1].sum()),
        p=p,
        p_corrected=p_corrected,
    )


def _two_tailed(counts: Tally, method: Exactness) -> float:
    """Twice the smaller tail, `nan` without items."""
    items = counts.items[:, 0]
    if not items.any():
        return math.nan
    gained, lost = counts.won[:, 1, 0], counts.won[:, 0, 1]
    tails = (sign_flips(*both, items, method=method) for both in ((gained, lost), (lost, gained)))
    return min(1.0, 2 * min(tails))


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
    versions = [Version(name, system) for name in campaigns for system in campaigns[name].systems]
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


def as_versions(verdicts: Verdicts, order: Sequence[str] = ()) -> dict[str, Verdicts]:
    """Each system as a campaign of its own, in this order: versions of one without a name."""
    places = [verdicts.systems.index(name) for name in order or verdicts.systems]
    return {
        verdicts.systems[at]: Verdicts(
            systems=("",),
            items=verdicts.items,
            codes=verdicts.codes[[at]],
            by=[verdicts.by[at]],
            outputs=[verdicts.outputs[at]],
        )
        for at in places
    }


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
        systems=tuple(f"{version.system} ({version.campaign})" for version in versions),
        items=items,
        codes=np.concatenate([part.codes[:, cut] for part, cut in parts]),
        by=[[row[at] for at in cut] for part, cut in parts for row in part.by],
        outputs=[[row[at] for at in cut] for part, cut in parts for row in part.outputs],
    )


def _best(versions: Sequence[Version], row: AccuracyRow) -> list[int]:
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
    return [pair for turns in places.values() for pair in pairwise(turns)]


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
