"""Items are found, tried, saved as one change, retired, and all of it can be taken back."""

from dataclasses import replace

import pytest

from assay.data import DataError
from assay.suites.model import Item, Rule
from assay.suites.store.decisions import undo
from assay.suites.store.history import history
from assay.suites.store.items import (
    find_items,
    item_numbered,
    retire_item,
    save_item,
    try_item,
)
from assay.suites.store.overview import name_suite, overview
from assay.suites.store.queue import next_case
from assay.suites.store.runs import read_run
from assay.suites.store.suites import load_items, load_suite
from tests.suites.store.samples import state

ANN, BEN = 1, 2


def stored(store, number=1):
    with store.read() as conn:
        return item_numbered(conn, number)


def save(store, number, item, person=ANN):
    with store.write() as conn:
        return save_item(conn, number, item, person)


def take_back(store, person, change):
    with store.write() as conn:
        return undo(conn, person, change)


def with_rules(item, *rules):
    return replace(item, rules=rules)


NEW = Rule("", "positive", "fixed", "hm")


def test_trying_an_item_tells_verdicts_before_and_after(three):
    item = stored(three)
    with three.read() as conn:
        preview = try_item(conn, 1, with_rules(item, *item.rules, NEW))
    told = [(each.output.text, each.before, each.after) for each in preview.effects]
    assert told == [("hm a", "warning", "pass"), ("so a", "warning", "warning")]
    assert (preview.changed, preview.counts["pass"]) == (1, 1)
    assert stored(three) == item


def test_a_changed_item_is_one_entry_and_can_be_undone(three):
    item, before = stored(three), state(three)
    good, bad = item.rules
    edited = replace(bad, text="worse")
    wanted = replace(item, source="Neu.", phenomenon="R", rules=(good, edited, NEW))
    change = save(three, 1, wanted)
    assert change.note == (
        "changed item a: phenomenon 'P' is now 'R'; source 'Quelle a' is now 'Neu.'; without the "
        "rule negative fixed 'bad'; with the rule negative fixed 'worse'; with the rule positive "
        "fixed 'hm'"
    )
    saved = stored(three)
    assert (saved.source, saved.phenomenon) == ("Neu.", "R")
    assert [rule.text for rule in saved.rules] == ["good", "worse", "hm"]
    assert saved.rules[0] == good
    assert {rule.author for rule in saved.rules[1:]} == {"Ann"}
    assert state(three)["hm a"][0] == "pass"
    with three.read() as conn:
        assert [entry.id for entry in history(conn, item="a")] == [change.id]
    take_back(three, ANN, change.id)
    assert stored(three) == item
    assert state(three) == before
    with three.read() as conn:
        assert history(conn)[0].undone_by == "Ann"


def test_a_change_is_not_undone_before_a_later_one(three):
    item = stored(three)
    first = save(three, 1, replace(item, source="Eins."))
    second = save(three, 1, replace(item, source="Zwei."))
    with pytest.raises(DataError, match="Undo the later change first"):
        take_back(three, ANN, first.id)
    take_back(three, ANN, second.id)
    take_back(three, ANN, first.id)
    assert stored(three) == item


def test_only_a_lead_or_the_author_takes_an_item_back(three):
    change = save(three, 1, replace(stored(three), source="Eins."), ANN)
    with pytest.raises(DataError, match="only a lead"):
        take_back(three, BEN, change.id)
    other = save(three, 2, replace(stored(three, 2), source="Zwei."), BEN)
    assert take_back(three, ANN, other.id).undone


def test_a_new_item_comes_last_and_undoing_retires_it(three):
    item = Item("", "de-en", "C", "P", "Noch einer.", (NEW,))
    change = save(three, None, item)
    with three.read() as conn:
        *_, last = load_items(conn).values()
    assert (last.id, last.source, last.rules[0].id) == ("001", "Noch einer.", "001+1")
    take_back(three, ANN, change.id)
    with three.read() as conn:
        assert load_suite(conn).by_id["001"].retired


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"source": " "}, "the source is empty"),
        ({"phenomenon": ""}, "the phenomenon is empty"),
        ({"rules": (Rule("", "positive", "regex", "("),)}, "not a regular expression"),
        ({"rules": (NEW, NEW)}, "stands twice"),
        ({"source": "a\0"}, "U+0000"),
        ({}, "nothing to save"),
    ],
)
def test_what_cannot_be_saved_is_told_and_nothing_changes(three, change, told):
    item = stored(three)
    with pytest.raises(DataError) as error:
        save(three, 1, replace(item, **change))
    assert told in str(error.value)
    assert stored(three) == item
    with three.read() as conn:
        assert history(conn) == []


def test_ids_are_taken_once_and_fit_on_a_line(three):
    item = Item("a", "", "C", "P", "Satz.")
    with pytest.raises(DataError, match="there is an item a already"):
        save(three, None, item)
    with pytest.raises(DataError, match="an id is neither"):
        save(three, None, replace(item, id="x\ty"))


def test_a_retired_item_is_left_out_of_reports_and_queues_and_comes_back(three):
    before = state(three)
    with three.write() as conn:
        change = retire_item(conn, 1, ANN, retired=True)
    assert [item.id for item in read_run(three).verdicts.items] == ["b", "c"]
    with three.read() as conn:
        assert next_case(conn, ANN).item.id == "c"
        assert [each.item.id for each in find_items(conn, lacking="use")] == ["a"]
        assert overview(conn).retired == 1
    with pytest.raises(DataError, match="retired already"), three.write() as conn:
        retire_item(conn, 1, ANN, retired=True)
    take_back(three, ANN, change.id)
    assert state(three) == before
    assert not stored(three).retired


def test_editing_a_retired_item_leaves_it_retired(three):
    with three.write() as conn:
        retire_item(conn, 1, ANN, retired=True)
    save(three, 1, replace(stored(three), source="Neu.", extra={}))
    assert stored(three).retired


def test_items_are_found_by_text_group_and_what_they_lack(three):
    save(three, None, Item("z", "", "D", "Q", "Ohne."))
    with three.read() as conn:
        names = {
            key: [each.item.id for each in find_items(conn, **asked)]
            for key, asked in {
                "all": {},
                "text": {"text": "QUELLE b"},
                "rule": {"text": "goo"},
                "category": {"category": "D"},
                "phenomenon": {"category": "D", "phenomenon": "Q"},
                "rules": {"lacking": "rules"},
                "outputs": {"lacking": "outputs"},
            }.items()
        }
        first = find_items(conn)[0]
    assert names == {
        "all": ["a", "b", "c", "z"],
        "text": ["b"],
        "rule": ["a", "b", "c"],
        "category": ["b", "c", "z"],
        "phenomenon": ["b", "z"],
        "rules": ["z"],
        "outputs": ["z"],
    }
    assert (first.outputs, first.warnings) == (2, 2)


def test_the_overview_counts_what_there_is_and_what_is_missing(three):
    with three.write() as conn:
        name_suite(conn, " mine ", "de-en", person=1)
        save_item(conn, None, Item("z", "fr-en", "D", "Q", "Ohne."), ANN)
    with three.read() as conn:
        found = overview(conn)
    assert (found.name, found.languages) == ("mine", ("de-en", "fr-en"))
    assert (found.items, found.rules, found.without_rules, found.without_outputs) == (4, 6, 1, 1)
    assert {name: dict(each) for name, each in found.phenomena.items()} == {
        "C": {"P": 1},
        "D": {"Q": 2, "P": 1},
    }
    assert [(run.run.system, run.missing) for run in found.runs] == [("x", 1), ("y", 1)]
    assert dict(found.runs[0].counts) == {"warning": 2, "pass": 1}
