"""Annotations kept on disk by text, pipeline and version, so that nothing is tagged twice."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeVar

from assay.data import DataError
from assay.extras import cache_folder
from assay.features.annotation import Annotation, Annotator, pack, unpack
from assay.progress import Track, untracked

__all__ = ["AnnotationCache", "CacheEntry", "CachedAnnotator", "default_path"]

T = TypeVar("T")

FORMAT = 1
"""Part of every key: to be raised when annotations of the same identity come to mean others."""

PATIENCE = 30.0
"""Seconds to wait for another process that writes."""

ATTEMPTS = 2
"""The second is for a new file, after a damaged one."""

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS pipelines (id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE)",
    "CREATE TABLE IF NOT EXISTS annotations (key BLOB PRIMARY KEY, pipeline INTEGER NOT NULL, "
    "made REAL NOT NULL, value BLOB NOT NULL)",
)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_ASKED = 500
"""Keys in one question; SQLite may be built to take no more than 999."""

_DAY = 24 * 60 * 60


class CacheEntry(NamedTuple):
    """What there is of one pipeline: how many annotations, of how many bytes."""

    identity: str
    annotations: int
    bytes: int


class AnnotationCache:
    """Annotations in an SQLite database, which several processes may use at once.

    Reading and writing never fail. A folder that cannot be written or a full disk is told to
    `warn`, once, and then does without; a damaged file is set aside and a new one begun.
    """

    def __init__(self, path: Path | str, *, warn: Callable[[str], None] | None = None) -> None:
        self.path = Path(path)
        self._warn = warn
        self._readable = self._writable = True

    def read(self, identity: str, texts: Iterable[str]) -> dict[str, Annotation]:
        """The annotations that are there, by text."""
        keys = {_key(identity, text): text for text in texts} if self._readable else {}
        found: dict[str, Annotation] = {}
        try:
            with self._open() as database:
                for key, value in _rows(database, keys):
                    with suppress(ValueError, zlib.error):
                        found[keys[key]] = _decoded(value)
        except (sqlite3.Error, OSError) as error:
            self._readable = self._recovered(error)
        return found

    def write(self, identity: str, annotations: Mapping[str, Annotation]) -> None:
        """Keep annotations: all of them, or none where that fails."""
        rows = [(_key(identity, text), _encoded(each)) for text, each in annotations.items()]
        for _ in range(ATTEMPTS if rows else 0):
            if not self._writable:
                return
            try:
                self._insert(identity, rows)
                return
            except (sqlite3.Error, OSError) as error:
                self._writable = self._recovered(error)

    def contents(self) -> list[CacheEntry]:
        """What there is by pipeline, the largest first."""
        with self._told(), self._open() as database:
            return _contents(database)

    def clear(self, *, older_than: float | None = None) -> list[CacheEntry]:
        """Remove all, or what was made more than so many days ago; gives back what went."""
        with self._told():
            if older_than is None:
                self._remove_damaged()
            with self._open() as database:
                removed = _delete(database, older_than)
                # Without room, or beside a run that reads, the file stays as large and is reused.
                with suppress(sqlite3.OperationalError):
                    database.execute("VACUUM")
        return removed

    def _insert(self, identity: str, rows: Iterable[tuple[bytes, bytes]]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with _connection(self.path) as database:
            # Readers need not wait for writers then; where it is refused, they do.
            with suppress(sqlite3.OperationalError):
                database.execute("PRAGMA journal_mode = WAL")
            with _transaction(database):
                for statement in _SCHEMA:
                    database.execute(statement)
                _insert(database, identity, rows)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """The database, an empty one where there is none yet."""
        with _connection(self.path if self.path.exists() else None) as database:
            if not database.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
                with _connection(None) as empty:
                    for statement in _SCHEMA:
                        empty.execute(statement)
                    yield empty
                    return
            yield database

    def _recovered(self, error: Exception) -> bool:
        """Whether one can go on after an error: a damaged file is out of the way, say."""
        reason = str(error)
        if _is_damage(error):
            try:
                if aside := set_aside(self.path):
                    self._say(f"{self.path} was damaged; it is called {aside.name} now.")
                return True
            except (sqlite3.Error, OSError) as second:
                reason = f"{reason}; {second}"
        self._say(
            f"annotations are not kept and will be made again next time ({self.path}: {reason}). "
            "Set ASSAY_CACHE to a folder with room, where you may write."
        )
        return False

    def _say(self, message: str) -> None:
        warn, self._warn = self._warn, None
        if warn is not None:
            warn(message)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise DataError(
                f"the annotations in {self.path} cannot be reached ({error}). "
                f"If need be, remove the folder: {self.path.parent}"
            ) from None

    def _remove_damaged(self) -> None:
        if self.path.exists():
            set_aside(self.path)
        for path in self.path.parent.glob(f"{self.path.name}.damaged-*"):
            path.unlink(missing_ok=True)


@contextmanager
def _connection(path: Path | None) -> Iterator[sqlite3.Connection]:
    """A database for one visit; nothing stays open in between, not even over a fork."""
    name = ":memory:" if path is None else path
    with closing(sqlite3.connect(name, timeout=PATIENCE, isolation_level=None)) as database:
        database.execute("PRAGMA synchronous = NORMAL")
        yield database


def _key(identity: str, text: str) -> bytes:
    whole = f"{FORMAT}\0{identity}\0{text}"
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).digest()


def _encoded(annotation: Annotation) -> bytes:
    return zlib.compress(json.dumps(pack(annotation), separators=(",", ":")).encode())


def _decoded(value: object) -> Annotation:
    """The annotation; a `ValueError` or `zlib.error` for anything else."""
    if not isinstance(value, bytes):
        raise ValueError("annotations are kept as bytes")
    return unpack(json.loads(zlib.decompress(value)))


def _rows(database: sqlite3.Connection, keys: Iterable[bytes]) -> Iterator[tuple[bytes, object]]:
    left = iter(keys)
    while some := list(islice(left, _ASKED)):
        marks = ",".join("?" * len(some))
        yield from database.execute(
            f"SELECT key, value FROM annotations WHERE key IN ({marks})", some
        )


def _insert(
    database: sqlite3.Connection, identity: str, rows: Iterable[tuple[bytes, bytes]]
) -> None:
    now = time.time()
    database.execute("INSERT OR IGNORE INTO pipelines (identity) VALUES (?)", (identity,))
    question = "SELECT id FROM pipelines WHERE identity = ?"
    (pipeline,) = database.execute(question, (identity,)).fetchone()
    # Only what could not be read is made again: the new value is the one to keep.
    database.executemany(
        "INSERT OR REPLACE INTO annotations (key, pipeline, made, value) VALUES (?, ?, ?, ?)",
        ((key, pipeline, now, value) for key, value in rows),
    )


@contextmanager
def _transaction(database: sqlite3.Connection) -> Iterator[None]:
    """All or nothing; the lock is taken at once, so that two writers wait for each other."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        # SQLite may have given up the transaction already, on a full disk say.
        with suppress(sqlite3.Error):
            database.execute("ROLLBACK")
        raise


def _contents(database: sqlite3.Connection) -> list[CacheEntry]:
    rows = database.execute(
        "SELECT identity, COUNT(*), SUM(LENGTH(value)) FROM annotations "
        "JOIN pipelines ON pipelines.id = pipeline GROUP BY identity ORDER BY 3 DESC, 1"
    )
    return [CacheEntry(*row) for row in rows]


def _delete(database: sqlite3.Connection, older_than: float | None) -> list[CacheEntry]:
    """What was removed."""
    with _transaction(database):
        before = _contents(database)
        if older_than is None:
            # Without a condition it is quick, and needs next to no room on a full disk.
            database.execute("DELETE FROM annotations")
        else:
            latest = time.time() - older_than * _DAY
            database.execute("DELETE FROM annotations WHERE made < ?", (latest,))
        left = {each.identity: each for each in _contents(database)}
    return [each for each in (_less(each, left) for each in before) if each.annotations]


def _less(kept: CacheEntry, left: Mapping[str, CacheEntry]) -> CacheEntry:
    now = left.get(kept.identity, CacheEntry(kept.identity, 0, 0))
    return CacheEntry(kept.identity, kept.annotations - now.annotations, kept.bytes - now.bytes)


def set_aside(path: Path) -> Path | None:
    """Give a damaged database another name, and its journals too, which belong to no other.

    None where it is sound after all, since another process was faster.
    """
    aside = path.with_name(f"{path.name}.damaged-{time.time_ns()}")
    # A transaction is a lock that ends with its process, on every system.
    with _connection(path.with_name(f"{path.name}.lock")) as lock, _transaction(lock):
        if _is_sound(path):
            return None
        for ending in ("-wal", "-shm", ""):
            with suppress(FileNotFoundError):
                path.with_name(path.name + ending).rename(aside.with_name(aside.name + ending))
    return aside


def _is_sound(path: Path) -> bool:
    try:
        with _connection(path if path.exists() else None) as database:
            return bool(database.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",))
    except sqlite3.DatabaseError as error:
        if _is_damage(error):
            return False
        raise


def _is_damage(error: Exception) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED


CHUNK = 2000
"""Texts that are annotated between two visits to the disk: what a crash can lose."""


@dataclass(frozen=True)
class CachedAnnotator:
    """Another annotator, asked only for texts that the cache does not have, and once for each.

    `track` shows how far the annotator is: `partial(assay.progress.track, label="Tagging")`.
    """

    annotator: Annotator
    cache: AnnotationCache
    track: Track = untracked

    @property
    def identity(self) -> str:
        """That of the other annotator."""
        return self.annotator.identity

    @property
    def layers(self) -> tuple[str, ...]:
        """Those of the other annotator."""
        return self.annotator.layers

    def annotate(self, lines: Sequence[str]) -> list[Annotation]:
        """One annotation per line, in order."""
        identity = self.identity
        found = self.cache.read(identity, dict.fromkeys(lines))
        missing = [line for line in dict.fromkeys(lines) if line not in found]
        if missing:
            # Closed at once where it fails, so that no process goes on tagging for nobody.
            with closing(_stream(self.annotator, missing)) as stream:
                made = self.track(stream, total=len(missing))
                pairs = zip(missing, made, strict=True)
                while chunk := self._kept(identity, pairs):
                    found |= chunk
        return [found[line] for line in lines]

    def _kept(
        self, identity: str, pairs: Iterator[tuple[str, Annotation]]
    ) -> Mapping[str, Annotation]:
        """The next annotations, which are in the cache now, also where the rest fails."""
        chunk: dict[str, Annotation] = {}
        try:
            for line, annotation in islice(pairs, CHUNK):
                chunk[line] = annotation
        finally:
            self.cache.write(identity, chunk)
        return chunk


def default_path() -> Path:
    """The database of annotations in the folder for caches."""
    return cache_folder() / "annotations.sqlite"


def _stream(annotator: Annotator, lines: Sequence[str]) -> Generator[Annotation]:
    """The annotations one by one, from annotators that can, or else some at a time."""
    stream: Callable[[Sequence[str]], Iterator[Annotation]] | None
    stream = getattr(annotator, "stream", None)
    if stream is not None:
        yield from stream(lines)
        return
    for at in range(0, len(lines), CHUNK):
        some = lines[at : at + CHUNK]
        made = annotator.annotate(some)
        if len(made) != len(some):
            raise DataError(
                f"{annotator.identity} gave {len(made)} annotations for {len(some)} lines. "
                "An annotator gives one for each, also for an empty one."
            )
        yield from made
