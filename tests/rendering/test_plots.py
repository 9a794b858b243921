"""Pictures of records: what is drawn is what the numbers say."""

import json
import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest
import vl_convert

from assay import plots
from assay.rendering.charts import drawing

ODD = ["a.b", "a[0]", 'a"b', "a'b", "a\\b", "", "datum['x']", "toString", "\x1b", "\ud800", "y"]
LENGTHS = [5, 10, 20, 40]


def drawn(chart):
    return ElementTree.fromstring(drawing(chart, vl_convert, prefix="c-"))


def marks(svg, kind):
    """The elements of the marks of one kind, as Vega groups them."""
    groups = [each for each in svg.iter("g") if f"mark-{kind} role-mark" in each.get("class", "")]
    return [each for group in groups for each in group if each.tag != "g"]


def texts(svg):
    return [each.text for each in svg.iter("text")]


def lengths_of_bars(svg):
    return [float(re.search(r"h([\d.]+)", bar.get("d"))[1]) for bar in marks(svg, "rect")]


def lines(**options):
    records = [
        {"n": n, "bleu": 20 + n / 10 + s, "lo": 19 + s, "hi": 25 + s, "sys": f"S{s}"}
        for s in range(3)
        for n in LENGTHS
    ]
    return plots.line_chart("L", records, "n", "bleu", "sys", **options)


def test_bars_are_as_long_as_their_values():
    records = [{"s": "A", "v": 10.0}, {"s": "B", "v": 20.0}, {"s": "C", "v": 5.0}]
    a, b, c = lengths_of_bars(drawn(plots.bar_chart("B", records, "s", "v")))
    assert (b / a, c / a) == pytest.approx((2, 0.5))


@pytest.mark.parametrize("name", ODD)
def test_a_field_may_have_any_name(name):
    records = [{"s": "A", name: 10.0}, {"s": "B", name: 20.0}]
    a, b = lengths_of_bars(drawn(plots.bar_chart("B", records, "s", name)))
    assert b / a == pytest.approx(2)


@pytest.mark.parametrize("horizontal", [True, False])
def test_categories_and_series_keep_the_order_of_the_records(horizontal):
    records = [{"s": s, "m": m, "v": 1.0} for s in ("zebra", "ape") for m in ("TER", "BLEU")]
    shown = texts(drawn(plots.bar_chart("B", records, "s", "v", "m", horizontal=horizontal)))
    assert [each for each in shown if each in ("zebra", "ape")] == ["zebra", "ape"]
    assert [each for each in shown if each in ("TER", "BLEU")] == ["TER", "BLEU"]


@pytest.mark.parametrize("series", [None, "m"])
def test_error_bars_reach_from_low_to_high(series):
    records = [{"s": s, "m": "x", "v": 10.0, "lo": 5.0, "hi": 10.0 + i} for i, s in enumerate("AB")]
    svg = drawn(plots.bar_chart("B", records, "s", "v", series, low="lo", high="hi"))
    (bar, _), rules = lengths_of_bars(svg), marks(svg, "rule")
    spans = [abs(float(rule.get("x2"))) for rule in rules]
    assert spans == pytest.approx([bar * 0.5, bar * 0.6])


def test_a_line_chart_has_a_line_per_series_and_one_legend():
    svg = drawn(lines())
    assert len(marks(svg, "line")) == 3
    assert len(marks(svg, "symbol")) == 3 * len(LENGTHS)
    assert [texts(svg).count(f"S{s}") for s in range(3)] == [1, 1, 1]


def test_a_band_is_an_area_per_series():
    assert len(marks(drawn(lines(band=("lo", "hi"))), "area")) == 3
    assert not marks(drawn(lines()), "area")


def test_on_a_log_axis_doublings_are_equally_far_apart():
    path = marks(drawn(lines(log_x=True)), "line")[0].get("d")
    xs = [float(x) for x in re.findall(r"[ML]([\d.]+),", path)]
    assert xs[0] == 0
    assert np.diff(xs) == pytest.approx([xs[1] - xs[0]] * 3, abs=0.01)


def test_an_axis_of_words_keeps_their_order():
    records = [{"x": x, "y": 1.0, "s": "A"} for x in ("1-9", "10-19", "20+", "100+")]
    shown = texts(drawn(plots.line_chart("L", records, "x", "y", "s")))
    assert [each for each in shown if each in ("1-9", "10-19", "20+", "100+")] == [
        "1-9",
        "10-19",
        "20+",
        "100+",
    ]


def test_axes_have_the_titles_they_were_given_or_the_fields_names():
    assert {"words", "BLEU"} <= set(texts(drawn(lines(x_title="words", y_title="BLEU"))))
    assert {"n", "bleu"} <= set(texts(drawn(lines())))


@pytest.mark.parametrize(("points", "labels"), [(40, 40), (41, 0)])
def test_few_points_have_labels_and_many_have_none(points, labels):
    records = [{"a": i, "b": i * i, "name": f"point {i}"} for i in range(points)]
    svg = drawn(plots.scatter("S", records, "a", "b", "name"))
    assert len(marks(svg, "symbol")) == points
    assert len(marks(svg, "text")) == labels


def grid(value, size=3):
    return [
        {"a": f"a{i}", "b": f"b{j}", "v": value(i, j)} for i in range(size) for j in range(size)
    ]


def test_a_heat_map_has_a_cell_and_a_figure_per_record():
    svg = drawn(plots.heat_map("H", grid(lambda i, j: i + j / 10), "a", "b", "v", digits=1))
    assert len(marks(svg, "rect")) == 9
    assert sorted(each.text for each in marks(svg, "text")) == sorted(
        f"{i + j / 10:.1f}" for i in range(3) for j in range(3)
    )


def test_figures_are_left_out_of_cells_too_narrow_for_them():
    svg = drawn(plots.heat_map("H", grid(lambda i, j: i * j, size=25), "a", "b", "v"))
    assert len(marks(svg, "rect")) == 625
    assert not marks(svg, "text")


def test_diverging_colours_are_paler_the_nearer_to_zero_on_both_sides():
    records = grid(lambda i, j: (i * 3 + j) - 2.0)
    svg = drawn(plots.heat_map("H", records, "a", "b", "v", diverging=True))
    reds = [re.findall(r"\d+", each.get("fill")) for each in marks(svg, "rect")]
    light = [sum(map(int, each)) for each in reds]
    zero = [record["v"] for record in records].index(0.0)
    assert max(light) == light[zero]
    assert light[0] > light[-1]  # -2 is nearer to zero than 6


def test_unknown_values_are_null_and_numpy_is_unwrapped():
    records = [{"s": "A", "v": np.float64("nan")}, {"s": "B", "v": np.int64(2)}]
    chart = plots.bar_chart("B", records, "s", "v")
    values = json.loads(json.dumps(chart.spec, allow_nan=False))["data"]["values"]
    assert [each["y"] for each in values] == [None, 2]
    assert drawn(chart) is not None


@pytest.mark.parametrize(
    "chart",
    [
        plots.line_chart("T", [], "x", "y", "s", note="N"),
        plots.bar_chart("T", [], "x", "y", "s", low="l", high="h", note="N"),
        plots.scatter("T", [], "x", "y", "s", note="N"),
        plots.heat_map("T", [], "x", "y", "v", note="N"),
        plots.heat_map("T", [{"x": 1, "y": 1, "v": math.nan}], "x", "y", "v", note="N"),
    ],
)
def test_charts_of_nothing_are_drawn_too(chart):
    assert drawn(chart) is not None
    assert (chart.title, chart.note) == ("T", "N")
    assert chart.spec["$schema"].endswith("/v5.json")


def test_no_chart_is_wider_than_a_page():
    records = [{"x": f"category {i}", "m": m, "v": i, "u": i} for i in range(40) for m in "ab"]
    charts = [
        plots.bar_chart("B", records, "x", "v", "m", horizontal=False),
        plots.bar_chart("B", records, "x", "v", "m"),
        plots.heat_map("H", records, "x", "m", "v"),
        plots.line_chart("L", records, "v", "u", "m"),
        plots.scatter("S", records, "v", "u", "x"),
    ]
    assert max(float(drawn(chart).get("width")) for chart in charts) < 1000
