"""Slow, obvious versions of what the package computes fast."""

from itertools import combinations

import numpy as np


def groups(matrix, by):
    """The groups within which (systems, items) scores are compared."""
    matrix = np.asarray(matrix, float)
    return {"item": list(matrix.T), "system": list(matrix), "none": [matrix.ravel()]}[by]


def known_pairs(metric, human):
    """(metric difference, human difference) of every pair with all four scores known."""
    known = [(m, g) for m, g in zip(metric, human, strict=True) if not np.isnan(m + g)]
    return [(a[0] - b[0], a[1] - b[1]) for a, b in combinations(known, 2)]


def wmt_tau(metric, human, by, gap=0.0):
    right = wrong = 0
    for m, g in zip(groups(metric, by), groups(human, by), strict=True):
        for dm, dg in known_pairs(m, g):
            if abs(dg) > gap:
                if dm * dg > 0:
                    right += 1
                else:
                    wrong += 1
    return (right - wrong) / (right + wrong) if right + wrong else np.nan


def pairwise_accuracy(metric, human):
    told = [(dm, dg) for dm, dg in known_pairs(metric, human) if dg != 0]
    return np.mean([dm * dg > 0 for dm, dg in told]) if told else np.nan


def accuracy_with_ties(metric, human, by, epsilon):
    """The mean over groups of the share of pairs ordered or tied alike."""
    shares = []
    for m, g in zip(groups(metric, by), groups(human, by), strict=True):
        pairs = known_pairs(m, g)
        if pairs:
            said = [0 if abs(dm) <= epsilon else np.sign(dm) for dm, _ in pairs]
            shares.append(
                np.mean([s == np.sign(dg) for s, (_, dg) in zip(said, pairs, strict=True)])
            )
    return np.mean(shares) if shares else np.nan


def calibrated_accuracy(metric, human, by):
    """Every threshold that can make a difference, tried one by one."""
    sizes = {0.0}
    for m, g in zip(groups(metric, by), groups(human, by), strict=True):
        sizes |= {abs(dm) for dm, _ in known_pairs(m, g)}
    return max(
        ((accuracy_with_ties(metric, human, by, e), -e) for e in sorted(sizes)),
        key=lambda each: (round(each[0], 12), each[1]),
    )


def standardise(scores):
    return (scores - np.nanmean(scores)) / np.nanstd(scores)


def swapped(first, second, mask):
    a, b = first.copy(), second.copy()
    for at in np.argwhere(mask):
        a[tuple(at)], b[tuple(at)] = second[tuple(at)], first[tuple(at)]
    return a, b


def signs(segments, trials, seed):
    """The swaps of every trial, as the package draws them: -1 where two segments change places."""
    draws = np.random.default_rng(seed).random((trials, segments))
    return [[-1 if each < 0.5 else 1 for each in row] for row in draws]


def p_value(first, second, swaps, *, ties=0.5):
    """The one-sided p of the first system's segments being better than the second's.

    mt-metrics-eval counts all trials that reach what is observed (`ties=1`); we count half of
    those that only just do, so that the order of the systems does not matter.
    """
    gaps = [a - b for a, b in zip(first, second, strict=True)]
    observed, reached = sum(gaps), 0.0
    for row in swaps:
        delta = sum(sign * gap for sign, gap in zip(row, gaps, strict=True))
        if abs(delta - observed) < 1e-9:
            reached += ties
        elif delta > observed:
            reached += 1
    return reached / len(swaps)


def soft_accuracy(human, metric, *, trials, seed, ties=0.5):
    """One less the mean distance of the p of people and metric, over what is rated for both."""
    swaps = signs(len(human[0]), trials, seed)
    distances = []
    for i, j in combinations(range(len(human)), 2):
        rated = [
            at
            for at in range(len(human[0]))
            if not any(np.isnan(each[at]) for each in (human[i], human[j], metric[i], metric[j]))
        ]
        if rated:
            own = [[row[at] for at in rated] for row in swaps]
            p = [
                p_value([x[i][at] for at in rated], [x[j][at] for at in rated], own, ties=ties)
                for x in (human, metric)
            ]
            distances.append(abs(p[0] - p[1]))
    return 1 - sum(distances) / len(distances)
