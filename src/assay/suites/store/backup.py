"""Backups: all that a database holds in one SQLite file, which opens as the database itself."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import insert, select

from assay.data import DataError
from assay.suites.store.opening import Store, filled_store, new_file
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
        return
    with (
        new_file(path) as draft,
        closing(sqlite3.connect(store.address.path)) as source,
        closing(sqlite3.connect(draft)) as copy,
    ):
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")


def _copied(store: Store, path: Path) -> None:
    """The tables of a server, row by row."""
    with store.read() as reading, filled_store(path) as new, new.write() as writing:
        for table in metadata.sorted_tables:
            rows = reading.execute(select(table)).mappings()
            for batch in batches(rows, 1000):
                writing.execute(insert(table), [dict(row) for row in batch])
