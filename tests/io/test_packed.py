"""Packed files: read as a stream, and refused where they grow beyond the limit."""

import gzip
import io
import lzma
import random
import zipfile
from functools import partial

import pytest

from assay.data import DataError
from assay.io.files import read_bytes
from assay.io.packed import ALWAYS, EXPANSION, VARIABLE, Expansion, unpack
from assay.io.tables import read_objects, read_sheets

PACKERS = {".gz": gzip.compress, ".xz": partial(lzma.compress, preset=0)}


def refusal(function, *arguments):
    with pytest.raises(DataError) as caught:
        function(*arguments)
    return str(caught.value)


@pytest.mark.parametrize("ending", PACKERS)
def test_a_stream_gives_what_unpacking_in_one_piece_gives(tmp_path, ending):
    rng = random.Random(1)
    data = rng.randbytes(1_500_000) + b"x" * 3_000_000
    path = tmp_path / f"x{ending}"
    # Several packed files after each other are one, as gzip and xz have it.
    path.write_bytes(PACKERS[ending](data) + PACKERS[ending](b"end\n"))
    assert read_bytes(path) == data + b"end\n"


class Counting(io.BytesIO):
    """Bytes that remember how much was asked of them."""

    asked = 0

    def read(self, size=-1, /):
        data = super().read(size)
        self.asked += len(data)
        return data


@pytest.mark.parametrize("ending", PACKERS)
def test_a_bomb_is_refused_before_it_is_read(ending):
    packed = PACKERS[ending](bytes(ALWAYS)) * 40
    file = Counting(packed)
    message = refusal(unpack, f"a/bomb{ending}", file)
    assert message == (
        f"a/bomb{ending} becomes more than {EXPANSION} times as large when it is unpacked. "
        f"If you trust it, unpack it yourself, or allow more: {VARIABLE}={EXPANSION * 10}"
    )
    assert file.asked < len(packed) / 2


def test_small_files_may_be_packed_as_well_as_they_like(tmp_path):
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(bytes(ALWAYS)))
    assert len(read_bytes(path)) == ALWAYS
    path.write_bytes(gzip.compress(bytes(ALWAYS + 30_000_000)))
    assert "times as large" in refusal(read_bytes, path)


def test_the_limit_counts_what_was_read_so_far():
    limit = Expansion("x", {VARIABLE: "7"})
    limit.check(packed=10, unpacked=ALWAYS + 70)
    with pytest.raises(DataError, match="more than 7 times"):
        limit.check(packed=10, unpacked=ALWAYS + 71)


@pytest.mark.parametrize("value", ["0", "-3", "ten", "1.5", "٣", "9" * 400])
def test_a_limit_that_is_no_number_is_refused(value):
    assert f"{VARIABLE}={value[:40]}: give a whole number" in refusal(
        Expansion, "x", {VARIABLE: value}
    )


def test_a_column_of_parquet_that_grows_without_end_is_refused(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table({"mt": pa.nulls(1_200_000, pa.string())}), path)
    assert f"{path} becomes more than 100 times as large" in refusal(read_objects, path)
    parquet.write_table(pa.table({"mt": ["a"] * 10_000}), path)
    assert len(read_objects(path)) == 10_000


def test_a_workbook_that_grows_without_end_is_refused(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "x.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b" " * (ALWAYS + 20_000_000))
    assert f"{path} becomes more than 100 times as large" in refusal(read_sheets, path)
