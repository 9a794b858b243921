"""Tables to take away, and backups."""

import errno
from pathlib import Path

import numpy as np
import pytest

from assay.data import DataError
from assay.rendering import render
from assay.suites.store.backup import backup
from assay.suites.store.dealing import assign
from assay.suites.store.decisions import save_decision, undo
from assay.suites.store.exports import EXPORTS, export
from assay.suites.store.notes import add_note
from assay.suites.store.tables import metadata
from tests.suites.store.samples import number, rows

ANN, BEN, CEM = 1, 2, 3


@pytest.fixture
def judged(three):
    """Ann and Ben judge everything twice; Ann said fail of one, and Ben of another."""
    with three.write() as conn:
        assign(conn, 1, {"Ann": 1, "Ben": 1}, double=1, rng=np.random.default_rng(1))
        save_decision(conn, number(three, "so a"), ANN, "fail", seen=0)
        save_decision(conn, number(three, "so c"), BEN, "pass", seen=0)
        save_decision(conn, number(three, "so c"), ANN, "fail", seen=1)
        add_note(conn, ANN, output=number(three, "so a"), flag="unsure", text="=1+1")
        save_decision(conn, number(three, "hm a"), CEM, "pass", seen=0)
        undo(conn, CEM)
    return three


def exported(store, what, person=None):
    with store.read() as conn:
        return export(conn, what, person=person)


def test_decisions_come_with_all_that_belongs_to_them(judged):
    first, *_, last = exported(judged, "decisions").records()
    assert first | {"time": ""} == {
        "person": "Ann",
        "time": "",
        "item": "a",
        "category": "C",
        "phenomenon": "P",
        "source": "Quelle a",
        "output": "so a",
        "systems": "x",
        "verdict": "fail",
        "adjudication": False,
        "withdrawn": False,
        "undone": None,
        "undone_by": None,
        "counts_as": "fail",
        "notes": "Ann: unsure: =1+1",
    }
    assert (last["person"], last["withdrawn"], last["undone_by"]) == ("Cem", True, "Cem")


def test_double_judgements_stand_side_by_side(judged):
    (double,) = exported(judged, "doubles").records()
    assert (double["verdict of Ann"], double["verdict of Ben"]) == ("fail", "pass")
    assert (double["agree"], double["counts_as"]) == (False, "disputed")


def test_exports_of_the_second_judge_hide_the_first_verdict(judged):
    texts = [record["output"] for record in exported(judged, "decisions", BEN).records()]
    assert "so a" not in texts
    assert texts.count("so c") == 2
    with pytest.raises(DataError, match="no notes yet"):
        exported(judged, "notes", BEN)
    assert exported(judged, "notes", ANN).records()[0]["flag"] == "unsure"


def test_rules_and_notes_come_with_their_history(judged):
    rules = exported(judged, "rules").records()
    assert [rule["rule"] for rule in rules] == ["a+1", "a-1", "b+1", "b-1", "c+1", "c-1"]
    assert {rule["from"] for rule in rules} == {"file"}
    (note,) = exported(judged, "notes").records()
    assert (note["note"], note["output"], note["removed"]) == ("=1+1", "so a", False)


def test_formulas_are_harmless_in_tables(judged):
    assert ",'=1+1," in render(exported(judged, "notes"), "csv")


@pytest.mark.parametrize("what", ["decisions", "doubles", "notes"])
def test_an_empty_export_says_so(three, what):
    with pytest.raises(DataError, match="nothing to write"):
        exported(three, what)
    assert what in EXPORTS


def test_a_backup_that_cannot_be_written_leaves_nothing_behind(judged, tmp_path, monkeypatch):
    folder = tmp_path / "backups"
    with pytest.raises(DataError):
        backup(judged, folder / "copy.db")
    folder.mkdir()

    def full(draft, target):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        backup(judged, folder / "copy.db")
    assert list(folder.iterdir()) == []


def test_a_backup_holds_everything_and_opens_as_a_database(judged, tmp_path, opened):
    backup(judged, tmp_path / "copy.db")
    copy = opened(tmp_path / "copy.db")
    for table in metadata.tables:
        order = f"SELECT * FROM {table} ORDER BY 1, 2"
        assert [tuple(map(str, row)) for row in _plain(rows(copy, order))] == [
            tuple(map(str, row)) for row in _plain(rows(judged, order))
        ]
    with copy.write() as conn:
        save_decision(conn, number(copy, "hm a"), ANN, "pass", seen=2)
    with pytest.raises(DataError, match="exists already"):
        backup(judged, tmp_path / "copy.db")


def _plain(found):
    """Truth values as SQLite has them."""
    return [tuple(int(x) if isinstance(x, bool) else x for x in row) for row in found]
