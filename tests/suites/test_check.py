"""Runs against a suite: one verdict for every system and item, and a run that goes on."""

import numpy as np
import pytest

from assay.data import DataError
from assay.suites.check import (
    FAIL,
    LONG,
    NOT_TESTED,
    PASS,
    SHORT,
    WARNING,
    _longest_pattern,
    check,
    code_of,
    forget_patterns,
    pattern,
    verdict_named,
)
from assay.suites.model import Item, Rule, Run, Suite
from assay.text import check_repetitions


def item(name, *, positive="yes", negative="no", category="C", phenomenon="P"):
    rules = (
        Rule(f"{name}+1", "positive", "regex", positive),
        Rule(f"{name}-1", "negative", "regex", negative),
    )
    return Item(name, "deen", category, phenomenon, f"Quelle {name}", rules)


SUITE = Suite((item("1"), item("2"), item("3")))


def test_every_output_has_a_verdict_and_who_gave_it():
    runs = [
        Run("A", {"1": "yes", "2": "no", "3": "maybe"}),
        Run("B", {"1": "no", "2": "", "3": "yes no"}),
    ]
    verdicts = check(SUITE, runs).verdicts
    assert verdicts.systems == ("A", "B")
    np.testing.assert_array_equal(
        verdicts.codes, [[PASS, FAIL, WARNING], [FAIL, NOT_TESTED, WARNING]]
    )
    assert verdicts.by == [["1+1", "2-1", None], ["1-1", None, None]]
    assert verdicts.outputs == [["yes", "no", "maybe"], ["no", "", "yes no"]]


def test_items_that_nobody_was_asked_are_left_out_and_missing_answers_are_not_tested():
    verdicts = check(SUITE, [Run("A", {"3": "yes"}), Run("B", {"1": "no"})]).verdicts
    assert [each.id for each in verdicts.items] == ["1", "3"]
    np.testing.assert_array_equal(verdicts.codes, [[NOT_TESTED, PASS], [FAIL, NOT_TESTED]])


def test_a_pattern_that_blows_up_is_reported_once_and_the_run_goes_on():
    suite = Suite((item("1", positive="(a|aa)+$"), item("2")))
    runs = [Run(name, {"1": "a" * 60 + name, "2": "yes"}) for name in "XYZ"]
    checked = check(suite, runs, limit=0.05)
    np.testing.assert_array_equal(checked.verdicts.codes, [[WARNING, PASS]] * 3)
    assert len(checked.trouble) == 1
    assert checked.trouble[0].startswith("item 1: rule 1+1 took longer than 0.05 s")


def test_an_item_whose_pattern_blew_up_is_still_not_tested_where_there_is_no_output():
    suite = Suite((item("1", positive="(a|aa)+$"),))
    runs = [Run("A", {"1": "a" * 60 + "!"}), Run("B", {"1": ""})]
    codes = check(suite, runs, limit=0.05).verdicts.codes
    np.testing.assert_array_equal(codes, [[WARNING], [NOT_TESTED]])


def test_no_runs_give_an_empty_matrix():
    assert check(SUITE, []).verdicts.codes.shape == (0, 0)


def test_numbers_and_names_of_verdicts_belong_together():
    for code, name in [(1, "pass"), (0, "fail"), (-1, "warning"), (-2, "not tested")]:
        assert verdict_named(code) == name
        assert code_of(name) == code


def test_two_items_or_two_rules_of_one_id_are_refused():
    with pytest.raises(DataError, match="item 1 stands twice"):
        Suite((item("1"), item("1")))
    twin = Item("2", "deen", "C", "P", "s", SUITE.items[0].rules)
    with pytest.raises(DataError, match=r"rule 1\+1 stands twice"):
        Suite((item("1"), twin))


@pytest.mark.parametrize(
    ("polarity", "kind", "message"),
    [("good", "regex", "neither positive nor negative"), ("positive", "glob", "neither regex nor")],
)
def test_a_rule_of_an_unknown_sort_is_refused(polarity, kind, message):
    with pytest.raises(DataError, match=message):
        Rule("1+1", polarity, kind, "x")


def test_patterns_of_one_sort_come_in_order():
    rules = (
        Rule("1+1", "positive", "fixed", "a"),
        Rule("1-1", "negative", "fixed", "b"),
        Rule("1+2", "positive", "fixed", "c"),
    )
    assert Item("1", "deen", "C", "P", "s", rules).texts("positive", "fixed") == ["a", "c"]


def test_a_repetition_of_too_many_digits_is_an_error_of_one_line():
    with pytest.raises(DataError, match="is not a regular expression") as caught:
        pattern(f"a{{1,{'9' * 5000}}}", "regex")
    assert len(str(caught.value)) < 1100
    with pytest.raises(DataError, match="more than 100000 repetitions"):
        pattern("[0-9]{2147483648}", "regex")


@pytest.mark.parametrize(
    "text",
    [
        "(?:a{1000}){10000}",
        "(?:(?:a{100}){100}){100}",
        r"(?:\\{1000}){10000}",
        "(?x)(?:a{1000}) {10000}",
        "a{100000}" * 20,
    ],
)
def test_repetitions_that_grow_too_large_together_are_refused(text):
    with pytest.raises(DataError, match="too many repetitions in one another"):
        pattern(text, "regex")


@pytest.mark.parametrize(
    "text", [r"(?:\d{1,3}\.){3}\d{1,3}", "(?:a{0,1000}){0,1000}", ".{50}" * 50]
)
def test_usual_repetitions_are_fine(text):
    assert pattern(text, "regex")


def test_a_brace_before_a_long_row_of_blanks_is_read_in_no_time():
    check_repetitions("a{" + " " * 250_000 + "b")


def test_kept_patterns_are_the_same_object_whatever_their_length():
    for length in (3, SHORT, SHORT + 1, LONG, LONG + 1):
        text = "x" * length
        assert pattern(text, "fixed") is pattern(text, "fixed")
    forget_patterns()
    for number in range(30):
        pattern(f"{number:05}" + "x" * LONG, "fixed")
    assert _longest_pattern.cache_info().currsize == 8
