"""Blind judging: nothing tells the second judge what the first one said."""

import numpy as np
import pytest

from assay.suites.store.blind import hidden_from
from assay.suites.store.counts import counts
from assay.suites.store.dealing import assign
from assay.suites.store.decisions import save_decision
from assay.suites.store.finding import find
from assay.suites.store.history import history
from assay.suites.store.items import find_items
from assay.suites.store.notes import add_note
from assay.suites.store.overview import overview
from assay.suites.store.queue import case, next_output
from assay.suites.store.records import Filters
from assay.suites.store.rule_edits import RuleEdit, effect
from assay.suites.store.rules import RuleFilters, find_rules
from assay.suites.store.suggestions import suggestions
from tests.suites.store.samples import fill, item, number

ANN, BEN, CEM = 1, 2, 3


@pytest.fixture
def doubled(three):
    """Ann and Ben judge everything; Ann has, and wrote a note; Cem has no share."""
    with three.write() as conn:
        assign(conn, 1, {"Ann": 1, "Ben": 1}, double=1, rng=np.random.default_rng(1))
        save_decision(conn, number(three, "so a"), ANN, "fail", seen=0)
        add_note(conn, ANN, output=number(three, "so a"), flag="unsure")
    return three


def seen(store, viewer, /, **filters):
    with store.read() as conn:
        found, total = find(conn, Filters(**filters), person=viewer)
    assert total == len(found)
    return {output.text: output.verdict for _, output in found}


def test_the_second_judge_sees_a_warning_everywhere(doubled):
    assert seen(doubled, BEN, text="so a") == {"so a": "warning"}
    assert "so a" in seen(doubled, BEN, verdict="warning")
    assert "so a" not in seen(doubled, BEN, verdict="fail")
    assert seen(doubled, BEN, person="Ann") == {}
    assert seen(doubled, BEN, flag="unsure") == {}
    assert "so a" in seen(doubled, BEN, flag="none")


def test_others_and_the_first_judge_see_it(doubled):
    for person in (ANN, CEM, None):
        assert seen(doubled, person, text="so a") == {"so a": "fail"}
        assert seen(doubled, person, person="Ann") == {"so a": "fail"}
        assert seen(doubled, person, flag="unsure") == {"so a": "fail"}


def test_lists_of_items_and_the_overview_tell_the_second_judge_nothing(doubled):
    with doubled.read() as conn:
        for person, warnings, failed in ((BEN, 2, 0), (ANN, 1, 1), (None, 1, 1)):
            (first, *_) = find_items(conn, person=person)
            assert (first.outputs, first.warnings) == (2, warnings)
            counted = overview(conn, person=person).runs[0].counts
            assert (counted["warning"], counted["fail"]) == (warnings, failed)


def test_counts_tell_the_second_judge_nothing(doubled):
    with doubled.read() as conn:
        ben, ann = (counts(conn, Filters(), person=person) for person in (BEN, ANN))
    assert (ben.verdicts["fail"], ann.verdicts["fail"]) == (1, 2)
    assert (ben.verdicts["warning"], ann.verdicts["warning"]) == (3, 2)
    assert (ben.people["Ann"], ann.people["Ann"]) == (0, 1)
    assert (ben.flags["unsure"], ann.flags["unsure"]) == (0, 1)


def test_the_history_tells_the_second_judge_nothing(doubled):
    with doubled.read() as conn:
        for person, entries in ((BEN, 0), (ANN, 2), (CEM, 2)):
            found = history(conn, hidden=hidden_from(conn, person))
            assert len([change for change in found if change.text == "so a"]) == entries


def test_what_was_hidden_is_seen_after_judging(doubled):
    with doubled.write() as conn:
        save_decision(conn, number(doubled, "so a"), BEN, "fail", seen=1)
    assert seen(doubled, BEN, person="Ann") == {"so a": "fail"}
    assert seen(doubled, BEN, flag="unsure") == {"so a": "fail"}


def test_two_people_who_disagree_are_found(doubled):
    with doubled.write() as conn:
        save_decision(conn, number(doubled, "so a"), BEN, "pass", seen=1)
        save_decision(conn, number(doubled, "hm a"), BEN, "pass", seen=0)
    assert set(seen(doubled, None, person="Ann", against="Ben")) == {"so a"}
    assert seen(doubled, None, person="Ann", against="Cem") == {}


def test_ones_own_notes_are_seen_before_judging(doubled):
    output = number(doubled, "hm a")
    with doubled.write() as conn:
        add_note(conn, BEN, output=output, flag="unsure")
        assert [note.person for note in case(conn, output, BEN).notes] == ["Ben"]
        assert [note.person for note in case(conn, output, ANN).notes] == ["Ann"]
        assert counts(conn, Filters(), person=BEN).flags["unsure"] == 1
        found = history(conn, kind="note", hidden=hidden_from(conn, BEN), viewer=BEN)
        assert [change.text for change in found] == ["hm a"]
    assert set(seen(doubled, BEN, flag="unsure")) == {"hm a"}


def test_the_queue_of_the_second_judge_is_not_sorted_by_the_first_verdict(doubled):
    with doubled.read() as conn:
        for filters in (Filters(verdict="fail"), Filters(person="Ann"), Filters(flag="unsure")):
            assert next_output(conn, BEN, filters) is None


def test_the_effect_of_a_changed_rule_tells_the_second_judge_nothing(doubled):
    with doubled.read() as conn:
        rule = find_rules(conn, RuleFilters(item="a"), limit=1).rules[0].id
        edit = RuleEdit(rule, "edit rule", "positive", "fixed", "so a")
        told = {person: effect(conn, edit, person) for person in (ANN, BEN)}
    assert [line.output.text for line in told[ANN].against] == ["so a"]
    assert told[BEN].against == []
    assert {line.output.text: line.verdict for line in told[BEN].outputs}["so a"] == "pass"
    assert [run.before for run in told[BEN].runs] == [(1, 0, 2)]
    assert [run.after for run in told[BEN].runs] == [(2, 0, 1)]


def test_whoever_skips_is_still_told_nothing(doubled):
    output = number(doubled, "so a")
    with doubled.write() as conn:
        skipped = save_decision(conn, output, BEN, "skip", seen=0)
        judged = save_decision(conn, output, BEN, "fail", seen=skipped.output.version)
    assert (skipped.met, skipped.settles, skipped.output.verdict) == (None, 0, "warning")
    assert skipped.output.decisions == ()
    assert [said.person for said in judged.output.decisions] == ["Ann", "Ben"]


def test_a_skip_settles_nothing(doubled):
    with doubled.write() as conn:
        skipped = save_decision(conn, number(doubled, "so a"), CEM, "skip", seen=1)
    assert (skipped.settles, skipped.output.verdict) == (0, "fail")


def test_suggestions_rest_on_no_verdict_that_is_hidden_from_a_second_judge(store):
    texts = {"x": "her hubby here", "y": "her hubby there", "z": "a boat", "v": "my hubby now"}
    fill(store, [item("a", (), ())], {name: {"a": text} for name, text in texts.items()})
    said = {"x": "pass", "y": "pass", "z": "fail"}
    with store.write() as conn:
        for name, verdict in said.items():
            save_decision(conn, number(store, texts[name]), ANN, verdict, seen=0)
    with store.write() as conn:
        assert suggestions(conn) != []
        assign(conn, ANN, {"Ann": 1, "Ben": 1}, double=1, rng=np.random.default_rng(1))
        assert suggestions(conn) == []
    for name, verdict in said.items():
        with store.write() as conn:
            save_decision(conn, number(store, texts[name]), BEN, verdict, seen=1)
            assert (suggestions(conn) != []) == (name == "z")
