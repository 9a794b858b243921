"""Measures equal trec_eval's on Cranfield, and slow, obvious versions."""

import math

import ir_measures
import numpy as np
import pytest
import pytrec_eval

from assay.agreement.retrieval.analysis import truth_of
from assay.agreement.retrieval.collection import Ranking
from assay.agreement.retrieval.measures import MEASURES
from assay.data import DataError


@pytest.fixture(scope="module")
def truth(cranfield):
    return truth_of(list(cranfield.documents), cranfield.queries, judgements=cranfield.judgements)


@pytest.fixture(scope="module")
def scored(cranfield):
    """The run with BM25's own scores, as any retrieval system would hand it in."""
    return {
        query: dict(zip(ranking.documents, map(float, ranking.scores), strict=True))
        for query, ranking in cranfield.run.items()
    }


@pytest.mark.parametrize(
    ("name", "theirs", "official"),
    [
        ("map", "map", ir_measures.AP),
        ("ndcg", "ndcg", ir_measures.nDCG),
        ("ndcg@10", "ndcg_cut_10", ir_measures.nDCG @ 10),
        ("p@5", "P_5", ir_measures.P @ 5),
        ("r@100", "recall_100", ir_measures.R @ 100),
        ("mrr", "recip_rank", ir_measures.RR),
        ("map@20", "map_cut_20", ir_measures.AP @ 20),
    ],
)
def test_cranfield_is_measured_as_trec_eval_does(cranfield, truth, scored, name, theirs, official):
    measure = MEASURES.parse(name)
    each = measure.each(cranfield.run, truth)
    judged = pytrec_eval.RelevanceEvaluator(dict(cranfield.judgements), {theirs})
    answer = judged.evaluate(scored)
    assert list(each) == pytest.approx([answer[query][theirs] for query in truth.judgements])
    whole = ir_measures.calc_aggregate([official], cranfield.judgements, scored)
    assert [measure.value(cranfield.run, truth)] == pytest.approx(list(whole.values()))
    assert measure.title.removeprefix("M") == str(official).removeprefix("M")
    assert measure.queries(truth) == 225


def obvious(name, documents, judged, k):
    """The measures by their definitions."""
    gains = [max(0, judged.get(document, 0)) for document in documents[:k]]
    hits = [gain > 0 for gain in gains]
    total = sum(grade > 0 for grade in judged.values())
    match name:
        case "p":
            return sum(hits) / k
        case "r":
            return sum(hits) / total
        case "mrr":
            return next((1 / rank for rank, hit in enumerate(hits, 1) if hit), 0.0)
        case "map":
            return (
                sum(sum(hits[:at]) / at for at in range(1, len(hits) + 1) if hits[at - 1]) / total
            )
        case "ndcg":
            best = sorted((max(0, grade) for grade in judged.values()), reverse=True)[:k]
            gain, most = (
                sum(g / math.log2(at + 1) for at, g in enumerate(row, 1)) for row in (gains, best)
            )
            return gain / most
    raise AssertionError(name)


@pytest.mark.parametrize(
    ("name", "k"), [("p", 3), ("r", 3), ("mrr", None), ("map", None), ("ndcg", None), ("ndcg", 2)]
)
def test_measures_follow_their_definitions(name, k):
    judgements = {"1": {"a": 2, "b": 1, "c": -1, "z": 3}, "2": {"a": 0, "e": 1}, "3": {"c": 1}}
    run = {
        "1": Ranking(("c", "a", "d", "b"), np.array([4.0, 3.0, 3.0, 1.0])),
        "2": Ranking(("e", "a"), np.array([2.0, 1.0])),
        "3": Ranking((), np.array([])),
    }
    truth = truth_of(list("abcde"), dict.fromkeys("123", ""), judgements=judgements)
    measure = MEASURES.parse(name if k is None else f"{name}@{k}")
    wanted = [obvious(name, run[q].documents, judgements[q], k) for q in "123"]
    assert list(measure.each(run, truth)) == pytest.approx(wanted)


def test_names_are_read_with_their_settings():
    assert [
        str(measure) for measure in MEASURES.parse_all(["MAP", "ndcg@10", "p@5", "rbo:p=0.9"])
    ] == [
        "map",
        "ndcg:k=10",
        "p:k=5",
        "rbo:p=0.9",
    ]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["mpa"], r"unknown measure 'mpa' \(did you mean 'map'\?\)"),
        (["map", "MAP"], "measure map is given twice"),
        (["ndcg@x"], "ndcg:k=x: this setting takes a whole number"),
        (["ndcg@0"], "k is at least 1"),
        (["p"], "P needs a rank, as in p@10"),
        (["rbo:0.9"], "'0.9' is not key=value"),
        (["rbo:p=1"], "p lies between 0 and 1"),
        (["aqwv:returned=0"], "returned at least 1"),
    ],
)
def test_bad_names_are_refused(names, message):
    with pytest.raises(DataError, match=message):
        MEASURES.parse_all(names)
