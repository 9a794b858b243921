"""Agreement of annotators against statsmodels and the krippendorff package."""

import math

import krippendorff
import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa as statsmodels_kappa

from assay.statistics.correlation import cohens_kappa, krippendorff_alpha, pairwise_agreement

ANSWERS = ["pass", "fail", "skip"]


def decided(rng, annotators, outputs, missing):
    """Decisions that lean to a common truth, with gaps."""
    truth = rng.integers(3, size=outputs)
    rows = []
    for _ in range(annotators):
        own = np.where(rng.random(outputs) < 0.7, truth, rng.integers(3, size=outputs))
        gaps = rng.random(outputs) < missing
        rows.append([None if gap else ANSWERS[at] for at, gap in zip(own, gaps, strict=True)])
    return rows


def numbers(rows):
    table = [[math.nan if each is None else ANSWERS.index(each) for each in row] for row in rows]
    return np.array(table)


@pytest.mark.parametrize("seed", range(5))
def test_kappa_is_that_of_statsmodels(seed):
    first, second = decided(np.random.default_rng(seed), 2, 60, 0.3)
    table = np.zeros((3, 3))
    for a, b in zip(first, second, strict=True):
        if a and b:
            table[ANSWERS.index(a), ANSWERS.index(b)] += 1
    assert cohens_kappa(first, second) == pytest.approx(statsmodels_kappa(table).kappa)


def test_kappa_of_full_agreement_is_1_and_of_full_disagreement_negative():
    assert cohens_kappa(["p", "f", "p"], ["p", "f", "p"]) == 1
    assert cohens_kappa(["p", "f"], ["f", "p"]) == -1


def test_kappa_is_unknown_without_variation_or_shared_outputs():
    assert math.isnan(cohens_kappa(["p", "p"], ["p", "p"]))
    assert math.isnan(cohens_kappa(["p", None], [None, "f"]))
    assert math.isnan(cohens_kappa([], []))


def test_kappa_is_0_where_only_one_annotator_varies():
    assert cohens_kappa(["p", "f"], ["p", "p"]) == 0


@pytest.mark.parametrize("missing", [0, 0.3, 0.7])
@pytest.mark.parametrize("annotators", [2, 3, 6])
def test_alpha_is_that_of_the_krippendorff_package(annotators, missing):
    rows = decided(np.random.default_rng(annotators), annotators, 80, missing)
    expected = krippendorff.alpha(numbers(rows), level_of_measurement="nominal")
    assert krippendorff_alpha(rows) == pytest.approx(expected)


def test_alpha_is_unknown_without_variation_or_any_output_decided_twice():
    assert math.isnan(krippendorff_alpha([["p", "p"], ["p", "p"]]))
    assert math.isnan(krippendorff_alpha([["p", None], [None, "f"]]))
    assert math.isnan(krippendorff_alpha([["p", "f"]]))
    assert math.isnan(krippendorff_alpha([[], []]))
    assert math.isnan(krippendorff_alpha([]))


def test_pairs_of_annotators_come_with_what_they_share():
    rows = [["p", "f", "p", None], ["p", "p", "p", "f"], [None, None, None, "f"]]
    first, second = pairwise_agreement(rows)
    assert first[:4] == (0, 1, 3, 2)
    assert first.kappa == cohens_kappa(rows[0], rows[1])
    assert second[:4] == (1, 2, 1, 1)
    assert math.isnan(second.kappa)
