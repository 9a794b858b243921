"""What the tests of the command line share: a folder of texts, and ways to run a command in it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from assay.cli import main
from tests.corpora import DEMO
from tests.patience import PATIENCE


class Ran(NamedTuple):
    """How a command ended, and what it wrote."""

    status: int
    out: str
    err: str


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """A folder with two references, a source, document ids and three systems, to run in.

    `ref.txt`, `a.txt`, `b.txt` and `c.txt` are the names that the examples use.
    """
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in ("ref.A.txt", "ref.B.txt", "src.txt", "docs.tsv"):
        shutil.copy(DEMO / name, name)
    shutil.copy("ref.A.txt", "ref.txt")
    for new, system in zip("abc", ("atlas", "birch", "cedar"), strict=True):
        shutil.copy(DEMO / "systems" / f"{system}.txt", f"{new}.txt")
    return folder


@pytest.fixture
def run(here, capfd) -> Callable[..., Ran]:
    """Run `assay` in this process, inside the folder of texts; arguments are cut at blanks."""

    def call(line: str = "", *more: str) -> Ran:
        capfd.readouterr()
        status = main([*line.split(), *more])
        return Ran(status, *capfd.readouterr())

    return call


@pytest.fixture
def spawn(here) -> Callable[..., Ran]:
    """Run `assay` as its own process; `given` is its standard input."""

    def call(line: str = "", *, given: str | bytes = b"", **environment: str) -> Ran:
        done = subprocess.run(
            [sys.executable, "-m", "assay.cli", *line.split()],
            input=given.encode() if isinstance(given, str) else given,
            capture_output=True,
            env=os.environ | environment,
            timeout=PATIENCE,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    return call


@pytest.fixture
def refusal(run, here) -> Callable[..., str]:
    """Run a command that must fail: status 2, one line that is given back, nothing written."""

    def call(line: str = "", *more: str) -> str:
        before = _files(here)
        ran = run(line, *more)
        assert (ran.status, ran.out) == (2, "")
        assert ran.err.startswith("assay: ")
        assert ran.err.count("\n") == 1
        assert ran.err.endswith("\n")
        assert _files(here) == before
        return ran.err.removeprefix("assay: ").rstrip("\n")

    return call


def _files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
