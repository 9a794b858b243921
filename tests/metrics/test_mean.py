"""The mean of scores that came from elsewhere, worked out by hand."""

import math

import numpy as np
import pytest

from assay.metrics.mean import Mean

GIVEN = Mean("people").of([4.0, math.nan, 1.0, 7.0])


def test_unrated_segments_are_left_out_of_the_mean():
    assert GIVEN.corpus() == 4
    assert GIVEN.without_each() == pytest.approx([4, 4, 5.5, 2.5])
    assert GIVEN.score(np.array([[1.0, 1, 0, 0], [0, 3, 1, 1]])).tolist() == [4, 4]


def test_where_nothing_is_rated_there_is_no_mean():
    assert GIVEN.segments() == pytest.approx([4, math.nan, 1, 7], nan_ok=True)
    assert np.isnan(GIVEN.score(np.array([[0.0, 2, 0, 0]]))).all()
