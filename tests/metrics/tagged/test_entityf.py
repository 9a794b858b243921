"""Names of outputs against those of references, matched by hand."""

import pytest

from assay.data import Segment
from assay.metrics.base import parse
from tests.contract.varied import needs_tagger
from tests.metrics.tagged import obvious

pytestmark = needs_tagger

MEASURES = ["f1", "precision", "recall"]


@pytest.fixture
def segments(outputs, references):
    return list(map(Segment, outputs, references))


@pytest.fixture
def sums(docs, segments):
    """By hand: predicted, wanted and matched names of every segment."""

    def call(types=None, lower=False):
        def found(line):
            names = obvious.names(docs[line], types)
            return [(a, tuple(w.lower() if lower else w for w in b)) for a, b in names]

        return [
            obvious.closest(found(each.hypothesis), [found(line) for line in each.references])
            for each in segments
        ]

    return call


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("types", [None, ("ORG",), ("PERSON", "GPE", "DATE")])
def test_shares_are_those_of_names_matched_by_hand(segments, sums, types, measure):
    wanted = "+".join(types) if types else "all"
    statistics = parse(f"entityf:types={wanted},measure={measure}").statistics(segments)
    by_hand = sums(types)
    assert statistics.corpus() == pytest.approx(obvious.measures(*obvious.total(by_hand))[measure])
    slow = [obvious.measures(*each)[measure] for each in by_hand]
    assert statistics.segments() == pytest.approx(slow)


def test_case_is_ignored_where_asked(segments, sums):
    score = parse("entityf:lowercase=yes").statistics(segments).corpus()
    assert score == pytest.approx(obvious.measures(*obvious.total(sums(lower=True)))["f1"])


def test_the_counts_by_type_are_those_of_each_type_alone(segments):
    # With one reference; of several, each type alone might prefer another one.
    single = [Segment(each.hypothesis, each.references[:1]) for each in segments]
    by_type = parse("entityf").by_type(single)
    assert list(by_type) == sorted(by_type)
    assert {"PERSON", "DATE"} <= {*by_type}
    for label, counts in by_type.items():
        alone = parse(f"entityf:types={label}").rows(single).sum(axis=0)
        assert list(counts) == alone[:3].tolist()


def test_the_counts_by_type_add_up_to_the_rows(segments):
    metric = parse("entityf")
    sums = [sum(column) for column in zip(*metric.by_type(segments).values(), strict=True)]
    assert sums == metric.rows(segments).sum(axis=0)[:3].tolist()


def test_a_name_is_right_as_often_as_the_reference_has_it():
    output = "He flew from Paris to Berlin and back to Paris."
    scores = {
        measure: parse(f"entityf:types=GPE,measure={measure}")
        .sentence_score(output, ["He flew to Paris."])
        .score
        for measure in MEASURES
    }
    assert scores == pytest.approx({"f1": 50, "precision": 100 / 3, "recall": 100})


def test_the_article_that_begins_a_name_does_not_count():
    segment = Segment("The European Commission met.", ("European Commission met.",))
    assert parse("entityf:types=ORG").rows([segment]).tolist() == [[1, 1, 1, 1]]


@pytest.mark.parametrize("measure", MEASURES)
def test_where_there_is_no_name_nothing_is_wrong(measure):
    metric = parse(f"entityf:measure={measure}")
    assert metric.sentence_score("it is so", ["so it is"]).score == 100
    assert metric.sentence_score("", [""]).score == 100


def test_a_name_too_many_or_too_few_is_all_wrong():
    made_up = parse("entityf").sentence_score("He saw Berlin.", ["He saw it."])
    lost = parse("entityf").sentence_score("He saw it.", ["He saw Berlin."])
    assert made_up.score == lost.score == 0
    assert parse("entityf:measure=recall").sentence_score("He saw Berlin.", ["it"]).score == 100
    assert parse("entityf:measure=precision").sentence_score("it", ["He saw Berlin."]).score == 100
