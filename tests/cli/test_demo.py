"""`assay demo`: the story it tells is the story of the figures."""

import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import assay
from assay.demo import demo_suite_files
from tests.corpora import demo
from tests.patience import PATIENCE


class Demo(NamedTuple):
    """The folder in which the demonstration ran, what it said, and the modules that it loaded."""

    folder: Path
    out: str
    loaded: set[str]


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """`assay demo` in a process of its own."""
    folder = tmp_path_factory.mktemp("demo")
    code = "import sys; from assay.cli import main; main(['demo']); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=PATIENCE
    )
    assert (done.returncode, done.stderr) == (0, "")
    *lines, modules = done.stdout.splitlines()
    return Demo(folder, "".join(f"{line}\n" for line in lines), set(modules.split()))


def test_the_demo_writes_a_report_and_tells_the_story(told):
    assert "The whole report, with all segments and charts: assay-demo/report.html\n" in told.out
    page = (told.folder / "assay-demo/report.html").read_text("utf-8")
    for title in ("Linguistic features (MuLER)", "Segments that decide", "Words", "Test suite"):
        assert title in page
    for title in ("MacroF1: atlas or birch?", "Types by frequency", "Accuracy by category (%)"):
        assert title in page
    assert page.count("<svg") >= 4


def test_the_demo_finds_the_planted_weaknesses_in_words(told):
    words = " ".join(told.out.split("Scoreboard")[0].split())
    assert words.startswith("Three invented systems translate 120 German segments into English.")
    assert "birch leads by BLEU (40.9; not significantly better than atlas)" in words
    assert "atlas leads by chrF2 (67.1), MacroF1 (63.5)" in words
    worse = words.split("birch is worse on ")[1].split(" and better on ")[0]
    for weakness in ("numbers lost or made up", "proper names"):
        assert weakness in worse
    assert "cedar is worse on words found nowhere else" in words


def test_the_demo_needs_no_tagger(told):
    assert not {"spacy", "torch"} & told.loaded


def test_the_story_is_true():
    systems = {name: demo(f"systems/{name}.txt") for name in ("atlas", "birch", "cedar")}
    references = {"A": demo("ref.A.txt"), "B": demo("ref.B.txt")}
    records = assay.score(systems, references, ["bleu", "macrof"]).records()
    score = {(each["metric"], each["system"]): each["score"] for each in records}
    assert score["bleu", "birch"] > score["bleu", "atlas"] > score["bleu", "cedar"]
    assert score["macrof", "atlas"] > score["macrof", "birch"]


def test_the_demo_can_be_put_elsewhere_again_and_again(run):
    for _ in range(2):
        assert ": some/where/report.html\n" in run("demo some/where").out
    assert Path("some/where/report.html").stat().st_size > 10_000


def test_the_demo_puts_the_suite_beside_the_report(told):
    suite = told.folder / "assay-demo" / "suite"
    found = {path.relative_to(suite).as_posix(): path.read_bytes() for path in suite.rglob("*.*")}
    assert found == demo_suite_files()


def test_the_demo_shows_what_each_system_cannot_do(told):
    rows = [line.split() for line in told.out.splitlines()]
    assert ["Idiom", "5", "*20.0", "*100.0", "*0.0", "40.0"] in rows
    assert ["Negation", "5", "*100.0", "*20.0", "*100.0", "73.3"] in rows
    assert ["micro-average", "34", "*67.6", "*76.5", "32.4", "58.8"] in rows


def test_the_demo_needs_no_database_and_no_web_server(told):
    assert "assay.suites.report" in told.loaded
    assert not {"sqlalchemy", "alembic", "fastapi", "uvicorn"} & told.loaded


def test_the_commands_that_the_demo_proposes_work_as_written(told, run, monkeypatch):
    pytest.importorskip("sqlalchemy")
    proposed = told.out.split("(pip install 'assay-mt[web]'):\n")[1].splitlines()
    enter, *commands, serve = (shlex.split(line) for line in proposed)
    assert enter == ["cd", "assay-demo"]
    assert serve == ["assay", "suite", "serve", "--db", "suite.db"]
    monkeypatch.chdir(told.folder / "assay-demo")
    for command in commands:
        arguments = [file for word in command[1:] for file in expanded(word)]
        assert run("", *arguments).status == 0
    ran = run("suite compare --db suite.db --runs spring autumn")
    assert (ran.status, "birch" in ran.out) == (0, True)


def expanded(word):
    """As a shell does it."""
    return sorted(map(str, Path().glob(word))) if "*" in word else [word]
