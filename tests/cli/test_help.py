"""What the command line says of itself, and that it is true."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from assay.cli import main
from assay.cli.commands import COMMANDS, load
from assay.metrics.base import METRICS
from assay.text import TOKENIZERS
from assay.version import __version__
from tests.cli.conftest import Ran
from tests.cli.example_files import lay_out_examples
from tests.patience import PATIENCE


def examples(name):
    """The example lines of a command, without the remarks behind them."""
    lines = load(name).examples.strip().splitlines()
    return [re.split(r"\s{2,}", line.strip())[0] for line in lines]


@pytest.mark.parametrize("line", ["", "-h", "--help", "help"])
def test_the_overview_names_every_command(run, line):
    ran = run(line)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("usage: assay COMMAND ...\n")
    for name, summary in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(summary)}$", ran.out, re.MULTILINE)


@pytest.mark.parametrize("line", ["-V", "--version"])
def test_the_version_is_told(run, line):
    assert run(line) == (0, f"assay {__version__}\n", "")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_explains_every_option(run, name):
    ran = run(f"{name} --help")
    assert (ran.status, ran.err) == (0, "")
    assert run(f"help {name}") == ran == run(f"{name} some files -h")
    assert ran.out.startswith(f"usage: assay {name} ")
    for action in load(name)._parser()._actions:
        assert action.help
        for option in action.option_strings:
            assert re.search(rf"^  .*(?<!\S){re.escape(option)}\b", ran.out, re.MULTILINE)
    assert all(example in ran.out for example in examples(name))


def test_help_names_every_metric_and_tokenizer(run):
    shown = " ".join(run("score --help").out.split())
    assert f"There are {', '.join(METRICS.names())};" in shown
    assert ", ".join(TOKENIZERS) in shown


def test_help_keeps_to_the_terminal(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "90")
    for name in COMMANDS:
        assert max(map(len, run(f"{name} --help").out.splitlines())) <= 90


@pytest.fixture
def everything(here, tmp_path, monkeypatch):
    """The folder with all that the examples name, and `assay` on the path."""
    lay_out_examples()
    home = tmp_path / "sacrebleu"
    for field in ("src", "ref", "docid", "genre", "origlang"):
        (home / "wmt19").mkdir(parents=True, exist_ok=True)
        text = Path("ref.txt").read_text("utf-8") if field in ("src", "ref") else "x\n" * 120
        (home / "wmt19" / f"wmt19.de-en.{field}").write_text(text, "utf-8")
    monkeypatch.setenv("SACREBLEU", str(home))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return here


@pytest.fixture
def shell(everything, capfd):
    """Do a line as a shell does; one of `assay` and its arguments alone in this process."""

    def call(line):
        # sacreBLEU looks for its folder when it is loaded, and another test may have done so.
        if not line.startswith("assay ") or "|" in line or " -t wmt" in line:
            done = subprocess.run(
                ["bash", "-c", line], capture_output=True, text=True, timeout=PATIENCE
            )
            return Ran(done.returncode, done.stdout, done.stderr)
        capfd.readouterr()
        status = main(arguments(line))
        return Ran(status, *capfd.readouterr())

    return call


def arguments(line):
    """What the shell makes of a line: quotes are gone, patterns have become names of files."""
    printed = f"assay() {{ printf '%s\\0' \"$@\"; }}; {line}"
    done = subprocess.run(["bash", "-c", printed], capture_output=True, text=True, check=True)
    return done.stdout.split("\0")[:-1]


# A page is served until it is stopped: tests/cli/test_suite_serve.py starts and stops it.
@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "suite serve"])
def test_every_example_works_as_it_stands(shell, name):
    for line in examples(name):
        ran = shell(line)
        # 1 is the answer of a check that does not hold.
        assert ran.status in ((0, 1) if name == "muler validate" else (0,)), (line, ran.err)
        assert ran.out or "wrote" in ran.err
        wanted = re.search(r"-o (\S+)", line)
        assert not wanted or Path(wanted[1]).stat().st_size
