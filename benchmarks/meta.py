"""How long it takes to find out how far a metric agrees with people.

Accuracy with ties against the obvious version: for every threshold, every pair. It is run on few
items and scaled up, since all of them would take hours. Then permutation tests of two metrics.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from assay.agreement.agree import agree, permutation_p
from assay.agreement.coefficients import COEFFICIENTS

SYSTEMS, ITEMS, FEW = 15, 1000, 40
TRIALS = 1000


def main() -> None:
    """Print one line per question."""
    gold, first, second = scores(ITEMS)
    coefficient = COEFFICIENTS.parse("acc-eq")
    ours = best_of(3, lambda: agree(first, gold, coefficient, by="item"))
    print(f"{SYSTEMS} systems x {ITEMS:,} segments")
    print(f"accuracy with ties: {ours:.3f} s")
    few_gold, few_first, _ = scores(FEW)
    start = time.perf_counter()
    slow = all_thresholds(few_first, few_gold)
    seconds = time.perf_counter() - start
    assert abs(slow - agree(few_first, few_gold, coefficient, by="item").value) < 1e-12
    vectorised = seconds * (ITEMS / FEW) ** 2
    print(
        f"  all pairs at every threshold, in numpy: {seconds:.2f} s for {FEW} segments, "
        f"about {vectorised:,.0f} s for all: {vectorised / ours:,.0f}x"
    )
    print(f"{TRIALS:,} permutations of two metrics, within segments:")
    for name in ("pearson", "kendall", "accuracy", "acc-eq"):
        start = time.perf_counter()
        permutation_p(
            first,
            second,
            gold,
            COEFFICIENTS.parse(name),
            by="item",
            trials=TRIALS,
            rng=np.random.default_rng(1),
        )
        print(f"  {name:9} {time.perf_counter() - start:6.2f} s")


def scores(items: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """People who give marks from 0 to 4, and two metrics that agree with them somewhat."""
    rng = np.random.default_rng(1)
    gold = rng.integers(0, 5, (SYSTEMS, items)).astype(float)
    return gold, gold + rng.normal(size=gold.shape) * 2, gold + rng.normal(size=gold.shape) * 2.1


def all_thresholds(metric: np.ndarray, gold: np.ndarray) -> float:
    """Every threshold that can matter, and every pair at each."""
    first, second = np.triu_indices(len(metric), 1)
    gaps, told = metric[first] - metric[second], np.sign(gold[first] - gold[second])
    return max(
        float((np.where(np.abs(gaps) <= epsilon, 0, np.sign(gaps)) == told).mean())
        for epsilon in (0.0, *np.abs(gaps).ravel())
    )


def best_of(times: int, work: Callable[[], object]) -> float:
    """The least seconds of several runs."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


if __name__ == "__main__":
    main()
