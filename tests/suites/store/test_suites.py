"""A suite goes into the database and comes out as it was; importing again loses nothing."""

import json
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.data import DataError
from assay.suites.files import read_suite
from assay.suites.model import Item, Rule, Suite
from assay.suites.store.decisions import save_decision, undo
from assay.suites.store.opening import open_store
from assay.suites.store.queue import case
from assay.suites.store.records import Draft, SavedSuite
from assay.suites.store.suites import load_suite, save_suite
from assay.suites.store.trials import save_rule
from tests.suites.store.samples import fill, item, number, rows, state

CHECKS = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


def saved(store, suite):
    with store.write() as conn:
        return save_suite(conn, suite)


def loaded(store):
    with store.read() as conn:
        return load_suite(conn)


def test_the_public_suite_comes_out_as_it_went_in(store, shared):
    suite = read_suite(shared / "testsuite" / "de-en" / "items.json")
    assert saved(store, suite) == SavedSuite(len(suite), 0, 0)
    assert loaded(store) == suite
    assert saved(store, suite) == SavedSuite(0, 0, 0)
    assert loaded(store) == suite


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
extras = st.dictionaries(
    st.text(max_size=3),
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.text(max_size=3)
        | st.floats(allow_nan=False),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner),
        max_leaves=3,
    ),
    max_size=2,
)


@st.composite
def suites(draw):
    names = draw(st.lists(texts, unique=True, max_size=4))
    rule_names = iter(draw(st.lists(texts, unique=True, min_size=12, max_size=12)))
    items = []
    for name in names:
        rules = [
            Rule(
                next(rule_names),
                draw(st.sampled_from(["positive", "negative"])),
                draw(st.sampled_from(["regex", "fixed"])),
                *(draw(texts) for _ in range(4)),
            )
            for _ in range(draw(st.integers(0, 3)))
        ]
        told = (draw(texts) for _ in range(4))
        items.append(Item(name, *told, rules=tuple(rules), extra=draw(extras)))
    return Suite(tuple(items), draw(texts), draw(extras))


@settings(max_examples=25, suppress_health_check=CHECKS)
@given(first=suites(), second=suites())
def test_whatever_a_suite_is_made_of_comes_out_again(tmp_path_factory, first, second):
    store = open_store(tmp_path_factory.mktemp("any") / "suite.db", create=True)
    saved(store, first)
    assert loaded(store) == first
    # Items stay that the second suite lacks, unless their rules' names are taken by it.
    saved(store, second)
    merged = loaded(store)
    assert merged.items[: len(second)] == second.items
    assert merged.name == second.name
    assert set(merged.by_id) == set(first.by_id) | set(second.by_id)
    store.close()


@settings(max_examples=25, suppress_health_check=CHECKS)
@given(suite=suites())
def test_whatever_a_suite_is_made_of_survives_either_database(store, suite):
    with suppress(KeyError), store.write() as conn:
        save_suite(conn, suite)
        assert load_suite(conn) == suite
        raise KeyError
    assert loaded(store) == Suite(())


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
def test_what_no_database_can_hold_is_refused(store, text):
    with pytest.raises(DataError, match=r"rule 'i1\+1' has"):
        saved(store, Suite((item(positive=[text]),)))
    with pytest.raises(DataError, match="item 'i1' has"):
        saved(store, Suite((item(source=text),)))
    assert loaded(store) == Suite(())


def test_what_else_a_file_says_may_hold_anything(store):
    extra = {"a\0b": ["\ud800", {"c": 1.5}]}
    suite = Suite((replace(item(), extra=extra),), extra=extra)
    saved(store, suite)
    assert loaded(store) == suite
    assert json.dumps(dict(loaded(store).items[0].extra)) == json.dumps(extra)


def test_items_are_added_changed_and_kept_in_the_order_of_the_file(store):
    saved(store, Suite((item("a"), item("b"), item("c"))))
    done = saved(store, Suite((item("d"), item("b", source="neu"), item("a"))))
    # b has another text, a another place.
    assert done == SavedSuite(1, 2, 0)
    assert [each.id for each in loaded(store).items] == ["d", "b", "a", "c"]
    assert loaded(store).by_id["b"].source == "neu"


def test_outputs_are_judged_anew_where_rules_have_changed(store):
    fill(store, [item("a"), item("b")], {"s": {"a": "so lala", "b": "so lala too"}})
    done = saved(store, Suite((item("a", positive=["lala"]), item("b"))))
    assert done == SavedSuite(0, 1, 1)
    assert state(store)["so lala"] == ("pass", "a+1", False)
    assert state(store)["so lala too"] == ("warning", None, False)
    saved(store, Suite((item("a", positive=[]), item("b"))))
    assert state(store)["so lala"] == ("warning", None, False)


def test_a_rule_can_move_to_another_item(store):
    fill(store, [item("a", negative=[]), item("b", [], [])], {"s": {"a": "good", "b": "good b"}})
    moved = replace(item("b", [], []), rules=item("a").rules[:1])
    saved(store, Suite((item("a", [], []), moved)))
    assert state(store) == {
        "good": ("warning", None, False),
        "good b": ("pass", "a+1", False),
    }


def test_what_people_decided_stays_whatever_the_rules_say(store):
    ann, _ = fill(store, [item()], {"s": {"i1": "so lala"}})
    with store.write() as conn:
        save_decision(conn, number(store, "so lala"), ann, "fail", seen=0)
    saved(store, Suite((item(positive=["lala"]),)))
    assert state(store)["so lala"] == ("fail", "Ann", False)
    assert rows(store, "SELECT ruled, ruled_by FROM outputs") == [("pass", "i1+1")]


@pytest.fixture
def ruled(store):
    """A database in which Ann added the rule i1+2."""
    ann, _ = fill(store, [item()], {"s": {"i1": "so lala"}})
    with store.write() as conn:
        save_rule(conn, Draft(number(store, "so lala"), "positive", "fixed", "lala"), ann)
    assert [rule.id for rule in loaded(store).items[0].rules] == ["i1+1", "i1-1", "i1+2"]
    return store


def test_rules_of_people_stay_behind_those_of_the_file(ruled):
    saved(ruled, Suite((item(positive=["good", "fine"], negative=[]),)))
    rules = loaded(ruled).items[0].rules
    assert [(rule.id, rule.text) for rule in rules] == [
        ("i1+1", "good"),
        ("i1+2", "fine"),
        ("i1+3", "lala"),
    ]
    assert rules[2].author == "Ann"
    assert state(ruled)["so lala"] == ("pass", "i1+3", False)


def test_a_suite_with_rules_of_people_can_go_out_and_come_in_again(ruled):
    suite = loaded(ruled)
    assert saved(ruled, suite) == SavedSuite(0, 0, 0)
    assert loaded(ruled) == suite
    # They are still people's: a file that does not know them does not remove them.
    saved(ruled, Suite((item(),)))
    assert loaded(ruled) == suite


def test_a_rule_that_was_taken_back_comes_in_again_as_the_files(ruled):
    suite = loaded(ruled)
    with ruled.write() as conn:
        undo(conn, 1)
    assert len(loaded(ruled).items[0].rules) == 2
    saved(ruled, suite)
    assert loaded(ruled) == suite
    assert state(ruled)["so lala"] == ("pass", "i1+2", False)
    saved(ruled, Suite((item(),)))
    assert len(loaded(ruled).items[0].rules) == 2


def test_a_new_suite_can_be_judged_by_at_once(store):
    fill(store, [item()], {"s": {"i1": "good"}})
    with store.read() as conn:
        assert case(conn, 1).item == item()
