"""Favoritism, held against scoring again without each segment."""

import numpy as np
import pytest

from assay.comparison.favoritism import favor
from assay.data import DataError, Dataset
from assay.metrics.base import METRICS, parse, registered
from assay.rendering import render
from tests.contract.varied import AVAILABLE, STRINGS, parameters
from tests.corpora import SHORT, demo

COUNT = 30
SYSTEMS = {name: tuple(demo(f"systems/{name}.txt", COUNT)) for name in ("atlas", "birch", "cedar")}
DATASET = Dataset(
    SYSTEMS,
    tuple(zip(demo("ref.A.txt", COUNT), demo("ref.B.txt", COUNT), strict=True)),
    tuple(demo("src.txt", COUNT)),
)


def part(dataset, chosen):
    """The dataset of some of the segments."""
    return Dataset(
        {name: tuple(lines[at] for at in chosen) for name, lines in dataset.systems.items()},
        tuple(dataset.references[at] for at in chosen),
        sources=tuple(dataset.sources[at] for at in chosen) if dataset.sources else (),
    )


def scores(dataset, metric):
    return np.array(
        [metric.statistics(dataset.segments(name)).corpus() for name in dataset.systems]
    )


def brute_force(dataset, metric):
    """Benefits of every system and segment, each from a scoring of its own."""
    whole, sign = scores(dataset, metric), 1 if metric.higher_is_better else -1
    places = range(len(dataset))
    return np.array(
        [
            sign * (whole - scores(part(dataset, [i for i in places if i != at]), metric))
            for at in places
        ]
    ).T


@pytest.mark.parametrize("metric", parameters(registered()), ids=str)
def test_favoritism_equals_scoring_again_without_each_segment(metric):
    result = favor(DATASET, [metric], count=COUNT)
    first, *others = brute_force(DATASET, metric)
    assert [(pair.system, pair.other) for pair in result.pairs] == [
        ("atlas", "birch"),
        ("atlas", "cedar"),
    ]
    for pair, other in zip(result.pairs, others, strict=True):
        assert pair.benefit == pytest.approx(first, abs=1e-9)
        assert pair.benefit_other == pytest.approx(other, abs=1e-9)
        assert pair.values == pytest.approx(first - other, abs=1e-9)


@pytest.mark.parametrize("metric", STRINGS, ids=str)
def test_positive_favours_the_first_system_whichever_way_is_better(metric):
    good = ("the cat sat on the mat today", "a small dog ran in the park")
    bad = ("the cat sat on the mat today", "nothing of it is right here")
    result = favor(
        Dataset({"good": good, "bad": bad}, tuple((line,) for line in good)), [metric], count=2
    )
    (each,) = result.pairs
    assert each.values[1] > 0
    turned = favor(
        Dataset({"bad": bad, "good": good}, tuple((line,) for line in good)), [metric], count=2
    )
    assert turned.pairs[0].values == pytest.approx(-each.values)


@pytest.mark.parametrize("metric", parameters(registered()), ids=str)
def test_hostile_text_has_the_favoritism_of_brute_force(metric):
    lines = SHORT[:14]
    dataset = Dataset(
        {"one": tuple(lines), "two": (*lines[1:], lines[0])},
        tuple((line,) for line in lines),
        languages=("de", "en"),
    )
    (each,) = favor(dataset, [metric], count=3).pairs
    first, other = brute_force(dataset, metric)
    assert each.values == pytest.approx(first - other, abs=1e-9)


def test_records_hold_every_segment_strongest_first_whatever_is_shown():
    result = favor(DATASET, METRICS.parse_all(["macrof", "ter"]), count=4)
    records = result.records()
    assert len(records) == 2 * 2 * COUNT
    assert all(len(table.rows) == 4 * 4 for table in result.tables()[1:])
    for pair in result.pairs:
        mine = [
            record
            for record in records
            if (record["metric"], record["other"]) == (str(pair.metric), pair.other)
        ]
        sizes = np.abs(pair.values)
        assert [abs(record["favoritism"]) for record in mine] == sorted(sizes, reverse=True)
        for record in mine:
            at = record["segment"] - 1
            assert record["favoritism"] == pair.values[at]
            assert record["benefit"] - record["benefit_other"] == record["favoritism"]


def test_ties_stand_in_the_order_of_the_text():
    lines = ("a b c d e",) * 5
    dataset = Dataset({"one": lines, "two": ("a b c d x",) * 5}, tuple((x,) for x in lines))
    records = favor(dataset, [parse("bleu")], count=5).records()
    assert [record["segment"] for record in records] == [1, 2, 3, 4, 5]


def test_identical_systems_have_no_favourite():
    dataset = Dataset({"one": SYSTEMS["atlas"], "two": SYSTEMS["atlas"]}, DATASET.references)
    result = favor(dataset, AVAILABLE, count=3)
    for pair in result.pairs:
        assert not pair.values.any()
    assert all(row[-1] == COUNT for row in result.tables()[0].rows)


def test_the_summary_counts_the_segments_of_each_side():
    result = favor(DATASET, METRICS.parse_all(["bleu", "chrf"]), count=3)
    summary = result.tables()[0]
    for row, pair in zip(summary.rows, result.pairs, strict=True):
        assert row[:5] == (pair.metric.title, "atlas", pair.scores[0], pair.other, pair.scores[1])
        assert row[5:] == (
            (pair.values > 0).sum(),
            pytest.approx(pair.values[pair.values > 0].sum()),
            (pair.values < 0).sum(),
            pytest.approx(-pair.values[pair.values < 0].sum()),
            (pair.values == 0).sum(),
        )
        assert row[5] + row[7] + row[9] == COUNT


def test_segments_that_favour_the_worse_system_are_explained_beside_their_number():
    lines = ("a b c d e f", "g h i j k l", "m n o p q r", "s t u v w x")
    # "evenly" is wrong a little everywhere, "once" is right but for one whole segment.
    evenly = ("a b c d e z", "g h i j k z", "m n o p q z", "s t u v w z")
    once = (*lines[:3], "z z z z z z")
    dataset = Dataset({"evenly": evenly, "once": once}, tuple((line,) for line in lines))
    (each,) = favor(dataset, [parse("ter")], count=1).pairs
    assert each.scores[0] < each.scores[1]  # TER: evenly is better
    assert (each.values < 0).sum() == 3
    assert each.contradicts
    note = favor(dataset, [parse("ter")], count=1).tables()[0].note
    assert "by TER, most favour once, and the score is better for evenly" in note
    agreeing = favor(dataset, [parse("chrf")], count=1)
    assert agreeing.pairs[0].contradicts == ("most favour" in agreeing.tables()[0].note)


def test_the_texts_stand_below_their_favoritism():
    table = favor(DATASET, [parse("macrof")], count=2).tables()[1]
    assert table.title == "MacroF1: atlas or birch?"
    assert [row[3] for row in table.rows] == ["source", "reference", "atlas", "birch"] * 2
    rank, value, number, _, _ = table.rows[0]
    assert rank == 1
    assert [row[:3] for row in table.rows[1:4]] == [(None, None, None)] * 3
    texts = [" ".join(span.text for span in row[4]) for row in table.rows[:4]]
    at = number - 1
    assert texts == [
        DATASET.sources[at],
        DATASET.references[at][0],
        SYSTEMS["atlas"][at],
        SYSTEMS["birch"][at],
    ]
    assert isinstance(value, float)


def test_metrics_of_one_title_are_told_apart():
    result = favor(DATASET, METRICS.parse_all(["bleu", "bleu:tok=intl"]), count=1)
    titles = [table.title for table in result.tables()]
    assert "bleu:tok=intl: atlas or birch?" in titles
    curve, against = result.charts()
    assert against.title == "Do bleu and bleu:tok=intl agree?"
    lines = {record["series"] for record in curve.spec["data"]["values"]}
    assert len(lines) == 4


def test_the_curve_ends_at_the_sum_of_all():
    result = favor(DATASET, [parse("chrf")], count=1)
    values = result.charts()[0].spec["data"]["values"]
    for pair in result.pairs:
        line = [value for value in values if value["series"].endswith(pair.other)]
        assert line[-1]["x"] == COUNT
        assert line[-1]["y"] == pytest.approx(pair.values.sum())
        assert max(value["y"] for value in line) == pytest.approx(
            pair.values[pair.values > 0].sum()
        )


def test_chinese_is_marked_by_the_metric_s_own_words():
    lines = ("我们去了北京。", "今天天气很好。")
    other = ("我们去了上海。", "今天天气很好。")
    dataset = Dataset({"one": lines, "two": other}, tuple((line,) for line in lines))
    table = favor(dataset, [parse("macrof:tok=zh")], count=1).tables()[1]
    marks = {row[3]: {span.text for span in row[4] if span.mark} for row in table.rows}
    assert marks == {"reference": {"北 京"}, "one": {"北 京"}, "two": {"上 海"}}


def test_hostile_text_is_escaped_on_the_page():
    nasty = "<script>alert(1)</script> <img src=x onerror=alert(1)> \"'&"
    dataset = Dataset(
        {"<b>one</b>": (nasty, "x"), "two": ("y", "x")}, ((nasty,), ("x",)), (nasty, "x")
    )
    page = render(favor(dataset, [parse("macrof")], count=2), "html")
    assert page.count("<script>") == 1
    assert "<img" not in page
    assert "<b>one" not in page
    assert "&lt;img src=x" in page


@pytest.mark.parametrize(
    ("dataset", "metrics", "count", "words"),
    [
        (Dataset({}, (("x",), ("y",))), ["bleu"], 1, "compares two systems"),
        (Dataset({"a": ("x", "y")}, (("x",), ("y",))), ["bleu"], 1, "compares two systems"),
        (Dataset({"a": ("x",), "b": ("y",)}, (("x",),)), ["bleu"], 1, "needs at least two"),
        (DATASET, [], 1, "no metric given"),
        (DATASET, ["bleu"], 0, "0 segments are nothing to show"),
        (DATASET, ["bleu"], -1, "-1 segments are nothing to show"),
    ],
)
def test_what_cannot_be_compared_is_refused(dataset, metrics, count, words):
    with pytest.raises(DataError, match=words):
        favor(dataset, METRICS.parse_all(metrics), count=count)


def test_metrics_that_need_no_reference_show_the_outputs_beside_the_source():
    bare = Dataset(SYSTEMS, ((),) * COUNT, DATASET.sources)
    result = favor(bare, [parse("random")], count=2)
    table = result.tables()[1]
    assert [row[3] for row in table.rows[:3]] == ["source", "atlas", "birch"]
    assert "Green" not in table.note
