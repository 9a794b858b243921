"""Words between two others: against all words weighed one by one."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from assay.explanation.marginal import TRUST, BigramModel, packaged_bigrams

WORDS = ["the", "cat", "dog", "sat", "ran", "zeal"]
COUNTS = np.array(
    [
        [0, 60, 40, 0, 0, 0],
        [0, 0, 0, 70, 30, 0],
        [0, 0, 0, 20, 80, 0],
        [90, 10, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0],
    ],
    float,
)
SHARES = np.array([0.5, 0.2, 0.1, 0.1, 0.06, 0.04])


@pytest.fixture
def model():
    totals = COUNTS.sum(axis=1, keepdims=True)
    following = np.divide(COUNTS, totals, out=np.zeros_like(COUNTS), where=totals > 0)
    return BigramModel(WORDS, SHARES, csr_array(following), "toy")


def slow(model, left, right):
    """The probability of every word between two others, by the definition."""

    def given(word, before):
        pairs = model.following.toarray()[before]
        return TRUST * pairs[word] + (1 - TRUST) * SHARES[word] if pairs.sum() else SHARES[word]

    fit = [
        (SHARES[word] if left is None else given(word, left))
        * (1 if right is None else given(right, word))
        for word in range(len(WORDS))
    ]
    return np.array(fit) / sum(fit)


@pytest.mark.parametrize("left", [None, 0, 1, 4])
@pytest.mark.parametrize("right", [None, 0, 3, 5])
@pytest.mark.parametrize("threshold", [0.001, 0.05, 0.3])
def test_probabilities_are_those_of_the_definition(model, left, right, threshold):
    expected = slow(model, left, right)
    found, probabilities = model.between(left, right, threshold)
    assert sorted(found) == list(np.flatnonzero(expected > threshold))
    assert probabilities == pytest.approx(expected[found])
    assert list(probabilities) == sorted(probabilities, reverse=True)


@pytest.mark.parametrize("threshold", [0.02, 0.05, 0.2])
def test_no_word_of_the_packaged_counts_is_missed(threshold):
    """All 82,834 words weighed one by one, which `between` avoids."""
    model = packaged_bigrams()
    table, shares = model.following, model.shares
    index = {word: at for at, word in enumerate(model.words)}
    known = np.asarray(table.sum(axis=1)) > 0
    rest = np.where(known, 1 - TRUST, 1.0)
    for left, right in [("the", "of"), ("united", "of"), ("abcs", "zebra"), ("zygote", "zygotes")]:
        a, b = index[left], index[right]
        after = TRUST * table[[a]].toarray()[0] + rest[a] * shares
        before = TRUST * table[:, [b]].toarray()[:, 0] + rest * shares[b]
        expected = after * before / (after @ before)
        found, probabilities = model.between(a, b, threshold)
        assert set(found) == set(np.flatnonzero(expected > threshold))
        assert probabilities == pytest.approx(expected[found])


def test_candidates_keep_the_capitals_and_the_punctuation_of_their_token():
    found = packaged_bigrams().candidates(('"United', "States,", "WHO", "--"), 0.05)
    assert all(each.word[0] == '"' and each.word[1].isupper() for each in found[0])
    assert "States," in [each.word for each in found[1]]
    assert all(each.word.isupper() for each in found[2])
    assert found[2]
    assert found[3] == []


def test_a_third_of_words_are_among_the_five_likeliest(shared):
    """The whole-word top five that the documentation states: 36 %."""
    lines = (shared / "wmt21" / "de-en" / "ref.A.txt").read_text("utf-8").splitlines()[::10]
    hits = []
    for tokens in (tuple(line.split()) for line in lines):
        for word, found in zip(tokens, packaged_bigrams().candidates(tokens, 0.005), strict=True):
            hits += [word in [each.word for each in found[:5]]] if found else []
    assert np.mean(hits) == pytest.approx(0.36, abs=0.02)
