"""The whole analysis: what is true, what is found, and which metrics foretell it."""

import math

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr

from assay.agreement.coefficients import COEFFICIENTS
from assay.agreement.panel import Candidate
from assay.agreement.retrieval.analysis import (
    RetrievalResult,
    RetrievalSetup,
    SystemRetrieval,
    correlations,
    evaluate,
    truth_of,
)
from assay.agreement.retrieval.collection import BM25, translations
from assay.agreement.retrieval.measures import MEASURES
from assay.data import DataError, Dataset

QUERIES = {"1": "cat", "2": "dog", "3": "zebra"}
HUMAN = {"x": "a cat and a dog", "y": "the dog", "z": "a cat a cat", "w": "nothing"}
MEASURED = MEASURES.parse_all(["map", "rbo"])


def candidate(name, scores, lower=False):
    return Candidate(name, name.upper(), np.array(scores, float)[:, None], lower)


def found(*values, humans=0):
    rows = [SystemRetrieval(f"s{at}", False, (each,)) for at, each in enumerate(values)]
    return [*rows, *(SystemRetrieval(f"h{at}", True, (1.0,)) for at in range(humans))]


def test_without_judgements_the_first_documents_of_the_human_ranking_are_relevant():
    human = BM25().search(HUMAN, QUERIES)
    truth = truth_of(list(HUMAN), QUERIES, human=human, most=1)
    assert truth.judgements == {"1": {"z": 1}, "2": {"y": 1}}
    assert {query: ranking.documents for query, ranking in truth.rankings.items()} == {
        "1": ("z", "x"),
        "2": ("y", "x"),
    }


def test_judgements_go_before_the_human_ranking():
    human = BM25().search(HUMAN, QUERIES)
    truth = truth_of(list(HUMAN), QUERIES, human=human, judgements={"3": {"w": 1}})
    assert truth.judgements == {"3": {"w": 1}}
    assert list(truth.rankings) == ["1", "2"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "pass judgements=..."),
        ({"judgements": {"9": {"x": 1}}}, "no query has a relevant document"),
        ({"judgements": {"1": {"x": 0}}}, "no query has a relevant document"),
        ({"judgements": {"1": {"X": 1}}}, "no judged document is in the collection"),
    ],
)
def test_a_truth_that_says_nothing_is_refused(options, message):
    with pytest.raises(DataError, match=message):
        truth_of(list(HUMAN), QUERIES, **options)


def test_the_human_translation_is_perfect_and_a_useless_one_finds_nothing():
    human = BM25().search(HUMAN, QUERIES)
    truth = truth_of(list(HUMAN), QUERIES, human=human)
    texts = {"useless": dict.fromkeys(HUMAN, "xyz"), "ref": HUMAN}
    useless, ref = evaluate(texts, QUERIES, truth, MEASURED, bm25=BM25(), humans=["ref"])
    assert (useless.values, useless.human) == ((0.0, 0.0), False)
    assert (ref.values, ref.human) == (pytest.approx((1.0, 1.0)), True)


def test_correlations_are_scipys_over_the_machines_alone():
    rng = np.random.default_rng(3)
    values, scores = rng.random(9), rng.random(9)
    rows = found(*values, humans=2)
    given = [candidate("bleu", scores), candidate("ter", -scores, lower=True)]
    chosen = [COEFFICIENTS.parse("kendall"), COEFFICIENTS.parse("pearson")]
    tau, turned, r, _ = correlations(rows, MEASURED[:1], given, chosen)
    theirs = kendalltau(scores, values)
    assert (tau.agreement.value, tau.agreement.p, tau.agreement.n) == pytest.approx(
        (theirs.statistic, theirs.pvalue, 9)
    )
    assert turned.agreement.value == tau.agreement.value
    assert r.agreement.value == pytest.approx(pearsonr(scores, values).statistic)


@pytest.mark.parametrize(
    ("values", "scores", "reason"),
    [
        ((0.5, 0.5, 0.5), (1, 2, 3), "all values of MAP are equal"),
        ((0.1, 0.2, 0.3), (1, 1, 1), "all metric scores are equal"),
        ((0.1, 0.2), (1, 2), "only 2 scores to compare; Kendall's tau needs 3"),
        ((0.1, 0.2, 0.3), (1, math.nan, 3), "only 2 scores to compare; Kendall's tau needs 3"),
    ],
)
def test_where_there_is_no_coefficient_there_is_a_reason(values, scores, reason):
    rows, given = found(*values), [candidate("bleu", scores)]
    (only,) = correlations(rows, MEASURED[:1], given)
    assert math.isnan(only.agreement.value)
    assert only.agreement.reason == reason
    truth = truth_of(list(HUMAN), QUERIES, judgements={"1": {"x": 1}})
    result = RetrievalResult(
        RetrievalSetup(BM25(), tuple(MEASURED[:1]), truth), tuple(rows), tuple(given), (only,)
    )
    last = result.records()[-1]
    assert (last["value"], last["p"], last["reason"]) == (None, None, reason)
    assert reason in result.tables()[1].note


def test_people_among_the_systems_and_references_are_told_from_machines():
    lines = {name: (f"{name} one", "two") for name in ("mt", "human-B", "copy")}
    dataset = Dataset(
        lines,
        (("copy one", "other"), ("two", "two")),
        documents=("x", "y"),
        reference_names=("ref.A", "mt"),
    )
    told = translations(dataset)
    assert told.humans == ("human-B", "copy", "mt (reference)")
    assert told.truth == "copy"
    assert list(told.machines.systems) == ["mt"]
    assert told.collections["mt (reference)"] == {"x": "other", "y": "two"}
