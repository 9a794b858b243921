"""Reading a shard batch by batch, in whatever format: memory stays bounded."""

from __future__ import annotations

import csv
import errno
import gzip
import io
import lzma
import os
import tempfile
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple

from assay.data import DataError
from assay.extras import require
from assay.io.files import BOM, SURROGATE, suffix
from assay.io.packed import Expansion
from assay.io.tables import cell_text, cell_texts, parse_object
from assay.registry import did_you_mean
from assay.scale.batches import RowPlace, TextColumns, check_columns
from assay.scale.files import ARROW, FORMATS_READ, PACKED

__all__ = ["ShardBatch", "heed_limit", "read_batches", "read_column_names"]

ROWS = 8192
"""The most rows in a batch."""

BYTES = 2**24
"""About as many bytes of text are in a batch at most; one row may have more."""

LONGEST_LINE = 2**26
"""Bytes; a longer line is no record."""


class ShardBatch(NamedTuple):
    """Some rows of a shard, where they stand, and which share of the file has been read."""

    table: Any
    place: RowPlace
    done: float


def read_column_names(path: Path, label: str) -> list[str]:
    """The columns of a shard; of JSON Lines the keys of its first records."""
    reader = _reader(path, label)
    with _readable(path, label, reader) as ready:
        return reader.names(ready, label)


def read_batches(
    path: Path, label: str, columns: TextColumns, *, every_column: bool = False
) -> Generator[ShardBatch]:
    """The rows of a file in batches; never empty. The ending of its name says how it is written.

    Only the text columns are read unless `every_column`. `label` is what messages call the file.
    """
    reader = _reader(path, label)
    with _readable(path, label, reader) as ready:
        rows = 0
        for batch in reader.batches(ready, label, columns, every_column):
            rows += len(batch.table)
            yield batch
        if not rows:
            raise DataError(f"{label} has no rows: leave it out, or make it again.")


def heed_limit() -> None:
    """Where a limit is set (`ulimit -v`), have Arrow, not loaded yet, take memory from the system.

    Its own pool reserves a gigabyte at once, and ends the process where the rest is too little.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")


class _Reader(NamedTuple):
    """How a format is read: its columns, and its batches; `whole` files are unpacked first."""

    names: Callable[[Path, str], list[str]]
    batches: Callable[[Path, str, TextColumns, bool], Iterator[ShardBatch]]
    whole: bool = False


def _reader(path: Path, label: str) -> _Reader:
    ending = _format(path)
    readers = {
        ".parquet": _Reader(_parquet_names, _parquet, whole=True),
        ".jsonl": _Reader(_json_names, _json_lines),
        ".ndjson": _Reader(_json_names, _json_lines),
        ".tsv": _Reader(_tab_names, _tabs),
        ".csv": _Reader(_comma_names, _commas),
        **dict.fromkeys(ARROW, _Reader(_arrow_names, _arrow, whole=True)),
    }
    if ending not in readers:
        hint = did_you_mean(ending, FORMATS_READ)
        formats, packings = ", ".join(FORMATS_READ), ", ".join(PACKED)
        raise DataError(f"{label}: shards are {formats}, also with {packings}{hint}.")
    return readers[ending]


def _format(path: Path) -> str:
    name = path.with_suffix("") if path.suffix.lower() == ".zst" else path
    return suffix(name)


@contextmanager
def _readable(path: Path, label: str, reader: _Reader) -> Iterator[Path]:
    """The file; one that is read here and there without its packing, as a temporary copy."""
    if path.suffix.lower() not in PACKED or not reader.whole:
        yield path
        return
    limit = Expansion(label)
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        target = Path(folder) / "shard"
        with (
            _unpacking(path, label),
            path.open("rb") as raw,
            _stream(raw, path) as source,
            target.open("wb") as sink,
        ):
            while block := source.read(2**20):
                sink.write(block)
                limit.check(packed=raw.tell(), unpacked=sink.tell())
        yield target


def _stream(raw: IO[bytes], path: Path) -> IO[bytes] | io.BufferedIOBase:
    """The bytes of an open file, unpacked as they are read."""
    match path.suffix.lower():
        case ".gz":
            return gzip.GzipFile(fileobj=raw)
        case ".xz":
            return lzma.LZMAFile(raw)
        case ".zst":
            pa = require("scale", "pyarrow")
            unpacked = pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd")
            return io.BufferedReader(unpacked, 2**20)
    return raw


@contextmanager
def _unpacking(path: Path, label: str) -> Iterator[None]:
    try:
        yield
    except DataError:
        raise
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DataError(
                f"{label} cannot be unpacked in {tempfile.gettempdir()} ({error.strerror}). Name "
                "a folder with more room: TMPDIR=FOLDER"
            ) from None
        packing = path.suffix.lower().removeprefix(".")
        reason = str(error).split("\n", 1)[0]
        is_packed = f".{packing}" in PACKED
        what = f"damaged or not {packing} data" if is_packed else "it cannot be read"
        raise DataError(f"{label}: {what} ({reason}). Copy it again.") from None


def _parquet_names(path: Path, label: str) -> list[str]:
    parquet = require("scale", "pyarrow.parquet")
    with _arrow_errors(label, "Parquet"):
        return list(parquet.read_schema(path).names)


def _parquet(
    path: Path, label: str, columns: TextColumns, every_column: bool
) -> Iterator[ShardBatch]:
    parquet = require("scale", "pyarrow.parquet")
    with _arrow_errors(label, "Parquet"):
        file = parquet.ParquetFile(path, buffer_size=2**20, pre_buffer=False)
    with file:
        check_columns(columns, file.schema_arrow.names, where=label)
        wanted = None if every_column else columns.used
        batches = file.iter_batches(_rows_at_once(file.metadata), columns=wanted, use_threads=False)
        checked = map(_validated, batches)
        yield from _numbered(checked, label, "Parquet", total=file.metadata.num_rows)


def _rows_at_once(metadata: Any) -> int:
    """So many rows that a batch of them fits into memory, by the size of the largest group."""
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    widest = max((group.total_byte_size / max(1, group.num_rows) for group in groups), default=1.0)
    return max(1, min(ROWS, int(BYTES / max(1.0, widest))))


@contextmanager
def _arrow_file(path: Path, label: str) -> Iterator[tuple[list[str], Iterator[Any]]]:
    """The columns of an Arrow file or stream, and its batches."""
    pa = require("scale", "pyarrow")
    ipc = require("scale", "pyarrow.ipc")
    with _arrow_errors(label, "Arrow"):
        source = pa.memory_map(str(path))
        try:
            file = ipc.open_file(source)
            batches = (file.get_batch(at) for at in range(file.num_record_batches))
        except pa.ArrowInvalid:
            source.seek(0)
            file = ipc.open_stream(source)
            batches = iter(file)
        names = list(file.schema.names)
    with source:
        yield names, batches


def _arrow_names(path: Path, label: str) -> list[str]:
    with _arrow_file(path, label) as (names, _):
        return names


def _arrow(
    path: Path, label: str, columns: TextColumns, every_column: bool
) -> Iterator[ShardBatch]:
    with _arrow_file(path, label) as (names, batches):
        check_columns(columns, names, where=label)
        chosen = (batch if every_column else batch.select(columns.used) for batch in batches)
        yield from _numbered(map(_validated, chosen), label, "Arrow")


def _validated(batch: Any) -> Any:
    """The same batch; an error where texts end elsewhere or are not UTF-8: Arrow trusts files."""
    batch.validate(full=True)
    return batch


def _numbered(
    batches: Iterator[Any], label: str, kind: str, *, total: int = 0
) -> Iterator[ShardBatch]:
    """Batches of Arrow's as ours, cut where they are too big, with their place."""
    seen = 0
    while True:
        with _arrow_errors(label, kind):
            batch = next(batches, None)
        if batch is None:
            return
        step = max(1, min(ROWS, len(batch) * BYTES // max(BYTES, batch.nbytes)))
        for at in range(0, len(batch), step):
            piece = batch.slice(at, step)
            place = RowPlace(label, "row", range(seen + 1, seen + 1 + len(piece)))
            seen += len(piece)
            yield ShardBatch(piece, place, seen / total if total else 0.0)


@contextmanager
def _arrow_errors(label: str, kind: str) -> Iterator[None]:
    pa = require("scale", "pyarrow")
    try:
        yield
    except (DataError, MemoryError):
        raise
    except (OSError, ValueError, KeyError, pa.ArrowException) as error:
        reason = str(error).split("\n", 1)[0][:200]
        raise DataError(f"{label} is damaged or not {kind} ({reason}).") from None


class _TextLine(NamedTuple):
    number: int
    text: str
    done: float


def _lines(path: Path, label: str) -> Iterator[_TextLine]:
    """The lines of a packed or plain text file, one after the other."""
    size = max(1, path.stat().st_size)
    with path.open("rb", buffering=2**20) as raw, _unpacking(path, label):
        stream = _stream(raw, path)
        number = 0
        while line := stream.readline(LONGEST_LINE + 1):
            number += 1
            if len(line) > LONGEST_LINE:
                raise DataError(
                    f"{label}, line {number}: more than {LONGEST_LINE >> 20} MB without a line "
                    "break. Is this the right file?"
                )
            yield _TextLine(number, _decoded(line, label, number), raw.tell() / size)


def _decoded(line: bytes, label: str, number: int) -> str:
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise DataError(
            f"{label}, line {number}, byte {error.start + 1}: not UTF-8 "
            f"(0x{line[error.start]:02x}). Convert the file: iconv -f latin1 -t utf-8 OLD > NEW"
        ) from None
    if number == 1:
        text = text.removeprefix(BOM)
    return text.removesuffix("\n").removesuffix("\r")


class _Row(NamedTuple):
    number: int
    values: Any
    done: float
    size: int


def _tab_names(path: Path, label: str) -> list[str]:
    return _header(_tab_rows(path, label), label)


def _tabs(path: Path, label: str, columns: TextColumns, every_column: bool) -> Iterator[ShardBatch]:
    yield from _cells(_tab_rows(path, label), label, columns, every_column, "single tabs")


def _tab_rows(path: Path, label: str) -> Iterator[_Row]:
    for number, text, done in _lines(path, label):
        yield _Row(number, text.split("\t"), done, len(text))


def _comma_names(path: Path, label: str) -> list[str]:
    return _header(_comma_rows(path, label), label)


def _commas(
    path: Path, label: str, columns: TextColumns, every_column: bool
) -> Iterator[ShardBatch]:
    yield from _cells(_comma_rows(path, label), label, columns, every_column, "commas")


def _comma_rows(path: Path, label: str) -> Iterator[_Row]:
    share = 0.0

    def lines() -> Iterator[str]:
        nonlocal share
        for line in _lines(path, label):
            share = line.done
            yield f"{line.text}\n"

    reader = csv.reader(lines(), strict=True)
    number = 1
    try:
        for cells in reader:
            if cells:
                yield _Row(number, cells, share, sum(map(len, cells)))
            number = reader.line_num + 1
    except csv.Error as error:
        raise DataError(
            f"{label}, line {number}: a cell in quotes does not end well ({error}). "
            "Put quotes around the whole cell and double those inside."
        ) from None


def _header(rows: Iterator[_Row], label: str) -> list[str]:
    header = next(rows, None)
    if header is None:
        raise DataError(f"{label} is empty; its first line must name the columns.")
    names: list[str] = header.values
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{label}, line 1: two columns are called {twice!r}. Rename one.")
    return names


def _cells(
    rows: Iterator[_Row], label: str, columns: TextColumns, every_column: bool, separator: str
) -> Iterator[ShardBatch]:
    """Rows of cells, the first of which names the columns."""
    pa = require("scale", "pyarrow")
    names = _header(rows, label)
    check_columns(columns, names, where=label)
    chosen = [(at, name) for at, name in enumerate(names) if every_column or name in columns.used]
    for batch in _grouped(rows):
        for row in batch:
            if len(row.values) != len(names):
                raise DataError(
                    f"{label}, line {row.number}: {len(row.values)} cells, but the header names "
                    f"{len(names)} columns. Cells are separated by {separator}."
                )
        table = pa.table({name: pa.array([row.values[at] for row in batch]) for at, name in chosen})
        yield _text_batch(table, batch, label)


FIRST_RECORDS = 1000
"""Records whose keys are taken for the columns of JSON Lines."""


def _json_names(path: Path, label: str) -> list[str]:
    names: dict[str, int] = {}
    for row in islice(_json_rows(path, label), FIRST_RECORDS):
        for key in row.values:
            names.setdefault(key, row.number)
    for name, number in names.items():
        if SURROGATE.search(name):
            raise DataError(f"{label}, line {number}: the key {name!r:.40} has half a character.")
    return list(names)


def _json_lines(
    path: Path, label: str, columns: TextColumns, every_column: bool
) -> Iterator[ShardBatch]:
    pa = require("scale", "pyarrow")
    names = _json_names(path, label)
    if names:
        check_columns(columns, names, where=label)
    wanted = names if every_column else columns.used
    for batch in _grouped(_json_rows(path, label)):
        if every_column:
            _check_keys(batch, set(names), label)
        yield _text_batch(
            pa.table({name: _json_column(batch, name, columns, label) for name in wanted}),
            batch,
            label,
        )


def _json_rows(path: Path, label: str) -> Iterator[_Row]:
    for number, text, done in _lines(path, label):
        if text.strip():
            yield _Row(number, parse_object(label, number, text), done, len(text))


def _check_keys(batch: Sequence[_Row], names: set[str], label: str) -> None:
    """A key that comes late has no column in what is written, and must not get lost."""
    for row in batch:
        if new := row.values.keys() - names:
            raise DataError(
                f"{label}, line {row.number}: {min(new)!r} is a key that none of the first "
                f"{FIRST_RECORDS} records has. Give one of them the key, with null."
            )


def _json_column(batch: Sequence[_Row], name: str, columns: TextColumns, label: str) -> Any:
    """The values of a key: a text, a list of texts for references, or whatever it holds."""
    pa = require("scale", "pyarrow")
    if name not in columns.used:
        return _json_values(batch, name, label)
    several = name in columns.references
    read: Callable[[Any, str], Any] = cell_texts if several else cell_text
    values = []
    for row in batch:
        try:
            values.append(read(row.values, name))
        except DataError as error:
            raise DataError(f"{label}, line {row.number}: {error}") from None
    return pa.array(values, pa.list_(pa.string()) if several else pa.string())


def _json_values(batch: Sequence[_Row], name: str, label: str) -> Any:
    pa = require("scale", "pyarrow")
    try:
        array = pa.array([row.values.get(name) for row in batch])
    except (pa.ArrowException, UnicodeEncodeError, OverflowError) as error:
        reason = str(error).split("\n", 1)[0][:120]
        raise DataError(
            f"{label}, lines {batch[0].number} to {batch[-1].number}: the values of {name!r} do "
            f"not fit into one column ({reason})."
        ) from None
    # Where nothing is known of a key yet, text can hold what comes.
    return array.cast(pa.string()) if pa.types.is_null(array.type) else array


def _grouped(rows: Iterator[_Row]) -> Iterator[list[_Row]]:
    """Rows in batches, by number and size."""
    batch: list[_Row] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += row.size
        if len(batch) >= ROWS or size >= BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _text_batch(table: Any, batch: Sequence[_Row], label: str) -> ShardBatch:
    numbers = [row.number for row in batch]
    return ShardBatch(table, RowPlace(label, "line", numbers), min(1.0, batch[-1].done))
