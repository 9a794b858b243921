"""A boosted metric is a metric like any other, and its scores are those of the paper's formula."""

import copy
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import pmean

from assay.data import Array, DataError, Dataset, Segment
from assay.explanation.boosted import Boosted, WeightAndPower, explained_by
from assay.explanation.explainers import EXPLAINERS
from assay.metrics.base import METRICS, Metric, parse
from assay.registry import nested, register, spelt_out
from assay.scoring import ScoreOptions, score_dataset
from tests.corpora import demo

REFERENCES = demo("ref.A.txt", 12)
SEGMENTS = [
    Segment(h, (r,)) for h, r in zip(demo("systems/cedar.txt", 12), REFERENCES, strict=True)
]
ODD = [
    Segment("", ("",)),
    Segment("word", ("word",)),
    Segment("", ("some words",)),
    Segment("some words", ("",)),
    Segment("nothing alike", ("xyz",)),
]


def erased(metric, segment):
    """The importances by erasure of reference and hypothesis, one score at a time."""

    def scored(hypothesis, reference):
        return float(metric.statistics([Segment(hypothesis, (reference,))]).segments()[0])

    hypothesis, (reference,), _ = segment
    whole = scored(hypothesis, reference)
    words, others = hypothesis.split(), reference.split()
    rest = [" ".join(others[:at] + others[at + 1 :]) for at in range(len(others))]
    found = [whole - scored(hypothesis, each) for each in rest]
    rest = [" ".join(words[:at] + words[at + 1 :]) for at in range(len(words))]
    return whole, found + [whole - scored(each, reference) for each in rest]


def slow(metric, segment, w, p):
    """BMX as the paper has it, on a metric from 0 to 1."""
    whole, found = erased(metric, segment)
    whole, found = whole / 100, [value / 100 for value in found]
    least = min(found)
    positive = [value + (abs(least) if least <= 0 else 0) + 1e-9 for value in found]
    return 100 * (w * whole + (1 - w) * pmean(positive, p))


@pytest.mark.parametrize("name", ["chrf", "bleu:effective_order=yes", "macrof"])
@pytest.mark.parametrize(("w", "p"), [(0.6, -0.3), (0.2, 1.0), (0.0, 4.0), (0.4, -1.4)])
def test_scores_by_erasure_are_those_of_the_papers_formula(name, w, p):
    metric = Boosted(metric=name, explainer="erasure", w=w, p=p)
    ours = metric.statistics(SEGMENTS).segments()
    wanted = [slow(parse(name), each, w, p) for each in SEGMENTS]
    assert ours == pytest.approx(wanted, rel=1e-6, abs=1e-9)


def test_the_hypothesis_alone_can_be_explained():
    both = Boosted(explainer="erasure", w=0.0, p=1.0)
    alone = replace(both, sides="hypothesis")
    found = explained_by(both.explainer, both.base, SEGMENTS, sides="hypothesis", seed=1)
    assert found.importances.lengths.tolist() == [len(s.hypothesis.split()) for s in SEGMENTS]
    for segment, score in zip(SEGMENTS, alone.boosting(SEGMENTS).boosted, strict=True):
        _, importances = erased(parse("chrf"), segment)
        own = importances[len(segment.references[0].split()) :]
        raised = [each + abs(min(*own, 0)) + 1e-7 for each in own]
        assert score == pytest.approx(np.mean(raised), rel=1e-9)


def test_where_less_is_better_the_signs_are_turned():
    segment = Segment("the cat sat on mat", ("the cat sat on the mat",))
    found = Boosted(metric="ter", explainer="erasure", w=1.0).boosting([segment])
    assert found.base.tolist() == found.boosted.tolist()
    assert found.base[0] == pytest.approx(-100 / 6)
    better = Boosted(metric="ter", explainer="erasure", w=0.5, p=1.0).statistics(
        [segment, Segment("a dog", ("the cat sat on the mat",))]
    )
    assert better.segments()[0] > better.segments()[1]


@pytest.mark.parametrize("explainer", ["erasure", "lime", "shap", "random"])
def test_a_weight_of_one_is_the_metric_as_it_is(explainer):
    found = Boosted(metric="chrf", explainer=explainer, w=1.0).statistics(SEGMENTS)
    plain = parse("chrf").statistics(SEGMENTS).segments()
    assert found.segments() == pytest.approx(plain)
    assert found.corpus() == pytest.approx(plain.mean())


@pytest.mark.parametrize("explainer", ["erasure", "lime:samples=20", "shap", "random"])
@pytest.mark.parametrize("regular", ["paper", "shift"])
def test_odd_segments_have_scores(explainer, regular):
    metric = Boosted(metric="chrf", explainer=explainer, regular=regular)
    scores = metric.statistics(ODD).segments()
    assert np.isfinite(scores).all()
    assert scores[0] == 0
    assert scores[1] > scores[4]


def test_the_mean_collapses_as_the_paper_has_it_and_not_when_shifted():
    paper = Boosted(metric="bleu:effective_order=yes", explainer="erasure", w=0.6, p=-1.0)
    found = paper.boosting(SEGMENTS)
    assert np.mean(found.collapsed) > 0.9
    lost = found.collapsed
    assert found.boosted[lost] == pytest.approx(0.6 * found.base[lost], abs=1e-3)
    shifted = replace(paper, regular="shift").boosting(SEGMENTS)
    assert not shifted.collapsed.any()
    assert (shifted.explanation > 0.01 * shifted.base).all()


def test_a_second_iteration_boosts_the_boosted_metric():
    once = Boosted(metric="chrf", explainer="erasure", w=0.6, p=-0.3)
    twice, by_hand = replace(once, iterations=2), replace(once, metric=str(once))
    assert twice.base == once
    ours, wanted = (each.statistics(SEGMENTS[:4]).segments() for each in (twice, by_hand))
    assert ours.tolist() == wanted.tolist()
    assert ours.tolist() != once.statistics(SEGMENTS[:4]).segments().tolist()


def test_infinite_powers_take_the_most_and_the_least_important_word():
    most, least = (
        Boosted(explainer="erasure", w=0.0, p=p).boosting(SEGMENTS).boosted
        for p in (math.inf, -math.inf)
    )
    for segment, high, low in zip(SEGMENTS, most, least, strict=True):
        _, importances = erased(parse("chrf"), segment)
        raised = abs(min(*importances, 0)) + 1e-7
        assert high == pytest.approx(max(importances) + raised)
        assert low == pytest.approx(min(importances) + raised, abs=1e-9)


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("boost", "boost"),
        ("boost:metric=chrf,explainer=lime,w=0.4,p=-1.4", "boost"),
        ("boost:metric=chrf++,w=0.6", "boost:metric=chrf(word_order=2),w=0.6"),
        ("boost:metric=bleu:effective_order=yes", "boost:metric=bleu(effective_order=yes)"),
        (
            "boost:metric=bleu(tok=char,effective_order=yes),explainer=lime(samples=50,mask=X)",
            "boost:metric=bleu(effective_order=yes,tok=char),explainer=lime(samples=50,mask=X)",
        ),
        (
            "boost:metric=boost(w=0.2,metric=bleu(lowercase=yes,tok=intl)),p=inf",
            "boost:metric=boost(metric=bleu(lowercase=yes,tok=intl),w=0.2),p=inf",
        ),
        ("boost:p=-inf,regular=shift,sides=hypothesis", None),
        ("boost:iterations=3,random_seed=7", None),
        ("boosted chrF2++", "boost:metric=chrf(word_order=2)"),
    ],
)
def test_specifications_read_back(given, written):
    metric = parse(given)
    assert str(metric) == (written or given)
    assert parse(str(metric)) == metric
    assert parse(f"{metric.title}|{metric.signature(1)}") == metric
    for twin in (copy.copy(metric), pickle.loads(pickle.dumps(metric))):
        assert twin == metric
        assert hash(twin) == hash(metric)


def test_python_may_say_infinity_as_a_number():
    assert Boosted(p=math.inf) == parse("boost:p=inf")
    assert Boosted(p=-math.inf).at == WeightAndPower(0.4, -math.inf)
    assert Boosted(p="-1.4") == Boosted()


def test_forms_inside_and_outside_go_over_into_each_other():
    for text in ("chrf", "bleu:tok=char", "boost:metric=bleu(tok=char),w=0.2"):
        assert spelt_out(nested(text)) == text


def test_the_signature_tells_the_settings_inside():
    signature = parse("boost:metric=bleu(effective_order=yes)").signature(1)
    assert "|metric:bleu(effective_order=yes)|explainer:lime|w:0.4|p:-1.4|" in signature
    assert "eff=yes;tok=13a;smooth=exp" in signature


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("boost:w=1.5", "boost:w=1.5: give a share from 0 to 1."),
        ("boost:w=-0.1", "boost:w=-0.1: give a share from 0 to 1."),
        ("boost:p=nan", "boost:p=nan: this setting takes a number"),
        ("boost:p=much", "boost:p=much: this setting takes a number"),
        ("boost:iterations=0", "boost:iterations is from 1 to 5."),
        ("boost:random_seed=-1", "give a whole number of at least 0"),
        ("boost:metric=blue", r"unknown metric 'blue' \(did you mean 'bleu'\?\)"),
        ("boost:explainer=lyme", r"unknown explainer 'lyme' \(did you mean 'lime'\?\)"),
        ("boost:metric=bleu(tok=13b)", "unknown tokenizer '13b'"),
        ("boost:regular=none", "is not a choice"),
    ],
)
def test_bad_settings_are_refused(text, message):
    with pytest.raises(DataError, match=message):
        parse(text)


class Moody(Metric):
    """The number of letters, and no number for texts with a question mark."""

    name = "moody"
    scale = "0-1"

    def rows(self, segments):
        return np.array(
            [[math.nan if "?" in s.hypothesis else len(s.hypothesis)] for s in segments]
        )

    def aggregate(self, sums: Array) -> Array:
        return sums[:, 0]


@pytest.fixture
def moody(monkeypatch):
    monkeypatch.setattr(METRICS, "_registered", {})
    register(Moody)


@pytest.mark.usefixtures("moody")
def test_segments_without_a_number_are_unknown_and_left_out_of_the_mean():
    segments = [Segment("a b", ("x",)), Segment("a ?", ("x",)), Segment("abc", ("x",))]
    statistics = Boosted(metric="moody", explainer="erasure", w=1.0).statistics(segments)
    assert statistics.segments() == pytest.approx([3, math.nan, 3], nan_ok=True)
    assert statistics.corpus() == 3
    assert statistics.without_each() == pytest.approx([3, 3, 3])
    assert math.isnan(statistics[1:2].corpus())


def test_neither_order_nor_company_change_a_score():
    metric = parse("boost:explainer=lime(samples=30)")
    whole = metric.statistics([*SEGMENTS, *ODD]).segments()
    turned = metric.statistics([*SEGMENTS, *ODD][::-1]).segments()
    alone = [float(metric.statistics([each]).segments()[0]) for each in (*SEGMENTS, *ODD)]
    assert whole == pytest.approx(turned[::-1], rel=1e-12)
    assert whole == pytest.approx(alone, rel=1e-12)
    other = replace(metric, random_seed=2).statistics(SEGMENTS).segments()
    assert other.tolist() != whole[: len(SEGMENTS)].tolist()


def test_boosted_scores_are_tested_like_any_other():
    systems = {name: tuple(demo(f"systems/{name}.txt", 30)) for name in ("atlas", "cedar")}
    dataset = Dataset(systems, tuple((line,) for line in demo("ref.A.txt", 30)))
    options = ScoreOptions(test="bootstrap", confidence=True, resamples=200)
    metrics = [parse("boost:explainer=erasure,w=0.6,p=-0.3")]
    (found,) = score_dataset(dataset, metrics, options=options).by_metric
    assert found.corpus[0] > found.corpus[1]
    assert found.comparisons[0].p < 0.05
    assert found.intervals[0].low < found.corpus[0] < found.intervals[0].high


def test_the_explainer_is_the_one_that_is_named():
    found = Boosted(explainer="lime:samples=30")
    assert found.explainer == EXPLAINERS.parse("lime:samples=30")
    assert str(found) == "boost:explainer=lime(samples=30)"


@pytest.mark.parametrize(("name", "unit"), [("chrf", 100), ("ter", 100), ("moody", 1)])
@pytest.mark.usefixtures("moody")
def test_random_importances_are_of_the_size_of_the_metric(name, unit):
    found = explained_by(EXPLAINERS.parse("random"), parse(name), SEGMENTS, seed=1)
    assert 0 <= found.importances.values.min() < 0.1 * unit
    assert 0.9 * unit < found.importances.values.max() <= unit
