"""Backups: all that a database holds in one SQLite file, which opens as the database itself."""

from __future__ import annotations

import secrets
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import insert, select

from assay.data import DataError
from assay.suites.store.opening import Store, filled_store, remove_database
from assay.suites.store.tables import batches, metadata

__all__ = ["backup"]


def backup(store: Store, target: Path | str) -> None:
    """Write all tables as they are at one moment to a new SQLite file, while others may write.

    Accounts are in it with their passwords, which are hashed, and their logins: keep it safe.
    """
    path = Path(target)
    if path.exists():
        raise DataError(f"{path} exists already; a backup goes to a new file.")
    if store.address.path is None:
        _copied(store, path)
    else:
        _copied_whole(store.address.path, path)


def _copied_whole(database: Path, path: Path) -> None:
    """A file of SQLite, copied beside its place and moved there at the end."""
    draft = path.parent / f".{secrets.token_hex(8)}.tmp"
    try:
        with (
            closing(sqlite3.connect(database)) as source,
            closing(sqlite3.connect(draft)) as copy,
        ):
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
        draft.replace(path)
    except (OSError, sqlite3.Error) as error:
        raise DataError(f"{path} cannot be written ({error}).") from None
    finally:
        remove_database(draft)


def _copied(store: Store, path: Path) -> None:
    """The tables of a server, row by row."""
    with store.read() as reading, filled_store(path) as new, new.write() as writing:
        for table in metadata.sorted_tables:
            rows = reading.execute(select(table)).mappings()
            for batch in batches(rows, 1000):
                writing.execute(insert(table), [dict(row) for row in batch])
