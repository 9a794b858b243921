"""The variant of MuLER that is a mean of sentences' ratios, on scores given by hand."""

import math

import numpy as np
import pytest

from assay.decomposition.analysis import by_sentence
from assay.decomposition.decompose import Parts
from assay.metrics.mean import Mean

GIVEN = Mean("given")


def per_sentence(*sentences):
    """Of sentences given as (plain, oracle, anti-oracle)."""
    columns = np.array(sentences, float).reshape(-1, 3).T
    return by_sentence(Parts(np.arange(len(sentences)), *map(GIVEN.of, columns)), GIVEN)


def test_a_sentence_gains_its_share_of_what_there_is_to_gain():
    assert per_sentence((40, 50, 30)) == (0.5, 0, 0)
    assert per_sentence((40, 50, 30), (45, 50, 30), (50, 50, 30)).ratio == pytest.approx(0.75 / 3)


def test_a_sentence_that_gains_all_there_is_counts_in_full():
    assert per_sentence((30, 50, 30)).ratio == 1
    assert per_sentence((30 - 4e-8, 50, 30)).ratio == pytest.approx(1)  # but for rounding


def test_a_sentence_that_gains_more_than_there_is_counts_nothing():
    assert per_sentence((29.99, 50, 30)) == (0, 0, 0)
    assert per_sentence((29.99, 50, 30), (40, 50, 30)).ratio == 0.25


def test_sentences_that_lose_by_the_oracle_are_negative_and_those_without_spread_undefined():
    assert per_sentence((51, 50, 30), (50, 50, 50), (40, 50, 50)) == (0, 1, 2)
    assert per_sentence((50 + 4e-8, 50, 30), (50, 50, 50 - 4e-8)) == (0, 0, 1)


def test_no_sentences_have_no_ratio():
    ratio, *counts = per_sentence()
    assert math.isnan(ratio)
    assert counts == [0, 0]
