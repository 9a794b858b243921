"""`--store` and `assay history`."""

import json
from pathlib import Path

import pytest

from assay.store.results import ResultStore
from tests.cli.example_files import lay_out_examples

NIGHT = "score ref.txt -i a.txt -m chrf --store runs"


@pytest.fixture
def limits(here):
    Path("limits.toml").write_text("[limits]\nchrf = { min_difference = -0.5 }\n", "utf-8")


def test_a_store_changes_nothing_that_is_shown(run):
    line = "score ref.txt -i a.txt b.txt -m bleu macrof --paired-bs --confidence"
    plain = run(line)
    assert run(f"{line} --store runs") == run(f"{line} --store runs") == plain
    assert plain.status == 0


SCORING = (
    "favor ref.txt -i a.txt b.txt -m bleu",
    "compare ref.txt -i a.txt b.txt -m chrf -F none",
    "meta correlate --data folder -m chrf --human da",
    "suite run items.json -i sysA.txt sysB.txt --ids item_ids.txt",
    "suite report items.json -i sysA.txt sysB.txt --ids item_ids.txt",
)


def test_all_commands_that_score_take_a_store(run):
    lay_out_examples()
    for line in SCORING:
        plain = run(line)
        assert plain.status == 0, plain.err
        assert run(f"{line} --store new") == plain
    commands = [each.command for each in ResultStore("new").runs()]
    assert commands == ["compare", "suite run", "suite report"]
    assert len(list(Path("new/rows").glob("*/*.npz"))) > 4


def test_the_history_is_shown_as_a_table_a_page_and_records(run):
    run(f"{NIGHT} --run one")
    run(f"{NIGHT} --run two")
    shown = run("history runs")
    assert (shown.status, shown.err) == (0, "")
    assert shown.out.startswith("2 runs in runs, ")
    rows = [line.split() for line in shown.out.splitlines() if line.startswith(("one", "two"))]
    assert [row[3] for row in rows] == ["a", "a"]
    assert rows[1][-4:-1] == ["0.00", "[0.00,", "0.00]"]
    found = json.loads(run("history runs -m chrf --format json").out)
    assert [record["run_name"] for record in found["records"]] == ["one", "two"]
    assert run("history runs -o page.html --charts charts").status == 0
    assert "<svg" in Path("page.html").read_text("utf-8")
    assert [path.suffix for path in Path("charts").iterdir()] == [".svg"]


def test_a_candidate_is_checked_against_the_last_run(run, limits):
    run(NIGHT)
    line = "check ref.txt --store runs --baseline last --candidate {} --limits limits.toml"
    worse = run(line.format("c.txt"))
    assert worse.status == 1
    assert worse.out.startswith("FAILED: c against a (20")
    assert run(line.format("c.txt") + " --run again").status == 1
    assert [each.passed for each in ResultStore("runs").runs()] == [None, False, False]
    Path("better").mkdir()
    Path("better/a.txt").write_text(Path("ref.txt").read_text("utf-8"), "utf-8")
    better = run(line.format("better/a.txt") + " --run better")
    assert better.status == 0
    assert better.out.startswith("PASSED: a against a (20")
    assert run("history runs -m chrf --system c").status == 0


def test_a_candidate_of_a_folder_is_checked_against_the_last_run(run, limits):
    lay_out_examples()
    assert run("score --data folder -i atlas -m chrf --store new").status == 0
    ran = run("check --data folder --store new --baseline last --candidate birch --limits "
              "limits.toml -f json")  # fmt: skip
    assert (ran.status, json.loads(ran.out)["records"][0]["system"]) == (0, "birch")


def test_a_damaged_entry_is_told_in_one_line(run):
    first = run(NIGHT)
    (path,) = Path("runs/rows").glob("*/*.npz")
    path.write_bytes(b"not this")
    again = run(NIGHT)
    assert (again.status, again.out) == (0, first.out)
    assert again.err.startswith("assay: note: runs/rows/")
    assert again.err.count("\n") == 1
    path.write_bytes(b"not this")
    assert run(f"{NIGHT} -q").err == ""


def test_pruning_says_what_it_removed(run):
    run(NIGHT)
    found = json.loads(run("history runs --prune 0 --format json").out)
    assert found["records"][0]["files"] == 2
    assert json.loads(run("history runs --prune 0 -f json").out)["records"][0]["files"] == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("history", "the following arguments are required: FOLDER"),
        ("history nowhere", "nowhere does not exist: fill it by assay score ... --store."),
        ("history .", "no store, but has other files ("),
        ("history ref.txt", "ref.txt is a file; a store is a folder."),
        ("history runs -m chrff", "no metric 'chrff' in the runs of runs (did you mean 'chrf'?)"),
        ("history runs --system b", "no system 'b' in the runs of runs"),
        ("history runs --since soon", "write a day as in 2026-11-01."),
        ("history runs --last 0", "give at least 1, not 0"),
        ("history runs --prune 1 -m chrf", "--prune shows nothing: leave what to show out."),
        ("score ref.txt -i a.txt --run x", "--run names a run in a store: it goes with --store"),
        ("score ref.txt -i a.txt --store ref.txt", "ref.txt is a file; a store is a folder."),
        ("score ref.txt -i a.txt --store .", ". is no store, but has other files ("),
        (
            "check ref.txt --store runs --baseline last/x --candidate b.txt --limits limits.toml",
            "no system 'x' in the store on this test set. There are: a.",
        ),
        (
            "check ref.txt --baseline last --candidate b.txt --limits limits.toml",
            "last does not exist",
        ),
    ],
)
def test_bad_usage_is_one_line(run, refusal, limits, line, message):
    run(NIGHT)
    assert message in refusal(line)
