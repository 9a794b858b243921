"""A short form of benchmarks/bad_inputs.py, and that its tables in the documentation are whole."""

import re
from pathlib import Path

import bad_inputs
import pytest

from assay.cli.commands import COMMANDS
from assay.io.packed import ALWAYS, EXPANSION
from assay.io.scores import LARGEST
from assay.rendering.charts import ROOM

PAGE = (Path(bad_inputs.__file__).parent.parent / "docs" / "bad-inputs.md").read_text("utf-8")
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in PAGE.partition(bad_inputs.MARK)[2].splitlines()
    if line.startswith("| ") and not line.startswith("| input")
]

# A slice through the table: every command on one file or another, and every file of one command.
SHOWN = {
    "nowhere.txt",
    "folder.d",
    "latin1.txt",
    "cut.gz",
    "broken.json",
    "text.db",
    "1e308.seg.tsv",
}
QUICK = ("score", "favor", "types", "suite run", "check", "meta correlate")
CASES = [
    case
    for case in bad_inputs.cases()
    if case.bad is not None
    and not case.name.startswith(("bomb.", "long."))
    and (case.name in SHOWN or case.command in QUICK)
    and case.command != "suite serve"
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad")
    bad_inputs.lay_out(folder)
    return folder


@pytest.mark.parametrize("command", dict.fromkeys(case.command for case in CASES))
def test_every_promise_is_kept(folder, monkeypatch, capfd, command):
    from assay.cli import main

    monkeypatch.chdir(folder)
    broken = {}
    for case in [case for case in CASES if case.command == command]:
        path = folder / case.name
        case.bad.make(path)
        before = bad_inputs.listing(folder)
        status = main(case.line.split())
        left = tuple(sorted(set(bad_inputs.listing(folder)) - set(before)))
        outcome = bad_inputs.Outcome(status, *capfd.readouterr(), 0.0, left)
        if found := bad_inputs.faults(case, outcome):
            broken[case.line] = (found, outcome.err)
        if path.is_dir():
            path.rmdir()
        else:
            path.unlink(missing_ok=True)
    assert broken == {}


def test_the_page_has_every_command_and_no_broken_promise():
    told = set(re.findall(r"^### (.+)$", PAGE, re.MULTILINE))
    assert set(COMMANDS) <= told
    assert len(ROWS) > 500
    assert {row[2] for row in ROWS} == {"0", "2"}
    assert not [row for row in ROWS if "Traceback" in row[3] or "Error" in row[3].split(":")[0]]
    assert all(row[3] for row in ROWS if row[2] == "2" and "2>" not in row[1])


def test_the_page_is_of_these_cases():
    lines = {row[1].strip("`").replace("\\|", "|") for row in ROWS}
    missing = [case.line for case in bad_inputs.cases() if case.line[:90] not in "\n".join(lines)]
    assert missing == []


def test_the_limits_of_the_page_are_those_of_the_code():
    assert f"{ALWAYS // 2**20} MB, and beyond it {EXPANSION} times" in PAGE
    assert f"from -{LARGEST:.0e}".replace("e+", "e") in PAGE
    assert f"{ROOM // 2**30} GB of address space" in PAGE
