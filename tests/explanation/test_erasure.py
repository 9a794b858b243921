"""Erasure against taking words out one by one, and random numbers that are random numbers."""

import numpy as np
import pytest

from assay.data import Segment
from assay.explanation.explainers import Erasure, RandomExplainer
from assay.explanation.importances import explain_segments
from assay.metrics.base import parse
from tests.corpora import texts

CHRF = parse("chrf")


def without(words, at):
    return " ".join(words[:at] + words[at + 1 :])


def score(hypothesis, reference):
    return CHRF.sentence_score(hypothesis, [reference]).score


def test_erasure_is_the_score_less_the_score_without_the_word():
    segments = texts(15).segments()
    for found in explain_segments(CHRF, segments, Erasure(), seed=0):
        hypothesis, (reference,), _ = segments[found.segment]
        full = score(hypothesis, reference)
        if found.side == "hypothesis":
            words = hypothesis.split()
            slow = [full - score(without(words, at), reference) for at in range(len(words))]
        else:
            words = reference.split()
            slow = [full - score(hypothesis, without(words, at)) for at in range(len(words))]
        assert found.score == pytest.approx(full)
        assert found.importances == pytest.approx(np.array(slow), abs=1e-9)


def test_the_word_that_matches_is_the_important_one():
    [found] = explain_segments(
        CHRF, [Segment("x cat y", ("the cat",))], Erasure(), seed=0, sides=["hypothesis"]
    )
    assert found.tokens[np.argmax(found.importances)] == "cat"


def test_random_importances_lie_between_0_and_1_and_know_nothing_of_the_metric():
    segments = texts(40).segments()
    found = explain_segments(CHRF, segments, RandomExplainer(), seed=1)
    other = explain_segments(parse("ter"), segments, RandomExplainer(), seed=1)
    drawn = np.concatenate([explanation.importances for explanation in found])
    assert drawn.min() >= 0
    assert drawn.max() < 1
    assert abs(drawn.mean() - 0.5) < 4 * np.sqrt(1 / 12 / len(drawn))
    assert np.array_equal(drawn, np.concatenate([each.importances for each in other]))
