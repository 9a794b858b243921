"""Agreement of people, with intervals."""

import math

import numpy as np
import pytest

from assay.statistics.correlation import cohens_kappa, krippendorff_alpha
from assay.suites.store.dealing import assign
from assay.suites.store.decisions import save_decision
from assay.suites.store.ratings import alpha, pair_agreements, ratings
from assay.suites.store.records import Ratings
from tests.suites.store.samples import number


def made(codes, items=None):
    codes = np.array(codes, float)
    size = codes.shape[1]
    names = tuple("abcdef"[: len(codes)])
    items = tuple(range(size)) if items is None else tuple(items)
    return Ratings(names, tuple(range(size)), codes, items, (("C", "P"),) * size)


def rng():
    return np.random.default_rng(1)


def as_verdicts(row):
    return [None if math.isnan(code) else "pass" if code else "fail" for code in row]


def test_coefficients_are_those_of_the_statistics():
    draw = np.random.default_rng(3)
    codes = draw.integers(0, 2, (3, 40)).astype(float)
    codes[draw.random((3, 40)) < 0.3] = np.nan
    verdicts = [as_verdicts(row) for row in codes]
    assert alpha(made(codes), rng=rng()).value == pytest.approx(krippendorff_alpha(verdicts))
    for pair, (i, j) in zip(
        pair_agreements(made(codes), rng=rng()), [(0, 1), (0, 2), (1, 2)], strict=True
    ):
        assert pair.kappa.value == pytest.approx(cohens_kappa(verdicts[i], verdicts[j]))
        assert pair.kappa.low < pair.kappa.value < pair.kappa.high


def test_what_cannot_be_known_is_unknown():
    (pair,) = pair_agreements(made([[1, 1], [1, 1]]), rng=rng())
    assert math.isnan(pair.kappa.value)
    assert math.isnan(alpha(made([[1, 1], [1, 1]]), rng=rng()).value)
    assert math.isnan(alpha(made(np.empty((0, 0))), rng=rng()).value)
    single = alpha(made([[1, 0], [1, 0]], items=[7, 7]), rng=rng())
    assert single.value == 1
    assert math.isnan(single.low)


def test_intervals_hold_the_true_value_in_most_studies():
    """50 items, two people who err independently: 95 % intervals hold the truth in 9 of 10."""
    draw, error, held, studies = np.random.default_rng(5), 0.15, 0, 200
    agree = (1 - error) ** 2 + error**2
    truth = 2 * agree - 1  # both give each answer half of the time
    for _ in range(studies):
        right = draw.integers(0, 2, 50)
        codes = [np.where(draw.random(50) < error, 1 - right, right) for _ in range(2)]
        found = alpha(made(codes), rng=draw)
        held += found.low <= truth <= found.high
    assert 0.88 <= held / studies <= 1


def test_ratings_know_their_phenomena(three):
    with three.write() as conn:
        assign(conn, 1, {"Ann": 1, "Ben": 1}, double=1, rng=rng())
        for person, choice in ((1, "pass"), (2, "fail")):
            save_decision(conn, number(three, "so a"), person, choice, seen=person - 1)
        save_decision(conn, number(three, "so c"), 1, "pass", seen=0)
        found = ratings(conn)
    assert found.people == ("Ann", "Ben")
    assert found.phenomena == (("C", "P"),)
    assert found.codes.tolist() == [[1], [0]]
    assert found.of("C", "P").outputs == found.outputs
    assert found.of("D", "P").outputs == ()
