"""The word mover's distance is the optimum of the linear programme."""

import numpy as np
import pytest

from assay.metrics.neural.xmover import movers_distance, ngram_vectors
from tests.metrics.neural.tiny import needs_models

pytestmark = needs_models
SIZES = [(1, 1), (1, 6), (7, 1), (5, 5), (4, 9), (13, 6)]


def programme(a, b):
    """The same by linear programming: flows from every row of a to every row of b."""
    from scipy.optimize import linprog

    costs = np.array([[np.linalg.norm(x - y) for y in b] for x in a])
    n, m = costs.shape
    leaving = np.kron(np.eye(n), np.ones(m))
    arriving = np.kron(np.ones(n), np.eye(m))
    weights = np.concatenate([np.full(n, 1 / n), np.full(m, 1 / m)])
    found = linprog(costs.ravel(), A_eq=np.vstack([leaving, arriving]), b_eq=weights)
    assert found.success
    return found.fun


def vectors(size, seed):
    return np.random.default_rng(seed).normal(size=(size, 8))


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_the_distance_equals_linear_programming(n, m):
    a, b = vectors(n, 1), vectors(m, 2)
    assert movers_distance(a, b) == pytest.approx(programme(a, b), abs=1e-9)


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_the_distance_is_the_same_both_ways_and_nothing_to_itself(n, m):
    a, b = vectors(n, 3), vectors(m, 4)
    assert movers_distance(a, b) == pytest.approx(movers_distance(b, a), abs=1e-12)
    assert movers_distance(a, a[::-1]) == pytest.approx(0, abs=1e-12)


def test_a_vector_that_is_no_number_has_no_distance():
    broken = vectors(3, 5)
    broken[1, 1] = np.nan
    assert np.isnan(movers_distance(broken, vectors(4, 6)))


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("length", [1, 2, 3, 7])
def test_ngrams_are_means_of_neighbours_cut_to_length_one(n, length):
    states = vectors(length, 7)
    size = min(n, length)
    means = [states[at : at + size].mean(axis=0) for at in range(length - size + 1)]
    slow = np.array([mean / np.linalg.norm(mean) for mean in means])
    assert ngram_vectors(states, n) == pytest.approx(slow, abs=1e-12)


def test_an_ngram_of_nothing_is_nothing():
    assert ngram_vectors(np.array([[1.0, -1.0], [-1.0, 1.0]]), 2).tolist() == [[0, 0]]
