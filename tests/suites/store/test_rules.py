"""Rules on record: what they do, and how they are edited, retired, restored and put back."""

import pytest

from assay.data import DataError
from assay.suites.model import Suite
from assay.suites.store.decisions import save_decision, undo
from assay.suites.store.history import history
from assay.suites.store.people import person_numbered
from assay.suites.store.records import Draft
from assay.suites.store.rule_edits import RuleEdit, change_rule, effect
from assay.suites.store.rules import RuleFilters, find_rules, stored_rule
from assay.suites.store.suites import load_suite, save_suite
from assay.suites.store.trials import save_rule
from tests.suites.store.samples import item, number, state

LEAD, OTHER = 1, 2


def numbers(store):
    """The numbers of all rules, by their names."""
    with store.read() as conn:
        found = find_rules(conn, RuleFilters(state="all"), limit=100)
    return {rule.rule.id: rule.id for rule in found.rules}


def names(store, order="item", **filters):
    with store.read() as conn:
        found = find_rules(conn, RuleFilters(**filters), order=order, limit=100)
    assert found.total == len(found.rules)
    return [rule.rule.id for rule in found.rules]


def change(store, name, act, text="", person=LEAD, polarity="positive"):
    edit = RuleEdit(numbers(store)[name], act, polarity, "fixed", text)
    with store.write() as conn:
        return change_rule(conn, edit, person_numbered(conn, person))


def texts(store, name="a"):
    with store.read() as conn:
        return [rule.text for rule in load_suite(conn).by_id[name].rules]


@pytest.fixture
def spoken(husbands):
    """Of the output that a rule of item a passes, a person says that it fails."""
    with husbands.write() as conn:
        save_decision(conn, number(husbands, "her husband"), OTHER, "fail", seen=0)
        save_rule(conn, Draft(number(husbands, "a spouse"), "positive", "fixed", "spouse"), OTHER)
    return husbands


def test_rules_are_found_by_all_that_is_known_of_them(spoken):
    assert names(spoken, item="a") == ["a+1", "a-1"]
    assert names(spoken, text="HUSB") == ["a+1", "b+1"]
    assert names(spoken, phenomenon="Q", polarity="negative") == ["c-1"]
    assert names(spoken, origin="people") == names(spoken, author="Ben") == ["b+2"]
    assert names(spoken, state="contradicted") == ["a+1"]
    assert names(spoken, state="unmatched") == ["b+1", "b-1"]
    assert names(spoken, order="newest")[0] == "b+2"
    with spoken.read() as conn:
        (rule,) = find_rules(conn, RuleFilters(item="a", polarity="positive")).rules
    assert (rule.settles, rule.contradicted) == (1, 1)
    assert (rule.use.matches, rule.use.searched, rule.use.slow) == (1, 3, False)


def test_pages_of_rules_are_parts_of_one_list(husbands):
    with husbands.read() as conn:
        first = find_rules(conn, RuleFilters(), limit=3)
        second = find_rules(conn, RuleFilters(), offset=3, limit=3)
    assert [rule.rule.id for rule in first.rules] == ["a+1", "a-1", "b+1"]
    assert [rule.rule.id for rule in second.rules] == ["b-1", "c+1", "c-1"]
    assert first.total == second.total == 8


def test_the_effect_of_retiring_is_told_for_every_run_and_nothing_is_changed(spoken):
    before = state(spoken)
    with spoken.read() as conn:
        told = effect(conn, RuleEdit(numbers(spoken)["a-1"], "retire"))
    (line,) = told.outputs
    assert (line.output.text, line.before, line.after) == ("her man, hubby", "fail", "warning")
    (run,) = told.runs
    assert run.system == "z"
    assert run.before.failed - run.after.failed == 1
    assert run.after.warnings - run.before.warnings == 1
    assert (run.before.accuracy, run.after.accuracy) == (0, None)
    assert told.against == []
    assert state(spoken) == before


def test_the_effect_tells_which_people_are_contradicted(spoken):
    rule = numbers(spoken)["a-1"]
    with spoken.read() as conn:
        told = effect(conn, RuleEdit(rule, "edit rule", "positive", "fixed", "hubby"))
        assert [line.output.text for line in told.outputs] == ["her hubby", "her man, hubby"]
        assert told.against == []
    with spoken.write() as conn:
        save_decision(conn, number(spoken, "her hubby"), OTHER, "fail", seen=0)
        told = effect(conn, RuleEdit(rule, "edit rule", "positive", "fixed", "hubby"))
    assert [line.output.text for line in told.against] == ["her hubby"]
    # What the person said still counts, so the run of that output has no other counts.
    assert [run.system for run in told.runs] == ["z"]


@pytest.mark.parametrize("act", ["edit rule", "retire"])
def test_a_change_to_a_rule_is_undone_as_it_was_done(husbands, act):
    before, suite = state(husbands), texts(husbands)
    done = change(husbands, "a+1", act, "hubby")
    assert state(husbands) != before
    assert texts(husbands) == (["man"] if act == "retire" else ["hubby", "man"])
    with husbands.read() as conn:
        (entry,) = history(conn, item="a")
    assert (entry.kind, entry.item, entry.person) == (act, "a", "Ann")
    with husbands.write() as conn:
        assert undo(conn, LEAD, done.id).undone
    assert (state(husbands), texts(husbands)) == (before, suite)


def test_an_edited_rule_is_a_new_version_of_the_old_one(husbands):
    change(husbands, "a+1", "edit rule", "hubby")
    known = numbers(husbands)
    with husbands.read() as conn:
        new, old = stored_rule(conn, known["a+2"]), stored_rule(conn, known["a+1"])
    assert (new.replaces, new.rule.author, new.retired) == (old.id, "Ann", False)
    assert old.retired
    assert names(husbands, state="retired") == ["a+1"]


def test_a_retired_rule_is_restored(husbands):
    before = state(husbands)
    change(husbands, "a+1", "retire")
    change(husbands, "a+1", "restore")
    assert state(husbands) == before
    with pytest.raises(DataError, match="in use already"):
        change(husbands, "a+1", "restore")


def test_what_was_changed_again_is_not_undone(husbands):
    first = change(husbands, "a+1", "edit rule", "hubby")
    change(husbands, "a+2", "edit rule", "spouse")
    with husbands.write() as conn, pytest.raises(DataError, match="undo that first"):
        undo(conn, LEAD, first.id)
    assert texts(husbands) == ["spouse", "man"]


def test_a_change_to_a_rule_that_is_gone_is_not_undone(husbands):
    retired, restored = (change(husbands, "a+1", act) for act in ("retire", "restore"))
    with husbands.write() as conn:
        save_suite(conn, Suite((item("a", [], ["man"]),)))
        for entry in (restored, retired):
            with pytest.raises(DataError, match="the rule is gone"):
                undo(conn, LEAD, entry.id)


def test_only_a_lead_changes_rules_of_others(spoken):
    with pytest.raises(DataError, match="only a lead"):
        change(spoken, "a+1", "retire", person=OTHER)
    change(spoken, "b+2", "retire", person=OTHER)
    change(spoken, "b+2", "restore", person=LEAD)
    assert texts(spoken, "b") == ["husband", "man", "spouse"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [(" ", "empty"), ("husband", "as it is"), ("\0", "U\\+0000")],
)
def test_an_edit_that_makes_no_sense_is_refused(husbands, text, complaint):
    with pytest.raises(DataError, match=complaint):
        change(husbands, "a+1", "edit rule", text)
    with pytest.raises(DataError, match="has this rule already"):
        change(husbands, "a+1", "edit rule", "man", polarity="negative")


def test_what_people_retired_and_edited_stays_so_when_the_suite_comes_again(husbands):
    suite = Suite(
        (
            item("a", ["husband"], ["man"]),
            item("b", ["husband"], ["man"]),
            item("c", ["wife"], ["woman"], phenomenon="Q"),
            item("d", ["dog"], ["cat"], category="D"),
        )
    )
    change(husbands, "a+1", "retire")
    change(husbands, "b+1", "edit rule", "spouse")
    before = state(husbands)
    for items in (suite.items, (item("a", ["partner", "husband"], ["man"]), *suite.items[1:])):
        with husbands.write() as conn:
            save_suite(conn, Suite(items))
        assert "husband" not in texts(husbands, "a")
        assert texts(husbands, "b") == ["man", "spouse"]
    assert texts(husbands, "a") == ["partner", "man"]
    assert state(husbands) == before
    # What is restored is the suite's again.
    with husbands.write() as conn:
        old = find_rules(conn, RuleFilters(state="retired", item="a")).rules[0]
        change_rule(conn, RuleEdit(old.id, "restore"), person_numbered(conn, LEAD))
    assert "husband" in texts(husbands, "a")
