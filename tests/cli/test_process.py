"""The command as a process: pipes, terminals, locales, and what it loads."""

import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE

ASSAY = [sys.executable, "-m", "assay.cli"]


def test_the_status_says_how_it_went(spawn):
    assert spawn("score ref.txt -i a.txt -b") == (0, "37.61\n", "")
    ran = spawn("score ref.txt -i b.tx")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == "assay: b.tx does not exist (did you mean 'b.txt'?). Check the path.\n"
    assert spawn("").status == spawn("--version").status == 0


@pytest.mark.parametrize("line", ["score ref.txt", "score", "favor ref.txt", "types"])
def test_nobody_waits_for_an_input_that_does_not_come(spawn, line):
    ran = spawn(line)
    assert (ran.status, ran.err.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    "line",
    [
        "favor ref.txt -i a.txt b.txt -n 120",
        "types ref.txt -i a.txt b.txt -f tsv",
        "score ref.txt -i a.txt b.txt -f html",
        "score ref.txt -i a.txt -b -sl",
        "score --help",
    ],
)
def test_a_reader_that_has_seen_enough_is_no_error(here, line):
    command = f"{' '.join(ASSAY)} {line} | head -1; echo ${{PIPESTATUS[0]}} >&2"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=PATIENCE)
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == "0\n"


def test_a_reader_that_never_came_is_no_error_either(here):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as nobody:
        for line in ("score ref.txt -i a.txt", "--help", "score --help"):
            done = subprocess.run([*ASSAY, *line.split()], stdout=nobody, stderr=subprocess.PIPE)
            assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("line", ["score ref.txt -i a.txt", "--help"])
def test_a_full_disk_is_told_in_one_line(here, line):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*ASSAY, *line.split()], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert done.stderr == b"assay: cannot go on: No space left on device.\n"


def test_a_closed_standard_output_is_told_in_one_line(here):
    command = f"{' '.join(ASSAY)} score ref.txt -i a.txt >&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("assay: standard output is closed")
    assert done.stderr.count("\n") == 1


def test_text_is_utf8_whatever_the_locale(spawn):
    Path("one.txt").write_text("Grüße, 北京 ↑\n" * 2, "utf-8")
    Path("two.txt").write_text("x\n" * 2)
    strict = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    line = "favor one.txt -i one.txt two.txt"
    ran = spawn(line, **strict)
    assert "Grüße, 北京 ↑" in ran.out
    assert ran == spawn(line)
    assert "BLEU ↑" in spawn("score one.txt -i one.txt -q", **strict).out


def test_names_are_utf8_too(spawn):
    Path("ü.txt").write_text("x\n")
    assert spawn("score ü.txt -i ü.txt -b -q -m chrf", LC_ALL="C").out == "100.00\n"
    ran = spawn("score ü.tx", LC_ALL="C")
    assert ran.err == "assay: ü.tx does not exist (did you mean 'ü.txt'?). Check the path.\n"


def on_terminal(arguments, **environment):
    """What a command writes to a terminal of 80 columns."""
    main, side = pty.openpty()
    try:
        process = subprocess.Popen(
            [*ASSAY, *arguments.split()],
            stdin=side,
            stdout=side,
            stderr=side,
            env={**os.environ, "TERM": "xterm", **environment},
        )
        os.close(side)
        written = b""
        while select.select([main], [], [], PATIENCE)[0]:
            try:
                written += os.read(main, 65536)
            except OSError:  # the other side is closed
                break
        return process.wait(timeout=PATIENCE), written.decode()
    finally:
        os.close(main)


def test_a_terminal_gets_colours_unless_it_does_not_want_them(here, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    line = "favor ref.txt -i a.txt b.txt -n 2"
    status, written = on_terminal(line)
    assert status == 0
    assert "\x1b[32m" in written
    assert "{+" not in written.replace("{+ +}", "")
    status, written = on_terminal(line, NO_COLOR="1")
    assert status == 0
    assert "\x1b[" not in written
    assert "{+" in written.replace("{+ +}", "")


def test_a_terminal_is_not_asked_to_type_a_system_in(here):
    status, written = on_terminal("score ref.txt")
    assert status == 2
    assert written == (
        "assay: no output to look at: name files with -i, or pipe one in (cat FILE |).\r\n"
    )


def loaded_by(line):
    """The modules that a command loads."""
    code = (
        "import sys; from assay.cli import main; "
        "status = main(sys.argv[1:]); print(*sys.modules, file=sys.stderr); sys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *line.split()],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


@pytest.mark.parametrize("line", ["", "--version"])
def test_the_overview_loads_nothing_heavy(here, line):
    assert not loaded_by(line) & {"numpy", "scipy", "sacrebleu", "rich", "jinja2", "typer"}


def test_scoring_loads_only_what_it_needs(here):
    loaded = loaded_by("score ref.txt -i a.txt b.txt -m bleu chrf ter --paired-bs -f json")
    assert "numpy" in loaded
    assert not loaded & {"scipy.stats", "sacrebleu", "jinja2", "typer", "vl_convert", "regex"}
