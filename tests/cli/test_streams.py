"""Streams and limits: closed and full streams, too little memory, bombs, full disks, kills."""

import gzip
import json
import lzma
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.demo_suite import make_db
from tests.patience import PATIENCE

ASSAY = [sys.executable, "-m", "assay.cli"]
MEGABYTE = 2**20


def shell(line):
    """A line of the shell, with `assay` for the command."""
    command = line.replace("assay", " ".join(ASSAY))
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=PATIENCE)


def limited(line, **limits):
    """Run a command under limits of the process: AS is address space, FSIZE the size of files."""

    def limit():
        for name, size in limits.items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (size, size))

    return subprocess.run(
        [*ASSAY, *line.split()],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        preexec_fn=limit,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )


def told(done):
    """The one line of a run that failed."""
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("assay: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def names(folder="."):
    return sorted(path.relative_to(folder).as_posix() for path in Path(folder).rglob("*"))


def test_a_closed_standard_error_stops_nothing(here):
    done = shell("assay score ref.txt -i a.txt -b 2>&-")
    assert (done.returncode, done.stdout, done.stderr) == (0, "37.61\n", "")
    done = shell("assay score ref.txt -i a.txt -o out.json 2>&-")
    assert (done.returncode, done.stdout) == (0, "")
    assert json.loads(Path("out.json").read_text())["records"]


def test_errors_without_standard_error_still_have_their_exit_code(here):
    assert shell("assay score ref.txt -i nowhere.txt 2>&-").returncode == 2
    # Nor does the message go where the result would be.
    assert shell("assay score ref.txt -i nowhere.txt 2>&-").stdout == ""
    assert shell("assay score ref.txt -i a.txt >&- 2>&-").returncode == 2


def test_all_streams_closed_leave_a_file_that_is_written_whole(here):
    done = shell("assay score ref.txt -i a.txt -o out.json <&- 2>&-")
    assert done.returncode == 0
    assert json.loads(Path("out.json").read_text())["records"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_behind_standard_error_stops_nothing(here):
    done = shell("assay score ref.txt -i a.txt -b -s src.txt 2>/dev/full")
    assert (done.returncode, done.stdout) == (0, "37.61\n")
    assert shell("assay score ref.txt -i nowhere.txt 2>/dev/full").returncode == 2


def test_too_little_memory_is_told_in_one_line(here):
    Path("big.txt").write_text("ein langer Satz mit vielen Worten\n" * 3_000_000)
    message = told(limited("score big.txt -i big.txt", AS=600 * MEGABYTE))
    assert "not enough memory" in message
    assert "ulimit -v" in message


@pytest.mark.parametrize("megabytes", [400, 700, 900])
def test_too_little_memory_for_a_model_is_told_in_one_line(here, monkeypatch, megabytes):
    """Not as a package that is missing, and without what libraries say as Python ends."""
    pytest.importorskip("transformers")
    monkeypatch.setenv("ASSAY_CACHE", str(here / "no-vectors"))
    message = told(limited("score ref.txt -i a.txt -m bertscore -l de-en", AS=megabytes * MEGABYTE))
    assert "not enough memory" in message


def test_under_a_memory_limit_arrow_reserves_nothing(here):
    """Its own pool would take a gigabyte at once, and end the process where the rest is little."""
    pytest.importorskip("pyarrow")
    Path("one.tsv").write_text("mt\tref\na\tb\n")
    code = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3 * 10**9, 3 * 10**9))
import assay
print(assay.score_shards("one.tsv").segments)
import pyarrow
print(pyarrow.default_memory_pool().backend_name)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE
    )
    assert (done.stdout, done.stderr) == ("1\nsystem\n", "")


@pytest.mark.parametrize("ending", [".gz", ".xz"])
def test_a_bomb_is_refused_in_little_memory(here, ending):
    zeros = bytes(300 * MEGABYTE)
    packed = gzip.compress(zeros) if ending == ".gz" else lzma.compress(zeros, preset=0)
    Path(f"bomb{ending}").write_bytes(packed)
    # Without the limit, 300 MB of zeros alone would need more than this.
    message = told(limited(f"score ref.txt -i bomb{ending}", AS=550 * MEGABYTE))
    assert f"bomb{ending} becomes more than 100 times as large" in message
    assert "ASSAY_EXPANSION=1000" in message


def test_the_limit_of_expansion_can_be_raised(spawn):
    Path("many.txt.gz").write_bytes(gzip.compress(b"x\n" * 40_000_000))
    Path("few.txt").write_text("x\n")
    assert "many.txt.gz becomes more" in spawn("score few.txt -i many.txt.gz").err
    assert "40000000 lines" in spawn("score few.txt -i many.txt.gz", ASSAY_EXPANSION="2000").err
    assert (
        "ASSAY_EXPANSION=lots: give"
        in spawn("score few.txt -i many.txt.gz", ASSAY_EXPANSION="lots").err
    )


def test_a_page_under_a_memory_limit_is_written_without_charts(here):
    pytest.importorskip("vl_convert")
    done = limited("score ref.txt -i a.txt b.txt -o page.html", AS=4000 * MEGABYTE)
    assert done.returncode == 0
    assert "the page is without its charts. Charts need 80 GB of address space" in done.stderr
    assert "ulimit -v unlimited" in Path("page.html").read_text("utf-8")
    done = limited("report ref.txt -i a.txt b.txt -m bleu -o page.html", AS=4000 * MEGABYTE)
    assert done.stderr.count("the page is without its charts") == 1
    done = limited("score ref.txt -i a.txt b.txt --charts drawn -q", AS=4000 * MEGABYTE)
    assert "no charts can be drawn here" in told(done)
    assert not Path("drawn").exists()


@pytest.mark.parametrize(
    ("line", "size"),
    [
        ("score ref.txt -i a.txt -o out/x.json", 200),
        ("suite import items.json --db out/suite.db", 40_000),
        ("suite sample items.json --key out/k.tsv -o out/s.txt", 1500),
        ("score ref.txt -i a.txt b.txt --charts out/charts -o table.txt -q", 2000),
    ],
)
def test_where_files_cannot_grow_nothing_half_made_stays(here, line, size):
    """A limit on the size of files fails as a full disk does: in the middle of a write."""
    make_db()
    Path("out").mkdir()
    Path("out/kept.txt").write_text("kept")
    # Python ignores the signal of this limit, and the write fails.
    done = limited(line, FSIZE=size)
    assert done.returncode == 2
    assert done.stderr.startswith("assay: ")
    assert done.stderr.count("\n") == 1
    assert "out/" in done.stderr
    assert names("out") == ["kept.txt"]


def on_small_disk(line, kilobytes, after="ls -A out"):
    """Run a command where `out` is a small disk, and say its status and what is there then."""
    mount = f"mount -t tmpfs -o size={kilobytes}k none out"
    Path("out").mkdir()
    if subprocess.run(["unshare", "-m", "bash", "-c", mount], capture_output=True).returncode:
        pytest.skip("only the superuser can make a small disk")
    command = f"{mount} && {' '.join(ASSAY)} {line}; echo $?; {after}"
    return subprocess.run(
        ["unshare", "-m", "bash", "-c", command], capture_output=True, text=True, timeout=PATIENCE
    )


@pytest.mark.parametrize("line", ["demo out/demo", "suite import items.json --db out/suite.db"])
def test_a_full_disk_is_left_as_it_was(here, line):
    make_db()
    done = on_small_disk(line, 64)
    assert done.stdout == "2\n"
    assert done.stderr.startswith("assay: ")
    assert done.stderr.count("\n") == 1
    assert line.split()[-1] in done.stderr


CHECK = (
    "import sqlite3; print(sqlite3.connect('out/new.db').execute('pragma quick_check').fetchone())"
)


@pytest.mark.parametrize("kilobytes", [900, 1500, 2500])
@pytest.mark.parametrize(
    "line",
    [
        "suite import items.json --db out/new.db -q",
        "suite export --db suite.db --what backup -o out/new.db -q",
    ],
)
def test_a_database_on_a_disk_that_fills_up_is_whole_or_not_there(here, line, kilobytes):
    """Its journal may still fit where what is in it does not fit into the database."""
    make_db()
    after = f'test ! -e out/new.db || {sys.executable} -c "{CHECK}"; ls -A out'
    done = on_small_disk(line, kilobytes, after)
    if done.stdout.startswith("0"):
        assert (done.stdout, done.stderr) == ("0\n('ok',)\nnew.db\n", "")
    else:
        assert done.stdout == "2\n"
        assert done.stderr.startswith("assay: out/new.db cannot be used")
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_import_that_is_stopped_leaves_no_database(here, number):
    rows = [
        {
            "id": str(at),
            "category": "c",
            "phenomenon": f"p{at % 7}",
            "source_sentence": f"Satz {at}.",
            "positive_regex": f"x{at}",
        }
        for at in range(30_000)
    ]
    Path("many.json").write_text(json.dumps({"items": rows}))
    process = subprocess.Popen(
        [*ASSAY, "suite", "import", "many.json", "--db", "suite.db"], stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + PATIENCE
    # The hidden file that is being filled says that the import is on its way.
    while not list(Path().glob(".*.tmp")) and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(number)
    process.wait(timeout=PATIENCE)
    assert not Path("suite.db").exists()
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert not [name for name in names() if ".tmp" in name]
