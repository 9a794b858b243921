"""Databases are made, brought to the newest form, or refused with a line that helps."""

import re
import sqlite3
import subprocess
import sys
import threading
from contextlib import suppress

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import insert, text

from assay.data import DataError
from assay.suites.store import opening
from assay.suites.store.opening import (
    NEWEST,
    VERSIONS,
    Turns,
    Unavailable,
    address_of,
    known_versions,
    migrate,
    open_store,
)
from assay.suites.store.tables import facts, metadata
from tests import postgresql
from tests.patience import PATIENCE
from tests.suites.store.samples import WRONG_SHARES, rows


def test_the_migrations_lead_to_the_tables_of_the_code(empty, opened):
    store = opened(empty, create=True)
    with store.read() as conn:
        context = MigrationContext.configure(
            conn, opts={"version_table": VERSIONS, "compare_server_default": True}
        )
        assert compare_metadata(context, metadata) == []
        named = {index.name for table in metadata.tables.values() for index in table.indexes}
        if conn.dialect.name == "sqlite":
            asked = "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
        else:
            asked = "SELECT indexname FROM pg_indexes WHERE indexname LIKE 'ix_%%'"
        assert {row[0] for row in conn.execute(text(asked.replace("%%", "%")))} == named


def test_the_newest_form_is_that_of_the_last_migration():
    assert known_versions()[0] == NEWEST


def test_a_database_is_found_as_it_was_left(empty, opened):
    store = opened(empty, create=True)
    with store.write() as conn:
        conn.execute(insert(facts).values(name="a", value="b"))
    store.close()
    assert rows(opened(empty), "SELECT name, value FROM facts") == [("a", "b")]
    assert rows(opened(empty, create=True), "SELECT name, value FROM facts") == [("a", "b")]


def test_nothing_is_printed_or_logged(empty, opened, capfd, caplog):
    caplog.set_level("WARNING")
    opened(empty, create=True)
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []


def test_an_exception_leaves_nothing_behind(store):
    with suppress(KeyError), store.write() as conn:
        conn.execute(insert(facts).values(name="a", value="b"))
        raise KeyError
    assert rows(store, "SELECT * FROM facts") == []


def test_a_reader_sees_one_state_and_cannot_write(store):
    with store.read() as conn:
        before = conn.exec_driver_sql("SELECT count(*) FROM facts").scalar()
        with store.write() as other:
            other.execute(insert(facts).values(name="a", value="b"))
        assert conn.exec_driver_sql("SELECT count(*) FROM facts").scalar() == before == 0
    assert rows(store, "SELECT count(*) FROM facts") == [(1,)]


def test_readers_of_postgresql_cannot_write(socket, opened):
    store = opened(postgresql.address(socket, "made"))
    with pytest.raises(Unavailable, match="read-only"), store.read() as conn:
        conn.execute(insert(facts).values(name="a", value="b"))


def test_writers_take_turns_from_the_beginning(store):
    """What a writer read before it writes is still so: no update is lost."""
    with store.write() as conn:
        conn.execute(insert(facts).values(name="n", value="0"))

    def add():
        for _ in range(25):
            with store.write() as conn:
                value = conn.exec_driver_sql("SELECT value FROM facts").scalar()
                conn.exec_driver_sql(f"UPDATE facts SET value = '{int(value) + 1}'")

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rows(store, "SELECT value FROM facts") == [("100",)]


def test_a_writer_that_waits_too_long_is_told(address, opened, monkeypatch):
    monkeypatch.setattr(opening, "PATIENCE", 0.1 if "://" not in address else 1)
    if "://" in address:  # it is another writer that takes too long, not the server
        address += f"&connect_timeout={PATIENCE}"
    store, other = opened(address), opened(address)
    busy = pytest.raises(Unavailable, match="is busy: another process")
    with store.write(), busy, other.write():
        pass


def test_writers_get_their_turns_in_the_order_in_which_they_came():
    turns, order = Turns(), []
    assert turns.take(PATIENCE)

    def wait(at):
        assert turns.take(PATIENCE)
        order.append(at)
        turns.end()

    threads = []
    for at in range(20):
        threads.append(threading.Thread(target=wait, args=(at,)))
        threads[-1].start()
        while turns.waiting <= at:
            assert threads[-1].is_alive()
    turns.end()
    for thread in threads:
        thread.join(PATIENCE)
    assert order == list(range(20))
    assert turns.take(PATIENCE)


def test_a_line_that_does_not_move_is_left(tmp_path, opened, monkeypatch):
    monkeypatch.setattr(opening, "PATIENCE", 0.05)
    store = opened(tmp_path / "suite.db", create=True)
    with (
        store.write(),
        pytest.raises(Unavailable, match="another writer takes long"),
        store.write(),
    ):
        pass
    with store.write() as conn:
        conn.execute(insert(facts).values(name="a", value="b"))


def test_shares_of_items_become_shares_of_the_outputs_that_people_judge(empty):
    store = open_store(empty, create=True)
    with store.write() as conn:
        conn.exec_driver_sql("DROP TABLE assay_version")
        metadata.drop_all(conn)
        migrate(conn, "0001")
        for table, columns, values in OLD:
            conn.exec_driver_sql(f"INSERT INTO {table} ({columns}) VALUES {values}")
        migrate(conn)
    dealt = rows(store, "SELECT output_id, annotator_id, second FROM assignments ORDER BY 1, 2")
    assert [(*row[:2], bool(row[2])) for row in dealt] == [
        (1, 1, False),
        (3, 1, False),
        (3, 2, True),
    ]
    assert rows(store, WRONG_SHARES) == []
    assert rows(store, "SELECT name FROM annotators WHERE lead") == [("Ann",)]
    store.close()


OLD = [
    ("annotators", "id, name, password, created", "(1, 'Ann', '', ''), (2, 'Ben', '', '')"),
    (
        "items",
        "id, name, position, languages, category, phenomenon, source, extra",
        "(1, 'a', 1, '', '', '', '', '{}'), (2, 'b', 2, '', '', '', '', '{}')",
    ),
    (
        "outputs",
        "id, item_id, digest, text, hits, ruled, verdict, disputed, version",
        "(1, 1, '1', 'x', 0, 'warning', 'pass', false, 1),"
        "(2, 1, '2', 'y', 0, 'fail', 'fail', false, 0),"
        "(3, 2, '3', 'z', 0, 'warning', 'warning', false, 0)",
    ),
    ("assignments", "item_id, annotator_id", "(1, 1), (2, 2), (2, 1)"),
]
"""A database of the first form."""


def test_sqlite_keeps_what_it_acknowledged(tmp_path, opened):
    store = opened(tmp_path / "suite.db", create=True)
    for pragma, value in (
        ("journal_mode", "wal"),
        ("synchronous", 2),
        ("foreign_keys", 1),
        ("busy_timeout", 1000 * opening.PATIENCE),
    ):
        assert rows(store, f"PRAGMA {pragma}") == [(value,)]


def test_many_processes_can_make_one_database(empty):
    code = f"import sys; from assay.suites.store import opening; opening.PATIENCE = {PATIENCE};"
    code += "opening.open_store(sys.argv[1], create=True)"
    started = [subprocess.Popen([sys.executable, "-c", code, empty]) for _ in range(4)]
    assert [process.wait(timeout=PATIENCE) for process in started] == [0] * 4


def test_a_newer_database_is_refused_and_left_alone(empty):
    store = open_store(empty, create=True)
    with store.write() as conn:
        conn.exec_driver_sql(f"UPDATE {VERSIONS} SET version_num = '9999'")
    store.close()
    for create in (False, True):
        with pytest.raises(DataError, match=r"newer assay .*9999.*0002.*pip install --upgrade"):
            open_store(empty, create=create)


def test_a_database_of_something_else_is_refused(empty):
    if "://" in empty:
        with psycopg.connect(empty) as connection:
            connection.execute("CREATE TABLE recipes (id int)")
    else:
        with sqlite3.connect(empty) as connection:
            connection.execute("CREATE TABLE recipes (id int)")
        connection.close()
    with pytest.raises(DataError, match=r"something else \(tables recipes\).*name another"):
        open_store(empty, create=True)


def test_an_empty_database_is_made_only_when_asked_for(socket):
    postgresql.run(socket, "CREATE DATABASE nothing")
    with pytest.raises(DataError, match="holds no suite yet: assay suite import"):
        open_store(postgresql.address(socket, "nothing"))


@pytest.mark.parametrize("content", [b"{}\n" * 100, b"\0" * 2000, b"x"])
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "items.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"items.json is not a database of SQLite.*name another"):
        open_store(path, create=True)
    assert path.read_bytes() == content


def test_a_missing_file_is_refused_with_its_neighbour(tmp_path):
    (tmp_path / "suite.db").write_bytes(b"")
    with pytest.raises(DataError, match=r"suit.db does not exist \(did you mean 'suite.db'\?\)"):
        open_store(tmp_path / "suit.db")
    assert not (tmp_path / "suit.db").exists()


@pytest.mark.parametrize(
    ("path", "complaint"),
    [("", "is a folder"), ("no/suite.db", r"no does not exist; make it: mkdir -p")],
)
def test_a_place_where_no_file_can_be_is_refused(tmp_path, path, complaint):
    with pytest.raises(DataError, match=complaint):
        open_store(tmp_path / path, create=True)


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("mysql://ann:hidden@host/suite", "no database 'mysql': give the path of a file"),
        ("postgresql://ann:hidden@host:port/suite", "cannot be read"),
        ("postgresql://ann:hi:dden@ho@st:1:2/suite", "cannot be read|cannot be used"),
        ("postgresql://ann:hidden@host", "names no database"),
        ("postgresql://ann:hidden@127.0.0.1:1/suite", "refused"),
        ("postgresql://127.0.0.1:1/suite?user=ann&password=hidden", "refused"),
    ],
)
def test_a_wrong_address_is_refused_without_its_password(url, complaint):
    with pytest.raises(DataError, match=complaint) as caught:
        open_store(url)
    assert "dden" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_wrong_password_is_refused_and_not_shown(socket):
    url = f"postgresql://ann:mysecretword@/made?host={socket}"
    with pytest.raises(Unavailable, match="the user or the password is wrong") as caught:
        open_store(url)
    assert "mysecretword" not in str(caught.value)
    with pytest.raises(Unavailable, match="permission denied"):
        open_store(url.replace("mysecretword", "secret"))


def test_an_unknown_database_is_refused(socket):
    with pytest.raises(Unavailable, match=r'database "missing" does not exist'):
        open_store(postgresql.address(socket, "missing"))


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("suite.db", "suite.db"),
        ("sqlite:///suite.db", "suite.db"),
        ("sqlite:////tmp/suite.db", "/tmp/suite.db"),
        ("postgres://ann:hidden@host/suite", "postgresql://ann:***@host/suite"),
        ("postgresql://host/suite?password=hidden", "postgresql://host/suite"),
    ],
)
def test_an_address_is_shown_without_its_password(written, shown):
    assert str(address_of(written)) == shown


def test_a_password_is_taken_out_of_a_text():
    address = address_of("postgresql://ann:hidden@host/suite")
    assert address.without_password("a hidden b") == "a *** b"
    assert re.fullmatch("a b", address_of("suite.db").without_password("a b"))
