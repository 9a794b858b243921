"""Counts of types come as sparse rows, and every type comes back as it was."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import kernel


def test_type_counts_are_compressed_rows_of_three_columns_per_type():
    segments = [("b a b", ("b c", "b b b")), ("", ("",)), ("d", ("a",))]
    starts, columns, counts, names = kernel.type_counts(segments, "none", b"", False, 1, 1)
    assert names == ["a", "b", "c", "d"]
    assert starts.tolist() == [0, 9, 9, 15]
    assert columns.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2, 9, 10, 11]
    assert counts.tolist() == [1, 0, 0, 2, 3, 2, 0, 1, 0, 0, 1, 0, 1, 0, 0]
    assert (starts.dtype, columns.dtype, counts.dtype) == (np.int64, np.int32, np.int32)


def test_ngrams_of_words_are_joined_by_blanks_and_of_characters_by_nothing():
    segments = [("ab c", ("ab c",))]
    assert kernel.type_counts(segments, "none", b"", False, 1, 3)[3] == ["ab", "ab c", "c"]
    assert kernel.type_counts(segments, "none", b"", True, 2, 3)[3] == ["ab", "abc", "bc"]


def test_types_come_in_the_order_of_their_code_points():
    lines = [
        f"{chr(point)}x" for point in (0x41, 0x7F, 0xFF, 0x100, 0xD7FF, 0xE000, 0xFFFF, 0x10000)
    ]
    words = [*lines, "\ud800", "\udfff\ud800", "\U0010ffff", "a\x00b", "a\x00"]
    names = kernel.type_counts([(" ".join(words[::-1]), ("",))], "none", b"", False, 1, 1)[3]
    assert names == sorted(words)


@given(words=st.lists(st.text(st.characters(exclude_categories=()), min_size=1), max_size=6))
@settings(max_examples=200, deadline=None)
def test_any_type_comes_back_as_it_was(words):
    line = " ".join(words)
    names = kernel.type_counts([(line, (line[::-1],))], "none", b"", False, 1, 1)[3]
    assert names == sorted({*line.split(), *line[::-1].split()})


def type_rows(**changes):
    """Arguments of `type_scores` for two segments and two types, some of them changed."""
    arguments = {
        "weights": np.ones((1, 2)),
        "starts": np.array([0, 3, 9]),
        "columns": np.array([0, 1, 2, 0, 1, 2, 3, 4, 5], np.int32),
        "counts": np.array([1, 1, 1, 2, 1, 1, 0, 1, 0], np.int32),
        "width": 6,
        "beta_squared": 1.0,
        "by_frequency": False,
        "k": 1.0,
    }
    return arguments | changes


def test_type_scores_are_the_mean_f_over_types():
    # One type is predicted 3 times, wanted and matched twice; the other is only wanted.
    assert kernel.type_scores(**type_rows()).tolist() == pytest.approx([(2 * 2 / 5) / 2])
    weighted = kernel.type_scores(**type_rows(by_frequency=True, k=1.0))
    assert weighted.tolist() == pytest.approx([(3 * 2 * 2 / 5) / (3 + 2)])


@pytest.mark.parametrize(
    "changes",
    [
        {"weights": np.ones(2)},
        {"weights": np.ones((1, 3))},
        {"weights": None},
        {"starts": np.array([0, 3, 12])},
        {"starts": np.array([0, 12, 9])},
        {"starts": np.array([-3, 3, 9])},
        {"starts": np.array([0, 4, 9])},
        {"starts": np.zeros(0, np.int64)},
        {"columns": np.array([0, 1, 2, 0, 1, 2, 6, 7, 8], np.int32)},
        {"columns": np.array([0, 1, 2, -3, 1, 2, 3, 4, 5], np.int32)},
        {"columns": np.array([0, 1, 2, 1, 2, 3, 3, 4, 5], np.int32)},
        {"columns": np.zeros(3, np.int32)},
        {"counts": np.zeros(0, np.int32)},
        {"width": 3},
        {"width": 7},
        {"width": -3},
    ],
    ids=str,
)
def test_rows_of_types_that_do_not_fit_are_refused(changes):
    with pytest.raises((TypeError, ValueError)):
        kernel.type_scores(**type_rows(**changes))
