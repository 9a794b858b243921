"""Bringing a database to the form of tables.py, by the migrations that come with assay."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text

from assay.data import DataError

if TYPE_CHECKING:
    from alembic.config import Config

    from assay.suite.store.opening import Store

__all__ = ["NEWEST", "VERSIONS", "known_versions", "migrate", "upgrade"]

NEWEST = "0001"
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
        raise DataError(
            f"{store.address} holds something else (tables {found}); name another with --db."
        )
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

    return [each.revision for each in ScriptDirectory.from_config(_config()).walk_revisions()]


def _version(connection: Connection) -> str | None:
    if not inspect(connection).has_table(VERSIONS):
        return None
    return connection.execute(text(f"SELECT version_num FROM {VERSIONS}")).scalar()


def _refuse_newer(store: Store, version: str) -> None:
    if version not in known_versions():
        raise DataError(
            f"{store.address} was made by a newer assay (form {version}; this assay knows forms "
            f"up to {NEWEST}). Upgrade: pip install --upgrade 'assay-mt[web]'"
        )


def _config(connection: Connection | None = None) -> Config:
    from alembic.config import Config

    config = Config()
    folder = Path(__file__).parent / "migrations"
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config
