"""File formats are a registry: packages bring their own."""

import pytest

import assay
from assay.data import DataError, Dataset
from assay.io import READERS, DatasetReader, is_table, read_lines


@pytest.fixture
def pairs_format():
    """A format of one's own: lines of `output ||| reference`."""

    @assay.register
    class Pairs(DatasetReader):
        name = "pairs"

        def read(self, path, columns=None):
            outputs, references = zip(
                *(line.split(" ||| ") for line in read_lines(path)), strict=True
            )
            return Dataset({"mine": outputs}, tuple((line,) for line in references))

    yield
    READERS._registered.clear()


def test_a_registered_format_is_read_by_its_ending(tmp_path, pairs_format):
    path = tmp_path / "a.pairs"
    path.write_text("x ||| r\ny ||| q\n")
    assert is_table(path)
    assert assay.read(path).systems == {"mine": ("x", "y")}
    assert assay.read(systems=[path]).references == (("r",), ("q",))


def test_other_endings_are_plain_text(tmp_path):
    (tmp_path / "a.pairs").write_text("x ||| r\n")
    assert not is_table(tmp_path / "a.pairs")
    assert assay.read(systems=[tmp_path / "a.pairs"]).systems == {"a.pairs": ("x ||| r",)}


def test_built_in_formats_are_listed():
    assert READERS.names() == ["tsv", "csv", "jsonl", "parquet", "xml"]
    with pytest.raises(DataError, match="already"):
        assay.register(type("Mine", (DatasetReader,), {"name": "csv", "read": None}))
