"""`assay suite report`: accuracies of stored runs or of files, in every format."""

import re
import shutil
from pathlib import Path

import pytest

from tests.cli.demo_suite import example_lines, lay_out, make_full_db, records_of

FILES = "items.json -i autumn/atlas.txt autumn/birch.txt autumn/cedar.txt --ids item_ids.txt"


@pytest.fixture
def suite(here):
    lay_out()


@pytest.fixture
def stored(run):
    make_full_db(run)


def test_the_accuracies_follow_from_the_verdicts(run, suite):
    verdicts = records_of(run(f"suite run {FILES} -f json"))
    open_ = {r["item"] for r in verdicts if r["verdict"] in ("warning", "not tested")}
    found = records_of(run(f"suite report {FILES} -f json"))
    assert open_
    for system in ("atlas", "birch", "cedar"):
        kept = [r for r in verdicts if r["system"] == system and r["item"] not in open_]
        for level, key in (("category", "category"), ("phenomenon", "phenomenon"), ("micro", None)):
            for row in (r for r in found if (r["system"], r["level"]) == (system, level)):
                mine = [r for r in kept if key is None or r[key] == row["name"]]
                passed = sum(r["verdict"] == "pass" for r in mine)
                assert (row["items"], row["passed"]) == (len(mine), passed)
                wanted = 100 * passed / len(mine) if mine else None
                assert row["accuracy"] == (wanted and pytest.approx(wanted))


def test_stored_runs_give_the_same_as_files(run, stored):
    stored_ones = records_of(run("suite report --db suite.db -f json"))
    assert records_of(run(f"suite report {FILES} -f json")) == stored_ones


def test_by_default_the_latest_campaign_is_shown_and_it_is_said(run, stored):
    shown = run("suite report --db suite.db").out
    assert "Campaign: autumn, the latest of 2; --runs names others." in shown
    spring = run("suite report --db suite.db --runs spring").out
    assert "Campaign: spring." in spring
    assert "cedar" not in spring


def test_several_campaigns_stand_side_by_side(run, stored):
    found = records_of(run("suite report --db suite.db --runs spring autumn -f json"))
    assert {r["system"] for r in found} == {
        "atlas (spring)",
        "birch (spring)",
        "atlas (autumn)",
        "birch (autumn)",
        "cedar (autumn)",
    }


def test_systems_can_be_chosen(run, stored):
    found = records_of(run("suite report --db suite.db --systems cedar atlas -f json"))
    assert {r["system"] for r in found} == {"atlas", "cedar"}


@pytest.mark.parametrize("format", ["text", "json", "tsv", "latex", "html"])
def test_a_report_can_be_had_in_every_format(run, stored, format):
    ran = run(f"suite report --db suite.db -f {format}")
    assert ran.status == 0
    assert "cedar" in ran.out


def test_the_latex_has_bold_clusters_and_grey_categories(run, stored):
    shown = run("suite report --db suite.db -f latex").out
    assert shown.startswith("% Needs \\usepackage{booktabs}\\usepackage[table]{xcolor}")
    assert "\\rowcolor{gray!20} Ambiguity & " in shown
    assert re.search(r"^micro-average & \d+ & \\textbf\{[\d.]+\} & ", shown, re.MULTILINE)


def test_the_page_has_a_heat_map_of_phenomena(run, stored):
    shown = run("suite report --db suite.db -f html").out
    assert "Accuracy by phenomenon and system (%)" in shown
    assert "<svg" in shown


@pytest.mark.parametrize("options", ["--policy each", "--policy fail", "--policy pass"])
def test_policies_change_what_counts(run, stored, options):
    def micro(line):
        found = records_of(run(f"suite report --db suite.db -f json {line}"))
        return [(r["items"], r["passed"]) for r in found if r["level"] == "micro"]

    assert micro(options) != micro("")


def test_tests_and_corrections_are_told_in_the_notes(run, stored):
    shown = run("suite report --db suite.db --test midp --correct bh -o report.txt")
    assert shown.err == "wrote report.txt\n"
    text = Path("report.txt").read_text("utf-8")
    assert "McNemar's mid-p test" in text
    assert "Hochberg" in text


def test_the_clusters_of_the_paper_can_be_had_and_are_called_approximate(run, stored):
    shown = run("suite report --db suite.db --test z --correct none").out
    assert "Z-test of two proportions, one-tailed; approximate" in shown
    assert "approximate" not in run("suite report --db suite.db").out


def test_what_each_system_costs_is_told_and_recorded(run, suite):
    verdicts = records_of(run(f"suite run {FILES} -f json"))
    open_ = {}
    for record in verdicts:
        if record["verdict"] in ("warning", "not tested"):
            open_.setdefault(record["item"], set()).add(record["system"])
    costs = {
        record["system"]: (record["costs"], record["costs_alone"])
        for record in records_of(run(f"suite report {FILES} -f json"))
        if record["level"] == "micro"
    }
    assert costs == {
        name: (
            sum(name in systems for systems in open_.values()),
            sum(systems == {name} for systems in open_.values()),
        )
        for name in ("atlas", "birch", "cedar")
    }
    shown = run(f"suite report {FILES}").out
    assert "What each system costs" in shown
    assert f"{len(open_)} of 48 items do not count" in " ".join(shown.split())


def test_scores_of_assay_score_stand_below(run, stored):
    for name in ("atlas", "birch", "cedar"):
        shutil.copy(f"autumn/{name}.txt", f"{name}.txt")
    scored = run("score autumn/atlas.txt -i atlas.txt birch.txt cedar.txt -o scores.json")
    assert scored.status == 0
    shown = run("suite report --db suite.db --scores scores.json").out
    lines = [line for line in shown.splitlines() if line.startswith("BLEU  ")]
    assert len(lines) == 2
    assert "100.0" in lines[0]
    assert "BLEU|nrefs:1" in shown


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--db suite.db --runs sprin", "no campaign 'sprin' (did you mean 'spring'?)"),
        ("--db suite.db --systems ceder", "no system 'ceder' (did you mean 'cedar'?)"),
        ("--db suite.db -i autumn/atlas.txt", "leave ITEMS, -i, --ids and --names out"),
        (f"{FILES} --runs spring", "they go with --db"),
        ("items.json", "no outputs to look at"),
        ("", "no suite: name its file"),
        ("--db suite.db -o suite.db", "one of the inputs"),
        ("--db suite.db --confidence-level 2", "level 2: give a share"),
        ("--db suite.db --scores item_ids.txt", "item_ids.txt"),
        ("--db items.json", "items.json"),
    ],
)
def test_bad_calls_are_told_in_one_line(refusal, stored, line, message):
    assert message in refusal(f"suite report {line}")


def test_the_examples_work_as_they_stand(run, stored):
    line = "suite run --db suite.db -i autumn/atlas.txt autumn/birch.txt --ids item_ids.txt"
    assert run(f"{line} --campaign wmt21 -q").status == 0
    for line in example_lines("suite report"):
        assert run(line).status == 0
