"""Explanations as people and machines see them: colours, columns, records, tags."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data import Array, DataError, Dataset, Segment
from assay.explanation.explain import ExplainResult, detection, shaded_words, tagged_words
from assay.explanation.explainers import EXPLAINERS
from assay.explanation.importances import explain_segments, explain_systems, worst_segments
from assay.metrics.base import Metric, Rows, parse
from assay.results import STEPS, Span, graded

DATASET = Dataset(
    {
        "a": ("the cat sat", "no word fits", "one two three", ""),
        "b": ("a dog sat", "here they fit", "one two", "four five"),
    },
    (("the cat sat",), ("here they fit",), ("one two three",), ("four five six",)),
    sources=("die Katze saß", "hier passen sie", "eins zwei drei", "vier fünf sechs"),
)
TAGS = {
    (name, "hypothesis"): [np.arange(len(text.split())) == 0 for text in texts]
    for name, texts in DATASET.systems.items()
}


@dataclass(frozen=True)
class Shared(Metric):
    """The share of the source's letters that are in the output; NAN has none. No reference."""

    name: ClassVar[str] = "shared"
    needs_references: ClassVar[bool] = False
    scale: ClassVar[str] = "0-1"

    def rows(self, segments: Sequence[Segment]) -> Rows:
        return np.array([[_share(segment), 1.0] for segment in segments]).reshape(-1, 2)

    def aggregate(self, sums: Array) -> Array:
        return sums[:, 0] / sums[:, 1]


def _share(segment):
    if "NAN" in segment.hypothesis:
        return np.nan
    return len(set(segment.source) & set(segment.hypothesis)) / (1 + len(set(segment.source)))


def explained(metric="wer", explainer="erasure", dataset=DATASET, **options):
    metric = parse(metric) if isinstance(metric, str) else metric
    return explain_systems(dataset, metric, EXPLAINERS.parse(explainer), seed=3, **options)


def words(table, row, column):
    return [(span.text, span.mark) for span in table.rows[row][column]]


@given(degree=st.floats(-1, 1))
def test_a_grade_is_the_nearest_step(degree):
    step = int((graded(degree) or "0").replace("good-", "").replace("bad-", "-"))
    assert abs(step - STEPS * degree) <= 0.5


@given(degree=st.floats(0, 1))
def test_good_and_bad_are_mirror_images(degree):
    assert graded(-degree) == graded(degree).replace("good", "bad")


def test_the_strongest_word_has_the_strongest_colour_and_its_number_as_remark():
    shown = shaded_words(("a", "b", "c", "d"), np.array([2.0, -1.0, 0.1, np.nan]), 2.0)
    assert shown == (
        Span("a", "good-4", "+2"),
        Span("b", "bad-2", "-1"),
        Span("c", "", "+0.1"),
        Span("d"),
    )


def test_tagged_words_are_noted_in_runs():
    tags = np.array([False, False, True, True, False])
    assert tagged_words("abcde", tags) == (Span("a b"), Span("c d", "note"), Span("e"))


def test_the_records_are_the_importances_of_every_system_word_by_word():
    result = ExplainResult(explained("chrf", "lime", positions=[2, 0]))
    expected = []
    for system in DATASET.systems:
        segments = [DATASET.segments(system)[at] for at in (2, 0)]
        for explanation in explain_segments(
            parse("chrf"), segments, EXPLAINERS.parse("lime"), seed=3
        ):
            for position, token in enumerate(explanation.tokens):
                number, value = (3, 1)[explanation.segment], explanation.importances[position]
                expected.append((system, number, explanation.side, position + 1, token, value))
    names = ("system", "segment", "side", "position", "token", "importance")
    assert [tuple(record) for record in result.records()] == [names] * len(expected)
    assert [tuple(record.values()) for record in result.records()] == expected
    assert {record["side"] for record in result.records()} == {"reference", "hypothesis"}


def test_where_less_is_better_words_that_raise_the_score_are_bad():
    dataset = Dataset({"a": ("the cat really sat",)}, (("the cat sat",),))
    result = ExplainResult(explained("wer", dataset=dataset, sides=("hypothesis",)))
    (table,) = result.tables()
    # Without a neighbour of "really" there is one error still: "really" stands for it.
    shown = [("the", "good-4"), ("cat", ""), ("really", "bad-4"), ("sat", "")]
    assert words(table, 1, 2) == shown
    (really,) = [record for record in result.records() if record["token"] == "really"]
    assert really["importance"] == pytest.approx(100 / 3)


def test_systems_stand_side_by_side_with_a_colour_that_means_the_same():
    (table,) = ExplainResult(explained("chrf", positions=[0])).tables()
    assert table.headings == ("segment", "side", "a", "b")
    assert [row[:2] for row in table.rows] == [
        (1, "score"),
        (None, "source"),
        (None, "reference"),
        (None, "hypothesis"),
    ]
    assert table.rows[0][2] == pytest.approx(100)
    assert table.rows[1][2:] == ((Span("die Katze saß"),), None)
    found = {
        (side, system): explained("chrf", positions=[0]).of_side(system, side)[0].importances
        for side in ("reference", "hypothesis")
        for system in "ab"
    }
    largest = max(np.abs(values).max() for values in found.values())
    for row, side in ((2, "reference"), (3, "hypothesis")):
        for column, system in ((2, "a"), (3, "b")):
            marks = [graded(value / largest) for value in found[side, system]]
            assert [mark for _, mark in words(table, row, column)] == marks


def test_three_systems_come_in_two_tables_on_one_scale():
    texts = dict(DATASET.systems) | {"c": ("the", "they fit here", "two", "six")}
    dataset = Dataset(texts, DATASET.references)
    found = explained("chrf", dataset=dataset, positions=[2])
    both, third = ExplainResult(found).tables()
    assert (both.headings[2:], third.headings[2:]) == (("a", "b"), ("c",))
    only = Dataset({"c": texts["c"]}, DATASET.references)
    (alone,) = ExplainResult(explained("chrf", dataset=only, positions=[2])).tables()
    assert words(alone, 2, 2) == [("two", "good-4")]
    largest = max(
        np.abs(each.importances).max() for sides in found.by_segment.values() for each in sides
    )
    (importance,) = found.of_side("c", "hypothesis")[0].importances
    assert words(third, 2, 2) == [("two", graded(importance / largest))] != words(alone, 2, 2)


@pytest.mark.parametrize("metric", ["chrf", "ter"])
def test_the_worst_segments_are_those_of_the_worst_mean_score(metric):
    parsed = parse(metric)
    means = [
        np.mean([parsed.sentence_score(texts[at], DATASET.references[at]).score for texts in
                 DATASET.systems.values()])
        for at in range(4)
    ]  # fmt: skip
    order = sorted(range(4), key=means.__getitem__, reverse=metric == "ter")
    assert worst_segments(DATASET, parsed, 3) == order[:3]


def test_a_source_is_a_side_of_its_own_where_the_metric_reads_it():
    bare = Dataset(DATASET.systems, ((),) * 4, DATASET.sources)
    result = ExplainResult(explained(Shared(), dataset=bare))
    assert {record["side"] for record in result.records()} == {"source", "hypothesis"}
    (table,) = result.tables()
    assert [row[1] for row in table.rows[:3]] == ["score", "source", "hypothesis"]
    assert "of the source those that it misses" in table.note
    assert "nrefs" not in table.note


def test_the_hypothesis_alone_can_be_explained():
    result = ExplainResult(explained("chrf", sides=("hypothesis",)))
    assert {record["side"] for record in result.records()} == {"hypothesis"}
    assert "misses" not in result.tables()[0].note


def test_what_has_no_number_has_no_colour_and_a_reason():
    result = ExplainResult(explained(Shared(), dataset=Dataset({"a": ("x NAN", "y")}, ((), ()))))
    (table,) = result.tables()
    assert words(table, 2, 2) == [("x", ""), ("NAN", "")]
    assert "segment 1 of a, say: shared gives no number for" in table.note
    assert [record["importance"] for record in result.records()][:2] == [None, None]


def test_rounding_has_no_colour():
    dataset = Dataset({"a": ("nothing fits",)}, (("other words",),))
    (table,) = ExplainResult(explained("bleu", dataset=dataset)).tables()
    assert {mark for _, mark in words(table, 1, 2)} == {""}


def test_only_the_first_of_several_references_is_explained():
    dataset = Dataset({"a": ("the cat",)}, (("the cat", "a cat"),))
    (table,) = ExplainResult(explained("chrf", dataset=dataset)).tables()
    assert [span.text for span in table.rows[1][2]] == ["the", "cat"]
    assert "of the best reference those" in table.note
    assert "|nrefs:2|" in table.note


def test_tags_stand_below_the_words_they_belong_to():
    _, table = ExplainResult(explained("chrf", positions=[0]), labels=TAGS).tables()
    assert [row[1] for row in table.rows][-2:] == ["hypothesis", "tagged"]
    assert words(table, -1, 3) == [("a", "note"), ("dog sat", "")]


@pytest.mark.parametrize("metric", ["chrf", "wer"])
def test_the_words_that_help_least_are_the_suspects(metric):
    result = ExplainResult(explained(metric), labels=TAGS, top=2)
    sign = 1 if metric == "chrf" else -1
    found = [
        detection(-sign * each.importances, TAGS["b", "hypothesis"][each.segment % 4], top=2)
        for each in result.explanations.of_side("b", "hypothesis")
    ]
    quality = result.quality("b", "hypothesis")
    assert (quality.texts, quality.alike, quality.unknown) == (4, 0, 0)
    assert quality.mean == pytest.approx(np.mean(found, axis=0))
    table = result.tables()[0]
    assert table.rows[1] == ("b", "hypothesis", 4, 0, *quality.mean)
    assert table.rows[0][2:4] == (3, 1)
    assert "recall at 2" in table.headings
    records = [record for record in result.records() if record["system"] == "b"]
    aucs = {r["segment"]: r["auc"] for r in records if r["side"] == "hypothesis"}
    assert list(aucs.values()) == pytest.approx([quality.area for quality in found])
    assert [r["tag"] for r in records if r["segment"] == 1] == [None] * 3 + [1, 0, 0]


def test_a_segment_that_is_not_there_is_refused():
    with pytest.raises(DataError, match="there is no segment 5; the texts have 4"):
        explained(positions=[4])
