"""Relations of outputs, alone and against those of references, counted by hand."""

import re

import pytest

from assay.data import DataError, Segment
from assay.metrics.base import parse
from tests.contract.varied import needs_tagger
from tests.metrics.tagged import obvious

pytestmark = needs_tagger

MEASURES = ["f1", "precision", "recall"]
WEIGHTS = {
    "": {},
    "nsubj*2+amod*0.5": {"nsubj": 2, "amod": 0.5},
    "det*0+prep*0.1": {"det": 0, "prep": 0.1},
}


@pytest.fixture
def segments(outputs, references):
    return list(map(Segment, outputs, references))


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("match", ["label", "word"])
def test_shares_are_those_of_relations_matched_by_hand(docs, segments, measure, weights, match):
    def found(line):
        return [(a, b if match == "word" else "") for a, b in obvious.relations(docs[line])]

    def weigh(items):
        return sum(WEIGHTS[weights].get(label, 1) for label, _ in items)

    by_hand = [
        obvious.closest(found(each.hypothesis), [found(line) for line in each.references], weigh)
        for each in segments
    ]
    name = f"relations:match={match},measure={measure}" + f",weights={weights}" * bool(weights)
    statistics = parse(name).statistics(segments)
    assert statistics.corpus() == pytest.approx(obvious.measures(*obvious.total(by_hand))[measure])
    slow = [obvious.measures(*each)[measure] for each in by_hand]
    assert statistics.segments() == pytest.approx(slow)


@pytest.mark.parametrize("types", ["relcl", "nsubj+dobj", "all", "punct", "root"])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_x_score_is_the_sum_of_weights(docs, outputs, types, weights):
    if types != "all":
        weights = ""
    chosen = None if types == "all" else types.split("+")
    counts = [
        sum(WEIGHTS[weights].get(label, 1) for label, _ in obvious.relations(docs[line], chosen))
        for line in outputs
    ]
    name = f"xscore:types={types}" + f",weights={weights}" * bool(weights)
    statistics = parse(name).statistics([Segment(line, ()) for line in outputs])
    assert statistics.segments() == pytest.approx(counts)
    assert statistics.corpus() == pytest.approx(sum(counts))
    words = sum(len(obvious.words(docs[line])) for line in outputs)
    per = parse(f"{name},per=100words").statistics([Segment(line, ()) for line in outputs])
    assert per.corpus() == pytest.approx(100 * sum(counts) / words)


def test_the_x_score_rewards_a_relative_clause_and_punishes_what_is_made_too_often():
    kept = "There was a hearing that lasted more than two hours."
    made = "There was a very heavily brightly colored door."
    metric = parse("xscore:types=relcl+advmod,weights=advmod*-1")
    assert metric.sentence_score(kept, ["x"]).score == 1
    assert metric.sentence_score(made, ["x"]).score < 0
    assert parse("xscore").sentence_score(kept, ["x"]).score == 1
    assert parse("xscore").sentence_score(made, ["x"]).score == 0


def test_words_in_the_same_relation_match_whatever_the_case():
    metric = parse("relations:match=word")
    assert metric.sentence_score("THE dog saw a cat.", ["the dog saw a cat."]).score == 100
    assert metric.sentence_score("The dog saw a cat.", ["A cat saw the dog."]).score == 50
    labels = parse("relations")
    assert labels.sentence_score("The dog saw a cat.", ["A cat saw the dog."]).score == 100


def test_the_counts_by_relation_say_what_is_preserved_and_what_is_made_too_often(docs, segments):
    single = [Segment(each.hypothesis, each.references[:1]) for each in segments]
    by_type = parse("relations:weights=det*0.5").by_type(single)
    for label, counts in by_type.items():
        given, wanted, both = [], [], []
        for output, (reference,), _ in single:
            mine = [a for a, _ in obvious.relations(docs[output]) if a == label]
            other = [a for a, _ in obvious.relations(docs[reference]) if a == label]
            given += mine
            wanted += other
            both += obvious.shared(mine, other)
        weight = 0.5 if label == "det" else 1
        assert list(counts) == [weight * len(each) for each in (given, wanted, both)]
    assert {"nsubj", "det", "prep"} <= {*by_type}
    assert not {"punct", "root", "dep"} & {*by_type}


def test_a_weight_of_0_leaves_a_relation_out(segments):
    # The types that are left are named in the other way.
    left = [label for label in parse("relations").by_type(segments) if label != "det"]
    single = [Segment(each.hypothesis, each.references[:1]) for each in segments]
    zero, others = parse("relations:weights=det*0"), parse(f"relations:types={'+'.join(left)}")
    assert zero.statistics(single).corpus() == others.statistics(single).corpus()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("relations:weights=nsubj", "write each label once with its weight"),
        ("relations:weights=nsubj*two", "write each label once with its weight"),
        ("relations:weights=nsubj*1+nsubj*2", "write each label once with its weight"),
        ("relations:weights=nsubj*0.0001", "at most three decimals"),
        ("relations:weights=nsubj*1000", "below 1000"),
        ("relations:weights=nsubj*1e3", "write each label once"),
        ("relations:weights=nsubj*-1", "weights below 0 go with xscore"),
        ("xscore:weights=nsubj*2", "nsubj has a weight, but does not count; add it to the types"),
        ("relations:match=head", "is not a choice"),
    ],
)
def test_weights_that_make_no_sense_are_errors_that_show_the_way(text, message):
    with pytest.raises(DataError, match=re.escape(message)):
        parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("relations:types=nsbj", "has no 'nsbj' (did you mean 'nsubj'?)"),
        ("relations:weights=ORG*2", "has no 'ORG'"),
        ("xscore:types=relc", "(did you mean 'relcl'?)"),
    ],
)
def test_a_relation_that_the_parser_does_not_know_is_an_error(text, message):
    with pytest.raises(DataError, match=re.escape(message)):
        parse(text).sentence_score("a", ["b"])


def test_relations_need_a_reference_and_the_x_score_does_not():
    with pytest.raises(DataError, match="segment 1 has none"):
        parse("relations").statistics([Segment("a", ())])
    assert parse("xscore").statistics([Segment("a", ())]).corpus() == 0


def test_empty_texts_have_nothing_wrong_and_nothing_to_count():
    assert parse("relations").sentence_score("", [""]).score == 100
    assert parse("relations").sentence_score("", ["dogs chase cats"]).score == 0
    assert parse("xscore").sentence_score("", [""]).score == 0
