"""How well tagged words are found, proven against scikit-learn and against every order of ties."""

from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from assay.data import DataError
from assay.explanation.explain import (
    area,
    average_precision,
    detection,
    mean_quality,
    read_word_labels,
    recall_at_top,
)

PAIRS = st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=30)


def arrays(pairs):
    """Suspicions with many ties, and tags of both kinds."""
    suspicions, tags = (np.array(each) for each in zip(*pairs, strict=True))
    assume(tags.any())
    assume(not tags.all())
    return suspicions / 7, tags


@given(pairs=PAIRS)
def test_the_area_is_that_of_scikit_learn(pairs):
    suspicions, tags = arrays(pairs)
    assert area(suspicions, tags) == pytest.approx(roc_auc_score(tags, suspicions))


@given(pairs=PAIRS)
def test_average_precision_is_that_of_scikit_learn(pairs):
    suspicions, tags = arrays(pairs)
    expected = average_precision_score(tags, suspicions)
    assert average_precision(suspicions, tags) == pytest.approx(expected)


def recall_of(order, tags, top):
    """The share of tagged words that come first in an order."""
    return sum(tags[at] for at in order[:top]) / sum(tags)


@given(pairs=st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=2, max_size=6))
@pytest.mark.parametrize("top", [None, 1, 3, 9])
def test_recall_at_the_top_is_the_mean_over_all_orders_of_ties(pairs, top):
    suspicions, tags = arrays(pairs)
    orders = [
        order
        for order in permutations(range(len(tags)))
        if all(suspicions[a] >= suspicions[b] for a, b in pairwise(order))
    ]
    expected = np.mean([recall_of(order, tags, top or int(tags.sum())) for order in orders])
    assert recall_at_top(suspicions, tags, top) == pytest.approx(expected)


def test_what_people_tagged_as_all_right_or_all_wrong_is_undefined():
    for tags in ([True, True], [False, False], []):
        found = detection(np.arange(len(tags), dtype=float), np.array(tags, bool))
        assert np.isnan(found[:3]).all()


def test_an_unknown_importance_makes_the_text_unknown():
    found = detection(np.array([1.0, np.nan]), np.array([True, False]))
    assert np.isnan(found[:3]).all()
    assert found.tagged == 0.5


def test_means_are_over_the_texts_that_are_defined_and_the_others_are_counted():
    rng = np.random.default_rng(5)
    suspicions = [rng.random(size) for size in (4, 7, 3, 5, 6, 0)]
    tags = [rng.permutation(size) < 2 for size in (4, 7, 3, 5, 6, 0)]
    tags[2], tags[3] = np.ones(3, bool), np.zeros(5, bool)
    suspicions[4][0] = np.nan
    quality = mean_quality(suspicions, tags)
    assert (quality.texts, quality.alike, quality.unknown) == (2, 3, 1)
    both = [0, 1]
    assert quality.mean.area == pytest.approx(
        np.mean([roc_auc_score(tags[at], suspicions[at]) for at in both])
    )
    assert quality.mean.precision == pytest.approx(
        np.mean([average_precision_score(tags[at], suspicions[at]) for at in both])
    )
    orders = [np.argsort(-suspicions[at]) for at in both]
    recalls = [recall_of(order, tags[at], 2) for at, order in zip(both, orders, strict=True)]
    assert quality.mean.recall == pytest.approx(np.mean(recalls))
    assert quality.mean.tagged == pytest.approx(np.mean([2 / 4, 2 / 7]))


def test_nothing_defined_gives_unknown_means():
    quality = mean_quality([np.array([1.0])], [np.array([True])])
    assert (quality.texts, quality.alike) == (0, 1)
    assert np.isnan(quality.mean).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: detection(np.zeros(2), np.ones(3, bool)), "2 words, but 3 tags"),
        (lambda: recall_at_top(np.zeros(2), np.ones(2, bool), 0), "at least 1"),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(DataError, match=message):
        call()


def test_tags_are_numbers_or_words(tmp_path):
    path = tmp_path / "tags.txt"
    path.write_text("0 1 OK BAD\n\n1\n")
    tags = read_word_labels(path, ["a b c d", "", "e"])
    assert [each.tolist() for each in tags] == [[False, True, False, True], [], [True]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("0 1\n", "1 lines, but there are 2 segments"),
        ("0 1\n0 1 1\n", "line 2: 3 tags for the 2 words of sys"),
        ("0 1\n0 NOUN\n", "line 2: 'NOUN' is no tag"),
    ],
)
def test_tags_that_do_not_fit_are_refused(tmp_path, content, message):
    path = tmp_path / "tags.txt"
    path.write_text(content)
    with pytest.raises(DataError, match=message) as refused:
        read_word_labels(path, ["a b", "c d"], text="sys")
    assert str(path) in str(refused.value)


@pytest.mark.parametrize("pair", ["et-en", "ro-en"])
@pytest.mark.parametrize(("text", "tags"), [("mt", "tgt-tags"), ("src", "src-tags")])
def test_the_tags_of_eval4nlp_belong_to_its_words(shared, pair, text, tags):
    folder = shared / "qe/eval4nlp21" / pair
    lines = Path(folder, f"{text}.txt").read_text("utf-8").splitlines()
    found = read_word_labels(folder / f"{tags}.txt", lines)
    assert len(found) == 1000
    written = Path(folder, f"{tags}.txt").read_text("utf-8").split()
    assert sum(labels.sum() for labels in found) == written.count("1") > 1000


def test_guessing_finds_what_chance_finds(shared):
    folder = shared / "qe/eval4nlp21/et-en"
    lines = (folder / "mt.txt").read_text("utf-8").splitlines()
    tags = read_word_labels(folder / "tgt-tags.txt", lines)
    rng = np.random.default_rng(1)
    quality = mean_quality([rng.random(len(each)) for each in tags], tags)
    assert (quality.texts, quality.alike) == (718, 282)
    assert quality.mean.area == pytest.approx(0.5, abs=0.03)
    assert quality.mean.recall == pytest.approx(quality.mean.tagged, abs=0.04)
