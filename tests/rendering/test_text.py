"""Text for the terminal: aligned, complete, and safe whatever the data."""

import math
import re
import subprocess
import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given as having
from hypothesis import settings
from hypothesis import strategies as st

from assay.comparison.types import types
from assay.data import Dataset
from assay.rendering import render
from assay.rendering.text import text
from assay.results import STEPS, Cell, Column, Span, Table, graded

ANY = st.text(st.characters(exclude_categories=()), max_size=40)
MARKED = (Span("a"), Span("cat", "good"), Span("dog", "bad"), Span("cow", "note"))


def printed_width(line):
    """The cells a line takes on a terminal, by the book: two for wide characters."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def lines_of(given, table, **options):
    return text(given([table]), **options).split("\n")


def test_floats_have_their_digits_and_integers_none(given):
    table = Table("T", ("n", "a", Column("b", digits=5)), [(1000, 1.23456, 0.00004)])
    assert lines_of(given, table, digits=1)[3].split() == ["1000", "1.2", "0.00004"]


def test_the_digits_of_scores_are_not_those_of_percentages_and_p(given):
    wins, frequency = Column("wins", unit="%"), Column("frequency % a", digits=2)
    columns = ("BLEU", wins, frequency, Column("p", style="p"))
    table = Table("T", columns, [(1.23456, 45.6789, 0.0312, 0.00001)])
    assert lines_of(given, table, digits=4)[3].split() == ["1.2346", "45.68", "0.03", "<0.0001"]
    assert lines_of(given, table, digits=0)[3].split() == ["1", "45.68", "0.03", "<0.0001"]


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (None, ""),
        (math.nan, "–"),
        (math.inf, "inf"),
        (-0.001, "0.00"),
        (-1.5, "-1.50"),
        (np.float32(0.5), "0.50"),
        (np.int64(7), "7"),
        (True, "yes"),
        (1e300, "1.00e+300"),
    ],
)
def test_every_kind_of_number_is_shown_in_its_way(given, cell, shown):
    assert (
        lines_of(given, Table("", ("name", "value"), [("x", cell)]))[2]
        == f"x     {shown:>5}".rstrip()
    )


def test_numbers_stand_flush_right_and_texts_flush_left(given):
    lines = lines_of(given, Table("T", ("name", "n"), [("a", 5), ("bcdef", 1234)]))
    assert lines[1:2] + lines[3:5] == ["name      n", "a         5", "bcdef  1234"]


def test_intervals_count_as_numbers_but_names_of_digits_do_not(given):
    lines = lines_of(given, Table("", ("name", "95 %"), [("7", "[1, 2]"), ("123", "[10, 20]")]))
    assert lines[2:4] == ["7       [1, 2]", "123   [10, 20]"]


def test_wide_characters_stay_aligned(given):
    rows = [("星期二", 1), ("abc", 22), ("ｆｕｌｌ", 333)]
    lines = lines_of(given, Table("", ("name", "n"), rows))
    assert {printed_width(line) for line in lines[:5]} == {len(lines[1])}


def test_figures_are_never_cut_however_narrow_the_terminal(given):
    values = [1234567.123456 * (i + 1) for i in range(12)]
    table = Table("", tuple(f"column {i}" for i in range(12)), [values])
    shown = text(given([table]), width=40, digits=6)
    assert all(f"{value:.6f}" in shown for value in values)
    assert "…" not in shown


def test_long_texts_wrap_within_the_width_and_nothing_is_lost(given):
    words = [f"word{i}" for i in range(100)] + ["x" * 150]
    rows = [(1, " ".join(words), 0.5)]
    lines = lines_of(given, Table("T", ("n", "text", "score"), rows), width=80)
    assert max(map(len, lines)) <= 80
    assert "".join(words) in re.sub(r"\s", "", "".join(line[3:75] for line in lines[3:]))


def test_without_a_terminal_ordinary_tables_have_one_line_per_row(given):
    rows = [("a name of some length", *[f"[{i}.12, {i}.34]" for i in range(8)])] * 2
    lines = lines_of(given, Table("", ("name", *"abcdefgh"), rows))
    assert len(lines) == len(["head", "rule", *rows, ""])


def test_without_colour_words_are_marked_as_wdiff_does(given):
    assert "a {+cat+} [-dog-] [cow]" in text(given([Table("", ("x",), [(MARKED,)])]))


def test_marked_words_are_green_red_and_yellow_in_colour(given):
    shown = text(given([Table("", ("x",), [(MARKED,)])]), color=True)
    assert "a \x1b[32mcat\x1b[0m \x1b[31mdog\x1b[0m \x1b[33mcow\x1b[0m" in shown


DEGREES = tuple(Span(f"word{at}", graded(at / STEPS)) for at in range(-STEPS, STEPS + 1))


def test_without_colour_degrees_stand_behind_the_words(given):
    shown = text(given([Table("", ("x",), [(DEGREES,)])]))
    expected = [f"word{at}{'{+' if at > 0 else '['}{at}{'}' if at > 0 else ']'}" for at in
                (-4, -3, -2, -1, 1, 2, 3, 4)]  # fmt: skip
    assert shown.split("\n")[2].split() == [*expected[:4], "word0", *expected[4:]]


def test_every_degree_has_a_background_of_its_own_and_only_bad_words_are_underlined(given):
    shown = text(given([Table("", ("x",), [(DEGREES,)])]), color=True)
    styles = dict(re.findall(r"\x1b\[([\d;]*)m(word-?\d)\x1b\[0m", shown))
    assert list(styles.values()) == [span.text for span in DEGREES if span.mark]
    backgrounds = {style: re.search(r"48;5;(\d+)", style)[1] for style in styles}
    assert len(set(backgrounds.values())) == len(DEGREES) - 1
    underlined = [word for style, word in styles.items() if "4" in style.split(";")[:1]]
    assert underlined == ["word-4", "word-3", "word-2", "word-1"]


def test_the_best_values_are_bold_and_green_only_in_colour(given):
    columns = (Column("BLEU", direction="high"), Column("TER", direction="low"))
    rows = [(30.001, 70.0), (30.004, 50.0), (20.0, math.nan)]
    table = Table("", columns, rows)
    shown = text(given([table]), color=True)
    assert re.findall(r"\x1b\[1;32m *([\d.]+)\x1b\[0m", shown) == ["30.00", "30.00", "50.00"]
    assert "\x1b" not in text(given([table]))


@pytest.mark.parametrize(
    ("column", "cell", "shown"),
    [
        (Column("a"), Cell(1.25, 1.0, 1.5, p=0.01, n=3), "1.2"),
        (Column("a"), Cell(1.25, mark="*"), "1.2*"),
        (Column("a"), Cell(1.25, approximate=True), "~1.2"),
        (Column("a"), Cell(3), "3"),
        (Column("a"), Cell(math.nan, mark="*"), "–*"),
        (Column("a", finer=True), 0.12345, "0.123"),
        (Column("a", unit="%"), 12.345, "12.35"),
        (Column("a", style="signed"), 0.25, "+0.2"),
        (Column("a", style="signed"), -0.25, "−0.2"),
        (Column("a", style="signed"), Cell(-0.01), "+0.0"),
        (Column("a", style="p"), Cell(0.0312, mark="*"), "0.0312*"),
        (Column("a", style="p"), 0.00001, "<0.0001"),
        (Column("a", style="p"), math.nan, "–"),
        (Column("a", style="interval"), Cell(1.25, 1.0, 1.5), "1.0–1.5"),
        (Column("a", style="interval"), Cell(2, 2, 2), "2"),
        (Column("a", style="interval"), Cell(2, 2, 12), "2–12"),
        (Column("a", style="estimate"), Cell(1.25, 1.0, 1.5), "1.2 [1.0, 1.5]"),
        (Column("a", style="estimate"), Cell(1.25), "1.2"),
        (Column("a", style="estimate"), 1.25, "1.2"),
    ],
)
def test_numbers_are_shown_in_the_style_of_their_column(given, column, cell, shown):
    table = Table("", ("name", column), [("x", cell), ("y", None)])
    lines = lines_of(given, table, digits=1)
    assert lines[2] == f"x     {shown}"


@pytest.mark.parametrize("rows", [[(1.0,)], [(1.0,), (1.001,)], [(math.nan,), (2.0,)]])
def test_nothing_is_best_where_there_is_nothing_to_choose(given, rows):
    table = Table("", (Column("a", direction="high"),), rows)
    assert "\x1b[1;32m" not in text(given([table]), color=True)


@pytest.mark.parametrize("words", ["[bold]x[/bold]", "[/]", ":smile:", "[link=http://x]y", "\\["])
def test_markup_in_the_data_is_printed_as_it_is(given, words):
    table = Table(words, (words,), [(words,), ((Span(words, "good"),),)], note=words)
    shown = text(given([table]), color=True)
    assert shown.count(words) == 5


def test_the_environment_has_no_say(given, monkeypatch):
    table = Table("T", (Column("a", direction="high"), "text"), [(1.0, "word " * 20)])
    before = text(given([table]), width=60, color=True)
    for name, value in [("COLUMNS", "20"), ("TERM", "dumb"), ("NO_COLOR", "1"), ("LINES", "3")]:
        monkeypatch.setenv(name, value)
    assert text(given([table]), width=60, color=True) == before


def test_a_table_without_rows_says_so_and_keeps_its_note(given):
    lines = lines_of(given, Table("T", ("a", "b"), [], note="one\ntwo"))
    assert [line for line in lines if line[:1] != "─"] == [
        "T",
        "a  b",
        "(no rows)",
        "one",
        "two",
        "",
    ]


def test_a_table_without_columns_is_no_error(given):
    assert text(given([Table("T", (), [])])) == "T\n(no rows)\n"


def test_no_tables_give_no_text(given):
    assert text(given()) == ""


@having(words=ANY, width=st.sampled_from([None, 1, 20, 80]), color=st.booleans())
@settings(max_examples=60, deadline=None)
def test_no_text_can_break_the_lines_or_the_terminal(given, words, width, color):
    cells = [(words, (Span(words, "bad"), Span(words)), 1.5), (None, None, None)]
    columns = (words, "b", Column("c", direction="high"))
    table = Table(words, columns, cells, note=words.replace("\n", ""))
    shown = re.sub(r"\x1b\[[\d;]*m", "", text(given([table]), width=width, color=color))
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]", shown)
    assert "1.50" in shown
    shown.encode()


def test_control_characters_are_shown_as_escapes(given):
    shown = text(given([Table("", ("x",), [("a\x1b[31mred\x00\tb\r\nc\u202e\ud800",)])]))
    assert "a\\x1b[31mred\\x00\\tb\\r\\nc\\u202e\\ud800" in shown


def test_importing_the_renderers_loads_none_of_their_libraries():
    heavy = "{'rich', 'jinja2', 'vl_convert', 'defusedxml'}"
    code = f"import sys, assay.rendering; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_strong_cells_are_bold_in_colour_and_have_a_star_without(given):
    table = Table("", ("name", "x"), [("a", 1.5), ("b", 12.5)], strong=frozenset({(0, 1)}))
    assert lines_of(given, table, digits=1)[2:4] == ["a     *1.5", "b     12.5"]
    bold = re.findall(r"\x1b\[1m *([\w.]+)\x1b\[0m", text(given([table]), color=True))
    assert bold == ["name", "x", "1.50"]


def test_shaded_rows_are_set_off_in_colour_and_plain_without(given):
    table = Table("", ("name", "x"), [("a", 1.5), ("b", 2.5)], shaded=frozenset({1}))
    first, second = text(given([table]), color=True).split("\n")[2:4]
    assert "\x1b[36m" not in first
    assert "\x1b[36m" in second
    plain = lines_of(given, Table("", table.headings, table.rows))
    assert lines_of(given, table) == plain


def systems_table(count, keys=2):
    """A table with a column per system, as wide as a figure or its name."""
    names = tuple(f"system-{at:02d}" for at in range(count))
    rows = [(f"category {at}", at, *(at + place / 10 for place in range(count))) for at in range(5)]
    columns = ("category", "items", *(Column(name, digits=1) for name in names))
    return Table("T", columns, rows, keys=keys)


@pytest.mark.parametrize("width", [80, 100, 120, None])
def test_a_table_with_keys_comes_in_parts_that_fit_the_terminal(given, width):
    table = systems_table(18)
    lines = lines_of(given, table, width=width)
    assert max(map(len, lines)) <= (width or 160)
    heads = [line.split() for line in lines if line.startswith("category  ")]
    assert len(heads) > 1
    assert all(head[:2] == ["category", "items"] for head in heads)
    assert [name for head in heads for name in head[2:]] == list(table.headings[2:])
    assert max(map(len, heads)) - min(map(len, heads)) <= len(heads)


def test_every_part_has_all_rows_and_its_own_figures(given):
    table = systems_table(18)
    shown = text(given([table]), width=80)
    for at, row in enumerate(table.rows):
        parts = [line.split() for line in shown.split("\n") if line.startswith(f"category {at}")]
        assert all(part[2] == str(at) for part in parts)
        assert [cell for part in parts for cell in part[3:]] == [f"{x:.1f}" for x in row[2:]]


def test_a_table_that_fits_and_one_without_keys_stay_whole(given):
    assert text(given([systems_table(3)]), width=80).count("category  ") == 1
    assert text(given([systems_table(18, keys=0)]), width=80).count("category ") == 1 + 5


def test_one_system_too_wide_for_the_terminal_has_a_part_of_its_own(given):
    table = Table("", ("k", "a", "b"), [("x", 10.0**14, 10.0**14)], keys=1)
    heads = [line.split() for line in lines_of(given, table, width=10) if line[:1] == "k"]
    assert heads == [["k", "a"], ["k", "b"]]


def test_headings_are_cut_at_hyphens_before_they_are_cut_anywhere(given):
    rows = [("x", *[1.5] * 8)]
    names = tuple(f"{letter}aaaaaa-bbbbbb" for letter in "abcdefgh")
    lines = lines_of(given, Table("", ("k", *names), rows), width=80)
    assert lines[0].split() == [name[:8] for name in names]
    assert lines[1].split() == ["k", *["bbbbbb"] * 8]


def test_of_many_pairs_of_systems_those_with_the_first_are_printed():
    systems = {f"s{at}": [f"the word{at} is here", "and there"] for at in range(8)}
    data = Dataset(systems, [("the word is here",), ("and there",)])
    result = types(data)
    assert sum("other" in dict(table.choice) for table in result.tables()) == 28
    for name in ("text", "markdown"):
        printed = render(result, name)
        titles = [line for line in printed.splitlines() if " and s" in line]
        assert len(titles) == 7
        assert all("s0" in title for title in titles)
        assert "Here are the pairs with s0; -o page.html shows any other" in printed
