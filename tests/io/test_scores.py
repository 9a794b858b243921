import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data import DataError, Scores
from assay.io import read_scores, write_scores

NAME = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), min_size=1, max_size=8
)
GRANULARITIES = {"system": "sys", "segment": "seg", "document": "doc"}
DOCUMENTS = ("d1", "d1", "d2")


@st.composite
def all_scores(draw):
    level = draw(st.sampled_from(list(GRANULARITIES)))
    systems = tuple(draw(st.lists(NAME, min_size=1, max_size=3, unique=True)))
    count = draw(st.integers(1, 4))
    documents = st.lists(st.text(min_size=1), min_size=count, max_size=count, unique=True)
    items = {
        "system": ("",),
        "segment": tuple(str(n + 1) for n in range(count)),
        "document": tuple(draw(documents)),
    }[level]
    value = st.floats(-1e60, 1e60) | st.just(math.nan)
    values = draw(
        st.lists(
            st.lists(value, min_size=len(items), max_size=len(items)),
            min_size=len(systems),
            max_size=len(systems),
        )
    )
    return Scores("gold", level, systems, items, np.array(values, float))


@given(scores=all_scores())
def test_written_scores_read_back_the_same(tmp_path_factory, scores):
    path = tmp_path_factory.mktemp("scores") / f"gold.{GRANULARITIES[scores.granularity]}.score"
    write_scores(scores, path)
    documents = scores.items if scores.granularity == "document" else ()
    again = read_scores(path, scores.systems, length=len(scores.items), documents=documents)
    np.testing.assert_array_equal(again.values, scores.values)
    assert replace(again, values=scores.values) == scores


def save(path, text):
    path.write_text(text)
    return path


def refusal(function, *arguments, **options):
    with pytest.raises(DataError) as caught:
        function(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def read(path, systems=("A", "B"), **options):
    return read_scores(path, systems, length=3, documents=DOCUMENTS, **options)


def same(scores, values):
    np.testing.assert_array_equal(scores.values, np.array(values, float))


@pytest.mark.parametrize("name", ["line", "segment"])
def test_a_table_with_lines_is_at_segment_level(name, tmp_path):
    text = f"system\t{name}\traw\tz\nB\t3\t9\t0.5\nA\t1\t8\tNone\n"
    path = save(tmp_path / "da.seg.tsv", text)
    scores = read(path)
    assert (scores.name, scores.granularity, scores.items) == ("da", "segment", ("1", "2", "3"))
    same(scores, [[math.nan] * 3, [math.nan, math.nan, 0.5]])
    raw = read(path, column="raw")
    same(raw, [[8, math.nan, math.nan], [math.nan, math.nan, 9]])
    assert raw.name == "da:raw"


def test_a_table_with_documents_is_at_document_level(tmp_path):
    path = save(tmp_path / "x.tsv", "SYSTEM\tdoc_id\tmqm\nB\td2\t-1e1\nA\td1\t \nC\td9\t1\n")
    scores = read(path)
    assert (scores.granularity, scores.items) == ("document", ("d1", "d2"))
    same(scores, [[math.nan, math.nan], [math.nan, -10]])
    unknown = read_scores(path, ["B", "A"], length=3)
    assert unknown.items == ("d2", "d1")


def test_a_table_with_neither_is_at_system_level(tmp_path):
    scores = read(save(tmp_path / "da.sys.tsv", "system\tn\tscore\nB\t7\t1.5\nHuman\t7\t2\n"))
    assert (scores.granularity, scores.items) == ("system", ("",))
    same(scores, [[math.nan], [1.5]])


@pytest.mark.parametrize(
    ("name", "text", "level", "values"),
    [
        ("m.sys.score", "B\t2\nA\t1\nref\tNone\n", "system", [[1], [2]]),
        ("m.seg.score", "B\t1\nB\tNone\nB\t3\n", "segment", [[math.nan] * 3, [1, math.nan, 3]]),
        ("m.doc.score", "A\t1\nB\t2\nA\t3\nB\t4\n", "document", [[1, 3], [2, 4]]),
        ("m.score", "A\t1\nA\t2\nA\t3\n", "segment", [[1, 2, 3], [math.nan] * 3]),
        ("m.score.gz", "A\t1\nA\t2\n", "document", [[1, 2], [math.nan] * 2]),
        ("m.txt", "A\t1\nB\t2\n", "system", [[1], [2]]),
        ("system.seg.score", "A\t1\nA\t2\nA\t3\n", "segment", [[1, 2, 3], [math.nan] * 3]),
    ],
)
def test_mt_metrics_eval_files_tell_their_level_by_name_or_by_count(
    tmp_path, name, text, level, values
):
    path = tmp_path / name
    if name.endswith(".gz"):
        import gzip

        path.write_bytes(gzip.compress(text.encode()))
    else:
        save(path, text)
    scores = read(path)
    assert scores.granularity == level
    assert scores.name in ("m", "system")
    same(scores, values)


def test_a_system_called_system_is_no_header_in_a_score_file(tmp_path):
    path = save(tmp_path / "m.sys.score", "system\t1\nA\t2\n")
    same(read(path, ("system", "A")), [[1], [2]])


def test_plain_numbers_are_for_one_system(tmp_path):
    path = save(tmp_path / "comet.txt", "0.5\nNone\n\n")
    same(read(path, ["only"]), [[0.5, math.nan, math.nan]])
    assert "one number per line is for one system" in refusal(read, path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("system\tline\tz\nA\t1\tnan\n", "line 2: NaN is not a score; write None for unknown."),
        ("system\tline\tz\nA\t1\t-inf\n", "line 2: -inf is not a score"),
        ("system\tline\tz\nA\t1\t1e999\n", "line 2: 1e999 is not a score"),
        ("system\tline\tz\nA\t1\t1_0\n", "is not a number"),
        ("system\tline\tz\nA\t1\tgood\n", "line 2: 'good' is not a number; write None"),
        (
            "system\tline\tz\nA\t1\t0\nA\t01\t0\n",
            "line 3: 'A' already has a score for segment '1' on",
        ),
        ("system\tz\nA\t1\nA\t\n", "line 3: 'A' already has a score on line 2"),
        ("system\tline\tz\nA\t4\t0\n", "line 2: there is no segment 4; the dataset has 3"),
        ("system\tline\tz\nA\t0\t0\n", "line 2: '0' is not a line number"),
        ("system\tline\tz\nA\t-1\t0\n", "line 2: '-1' is not a line number"),
        ("system\tdoc\tz\nA\td3\t0\n", "line 2: there is no document 'd3' in the dataset"),
        ("system\tline\nA\t1\n", "no column is called z, raw, mqm, score"),
        (
            "system\tz\nAA\t1\nX\t2\n",
            "none of the systems A, B is in the file, which has AA, X",
        ),
        ("A\t1\nB\t2\nB\t3\n", "line 1: system 'A' has 1 scores, but at document level there must"),
        (
            "A\t1\nA\t1\nA\t1\nA\t1\n",
            "4 scores per system fit neither the 3 segments nor 2 documents",
        ),
        ("A\t1\t2\n", "line 1: 3 cells"),
        ("A\t1\nB\n", "line 2: 1 cells"),
    ],
)
def test_bad_scores_are_refused_by_line(tmp_path, text, message):
    path = save(tmp_path / "x.tsv", text)
    found = refusal(read, path)
    assert found.startswith(str(path))
    assert message in found


def test_a_wrong_column_suggests_another(tmp_path):
    path = save(tmp_path / "x.tsv", "system\tmqm\nA\t1\n")
    message = refusal(read, path, column="mqn")
    assert "no column 'mqn'" in message
    assert "did you mean 'mqm'?" in message
    assert message.endswith("Columns: system, mqm.")


def test_a_wrong_system_or_document_suggests_another(tmp_path):
    path = save(tmp_path / "x.tsv", "system\tdoc\tz\nonline-a\td3\t1\n")
    assert "did you mean 'online-A'?" in refusal(read, path, ["online-A"])
    assert "did you mean 'd2'?" in refusal(read, path, ["online-a"])


def test_document_scores_in_order_need_the_documents(tmp_path):
    path = save(tmp_path / "x.doc.score", "A\t1\n")
    assert "pass documents=..." in refusal(read_scores, path, ["A"], length=3)


def test_scores_that_would_not_read_back_are_refused(tmp_path):
    scores = Scores("x", "system", ("A",), ("",), np.array([[1.0]]))
    assert "says segment level" in refusal(write_scores, scores, tmp_path / "x.seg.score")
    for bad in (replace(scores, systems=("a\tb",)), replace(scores, values=np.array([[np.inf]]))):
        assert str(tmp_path) in refusal(write_scores, bad, tmp_path / "x.sys.score")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", ["1e308", "-1e308", "1.1e60"])
def test_a_score_whose_sums_would_be_infinite_is_refused_by_line(tmp_path, value):
    path = save(tmp_path / "x.seg.tsv", f"system\tline\tz\nA\t1\t1e60\nB\t2\t{value}\n")
    message = refusal(read, path)
    assert f"x.seg.tsv, line 3: {float(value)!r} is too large for a score" in message
    scores = Scores("x", "system", ("A",), ("",), np.array([[float(value)]]))
    assert "is too large for a score" in refusal(write_scores, scores, tmp_path / "x.sys.score")
