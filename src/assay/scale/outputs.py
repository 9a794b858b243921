"""The folder that scores are written to: whole files only, and what was finished before.

Beside the scores of a shard, `NAME.parquet`, stands `_sums/NAME.parquet` with its sums, which is
written last. A shard counts as done where its sums are there, and were made from the same input by
the same metrics. Every file is written under a temporary name first, forced to the disk, and then
renamed, so that what a crash leaves half-written never counts.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import socket
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.data import DataError
from assay.extras import require
from assay.scale.files import Shard, filesystem, local_copy, remote

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["METADATA", "Finished", "OutputFolder", "RowWriter", "has_changed"]

METADATA = "assay"
"""The key of the metadata in every file that is written."""

SUMS = "_sums"
"""Readers of folders of Parquet files pass over names that begin with `_`."""

AT_ONCE = 2**16
"""Rows that are written at a time."""

_TEMPORARY = re.compile(r"\..+\.(?P<host>[^.]+)\.(?P<process>\d+)\.[0-9a-f]+\.tmp")


class Finished(NamedTuple):
    """What an earlier run left of a shard: its sums and what it said of itself."""

    sums: pa.Table
    about: Mapping[str, Any]


class OutputFolder:
    """A folder for scores, here or on any file system of fsspec's."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._system: Any = None
        self._root = path.rstrip("/")
        if remote(path):
            self._system, self._root = filesystem(path)

    def file(self, name: str) -> str:
        """The path of a file in it."""
        return f"{self._root}/{name}"

    def prepare(self) -> None:
        """Make the folder, and remove what runs that have died left half-written."""
        if self._system is not None:
            return
        root = Path(self._root)
        try:
            (root / SUMS).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"{self.path} cannot be made ({error.strerror}).") from None
        for path in root.rglob(".*.tmp"):
            if _is_abandoned(path.name):
                path.unlink(missing_ok=True)

    def names(self) -> list[str]:
        """The shards whose sums are there."""
        if self._system is not None:
            found = self._system.glob(f"{self.file(SUMS)}/**/*.parquet")
            return [path.partition(f"/{SUMS}/")[2].removesuffix(".parquet") for path in found]
        sums = Path(self._root, SUMS)
        return [
            path.relative_to(sums).as_posix().removesuffix(".parquet")
            for path in sorted(sums.rglob("*.parquet"))
            if not path.name.startswith(".")
        ]

    def has_sums(self, name: str) -> bool:
        """Whether an earlier run has written sums of a shard, whatever has become of them."""
        path = self.file(f"{SUMS}/{name}.parquet")
        return bool(self._system.exists(path)) if self._system else Path(path).exists()

    def finished(self, name: str) -> Finished | None:
        """What is there of a shard; nothing where it is not finished, or damaged."""
        parquet = require("scale", "pyarrow.parquet")
        arrow = require("scale", "pyarrow")
        try:
            with self._opened(f"{SUMS}/{name}.parquet") as file:
                sums = parquet.read_table(file, page_checksum_verification=True)
            about = json.loads((sums.schema.metadata or {})[METADATA.encode()])
            seal = about.pop("seal")
            if seal != _seal(sums, about):
                return None
            if self._size(f"{name}.parquet") != about["scores_size"]:
                return None
        except (OSError, ValueError, KeyError, arrow.ArrowException):
            return None
        return Finished(sums, about)

    @contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        """A path to write a file to, which takes its place when all has gone well."""
        token = f"{socket.gethostname().split('.')[0]}.{os.getpid()}.{secrets.token_hex(6)}"
        target = Path(self.file(name))
        if self._system is None:
            temporary = target.parent / f".{target.name}.{token}.tmp"
        else:
            temporary = Path(tempfile.gettempdir()) / f".{target.name}.{token}.tmp"
        try:
            temporary.parent.mkdir(parents=True, exist_ok=True)
            yield temporary
            self._put(temporary, target, name)
        except OSError as error:
            reason = error.strerror or str(error).split("\n", 1)[0]
            raise DataError(f"{self.path}/{name} cannot be written ({reason}).") from None
        finally:
            temporary.unlink(missing_ok=True)

    def write_sums(self, name: str, sums: pa.Table, about: Mapping[str, Any]) -> None:
        """Say that a shard is done: its sums, with what tells whether they still hold."""
        parquet = require("scale", "pyarrow.parquet")
        size = self._size(f"{name}.parquet")
        whole = {**about, "scores_size": size}
        told = json.dumps({**whole, "seal": _seal(sums, whole)}, ensure_ascii=False)
        sealed = sums.replace_schema_metadata({METADATA: told})
        with self.writing(f"{SUMS}/{name}.parquet") as path:
            parquet.write_table(sealed, path, write_page_checksum=True)

    def _put(self, temporary: Path, target: Path, name: str) -> None:
        if self._system is not None:
            # Object stores show a file only when all of it is there.
            self._system.makedirs(self.file(name).rpartition("/")[0], exist_ok=True)
            self._system.put_file(str(temporary), self.file(name))
            return
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(target)
        _sync_folder(target.parent)

    def _opened(self, name: str) -> Any:
        path = self.file(name)
        return self._system.open(path) if self._system is not None else Path(path).open("rb")

    def _size(self, name: str) -> int:
        path = self.file(name)
        return int(
            self._system.size(path) if self._system is not None else Path(path).stat().st_size
        )


def _seal(sums: pa.Table, about: Mapping[str, Any]) -> str:
    """A hash of what Parquet's own checksums, those of the numbers, leave out."""
    columns = [(field.name, _kind(field.type)) for field in sums.schema]
    told = json.dumps([about, columns, len(sums)], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()


def _kind(of: pa.DataType) -> list[Any]:
    """A type and those within it; not their names, which Parquet changes."""
    return [of.id, *(_kind(of.field(at).type) for at in range(of.num_fields))]


class RowWriter:
    """Collects tables, and writes them to a Parquet file some ten thousand rows at a time."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._file: Any = None
        self._tables: list[Any] = []

    def write(self, table: pa.Table) -> None:
        """Take the next rows."""
        if self._path is None:
            return
        self._tables.append(table)
        if sum(map(len, self._tables)) >= AT_ONCE or sum(t.nbytes for t in self._tables) > 2**26:
            self._flush()

    def finish(self, about: Mapping[str, Any]) -> None:
        """Write what is left, and `about` as metadata."""
        if self._path is None:
            return
        self._flush()
        told = json.dumps(about, ensure_ascii=False)
        self._file.add_key_value_metadata({METADATA: told})
        self._file.close()

    def close(self) -> None:
        """Let go of the file, finished or not."""
        if self._file is not None:
            self._file.close()

    def _flush(self) -> None:
        if not self._tables:
            return
        pa = require("scale", "pyarrow")
        parquet = require("scale", "pyarrow.parquet")
        if self._file is None:
            # Arrow's own schema would hide the metadata that comes at the end.
            schema = self._tables[0].schema.remove_metadata()
            self._file = parquet.ParquetWriter(
                self._path, schema, compression="zstd", store_schema=False
            )
        same = [_cast(table.replace_schema_metadata(), self._file.schema) for table in self._tables]
        self._file.write_table(pa.concat_tables(same))
        self._tables = []


def _cast(table: Any, schema: Any) -> Any:
    pa = require("scale", "pyarrow")
    if table.schema == schema:
        return table
    try:
        return table.cast(schema)
    except (pa.ArrowException, ValueError) as error:
        reason = str(error).split("\n", 1)[0][:160]
        raise DataError(f"a column changes its type within the file ({reason}).") from None


def has_changed(shard: Shard, about: Mapping[str, Any]) -> bool:
    """Whether a shard has other bytes than those that were scored.

    Its bytes are read only where its size or the time of its last change is another.
    """
    before = about["input"]
    if (shard.size, shard.stamp) == (before["size"], before["stamp"]):
        return False
    if shard.size != before["size"]:
        return True
    with local_copy(shard) as copy:
        return bool(copy.sha256 != before["sha256"])


def _is_abandoned(name: str) -> bool:
    """Whether a temporary file is of a process of this machine that runs no more."""
    match = _TEMPORARY.fullmatch(name)
    if match is None or match["host"] != socket.gethostname().split(".")[0]:
        return False
    try:
        os.kill(int(match["process"]), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _sync_folder(folder: Path) -> None:
    # A new name survives a power cut only when its folder is on the disk, too.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
