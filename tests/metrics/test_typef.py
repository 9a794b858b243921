"""MacroF and MicroF are what the paper defines, held against slow and obvious counting."""

import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import MacroF, MicroF
from assay.data import Segment
from assay.text import tokenize
from tests.corpora import REFERENCES, SHORT, hostile, uneven


def types_of(metric, line):
    """How often each type stands in a line."""
    line = line.lower() if metric.lowercase else line
    tokens = tokenize([line], metric.tokenize)[0]
    glue = " " if metric.unit == "word" else ""
    if metric.unit == "char":
        tokens = list("".join(tokens))
    return Counter(
        glue.join(tokens[at : at + order])
        for order in range(metric.min_order, metric.max_order + 1)
        for at in range(len(tokens) - order + 1)
    )


def counts_of(metric, segments):
    """PREDS, REFS and MATCH of the paper, section 2; of several references the largest count."""
    predicted, wanted, matched = Counter(), Counter(), Counter()
    for segment in segments:
        here, there = types_of(metric, segment.hypothesis), Counter()
        for line in segment.references:
            there |= types_of(metric, line)
        predicted += here
        wanted += there
        matched += here & there
    return predicted, wanted, matched


def slow_score(metric, segments):
    """The macro or micro average of F over the union of types, in percent."""
    predicted, wanted, matched = counts_of(metric, segments)
    above = below = 0.0
    for name in predicted.keys() | wanted.keys():
        weight = wanted[name] + metric.k if isinstance(metric, MicroF) else 1
        above += weight * f_score(metric.beta, predicted[name], wanted[name], matched[name])
        below += weight
    return 100 * above / below if below else 0.0


def f_score(beta, predicted, wanted, matched):
    """F of precision and recall; 0 outside of the intersection."""
    if matched == 0:
        return 0.0
    precision, recall = matched / predicted, matched / wanted
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


def check(metric, segments):
    statistics = metric.statistics(segments)
    alone = [slow_score(metric, [segment]) for segment in segments]
    assert statistics.corpus() == pytest.approx(slow_score(metric, segments), abs=1e-9, rel=0)
    assert statistics.segments() == pytest.approx(alone, abs=1e-9, rel=0)


@pytest.mark.parametrize("beta", [1, 3, 0.5])
@pytest.mark.parametrize("references", REFERENCES)
@pytest.mark.parametrize("make", [MacroF, MicroF])
def test_scores_are_those_of_slow_counting(make, references, beta):
    check(make(beta=beta), REFERENCES[references].segments())


@pytest.mark.parametrize("k", [0, 0.5, 1, 17])
def test_microf_adds_k_to_the_frequency_of_every_type(k):
    check(MicroF(k=k), REFERENCES["uneven"].segments())


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("orders", [(1, 1), (1, 2), (2, 4), (3, 3)])
@pytest.mark.parametrize("unit", ["word", "char"])
@pytest.mark.parametrize("make", [MacroF, MicroF])
def test_ngrams_of_words_and_characters_are_types(make, unit, orders, lowercase):
    smallest, largest = orders
    metric = make(unit=unit, min_order=smallest, max_order=largest, lowercase=lowercase)
    check(metric, uneven(12).segments())


@pytest.mark.parametrize("tokenizer", ["13a", "intl", "char", "none", "zh"])
@pytest.mark.parametrize("unit", ["word", "char"])
def test_hostile_text_is_counted_as_slowly(tokenizer, unit):
    metric = MacroF(tokenize=tokenizer, unit=unit, max_order=2)
    check(metric, hostile(SHORT).segments())


line = st.lists(st.sampled_from(["a", "b", "c", "A", ".", "1,5"]), max_size=8).map(" ".join)


@given(
    segments=st.lists(
        st.builds(Segment, line, st.lists(line, min_size=1, max_size=3).map(tuple)),
        min_size=1,
        max_size=5,
    ),
    beta=st.floats(0.1, 10),
    k=st.floats(0, 10),
    lowercase=st.booleans(),
    largest=st.integers(1, 3),
)
@settings(max_examples=200, deadline=None)
def test_any_settings_give_what_slow_counting_gives(segments, beta, k, lowercase, largest):
    check(MacroF(beta=beta, lowercase=lowercase, max_order=largest), segments)
    check(MicroF(beta=beta, lowercase=lowercase, max_order=largest, k=k), segments)


def test_rows_hold_the_counts_of_every_type():
    segments = REFERENCES["three"].segments()
    predicted, wanted, matched = counts_of(MacroF(), segments)
    rows, types = MacroF().count(segments)
    assert types == sorted(predicted.keys() | wanted.keys())
    sums = rows.sum(axis=0).reshape(-1, 3).tolist()
    assert sums == [[predicted[name], wanted[name], matched[name]] for name in types]


WORKED = [
    # a: predicted 2, wanted 1, matched 1; b: 1, 1, 1; c: only predicted; d: only wanted, 3 times.
    Segment("a a b", ("a b",)),
    Segment("c", ("d d d",)),
]


@pytest.mark.parametrize("beta", [1, 2, 0.5])
def test_a_worked_example_of_the_papers_formulas(beta):
    factor = beta**2
    f_a = (1 + factor) * (1 / 2) * 1 / (factor * (1 / 2) + 1)
    f_b = 1.0
    macro, micro = MacroF(beta=beta), MicroF(beta=beta)
    assert macro.statistics(WORKED).corpus() == pytest.approx(100 * (f_a + f_b) / 4)
    # f(c) = REFS(c) + 1: 2 for a, 2 for b, 1 for c, 4 for d.
    assert micro.statistics(WORKED).corpus() == pytest.approx(100 * (2 * f_a + 2 * f_b) / 9)


def test_golden_values_of_the_worked_example():
    assert MacroF().statistics(WORKED).corpus() == pytest.approx(125 / 3)
    assert MicroF().statistics(WORKED).corpus() == pytest.approx(1000 / 27)
    assert MicroF(k=0).statistics(WORKED).corpus() == pytest.approx(100 / 3)
    assert MacroF(beta=2).statistics(WORKED).corpus() == pytest.approx(100 * (5 / 6 + 1) / 4)


@pytest.mark.parametrize("beta", [1, 3])
def test_microf_turns_into_macrof_as_k_grows(beta):
    segments = REFERENCES["two"].segments()
    macro = MacroF(beta=beta).statistics(segments).corpus()
    distance = [
        abs(MicroF(beta=beta, k=10.0**power).statistics(segments).corpus() - macro)
        for power in range(9)
    ]
    assert distance == sorted(distance, reverse=True)
    assert distance[0] > 1
    assert distance[-1] < 1e-5


def test_without_k_a_type_that_is_only_predicted_costs_nothing():
    assert MicroF(k=0).sentence_score("a b x y z", ["a b"]).score == pytest.approx(100)
    assert MicroF(k=1).sentence_score("a b x y z", ["a b"]).score == pytest.approx(100 * 4 / 7)
    assert MacroF().sentence_score("a b x y z", ["a b"]).score == pytest.approx(100 * 2 / 5)


def test_text_without_types_scores_0():
    for metric in (MacroF(), MicroF(), MicroF(k=0), MacroF(min_order=2, max_order=2)):
        assert metric.sentence_score("", [""]).score == 0
        assert metric.sentence_score("", ["a b"]).score == 0
        assert metric.sentence_score("a b", [""]).score == 0
    assert not math.isnan(MicroF(k=0).statistics([Segment("a", ("",))]).corpus())
