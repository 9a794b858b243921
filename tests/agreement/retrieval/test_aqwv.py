"""AQWV by hand."""

import numpy as np
import pytest

from assay.agreement.retrieval.analysis import truth_of
from assay.agreement.retrieval.collection import Ranking
from assay.agreement.retrieval.measures import AQWV

DOCUMENTS = [f"d{at}" for at in range(100)]
JUDGEMENTS = {
    "one": {"d0": 1, "d1": 2, "d2": 0, "d3": -1},
    "two": {"d5": 1},
    "none": {"d7": 0},
    "gone": {"d0": 1, "elsewhere": 1},
}


@pytest.fixture
def run():
    return {
        "one": Ranking(("d0", "d2", "d9", "d1"), np.array([9.0, 5.0, 4.0, 2.0])),
        "two": Ranking(("d5",), np.array([3.0])),
        "none": Ranking(("d7",), np.array([8.0])),
        "gone": Ranking((), np.array([])),
    }


@pytest.fixture
def truth():
    return truth_of(DOCUMENTS, dict.fromkeys(JUDGEMENTS, ""), judgements=JUDGEMENTS)


def test_misses_and_false_alarms_are_weighed(run, truth):
    """`one` misses 1 of 2 and returns 1 of 98 others; `two` is perfect; `gone` finds nothing."""
    wanted = [1 - 1 / 2 - 40 * 1 / 98, 1.0, 0.0]
    assert list(AQWV(returned=2).each(run, truth)) == pytest.approx(wanted)
    assert AQWV(returned=2).value(run, truth) == pytest.approx(sum(wanted) / 3)


def test_queries_without_relevant_documents_do_not_count(truth):
    assert list(truth.judgements) == ["one", "two", "gone"]
    assert AQWV().queries(truth) == 3


def test_a_threshold_decides_by_score(run, truth):
    assert list(AQWV(threshold=4.0).each(run, truth)) == pytest.approx(
        [1 - 1 / 2 - 40 * 2 / 98, 0.0, 0.0]
    )
    assert list(AQWV(threshold=100.0).each(run, truth)) == [0.0, 0.0, 0.0]


def test_beta_sets_the_price_of_a_false_alarm(run, truth):
    assert list(AQWV(beta=0.0).each(run, truth)) == [1.0, 1.0, 0.0]
    first = AQWV(beta=20.0).each(run, truth)[0]
    assert first == pytest.approx(1 - 20 * 2 / 98)


def test_without_any_irrelevant_document_there_are_no_false_alarms(run):
    truth = truth_of(["d5"], {"two": ""}, judgements=JUDGEMENTS)
    assert AQWV().value(run, truth) == 1.0
