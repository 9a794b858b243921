"""Slow, obvious versions of what the package computes fast."""

from itertools import combinations

import numpy as np


def groups(matrix, by):
    """The groups within which (systems, items) scores are compared."""
    matrix = np.asarray(matrix, float)
    return {"item": list(matrix.T), "system": list(matrix), "none": [matrix.ravel()]}[by]


def known_pairs(metric, gold):
    """(metric difference, gold difference) of every pair with all four scores known."""
    known = [(m, g) for m, g in zip(metric, gold, strict=True) if not np.isnan(m + g)]
    return [(a[0] - b[0], a[1] - b[1]) for a, b in combinations(known, 2)]


def wmt_tau(metric, gold, by, gap=0.0):
    right = wrong = 0
    for m, g in zip(groups(metric, by), groups(gold, by), strict=True):
        for dm, dg in known_pairs(m, g):
            if abs(dg) > gap:
                if dm * dg > 0:
                    right += 1
                else:
                    wrong += 1
    return (right - wrong) / (right + wrong) if right + wrong else np.nan


def pairwise_accuracy(metric, gold):
    told = [(dm, dg) for dm, dg in known_pairs(metric, gold) if dg != 0]
    return np.mean([dm * dg > 0 for dm, dg in told]) if told else np.nan


def accuracy_with_ties(metric, gold, by, epsilon):
    """The mean over groups of the share of pairs ordered or tied alike."""
    shares = []
    for m, g in zip(groups(metric, by), groups(gold, by), strict=True):
        pairs = known_pairs(m, g)
        if pairs:
            said = [0 if abs(dm) <= epsilon else np.sign(dm) for dm, _ in pairs]
            shares.append(
                np.mean([s == np.sign(dg) for s, (_, dg) in zip(said, pairs, strict=True)])
            )
    return np.mean(shares) if shares else np.nan


def calibrated_accuracy(metric, gold, by):
    """Every threshold that can make a difference, tried one by one."""
    sizes = {0.0}
    for m, g in zip(groups(metric, by), groups(gold, by), strict=True):
        sizes |= {abs(dm) for dm, _ in known_pairs(m, g)}
    return max(
        ((accuracy_with_ties(metric, gold, by, e), -e) for e in sorted(sizes)),
        key=lambda each: (round(each[0], 12), each[1]),
    )


def standardise(scores):
    return (scores - np.nanmean(scores)) / np.nanstd(scores)


def swapped(first, second, mask):
    a, b = first.copy(), second.copy()
    for at in np.argwhere(mask):
        a[tuple(at)], b[tuple(at)] = second[tuple(at)], first[tuple(at)]
    return a, b
