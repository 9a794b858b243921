import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data import DataError, Dataset
from assay.io import read_records, write_jsonl, write_tsv

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"))
NAME = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), min_size=1)


@st.composite
def datasets(draw, text=TEXT, *, even=False):
    length = draw(st.integers(1, 4))
    column = st.lists(text, min_size=length, max_size=length).map(tuple)
    count = draw(st.integers(0, 3))
    each = st.lists(text, min_size=count if even else 0, max_size=count).map(tuple)
    named = draw(st.booleans())
    return Dataset(
        systems=draw(st.dictionaries(NAME, column, min_size=1, max_size=3)),
        references=draw(st.lists(each, min_size=length, max_size=length).map(tuple)),
        sources=draw(st.just(()) | column),
        documents=draw(st.just(()) | column),
        name=draw(text),
        languages=draw(st.none() | st.tuples(NAME, NAME)),
        reference_names=tuple(draw(st.lists(NAME, min_size=count, max_size=count, unique=True)))
        if named
        else (),
    )


def refusal(function, *arguments):
    with pytest.raises(DataError) as caught:
        function(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@given(dataset=datasets())
def test_json_lines_give_the_same_dataset_back(tmp_path_factory, dataset):
    path = tmp_path_factory.mktemp("records") / "a.jsonl"
    write_jsonl(dataset, path)
    assert read_records(path) == dataset
    assert list(read_records(path).systems) == list(dataset.systems)


@given(dataset=datasets(CELL, even=True))
def test_a_table_gives_the_same_dataset_back(tmp_path_factory, dataset):
    path = tmp_path_factory.mktemp("records") / "a.tsv.gz"
    write_tsv(dataset, path)
    assert read_records(path) == dataset
    assert list(read_records(path).systems) == list(dataset.systems)


def test_a_dataset_without_systems_survives_both(tmp_path):
    dataset = Dataset({}, (("r",), ("q",)), sources=("s", "t"))
    write_jsonl(dataset, tmp_path / "a.jsonl")
    write_tsv(dataset, tmp_path / "a.tsv")
    assert read_records(tmp_path / "a.jsonl") == read_records(tmp_path / "a.tsv") == dataset


def test_a_cell_of_text_is_taken_as_it_stands(tmp_path):
    (tmp_path / "a.tsv").write_text('src\tmt\n"C:\\new\\t"\t\u2028\\\n')
    dataset = read_records(tmp_path / "a.tsv")
    assert dataset.sources == ('"C:\\new\\t"',)
    assert dataset.systems == {"a": ("\u2028\\",)}


@pytest.mark.parametrize("text", ["a\tb", "a\nb", "a\rb"])
def test_what_a_table_cannot_hold_is_refused(tmp_path, text):
    dataset = Dataset({"x": ("fine", text)}, (("r",), ("r",)))
    assert "line 3: " in refusal(write_tsv, dataset, tmp_path / "a.tsv")
    assert "JSON Lines" in refusal(write_tsv, dataset, tmp_path / "a.tsv")
    assert list(tmp_path.iterdir()) == []


def test_uneven_references_and_empty_datasets_are_refused(tmp_path):
    uneven = Dataset({}, (("a",), ("b", "c")))
    assert "JSON Lines" in refusal(write_tsv, uneven, tmp_path / "a.tsv")
    assert "no texts" in refusal(write_tsv, Dataset({}, ()), tmp_path / "a.tsv")
    assert "no segments" in refusal(write_jsonl, Dataset({"x": ()}, ()), tmp_path / "a.jsonl")
    named = Dataset({}, (("a", "b"),), reference_names=("A",))
    assert "1 reference names, but 2" in refusal(write_tsv, named, tmp_path / "a.tsv")


def test_a_long_table_is_read_whatever_the_order_of_its_systems(tmp_path):
    blocks = "system\tmt\tref\nA\ta1\tr1\nA\ta2\tr2\nB\tb1\tr1\nB\tb2\tr2\n"
    woven = "system\tmt\tref\nA\ta1\tr1\nB\tb1\tr1\nA\ta2\tr2\nB\tb2\tr2\n"
    for name, content in (("x.tsv", blocks), ("y.tsv", woven)):
        (tmp_path / name).write_text(content)
        dataset = read_records(tmp_path / name)
        assert dataset.systems == {"A": ("a1", "a2"), "B": ("b1", "b2")}
        assert dataset.references == (("r1",), ("r2",))


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("ref1\tref2", ()),
        ("refA\tref_B", ("A", "B")),
        ("Reference\tref:x y", ()),
        ("ref:A\treference:B", ("A", "B")),
    ],
)
def test_references_have_many_names(tmp_path, header, names):
    (tmp_path / "a.tsv").write_text(f"{header}\tHypothesis\none\ttwo\tmine\n")
    dataset = read_records(tmp_path / "a.tsv")
    assert dataset.references == (("one", "two"),)
    assert dataset.reference_names == names
    assert dataset.systems == {"a": ("mine",)}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("system\tmt\tref\nA\ta\tr\nB\tb\tX\n", "line 3: segment 1 of system 'B' has another ref"),
        ("system\tmt\tsrc\nA\ta\tr\nB\tb\tX\n", "line 3: segment 1 of system 'B' has another sou"),
        ("system\tmt\tdoc\nA\ta\tr\nB\tb\tX\n", "line 3: segment 1 of system 'B' has another doc"),
        ("system\tmt\nA\ta\nA\tb\nB\tc\n", "line 4: system 'B' has 1 segments, but 'A' has 2"),
        ("src\tmt\na\n", "line 2: 1 cells, but the header names 2 columns"),
        ("src\tmt\na\tb\tc\n", "line 2: 3 cells"),
        ("src\tsrc\na\tb\n", "line 1: two columns are called 'src'"),
        ("src\tsource\na\tb\n", "line 1: both 'src' and 'source'"),
        ("mt\thyp\na\tb\n", "line 1: several keys hold a translation"),
        ("system\tmt:x\na\tb\n", "line 1: 'system' goes with one 'mt'"),
        ("foo\tbar\na\tb\n", "line 1: no column is called src, ref, mt or mt:NAME (there are foo,"),
        ("src\tmt\n", "has a header but no rows"),
        ("src\tdataset\na\tx\nb\ty\n", "line 3: another dataset"),
    ],
)
def test_bad_tables_are_refused_by_line(tmp_path, content, message):
    (tmp_path / "a.tsv").write_text(content)
    assert message in refusal(read_records, tmp_path / "a.tsv")


def test_comet_records_are_read(tmp_path):
    records = [{"src": "s", "mt": "m", "ref": "r"}, {"src": "t", "mt": "n", "ref": None}]
    (tmp_path / "sys1.jsonl").write_text("\n\n".join(map(json.dumps, records)))
    dataset = read_records(tmp_path / "sys1.jsonl")
    assert dataset.systems == {"sys1": ("m", "n")}
    assert dataset.references == (("r",), ())
    assert dataset.sources == ("s", "t")


@pytest.mark.parametrize("key", ["ref", "refs", "references"])
def test_references_may_be_a_list(tmp_path, key):
    record = {"hypothesis": "m", key: ["a", "b\nc"], "doc_id": "d", "system": "S", "other": 3}
    (tmp_path / "a.jsonl").write_text(json.dumps(record))
    dataset = read_records(tmp_path / "a.jsonl")
    assert dataset.references == (("a", "b\nc"),)
    assert dataset.documents == ("d",)
    assert dataset.systems == {"S": ("m",)}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"mt": "a"', "not JSON, at character 11"),
        ('{"mt": 3}', "'mt' is 3, but must be a text"),
        ('{"mt": "a", "ref": [1]}', "'ref' must be a text or a list of texts"),
        ('{"mt": "a", "ref": {"A": "x"}}', "'ref' must be a text or a list of texts"),
        ('["mt"]', "not a record"),
        ("[" * 100_000, "not a record"),
        ('{"x": ' + "9" * 5000 + "}", "not a record"),
        ('{"foo": "bar"}', "none of 'src', 'mt' and 'ref'"),
        ('{"mt": "\\ud800"}', "half a character"),
        ('{"mt": "a", "hyp": "b"}', "several keys hold a translation"),
        ('{"src": "only"}', "no 'mt', though others have it"),
        ('{"mt": "a", "doc": "d"}', "no 'doc', though others have it"),
    ],
)
def test_bad_records_are_refused_by_line(tmp_path, line, message):
    good = '{"mt": "good", "src": "s"}' if "only" in line else '{"mt": "good"}'
    (tmp_path / "a.jsonl").write_text(f"{good}\n{line}\n")
    found = refusal(read_records, tmp_path / "a.jsonl")
    assert message in found
    # Where only some records have a part, the line is that of the first without it.
    assert f"a.jsonl, line {1 if 'doc' in message else 2}: " in found


def test_a_file_of_blank_lines_has_no_records(tmp_path):
    (tmp_path / "a.jsonl").write_text("\n \n")
    assert "no records" in refusal(read_records, tmp_path / "a.jsonl")
