"""What every result can do: print, show itself in a notebook, become a frame, save itself."""

import ast
import csv
import gzip
import json
import math
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.data import DataError
from assay.plots import bar_chart
from assay.registry import register
from assay.rendering import FORMATS, OutputFormat, endings, render
from assay.results import (
    Cell,
    Charts,
    Column,
    CombinedResult,
    Header,
    LabelledResult,
    Result,
    Span,
    Table,
)

SCRIPT = "<script>alert(1)</script>"
RECORDS = [
    {"system": "A", "score": 1 / 3, "n": 3, "p": None, "tags": ["x"], "best": True},
    {"system": SCRIPT, "score": np.float64("nan"), "n": np.int64(4), "p": 0.04, "tags": []},
]
TABLE = Table("Scores", ("system", "score"), [("A", 1 / 3), (SCRIPT, 2.0)], note="a note")


@pytest.fixture
def result(given):
    return given([TABLE], [chart("One")], RECORDS)


def chart(title):
    return bar_chart(title, [{"s": "A", "v": 1.0}, {"s": SCRIPT, "v": 2.0}], "s", "v")


def test_printing_shows_the_tables_of_the_terminal(result, capsys):
    print(result)
    lines = capsys.readouterr().out.split("\n")
    assert lines == [
        "Scores",
        "system                     score",
        " ".join(["─" * 32]),
        "A                           0.33",
        f"{SCRIPT}   2.00",
        "a note",
        "",
    ]


class Tags(HTMLParser):
    """The tags, styles and texts of a fragment."""

    def __init__(self, source):
        super().__init__()
        self.tags, self.texts, self.style = [], [], ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        if self.tags[-1:] == ["style"] and "{" in data:
            self.style = data
        else:
            self.texts.append(data)


def test_a_notebook_shows_tables_in_which_nothing_runs(given):
    rows = [((Span(SCRIPT, "good", SCRIPT),), SCRIPT)]
    shown = Tags(given([Table(SCRIPT, (SCRIPT, "b"), rows, note=SCRIPT)])._repr_html_())
    assert "script" not in shown.tags
    assert shown.texts.count(SCRIPT) == 6  # title, caption, column, two cells and note
    assert shown.tags.count("table") == 1


def test_the_style_of_a_notebook_s_table_stays_within_it(result):
    style = Tags(result._repr_html_()).style
    selectors = [line.partition("{")[0] for line in style.split("\n") if line.strip()]
    assert len(selectors) > 10
    for selector in selectors:
        assert all(part.strip().startswith(".assay-result") for part in selector.split(","))


def test_a_notebook_shows_the_first_of_very_many_rows(given):
    shown = given([Table("T", ("n",), [(at,) for at in range(1000)])])._repr_html_()
    assert shown.count("<tr") == 201
    assert "800 more rows are not shown." in shown


def test_charts_show_themselves_in_a_notebook(result, monkeypatch):
    charts = result.charts()
    shown = Tags(charts._repr_html_())
    assert "svg" in shown.tags
    assert "script" not in shown.tags
    assert charts[0]._repr_svg_().startswith("<svg")
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert "pip install 'assay-mt[report]'" in "".join(Tags(charts._repr_html_()).texts)
    assert charts[0]._repr_svg_() is None


def test_a_pandas_frame_has_the_records(result):
    pytest.importorskip("pandas")
    frame = result.to_pandas()
    assert list(frame.columns) == ["system", "score", "n", "p", "tags", "best"]
    assert frame["system"].tolist() == ["A", SCRIPT]
    assert frame["n"].tolist() == [3, 4]
    assert frame["score"][0] == 1 / 3
    assert math.isnan(frame["score"][1])
    assert math.isnan(frame["p"][0])


def test_a_polars_frame_has_the_records(result):
    pytest.importorskip("polars")
    assert result.to_polars().to_dicts() == plain_records()


def plain_records():
    return [
        {"system": "A", "score": 1 / 3, "n": 3, "p": None, "tags": ["x"], "best": True},
        {"system": SCRIPT, "score": None, "n": 4, "p": 0.04, "tags": [], "best": None},
    ]


def test_values_of_different_types_become_json_text_in_a_frame(given):
    pytest.importorskip("polars")
    records = [{"x": 1, "y": 1}, {"x": "one", "y": 1.5}, {"x": [2], "y": None}]
    frame = given(some_records=records).to_polars()
    assert frame.to_dict(as_series=False) == {"x": ["1", "one", "[2]"], "y": [1.0, 1.5, None]}


def test_a_frame_of_no_records_is_empty(given):
    pytest.importorskip("polars")
    pytest.importorskip("pandas")
    assert given().to_polars().shape == (0, 0)
    assert given().to_pandas().shape == (0, 0)


@pytest.mark.parametrize(("module", "method"), [("pandas", "to_pandas"), ("polars", "to_polars")])
def test_without_the_extra_a_frame_says_what_to_install(result, monkeypatch, module, method):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DataError, match=r"pip install 'assay-mt\[frames\]'"):
        getattr(result, method)()


def test_saved_json_has_the_header_and_the_records(result, tmp_path):
    inputs = [{"path": "a", "sha256": "b", "segments": 2}]
    result.with_header(Header("assay x", 7, inputs)).save(tmp_path / "x.json")
    read = json.loads((tmp_path / "x.json").read_text("utf-8"))
    assert (read["command"], read["seed"], read["inputs"]) == ("assay x", 7, inputs)
    expected = [
        {k: v for k, v in r.items() if k in own}
        for r, own in zip(plain_records(), RECORDS, strict=True)
    ]
    assert read["records"] == expected


def test_a_header_changes_nothing_but_the_header(result):
    headed = result.with_header(Header(seed=7))
    assert (headed.header.seed, result.header.seed) == (7, None)
    assert headed == result


def test_saved_csv_tsv_and_jsonl_have_the_records(result, tmp_path):
    for ending, delimiter in (("csv", ","), ("tsv", "\t")):
        result.save(tmp_path / f"x.{ending}")
        with (tmp_path / f"x.{ending}").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter=delimiter))
        assert [row["system"] for row in rows] == ["A", SCRIPT]
        assert [row["score"] for row in rows] == [repr(1 / 3), ""]
    result.save(tmp_path / "x.jsonl.gz")
    lines = gzip.decompress((tmp_path / "x.jsonl.gz").read_bytes()).decode().splitlines()
    assert [json.loads(line)["n"] for line in lines] == [3, 4]


def test_saved_parquet_has_the_records(result, tmp_path):
    polars = pytest.importorskip("polars")
    result.save(tmp_path / "x.parquet")
    assert polars.read_parquet(tmp_path / "x.parquet").to_dicts() == plain_records()


@pytest.mark.parametrize(
    ("ending", "beginning"),
    [
        ("html", "<!doctype html>"),
        ("htm", "<!doctype html>"),
        ("md", "### Scores\n"),
        ("tex", "% Needs \\usepackage{booktabs}\n\\begin{table}"),
        ("txt", "Scores\n"),
    ],
)
def test_saved_tables_begin_as_their_format_does(result, tmp_path, ending, beginning):
    result.save(tmp_path / f"x.{ending}")
    written = (tmp_path / f"x.{ending}").read_text("utf-8")
    assert written.startswith(beginning)
    assert "0.33" in written


def test_what_is_printed_is_what_is_saved_as_text(result, tmp_path):
    result.save(tmp_path / "x.txt")
    assert (tmp_path / "x.txt").read_text("utf-8") == f"{result}\n"


def test_digits_are_those_of_scores(result, tmp_path):
    result.save(tmp_path / "x.txt", digits=4)
    assert "0.3333" in (tmp_path / "x.txt").read_text("utf-8")


def test_an_unknown_ending_is_an_error_that_names_the_known_ones_and_writes_nothing(
    result, tmp_path
):
    with pytest.raises(DataError, match=r"no format has the ending \.jsn") as caught:
        result.save(tmp_path / "x.jsn")
    assert "did you mean '.json'?" in str(caught.value)
    assert all(ending in str(caught.value) for ending in endings())
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_where_the_records_cannot_be_had(tmp_path):
    class Broken(Result):
        def tables(self):
            raise DataError("no tables")

        def records(self):
            raise DataError("no records")

    (tmp_path / "old.json").write_text("old")
    for name in ("old.json", "new.html", "new.parquet"):
        with pytest.raises(DataError, match="no "):
            Broken().save(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["old.json"]
    assert (tmp_path / "old.json").read_text() == "old"


MAGIC = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}


@pytest.mark.parametrize("kind", MAGIC)
def test_a_chart_is_saved_in_the_format_of_its_ending(tmp_path, kind):
    chart("One").save(tmp_path / f"fig.{kind.upper()}")
    assert (tmp_path / f"fig.{kind.upper()}").read_bytes().startswith(MAGIC[kind])


@pytest.mark.parametrize("kind", MAGIC)
def test_several_charts_are_saved_with_numbers(tmp_path, kind):
    paths = Charts([chart("One"), chart("Two")]).save(tmp_path / f"fig.{kind}")
    assert [path.name for path in paths] == [f"fig-1.{kind}", f"fig-2.{kind}"]
    assert all(path.read_bytes().startswith(MAGIC[kind]) for path in paths)
    assert Charts([chart("One")]).save(tmp_path / f"fig.{kind}") == [tmp_path / f"fig.{kind}"]


def test_a_chart_is_no_jpeg(tmp_path):
    with pytest.raises(DataError, match=r"charts are saved as \.svg, \.pdf, \.png"):
        chart("One").save(tmp_path / "fig.jpeg")


def test_results_without_charts_need_not_say_so():
    class Bare(Result):
        def tables(self):
            return [TABLE]

        def records(self):
            return RECORDS

    assert Bare().charts() == []


def test_results_put_together_have_all_tables_charts_and_records(given):
    first, second = given([TABLE], [chart("One")], RECORDS), given([TABLE], [], RECORDS[:1])
    both = CombinedResult(first, LabelledResult("again", second))
    assert [table.title for table in both.tables()] == ["Scores", "again: Scores"]
    assert len(both.charts()) == 1
    assert len(both.records()) == 3


def sheet_rows(path, name):
    openpyxl = pytest.importorskip("openpyxl")
    return openpyxl.load_workbook(path)[name]


def test_a_workbook_has_a_sheet_per_table_with_numbers_as_numbers(given, tmp_path):
    columns = ("system", Column("BLEU", direction="high"), Column("p", style="p"), Column("n"))
    rows = [
        ("a", Cell(1 / 3, 0.25, 0.5), 0.04, 3),
        ("b", 2.0, None, 4),
        ("c", math.nan, math.inf, 5),
    ]
    given([Table("Scores", columns, rows, "one\ntwo"), TABLE]).save(tmp_path / "x.xlsx", digits=3)
    sheet = sheet_rows(tmp_path / "x.xlsx", "Scores")
    assert [cell.value for cell in sheet[1]] == [
        "system",
        "BLEU",
        "BLEU low",
        "BLEU high",
        "p",
        "n",
    ]
    assert [cell.value for cell in sheet[2]] == ["a", 1 / 3, 0.25, 0.5, 0.04, 3]
    assert [cell.value for cell in sheet[3]] == ["b", 2.0, None, None, None, 4]
    assert [cell.value for cell in sheet[4]] == ["c", None, None, None, None, 5]
    assert [sheet.cell(row, 1).value for row in (6, 7)] == ["one", "two"]
    assert all(cell.font.bold for cell in sheet[1])
    assert [cell.font.bold for cell in sheet["B"][1:4]] == [False, True, False]
    assert sheet.freeze_panes == "A2"
    formats = [cell.number_format for cell in sheet[2]]
    assert formats == ["General", "0.000", "0.000", "0.000", "0.0000", "General"]
    assert sheet_rows(tmp_path / "x.xlsx", "Scores (2)")["A2"].value == "A"


@pytest.mark.parametrize("words", ["=1+1", "+1", "-1", "@SUM(A1)", '=HYPERLINK("http://x")'])
def test_no_text_in_a_workbook_is_a_formula(given, tmp_path, words):
    given([Table(words, (words, "b"), [(words, 1.0)], note=words)]).save(tmp_path / "x.xlsx")
    openpyxl = pytest.importorskip("openpyxl")
    (sheet,) = openpyxl.load_workbook(tmp_path / "x.xlsx").worksheets
    for place in ("A1", "A2", "A4"):
        assert (sheet[place].value, sheet[place].data_type) == (words, "s")
        assert sheet[place].quotePrefix


@pytest.mark.parametrize("title", ["", "[a]:*?/\\b", "x" * 100, "'quoted'", "History\x00"])
def test_any_title_makes_the_name_of_a_sheet(given, tmp_path, title):
    openpyxl = pytest.importorskip("openpyxl")
    table = Table(title, ("a\x00",), [("b\x1b\ud800",)])
    given([table, table, table]).save(tmp_path / "x.xlsx")
    book = openpyxl.load_workbook(tmp_path / "x.xlsx")
    assert len(set(book.sheetnames)) == 3
    assert all(0 < len(name) <= 31 for name in book.sheetnames)
    assert [sheet["A2"].value for sheet in book] == ["b\\x1b\\ud800"] * 3


def test_a_workbook_without_tables_can_be_opened(given, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    given().save(tmp_path / "x.xlsx")
    assert openpyxl.load_workbook(tmp_path / "x.xlsx").sheetnames == ["empty"]


@pytest.mark.parametrize("name", ["x.xlsx.gz", "x.parquet.xz"])
def test_what_is_compressed_already_is_not_compressed_again(result, tmp_path, name):
    with pytest.raises(DataError, match="compressed already"):
        result.save(tmp_path / name)


def test_without_the_extra_a_workbook_says_what_to_install(result, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(DataError, match="pip install"):
        result.save(tmp_path / "x.xlsx")
    assert list(tmp_path.iterdir()) == []


def test_a_format_can_be_added(result, tmp_path):
    @register
    class Shouted(OutputFormat):
        name = "shouted"
        endings = (".loud",)

        def render(self, result, *, digits=2):
            return str(result).upper()

    try:
        result.save(tmp_path / "x.loud")
        assert (tmp_path / "x.loud").read_text("utf-8").startswith("SCORES\n")
        assert render(result, "shouted").startswith("SCORES\n")
    finally:
        FORMATS._registered.pop("shouted")


def test_whatever_has_tables_and_records_is_a_result():
    """Every class of the package that shows itself derives from `Result`."""
    for path in sorted(Path(assay.__file__).parent.rglob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name != "Result":
                methods = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
                bases = {ast.unparse(base) for base in node.bases}
                if {"tables", "records"} <= methods and not node.name.endswith("Report"):
                    assert "Result" in bases, f"{path}: {node.name}"
