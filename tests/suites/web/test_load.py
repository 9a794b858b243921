"""A short form of `benchmarks/suite_load.py`: people work, servers die, nothing is lost."""

import pytest

from benchmarks import suite_load
from benchmarks.suite_load import LoadOptions, fill, load
from tests import postgresql
from tests.patience import PATIENCE

SHORT = LoadOptions(clients=4, seconds=0, kills=3, life=(0, 0.3))


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request, tmp_path):
    """Where a database can be made."""
    if request.param == "sqlite":
        yield str(tmp_path / "suite.db")
        return
    if postgresql.binary("initdb") is None:
        pytest.skip(postgresql.MISSING)
    with postgresql.cluster() as server:
        postgresql.run(server, "CREATE DATABASE suite")
        yield postgresql.address(server, "suite")


def test_what_was_acknowledged_is_there_once_after_kills(where, monkeypatch):
    monkeypatch.setattr(suite_load, "TIMEOUT", PATIENCE)
    fill(where)
    _, killed = load(where, SHORT)
    assert killed.acknowledged >= SHORT.kills
    assert killed.lost == 0
    assert killed.doubled == 0
    assert killed.refused == 0
    assert killed.tally.complaints == set()
