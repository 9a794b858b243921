"""How often do 95 % intervals hold what they should? Behind the default of each metric.

A large test set stands for the population. From it come many small test sets (without
replacement); the truth is their mean score, since MacroF1 depends on the size of the text. Every
small set gets an interval of each kind, and the share that holds the truth is printed.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from assay.io import read_folder
from assay.registry import parse
from assay.scoring import system_statistics
from assay.significance import bootstrap, interval

PROJECT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("ASSAY_DATA", PROJECT.parent / "shared" / "data"))
METHODS = ("percentile", "basic", "bca", "centred")
SIZE, SETS = 500, 200


def main() -> None:
    dataset = read_folder(DATA / "wmt18" / "de-en", "de-en")
    print(f"newstest2018 de-en, {SETS} sets of {SIZE} of {len(dataset)} segments, 95 % intervals")
    print(f"{'metric':8}{'system':>18}{'bias / SE':>11}" + "".join(f"{m:>12}" for m in METHODS))
    for name in ("bleu", "chrf", "ter", "macrof", "microf"):
        by_system = system_statistics(dataset, parse(name))
        for at in (7, 2):
            system = list(dataset.systems)[at]
            shares, bias = _coverage(by_system[at], np.random.default_rng(1))
            cells = "".join(f"{shares[method]:>12.3f}" for method in METHODS)
            print(f"{name:8}{system:>18}{bias:>11.2f}{cells}", flush=True)


def _coverage(population, rng) -> tuple[dict[str, float], float]:
    sets = [rng.choice(len(population), SIZE, replace=False) for _ in range(10 * SETS)]
    truth = np.mean([population[each].corpus() for each in sets])
    held = dict.fromkeys(METHODS, 0)
    biases = []
    for each in sets[:SETS]:
        sample = population[each]
        replicates = bootstrap([sample], resamples=1000, rng=rng)[0]
        jackknife, observed = sample.without_each(), sample.corpus()
        for method in METHODS:
            found = interval(observed, replicates, method=method, jackknife=jackknife)
            held[method] += found.low <= truth <= found.high
        biases.append((replicates.mean() - observed) / replicates.std())
    return {method: count / SETS for method, count in held.items()}, float(np.mean(biases))


if __name__ == "__main__":
    main()
