"""`assay check` and `assay score --fail-under`: the status is the answer."""

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.example_files import lay_out_examples

BASE = "check ref.txt --baseline a.txt --candidate b.txt --limits limits.toml"


@pytest.fixture
def limits(here):
    """Write the limits; each is a line of TOML."""

    def write(*lines):
        Path("limits.toml").write_text("\n".join(("[limits]", *lines)), "utf-8")

    write('bleu = { worse = "never significantly" }', '"fault:empty" = { max = 0 }')
    return write


def test_the_status_is_0_if_all_limits_hold(run, limits):
    ran = run(BASE)
    assert ran.status == 0
    assert ran.out.startswith("PASSED: b against a keeps all 2 limits.\n")
    assert "BROKEN" not in ran.out


def test_the_status_is_1_if_one_is_broken(run, limits):
    limits('"fault:numbers" = { max_rate = 0.01 }', "bleu = { min = 20 }")
    ran = run(BASE)
    assert ran.status == 1
    assert ran.out.startswith("FAILED: b against a breaks 1 of 2 limits: fault:numbers.\n")
    lines = [line for line in ran.out.splitlines() if "33 of 120 segments (27.5 %)" in line]
    assert len(lines) == 1
    assert "BROKEN" in lines[0]
    assert lines[0].endswith("a true value of 2.5 % or more")


def test_all_kinds_of_limits_in_one_file(run, limits):
    lay_out_examples()
    limits(
        '"chrf" = { min_difference = -0.5 }',
        '"slice:document council" = { worse = "never significantly" }',
        '"slice:domain politics" = { min_difference = -40 }',
        '"suite:Negation" = { min_accuracy = 1 }',
        '"fault:any" = { worse = "never" }',
    )
    suite = "--suite items.json sysA.txt sysB.txt --ids item_ids.txt"
    ran = run(f"{BASE} -s src.txt --docs docs.tsv -l de-en {suite} --format json -q")
    assert (ran.status, ran.err) == (1, "")
    found = json.loads(ran.out)
    assert [each["kind"] for each in found["records"]] == [
        "metric", "slice", "slice", "suite", "fault",
    ]  # fmt: skip
    assert found["inputs"][-1]["path"] == "limits.toml"


def test_junit_is_written_beside_the_table(run, limits):
    limits('"fault:numbers" = { max = 0 }', "bleu = { min = 20 }")
    ran = run(f"{BASE} --junit gate.xml")
    assert (ran.status, "wrote gate.xml" in ran.err) == (1, True)
    root = ElementTree.parse("gate.xml").getroot()
    assert [len(case.findall("failure")) for case in root.iter("testcase")] == [1, 0]


def test_markdown_goes_to_the_summary_of_a_job(run, limits, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    Path("summary.md").write_text("before\n")
    assert run(f"{BASE} --summary").status == 0
    summary = Path("summary.md").read_text("utf-8")
    assert summary.startswith("before\nPASSED: b against a")
    assert "| bleu | ok | never significantly worse |" in summary
    assert run(f"{BASE} --format markdown").out.strip() in summary


def test_without_a_summary_to_append_to_there_is_a_note(run, limits, monkeypatch):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    ran = run(f"{BASE} --summary")
    assert (ran.status, "no GITHUB_STEP_SUMMARY here" in ran.err) == (0, True)


def test_files_of_the_same_name_are_baseline_and_candidate(run, limits):
    for folder, name in (("old", "a"), ("new", "b")):
        Path(folder).mkdir()
        shutil.copy(f"{name}.txt", f"{folder}/out.txt")
    line = BASE.replace("a.txt", "old/out.txt").replace("b.txt", "new/out.txt")
    assert "candidate against baseline" in run(line).out


def test_systems_of_a_folder_and_of_a_table_go_by_name(run, limits):
    lay_out_examples()
    limits("bleu = { min = 20 }")
    line = "--baseline birch --candidate atlas --limits limits.toml -q"
    assert "atlas against birch" in run(f"check --data folder -l de-en {line}").out
    texts = {name: Path(f"systems/{name}.txt").read_text("utf-8").splitlines() for name in
             ("atlas", "birch", "cedar")}  # fmt: skip
    reference = Path("ref.txt").read_text("utf-8").splitlines()
    rows = [f"{name}\t{mt}\t{ref}\n" for name, lines in texts.items()
            for mt, ref in zip(lines, reference, strict=True)]  # fmt: skip
    Path("all.tsv").write_text("system\tmt\tref\n" + "".join(rows), "utf-8")
    assert "atlas against birch" in run(f"check all.tsv {line}").out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("check ref.txt --candidate b.txt --limits limits.toml", "check needs --baseline"),
        ("check ref.txt --baseline a.txt --candidate b.txt", "check needs --limits"),
        (BASE.replace("limits.toml", "nowhere.toml"), "nowhere.toml"),
        (f"{BASE} -i c.txt", "unknown argument '-i'"),
        (f"{BASE} --junit limits.toml", "--junit limits.toml is needed for something else"),
        (f"{BASE} --junit a.txt", "--junit a.txt is needed for something else"),
        (f"{BASE} -o limits.toml", "one of the inputs"),
        (f"{BASE} --confidence-level 95", "share between 0 and 1"),
    ],
)
def test_bad_usage_is_told_in_one_line(refusal, limits, line, message):
    assert message in refusal(line)


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ("chrf = { minimum = 3 }", "limits.toml, chrf: no rule 'minimum'"),
        ('"suite:Negation" = { min_accuracy = 9 }', "give it with --suite ITEMS OUTPUT"),
        ('"fault:copied" = { max = 0 }', "give the source with -s FILE"),
        ('"slice:with a numbr" = { worse = "never" }', "did you mean 'with a number'"),
    ],
)
def test_bad_limits_are_told_in_one_line(refusal, limits, limit, message):
    limits(limit)
    assert message in refusal(BASE)


SCORE = "score ref.txt -i a.txt b.txt -m chrf ter chrf:word_order=2 -b -w 1"


@pytest.mark.parametrize("floor", ["chrf=50", "ter=60", "chrf:word_order=2=50", "CHRF++=50"])
def test_scores_on_the_right_side_of_a_floor_pass(run, floor):
    assert run(f"{SCORE} --fail-under {floor}") == (0, run(SCORE).out, "")


def test_a_line_for_each_score_on_the_wrong_side(run):
    ran = run(f"{SCORE} --fail-under chrf=60 ter=45 --fail-under chrf:word_order=2=99")
    assert (ran.status, ran.out) == (1, run(SCORE).out)
    assert ran.err.splitlines() == [
        "assay: chrf of b is 55.49, under 60.",
        "assay: ter of a is 50.25, above 45.",
        "assay: chrf:word_order=2 of a is 65.09, under 99.",
        "assay: chrf:word_order=2 of b is 55.73, under 99.",
    ]


@pytest.mark.parametrize(
    ("floor", "message"),
    [
        ("blue=3", "unknown metric 'blue' (did you mean 'bleu'?)"),
        ("wer=3", "--fail-under wer=3: wer is not scored; add it with -m wer."),
        ("chrf", "--fail-under chrf: write METRIC=SCORE, as in chrf=55."),
        ("chrf=high", "write METRIC=SCORE"),
        ("chrf=nan", "write METRIC=SCORE"),
    ],
)
def test_a_floor_that_says_nothing_is_refused(refusal, floor, message):
    assert message in refusal(f"{SCORE} --fail-under {floor}")
