"""Datasets from frames and dictionaries, and from files with columns of any name."""

import pytest

import assay
from assay.data import DataError, Dataset
from assay.io import read, read_records, write_jsonl

ROWS = [
    {"mt": "a1", "ref": "r1", "src": "s1", "model": "A", "doc": 7, "id": 1},
    {"mt": "a2", "ref": "r2", "src": "s2", "model": "A", "doc": 7, "id": 2},
    {"mt": "b1", "ref": "r1", "src": "s1", "model": "B", "doc": 7, "id": 1},
    {"mt": "b2", "ref": "r2", "src": "s2", "model": "B", "doc": 7, "id": 2},
]
LONG = {"hypothesis": "mt", "reference": "ref", "source": "src", "system": "model"}
EXPECTED = Dataset(
    {"A": ("a1", "a2"), "B": ("b1", "b2")},
    (("r1",), ("r2",)),
    sources=("s1", "s2"),
    documents=("7", "7"),
)


def frames():
    """The same rows in every library's own table."""
    yield "dictionaries", lambda rows: rows
    yield "columns", lambda rows: {key: [row[key] for row in rows] for key in rows[0]}
    yield "generator", lambda rows: (row for row in rows)
    yield "pandas", lambda rows: pytest.importorskip("pandas").DataFrame(rows)
    yield "polars", lambda rows: pytest.importorskip("polars").DataFrame(rows)
    yield "pyarrow", lambda rows: pytest.importorskip("pyarrow").Table.from_pylist(rows)
    yield "datasets", lambda rows: pytest.importorskip("datasets").Dataset.from_list(rows)


@pytest.fixture(params=[make for _, make in frames()], ids=[name for name, _ in frames()])
def table(request):
    return request.param


def refusal(function, *arguments, **options):
    with pytest.raises(DataError) as caught:
        function(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_every_kind_of_table_gives_the_same_dataset(table):
    assert Dataset.from_records(table(ROWS), document="doc", **LONG) == EXPECTED


def test_with_ids_the_order_of_rows_does_not_matter(table):
    shuffled = [ROWS[0], ROWS[3], ROWS[1], ROWS[2]]
    data = Dataset.from_records(table(shuffled), document="doc", segment="id", **LONG)
    assert data == EXPECTED


def test_a_wide_table_has_a_column_per_system(table):
    rows = [{"A": "a1", "B": "b1", "ref": "r1"}, {"A": "a2", "B": "b2", "ref": "r2"}]
    data = Dataset.from_records(table(rows), hypothesis=["A", "B"], reference="ref")
    assert data.systems == EXPECTED.systems
    named = Dataset.from_records(table(rows), hypothesis={"x": "B"}, reference="ref")
    assert named.systems == {"x": ("b1", "b2")}


def test_references_are_columns_or_lists(table):
    rows = [{"mt": "a", "one": "r", "two": "q", "all": ["r", "q"]}]
    several = Dataset.from_records(table(rows), hypothesis="mt", reference=["one", "two"])
    assert (several.references, several.reference_names) == ((("r", "q"),), ("one", "two"))
    listed = Dataset.from_records(table(rows), hypothesis="mt", reference="all")
    assert (listed.references, listed.reference_names) == ((("r", "q"),), ())
    none = Dataset.from_records(table(rows), hypothesis="mt", reference=None)
    assert none.references == ((),)
    named = Dataset.from_records(table(rows), hypothesis="mt", reference={"A": "two"})
    assert (named.references, named.reference_names) == ((("q",),), ("A",))


def test_usual_names_need_not_be_said_and_one_system_is_called_like_its_column():
    rows = [{"hypothesis": "a", "reference": "r", "source": "s", "group": "news"}]
    data = Dataset.from_records(rows, name="mine", languages="de-en")
    assert data.systems == {"hypothesis": ("a",)}
    assert (data.sources, data.groups, data.name) == (("s",), ("news",), "mine")
    assert data.languages == ("de", "en")


def test_missing_values_of_pandas_are_missing():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"hypothesis": ["a", "b"], "reference": ["r", float("nan")]})
    assert Dataset.from_records(frame).references == (("r",), ())
    frame = frame.astype("string")
    assert Dataset.from_records(frame).references == (("r",), ())


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (ROWS, {}, "no column 'hypothesis' for the hypothesis; there are mt, ref, src, model"),
        (ROWS, {"hypothesis": "mt"}, "Pass reference=COLUMN (or None)."),
        (ROWS, LONG | {"document": "docs"}, "no column 'docs' for the document"),
        (ROWS, LONG | {"hypothesis": ["mt", "src"]}, "several columns of hypotheses"),
        (ROWS[:3], LONG, "row 3: system 'B' has 1 segments, but 'A' has 2"),
        ([*ROWS[:2], ROWS[3], ROWS[2]], LONG, "row 3: segment 1 of system 'B' has another source"),
        ([*ROWS, ROWS[0]], LONG | {"segment": "id"}, "row 5: system 'A' has segment '1' already"),
        (
            [*ROWS[:3], ROWS[3] | {"id": 3}],
            LONG | {"segment": "id"},
            "row 2: system 'A' has segment '2' here, and system 'B' has not",
        ),
        ([ROWS[0], ROWS[1] | {"mt": 3}], LONG, "row 2: 'mt' is 3, but must be a text"),
        ([ROWS[0], ROWS[1] | {"mt": None}], LONG, "row 2: no 'mt', though others have it"),
        ([ROWS[0] | {"ref": [1]}], LONG, "row 1: 'ref' must be a text or a list of texts"),
        ([ROWS[0] | {"model": None}], LONG, "row 1: no 'model': each row needs the name"),
        ([ROWS[0] | {"mt": "\ud800"}], LONG, "row 1: 'mt' has half a character"),
        (["a"], LONG, "row 1 is a str, not a dictionary"),
        ([], LONG | {"reference": None}, "no column 'mt'"),
        ({"mt": ["a"], "ref": ["b", "c"]}, LONG, "the columns differ in length (mt 1, ref 2)"),
        ({"mt": "a"}, LONG, "column 'mt' is a str: pass lists"),
    ],
)
def test_what_cannot_be_a_dataset_is_refused_by_row_and_column(rows, options, message):
    assert message in refusal(Dataset.from_records, rows, **options)


def test_one_split_of_a_hugging_face_dataset_is_asked_for():
    datasets = pytest.importorskip("datasets")
    splits = datasets.DatasetDict({"test": datasets.Dataset.from_list(ROWS)})
    assert "pass one: records['test']" in refusal(Dataset.from_records, splits, **LONG)


@pytest.mark.parametrize("ending", ["tsv", "csv", "jsonl", "parquet"])
def test_files_have_columns_of_any_name(tmp_path, ending):
    path = tmp_path / f"outputs.{ending}"
    save(path, [{key: str(value) for key, value in row.items()} for row in ROWS])
    told = LONG | {"document": "doc", "segment": "id"}
    assert read_records(path, told) == EXPECTED
    assert read(path, columns=told) == EXPECTED
    assert "no column 'm' for the hypothesis (did you mean 'mt'?)" in refusal(
        read_records, path, {"hypothesis": "m"}
    )
    assert "'hypo' is no part" in refusal(read_records, path, {"hypo": "mt"})


def test_what_is_not_told_is_known_by_its_name(tmp_path):
    (tmp_path / "a.tsv").write_text("out\tref\tsrc\nx\tr\ts\n")
    data = read_records(tmp_path / "a.tsv", {"hypothesis": "out"})
    assert (data.systems, data.references, data.sources) == ({"a": ("x",)}, (("r",),), ("s",))


def test_cells_of_csv_may_hold_commas_quotes_and_line_breaks(tmp_path):
    (tmp_path / "a.csv").write_text('mt,ref\n"a, ""b""","c\nd"\n\ne,f\n', newline="")
    data = read_records(tmp_path / "a.csv")
    assert data.systems == {"a": ('a, "b"', "e")}
    assert data.references == (("c\nd",), ("f",))
    (tmp_path / "b.csv").write_text('mt,ref\na,b\n"c\nd",e,f\n')
    assert "b.csv, line 3: 3 cells" in refusal(read_records, tmp_path / "b.csv")
    (tmp_path / "c.csv").write_text('mt,ref\n"a,b\n')
    assert "c.csv, line 2: a cell in quotes" in refusal(read_records, tmp_path / "c.csv")


def test_a_table_of_blank_lines_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n\n")
    assert refusal(read, systems=[str(path)]) == f"{path} has nothing but blank lines."


def save(path, rows):
    """Write rows with the library that the file's ending asks for."""
    match path.suffix:
        case ".jsonl":
            import json

            path.write_text("\n".join(map(json.dumps, rows)))
        case ".parquet":
            parquet = pytest.importorskip("pyarrow.parquet")
            parquet.write_table(pytest.importorskip("pyarrow").Table.from_pylist(rows), path)
        case ending:
            separator = "\t" if ending == ".tsv" else ","
            lines = [separator.join(rows[0]), *(separator.join(row.values()) for row in rows)]
            path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def files(tmp_path):
    for name, lines in {"ref": "r1\nr2\n", "src": "s1\ns2\n", "a": "a1\na2\n"}.items():
        (tmp_path / f"{name}.txt").write_text(lines)
    (tmp_path / "groups.txt").write_text("news\nchat\n")
    return tmp_path


def test_single_files_are_read(files):
    data = assay.read(
        references=files / "ref.txt",
        systems={"base": files / "a.txt"},
        source=files / "src.txt",
        languages="de-en",
        groups=files / "groups.txt",
    )
    assert data.systems == {"base": ("a1", "a2")}
    assert (data.sources, data.groups) == (("s1", "s2"), ("news", "chat"))
    assert data.languages == ("de", "en")


def test_a_folder_is_read_with_the_scores_people_gave(files):
    (files / "systems").mkdir()
    (files / "a.txt").rename(files / "systems" / "a.txt")
    (files / "human").mkdir()
    (files / "human" / "da.sys.tsv").write_text("system\tz\na\t0.5\n")
    (files / "human" / "mqm.seg.tsv").write_text("nonsense")
    data = assay.read(files, groups=files / "groups.txt")
    assert data.groups == ("news", "chat")
    assert list(data.human) == ["da", "mqm"]
    assert data.human["da"].values.tolist() == [[0.5]]
    # A damaged file harms only those who ask for it.
    assert "mqm.seg.tsv" in refusal(data.human.__getitem__, "mqm")


def test_a_language_pair_of_a_standard_folder_may_end_its_path(files):
    from assay.io import write_folder

    data = assay.read(references=files / "ref.txt", systems=files / "a.txt", languages="de-en")
    write_folder(data, files / "wmt99")
    assert assay.read(files / "wmt99" / "de-en").systems == data.systems
    assert assay.read(files / "wmt99", languages=("de", "en")).systems == data.systems


def test_what_does_not_go_together_is_refused(files):
    write_jsonl(Dataset({"a": ("x",)}, (("r",),)), files / "a.jsonl")
    assert "no files given" in refusal(assay.read)
    assert "does not exist" in refusal(assay.read, files / "wmt98")
    assert "brings its own source" in refusal(assay.read, files, source=files / "src.txt")
    message = refusal(assay.read, "sacrebleu:wmt18")
    assert message == "sacrebleu:wmt18 is there for several language pairs: pass languages=..."
