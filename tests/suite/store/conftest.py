"""Databases for the tests: an SQLite file, and a real PostgreSQL server with one database each."""

import itertools
from collections.abc import Callable, Iterator

import pytest

from assay.suite.store.opening import Store, open_store
from tests import postgresql

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def socket() -> Iterator[str]:
    """The folder of a PostgreSQL server's socket, with a database `made` in the newest form."""
    if postgresql.binary("initdb") is None:
        pytest.skip(postgresql.MISSING)
    with postgresql.cluster() as socket:
        postgresql.run(socket, "CREATE DATABASE made")
        open_store(postgresql.address(socket, "made"), create=True).close()
        yield socket


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(request, tmp_path) -> str:
    """Where a database can be made."""
    if request.param == "sqlite":
        return str(tmp_path / "suite.db")
    return _database(request.getfixturevalue("socket"), "template0")


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request, tmp_path) -> str:
    """Where a database is, without a suite."""
    if request.param == "sqlite":
        path = tmp_path / "suite.db"
        open_store(path, create=True).close()
        return str(path)
    return _database(request.getfixturevalue("socket"), "made")


@pytest.fixture
def opened() -> Iterator[Callable[..., Store]]:
    """Open databases that are closed after the test."""
    stores = []

    def call(where, **options) -> Store:
        stores.append(open_store(where, **options))
        return stores[-1]

    yield call
    for store in stores:
        store.close()


@pytest.fixture
def store(address, opened) -> Store:
    """An open database without a suite."""
    return opened(address)


def _database(socket: str, template: str) -> str:
    name = f"test{next(_numbers)}"
    postgresql.run(socket, f"CREATE DATABASE {name} TEMPLATE {template}")
    return postgresql.address(socket, name)
