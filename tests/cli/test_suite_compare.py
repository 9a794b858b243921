"""`assay suite compare`: campaigns, or versions, side by side."""

import json
import re
import shutil

import pytest

from tests.cli.demo_suite import example_lines, make_full_db, records_of, slow_verdicts

BOTH = "suite compare --db suite.db --runs spring autumn"


@pytest.fixture
def stored(run):
    make_full_db(run)


def flips(system):
    """What a system gained and lost from spring to autumn, counted plainly."""
    old, new = (slow_verdicts(f"{name}/{system}") for name in ("spring", "autumn"))
    return {
        item: "gained" if new[item] == "pass" else "lost"
        for item in old
        if {old[item], new[item]} == {"pass", "fail"}
    }


def test_what_flipped_is_what_a_plain_count_finds(run, stored):
    found = records_of(run(f"{BOTH} --systems atlas -f json"))
    mine = {r["name"]: "gained" if r["gained"] else "lost" for r in found if r["level"] == "item"}
    assert mine == flips("atlas")
    (micro,) = [r for r in found if r["level"] == "micro"]
    assert micro["gained"] == list(mine.values()).count("gained")
    assert micro["lost"] == list(mine.values()).count("lost")
    assert micro["gain"] == pytest.approx(100 * (micro["gained"] - micro["lost"]) / micro["items"])


def test_campaigns_come_in_the_order_asked_for_and_by_date_otherwise(run, stored):
    def order(line):
        found = records_of(run(f"suite compare --db suite.db {line} -f json"))
        return {(r["from"], r["to"]) for r in found}

    assert order("--runs autumn spring") == {("autumn", "spring")}
    assert order("") == {("spring", "autumn")}


def test_the_best_of_each_campaign_is_told(run, stored):
    shown = run(BOTH).out
    assert shown.startswith("The best system of each campaign\n")
    assert re.search(r"^spring +(atlas|birch) +\*?[\d.]+ ", shown, re.MULTILINE)
    assert "What flipped" in shown


@pytest.mark.parametrize("format", ["text", "json", "tsv", "latex", "html"])
def test_a_comparison_can_be_had_in_every_format(run, stored, format):
    ran = run(f"{BOTH} -f {format}")
    assert ran.status == 0
    assert "birch" in ran.out


def test_names_that_differ_in_case_only_are_told(run, stored):
    line = "suite run --db suite.db -i autumn/atlas.txt --names Atlas --campaign winter"
    assert run(f"{line} --ids item_ids.txt -q").status == 0
    ran = run("suite compare --db suite.db --runs spring winter")
    hint = "'atlas' (spring) and 'Atlas' (winter) are taken for two systems, for their names differ"
    assert hint in ran.err
    assert hint in " ".join(ran.out.split())
    assert "in case only" in ran.err
    assert run("suite compare --db suite.db --runs spring winter -q").err == ""


def test_systems_of_one_campaign_are_compared_as_versions(run, stored):
    line = "suite compare --db suite.db --runs autumn --systems cedar atlas -f json"
    found = records_of(run(line))
    assert {(r["system"], r["from"], r["to"]) for r in found} == {(None, "cedar", "atlas")}


def test_files_are_versions_of_one_system(run, stored):
    files = "-i spring/atlas.txt autumn/atlas.txt --names old new --ids item_ids.txt"
    ran = run(f"suite compare items.json {files} -f json")
    found = {r["name"]: bool(r["gained"]) for r in records_of(ran) if r["level"] == "item"}
    assert found == {item: way == "gained" for item, way in flips("atlas").items()}
    inputs = [each["path"] for each in json.loads(ran.out)["inputs"]]
    assert inputs == ["items.json", "spring/atlas.txt", "autumn/atlas.txt", "item_ids.txt"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--db suite.db --runs autumn", "autumn: one campaign only"),
        ("--db suite.db --runs autumn --systems atlas", "one campaign only"),
        ("--db suite.db --runs autumn wnter", "no campaign 'wnter'"),
        ("--db suite.db --systems nobody", "no system 'nobody'"),
        ("items.json -i sysA.txt --ids item_ids.txt", "name two or more with -i"),
        ("items.json -i sysA.txt sysB.txt --runs autumn", "they go with --db"),
        ("-i sysA.txt sysB.txt", "no suite: name its file"),
        ("--db suite.db items.json", "leave ITEMS"),
    ],
)
def test_bad_calls_are_told_in_one_line(refusal, stored, line, message):
    assert message in refusal(f"suite compare {line}")


def test_the_examples_work_as_they_stand(run, stored):
    for name, old, new in (("wmt21", "spring/atlas", "spring/birch"), ("wmt22", "sysA", "sysB")):
        line = f"suite run --db suite.db -i {old}.txt {new}.txt --ids item_ids.txt"
        assert run(f"{line} --names sysA sysB --campaign {name} -q").status == 0
    shutil.copy("spring/atlas.txt", "old.txt")
    shutil.copy("autumn/atlas.txt", "new.txt")
    for line in example_lines("suite compare"):
        assert run(line).status == 0
