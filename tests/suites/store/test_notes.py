"""Notes and flags on items and outputs."""

import pytest

from assay.data import DataError
from assay.suites.store.decisions import undo
from assay.suites.store.finding import find
from assay.suites.store.history import history
from assay.suites.store.notes import add_note, load_notes, notes_of_item, remove_note
from assay.suites.store.queue import case
from assay.suites.store.records import Filters
from tests.suites.store.samples import number

ANN, BEN, CEM = 1, 2, 3


def texts(store, **filters):
    with store.read() as conn:
        return {output.text for _, output in find(conn, Filters(**filters))[0]}


def test_a_note_stands_on_its_output_and_in_the_history(three):
    output = number(three, "so a")
    with three.write() as conn:
        change = add_note(conn, ANN, output=output, flag="unsure", text="  which one?\r\n")
    with three.read() as conn:
        (note,) = load_notes(conn, [output])[output]
        shown = case(conn, output)
        (entry,) = history(conn, kind="note")
    assert (note.person, note.flag, note.text, note.item) == ("Ann", "unsure", "which one?", "a")
    assert shown.notes == (note,)
    assert entry == change
    assert (entry.note, entry.source, entry.text) == ("unsure: which one?", "Quelle a", "so a")


def test_a_note_on_an_item_is_seen_on_all_its_outputs(three):
    with three.write() as conn:
        add_note(conn, ANN, item="a", flag="bad item")
    assert texts(three, flag="bad item") == {"so a", "hm a"}
    assert texts(three, flag="any") == {"so a", "hm a"}
    assert texts(three, flag="none") == {"good b", "bad b", "so c"}
    assert texts(three, flag="unsure") == set()
    with three.read() as conn:
        assert case(conn, number(three, "hm a")).notes == tuple(notes_of_item(conn, "a"))


def test_a_note_is_removed_by_its_author_or_a_lead_and_comes_back(three):
    output = number(three, "so a")
    with three.write() as conn:
        add_note(conn, BEN, output=output, flag="unsure")
        (note,) = load_notes(conn, [output])[output]
        with pytest.raises(DataError, match="only its author or a lead"):
            remove_note(conn, CEM, note.id)
        removed = remove_note(conn, ANN, note.id)
        assert load_notes(conn, [output]) == {}
        with pytest.raises(DataError, match="gone already"):
            remove_note(conn, BEN, note.id)
        undo(conn, ANN, removed.id)
        assert load_notes(conn, [output]) == {output: [note]}


def test_undoing_a_note_takes_it_away(three):
    output = number(three, "so a")
    with three.write() as conn:
        change = add_note(conn, BEN, output=output, text="hm")
        with pytest.raises(DataError, match="only its author or a lead"):
            undo(conn, CEM, change.id)
        assert undo(conn, BEN).undone_by == "Ben"
        assert load_notes(conn, [output]) == {}


@pytest.mark.parametrize(
    ("told", "error"),
    [
        ({"output": 1, "flag": "nonsense"}, "the flag is one of"),
        ({"output": 1, "text": " "}, "The note is empty"),
        ({"output": 1, "text": "x" * 4001}, "at most 4000"),
        ({"output": 1, "text": "a\0b"}, "U\\+0000"),
        ({"output": 999, "text": "x"}, "no output 999"),
        ({"item": "zz", "text": "x"}, "no item 'zz'"),
    ],
)
def test_notes_that_cannot_be_kept_are_refused(three, told, error):
    with pytest.raises(DataError, match=error), three.write() as conn:
        add_note(conn, ANN, **told)
