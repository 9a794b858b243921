"""One person under two names: nothing that either did is lost."""

import pytest
from sqlalchemy import select

from assay.data import DataError
from assay.suites.store.decisions import save_decision, undo
from assay.suites.store.history import history
from assay.suites.store.merging import merge, plan_merge, rename
from assay.suites.store.people import all_people, log_in, login, person_numbered
from assay.suites.store.records import Draft
from assay.suites.store.tables import assignments, outputs
from assay.suites.store.trials import save_rule
from tests.suites.store.samples import number, rows, state


@pytest.fixture
def judged(three):
    """Ann judged two outputs and Ben two, one of them the same and later; Cem leads nobody."""
    with three.write() as conn:
        save_decision(conn, number(three, "so a"), 1, "pass", seen=0)
        save_decision(conn, number(three, "so c"), 1, "pass", seen=0)
        save_decision(conn, number(three, "so c"), 2, "fail", seen=1)
        save_decision(conn, number(three, "hm a"), 2, "fail", seen=0)
        save_rule(conn, Draft(number(three, "hm a"), "negative", "fixed", "hm"), 2)
        for output, person, second in (("so a", 1, False), ("so a", 2, True), ("hm a", 2, True)):
            row = {"annotator_id": person, "second": second}
            told = {"output_id": number(three, output), "open": False, **row}
            conn.execute(assignments.insert().values(told))
    return three


def test_a_plan_counts_what_would_move(judged):
    with judged.read() as conn:
        plan = plan_merge(conn, 2, 1)
    assert (plan.outputs, plan.both, plan.rules, plan.share) == (2, 1, 1, 2)
    assert plan.said == "Ben into Ann: 2 judged outputs, 1 of them judged by both"


def test_after_a_merge_the_later_decision_stands_and_everything_is_the_others(judged):
    assert state(judged)["so c"][2]
    with judged.write() as conn:
        secret = log_in(conn, 2)
        change = merge(conn, 2, 1, by=1)
        assert change.note == "merged Ben into Ann: 2 judged outputs, 1 of them judged by both"
        assert [person.name for person in all_people(conn)] == ["Ann", "Cem"]
        assert login(conn, secret).name == "Ann"
        assert {entry.person for entry in history(conn)} == {"Ann"}
    found = state(judged)
    assert found["so c"] == ("fail", "Ann", False)
    assert found["hm a"][:2] == ("fail", "Ann")
    assert found["so a"][:2] == ("pass", "Ann")
    assert rows(judged, "SELECT author FROM rules WHERE author != ''") == [("Ann",)]
    shared = rows(judged, "SELECT annotator_id, second FROM assignments ORDER BY second")
    assert [(person, bool(second)) for person, second in shared] == [(1, False), (1, True)]


def test_what_was_decided_before_a_merge_can_still_be_taken_back(judged):
    with judged.write() as conn:
        merge(conn, 2, 1, by=3)
        latest = [entry for entry in history(conn) if entry.kind == "decision"]
        assert undo(conn, 1, latest[1].id).note == "fail"
    assert state(judged)["so c"] == ("pass", "Ann", False)


def test_a_merge_is_not_what_undo_takes_back(judged):
    with judged.write() as conn:
        change = merge(conn, 2, 3, by=1)
        with pytest.raises(DataError, match="cannot be taken back"):
            undo(conn, 1, change.id)
        assert undo(conn, 1).note == "pass"


def test_a_lead_who_is_merged_makes_a_lead(judged):
    with judged.write() as conn:
        merge(conn, 1, 3, by=1)
        assert person_numbered(conn, 3).lead
        assert history(conn)[0].person == "Cem"


def test_a_new_name_stands_everywhere(judged):
    with judged.write() as conn:
        assert rename(conn, 2, " Benno  B. ", by=1).note == "renamed Ben to Benno B."
        assert rename(conn, 2, "Benno B.", by=1) is None
        assert conn.execute(select(outputs.c.by).where(outputs.c.text == "hm a")).scalar() == (
            "Benno B."
        )
        with pytest.raises(DataError, match="merge the two instead"):
            rename(conn, 2, "Ann", by=1)
    assert rows(judged, "SELECT author FROM rules WHERE author != ''") == [("Benno B.",)]


@pytest.mark.parametrize(("person", "into"), [(1, 1), (1, 9), (9, 1)])
def test_merges_that_make_no_sense_are_refused(judged, person, into):
    with judged.write() as conn, pytest.raises(DataError):
        merge(conn, person, into, by=1)
