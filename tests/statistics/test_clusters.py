"""Rank clusters: WMT's lines between systems."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data import DataError
from assay.metrics.bleu import BLEU
from assay.metrics.ter import TER
from assay.statistics.significance import rank_clusters


def matrix(count, *pairs):
    """Every pair differs significantly, but for these."""
    differ = ~np.eye(count, dtype=bool)
    for i, j in pairs:
        differ[i, j] = differ[j, i] = False
    return differ


def slow_clusters(scores, differ):
    """A system's cluster is one more than the lines above it, each tried by brute force."""
    better = {
        i: {j for j in range(len(scores)) if scores[j] > scores[i]} for i in range(len(scores))
    }
    found = []
    for i in range(len(scores)):
        lines = 0
        for cut in {scores[j] for j in better[i]}:
            above = [j for j in range(len(scores)) if scores[j] >= cut]
            below = [j for j in range(len(scores)) if scores[j] < cut]
            lines += all(differ[a, b] for a in above for b in below)
        found.append(lines + 1)
    return found


def test_systems_that_all_differ_have_a_cluster_each():
    assert rank_clusters([1.0, 3.0, 2.0], matrix(3)) == [3, 1, 2]


def test_systems_that_do_not_differ_share_one_cluster():
    assert rank_clusters([1.0, 3.0, 2.0], np.zeros((3, 3), bool)) == [1, 1, 1]


def test_one_pair_across_a_line_removes_it():
    assert rank_clusters([4.0, 3.0, 2.0, 1.0], matrix(4)) == [1, 2, 3, 4]
    assert rank_clusters([4.0, 3.0, 2.0, 1.0], matrix(4, (1, 2))) == [1, 2, 2, 3]
    assert rank_clusters([4.0, 3.0, 2.0, 1.0], matrix(4, (0, 2))) == [1, 1, 1, 2]
    assert rank_clusters([4.0, 3.0, 2.0, 1.0], matrix(4, (0, 3))) == [1, 1, 1, 1]


def test_where_lower_is_better_the_lowest_is_first():
    assert rank_clusters(TER().oriented(np.array([1.0, 3.0, 2.0])), matrix(3)) == [1, 3, 2]


def test_no_line_stands_between_equal_scores():
    assert rank_clusters([2.0, 1.0, 2.0], matrix(3)) == [1, 2, 1]
    assert rank_clusters([2.0, 1.0, 2.0], matrix(3, (0, 1))) == [1, 1, 1]
    assert rank_clusters([2.0, 1.0, 2.0], matrix(3, (2, 1))) == [1, 1, 1]


@pytest.mark.parametrize("metric", [BLEU(), TER()], ids=str)
def test_unknown_scores_come_last_and_leave_the_others_alone(metric):
    nan = math.nan
    differ = matrix(4, (0, 1), (0, 3), (1, 2), (1, 3), (0, 2))
    scores = [nan, nan, 3.0, 2.0] if metric.higher_is_better else [nan, nan, -3.0, -2.0]
    assert rank_clusters(metric.oriented(np.array(scores)), differ) == [3, 3, 1, 2]
    assert rank_clusters([nan, nan], np.zeros((2, 2), bool)) == [1, 1]


def test_no_systems_have_no_clusters():
    assert rank_clusters([], np.zeros((0, 0), bool)) == []
    assert rank_clusters([7.0], np.zeros((1, 1), bool)) == [1]


@pytest.mark.parametrize("differ", [np.zeros((3, 3), bool), np.triu(np.ones((2, 2), bool))])
def test_a_matrix_of_another_size_or_of_two_minds_is_an_error(differ):
    with pytest.raises(DataError, match="symmetric 2 x 2 matrix"):
        rank_clusters([1.0, 2.0], differ)


@st.composite
def ranked_systems(draw):
    count = draw(st.integers(1, 7))
    scores = draw(
        st.lists(st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0]), min_size=count, max_size=count)
    )
    pairs = [(i, j) for i in range(count) for j in range(i)]
    alike = draw(st.lists(st.sampled_from(pairs), max_size=3)) if pairs else []
    return scores, matrix(count, *alike)


@given(ranked_systems())
def test_clusters_are_those_found_by_brute_force(systems):
    scores, differ = systems
    assert rank_clusters(scores, differ) == slow_clusters(scores, differ)


@given(ranked_systems(), st.randoms())
def test_clusters_do_not_depend_on_the_order_of_systems(systems, random):
    scores, differ = systems
    order = random.sample(range(len(scores)), len(scores))
    shuffled = rank_clusters([scores[i] for i in order], differ[np.ix_(order, order)])
    assert shuffled == [rank_clusters(scores, differ)[i] for i in order]


@given(ranked_systems())
def test_clusters_are_numbered_without_gaps_and_never_better_for_a_lower_score(systems):
    scores, differ = systems
    found = rank_clusters(scores, differ)
    assert sorted(set(found)) == list(range(1, max(found) + 1))
    ranked = [cluster for _, cluster in sorted(zip(scores, found, strict=True), reverse=True)]
    assert ranked == sorted(ranked)
