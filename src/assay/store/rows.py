"""Rows as they are kept: by which key, in which form, and with columns in common again."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay import data
from assay.kernel import _native
from assay.metrics.base import Metric, NamedRows, Rows
from assay.registry import Settings, settings_of
from assay.store.packing import DamagedError, pack_lines, unpack_lines

__all__ = [
    "LAYOUT",
    "aligned",
    "file_digests",
    "metric_identity",
    "named_part",
    "pack_rows",
    "unpack_rows",
]

LAYOUT = 1
"""Part of every key: to be raised when rows of the same metric come to mean something else."""

_OURS = ("data.py", "text.py", "explanation", "features", "metrics")
"""The parts of this package that decide rows, besides the kernel."""


def metric_identity(metric: Metric) -> str | None:
    """All that decides a metric's rows of given texts; None where that cannot be told.

    That is its settings and its signature, the files that settings name, and the code: of this
    package, of the metric's class and those that it is made of, and the version of sacreBLEU. A
    class without a file, as in a notebook, may have changed since.
    """
    parts = [f"layout {LAYOUT}", str(metric), metric.signature()]
    parts += [f"assay {_own_digest()}", f"sacrebleu {_version()}"]
    for module in dict.fromkeys(_modules(metric)):
        path = getattr(sys.modules.get(module), "__file__", None)
        if path is None or not Path(path).is_file():
            return None
        parts.append(f"{module} {_file_digest(path)}")
    parts += [f"file {line}" for line in file_digests(metric)]
    return "\n".join(parts)


def _modules(settings: Settings) -> Iterator[str]:
    """The modules, of other packages, of the classes of a metric and of what is inside it."""
    names = (each.__module__ for each in type(settings).__mro__)
    known = ("builtins", "abc", "typing")
    yield from (name for name in names if not name.startswith("assay.") and name not in known)
    for field in settings_of(settings):
        if isinstance(value := getattr(settings, field.name), Settings):
            yield from _modules(value)


def file_digests(settings: Settings) -> list[str]:
    """The files that settings name, each with the SHA-256 of what it holds."""
    return [f"{path} {_file_digest(path)}" for path in _named_files(settings)]


def _named_files(settings: Settings) -> Iterator[str]:
    for field in settings_of(settings):
        value = getattr(settings, field.name)
        if isinstance(value, Settings):
            yield from _named_files(value)
        elif isinstance(value, str) and value and _is_file(value):
            yield value


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def _file_digest(path: str) -> str:
    about = Path(path).stat()
    return _digest_as_of(path, about.st_mtime_ns, about.st_size)


@lru_cache(maxsize=256)
def _digest_as_of(path: str, changed: int, size: int) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


@lru_cache(maxsize=1)
def _own_digest() -> str:
    """The digest of all code of this package that decides rows, the compiled kernel too."""
    home, digest = Path(data.__file__).parent, hashlib.sha256()
    paths = [path for part in _OURS for path in sorted(_sources(home / part))]
    for path in (*paths, Path(_native.__file__)):
        digest.update(f"{path.name}\n".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _sources(part: Path) -> Iterable[Path]:
    return part.rglob("*.py") if part.is_dir() else [part]


@lru_cache(maxsize=1)
def _version() -> str:
    try:
        return version("sacrebleu")
    except PackageNotFoundError:
        return "none"


def pack_rows(named: NamedRows, about: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Rows as arrays, with what they are of."""
    told = np.frombuffer(json.dumps(about, sort_keys=True).encode(), np.uint8)
    rows, names = named
    if names is None:
        dense = np.asarray(rows)
        # Sums of columns are added up in the order of the memory: it stays as it is.
        by_column = dense.ndim == 2 and abs(dense.strides[0]) < abs(dense.strides[1])
        ordered = np.asfortranarray(dense) if by_column else np.ascontiguousarray(dense)
        return {"about": told, "rows": ordered}
    return {
        "about": told,
        "data": rows.data,
        "indices": rows.indices,
        "indptr": rows.indptr,
        "shape": np.array(rows.shape, np.int64),
        **pack_lines(names),
    }


def unpack_rows(
    arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any], length: int
) -> NamedRows:
    """The rows of `pack_rows`; a `DamagedError` where they are not of `about` and so many segments.

    What they say of places is checked: the kernel goes to these places.
    """
    try:
        if json.loads(arrays["about"].tobytes()) != about:
            raise DamagedError("it is of something else")
        if "rows" in arrays:
            rows = arrays["rows"]
            if rows.ndim != 2 or len(rows) != length or rows.dtype.kind not in "biuf":
                raise DamagedError(f"{rows.dtype} of shape {rows.shape} are no such rows")
            return NamedRows(rows)
        return _unpack_sparse(arrays, length)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise DamagedError(str(error)) from None


def _unpack_sparse(arrays: Mapping[str, NDArray[Any]], length: int) -> NamedRows:
    from scipy.sparse import csr_array

    names = unpack_lines(arrays)
    if arrays["shape"].dtype.kind != "i":
        raise DamagedError("its shape is none")
    rows, columns = (int(side) for side in arrays["shape"])
    parts = [arrays[name] for name in ("data", "indices", "indptr")]
    kinds = [part.dtype.kind for part in parts]
    if rows != length or (columns % len(names) if names else columns):
        raise DamagedError(f"rows of shape {(rows, columns)} for {len(names)} names")
    if kinds[0] not in "biuf" or kinds[1] != "i" or kinds[2] != "i" or list(names) != sorted(names):
        raise DamagedError("its arrays are of another kind")
    found = csr_array(tuple(parts), shape=(rows, columns))
    found.check_format(full_check=True)
    return NamedRows(found, names)


def named_part(named: NamedRows, start: int, stop: int) -> NamedRows:
    """The rows from one place to another, with no other columns than they need."""
    rows = named.rows[start:stop]
    if named.names is None:
        return NamedRows(rows)
    from scipy.sparse import csr_array

    width = _width(named)
    used = np.unique(rows.indices // width)
    places = np.searchsorted(used, rows.indices // width) * width + rows.indices % width
    shape = (stop - start, width * len(used))
    names = [named.names[int(at)] for at in used]
    return NamedRows(csr_array((rows.data, places, rows.indptr), shape=shape), names)


def aligned(parts: Sequence[NamedRows]) -> list[Rows]:
    """The rows of several texts with columns in common, as if they had been counted together."""
    if any(part.names is None for part in parts):
        return [part.rows for part in parts]
    from scipy.sparse import csr_array

    width = max(map(_width, parts))
    names = sorted({name for part in parts for name in part.names or ()})
    order = {name: at for at, name in enumerate(names)}
    found = []
    for rows, own in parts:
        places = np.array([order[name] for name in own or ()], np.int64)
        columns = (
            places[rows.indices // width] * width + rows.indices % width
            if len(places)
            else rows.indices
        )
        shape = (rows.shape[0], width * len(names))
        found.append(csr_array((rows.data, columns, rows.indptr), shape=shape))
    return found


def _width(named: NamedRows) -> int:
    """How many columns each name has; 1 where there are none."""
    return int(named.rows.shape[1]) // len(named.names) if named.names else 1
