"""`assay suite lint` on the command line."""

import csv
import io
import json
from pathlib import Path

import pytest

from assay.suites.files import write_suite
from assay.suites.lint import CHECKS
from assay.suites.model import Suite
from tests.suites.lint.suites import item


@pytest.fixture
def suite(here):
    items = [
        item("bad", source="Eins.", plus=["/(a|aa)+$/", "/b/"], minus=["[b]", "ab", ""]),
        *(item(f"{at:02}", source=f"{at}.", plus=["/(/"], minus=["no"]) for at in range(12)),
    ]
    write_suite("items.jsonl", Suite(tuple(items)))


@pytest.fixture
def flawless(here):
    items = [item(f"{at}", source=f"{at}.", plus=["/yes/"], minus=["no"]) for at in range(20)]
    write_suite("items.json", Suite(tuple(items)))


def test_a_summary_comes_first_then_the_problems_the_gravest_first(run, suite):
    ran = run("suite lint items.jsonl")
    assert (ran.status, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == "Problems"
    titles = [line for line in lines if "): " in line and line.split(" (")[0] in CHECKS]
    assert [title.split(":")[0] for title in titles] == [
        "broken (error)",
        "explosive (error)",
        "contradiction (error)",
        "empty (warning)",
        "few-items (warning)",
    ]
    assert "and 2 more: --all shows them here, --format json or tsv always" in lines


def test_all_problems_are_shown_on_request(run, suite):
    some, every = run("suite lint items.jsonl").out, run("suite lint items.jsonl --all").out
    assert "11+1" not in some
    assert "11+1" in every
    assert "more:" not in every


def test_records_say_severity_check_item_rule_and_message(run, suite):
    records = json.loads(run("suite lint items.jsonl --format json").out)["records"]
    assert [list(record) for record in records] == [
        ["severity", "check", "item", "rule", "message"]
    ] * len(records)
    told = {(record["check"], record["item"], record["rule"]) for record in records}
    assert {
        ("broken", "11", "11+1"),
        ("explosive", "bad", "bad+1"),
        ("contradiction", "bad", "bad-2"),
        ("empty", "bad", "bad-3"),
        ("few-items", None, None),
    } <= told


def test_the_table_of_problems_has_as_many_lines_as_there_are_records(run, suite):
    rows = list(
        csv.reader(
            io.StringIO(run("suite lint items.jsonl -f tsv").out),
            delimiter="\t",
            quoting=csv.QUOTE_NONE,
        )
    )
    records = json.loads(run("suite lint items.jsonl -f json").out)["records"]
    assert len(rows) == 1 + len(records)


def test_only_the_named_checks_are_made(run, suite):
    ran = run("suite lint items.jsonl -f json --only empty few-items")
    assert {each["check"] for each in json.loads(ran.out)["records"]} == {"empty", "few-items"}


def test_strict_ends_with_status_1_where_there_are_errors(run, suite):
    assert run("suite lint items.jsonl --strict").status == 1
    assert run("suite lint items.jsonl --strict --only empty").status == 0


def test_a_flawless_suite_has_status_0(run, flawless):
    ran = run("suite lint items.json --strict")
    assert ran.status == 0
    assert "no problems in 20 items with 40 rules" in ran.out


@pytest.mark.parametrize("form", ["text", "json", "tsv", "latex", "html"])
def test_problems_are_shown_in_every_format(run, suite, form):
    ran = run(f"suite lint items.jsonl --format {form}")
    assert (ran.status, ran.err) == (0, "")
    # LaTeX has the main table alone.
    assert ("broken" if form == "latex" else "missing") in ran.out


def test_patterns_full_of_markup_are_shown_as_text(run, here):
    evil = item(plus=["/<script>alert(1)</script>(/"], minus=["no"])
    write_suite("items.json", Suite((evil,)))
    page = run("suite lint items.json --format html").out
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_an_unknown_check_is_refused(refusal, suite):
    told = refusal("suite lint items.jsonl --only contradictions")
    assert told.startswith("there is no check 'contradictions' (did you mean 'contradiction'?).")


def test_the_suite_is_never_written_over(refusal, flawless):
    assert "one of the inputs" in refusal("suite lint items.json -o items.json")


def test_a_missing_suite_is_refused(refusal, here):
    assert "nowhere.json" in refusal("suite lint nowhere.json")


def test_problems_can_go_to_a_file(run, suite):
    ran = run("suite lint items.jsonl -o lint.tsv")
    assert (ran.status, ran.out, ran.err) == (0, "", "wrote lint.tsv\n")
    assert Path("lint.tsv").read_text("utf-8").startswith("severity\tcheck\titem\trule\tmessage\n")
