"""SHAP against the `shap` package, and against the definition of Shapley values."""

import warnings
from itertools import permutations

import numpy as np
import pytest

from assay.data import DataError, Segment
from assay.explanation.explainers import SHAP, Perturbed
from assay.explanation.importances import explain_segments
from assay.metrics.base import parse
from tests.corpora import texts

with warnings.catch_warnings():
    # Its plots use functions of matplotlib that will go.
    warnings.simplefilter("ignore")
    import shap

CHRF = parse("chrf")
MASK = "UNKWORDZ"


def scorer(reference):
    """Scores of lists of texts, as the `shap` package asks for them."""

    def scores(asked):
        segments = [Segment(str(text), (reference,)) for text in np.asarray(asked).ravel()]
        return CHRF.statistics(segments).segments()

    return scores


class Masking:
    """A masker of the `shap` package: words hidden behind the mask."""

    def __init__(self, count):
        self.shape = (None, count)

    def __call__(self, kept, words):
        return np.array([" ".join(np.where(kept, words, MASK))])


def package(kind, words, reference, **options):
    explainer = kind(scorer(reference), Masking(len(words)))
    return explainer(np.array([words], object), silent=True, **options).values[0]


def first_words(count, many):
    """Pairs of a hypothesis of so many words and its reference."""
    for segment in texts(many).segments():
        if len(words := segment.hypothesis.split()) >= count:
            yield words[:count], segment.references[0]


def ours(explainer, words, reference, seed=0):
    segment = Segment(" ".join(words), (reference,))
    [found] = explain_segments(CHRF, [segment], explainer, seed=seed, sides=["hypothesis"])
    return found.importances


@pytest.mark.parametrize("count", [1, 2, 4, 7])
def test_exact_values_equal_the_shap_package(count):
    for words, reference in first_words(count, 6):
        expected = package(shap.explainers.Exact, words, reference)
        assert ours(SHAP(), words, reference) == pytest.approx(expected, abs=1e-9)


def test_exact_values_are_the_mean_gain_over_all_orders():
    score = scorer("the cat sat on the mat")
    words = ["the", "cat", "lay", "on", "mat"]

    def masked(shown):
        return score([" ".join(w if at in shown else MASK for at, w in enumerate(words))])[0]

    gains = np.zeros(len(words))
    orders = list(permutations(range(len(words))))
    for order in orders:
        for place, at in enumerate(order):
            gains[at] += masked(set(order[: place + 1])) - masked(set(order[:place]))
    slow = gains / len(orders)
    assert ours(SHAP(), words, "the cat sat on the mat") == pytest.approx(slow, abs=1e-9)


@pytest.mark.parametrize("count", [5, 12])
def test_values_add_up_to_the_score_less_that_of_the_masked_text(count):
    for words, reference in first_words(count, 10):
        score = scorer(reference)
        full, nothing = score([" ".join(words), " ".join([MASK] * count)])
        assert ours(SHAP(), words, reference).sum() == pytest.approx(full - nothing, abs=1e-9)


def walked(words, reference, permutations):
    """What the `shap` package asks for on its walks, and the values it finds."""
    asked, score = [], scorer(reference)
    explainer = shap.explainers.Permutation(
        lambda lines: asked.extend(lines) or score(lines), Masking(len(words))
    )
    evaluations = permutations * (2 * len(words) + 1)
    found = explainer(np.array([words], object), max_evals=evaluations, silent=True)
    return asked, found.values[0]


def test_the_walks_of_the_shap_package_give_its_values():
    for words, reference in first_words(12, 8):
        asked, expected = walked(words, reference, 6)
        kept = [[word != MASK for word in line.split()] for line in asked]
        found = SHAP().attribute(Perturbed(asked, np.array(kept, float)), scorer(reference)(asked))
        assert found == pytest.approx(expected, abs=1e-9)


def test_permutations_lie_within_their_sampling_error_of_the_exact_values():
    [(words, reference), *_] = first_words(8, 6)
    exact = package(shap.explainers.Exact, words, reference)
    explainer = SHAP(permutations=20)
    runs = np.array([ours(explainer, words, reference, seed) for seed in range(60)])
    error = runs.std(axis=0, ddof=1) / np.sqrt(len(runs))
    assert (np.abs(runs.mean(axis=0) - exact) <= 4.5 * error + 1e-9).all()
    assert error.max() > 0


def test_permutations_are_as_good_an_estimate_as_those_of_the_shap_package():
    [(words, reference), *_] = first_words(8, 6)
    exact = ours(SHAP(exact=8), words, reference)
    theirs = np.array(
        [
            package(shap.explainers.Permutation, words, reference, max_evals=10 * 17)
            for _ in range(30)
        ]
    )
    mine = np.array([ours(SHAP(), words, reference, seed) for seed in range(30)])
    spread = np.sqrt(np.mean((theirs - exact) ** 2)), np.sqrt(np.mean((mine - exact) ** 2))
    assert 0.5 < spread[1] / spread[0] < 2


def test_walks_hide_and_show_one_word_at_a_time():
    design = SHAP(exact=0, permutations=3).perturb(tuple("abcde"), np.random.default_rng(1)).design
    steps = np.abs(np.diff(design, axis=0)).sum(axis=1)
    assert design.shape == (1 + 3 * 2 * 5, 5)
    assert (steps == 1).all()
    assert design[0].all()
    assert design[-1].all()
    assert not design[5].any()


@pytest.mark.parametrize("settings", [{"exact": 17}, {"permutations": 0}, {"mask": "a,b"}])
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(DataError, match="shap:"):
        SHAP(**settings)
