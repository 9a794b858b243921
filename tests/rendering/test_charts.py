"""Drawing: nothing from the data runs, loads, or stops the process."""

import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from xml.etree import ElementTree

import numpy as np
import pytest
import vl_convert
from hypothesis import example, settings
from hypothesis import given as having
from hypothesis import strategies as st

from assay import plots
from assay.data import DataError
from assay.rendering.charts import chart_data, drawing, sanitised, write_charts
from assay.rendering.text import visible
from assay.results import Chart

ANY = st.text(st.characters(exclude_categories=()), max_size=20)


def drawn(chart, prefix="c-"):
    return ElementTree.fromstring(drawing(chart, vl_convert, prefix=prefix))


def bars(label):
    return plots.bar_chart("Bars", [{"s": label, "v": 1.0}], "s", "v", series="s")


@having(words=ANY)
@example(words="<script>alert(1)</script>")
@example(words="]]>\"'&amp;<!--")
@example(words="a\x1b[0m\x00\x08\ufffe\ud800")
@example(words="\\b\\u0000")
@example(words="constructor")
@example(words="😀" * 50)
@settings(max_examples=25, deadline=None)
def test_no_label_changes_the_drawing_or_stops_it(words):
    words = words.strip() or "x"
    shape = [each.tag for each in drawn(bars("x")).iter()]
    svg = drawn(bars(words))
    # Labels that are cut short have their full text in a title.
    assert [each.tag for each in svg.iter() if each.tag != "title"] == shape


@pytest.mark.parametrize("member", ["constructor", "toString", "valueOf", "__proto__", "if"])
def test_a_label_may_be_called_like_what_javascript_or_vega_takes_for_its_own(member):
    assert f"{member}\u200b" in [each.text for each in drawn(bars(member)).iter("text")]


@pytest.mark.parametrize("words", ["<script>alert(1)</script>", "a & b", "a\tb", "]]>", "שלום"])
def test_a_short_label_is_shown_as_it_is(words):
    texts = [each.text for each in drawn(bars(words)).iter("text")]
    assert texts.count(visible(words)) == 2


def test_scripts_links_styles_and_foreign_parts_are_left_out():
    svg = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
        width="1" onload="alert(1)" style="x"><script>alert(1)</script><a href="javascript:x">
        <text>in a link</text></a><foreignObject><p>x</p></foreignObject><style>x</style>
        <image xlink:href="http://x/"/><use href="#x"/><g onclick="x" fill="red"><set/></g></svg>"""
    root = ElementTree.fromstring(sanitised(svg, "c-"))
    kept = [(each.tag, sorted(each.attrib)) for each in root.iter()]
    assert kept == [("svg", ["aria-labelledby", "role", "width"]), ("g", ["fill"])]


def test_two_drawings_share_no_ids_and_each_refers_to_its_own():
    records = [{"a": a, "b": b, "v": a + b} for a in (1, 2) for b in (1, 2)]
    chart = plots.heat_map("H", records, "a", "b", "v")
    for prefix in ("one-", "two-"):
        root = drawn(chart, prefix)
        ids = {each.get("id") for each in root.iter() if each.get("id")}
        uses = {v[5:-1] for e in root.iter() for v in e.attrib.values() if v.startswith("url(#")}
        assert ids == uses
        assert ids
        assert all(each.startswith(prefix) for each in ids)


@pytest.mark.parametrize(
    "change",
    [
        lambda url: {"data": {"url": url}},
        lambda url: {"layer": [{"mark": "bar", "data": {"url": url}}]},
        lambda url: {"encoding": {"href": {"value": url}}},
    ],
)
def test_a_chart_that_would_load_something_is_refused_and_nothing_is_asked_for(change):
    asked = []

    class Server(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/x.csv"
    spec = {**plots.bar_chart("B", [{"s": "a", "v": 1}], "s", "v").spec, **change(url)}
    try:
        with pytest.raises(DataError, match="holds its data inside"):
            drawing(Chart("x", spec), vl_convert, prefix="c-")
    finally:
        server.shutdown()
        server.server_close()
    assert asked == []


def test_data_may_have_fields_that_are_called_url():
    records = [{"url": "http://x/", "href": 1.0}]
    assert drawing(plots.bar_chart("B", records, "url", "href"), vl_convert, prefix="c-")
    spec = {"data": {"values": records}, "mark": "point", "encoding": {}}
    assert drawing(Chart("x", spec), vl_convert, prefix="c-")


def test_the_text_takes_the_colour_of_the_page():
    inks = {each.get("fill") for each in drawn(bars("x")).iter("text")}
    assert inks == {"currentColor"}


def test_numpy_and_nan_in_a_specification_are_drawn():
    values = [{"x": np.float64(1.0), "y": np.int64(2)}, {"x": float("nan"), "y": 3}]
    encoding = {key: {"field": key, "type": "quantitative"} for key in "xy"}
    spec = {"data": {"values": values}, "mark": "point", "encoding": encoding}
    assert drawing(Chart("x", spec), vl_convert, prefix="c-")


def test_the_data_of_a_chart_come_back_under_their_own_names():
    records = [{"sy.s": "A", "[v]": 1.0, "unused": 3}]
    assert chart_data(plots.bar_chart("B", records, "sy.s", "[v]")) == [{"sy.s": "A", "[v]": 1.0}]
    assert chart_data(Chart("x", {"mark": "bar"})) == []


@pytest.mark.parametrize(
    ("suffix", "magic"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")]
)
def test_charts_are_written_to_files_named_after_their_titles(tmp_path, suffix, magic):
    charts = [plots.bar_chart(t, [{"s": "A", "v": 1}], "s", "v") for t in ("A/../b: <c>", "星")]
    paths = write_charts(charts, tmp_path / "new", suffix)
    assert [path.name for path in paths] == [f"01-a-b-c.{suffix}", f"02-chart.{suffix}"]
    assert all(path.read_bytes().startswith(magic) for path in paths)
    assert {path.parent for path in paths} == {tmp_path / "new"}


def test_without_the_extra_writing_charts_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(DataError, match=r"pip install 'assay-mt\[report\]'"):
        write_charts([bars("x")], tmp_path)
