"""Scores are values: equal where all they say is."""

from dataclasses import replace

import numpy as np
import pytest

from assay.data import DataError, Scores

VALUES = np.array([[1.0, np.nan], [3.0, 4.0]])
SCORES = Scores("mqm", "segment", ("a", "b"), ("1", "2"), VALUES)


def test_scores_are_equal_with_unknown_values_in_the_same_places():
    same = replace(SCORES, values=VALUES.copy())
    assert same == SCORES
    assert hash(SCORES) == hash(same)
    assert replace(SCORES, values=np.nan_to_num(VALUES)) != SCORES


@pytest.mark.parametrize(
    "change",
    [{"name": "da"}, {"granularity": "document"}, {"systems": ("b", "a")}, {"items": ("2", "1")}],
)
def test_scores_of_something_else_are_others(change):
    assert replace(SCORES, **change) != SCORES
    assert SCORES != "mqm"


def test_the_shape_is_checked_and_a_system_found_by_name():
    with pytest.raises(DataError, match=r"scores of 'mqm': shape \(2, 2\), expected \(1, 2\)"):
        replace(SCORES, systems=("a",))
    assert SCORES.of("b").tolist() == [3.0, 4.0]
