"""What every result can do: print, show itself in a notebook, become a frame, save itself."""

import csv
import gzip
import json
import math
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

from assay.data import DataError
from assay.plots import bar_chart
from assay.rendering import ENDINGS
from assay.results import (
    Charts,
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
    assert all(ending in str(caught.value) for ending in ENDINGS)
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
