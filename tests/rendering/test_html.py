"""The page: self-contained, closed to the network, and deaf to markup in the data."""

import hashlib
import math
import re
import sys
from base64 import b64encode
from html.parser import HTMLParser
from importlib import resources

import pytest
from hypothesis import example, settings
from hypothesis import given as having
from hypothesis import strategies as st

from assay import plots
from assay.rendering.html import html
from assay.rendering.text import visible
from assay.results import STEPS, Cell, Column, Header, Span, Table, graded
from assay.version import __version__

ANY = st.text(st.characters(exclude_categories=()), max_size=30)
VOID = {"meta", "br", "img", "link", "input"}
HOSTILE = "</td></table></script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&amp;"
BARS = plots.bar_chart("Bars", [{"s": "A", "v": 1.0}, {"s": "B", "v": 2.0}], "s", "v")


class Page(HTMLParser):
    """The elements of a page in order, their attributes and the text inside each."""

    def __init__(self, source):
        super().__init__()
        self.elements, self.open = [], []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes), []))
        if tag not in VOID:
            self.open.append(self.elements[-1])

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes), []))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        for element in self.open:
            element[2].append(data)

    def texts(self, tag, **wanted):
        return [
            "".join(text)
            for name, attributes, text in self.elements
            if name == tag and wanted.items() <= attributes.items()
        ]

    def shape(self):
        return [(tag, sorted(attributes)) for tag, attributes, _ in self.elements]


def page_of(given, tables=(), charts=(), header=None):
    page = Page(html(given(tables, charts).with_header(Header(**header or {}))))
    assert page.open == []
    return page


def everywhere(given, words):
    """A page with the same words in every place that takes any."""
    marked = (Span(words, "bad"), Span(words))
    table = Table(words, ("a", words), [("x", words), ("y", marked)], note=words)
    inputs = [{"path": words, "sha256": words, "segments": 3}]
    header = {"title": words, "command": words, "inputs": inputs, "seed": 1}
    return page_of(given, [table] * 4, header=header)


@having(words=ANY)
@example(words=HOSTILE)
@example(words="<!--")
@example(words="{{ 7 * 7 }}{% raw %}")
@settings(max_examples=40, deadline=None)
def test_no_text_changes_the_structure_of_the_page(given, words):
    # Empty texts leave out their paragraphs, so the plain page has the same number of letters.
    words = words or "-"
    page = everywhere(given, words)
    assert page.shape() == everywhere(given, "x").shape()
    shown = visible(words)
    assert page.texts("h1") == [shown]
    assert page.texts("caption") == [shown] * 4
    assert page.texts("mark", **{"class": "bad"}) == [shown] * 4
    cells = page.texts("td")
    assert cells == [shown, f"{shown} {shown}"] * 4


def test_the_page_can_be_written_as_utf8_whatever_the_text(given):
    html(given([Table("\ud800", ("\x00",), [("\udfff\u2028",)])])).encode()


def test_numbers_carry_their_full_value_for_sorting(given):
    rows = [("A", 1 / 3, 7), ("B", math.nan, None)]
    page = page_of(given, [Table("T", ("name", "x", "n"), rows)])
    cells = [(a.get("data-value"), "".join(t)) for tag, a, t in page.elements if tag == "td"]
    assert cells == [(repr(1 / 3), "0.33"), ("7.0", "7"), (None, "–"), (None, "")]


def test_a_number_tells_those_who_point_at_it_what_is_known_of_it(given):
    rows = [("A", Cell(1 / 3, 0.25, 0.5, p=0.01, n=7)), ("B", Cell(2.0))]
    page = page_of(given, [Table("T", ("name", "x"), rows)])
    titles = [a.get("title") for tag, a, _ in page.elements if tag == "td"]
    assert titles == [f"{1 / 3} [0.25, 0.50], p = 0.0100, n = 7", "2.0"]


def test_only_the_best_value_is_set_off(given):
    table = Table("T", ("name", Column("x", direction="low")), [("A", 1.0), ("B", 2.0)])
    assert page_of(given, [table]).texts("td", **{"class": "number best"}) == ["1.00"]


def test_degrees_are_classes_of_the_style_sheet_and_remarks_are_titles(given):
    words = tuple(Span(str(at), graded(at / STEPS), f"{at} <b>") for at in range(-STEPS, STEPS + 1))
    page = page_of(given, [Table("T", ("name", "x"), [("A", words)])])
    marks = [(a, "".join(t)) for tag, a, t in page.elements if tag == "mark"]
    assert [text for _, text in marks] == ["-4", "-3", "-2", "-1", "1", "2", "3", "4"]
    assert all(each["title"] == f"{text} <b>" for each, text in marks)
    style = resources.files("assay.rendering").joinpath("page.css").read_text("utf-8")
    looks = [re.search(rf"mark\.{each['class']} {{ (.*) }}", style)[1] for each, _ in marks]
    assert len(set(looks)) == len(marks)
    assert page.texts("span", title="0 <b>") == ["0"]
    assert not any("style" in attributes for _, attributes, _ in page.elements)


def test_every_table_has_a_caption_and_every_column_a_scope(given):
    page = page_of(given, [Table("T", ("name", "x"), [("A", 1.0)]), Table("U", ("y",), [])])
    assert page.texts("caption") == ["T", "U"]
    assert page.texts("th", scope="col") == ["name", "x", "y"]
    assert page.texts("th", scope="row") == ["A"]
    assert page.texts("p", **{"class": "empty"}) == ["No rows."]


@pytest.mark.parametrize(("tables", "links"), [(3, 0), (4, 4)])
def test_more_than_three_tables_have_a_list_of_contents(given, tables, links):
    page = page_of(given, [Table(f"T{i}", ("a",), [(1,)]) for i in range(tables)])
    targets = [a["href"] for tag, a, _ in page.elements if tag == "a"]
    ids = {a.get("id") for _, a, _ in page.elements}
    assert len(targets) == links
    assert {target.removeprefix("#") for target in targets} <= ids


def test_the_foot_tells_how_the_page_was_made(given):
    digest = hashlib.sha256(b"x").hexdigest()
    inputs = [{"path": "ref.txt", "sha256": digest, "segments": 3}]
    page = page_of(given, header={"command": "assay score", "seed": 0, "inputs": inputs})
    assert page.texts("dt") == ["Command", "Seed", "Inputs", "Made by"]
    assert page.texts("code", title=f"sha256 {digest}") == [digest[:12] + "…"]
    command, seed, entry, version = page.texts("dd")
    assert (command, seed, version) == ("assay score", "0", f"assay {__version__}")
    assert "ref.txt · 3 segments" in entry


def test_nothing_but_the_inline_style_and_script_is_allowed_to_run(given):
    page = page_of(given, [Table("T", ("a",), [(1,)])], [BARS])
    (policy,) = [a["content"] for tag, a, _ in page.elements if "http-equiv" in a]
    rules = dict(rule.split(maxsplit=1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data:"
    for tag in ("style", "script"):
        (text,) = page.texts(tag)
        digest = b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[f"{tag}-src"] == f"'sha256-{digest}'"


def test_the_page_refers_to_nothing_outside_itself(given):
    page = page_of(given, [Table("T", ("a",), [(1,)])] * 4, [BARS])
    for tag, attributes, _ in page.elements:
        assert not {"src", "style", "action"} & attributes.keys(), tag
        assert attributes.get("href", "#").startswith("#")
        assert not any(name.startswith("on") for name in attributes)
    assert "http" not in "".join(page.texts("style") + page.texts("script"))


def test_a_chart_is_drawn_in_a_figure_with_its_numbers_below(given):
    page = page_of(given, charts=[BARS])
    assert page.texts("figcaption") == ["Bars"]
    assert page.texts("svg", role="img", **{"aria-labelledby": "chart-1-title"})
    assert page.texts("h2", id="chart-1-title") == ["Bars"]
    assert page.texts("th", scope="col") == ["s", "v"]
    assert page.texts("td") == ["1.0000", "2.0000"]


def test_of_very_many_numbers_below_a_chart_the_first_are_shown(given):
    records = [{"s": f"s{i}", "v": i} for i in range(203)]
    page = page_of(given, charts=[plots.bar_chart("B", records, "s", "v", horizontal=False)])
    assert len(page.texts("td")) == 200
    assert page.texts("p", **{"class": "note"}) == ["3 more are not shown."]


def test_without_the_extra_the_page_says_what_to_install(given, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    page = page_of(given, [Table("T", ("a",), [(1,)])], [BARS])
    assert page.texts("p", **{"class": "hint"}) == ["Charts need: pip install 'assay-mt[report]'"]
    assert page.texts("td") == ["1"]
    assert not page.texts("svg")


def test_with_the_extra_or_without_charts_there_is_no_such_line(given, monkeypatch):
    assert not page_of(given, charts=[BARS]).texts("p", **{"class": "hint"})
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert not page_of(given).texts("p", **{"class": "hint"})


def test_a_chart_that_cannot_be_drawn_leaves_its_numbers_and_the_page(given):
    broken = type(BARS)("Broken", {**BARS.spec, "layer": [{"mark": "nonsense"}]})
    page = page_of(given, charts=[broken, BARS])
    assert "could not be drawn" in page.texts("p", **{"class": "empty"})[0]
    assert len(page.texts("svg")) == 1
    assert page.texts("td") == ["1.0000", "2.0000"] * 2


def test_an_empty_result_is_a_page_that_says_so(given):
    assert page_of(given).texts("p", **{"class": "empty"}) == ["There is nothing to show."]


def luminance(color):
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


PAIRS = [("ink", "paper"), ("ink", "card"), ("ink", "stripe"), ("soft", "card"), ("soft", "paper")]
PAIRS += [("accent", "paper"), ("ink", "shade")] + [
    (f"{m}-ink", m) for m in ("best", "good", "bad", "note")
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("front", "back"), PAIRS)
def test_the_colours_have_the_contrast_that_wcag_asks_for(scheme, front, back):
    css = resources.files("assay.rendering").joinpath("page.css").read_text(encoding="utf-8")
    light, dark = re.findall(r":root \{(.*?)\}", css, re.DOTALL)[:2]
    colors = dict(re.findall(r"--([\w-]+): (#\w{6})", light if scheme == "light" else dark))
    low, high = sorted(luminance(colors[name]) for name in (front, back))
    assert (high + 0.05) / (low + 0.05) >= 4.5


def test_strong_cells_and_shaded_rows_have_their_classes(given):
    strong, shaded = frozenset({(0, 0), (1, 1), (1, 2)}), frozenset({1})
    rows = [("A", 1.0, "x"), ("B", 2.0, "y")]
    table = Table("T", ("name", "n", "t"), rows, strong=strong, shaded=shaded)
    page = page_of(given, [table])
    assert page.texts("th", **{"class": "strong"}) == ["A"]
    assert page.texts("td", **{"class": "number strong"}) == ["2.00"]
    assert page.texts("td", **{"class": "text strong"}) == ["y"]
    assert page.texts("tr", **{"class": "shaded"}) == ["B2.00y"]


@pytest.mark.parametrize(("columns", "wide"), [(12, 0), (13, 1)])
def test_a_table_of_many_columns_is_set_closer(given, columns, wide):
    table = Table("T", tuple(map(str, range(columns))), [range(columns)])
    page = page_of(given, [table])
    assert len(page.texts("table", **{"class": "wide"})) == wide
    assert page.texts("th", scope="col") == list(map(str, range(columns)))


def test_names_before_a_table_that_can_be_parted_are_names_however_long(given):
    rows = [("  x" * 30, 1.0)]
    page = page_of(given, [Table("T", ("name", "n"), rows, keys=1)])
    assert page.texts("th", scope="row") == ["  x" * 30]
    assert not page_of(given, [Table("T", ("name", "n"), rows)]).texts("th", scope="row")
