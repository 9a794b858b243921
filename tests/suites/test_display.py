"""The tables of `suite run` and `suite report`: the paper's layout, each number in its place."""

import math
from collections import Counter

import numpy as np
import pytest

from assay.suites.accuracy import accuracies
from assay.suites.check import Verdicts
from assay.suites.report import ReportResult, RunResult
from assay.suites.tables import AccuracyTables, SystemScores
from tests.given import plain, texts
from tests.suites.matrices import random_verdicts, verdicts

GROUPS = ["A/a1", "A/a1", "A/a2", "A/a2", "B/B", "B/B", "C/c1", "C/c2"]
THREE = {"one": "ppfpfpff", "two": "pppppppp", "three": "pfppwpp-"}


@pytest.fixture
def judged() -> Verdicts:
    return verdicts(THREE, GROUPS)


@pytest.fixture
def report(judged) -> ReportResult:
    bleu = SystemScores("BLEU", {"one": 30.0, "two": 40.0}, "BLEU|sig")
    return ReportResult(judged, accuracies(judged), (bleu,), about="Campaign: x.")


def table(result, title):
    (found,) = [each for each in result.tables() if each.title == title]
    return found


def test_systems_stand_in_order_of_their_category_macro_average(report):
    found = report.accuracies.row("category macro").accuracy
    names = table(report, "Accuracy by category (%)").headings[2:-1]
    ranked = sorted(zip(found, report.accuracies.systems, strict=True), reverse=True)
    assert list(names) == [name for _, name in ranked]
    assert [row[0] for row in table(report, "Systems").rows] == list(names)


def test_a_system_without_any_item_stands_last():
    found = accuracies(verdicts({"a": "--", "b": "ff", "c": "pp"}), policy="each")
    assert [row[0] for row in AccuracyTables(found).systems().rows] == ["c", "b", "a"]


def test_the_table_by_category_has_the_layout_of_table_5(report):
    found = table(report, "Accuracy by category (%)")
    assert found.headings == ("category", "items", "two", "three", "one", "avg")
    assert [row[0] for row in found.rows] == [
        "A",
        "B",
        "C",
        "micro-average",
        "category macro-average",
        "BLEU",
    ]
    # The fifth item has a warning and the eighth was not tested, so six count for all.
    assert [row[1] for row in found.rows] == [4, 1, 1, 6, 6, None]
    assert plain(found.rows[0][2:]) == [100, 75, 75, pytest.approx(250 / 3)]
    assert plain(found.rows[3][2:5]) == [100, pytest.approx(500 / 6), pytest.approx(400 / 6)]
    assert found.rows[4][4].value == pytest.approx((75 + 100 + 0) / 3)


def test_other_scores_stand_below_with_their_own_average(report):
    row = plain(table(report, "Accuracy by category (%)").rows[-1])
    assert row[0] == "BLEU"
    assert math.isnan(row[3])
    assert row[2::2] == [40.0, 30.0]
    assert row[-1] == 35.0


def test_the_table_by_phenomenon_has_grey_rows_of_categories(report):
    found = table(report, "Accuracy by phenomenon (%)")
    names = [row[0] for row in found.rows]
    assert names[:6] == ["A", "  a1", "  a2", "B", "C", "  c1"]
    assert names[7:] == [
        "micro-average",
        "category macro-average",
        "phenomenon macro-average",
        "BLEU",
    ]
    assert {names[at] for at in found.shaded} == {"A", "B", "C"}


def test_a_phenomenon_without_counted_items_has_unknown_accuracies(report):
    row = table(report, "Accuracy by phenomenon (%)").rows[6]
    assert row[:2] == ["  c2", 0]
    assert all(math.isnan(cell) for cell in plain(row[2:]))


@pytest.mark.parametrize("title", ["Accuracy by category (%)", "Accuracy by phenomenon (%)"])
def test_strong_cells_are_those_of_the_first_cluster(title):
    judged = random_verdicts(np.random.default_rng(5), systems=6, items=400)
    report = ReportResult(judged, accuracies(judged, test="z", correct="none"))
    found = table(report, title)
    strong = 0
    for row in report.accuracies.rows:
        for at, cells in enumerate(found.rows):
            if cells[0].strip() == row.name:
                bold = {found.headings[column] for line, column in found.strong if line == at}
                names = report.accuracies.systems
                assert bold == {
                    n for n, first in zip(names, row.first_cluster, strict=True) if first
                }
                strong += len(bold)
    assert 0 < strong < len(found.rows) * 6


def test_the_systems_have_their_averages_with_intervals(report):
    found = table(report, "Systems")
    row = report.accuracies.row("micro")
    cells = {each[0]: each for each in texts(found)}["three"]
    at = report.accuracies.systems.index("three")
    assert cells[1] == f"{row.accuracy[at]:.1f}"
    assert cells[2] == f"{row.low[at]:.1f}–{row.high[at]:.1f}"
    assert found.headings[:3] == ("system", "micro-average", "95% interval")


def test_one_system_has_nothing_in_bold_and_no_average_over_systems():
    judged = verdicts({"one": "ppf"})
    found = ReportResult(judged, accuracies(judged)).tables()[:3]
    assert all(not each.strong for each in found)
    assert all("avg" not in each.headings for each in found)
    assert "Bold" not in found[1].note


def test_the_policies_say_how_many_items_they_drop(report):
    rows = {row[0]: row[2:] for row in texts(table(report, "What counts"))}
    assert rows == {
        "fair": ["6", "1", "1", "0"],
        "each": ["6–8", "0–1", "0–1", "0"],
        "fail": ["7–8", "0", "0–1", "0–1"],
        "pass": ["7–8", "0", "0–1", "0–1"],
    }


def test_the_chosen_policy_is_strong(judged):
    found = ReportResult(judged, accuracies(judged, policy="each"))
    assert {row for row, _ in table(found, "What counts").strong} == {1}


def test_what_is_left_of_each_category_is_told(report):
    rows = table(report, "Items that count for every system").rows
    assert [row[:4] for row in rows] == [["A", 4, 4, 0], ["B", 2, 1, 1], ["C", 2, 1, 1],
                                         ["all", 8, 6, 2]]  # fmt: skip
    assert rows[-1][4] == 25.0


def test_the_records_have_the_fields_that_are_promised(report):
    records = report.records()
    fields = "system, level, name, items, passed, accuracy, low, high, p, p_corrected, "
    fields += "first_cluster, costs, costs_alone"
    assert all(", ".join(record) == fields for record in records)
    levels = Counter(record["level"] for record in records)
    assert levels == {
        "category": 9,
        "phenomenon": 15,
        "micro": 3,
        "category macro": 3,
        "phenomenon macro": 3,
    }
    (one,) = [r for r in records if (r["system"], r["level"]) == ("one", "micro")]
    assert (one["items"], one["passed"], one["accuracy"]) == (6, 4, pytest.approx(400 / 6))
    assert one["low"] < one["accuracy"] < one["high"]


def test_the_heat_map_has_every_phenomenon_that_counts_and_every_system(report):
    (chart,) = report.charts()
    assert chart.after == "Accuracy by phenomenon (%)"
    values = chart.spec["data"]["values"]
    assert {value["y"] for value in values} == {"a1", "a2", "B", "c1"}
    assert {value["x"] for value in values} == set(THREE)


def test_every_column_of_the_heat_map_has_its_label_above_where_it_is_tall():
    groups = [f"C/p{at}" for at in range(21)]
    for count, side in ((20, None), (21, "top")):
        judged = verdicts({"a": "p" * count, "b": "f" * count}, groups[:count])
        (chart,) = ReportResult(judged, accuracies(judged)).charts()
        axis = chart.spec["encoding"]["x"]["axis"]
        assert axis["labelOverlap"] is False
        assert axis.get("orient") == side


def test_the_heat_map_tells_phenomena_of_the_same_name_apart():
    judged = verdicts({"a": "pf"}, ["A/same", "B/same"])
    (chart,) = ReportResult(judged, accuracies(judged)).charts()
    assert {v["y"] for v in chart.spec["data"]["values"]} == {"same (A)", "same (B)"}


def test_the_note_says_which_runs_and_which_test(judged):
    found = accuracies(judged, test="mcnemar", correct="holm")
    note = AccuracyTables(found, about="Campaign: wmt21.").categories().note
    assert "McNemar's exact test on the shared items, two-tailed" in note
    assert "conservative" in note
    assert "Holm" in note
    assert note.endswith("Campaign: wmt21.")


@pytest.mark.parametrize("table", ["systems", "categories", "phenomena"])
def test_what_is_only_approximate_is_called_so_in_the_line_that_says_what_bold_is(judged, table):
    def bold(judged, **how):
        note = getattr(AccuracyTables(accuracies(judged, **how)), table)().note
        return next(line for line in note.split("\n") if line.startswith("Bold"))

    assert "one-tailed; approximate" in bold(judged, test="z")
    assert "approximate, not corrected" in bold(judged, correct="none")
    assert "approximate" not in bold(judged)
    two = verdicts({name: THREE[name] for name in ("one", "two")}, GROUPS)
    assert "approximate" not in bold(two, correct="none")
    assert "Holm" not in bold(two)


def test_it_is_said_which_system_costs_how_many_items(judged, report):
    found = table(report, "What each system costs")
    assert found.headings[3:] == ("items it drops", "it alone drops")
    assert [row[:1] + row[3:] for row in found.rows] == [
        ["three", 2, 2],
        ["one", 0, 0],
        ["two", 0, 0],
    ]
    note = table(report, "Systems").note
    assert "2 of 8 items do not count" in note
    assert "most by three 2 (2 alone)." in note
    each = ReportResult(judged, accuracies(judged, policy="each"))
    assert "What each system costs" not in [one.title for one in each.tables()]
    assert all(record["costs"] is record["costs_alone"] is None for record in each.records())


def test_what_systems_cost_is_counted_by_row_and_once_for_what_two_drop():
    judged = verdicts(
        {"a": "wwpp-", "b": "wppp-", "c": "ppppp"}, ["A/a", "A/b", "B/c", "B/c", "B/c"]
    )
    records = ReportResult(judged, accuracies(judged)).records()
    costs = {(r["system"], r["name"]): (r["costs"], r["costs_alone"]) for r in records}
    assert costs["a", "A"] == (2, 1)
    assert costs["b", "A"] == (1, 0)
    assert costs["a", "b"] == (1, 1)
    assert costs["a", "B"] == costs["b", "B"] == (1, 0)
    assert costs["a", "micro-average"] == costs["a", "category macro-average"] == (3, 1)
    assert costs["c", "micro-average"] == (0, 0)


def test_a_run_counts_verdicts_per_system_and_warnings_per_category(judged):
    result = RunResult(judged)
    assert [row[:5] for row in table(result, "Verdicts").rows] == [
        ["one", 4, 4, 0, 0],
        ["two", 8, 0, 0, 0],
        ["three", 5, 1, 1, 1],
    ]
    assert table(result, "Verdicts").rows[2][5] == pytest.approx(500 / 6)
    assert [list(row) for row in table(result, "Warnings by category").rows] == [
        ["A", 4, 0, 0, 0],
        ["B", 2, 0, 0, 1],
        ["C", 2, 0, 0, 0],
        ["all", 8, 0, 0, 1],
    ]


def test_a_run_without_warnings_has_no_table_of_them():
    titles = [each.title for each in RunResult(verdicts({"a": "pf"})).tables()]
    assert titles == ["Verdicts", "Failing examples"]


def test_a_run_in_which_nothing_was_decided_has_no_share():
    assert math.isnan(RunResult(verdicts({"a": "w-"})).tables()[0].rows[0][5])


def test_the_records_of_a_run_are_one_per_system_and_item(judged):
    records = RunResult(judged).records()
    assert len(records) == 24
    assert records[20] == {
        "system": "three",
        "item": "i4",
        "category": "B",
        "phenomenon": "B",
        "verdict": "warning",
        "by": None,
    }
    assert Counter(r["verdict"] for r in records) == {
        "pass": 17,
        "fail": 5,
        "warning": 1,
        "not tested": 1,
    }
