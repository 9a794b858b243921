"""Failing examples: chosen well, and the words that decided are marked."""

from dataclasses import replace

import numpy as np
import pytest

from assay.results import Span
from assay.suites.check import FAIL, check
from assay.suites.model import Item, Rule, Run, Suite
from assay.suites.report import examples, examples_table, in_turn, marked
from tests.suites.matrices import random_verdicts, verdicts

DISH = Item(
    "1",
    "deen",
    "Ambiguity",
    "Lexical",
    "Das Gericht war lecker.",
    (
        Rule("1+1", "positive", "regex", "(dish|meal)"),
        Rule("1-1", "negative", "regex", "court( house)?"),
        Rule("1-2", "negative", "fixed", "  the tribunal "),
    ),
)


def judged(*outputs):
    runs = [Run(f"s{at}", {"1": output}) for at, output in enumerate(outputs)]
    return check(Suite((DISH,)), runs).verdicts


def test_the_words_that_a_rule_found_are_marked():
    assert marked(DISH, "The court  house, was nice", "1-1", "bad") == (
        Span("The"),
        Span("court", "bad"),
        Span("house, was nice"),
    )
    assert marked(DISH, "The court house, was nice", "1-1", "bad")[1] == Span("court house,", "bad")
    assert marked(DISH, "was the tribunal", "1-2", "bad")[1] == Span("the tribunal", "bad")


@pytest.mark.parametrize("by", [None, "Anna", "1+1"])
def test_nothing_is_marked_where_no_rule_of_the_item_decided(by):
    assert marked(DISH, "The court was nice", by, "bad") == (Span("The court was nice"),)


def test_an_example_has_the_most_common_failing_output_and_a_passing_one():
    found = examples(judged("my dish", "the court", "a court", "a court", "none"), 1)
    (example,) = found
    assert example.failed == ("s1", "s2", "s3")
    assert example.failing == (Span("a"), Span("court", "bad"))
    assert example.passing == (Span("my"), Span("dish", "good"))
    row = examples_table(found).rows[0]
    assert row[:4] == ["Lexical", "1", "Das Gericht war lecker.", "s1, s2, s3"]


def test_of_many_systems_that_fail_the_number_is_told():
    found = examples(judged(*["a court"] * 4, "a dish"), 1)
    assert examples_table(found).rows[0][3] == "4 of 5"


def test_without_a_passing_output_there_is_no_column_for_it():
    found = examples_table(examples(judged("a court"), 1))
    assert found.headings[-1] == "failing output"
    assert len(found.rows[0]) == len(found.headings)


def test_items_that_some_pass_come_first_and_then_those_that_most_fail():
    found = verdicts({"a": "ffff", "b": "fpff", "c": "fppf"}, ["C/p"] * 4)
    assert [each.item.id for each in examples(found, 4)] == ["i2", "i1", "i0", "i3"]


def test_every_category_and_every_phenomenon_has_its_turn():
    groups = ["C/p", "C/p", "C/q", "D/r", "E/s"]
    found = verdicts({"a": "ffffp"}, groups)
    assert [each.item.id for each in examples(found, 2)] == ["i0", "i2", "i3"]
    items = [Item(str(at), "", "", name, "") for at, name in enumerate("xxyxy")]
    assert in_turn(items, range(5)) == [0, 2, 1, 4, 3]


def test_only_failed_items_are_examples_and_no_more_than_asked_for():
    found = random_verdicts(np.random.default_rng(3))
    chosen = examples(found, 3)
    by_category = [each.item.category for each in chosen]
    assert max(map(by_category.count, by_category)) == 3
    for each in chosen:
        codes = found.codes[:, found.items.index(each.item)]
        assert each.failed == tuple(np.array(found.systems)[codes == FAIL])
    assert examples(found, 0) == []


def test_a_pattern_that_runs_out_of_time_only_leaves_the_marks_out():
    slow = replace(DISH, rules=(Rule("1-1", "negative", "regex", "(a|a|aa)+b"),))
    output = "a" * 60 + "c"
    assert marked(slow, output, "1-1", "bad") == (Span(output),)
