"""The tables of `suite compare`: the best of each campaign, gains and losses, what flipped."""

import numpy as np
import pytest

from assay.results import Span
from assay.suites.compare_report import CompareResult, changed_words, flips_table, name_hints
from assay.suites.versions import as_versions, compare_versions
from tests.given import texts
from tests.suites.matrices import random_verdicts, verdicts

GROUPS = ["A/a1", "A/a1", "A/a2", "B/B", "B/B", "B/B"]


@pytest.fixture
def result() -> CompareResult:
    old = verdicts({"one": "ppffff", "two": "fffffp"}, GROUPS)
    new = verdicts({"one": "pffppp", "three": "pppppf"}, GROUPS)
    return CompareResult(compare_versions({"2020": old, "2021": new}))


def table(result, start):
    (found,) = [each for each in result.tables() if each.title.startswith(start)]
    return found


def test_the_best_system_of_each_campaign_has_the_layout_of_table_4(result):
    found = table(result, "The best system of each campaign")
    assert found.headings[:2] == ("campaign", "system")
    assert [row[:2] for row in found.rows] == [["2020", "one"], ["2021", "three"]]
    names = dict(zip(found.headings, zip(*found.rows, strict=True), strict=True))
    assert names["micro-average"] == pytest.approx((100 / 3, 500 / 6))
    assert names["category macro-average"] == pytest.approx((100 / 3, (100 + 200 / 3) / 2))


def test_the_gains_by_category_have_the_layout_of_table_6(result):
    found = table(result, "Gain by category")
    assert found.headings == ("category", "items", "one", "best")
    assert texts(found) == [
        ["A", "3", "−33.3", "+33.3"],
        ["B", "3", "+100.0", "+66.7"],
        ["micro-average", "6", "+33.3", "+50.0"],
        ["category macro-average", "6", "+33.3", "+50.0"],
    ]


def test_no_change_is_empty_but_changes_that_balance_are_zero():
    groups = ["A/a", "A/a", "B/b"]
    old, new = verdicts({"x": "pfp"}, groups), verdicts({"x": "fpp"}, groups)
    found = table(CompareResult(compare_versions({"o": old, "n": new})), "Gain by category")
    assert [row[2] for row in texts(found)[:2]] == ["+0.0", ""]


def test_the_gains_by_phenomenon_stand_below_grey_categories(result):
    found = table(result, "Gain by phenomenon")
    names = [row[0] for row in found.rows]
    assert names[:4] == ["A", "  a1", "  a2", "B"]
    assert {names[at] for at in found.shaded} == {"A", "B"}
    assert texts(found)[1][2:] == ["−50.0", ""]


def test_significant_gains_are_strong():
    groups = ["A/a"] * 40 + ["B/b"] * 2
    old, new = verdicts({"x": "f" * 42}, groups), verdicts({"x": "p" * 41 + "f"}, groups)
    found = table(CompareResult(compare_versions({"o": old, "n": new})), "Gain by category")
    names = [row[0] for row in found.rows]
    assert {names[row] for row, _ in found.strong} == set(names) - {"B"}


def test_the_steps_count_what_was_gained_and_lost(result):
    found = table(result, "From one to the next")
    first = dict(zip(found.headings, found.rows[0], strict=True))
    wanted = {"system": "one", "from": "2020", "to": "2021", "items": 6, "gained": 3, "lost": 1}
    assert first.items() >= wanted.items()
    assert first["gain"] == pytest.approx(100 / 3)
    assert first["p"] == pytest.approx(0.375)  # 2 P(X < 1) + P(X = 1), X ~ B(4, 0.5)


def test_what_flipped_is_lost_first_and_no_more_than_asked_for(result):
    found = table(CompareResult(result.versions, 2), "What flipped")
    own = [row for row in found.rows if row[0] == "one"]
    assert [(row[1], row[3]) for row in own] == [("lost", "i1"), ("gained", "i3"), ("gained", "i4")]
    assert own[0][5:] == [(Span("one 1"),), (Span("one 1"),)]
    assert not flips_table([("x", result.versions.steps[0])], 0).rows


@pytest.mark.parametrize(
    ("gone", "words"),
    [
        ("the dish was nice", (Span("the"), Span("court house", "bad"), Span("was nice"))),
        ("", (Span("the court house was nice", "bad"),)),
        ("the court house was nice", (Span("the court house was nice"),)),
    ],
)
def test_the_words_that_changed_are_marked(gone, words):
    assert changed_words("the court house was nice", gone, "bad") == words


def test_records_are_rows_of_every_step_and_the_items_that_flipped(result):
    records = result.records()
    own = [record for record in records if record["system"] == "one"]
    assert [record["name"] for record in own if record["level"] == "item"] == [
        "i1",
        "i3",
        "i4",
        "i5",
    ]
    gains = {record["name"]: record["gain"] for record in own if record["level"] == "item"}
    assert gains == {"i1": -100.0, "i3": 100.0, "i4": 100.0, "i5": 100.0}
    (micro,) = [record for record in own if record["level"] == "micro"]
    assert (micro["gained"], micro["lost"], micro["items"]) == (3, 1, 6)
    assert {record["system"] for record in records} == {"one", "best"}
    assert len({tuple(record) for record in records}) == 1


def test_the_gains_are_those_of_a_direct_count():
    rng = np.random.default_rng(8)
    groups = [f"C{at % 3}/p{at % 5}" for at in range(90)]
    rows = {year: "".join(rng.choice([*"pf"], 90)) for year in ("a", "b", "c")}
    found = {year: verdicts({"x": row}, groups) for year, row in rows.items()}
    records = CompareResult(compare_versions(found)).records()
    for one, other in (("a", "b"), ("b", "c")):
        for category in ("C0", "C1", "C2"):
            here = [at for at, group in enumerate(groups) if group.startswith(category)]
            won = sum(rows[one][at] + rows[other][at] == "fp" for at in here)
            lost = sum(rows[one][at] + rows[other][at] == "pf" for at in here)
            (record,) = [r for r in records if (r["from"], r["name"]) == (one, category)]
            assert (record["to"], record["gained"], record["lost"]) == (other, won, lost)
            assert record["gain"] == pytest.approx(100 * (won - lost) / len(here))


def test_with_three_campaigns_headings_name_the_later_one():
    found = {name: verdicts({"x": "pf", "y": "fp"}) for name in ("18", "19", "20")}
    columns = table(CompareResult(compare_versions(found)), "Gain by category").headings
    assert columns[2:] == ("x 19", "x 20", "y 19", "y 20", "best 19", "best 20")


def test_campaigns_without_a_common_system_compare_their_best():
    found = {"a": verdicts({"x": "pf"}), "b": verdicts({"y": "pp"})}
    result = CompareResult(compare_versions(found))
    assert table(result, "Gain by category").headings[2:] == ("best",)
    assert "No system" in table(result, "From one").note


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("UEdin", "UEDIN", "'UEdin' (a) and 'UEDIN' (b) are taken for two systems, for their "
                           "names differ in case only."),
        ("Facebook-AI", "facebook_ai", "'Facebook-AI' (a) and 'facebook_ai' (b) are taken"),
        ("Borderline", "Bordeline", "'Borderline' (a) and 'Bordeline' (b) are taken"),
    ],
)  # fmt: skip
def test_names_that_look_like_one_system_are_told(old, new, told):
    found = {"a": verdicts({old: "pf", "y": "pp"}), "b": verdicts({new: "pp", "y": "pf"})}
    result = CompareResult(compare_versions(found))
    (hint,) = name_hints(result.versions)
    assert hint.startswith(told)
    assert hint in table(result, "From one").note


@pytest.mark.parametrize(("old", "new"), [("Online-A", "Online-B"), ("sysA", "sysB"), ("x", "x")])
def test_names_of_different_systems_give_no_hint(old, new):
    found = {"a": verdicts({old: "pf"}), "b": verdicts({new: "pp"})}
    assert name_hints(compare_versions(found)) == []


def test_a_name_that_is_in_both_campaigns_gives_no_hint():
    rows = {"UEdin": "pf", "UEDIN": "pp"}
    assert name_hints(compare_versions({"a": verdicts(rows), "b": verdicts(rows)})) == []


def test_a_p_of_nearly_nothing_is_not_shown_as_0():
    found = {"a": verdicts({"x": "f" * 40}), "b": verdicts({"x": "p" * 40})}
    steps = table(CompareResult(compare_versions(found)), "From one")
    (row,) = texts(steps)
    places = [at for at, name in enumerate(steps.headings) if name in ("p", "macro p")]
    assert [row[at] for at in places] == ["<0.0001", "<0.0001"]


@pytest.mark.parametrize(
    ("test", "name"), [("midp", "McNemar's mid-p test"), ("mcnemar", "McNemar's exact test")]
)
def test_every_table_with_a_p_or_a_star_says_which_test_it_is_from(test, name):
    found = {"a": verdicts({"x": "ffp", "y": "ppp"}), "b": verdicts({"x": "pfp", "z": "ppf"})}
    result = CompareResult(compare_versions(found, test=test, correct="holm"))
    for start in ("The best", "From one", "Gain by category", "Gain by phenomenon"):
        assert name in table(result, start).note
    for start in ("Gain by category", "Gain by phenomenon"):
        assert "Holm's correction over all rows of a kind" in table(result, start).note
        assert "approximate" in table(result, start).note


def test_versions_of_one_system_go_by_their_names():
    found = as_versions(verdicts({"v1": "ppf", "v2": "pfp", "v3": "ppp"}), ["v3", "v1"])
    assert list(found) == ["v3", "v1"]
    result = CompareResult(compare_versions(found))
    assert result.tables()[0].title == "From one to the next"
    assert table(result, "Gain by category").headings[2:] == ("v1",)
    assert {record["system"] for record in result.records()} == {None}


def test_the_map_of_gains_has_every_category_and_step(result):
    (chart,) = result.charts()
    assert chart.after == table(result, "Gain by category").title
    values = chart.spec["data"]["values"]
    assert {(value["y"], value["x"]) for value in values} == {
        (category, step) for category in "AB" for step in ("one", "best")
    }


def test_many_systems_over_campaigns_are_rendered_without_trouble():
    rng = np.random.default_rng(1)
    one = random_verdicts(rng)
    result = CompareResult(compare_versions({"a": one, "b": one}))
    assert all(len(row) == len(each.headings) for each in result.tables() for row in each.rows)
    assert not [record for record in result.records() if record["level"] == "item"]
