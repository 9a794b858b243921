"""The verdicts of several systems on the items of a suite, as one matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.suite.decide import Verdict
from assay.suite.model import Item

__all__ = ["FAIL", "NOT_TESTED", "PASS", "WARNING", "Verdicts", "code_of", "verdict_named"]

PASS, FAIL, WARNING, NOT_TESTED = 1, 0, -1, -2

_CODES: dict[Verdict, int] = {
    "pass": PASS,
    "fail": FAIL,
    "warning": WARNING,
    "not tested": NOT_TESTED,
}
_NAMES = {code: name for name, code in _CODES.items()}


@dataclass(frozen=True, eq=False)
class Verdicts:
    """One row per system, one column per item.

    `codes` holds PASS, FAIL, WARNING or NOT_TESTED; `by` names the rule or the person behind
    each, or None; `outputs` holds what was judged ("" where nothing was).
    """

    systems: tuple[str, ...]
    items: tuple[Item, ...]
    codes: NDArray[np.int8]
    by: Sequence[Sequence[str | None]]
    outputs: Sequence[Sequence[str]]


def code_of(verdict: Verdict) -> int:
    """The number of a verdict in the matrix."""
    return _CODES[verdict]


def verdict_named(code: int) -> Verdict:
    """The verdict of a number in the matrix."""
    return _NAMES[int(code)]
