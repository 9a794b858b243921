"""The history: everything that is done to the suite and to people, in plain words."""

from dataclasses import replace

import pytest

from assay.data import DataError
from assay.suites.check import Checker
from assay.suites.model import Run, Suite
from assay.suites.store.decisions import may_undo, save_decision, undo
from assay.suites.store.exports import export
from assay.suites.store.history import history
from assay.suites.store.items import find_items, item_numbered, retire_item, save_item
from assay.suites.store.merging import merge, rename
from assay.suites.store.notes import add_note, notes_of_item, remove_note
from assay.suites.store.overview import import_suite, name_suite
from assay.suites.store.people import (
    appoint,
    dismiss,
    invite,
    leads,
    person_named,
    person_numbered,
)
from assay.suites.store.phenomena import define, phenomenon_named
from assay.suites.store.records import Draft
from assay.suites.store.runs import add_runs, save_runs
from assay.suites.store.suites import load_suite
from assay.suites.store.trials import save_rule
from tests.suites.store.samples import item, number, state

ANN, BEN, CEM = 1, 2, 3


def told(store):
    """Who did what, the latest first."""
    with store.read() as conn:
        return [(entry.person, entry.kind, entry.note) for entry in history(conn)]


def test_what_is_done_to_people_is_told_with_their_names(three):
    with three.write() as conn:
        assert appoint(conn, ANN, by=ANN) is None  # who came first leads
        appoint(conn, BEN, by=ANN)
        dismiss(conn, ANN, by=BEN)
        rename(conn, CEM, "Cemal", by=BEN)
        invite(conn, "Dora", by=BEN)
        invite(conn, "Ann", by=BEN)
        merge(conn, CEM, ANN, by=BEN)
    assert told(three) == [
        ("Ben", "merge", "merged Cemal into Ann: 0 judged outputs"),
        ("Ben", "invite", "invited Ann with a one-time link"),
        ("Ben", "invite", "invited Dora, who is new here, with a one-time link"),
        ("Ben", "rename", "renamed Cem to Cemal"),
        ("Ben", "lead", "ended Ann's role as a lead"),
        ("Ann", "lead", "made Ben a lead"),
    ]


def test_what_is_done_to_the_suite_is_told_with_its_texts(three):
    with three.write() as conn:
        name_suite(conn, "mine", "de-en", person=ANN)
        assert name_suite(conn, " mine ", "de-en", person=ANN) is None
        before = load_suite(conn)
        edited = replace(before.by_id["a"], source="Neu.", rules=before.by_id["a"].rules[:1])
        more = Suite((edited, item("d")), before.name, before.extra)
        import_suite(conn, more, file="new.csv", person=ANN)
        import_suite(conn, more, file="new.csv", person=ANN)  # the same again changes nothing
        add_runs(conn, [Run("x", {"a": "so a"})], Checker(), person=BEN, replace=True)
        define(conn, BEN, "C", "P", definition="First.", examples="a\nb")
        define(conn, BEN, "C", "P", definition="Second.")
    assert told(three) == [
        ("Ben", "phenomenon", "defined C › P: Second. (before: First. (examples: a / b))"),
        ("Ben", "phenomenon", "defined C › P: First. (examples: a / b)"),
        ("Ben", "run", "replaced the outputs of x, now 1: 2 items differ"),
        (
            "Ann",
            "import",
            "imported new.csv: 1 item added, 1 changed. item a: source 'Quelle a' is now 'Neu.'; "
            "without the rule negative fixed 'bad'; new item d: Quelle d",
        ),
        (
            "Ann",
            "suite",
            "changed the suite: name (none) is now 'mine'; languages (none) is now 'de-en'",
        ),
    ]


def test_what_a_command_does_has_no_person(three):
    with three.write() as conn:
        appoint(conn, BEN)
        import_suite(conn, Suite((item("e"),)), file="e.json")
    save_runs(three, [Run("z", {"a": "oh"}, "spring")])
    assert told(three) == [
        ("command line", "run", "added 1 output of z in spring"),
        (
            "command line",
            "import",
            "imported e.json: 1 item added, 0 changed. new item e: Quelle e",
        ),
        ("command line", "lead", "made Ben a lead"),
    ]
    with three.write() as conn:
        assert undo(conn, ANN) is None


def test_the_history_is_taken_away_as_a_table(three):
    with three.write() as conn:
        appoint(conn, BEN)
        save_decision(conn, number(three, "so a"), ANN, "fail", seen=0)
        undo(conn, ANN)
        add_note(conn, BEN, item="a", flag="bad item")
        records = export(conn, "history").records()
    assert [(row["person"], row["what"], row["item"], row["output"]) for row in records] == [
        ("command line", "made Ben a lead", None, None),
        ("Ann", "said fail", "a", "so a"),
        ("Ben", "noted bad item", "a", None),
    ]
    assert [row["undone_by"] for row in records] == [None, "Ann", None]
    assert records[1]["source"] == "Quelle a"


def test_a_lead_takes_back_names_and_roles(three):
    with three.write() as conn:
        save_decision(conn, number(three, "so a"), BEN, "fail", seen=0)
        named = rename(conn, BEN, "Benno", by=ANN)
        made = appoint(conn, BEN, by=ANN)
        suite = name_suite(conn, "mine", "", person=ANN)
        for change in (named, made, suite):
            assert not may_undo(change, person_numbered(conn, CEM))
            with pytest.raises(DataError, match="only a lead can take this back; ask Ann, Benno"):
                undo(conn, CEM, change.id)
        assert undo(conn, BEN).kind == "decision"  # the key U takes back decisions, not these
        for change in (suite, made, named):
            assert may_undo(change, person_numbered(conn, ANN))
            assert undo(conn, ANN, change.id).undone_by == "Ann"
        assert person_named(conn, "Ben").id == BEN
        assert [lead.id for lead in leads(conn)] == [ANN]
        assert load_suite(conn).name == ""
    assert state(three)["so a"] == ("warning", None, False)


def test_a_name_that_counts_for_verdicts_comes_back_with_them(three):
    with three.write() as conn:
        save_decision(conn, number(three, "so a"), BEN, "fail", seen=0)
        change = rename(conn, BEN, "Benno", by=ANN)
    assert state(three)["so a"][1] == "Benno"
    with three.write() as conn:
        undo(conn, ANN, change.id)
    assert state(three)["so a"][1] == "Ben"


def test_what_was_changed_again_is_not_taken_back(three):
    with three.write() as conn:
        first = rename(conn, BEN, "Benno", by=ANN)
        second = rename(conn, BEN, "Bernd", by=ANN)
        with pytest.raises(DataError, match="Benno was renamed or merged again since"):
            undo(conn, ANN, first.id)
        rename(conn, CEM, "Benno", by=ANN)
        with pytest.raises(DataError, match="somebody else is called 'Benno' now"):
            undo(conn, ANN, second.id)
        made = appoint(conn, BEN, by=ANN)
        dismiss(conn, BEN, by=ANN)
        with pytest.raises(DataError, match="changed again since"):
            undo(conn, ANN, made.id)
        last = appoint(conn, BEN, by=ANN)
        ended = dismiss(conn, ANN, by=BEN)
        with pytest.raises(DataError, match="the only lead"):
            undo(conn, BEN, last.id)
        undo(conn, BEN, ended.id)
        named = name_suite(conn, "one", "", person=ANN)
        name_suite(conn, "two", "", person=ANN)
        with pytest.raises(DataError, match="the suite was renamed again since"):
            undo(conn, ANN, named.id)


def test_merges_invitations_and_imports_are_final_and_say_why(three):
    with three.write() as conn:
        merge(conn, CEM, BEN, by=ANN)
        invite(conn, "Dora", by=ANN)
        import_suite(conn, Suite((item("e"),)), file="e.json", person=ANN)
        add_runs(conn, [Run("z", {"a": "oh"})], Checker(), person=ANN)
        for change in history(conn):
            assert not may_undo(change, person_numbered(conn, ANN))
            with pytest.raises(DataError, match="this cannot be taken back: "):
                undo(conn, ANN, change.id)


def test_a_request_that_is_sent_again_changes_nothing(three):
    draft, made = Draft(number(three, "hm a"), "negative", "fixed", "hm"), None
    for _ in range(2):
        with three.write() as conn:
            rule = save_rule(conn, draft, ANN, key="k1")
            note = add_note(conn, ANN, item="a", text="so", key="k2")
            added = save_item(conn, None, item(""), ANN, key="k3")
            save_item(conn, 1, replace(item_numbered(conn, 1), source="Neu."), ANN, key="k4")
            retire_item(conn, 2, ANN, retired=True, key="k5")
            define(conn, ANN, "C", "P", definition="First.", key="k6")
        made = made or (rule.id, note.id, added.id)
    assert (rule.id, note.id, added.id) == made
    with three.write() as conn:
        assert len(history(conn)) == 6
        assert len(find_items(conn)) == 4
        assert phenomenon_named(conn, "C", "P").definition == "First."
        (written,) = notes_of_item(conn, "a")
        for _ in range(2):
            remove_note(conn, ANN, written.id, key="k7")
        assert notes_of_item(conn, "a") == []
        with pytest.raises(DataError, match="was sent before, for something else"):
            save_rule(conn, draft, ANN, key="k2")
        # Keys are a person's own.
        assert add_note(conn, BEN, item="a", text="so", key="k2").person == "Ben"
