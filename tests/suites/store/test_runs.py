"""Runs are kept, judged once per distinct output, and come out as the rules judged them."""

import numpy as np
import pytest

from assay.data import DataError
from assay.suites.check import FAIL, NOT_TESTED, PASS, WARNING, Checker, check
from assay.suites.files import read_runs, read_suite
from assay.suites.model import Run, Suite
from assay.suites.store.decisions import save_decision
from assay.suites.store.queue import next_case
from assay.suites.store.runs import load_verdicts, save_run, stored_runs
from assay.suites.store.suites import save_suite
from tests.suites.store.samples import fill, item, number, rows, state


def save(store, *runs, **options):
    with store.write() as conn:
        for run in runs:
            save_run(conn, run, Checker(), **options)


def verdicts(store, *numbers):
    with store.read() as conn:
        return load_verdicts(conn, numbers or [run.id for run in stored_runs(conn)])


def test_the_published_systems_are_judged_as_without_a_database(store, shared):
    folder = shared / "testsuite" / "de-en"
    suite = read_suite(folder / "items.json")
    paths = sorted((folder / "wmt21" / "systems").glob("*.txt"))[:4]
    runs = read_runs(suite, paths, ids=folder / "wmt21" / "item_ids.txt", campaign="wmt21")
    with store.write() as conn:
        save_suite(conn, suite)
    save(store, *runs)
    found, wanted = verdicts(store), check(suite, runs).verdicts
    assert found.systems == wanted.systems
    assert found.items == wanted.items
    assert np.array_equal(found.codes, wanted.codes)
    assert found.by == wanted.by
    assert found.outputs == wanted.outputs
    distinct = {(name, text) for run in runs for name, text in run.outputs.items()}
    assert rows(store, "SELECT count(*) FROM outputs") == [(len(distinct),)]


def test_an_output_of_several_systems_is_kept_once(store):
    fill(store, [item()], {"a": {"i1": "good"}, "b": {"i1": "good"}, "c": {"i1": "bad"}})
    assert rows(store, "SELECT text, verdict FROM outputs ORDER BY id") == [
        ("good", "pass"),
        ("bad", "fail"),
    ]
    asked = "SELECT run_id, text FROM answers JOIN outputs ON outputs.id = output_id ORDER BY 1"
    assert rows(store, asked) == [(1, "good"), (2, "good"), (3, "bad")]


def test_what_a_system_has_no_output_for_is_not_tested(store):
    fill(store, [item("a"), item("b"), item("c")], {"x": {"a": "good"}, "y": {"b": "", "a": "x"}})
    found = verdicts(store)
    assert [each.id for each in found.items] == ["a", "b"]
    assert found.codes.tolist() == [[PASS, NOT_TESTED], [WARNING, NOT_TESTED]]
    assert found.outputs == [["good", ""], ["x", ""]]
    assert found.by == [["a+1", None], [None, None]]


def test_runs_are_listed_in_the_order_in_which_they_came(store):
    fill(store, [item("a"), item("b")], {"y": {"a": "1", "b": "2"}, "x": {"a": "1"}})
    save(store, Run("x", {}, "wmt22", "2022-07-01"))
    with store.read() as conn:
        assert [tuple(vars(run).values()) for run in stored_runs(conn)] == [
            (1, "y", "", "", 2),
            (2, "x", "", "", 1),
            (3, "x", "wmt22", "2022-07-01", 0),
        ]


def test_a_system_of_several_campaigns_is_named_with_them(store):
    fill(store, [item()], {"x": {"i1": "good"}, "y": {"i1": "bad"}}, campaign="wmt21")
    save(store, Run("x", {"i1": "bad"}, "wmt22"))
    assert verdicts(store).systems == ("x (wmt21)", "y", "x (wmt22)")
    assert verdicts(store, 3, 2).systems == ("x", "y")
    assert verdicts(store, 3, 2).codes.tolist() == [[FAIL], [FAIL]]
    with pytest.raises(DataError, match="there is no run 9"):
        verdicts(store, 9)


def test_a_persons_verdict_counts_before_a_rules(store):
    ann, _ = fill(store, [item()], {"x": {"i1": "good"}})
    with store.write() as conn:
        save_decision(conn, 1, ann, "fail", seen=0)
    assert verdicts(store).codes.tolist() == [[FAIL]]
    assert verdicts(store).by == [["Ann"]]


def test_the_same_run_again_changes_nothing(store):
    fill(store, [item("a"), item("b")], {"x": {"a": "so", "b": "good"}})
    before = rows(store, "SELECT * FROM outputs"), rows(store, "SELECT * FROM answers")
    save(store, Run("x", {"b": "good", "a": "so"}))
    assert before == (rows(store, "SELECT * FROM outputs"), rows(store, "SELECT * FROM answers"))
    save(store, Run("x", {"b": "good", "a": "so"}, date="2024-05-01"))
    assert rows(store, "SELECT date FROM runs") == [("2024-05-01",)]


def test_other_outputs_of_the_same_run_are_refused(store):
    fill(store, [item("a"), item("b")], {"x": {"a": "so", "b": "good"}}, campaign="wmt21")
    with pytest.raises(DataError, match=r"x in wmt21 .* other outputs on 2 items.*replace=True"):
        save(store, Run("x", {"a": "no"}, "wmt21"))
    assert set(state(store)) == {"so", "good"}


def test_a_run_that_is_replaced_leaves_only_what_people_judged(store):
    ann, _ = fill(
        store,
        [item("a"), item("b"), item("c")],
        {"x": {"a": "so a", "b": "so b", "c": "so c"}, "y": {"c": "so c"}},
    )
    with store.write() as conn:
        save_decision(conn, number(store, "so b"), ann, "skip", seen=0)
    save(store, Run("x", {"a": "good", "b": "bad"}), replace=True)
    assert state(store) == {
        "so b": ("not tested", None, False),
        "so c": ("warning", None, False),
        "good": ("pass", "a+1", False),
        "bad": ("fail", "b-1", False),
    }
    with store.read() as conn:
        assert next_case(conn, ann, skipped=True) is None
        assert next_case(conn, ann).output.text == "so c"
    # Once a system has it again, it waits as before.
    save(store, Run("z", {"b": "so b"}))
    assert state(store)["so b"] == ("warning", None, False)
    with store.read() as conn:
        assert next_case(conn, ann, skipped=True).output.text == "so b"


def test_the_number_of_an_output_is_never_used_again(store):
    fill(store, [item()], {"x": {"i1": "one"}})
    save(store, Run("x", {"i1": "two"}), replace=True)
    assert rows(store, "SELECT id, text FROM outputs")[0][0] > 1


def test_items_that_the_suite_does_not_have_are_refused(store):
    fill(store, [item("item1")], {})
    with pytest.raises(DataError, match=r"x has an output for item 'item2'.*did you mean 'item1'"):
        save(store, Run("x", {"item2": "good"}))
    assert rows(store, "SELECT * FROM runs") == []


@pytest.mark.parametrize("text", ["a\0", "\udfff"])
def test_outputs_that_no_database_can_hold_are_refused(store, text):
    fill(store, [item()], {})
    with pytest.raises(DataError, match="an output has"):
        save(store, Run("x", {"i1": text}))
    assert rows(store, "SELECT * FROM runs") == []


def test_a_pattern_that_runs_away_leaves_a_warning(store):
    suite = Suite((item(positive=["(a|aa)+$"], negative=[], kind="regex"),))
    checker = Checker(limit=0.01)
    with store.write() as conn:
        save_suite(conn, suite)
        save_run(conn, Run("x", {"i1": "a" * 60 + "b"}), checker)
    assert state(store)["a" * 60 + "b"] == ("warning", None, False)
    assert "i1+1 took longer" in checker.trouble[0]
    assert rows(store, "SELECT hits FROM outputs") == [(16,)]
