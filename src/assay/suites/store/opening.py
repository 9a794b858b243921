"""Opening the database of a suite: a file for SQLite, or PostgreSQL by its address."""

from __future__ import annotations

import secrets
import sqlite3
from collections import deque
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.exc import DataError as BadValue
from sqlalchemy.exc import TimeoutError as PoolTimeout

from assay.data import DataError
from assay.extras import install_line, missing
from assay.io.files import label
from assay.registry import did_you_mean

if TYPE_CHECKING:
    from alembic.config import Config

__all__ = [
    "NEWEST",
    "PATIENCE",
    "VERSIONS",
    "Address",
    "Store",
    "Turns",
    "Unavailable",
    "address_of",
    "filled_store",
    "known_versions",
    "migrate",
    "new_file",
    "open_store",
    "upgrade",
]

_SERVERS = ("postgresql", "postgres", "postgresql+psycopg")
_FORM = "postgresql://USER:PASSWORD@HOST/NAME"


@dataclass(frozen=True)
class Address:
    """A place to connect to; `str` of it never shows a password."""

    url: URL
    path: Path | None

    def __str__(self) -> str:
        if self.path is not None:
            return label(self.path)
        return self.url.set(drivername="postgresql", query={}).render_as_string(hide_password=True)

    def check(self, *, create: bool) -> None:
        """Raise a `DataError` where the file of SQLite cannot be one."""
        if self.path is None:
            return
        if self.path.is_dir():
            raise DataError(f"{self.path} is a folder; name a database file, such as suite.db.")
        if self.path.is_file() and not _looks_right(self.path):
            raise self._no_database()
        if create and not self.path.parent.is_dir():
            folder = self.path.parent
            raise DataError(f"{self.path}: {folder} does not exist; make it: mkdir -p {folder}")
        if not create and not self.path.exists():
            raise DataError(
                f"{self.path} does not exist{_like(self.path)}. "
                f"Make it: assay suite import ITEMS --db {self.path}"
            )

    def refuse(self, target: str) -> None:
        """Raise a `DataError` where a file to be written is the database itself."""
        path = Path(target)
        if self.path is not None and path.is_file() and path.samefile(self.path):
            raise DataError(f"-o {target} is the database; name another file.")

    def explain(
        self, error: SQLAlchemyError | sqlite3.Error, unavailable: type[DataError]
    ) -> DataError:
        """What went wrong with the database, in one line without the password."""
        cause = str(error.orig) if isinstance(error, DBAPIError) else str(error)
        reason = self.without_password(" ".join(cause.split()))
        if isinstance(error, BadValue):
            return DataError(f"the database does not take this: {reason}.")
        if "not a database" in cause:
            return self._no_database()
        if "locked" in cause or "lock timeout" in cause:
            return unavailable(f"{self} is busy: another process is writing. Try again.")
        if "password authentication failed" in cause or "no password supplied" in cause:
            return unavailable(f"{self}: the user or the password is wrong ({reason}).")
        return unavailable(f"{self} cannot be used ({reason}).")

    def _no_database(self) -> DataError:
        return DataError(f"{self} is not a database of SQLite; name another file.")

    def without_password(self, text: str) -> str:
        """The text with stars for the password, wherever it stands."""
        secrets = [self.url.password, self.url.query.get("password")]
        for secret in secrets:
            if secret and isinstance(secret, str):
                text = text.replace(secret, "***")
        return text


def address_of(where: str | Path) -> Address:
    """The address that a user wrote: a path, or the URL of a PostgreSQL database."""
    text = str(where)
    scheme, slashes, rest = text.partition("://")
    if not slashes:
        return _file(Path(where))
    if scheme == "sqlite":
        return _file(Path(rest.removeprefix("/")))
    if scheme not in _SERVERS:
        raise DataError(f"no database {scheme!r}: give the path of a file, or {_FORM}.")
    try:
        url = make_url(text).set(drivername="postgresql+psycopg")
    except (ArgumentError, ValueError):
        # The words of the error could have parts of the password in them.
        raise DataError(
            f"this address of a database cannot be read: write {_FORM}, "
            "with %40 for @, %3A for : and %2F for / inside the password."
        ) from None
    if not url.database:
        raise DataError(f"{Address(url, None)} names no database: write {_FORM}.")
    return Address(url, None)


def _file(path: Path) -> Address:
    return Address(URL.create("sqlite", database=str(path)), path)


def _looks_right(path: Path) -> bool:
    """Whether a file is empty or begins as a database; SQLite itself writes over tiny files."""
    try:
        with path.open("rb") as file:
            return file.read(16) in (b"", b"SQLite format 3\0")
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}).") from None


def _like(path: Path) -> str:
    try:
        return did_you_mean(path.name, [file.name for file in path.parent.iterdir()])
    except OSError:
        return ""


NEWEST = "0002"
"""The last of the migrations."""

VERSIONS = "assay_version"
"""The table that says how far a database has come."""


def upgrade(store: Store, *, create: bool) -> None:
    """Migrate an older database to the newest form; with `create`, an empty one, too.

    Raises a `DataError` for a database that is newer, is empty or belongs to something else.
    """
    with store.read() as connection:
        version = _version(connection)
        tables = inspect(connection).get_table_names() if version is None else []
    if version == NEWEST:
        return
    if version is not None:
        _refuse_newer(store, version)
    elif tables:
        found = ", ".join(tables[:3])
        raise DataError(f"{store.address} holds something else (tables {found}); name another.")
    elif not create:
        raise DataError(
            f"{store.address} holds no suite yet: assay suite import ITEMS --db {store.address}"
        )
    with store.write() as connection:
        migrate(connection)


def migrate(connection: Connection, version: str = NEWEST) -> None:
    """Run the migrations up to a version on an open connection; nothing is printed."""
    from alembic import command

    command.upgrade(_config(connection), version)


def known_versions() -> list[str]:
    """The names of the migrations, the newest first."""
    from alembic.script import ScriptDirectory

    return [script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()]


def _version(connection: Connection) -> str | None:
    if not inspect(connection).has_table(VERSIONS):
        return None
    return connection.execute(text(f"SELECT version_num FROM {VERSIONS}")).scalar()


def _refuse_newer(store: Store, version: str) -> None:
    if version not in known_versions():
        raise DataError(
            f"{store.address} was made by a newer assay (form {version}; this assay knows forms "
            f"up to {NEWEST}). Upgrade: {install_line('web', '--upgrade')}"
        )


def _config(connection: Connection | None = None) -> Config:
    from alembic.config import Config

    config = Config()
    folder = Path(__file__).parent / "migrations"
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


PATIENCE = 10
"""Seconds to wait for another writer, or for a server to answer."""

_WRITERS = 0x61737361  # "assa": the lock that PostgreSQL's writers take turns by


class Unavailable(DataError):
    """The database cannot be reached, or others keep it busy: the same call may work later."""


class Turns:
    """First come, first served: of all threads that wait, the first is the next."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: deque[Event] = deque()
        self._taken = False
        self._count = 0

    @property
    def waiting(self) -> int:
        """How many threads wait."""
        return len(self._waiting)

    def take(self, patience: float) -> bool:
        """Wait for a turn, as long as others get theirs within so many seconds."""
        with self._lock:
            if not self._taken:
                self._taken = True
                return True
            turn = Event()
            self._waiting.append(turn)
            count = self._count
        while not turn.wait(patience):
            with self._lock:
                if turn.is_set():
                    break
                if count == self._count:
                    self._waiting.remove(turn)
                    return False
                count = self._count
        return True

    def end(self) -> None:
        """Let the next one begin."""
        with self._lock:
            self._count += 1
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._taken = False


@dataclass(frozen=True)
class Store:
    """An open database. Writers take turns; what is written is on disk when `write` ends."""

    engine: Engine
    address: Address
    turns: Turns = field(default_factory=Turns, compare=False, repr=False)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection that sees one state of the database throughout."""
        with self._connected() as connection, connection.begin():
            if connection.dialect.name == "postgresql":
                connection.exec_driver_sql(
                    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
                )
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A connection of which all is kept at the end, or nothing after an exception."""
        with self._turn(), self._connected() as connection:
            writing = connection.execution_options(assay_writes=True)
            with writing.begin():
                if writing.dialect.name == "postgresql":
                    writing.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_WRITERS})")
                yield writing

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait in line: SQLite lets any of those who wait go first, and some would wait for long.

        PostgreSQL has a line of its own.
        """
        if self.engine.dialect.name != "sqlite":
            yield
            return
        if not self.turns.take(PATIENCE):
            raise Unavailable(f"{self.address} is busy: another writer takes long. Try again.")
        try:
            yield
        finally:
            self.turns.end()

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        try:
            with self.engine.connect() as connection:
                yield connection
        except (DBAPIError, PoolTimeout) as error:
            raise self.address.explain(error, Unavailable) from None


def open_store(where: str | Path, *, create: bool = False) -> Store:
    """The database of a suite, brought to the newest form.

    `where` is the path of an SQLite file, or `postgresql://user:password@host/name`. With
    `create`, a missing file or an empty database becomes a new one.
    """
    address = address_of(where)
    address.check(create=create)
    return _opened(Store(_engine(address.url), address), create=create)


@contextmanager
def filled_store(where: str | Path) -> Iterator[Store]:
    """A database to fill: one that is there already, or a new one.

    A new file is made beside its place and moved there at the end, so that a full disk or an
    interruption leaves none.
    """
    address = address_of(where)
    address.check(create=True)
    if address.path is None or address.path.exists():
        with closing(open_store(where, create=True)) as store:
            yield store
        return
    with (
        new_file(address.path) as draft,
        closing(_opened(Store(_engine(_file(draft).url), address), create=True)) as store,
    ):
        yield store


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """A hidden path for a new database of SQLite, which is moved to `path` when it is whole."""
    draft = path.parent / f".{secrets.token_hex(8)}.tmp"
    try:
        yield draft
        _settle(draft)
        if path.exists():
            raise DataError(f"{path} was made by another process meanwhile. Try again.")
        draft.replace(path)
    except sqlite3.Error as error:
        raise _file(path).explain(error, Unavailable) from None
    finally:
        for ending in ("", "-wal", "-shm", "-journal"):
            Path(f"{draft}{ending}").unlink(missing_ok=True)


def _settle(path: Path) -> None:
    """Move what is still in its journal into the database.

    SQLite does so as it closes, but says nothing where the disk is too full for it.
    """
    with closing(sqlite3.connect(path, timeout=0)) as connection:
        busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise sqlite3.OperationalError("its journal is in use")


def _opened(store: Store, *, create: bool) -> Store:
    try:
        upgrade(store, create=create)
    except BaseException:
        store.close()
        raise
    return store


def _engine(url: URL) -> Engine:
    try:
        if url.get_backend_name() == "sqlite":
            engine = create_engine(url, connect_args={"timeout": PATIENCE}, max_overflow=40)
            event.listen(engine, "connect", _set_up_sqlite)
            event.listen(engine, "begin", _begin_sqlite)
            return engine
        options = {"connect_timeout": PATIENCE} if "connect_timeout" not in url.query else {}
        engine = create_engine(url, connect_args=options, max_overflow=40, pool_pre_ping=True)
        event.listen(engine, "connect", _set_up_postgresql)
        return engine
    except (ArgumentError, NoSuchModuleError, ImportError) as error:
        raise missing("web", "PostgreSQL needs more packages", f" ({error})") from None


def _set_up_sqlite(connection, _record) -> None:  # type: ignore[no-untyped-def]
    # The driver's own way of opening transactions begins them too late; see _begin_sqlite.
    connection.isolation_level = None
    connection.create_function("lower", 1, _lower, deterministic=True)
    for pragma in (
        f"busy_timeout = {1000 * PATIENCE}",
        "page_size = 16384",  # of a new file; a rule over the suite touches most pages
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
        f"mmap_size = {2**30}",
        "cache_size = -65536",
        "analysis_limit = 1000",
    ):
        connection.execute(f"PRAGMA {pragma}").close()


def _lower(text: str | None) -> str | None:
    """SQLite's own function knows the letters of ASCII alone."""
    return None if text is None else text.lower()


def _begin_sqlite(connection: Connection) -> None:
    # A writer that begins by reading could find at its first write that the rest is outdated.
    writes = connection.get_execution_options().get("assay_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _set_up_postgresql(connection, _record) -> None:  # type: ignore[no-untyped-def]
    connection.execute(f"SET lock_timeout = '{PATIENCE}s'")
    connection.execute("SET synchronous_commit = on")
    connection.commit()
