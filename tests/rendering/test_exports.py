"""JSON, CSV and TSV: everything is there, at full precision, and reads back."""

import csv as standard_csv
import io
import json as standard_json
import math
import re

import numpy as np
import pytest
from hypothesis import given as having
from hypothesis import settings
from hypothesis import strategies as st

from assay.rendering import FORMATS, render
from assay.rendering.exports import csv, json, jsonl, tsv
from assay.rendering.text import visible
from assay.results import Header
from assay.version import __version__

ANY = st.text(st.characters(exclude_categories=()), max_size=40)
HEADER = {
    "command": "assay score",
    "seed": 12345,
    "inputs": [{"path": "ref.txt", "sha256": "ab" * 32, "segments": 3}],
}


def read_back(field):
    """A TSV text as it was before it was written."""
    plain = {"\\\\": "\\", "\\t": "\t", "\\n": "\n", "\\r": "\r"}
    escapes = r"\\\\|\\[tnr]|\\x[0-9a-f]{2}|\\u[0-9a-f]{4}"
    return re.sub(escapes, lambda m: plain.get(m[0]) or chr(int(m[0][2:], 16)), field)


def test_json_is_one_object_with_the_header_and_the_records(given):
    records = [{"system": "A", "score": 1 / 3}, {"system": "Ü星", "score": None, "n": 2}]
    expected = {"assay": __version__, **HEADER, "records": records}
    written = json(given(some_records=records).with_header(Header(**HEADER)))
    read = standard_json.loads(written)
    assert (list(read), read) == (list(expected), expected)
    assert written.endswith("}\n")
    assert "Ü星" in written


def test_json_without_a_header_or_records_has_the_same_keys(given):
    read = standard_json.loads(json(given()))
    empty = {"command": None, "seed": None, "inputs": [], "records": []}
    assert read == {"assay": __version__} | empty


def test_json_takes_numpy_and_makes_nan_and_infinity_null(given):
    record = {
        "float": np.float32(0.5),
        "int": np.int64(3),
        "bool": np.bool_(True),
        "nan": np.float64("nan"),
        "inf": -math.inf,
        "array": np.array([1.0, math.nan]),
        "nested": {"x": (math.nan, 1)},
    }
    read = standard_json.loads(json(given(some_records=[record])))["records"][0]
    assert read == {
        "float": 0.5,
        "int": 3,
        "bool": True,
        "nan": None,
        "inf": None,
        "array": [1.0, None],
        "nested": {"x": [None, 1]},
    }


@having(key=ANY, words=ANY, number=st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=100, deadline=None)
def test_json_can_be_written_as_utf8_and_reads_back_the_same(given, key, words, number):
    records = [{key: words, key + "n": number}]
    written = json(given(some_records=records).with_header(Header(command=words)))
    read = standard_json.loads(written.encode().decode())
    # Two lone surrogates in a row are one character to every reader of JSON.
    joined = [{_paired(k): _paired(v) for k, v in records[0].items()}]
    assert (read["command"], read["records"]) == (_paired(words), joined)


def _paired(value):
    if not isinstance(value, str):
        return value
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def test_tsv_has_the_names_in_order_of_appearance_and_blanks_for_unknown(given):
    records = [{"b": 1, "a": None}, {"a": math.nan, "c": True}, {"c": np.int64(4), "b": math.inf}]
    assert tsv(given(some_records=records)) == "b\ta\tc\n1\t\t\n\t\ttrue\ninf\t\t4\n"


def test_tsv_is_empty_without_records(given):
    assert tsv(given()) == ""


@having(number=st.floats(allow_nan=False))
def test_tsv_keeps_every_bit_of_a_number(given, number):
    written = tsv(given(some_records=[{"x": np.float64(number)}]))
    assert float(written.split("\n")[1]) == number


@having(rows=st.lists(st.dictionaries(ANY, ANY | st.none() | st.integers(), max_size=4)))
@settings(max_examples=100, deadline=None)
def test_tsv_has_as_many_fields_in_every_line_and_texts_read_back(given, rows):
    written = tsv(given(some_records=rows))
    written.encode()
    lines = [line.split("\t") for line in written.splitlines()]
    names = list(dict.fromkeys(name for row in rows for name in row))
    assert [read_back(name) for name in lines[0]] == names if names else not lines
    for line, row in zip(lines[1:], rows, strict=bool(names)):
        shown = [row.get(name) for name in names]
        assert [read_back(field) for field in line] == ["" if v is None else str(v) for v in shown]


def test_jsonl_is_one_record_a_line_and_nothing_else(given):
    records = [{"system": "A", "score": 1 / 3}, {"system": "Ü\n星", "score": math.nan}]
    lines = jsonl(given(some_records=records)).split("\n")
    assert [standard_json.loads(line) for line in lines[:-1]] == [
        {"system": "A", "score": 1 / 3},
        {"system": "Ü\n星", "score": None},
    ]
    assert lines[-1] == jsonl(given()) == ""


def read_csv(written):
    return list(standard_csv.reader(io.StringIO(written, newline=""), strict=True))


def test_csv_is_as_in_rfc_4180(given):
    records = [{"b": 'a "b", c', "a": None}, {"a": math.nan, "c": True}, {"c": np.int64(-4)}]
    written = csv(given(some_records=records))
    assert written == 'b,a,c\r\n"a ""b"", c",,\r\n,,true\r\n,,-4\r\n'
    assert csv(given()) == ""


@pytest.mark.parametrize("start", ["=", "+", "-", "@", " =", "\u00a0@", "＝", "＋", "－", "＠"])
def test_no_text_of_a_csv_is_a_formula_to_a_spreadsheet(given, start):
    records = [{"word": f"{start}cmd|x", start: [1]}]
    (names, row) = read_csv(csv(given(some_records=records)))
    assert (names[1], row[0]) == (f"'{start}", f"'{start}cmd|x")


@having(number=st.floats(allow_nan=False))
def test_csv_keeps_every_bit_of_a_number_and_never_marks_it(given, number):
    rows = read_csv(csv(given(some_records=[{"x": np.float64(number), "y": 1}])))
    assert float(rows[1][0]) == number


@having(rows=st.lists(st.dictionaries(ANY, ANY | st.none() | st.integers(), max_size=4)))
@settings(max_examples=100, deadline=None)
def test_csv_has_as_many_fields_in_every_line_and_texts_read_back(given, rows):
    written = csv(given(some_records=rows))
    written.encode()
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = read_csv(written)
    assert lines[:1] == ([[_in_csv(name) for name in names]] if names else [])
    for line, row in zip(lines[1:], rows, strict=bool(names)):
        assert line == [_in_csv(row.get(name)) for name in names]


def _in_csv(value):
    """A text as a CSV has it: control characters visible, and no formula."""
    if not isinstance(value, str):
        return "" if value is None else str(value)
    shown = visible(value)
    return "'" * shown.lstrip("'").lstrip().startswith(tuple("=+-@＝＋－＠")) + shown


@pytest.mark.parametrize("format", FORMATS.names())
def test_render_gives_every_format(given, format):
    marks = {"json": "{", "jsonl": "{", "csv": "x\r\n", "tsv": "x\n", "html": "<!doctype html>"}
    marks |= {"parquet": b"PAR1", "xlsx": b"PK"}
    written = render(given(some_records=[{"x": 1}]), format)
    assert written.lstrip().startswith(marks.get(format, ""))
