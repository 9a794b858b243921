"""How many items each system passes: by phenomenon, by category, and on average."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from assay.data import Array, DataError
from assay.suites.check import FAIL, NOT_TESTED, PASS, WARNING, Verdicts
from assay.suites.clusters import (
    Correction,
    Figures,
    Level,
    Test,
    against_best,
    averaged,
    best_of,
    corrected_pairs,
    grouped,
    macro_figures,
    plain_figures,
    tally,
)
from assay.suites.model import Item

__all__ = [
    "Accuracies",
    "AccuracyRow",
    "Correction",
    "Costs",
    "Counted",
    "Level",
    "Policy",
    "Test",
    "accuracies",
    "costs",
    "counted",
    "measured",
]

Policy = Literal["fair", "each", "fail", "pass"]
"""What counts for a system.

- "fair": items that are decided, pass or fail, for every system (the paper's).
- "each": all items that are decided for this system; systems are measured on different items.
- "fail", "pass": a warning counts as a fail, or as a pass.

An item that a system was not tested on never counts for it, and under "fair" for none.
"""


@dataclass(frozen=True, eq=False)
class Counted:
    """What counts: `values` is 1 for a pass, 0 for a fail and `nan` for what does not count.

    One row per system, one column per item. The tuples have one number per system: `items` count
    for it; `warned` do not because of a warning, `untested` because of a missing output, under
    "fair" of any system (an item with both is among the warned ones); `turned` are the warnings
    that the policy counts as fail or pass.
    """

    policy: Policy
    values: Array
    items: tuple[int, ...]
    warned: tuple[int, ...]
    untested: tuple[int, ...]
    turned: tuple[int, ...]

    @property
    def dropped(self) -> tuple[int, ...]:
        """How many items do not count, per system."""
        return tuple(map(sum, zip(self.warned, self.untested, strict=True)))

    def of(self, systems: Sequence[int]) -> Counted:
        """What counts for some of the systems, by their positions; no item comes back."""

        def some(numbers: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(numbers[at] for at in systems)

        return Counted(
            policy=self.policy,
            values=self.values[list(systems)],
            items=some(self.items),
            warned=some(self.warned),
            untested=some(self.untested),
            turned=some(self.turned),
        )


class Costs(NamedTuple):
    """How many items each system costs all systems under "fair", one number per system.

    `items` have a warning or no output of the system; `alone` are those of them that are decided
    for all others, and would count without it.
    """

    items: tuple[int, ...]
    alone: tuple[int, ...]


def costs(codes: NDArray[np.int8]) -> Costs:
    """What systems cost, by the codes of their verdicts: a row per system, a column per item."""
    undecided = (codes == WARNING) | (codes == NOT_TESTED)
    return Costs(_per_system(undecided), _per_system(undecided & (undecided.sum(axis=0) == 1)))


def counted(verdicts: Verdicts, policy: Policy = "fair") -> Counted:
    """The items that count under a policy, and how many it drops."""
    if policy not in get_args(Policy):
        raise DataError(f"policy {policy!r}: choose one of {', '.join(get_args(Policy))}.")
    codes = verdicts.codes
    warned, untested = codes == WARNING, codes == NOT_TESTED
    turned = warned & (policy in ("fail", "pass"))
    if policy == "fair":
        warned = np.broadcast_to(warned.any(axis=0), codes.shape)
        untested = np.broadcast_to(untested.any(axis=0), codes.shape)
    warned = warned & ~turned
    values = np.where(codes == PASS, 1.0, float(FAIL))
    values[turned] = float(policy == "pass")
    values[warned | untested] = np.nan
    return Counted(
        policy=policy,
        values=values,
        items=_per_system(~np.isnan(values)),
        warned=_per_system(warned),
        untested=_per_system(untested & ~warned),
        turned=_per_system(turned),
    )


def _per_system(which: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(which.sum(axis=1).tolist())


@dataclass(frozen=True)
class AccuracyRow:
    """One line of the table; what is a tuple has one value per system, in their order.

    `name` is the phenomenon's, the category's, or "micro-average", "category macro-average" and
    "phenomenon macro-average"; `category` is "" for averages. `items` counts the items that enter
    the row, `passed` those of them that passed. `accuracy`, `low` and `high` are percentages,
    `nan` where no item counts. `p` is that of the system being worse than the best of the row,
    `p_corrected` takes the other comparisons into account; both are `nan` for the best itself and
    for whom nothing counts. `groups` is how many categories or phenomena a macro-average is over,
    and 1 elsewhere.
    """

    level: Level
    name: str
    category: str
    items: tuple[int, ...]
    passed: tuple[int, ...]
    accuracy: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    p: tuple[float, ...]
    p_corrected: tuple[float, ...]
    first_cluster: tuple[bool, ...]
    groups: int = 1

    @property
    def size(self) -> int:
        """The most items that count for a system; under "fair" they are as many for all."""
        return max(self.items)

    @property
    def average(self) -> float:
        """The mean accuracy of the systems that have one, `nan` where none has."""
        known = [accuracy for accuracy in self.accuracy if not math.isnan(accuracy)]
        return sum(known) / len(known) if known else math.nan


@dataclass(frozen=True, eq=False)
class Accuracies:
    """All rows: every category, followed by its phenomena, and the three averages at the end.

    Categories and phenomena come in the order of the items.
    """

    systems: tuple[str, ...]
    rows: tuple[AccuracyRow, ...]
    counted: Counted
    test: Test
    correct: Correction
    level: float

    def at(self, *levels: Level) -> Iterator[AccuracyRow]:
        """The rows of these levels, in order."""
        return (row for row in self.rows if row.level in levels)

    def row(self, level: Level, name: str = "") -> AccuracyRow:
        """The first row of a level, or that with this name; `KeyError` where there is none."""
        for row in self.at(level):
            if name in (row.name, ""):
                return row
        raise KeyError((level, name))


def accuracies(
    verdicts: Verdicts,
    *,
    policy: Policy = "fair",
    test: Test = "midp",
    correct: Correction = "row",
    level: float = 0.95,
) -> Accuracies:
    """The accuracy of every system, row by row, with intervals and first clusters.

    Intervals hold the true accuracy with probability `level`: Wilson's, and `mean_interval` for
    macro-averages. The first cluster of a row has its best systems and those that are not worse
    by the `test` at `level`. `correct` makes up for comparing all pairs of systems, in the row or
    in all rows of one level (phenomenon, category, or one of the averages): which of them is the
    best is not known before. The paper's clusters are by test "z" and correction "none".

    A macro-average is over the categories or phenomena that have items for every system, but
    for systems that have none at all.
    """
    counts = counted(verdicts, policy)
    return measured(
        verdicts.systems, verdicts.items, counts, test=test, correct=correct, level=level
    )


def measured(
    systems: Sequence[str],
    items: Sequence[Item],
    counts: Counted,
    *,
    test: Test,
    correct: Correction,
    level: float,
) -> Accuracies:
    """The accuracies by what counts."""
    if not systems:
        raise DataError("no system: an accuracy needs at least one run on the suite.")
    _refuse_unknown("test", test, get_args(Test))
    _refuse_unknown("correction", correct, get_args(Correction))
    groups = grouped(items)
    table = tally(groups, counts.values)
    heads = [_RowHead(group.level, group.name, group.category, 1) for group in groups]
    parts = [plain_figures(table, test=test, level=level)]
    for macro, some in averaged(groups, table).items():
        heads.append(_RowHead(macro, f"{macro}-average", "", len(some.items)))
        parts.append(macro_figures(some, test=test, level=level))
    figures = Figures(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    rows = _rows(heads, figures, correct, level)
    return Accuracies(tuple(systems), rows, counts, test, correct, level)


class _RowHead(NamedTuple):
    """What a row says of itself before its figures."""

    level: Level
    name: str
    category: str
    groups: int


def _rows(
    heads: Sequence[_RowHead], figures: Figures, correct: Correction, level: float
) -> tuple[AccuracyRow, ...]:
    best = best_of(figures.accuracy)
    new = corrected_pairs(figures.pairs, [head.level for head in heads], correct)
    p, p_corrected = against_best(figures.pairs, best), against_best(new, best)
    # Whatever the test says, the best are in; an unknown p is not above anything.
    first = best | (p_corrected >= 1 - level)
    return tuple(
        AccuracyRow(
            level=head.level,
            name=head.name,
            category=head.category,
            items=_values(figures.items[at].astype(int)),
            passed=_values(figures.passed[at].astype(int)),
            accuracy=_values(100 * figures.accuracy[at]),
            low=_values(100 * figures.low[at]),
            high=_values(100 * figures.high[at]),
            p=_values(p[at]),
            p_corrected=_values(p_corrected[at]),
            first_cluster=_values(first[at]),
            groups=head.groups,
        )
        for at, head in enumerate(heads)
    )


def _values(row: NDArray[Any]) -> tuple[Any, ...]:
    return tuple(row.tolist())


def _refuse_unknown(what: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise DataError(f"{what} {value!r}: choose one of {', '.join(choices)}.")
