"""Types, held against a counter that takes its time."""

from collections import Counter

import numpy as np
import pytest

from assay.comparison.types import types
from assay.data import DataError, Dataset
from assay.metrics.typef import MacroF, MicroF
from assay.text import tokenize
from tests.corpora import SHORT, demo

COUNT = 60
SYSTEMS = {name: tuple(demo(f"systems/{name}.txt", COUNT)) for name in ("atlas", "birch", "cedar")}
ONE = Dataset(SYSTEMS, tuple((line,) for line in demo("ref.A.txt", COUNT)))
TWO = Dataset(SYSTEMS, tuple(zip(demo("ref.A.txt", COUNT), demo("ref.B.txt", COUNT), strict=True)))
NASTY = Dataset(
    {"one": SHORT, "two": (*SHORT[1:], SHORT[0])},
    tuple((line, other) for line, other in zip(SHORT, reversed(SHORT), strict=True)),
)


def grams(line, metric):
    (words,) = tokenize([line.lower() if metric.lowercase else line], metric.tokenize)
    orders = range(metric.min_order, metric.max_order + 1)
    return Counter(" ".join(words[at : at + n]) for n in orders for at in range(len(words) - n + 1))


def slow_counts(dataset, system, metric):
    """Wanted, predicted and matched occurrences of every type."""
    wanted, predicted, matched = Counter(), Counter(), Counter()
    for line, references in zip(dataset.systems[system], dataset.references, strict=True):
        mine, goal = grams(line, metric), Counter()
        for reference in references:
            goal |= grams(reference, metric)
        wanted += goal
        predicted += mine
        matched += mine & goal
    return wanted, predicted, matched


@pytest.mark.parametrize("dataset", [ONE, TWO, NASTY], ids=["one", "two", "nasty"])
@pytest.mark.parametrize(
    "metric",
    [MacroF(), MicroF(lowercase=True), MacroF(max_order=2), MacroF(tokenize="none", beta=2)],
    ids=str,
)
def test_records_equal_a_slow_count(dataset, metric):
    records = types(dataset, metric).records()
    for system in dataset.systems:
        wanted, predicted, matched = slow_counts(dataset, system, metric)
        mine = {record["type"]: record for record in records if record["system"] == system}
        assert set(mine) == {*wanted, *predicted}
        for name, record in mine.items():
            refs, preds, match = wanted[name], predicted[name], matched[name]
            assert (record["refs"], record["preds"], record["match"]) == (refs, preds, match)
            assert record["precision"] == pytest.approx(100 * match / preds if preds else 100)
            assert record["recall"] == pytest.approx(100 * match / refs if refs else 100)
            b = metric.beta**2
            assert record["f"] == pytest.approx(100 * (1 + b) * match / (b * refs + preds))


def test_ranks_follow_the_frequency_and_then_the_alphabet():
    records = types(ONE, MacroF()).records()
    wanted = slow_counts(ONE, "atlas", MacroF())[0]
    mine = sorted((r for r in records if r["system"] == "atlas"), key=lambda each: each["rank"])
    order = [(-wanted[record["type"]], record["type"]) for record in mine]
    assert order == sorted(order)
    ranks = {record["type"]: record["rank"] for record in records}
    assert all(record["rank"] == ranks[record["type"]] for record in records)


@pytest.mark.parametrize("metric", [MacroF(), MicroF()], ids=str)
def test_the_mean_over_types_is_the_metric(metric):
    records = types(TWO, metric).records()
    for system in SYSTEMS:
        mine = [record for record in records if record["system"] == system]
        weights = [1 if isinstance(metric, MacroF) else record["refs"] + 1 for record in mine]
        mean = np.average([record["f"] for record in mine], weights=weights)
        assert mean == pytest.approx(metric.statistics(TWO.segments(system)).corpus())


@pytest.mark.parametrize("metric", [MacroF(), MicroF(), MacroF(max_order=2)], ids=str)
def test_buckets_add_up_to_all_types(metric):
    result = types(ONE, metric)
    _, buckets, *_ = result.tables()
    records = result.records()
    for at, system in enumerate(SYSTEMS):
        mine = [record for record in records if record["system"] == system]
        assert sum(row[1 + 2 * at] for row in buckets.rows) == len(mine)
    names = [row[0] for row in buckets.rows]
    assert names[:4] == ["0", "1", "2", "3-4"]


def test_a_bucket_is_scored_by_its_own_types():
    result = types(ONE, MacroF())
    buckets = {row[0]: row[1:] for row in result.tables()[1].rows}
    for name, inside in {"0": {0}, "1": {1}, "3-4": {3, 4}, "5-9": set(range(5, 10))}.items():
        for at, system in enumerate(SYSTEMS):
            mine = [
                record["f"]
                for record in result.records()
                if record["system"] == system and record["refs"] in inside
            ]
            assert buckets[name][2 * at] == len(mine)
            assert buckets[name][2 * at + 1] == pytest.approx(np.mean(mine))


def test_the_most_frequent_types_are_listed_for_every_system():
    table = types(ONE, MacroF(), count=5).tables()[0]
    assert table.title == "The 5 most frequent types"
    assert [row[2] for row in table.rows] == list(SYSTEMS) * 5
    refs = [row[3] for row in table.rows]
    assert refs == sorted(refs, reverse=True)


@pytest.mark.parametrize("count", [1, 4, 7, 1000])
def test_differences_are_the_largest_gains_of_either_side(count):
    result = types(ONE, MacroF(), count=count)
    tables = {table.title: table for table in result.tables()}
    f = {(record["system"], record["type"]): record["f"] for record in result.records()}
    wanted = slow_counts(ONE, "atlas", MacroF())[0]
    for one, other in (("atlas", "birch"), ("atlas", "cedar"), ("birch", "cedar")):
        gains = {
            name: (f.get((one, name), 0) - f.get((other, name), 0)) * refs / 100
            for name, refs in wanted.items()
        }
        rows = tables[f"Types that differ most: {one} and {other}"].rows
        half = (count + 1) // 2
        up = sorted((gain for gain in gains.values() if gain > 0), reverse=True)[:half]
        down = sorted(gain for gain in gains.values() if gain < 0)[:half]
        assert [row[5] for row in rows] == pytest.approx(up + down)
        for better, name, refs, first, second, gain in rows:
            assert better == (one if gain > 0 else other)
            assert refs == wanted[name]
            assert gain == pytest.approx(gains[name])
            assert (first - second) * refs / 100 == pytest.approx(gain)


def test_the_curve_ends_at_the_score_of_the_frequent_types():
    result = types(ONE, MacroF())
    (chart,) = result.charts()
    values = chart.spec["data"]["values"]
    for system in SYSTEMS:
        line = [record for record in values if record["series"] == system]
        ranked = sorted(
            (record for record in result.records() if record["system"] == system),
            key=lambda each: each["rank"],
        )
        f = {record["rank"]: record["f"] for record in ranked}
        for record in (line[0], line[9], line[-1]):
            assert record["y"] == pytest.approx(
                np.mean([f.get(rank, 0) for rank in range(1, record["x"] + 1)])
            )


def test_an_empty_output_gets_no_type_right():
    dataset = Dataset({"none": ("", "")}, (("a b",), ("b",)))
    records = types(dataset, MacroF()).records()
    assert [
        (record["type"], record["refs"], record["preds"], record["f"]) for record in records
    ] == [
        ("b", 2, 0, 0.0),
        ("a", 1, 0, 0.0),
    ]
    assert {(record["precision"], record["recall"]) for record in records} == {(100.0, 0.0)}


def test_text_without_a_word_has_no_types():
    result = types(Dataset({"a": ("", " ")}, (("",), ("",))), MacroF())
    assert result.records() == []
    assert result.charts() == []
    assert all(not table.rows for table in result.tables())


def test_a_hallucinated_type_has_no_gain():
    dataset = Dataset({"a": ("x y",), "b": ("x",)}, (("x",),))
    result = types(dataset, MacroF())
    assert result.tables()[2].rows == []
    hallucinated = next(record for record in result.records() if record["type"] == "y")
    assert (hallucinated["system"], hallucinated["precision"], hallucinated["f"]) == ("a", 0.0, 0.0)


@pytest.mark.parametrize(
    ("dataset", "count", "words"),
    [
        (Dataset({}, (("x",),)), 1, "nothing to count"),
        (Dataset({"a": ()}, ()), 1, "nothing to count"),
        (Dataset({"a": ("x",)}, ((),)), 1, "some segment has none"),
        (ONE, 0, "0 types are nothing to show"),
    ],
)
def test_what_cannot_be_counted_is_refused(dataset, count, words):
    with pytest.raises(DataError, match=words):
        types(dataset, MacroF(), count=count)
