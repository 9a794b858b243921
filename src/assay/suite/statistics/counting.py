"""Which items count: what becomes of warnings, and of items that a system was not tested on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError
from assay.metrics.base import Array
from assay.suite.verdicts import FAIL, NOT_TESTED, PASS, WARNING, Verdicts

__all__ = ["Costs", "Counted", "Policy", "costs", "counted"]

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
