"""Shards as files: finding them, and having them here if they are far away."""

from __future__ import annotations

import glob
import hashlib
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from assay.data import DataError
from assay.extras import require

__all__ = [
    "ARROW",
    "FORMATS_READ",
    "PACKED",
    "LocalCopy",
    "Shard",
    "check_names",
    "check_unchanged",
    "filesystem",
    "find_shards",
    "local_copy",
    "remote",
]

PACKED = (".gz", ".xz", ".zst")
ARROW = (".arrow", ".feather", ".ipc")
FORMATS_READ = (".parquet", *ARROW, ".jsonl", ".ndjson", ".tsv", ".csv")

_WILD = re.compile(r"[*?\[]")
_FAR = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(?:://|::)")


class Shard(NamedTuple):
    """One file of a corpus: where it is, what its output is called, and what tells a change.

    `stamp` is quick to look up: where it is the same, the file is taken to be the same.
    """

    path: str
    name: str
    size: int
    stamp: str


def find_shards(patterns: Sequence[str]) -> list[Shard]:
    """The files of these patterns or paths, in order, each once.

    What a pattern's first wildcard leaves of a path names the output, so that `corpus/*/a.parquet`
    gives `de/a` and `en/a`.
    """
    shards: dict[str, Shard] = {}
    for pattern in patterns:
        for path, name in _matches(str(pattern)):
            if path not in shards:
                shards[path] = Shard(path, _bare(name), *_stat(path))
    return list(shards.values())


def check_names(shards: Iterable[Shard]) -> None:
    """Raise a `DataError` where the outputs of two shards would have the same name."""
    by_name: dict[str, str] = {}
    for shard in shards:
        other = by_name.setdefault(shard.name, shard.path)
        if other != shard.path:
            raise DataError(
                f"{other} and {shard.path} would both be called {shard.name} in the output. Name "
                "them with one pattern that has a wildcard for what differs, or rename one."
            )


def remote(path: str) -> bool:
    """Whether a path is for fsspec, as s3://bucket/key or memory://key."""
    return _FAR.match(path) is not None


def filesystem(path: str) -> tuple[Any, str]:
    """The file system of a path, and the path in it."""
    fsspec = require("scale", "fsspec", reason=f"{path} is not on this machine")
    try:
        system, inside = fsspec.core.url_to_fs(path)
    except (ImportError, ValueError, OSError) as error:
        raise DataError(f"{path} cannot be reached ({error}).") from None
    return system, inside


def _matches(pattern: str) -> list[tuple[str, str]]:
    """The paths that a pattern stands for, and the part of each that the pattern leaves open."""
    wild = _WILD.search(pattern)
    if remote(pattern):
        system, inside = filesystem(pattern)
        with _reached(pattern):
            found = sorted(system.glob(inside)) if wild else [inside] * system.isfile(inside)
        paths = [_url(system, path, pattern) for path in found]
        fixed = _fixed(inside)
        names = [path.removeprefix(fixed).lstrip("/") for path in found]
    elif wild and not Path(pattern).exists():
        found = glob.glob(pattern, recursive=True)  # noqa: PTH207 (patterns may be absolute)
        paths = sorted(path for path in found if Path(path).is_file())
        names = [path.removeprefix(_fixed(pattern)) for path in paths]
    else:
        if Path(pattern).is_dir():
            raise DataError(f"{pattern} is a folder; name its files: '{pattern.rstrip('/')}/*'.")
        paths = [pattern] if Path(pattern).exists() else []
        names = [Path(path).name for path in paths]
    if not paths:
        what = "no file matches it" if wild else "there is no such file"
        raise DataError(f"{pattern}: {what}. Check the path.")
    return [
        (path, name if wild else Path(name).name) for path, name in zip(paths, names, strict=True)
    ]


def _url(system: Any, path: str, pattern: str) -> str:
    """The address of a path that the pattern stands for, with all that the pattern chains.

    In zip://*.tsv::s3://bucket/all.zip the file system of the path leaves the archive out.
    """
    head, _, tail = pattern.partition("://")
    caches, chained, _ = head.rpartition("::")
    _, within, archive = tail.partition("::")
    return f"{caches}{chained}{system.unstrip_protocol(path)}{within}{archive}"


def _fixed(pattern: str) -> str:
    """The folders of a pattern before its first wildcard."""
    wild = _WILD.search(pattern)
    start = pattern[: wild.start()] if wild else pattern
    return start[: start.rfind("/") + 1]


def _bare(name: str) -> str:
    """An output's name: without the endings of the packing and of the format.

    >>> _bare("de/part-1.tsv.gz")
    'de/part-1'
    """
    for endings in (PACKED, FORMATS_READ):
        ending = next((each for each in endings if name.lower().endswith(each)), "")
        name = name[: -len(ending)] if ending and len(Path(name).name) > len(ending) else name
    return name


def _stat(path: str) -> tuple[int, str]:
    if remote(path):
        system, inside = filesystem(path)
        with _reached(path):
            about = system.info(inside)
            # Not `ukey`: that of an archive is another one each time it is opened.
            return int(about["size"] or 0), hashlib.sha256(str(about).encode()).hexdigest()
    try:
        found = Path(path).stat()
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}).") from None
    return found.st_size, f"{found.st_mtime_ns} {found.st_ctime_ns}"


def check_unchanged(shard: Shard) -> None:
    """Raise a `DataError` where a file is no more what it was when it was found."""
    if _stat(shard.path) != (shard.size, shard.stamp):
        raise DataError(f"{shard.path} has changed while it was read. Run the same again.")


@contextmanager
def _reached(path: str) -> Iterator[None]:
    try:
        yield
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError(f"{path} does not exist. Check the path.") from None
    # Every file system has errors of its own, from lost connections to missing rights.
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{path} cannot be read ({reason}).") from None


class LocalCopy(NamedTuple):
    """A shard on this machine, and the SHA-256 of its bytes."""

    path: Path
    sha256: str


@contextmanager
def local_copy(shard: Shard) -> Iterator[LocalCopy]:
    """The shard where it can be read twice: itself, or a temporary copy of what is far away."""
    if not remote(shard.path):
        with _reached(shard.path), Path(shard.path).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        yield LocalCopy(Path(shard.path), digest)
        return
    system, inside = filesystem(shard.path)
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        # The ending says how to read it.
        target = Path(folder) / f"shard{''.join(Path(inside).suffixes[-2:])}"
        with _reached(shard.path):
            system.get_file(inside, str(target))
        with target.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        yield LocalCopy(target, digest)
