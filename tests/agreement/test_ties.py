"""Accuracy with ties: windows and bounds against all thresholds and all swaps."""

import math

import numpy as np
import pytest

from assay.agreement import ties
from assay.agreement.agree import agree
from assay.agreement.coefficients import COEFFICIENTS
from assay.agreement.swaps import permutation_p
from assay.agreement.ties import calibrated, swapped_ties_p, tied_share
from assay.data import DataError
from tests.agreement import obvious


def scores(seed, shape, *, steps=None, missing=0.0):
    rng = np.random.default_rng(seed)
    human = rng.integers(0, 4, shape).astype(float)
    first, second = (human + rng.normal(size=shape) * noise for noise in (1.5, 1.7))
    if steps:
        first, second = np.round(first * steps) / steps, np.round(second * steps) / steps
    human[rng.random(shape) < missing] = np.nan
    return first, second, human


@pytest.fixture
def narrow(monkeypatch):
    """Few windows and short lists, so that windows are narrowed again and again."""
    monkeypatch.setattr(ties, "WINDOWS", 6)
    monkeypatch.setattr(ties, "CHUNK", 3)
    monkeypatch.setattr(ties, "LISTED", 20)
    monkeypatch.setattr(ties, "TRIALS", 30)


@pytest.mark.parametrize("steps", [None, 1, 3])
@pytest.mark.parametrize(("shape", "missing"), [((1, 25), 0.0), ((4, 12), 0.0), ((6, 9), 0.3)])
def test_the_threshold_is_the_best_of_all(shape, missing, steps, narrow):
    first, _, human = scores(1, shape, steps=steps, missing=missing)
    accuracy, epsilon = calibrated(first, human)
    best, negative = obvious.calibrated_accuracy(first, human, "system")
    assert accuracy == pytest.approx(best, abs=1e-12)
    assert epsilon == -negative


def test_one_search_in_usual_windows_gives_the_same(monkeypatch):
    first, _, human = scores(2, (3, 150))
    usual = calibrated(first, human)
    monkeypatch.setattr(ties, "WINDOWS", 4)
    monkeypatch.setattr(ties, "LISTED", 50)
    assert calibrated(first, human) == usual


def test_a_pair_of_scores_has_a_threshold_and_one_score_has_none():
    assert calibrated(np.array([[1.0, 3.0]]), np.array([[2.0, 2.0]])) == (1.0, 2.0)
    assert calibrated(np.array([[1.0, 3.0]]), np.array([[2.0, 5.0]])) == (1.0, 0.0)
    assert all(map(math.isnan, calibrated(np.array([[1.0, np.nan]]), np.array([[2.0, 5.0]]))))


def test_all_is_said_of_one_search():
    first, _, human = scores(3, (6, 20), missing=0.2)
    coefficient = COEFFICIENTS.parse("acc-eq")
    theirs = np.where(np.isnan(human), np.nan, human)
    found = coefficient.measure(first, theirs)
    assert found.value == coefficient.overall(first, theirs)
    assert found.epsilon == coefficient.epsilon(first, theirs)
    assert found.chance == coefficient.chance(first, theirs)
    assert found.groups == np.count_nonzero(~np.isnan(coefficient.each(first, theirs)))
    assert np.nanmean(coefficient.each(first, theirs)) == pytest.approx(found.value, abs=1e-12)
    shares = [
        np.mean([gap == 0 for _, gap in obvious.known_pairs(own, their)])
        for own, their in zip(first, theirs, strict=True)
    ]
    assert tied_share(first, theirs) == pytest.approx(np.mean(shares), abs=1e-12)


def slow_p(first, second, human, swaps):
    """All trials worked out, with every threshold tried."""

    def gap(mask):
        sides = obvious.swapped(first, second, np.broadcast_to(mask, first.shape))
        one, other = (obvious.calibrated_accuracy(side, human, "none")[0] for side in sides)
        return one - other

    observed = abs(gap(np.zeros(first.shape, bool)))
    reached = sum(abs(gap(mask)) >= observed - 1e-12 for mask in swaps)
    return (reached + 1) / (len(swaps) + 1)


@pytest.mark.parametrize("steps", [None, 1])
def test_trials_are_decided_as_if_all_were_worked_out(steps, narrow):
    first, second, human = scores(4, (2, 8), steps=steps)
    swaps = np.random.default_rng(1).random((40, 8)) < 0.5
    units = np.tile(np.arange(8), 2)[None]
    ours = swapped_ties_p(*(each.reshape(1, -1) for each in (first, second, human)), units, swaps)
    assert ours == slow_p(first, second, human, swaps)


def test_bounds_alone_decide_most_trials(monkeypatch):
    worked_out = []
    usual = ties._SwapTrials.accuracies
    monkeypatch.setattr(
        ties._SwapTrials, "accuracies", lambda *given: worked_out.append(1) or usual(*given)
    )
    first, second, human = scores(5, (6, 40))
    coefficient = COEFFICIENTS.parse("acc-eq")
    with_bounds = permutation_p(
        first, second, human, coefficient, trials=60, rng=np.random.default_rng(1)
    )
    assert len(worked_out) < 6
    monkeypatch.setattr(ties, "ROUNDS", 0)
    rng = np.random.default_rng(1)
    assert permutation_p(first, second, human, coefficient, trials=60, rng=rng) == with_bounds
    assert len(worked_out) >= 60


@pytest.mark.parametrize("name", ["pearson", "kendall", "wmt", "accuracy", "acc-eq"])
@pytest.mark.parametrize(
    ("by", "shape"), [("none", (4, 17)), ("system", (2, 66)), ("none", (30, 1))]
)
def test_large_groups_are_swapped_as_one_by_one(name, by, shape):
    first, second, human = scores(6, shape, steps=4, missing=0.1)
    coefficient, trials = COEFFICIENTS.parse(name), 25
    known = np.where(np.isnan(human), np.nan, 1.0)
    a, b = obvious.standardise(first * known), obvious.standardise(second * known)
    draws = (
        np.random.default_rng(7).random((trials, max(shape[1], shape[0] * (shape[1] == 1)))) < 0.5
    )
    masks = [np.broadcast_to(draw[:, None] if shape[1] == 1 else draw, shape) for draw in draws]

    def gap(x, y):
        return np.subtract(*(agree(each, human, coefficient, by=by).value for each in (x, y)))

    observed = abs(gap(a, b))
    reached = sum(abs(gap(*obvious.swapped(a, b, mask))) >= observed - 1e-12 for mask in masks)
    ours = permutation_p(
        first, second, human, coefficient, by=by, trials=trials, rng=np.random.default_rng(7)
    )
    assert ours == (reached + 1) / (trials + 1)


def test_what_would_take_hours_is_refused():
    many = np.zeros((1, 200_000))
    with pytest.raises(DataError, match="200,000 scores would take too long"):
        COEFFICIENTS.parse("acc-eq").overall(many, many)
