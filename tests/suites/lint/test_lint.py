"""All checks together, and what comes out of them."""

import pytest

from assay.data import DataError
from assay.suites.lint import CHECKS, lint_suite
from assay.suites.model import Suite
from tests.suites.lint.suites import item

SUITE = Suite(
    (
        *(item(f"{at:02}", source=f"Satz {at}.", plus=["/(/"], minus=["no"]) for at in range(12)),
        item("x", source="Satz x.", plus=["/yes/", "yes", ""], minus=["no"]),
    )
)


def test_problems_come_the_gravest_first_then_in_the_order_of_the_checks():
    problems = lint_suite(SUITE).problems
    ranks = [("error", "warning", "info").index(problem.severity) for problem in problems]
    assert ranks == sorted(ranks)
    kinds = list(dict.fromkeys((problem.severity, problem.check) for problem in problems))
    assert kinds == [
        ("error", "broken"),
        ("warning", "empty"),
        ("warning", "few-items"),
        ("info", "shadowed"),
    ]


def test_the_errors_are_those_of_the_gravest_kind():
    assert len(lint_suite(SUITE).errors) == 12
    assert lint_suite(SUITE, only=["empty"]).errors == ()


def test_only_the_wanted_checks_are_told():
    assert {problem.check for problem in lint_suite(SUITE, only=["empty", "broken"]).problems} == {
        "empty",
        "broken",
    }


def test_an_unknown_check_is_refused_with_the_nearest():
    with pytest.raises(DataError, match=r"no check 'shadow' \(did you mean 'shadowed'\?\)"):
        lint_suite(SUITE, only=["shadow"])


def test_the_summary_counts_what_the_records_list():
    result = lint_suite(SUITE)
    summary = result.tables()[0]
    assert [row[:3] for row in summary.rows] == [
        ("error", "broken", 12),
        ("warning", "empty", 1),
        ("warning", "few-items", 1),
        ("info", "shadowed", 1),
    ]
    assert sum(row[2] for row in summary.rows) == len(result.records()) == 15
    assert summary.note == "in 13 items with 28 rules, for 1 phenomena in 1 categories"


def test_long_tables_are_cut_and_say_so():
    table = lint_suite(SUITE).tables()[1]
    assert table.title == "broken (error): regular expressions that cannot be read"
    assert len(table.rows) == 10
    assert table.note == "and 2 more: --all shows them here, --format json or tsv always"
    whole = lint_suite(SUITE).all().tables()[1]
    assert (len(whole.rows), whole.note) == (12, "")


def test_tables_have_no_columns_without_content():
    columns = [table.headings for table in lint_suite(SUITE).tables()[1:]]
    assert columns == [
        ("item", "rule", "problem"),
        ("item", "rule", "problem"),
        ("problem",),
        ("item", "rule", "problem"),
    ]


def test_a_record_says_where_and_what():
    assert lint_suite(SUITE, only=["empty"]).records() == [
        {
            "severity": "warning",
            "check": "empty",
            "item": "x",
            "rule": "x+3",
            "message": "a positive rule without text matches nothing; delete it",
        }
    ]


def test_a_flawless_suite_has_one_table_without_rows():
    good = [item(f"{at}", source=f"{at}", plus=["yes"], minus=["no"]) for at in range(20)]
    result = lint_suite(Suite(tuple(good)))
    [table] = result.tables()
    assert (result.records(), result.charts(), list(table.rows)) == ([], [], [])
    assert table.note.startswith("no problems in 20 items")


def test_an_empty_suite_has_no_problems():
    assert lint_suite(Suite(())).problems == ()


def test_the_items_can_be_watched():
    seen = []

    def track(items, *, total):
        assert total == len(SUITE)
        for one in items:
            seen.append(one.id)
            yield one

    assert lint_suite(SUITE, track=track).problems == lint_suite(SUITE).problems
    assert seen == [one.id for one in SUITE.items]


def test_every_check_is_explained():
    assert len(CHECKS) == 19
    assert all(CHECKS.values())
