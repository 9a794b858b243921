"""Opening the database of a suite: a file for SQLite, or PostgreSQL by its address."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from assay.data import DataError
from assay.suite.store.addresses import Address, address_of
from assay.suite.store.upgrading import upgrade

__all__ = ["PATIENCE", "Store", "Unavailable", "open_store"]

PATIENCE = 10
"""Seconds to wait for another writer, or for a server to answer."""

_WRITERS = 0x61737361  # "assa": the lock that PostgreSQL's writers take turns by


class Unavailable(DataError):
    """The database cannot be reached, or others keep it busy: the same call may work later."""


@dataclass(frozen=True)
class Store:
    """An open database. Writers take turns; what is written is on disk when `write` ends."""

    engine: Engine
    address: Address

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
        with self._connected() as connection:
            writing = connection.execution_options(assay_writes=True)
            with writing.begin():
                if writing.dialect.name == "postgresql":
                    writing.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_WRITERS})")
                yield writing

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
    store = Store(_engine(address.url), address)
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
        raise DataError(f"PostgreSQL needs: pip install 'assay-mt[web]' ({error})") from None


def _set_up_sqlite(connection, _record) -> None:  # type: ignore[no-untyped-def]
    # The driver's own way of opening transactions begins them too late; see _begin_sqlite.
    connection.isolation_level = None
    connection.create_function("lower", 1, _lower, deterministic=True)
    for pragma in (
        f"busy_timeout = {1000 * PATIENCE}",
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
        f"mmap_size = {2**30}",
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
