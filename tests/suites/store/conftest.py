"""Databases for the tests: an SQLite file, and a real PostgreSQL server with one database each."""

import itertools
from collections.abc import Callable, Iterator

import pytest

from assay.suites.store import opening
from assay.suites.store.opening import Store, open_store
from tests import postgresql
from tests.patience import PATIENCE
from tests.suites.store.samples import WRONG_SHARES, emptied, fill, item, rows

_numbers = itertools.count(1)


@pytest.fixture(autouse=True)
def _patient(monkeypatch):
    """On a busy machine, writers that take turns may wait long for theirs."""
    monkeypatch.setattr(opening, "PATIENCE", PATIENCE)


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
    socket, name = request.getfixturevalue("socket"), f"empty{next(_numbers)}"
    postgresql.run(socket, f"CREATE DATABASE {name}")
    return postgresql.address(socket, name)


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request, tmp_path) -> str:
    """Where a database is, without a suite."""
    if request.param == "sqlite":
        path = tmp_path / "suite.db"
        open_store(path, create=True).close()
        return str(path)
    return emptied(request.getfixturevalue("socket"))


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
def store(address, opened) -> Iterator[Store]:
    """An open database without a suite; whatever is done to it, shares know what is open."""
    store = opened(address)
    yield store
    assert rows(store, WRONG_SHARES) == []


@pytest.fixture
def husbands(store):
    """Two phenomena of one category and another category, with warnings in all."""
    fill(
        store,
        [
            item("a", ["husband"], ["man"]),
            item("b", ["husband"], ["man"]),
            item("c", ["wife"], ["woman"], phenomenon="Q"),
            item("d", ["dog"], ["cat"], category="D"),
        ],
        {
            "x": {"a": "her hubby", "b": "a hubby", "c": "her hubby c", "d": "hubby dog"},
            "y": {"a": "her husband", "b": "a spouse", "c": "wife and woman", "d": "hubby cat"},
            "z": {"a": "her man, hubby", "b": "", "c": "hubby", "d": "a bird"},
        },
    )
    return store


@pytest.fixture
def three(store):
    """Three items: a with two warnings, b with a verdict, c with a warning of two systems."""
    fill(
        store,
        [item("a"), item("b", category="D", phenomenon="Q"), item("c", category="D")],
        {
            "x": {"a": "so a", "b": "good b", "c": "so c"},
            "y": {"a": "hm a", "b": "bad b", "c": "so c"},
        },
        people=("Ann", "Ben", "Cem"),
    )
    return store
