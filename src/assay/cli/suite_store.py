"""The option that names a suite's database, and opening it from the command line."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from assay.data import DataError

if TYPE_CHECKING:
    from assay.suite.store.opening import Store

__all__ = ["add_db", "open_db"]


def add_db(parser: argparse._ActionsContainer, *, required: bool = False) -> None:
    """The option `--db`, the same for every command."""
    parser.add_argument(
        "--db",
        required=required,
        metavar="DB",
        help="the suite's database: a file (SQLite), or postgresql://USER:PASSWORD@HOST/NAME",
    )


def open_db(args: argparse.Namespace, *, create: bool = False) -> Store:
    """The database that `--db` names; a password is taken out of `args.command`."""
    try:
        from assay.suite.store.opening import open_store

        if create:
            # Needed to make a database, and missed before there is half a one.
            import alembic  # noqa: F401
    except ModuleNotFoundError as error:
        raise DataError(f"--db needs: pip install 'assay-mt[web]' ({error})") from None
    store = open_store(args.db, create=create)
    args.command = store.address.without_password(args.command)
    return store
