"""What BERTScore gives to sentences that have nothing to do with each other, to rescale by it."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from assay.data import DataError
from assay.metrics.base import Array

__all__ = ["BUILT_IN", "Baseline", "baseline_of", "read_baseline", "write_baselines"]


class Baseline(NamedTuple):
    """Precision, recall and F1 that count as 0."""

    precision: float
    recall: float
    f1: float

    def rescale(self, scores: Array) -> Array:
        """Scores (..., 3), so that the baseline is 0 and 1 stays 1."""
        own = np.array(self)
        rescaled: Array = (scores - own) / (1 - own)
        return rescaled


BUILT_IN = {("minilm", 6): Baseline(0.1593, 0.1594, 0.1567)}
"""By model and layer; from 50,000 pairs among 3,500 English references of newstest2018."""


def baseline_of(
    score: Callable[[Sequence[str], Sequence[str]], Array],
    texts: Sequence[str],
    *,
    pairs: int = 10_000,
    rng: np.random.Generator,
) -> Baseline:
    """The mean (n, 3) scores of texts beside others, drawn at random."""
    known = list(dict.fromkeys(text for text in texts if text.strip()))
    if len(known) < 2:
        raise DataError("a baseline needs at least two different texts.")
    first = rng.integers(len(known), size=pairs)
    second = (first + rng.integers(1, len(known), size=pairs)) % len(known)
    scores = score([known[at] for at in first], [known[at] for at in second])
    return Baseline(*map(float, scores.mean(axis=0)))


def read_baseline(path: Path | str, layer: int) -> Baseline:
    """A layer's row of a file as bert_score has it: `LAYER,P,R,F` and a row per layer."""
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{path}: the baseline cannot be read ({reason}).") from None
    for number, row in enumerate(rows, 2):
        if found := _baseline(path, number, row, layer):
            return found
    raise DataError(f"{path}: no row for layer {layer}. A baseline file has one per layer.")


def write_baselines(path: Path | str, baselines: Mapping[int, Baseline]) -> None:
    """Such a file."""
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["LAYER", "P", "R", "F"])
        writer.writerows([layer, *values] for layer, values in sorted(baselines.items()))


def _baseline(path: Path | str, number: int, row: Mapping[str, str], layer: int) -> Baseline | None:
    try:
        own = int(row["LAYER"])
        found = Baseline(float(row["P"]), float(row["R"]), float(row["F"]))
    except (KeyError, TypeError, ValueError):
        raise DataError(
            f"{path}: line {number} is not a layer and its baseline. "
            "The first line is LAYER,P,R,F, and the others are numbers."
        ) from None
    if not all(-1 <= value < 1 for value in found):
        raise DataError(f"{path}: line {number}: a baseline is a number from -1 to below 1.")
    return found if own == layer else None
