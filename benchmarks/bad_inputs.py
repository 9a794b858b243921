"""Every command on bad inputs: runs them all and writes the table in docs/bad-inputs.md.

    python benchmarks/bad_inputs.py                     all cases, to docs/bad-inputs.md
    python benchmarks/bad_inputs.py --only score check  some commands: renews their lines there

Every case is a process of its own with a time limit. The exit code is 1 where one of them broke a
promise: a traceback or a warning, more than one line, another exit code than 0 or 2, or a message
that does not name the file.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import lzma
import os
import resource
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parent.parent / "docs" / "bad-inputs.md"
DEMO = Path(__file__).parent.parent / "src" / "assay" / "demo"
SECONDS = 120
"""After which a case has failed."""

MEMORY = 3 * 2**30
"""Bytes of address space: what needs more of it is not bounded."""

LENGTH = 120
"""Segments of the demonstration's texts."""

ITEMS = 48
"""Of its suite."""


class BadInput(NamedTuple):
    """A file with something wrong in it: its name, and what makes it."""

    title: str
    name: str
    make: Callable[[Path], object]


def lines(text: str, count: int = LENGTH) -> str:
    """A file of one text again and again."""
    return f"{text}\n" * count


def written(content: str | bytes) -> Callable[[Path], object]:
    """Makes a file with this content."""
    data = content.encode() if isinstance(content, str) else content
    return lambda path: path.write_bytes(data)


def zeros(count: int, packer: Callable[[], object]) -> Callable[[Path], object]:
    """Makes a packed file of very many zeros."""

    def make(path: Path) -> None:
        packing, piece = packer(), b"\0" * 2**20
        with path.open("wb") as file:
            for _ in range(count // len(piece)):
                file.write(packing.compress(piece))  # type: ignore[attr-defined]
            file.write(packing.flush())  # type: ignore[attr-defined]

    return make


def gz() -> object:
    """A packer for .gz."""
    return zlib.compressobj(9, zlib.DEFLATED, 31)


PARQUET = """
import sys, pyarrow as pa
from pyarrow import parquet
texts = pa.array(["x" * 1000] * 2_000_000).dictionary_encode()
parquet.write_table(pa.table({"src": texts, "mt": texts, "ref": texts}), sys.argv[1])
"""


def _parquet_bomb(path: Path) -> None:
    # Elsewhere, since its address space would be that of every case.
    subprocess.run([sys.executable, "-c", PARQUET, str(path)], check=True)


BOMB = 512 * 2**20
CELL = "x" * 10**6
NESTED = "[" * 100_000
PACKED = gzip.compress(lines("Das ist ein Satz.").encode() * 50)

ANY = [
    BadInput("does not exist", "nowhere.txt", lambda path: None),
    BadInput("a folder", "folder.d", lambda path: path.mkdir()),
    BadInput("an empty file", "empty.txt", written("")),
    BadInput("not UTF-8", "latin1.txt", written(lines("Grüße").encode("latin-1"))),
    BadInput("UTF-16", "utf16.txt", written(lines("Text").encode("utf-16"))),
    BadInput("a cut .gz", "cut.gz", written(PACKED[: len(PACKED) // 2])),
    BadInput("a .gz that is none", "plain.gz", written(lines("Text"))),
    BadInput("a .xz that is cut", "cut.xz", written(lzma.compress(lines("Text").encode())[:40])),
    BadInput(f"a .gz of {BOMB // 2**20} MB of zeros", "bomb.gz", zeros(BOMB, gz)),
    BadInput(f"a .xz of {BOMB // 2**20} MB of zeros", "bomb.xz", zeros(BOMB, lzma.LZMACompressor)),
]
"""What is wrong with a file whatever it should hold."""

LINES = [
    *ANY,
    BadInput("too few lines", "short.txt", written(lines("Text", 5))),
    BadInput("only carriage returns", "cr.txt", written("Text\r" * LENGTH)),
    BadInput("NUL bytes", "nul.txt", written(lines("a\0b c\0d"))),
    BadInput(
        "a line of 10,000,000 characters",
        "long.txt",
        written("ab " * 3_333_333 + "\n" + lines("Text", LENGTH - 1)),
    ),
    BadInput("a JSON Lines file that is none", "broken.jsonl", written('{"mt": "x",\n')),
    BadInput("JSON nested too deep", "deep.jsonl", written(NESTED + "\n")),
    BadInput("a Parquet bomb", "bomb.parquet", _parquet_bomb),
    BadInput("a Parquet file that is none", "broken.parquet", written(lines("PAR1"))),
    BadInput("a TSV file with ragged rows", "ragged.tsv", written("src\tref\nx\ty\tz\n")),
    BadInput(
        "a TSV file with a cell of 1 MB", "cell.tsv", written(f"src\tmt\n{CELL}\ty\tz\n{CELL}\n")
    ),
]
"""For texts."""

XML = [
    BadInput(
        "XML with an entity bomb",
        "bomb.xml",
        written(
            '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
            + "".join(
                f'<!ENTITY {b} "{f"&{a};" * 10}">'
                for a, b in zip("abcdefgh", "bcdefghi", strict=True)
            )
            + "]><dataset><doc><src><p><seg id='1'>&i;</seg></p></src></doc></dataset>"
        ),
    ),
    BadInput("XML that is cut", "cut.xml", written("<dataset><doc id='a'><src lang='de'><p>")),
    BadInput("XML of something else", "other.xml", written("<html><p>Text</p></html>")),
    BadInput("XML nested too deep", "deep.xml", written("<doc>" * 200_000 + "</doc>" * 200_000)),
]


def rows(value: str) -> str:
    """Scores of systems a and b, the last of them this."""
    plain = "".join(f"{system}\t{at}\t0.5\n" for system in "ab" for at in range(1, LENGTH))
    return f"system\tline\tz\n{plain}a\t{LENGTH}\t{value}\nb\t{LENGTH}\t{value}\n"


SCORES = [
    *ANY,
    *(
        BadInput(f"a score of {value}", f"{value}.seg.tsv", written(rows(value)))
        for value in ("nan", "inf", "1e308", "high", "1_0")
    ),
    BadInput("a score of 1 MB", "cell.seg.tsv", written(rows(CELL))),
    BadInput("other columns", "columns.seg.tsv", written("who\twhat\na\t1\n")),
    BadInput(
        "columns with long names", "names.seg.tsv", written(f"system\t{CELL}\t{CELL}y\na\t1\t2\n")
    ),
    BadInput("ragged rows", "ragged.seg.tsv", written("system\tline\tz\na\t1\n")),
    BadInput("scores of other systems", "other.seg.tsv", written(rows("1").replace("a\t", "q\t"))),
    BadInput("a line that is not there", "line.seg.tsv", written("system\tline\tz\na\t999\t1\n")),
    BadInput(
        "a number of 1,000 digits",
        "digits.seg.tsv",
        written(f"system\tline\tz\na\t{'9' * 1000}\t1\n"),
    ),
]
"""For files of scores."""

TOML = [
    *ANY,
    BadInput("TOML that is none", "broken.toml", written("[limits\nchrf = \n")),
    BadInput("TOML nested too deep", "deep.toml", written("a = " + "[" * 50_000)),
    BadInput("an unknown table", "unknown.toml", written("[limit]\nchrf = {min = 1}\n")),
    BadInput("values of a wrong kind", "kind.toml", written('limits = 3\ndata = "x"\n')),
    BadInput(
        "an unknown key", "key.toml", written("[limits]\nchrf = {least = 1}\n[data]\nx = 1\n")
    ),
    BadInput("an unknown metric", "metric.toml", written("[limits]\nchrg = {min = 1}\n")),
    BadInput("infinite limits", "inf.toml", written("[limits]\nchrf = {min = nan, max = 1e400}\n")),
]
"""For limits and studies."""

ITEM = {"id": "1", "category": "c", "phenomenon": "p", "source_sentence": "Ein Satz."}


def suite(**values: object) -> str:
    """A suite of one item with these values."""
    return json.dumps({"items": [{**ITEM, **values}]})


SUITES = [
    *ANY,
    BadInput("JSON that is none", "broken.json", written('{"items": [')),
    BadInput("JSON nested too deep", "deep.json", written(NESTED)),
    BadInput("JSON of something else", "other.json", written('{"a": [1, 2]}')),
    BadInput("an item that is a number", "number.json", written('{"items": [1]}')),
    BadInput(
        "a wrong kind of value", "kind.json", written(suite(positive_regex=[1], source_sentence=2))
    ),
    BadInput("half a character", "half.json", written(suite(source_sentence="\ud800"))),
    BadInput("an id twice", "twice.json", written(json.dumps({"items": [ITEM, ITEM]}))),
    BadInput("a broken pattern", "pattern.json", written(suite(positive_regex="(a"))),
    BadInput(
        "a pattern without end",
        "endless.json",
        written(suite(positive_regex="(a|aa|aaa)+$", negative_regex="(x+x+)+y")),
    ),
    BadInput("a table without ids", "columns.tsv", written("a\tb\n1\t2\n")),
]
"""For test suites."""


def _other_database(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE t (a)")
    database.close()


PATTERNS = [
    *ANY,
    BadInput("a broken pattern", "broken.txt", written("x\t(a\n")),
    BadInput("a pattern without end", "endless.txt", written("x\t(\\w+\\s*)+;$\n")),
    BadInput("a huge repetition", "huge.txt", written(f"x\ta{{{'9' * 5000}}}\n")),
    BadInput("a pattern of 1 MB", "long.txt", written(f"x\t({CELL}\n")),
    BadInput("no labels", "labels.txt", written("abc\n")),
]
"""For files of regular expressions."""

DATABASES = [
    BadInput("does not exist", "nowhere.db", lambda path: None),
    BadInput("a folder", "folder.db", lambda path: path.mkdir()),
    BadInput("an empty file", "empty.db", written("")),
    BadInput("a text", "text.db", written(lines("Text"))),
    BadInput("another database", "other.db", _other_database),
    BadInput("a cut database", "cut.db", written(b"SQLite format 3\0" + b"\xff" * 5000)),
]

STORES = [
    BadInput("does not exist", "nowhere.d", lambda path: None),
    BadInput("an empty folder", "empty.d", lambda path: path.mkdir()),
    BadInput("a text", "text.txt", written(lines("Text"))),
]
"""For stores of results."""

OPTIONS = {
    "an unknown metric": "-m blue",
    "an unknown setting": "-m bleu:tk=13a",
    "a wrong value": "-m chrf:word_order=many",
    "a broken signature": "-m bleu|nrefs:1|case",
    "a nested signature": "-m boost:metric=boost(metric=boost(",
    "a long signature": f"-m {'b' * 5000}",
    "an unknown format": "-f pdf",
    "an unknown option": "--fast",
}
"""For all commands with metrics."""

OUTPUTS = {
    "a folder that is not there": "-o no/such/out.json",
    "a folder": "-o systems",
    "an unknown ending": "-o out.xyz",
    "a full disk": "-o FULL/out.json",
    "a full device": "-o /dev/full",
}
"""For all commands with `-o`."""


class Slot(NamedTuple):
    """A place of a command line where a bad file can stand, as BAD."""

    line: str
    bad: Sequence[BadInput]


TABLES = (".jsonl", ".parquet", ".tsv")
TEXTS = "ref.txt -i a.txt b.txt"
SUITE = "items.json -i sysA.txt sysB.txt --ids item_ids.txt"

SLOTS: dict[str, list[Slot]] = {
    "score": [
        Slot("score BAD -i a.txt", LINES),
        Slot("score ref.txt -i BAD", LINES),
        Slot("score ref.txt -i a.txt -s BAD", LINES),
        Slot("score ref.txt -i a.txt --docs BAD", LINES),
        Slot("score -i BAD", XML),
        Slot(f"score {TEXTS} --scores BAD --confidence", SCORES),
        Slot("score --data BAD", ANY),
        Slot("score --shards BAD", [each for each in LINES if each.name.endswith(TABLES)]),
    ],
    "history": [Slot("history BAD", STORES)],
    "compare": [Slot("compare ref.txt -i a.txt BAD", LINES)],
    "report": [
        Slot("report ref.txt -i a.txt BAD -o r.html", ANY),
        Slot("report BAD -o r.md", TOML),
    ],
    "check": [
        Slot("check ref.txt --baseline a.txt --candidate BAD --limits limits.toml", ANY),
        Slot("check ref.txt --baseline a.txt --candidate b.txt --limits BAD", TOML),
    ],
    "favor": [Slot("favor ref.txt -i a.txt BAD", LINES)],
    "types": [Slot("types ref.txt -i BAD", LINES)],
    "muler": [
        Slot("muler ref.txt -i BAD -F gender", LINES),
        Slot("muler ref.txt -i a.txt -F tags --tags BAD a.txt", ANY),
        Slot("muler ref.txt -i a.txt -F regex:BAD", PATTERNS),
    ],
    "muler examples": [
        Slot("muler examples ref.txt -i a.txt BAD -F gender", ANY),
        Slot("muler examples --tally BAD --key key.tsv", ANY),
    ],
    "muler validate": [Slot("muler validate ref.txt -i BAD -F gender --draws 0", ANY)],
    "explain": [
        Slot("explain ref.txt -i BAD -e erasure --only 7", ANY),
        Slot("explain ref.txt -i a.txt -e erasure --only 7 --tags BAD", ANY),
    ],
    "boost": [Slot("boost ref.txt -i BAD -m chrf -e erasure", ANY)],
    "boost tune": [
        Slot("boost tune ref.txt -i a.txt b.txt --human BAD -m chrf -e erasure", SCORES)
    ],
    "meta correlate": [
        Slot(f"meta correlate {TEXTS} --human BAD -m chrf", SCORES),
        Slot("meta correlate --table BAD", SCORES),
    ],
    "meta sensitivity": [
        Slot(f"meta sensitivity {TEXTS} --docs docs.tsv --human BAD -m chrf", SCORES),
        Slot(f"meta sensitivity {TEXTS} --docs BAD --human da.seg.tsv -m chrf", ANY),
    ],
    "meta retrieval": [
        Slot(f"meta retrieval {TEXTS} --docs docs.tsv --queries BAD", ANY),
        Slot(f"meta retrieval {TEXTS} --docs docs.tsv --queries queries.tsv --qrels BAD", ANY),
    ],
    "suite run": [
        Slot("suite run BAD -i one.txt", SUITES),
        Slot("suite run items.json -i BAD --ids item_ids.txt", LINES),
        Slot("suite run items.json -i sysA.txt --ids BAD", ANY),
        Slot("suite run --db BAD -i sysA.txt --ids item_ids.txt", DATABASES),
    ],
    "suite report": [
        Slot("suite report --db BAD", DATABASES),
        Slot("suite report BAD -i one.txt", SUITES),
    ],
    "suite compare": [
        Slot("suite compare --db BAD", DATABASES),
        Slot("suite compare BAD -i one.txt two.txt", SUITES),
    ],
    "suite lint": [Slot("suite lint BAD", SUITES)],
    "suite sample": [
        Slot("suite sample BAD --key k.tsv -o s.txt", SUITES),
        Slot("suite sample items.json --distractors BAD --key k.tsv -o s.txt", ANY),
    ],
    "suite collect": [
        Slot("suite collect --key BAD -i a.txt --to out", ANY),
        Slot("suite collect --key items.tsv -i BAD --to out", ANY),
    ],
    "suite import": [
        Slot("suite import BAD --db new.db", SUITES),
        Slot(
            "suite import items.json --db BAD",
            [each for each in DATABASES[1:] if each.name != "empty.db"],
        ),
    ],
    "suite export": [Slot("suite export --db BAD -o e.json", DATABASES)],
    "suite serve": [Slot("suite serve --db BAD --port 0", DATABASES)],
    "mbr": [Slot("mbr a.txt BAD", LINES), Slot("mbr BAD -n 4", ANY)],
    "demo": [Slot("demo BAD", [BadInput("a file", "taken.txt", written("x"))])],
}

PLAIN = {
    "score": f"score {TEXTS}",
    "compare": f"compare {TEXTS}",
    "favor": f"favor {TEXTS}",
    "types": "types ref.txt -i a.txt",
    "muler": "muler ref.txt -i a.txt -F gender",
    "muler examples": f"muler examples {TEXTS} -F gender",
    "muler validate": "muler validate ref.txt -i a.txt -F gender --draws 0",
    "explain": "explain ref.txt -i a.txt -e erasure --only 7",
    "boost": "boost ref.txt -i a.txt -e erasure",
    "boost tune": f"boost tune {TEXTS} --human da.seg.tsv -e erasure",
    "meta correlate": f"meta correlate {TEXTS} --human da.seg.tsv",
    "meta sensitivity": f"meta sensitivity {TEXTS} --docs docs.tsv --human da.seg.tsv",
    "meta retrieval": f"meta retrieval {TEXTS} --docs docs.tsv --queries queries.tsv",
    "mbr": "mbr a.txt b.txt",
}
"""A right line for every command that has metrics."""

UNSCORED = {
    "report": f"report {TEXTS}",
    "check": "check ref.txt --baseline a.txt --candidate b.txt --limits limits.toml",
    "suite run": f"suite run {SUITE}",
    "suite report": f"suite report {SUITE}",
    "suite compare": f"suite compare {SUITE}",
    "suite lint": "suite lint items.json",
    "cache": "cache",
}
"""And for those without, which also write with `-o`."""


class Case(NamedTuple):
    """One run: a command line, the file that its message must name, and what is in that file."""

    command: str
    title: str
    line: str
    bad: BadInput | None = None

    @property
    def name(self) -> str:
        """What the message must name."""
        return self.bad.name if self.bad else ""


class Outcome(NamedTuple):
    """How a run ended; a negative status is that of a signal."""

    status: int
    out: str
    err: str
    seconds: float
    left: tuple[str, ...] = ()

    @property
    def first(self) -> str:
        """The first line of what it says, or what it says instead of one."""
        said = next(iter(self.err.splitlines()), "")
        return said.removeprefix("assay: ") or ("done" if self.status == 0 else "")


def cases() -> Iterator[Case]:
    """Every case, by command."""
    for command, slots in SLOTS.items():
        for slot in slots:
            for bad in slot.bad:
                yield Case(command, bad.title, slot.line.replace("BAD", bad.name), bad)
        for title, option in OPTIONS.items() if command in PLAIN else ():
            yield Case(command, title, f"{PLAIN[command]} {option}")
    for command, line in (PLAIN | UNSCORED).items():
        for title, option in OUTPUTS.items():
            yield Case(command, f"-o: {title}", f"{line} {option}")


def lay_out(folder: Path) -> None:
    """The files that right command lines name, in the current folder."""
    for name in ("docs.tsv", "src.txt"):
        shutil.copy(DEMO / name, folder / name)
    shutil.copy(DEMO / "ref.A.txt", folder / "ref.txt")
    shutil.copytree(DEMO / "systems", folder / "systems")
    for new, system in (("a", "atlas"), ("b", "birch")):
        shutil.copy(DEMO / "systems" / f"{system}.txt", folder / f"{new}.txt")
        shutil.copy(DEMO / "suite" / "autumn" / f"{system}.txt", folder / f"sys{new.upper()}.txt")
    for name in ("items.json", "item_ids.txt"):
        shutil.copy(DEMO / "suite" / name, folder / name)
    (folder / "limits.toml").write_text("[limits]\nbleu = { min = 1 }\n")
    (folder / "queries.tsv").write_text("q1\tcity council\nq2\tthe doctor\n")
    (folder / "da.seg.tsv").write_text(rows("0.7"))
    for name in ("one.txt", "two.txt"):
        (folder / name).write_text("a" * 40 + "b\n")
    key = "item\tsegment\tfeature\tX\tY\tmuler_X\tmuler_Y\n1\t7\tNOUN\ta\tb\t0.5\t0.25\n"
    (folder / "key.tsv").write_text(key)
    sources = [f"{at}\ti{at}\tSatz {at}.\n" for at in range(1, LENGTH + 1)]
    (folder / "items.tsv").write_text("line\titem\tsource\n" + "".join(sources))


def put(bad: BadInput, folder: Path, made: Path) -> None:
    """Put the bad file there; in `made` large ones are kept, each under its name."""
    kept = made / bad.name
    if not bad.name.startswith("bomb."):
        bad.make(folder / bad.name)
        return
    if not kept.exists():
        bad.make(kept)
    (folder / bad.name).hardlink_to(kept)


def run(case: Case, folder: Path, full: Path | None) -> Outcome:
    """Run one case in this folder, as a child of this process with its modules loaded."""
    line = case.line.replace("FULL", str(full)) if full else case.line
    before = listing(folder)
    started = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        pid = os.fork()
        if pid == 0:
            _child(line, folder, out.fileno(), err.fileno())
        _, ended = os.waitpid(pid, 0)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read(10**6).decode(errors="replace"))
    left = tuple(sorted(set(listing(folder)) - set(before)))
    return Outcome(os.waitstatus_to_exitcode(ended), *texts, time.monotonic() - started, left)


def listing(folder: Path) -> list[str]:
    """The files and folders in a folder."""
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*")]


def _child(line: str, folder: Path, out: int, err: int) -> None:
    status = 70
    try:
        os.chdir(folder)
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        signal.alarm(SECONDS)
        if "-o r.html" not in line:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        from assay.cli import main

        status = main(shlex.split(line))
        sys.stdout.flush()
        sys.stderr.flush()
    except SystemExit as error:
        status = 71 if error.code is None else 72
    except BaseException:
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)


def faults(case: Case, outcome: Outcome) -> list[str]:
    """Which promises an outcome breaks."""
    found = []
    text = outcome.out + outcome.err
    if "Traceback" in text:
        found.append("a traceback")
    if "Warning" in outcome.err:
        found.append("a warning")
    if outcome.status not in (0, 2):
        found.append(f"exit code {outcome.status}")
    if outcome.status == 2 and "2>" not in case.line:
        if outcome.err.count("\n") != 1 or not outcome.err.startswith("assay: "):
            found.append("not one line")
        # A line of a text that was read without a fault is told by its system.
        names = (case.name, repr(case.name.partition(".")[0]))
        if case.name and not any(name in outcome.err for name in names):
            found.append("does not name the file")
        if len(outcome.err) > 1200:
            found.append(f"a message of {len(outcome.err)} characters")
        if outcome.out:
            found.append("wrote before it failed")
        if outcome.left:
            found.append(f"left {', '.join(outcome.left)}")
    return found


def warm_up() -> None:
    """Load what most commands need, so that children need not."""
    from assay.cli.commands import COMMANDS, load

    for name in COMMANDS:
        load(name)


def full_disk(folder: Path) -> Path | None:
    """A full disk, where this user may mount one."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "none", str(folder)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    with contextlib.suppress(OSError):
        (folder / "filler").write_bytes(b"x" * 2**16)
    return folder


STREAMS = {
    "standard error is closed": "assay score ref.txt -i a.txt -b 2>&-",
    "standard error is closed, and the input is bad": "assay score ref.txt -i nowhere.txt 2>&-",
    "standard error is a full device": "assay score ref.txt -i a.txt -b 2>/dev/full",
    "standard output is closed": "assay score ref.txt -i a.txt >&-",
    "standard output is a full device": "assay score ref.txt -i a.txt >/dev/full",
    "standard input is closed": "assay score ref.txt <&-",
    "the reader stops": "assay types ref.txt -i a.txt -f tsv | head -0",
    "little memory": "ulimit -v 500000; assay score big.txt -i big.txt",
    "little memory for a page": "ulimit -v 4000000; assay score ref.txt -i a.txt -o r.html",
    "little memory for charts": "ulimit -v 4000000; assay score ref.txt -i a.txt --charts c",
    "files may not grow": "ulimit -f 1; assay score ref.txt -i a.txt b.txt --segments -o out.json",
}
"""Lines of a shell, for what only a process of its own can show."""


def run_line(line: str, folder: Path) -> Outcome:
    """Run a line of the shell in this folder."""
    lay_out(folder)
    (folder / "big.txt").write_text(lines("ein langer Satz mit vielen Worten", 3_000_000))
    before, started = listing(folder), time.monotonic()
    script = "set -o pipefail; " + line.replace("assay", f"{sys.executable} -m assay.cli")
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, capture_output=True, text=True, timeout=SECONDS
    )
    left = tuple(sorted(set(listing(folder)) - set(before)))
    seconds = time.monotonic() - started
    return Outcome(done.returncode, done.stdout, done.stderr, seconds, left)


MARK = "## Every command, every bad input"


def document(results: Sequence[tuple[Case, Outcome]]) -> str:
    """The tables of the documentation, below what people wrote there."""
    head, mark, rest = DOCS.read_text("utf-8").partition(MARK)
    about = rest.partition("\n### ")[0].strip()
    parts = [f"{head}{mark}\n\n{about}\n\n"]
    for command in dict.fromkeys(case.command for case, _ in results):
        rows = [_row(*result) for result in results if result[0].command == command]
        parts.append(f"{_heading(command)}{''.join(rows)}\n")
    return "".join(parts).rstrip("\n") + "\n"


def renewed(results: Sequence[tuple[Case, Outcome]]) -> str:
    """The page with the lines of these cases as they are now; new ones end their table."""
    page = DOCS.read_text("utf-8")
    for case, outcome in results:
        row = _row(case, outcome)
        start = row[: row.index("` | ") + 4]
        old = [line for line in page.splitlines(keepends=True) if line.startswith(start)]
        for line in old:
            page = page.replace(line, row)
        if not old:
            page = _with_row(page, case.command, row)
    return page


LAST = "### streams and limits"
"""The heading of the last table."""


def _heading(command: str) -> str:
    return f"### {command}\n\n| input | command line | exit code | says |\n|---|---|---|---|\n"


def _with_row(page: str, command: str, row: str) -> str:
    """The page with one more row in the table of a command, which may be new."""
    heading = _heading(command)
    if heading not in page:
        page = page.replace(LAST, f"{heading}\n{LAST}")
    at = page.index(heading) + len(heading)
    while page[at] == "|":
        at = page.index("\n", at) + 1
    return page[:at] + row + page[at:]


def _row(case: Case, outcome: Outcome) -> str:
    line = f"`{_cut(case.line, 90)}`"
    cells = (case.title, line, outcome.status, _cut(outcome.first, 240))
    return "| " + " | ".join(_escaped(str(cell)) for cell in cells) + " |\n"


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]} ..."


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|").replace("<", "&lt;")


def _tell(case: Case, outcome: Outcome) -> bool:
    """Print a run that broke a promise, or took long; whether it broke one."""
    found = faults(case, outcome)
    if found or outcome.seconds > 10:
        line, seconds = _cut(case.line, 200), outcome.seconds
        print(f"{', '.join(found) or 'slow'}: {line} ({seconds:.1f} s)")
        print(f"    {outcome.err[-1500:]}", flush=True)
    return bool(found)


def main() -> int:
    """Run what was asked for; the exit code says whether all promises were kept."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="COMMAND")
    parser.add_argument("--like", default="", metavar="TEXT", help="only lines with this in them")
    args = parser.parse_args()
    warm_up()
    chosen = [
        case
        for case in cases()
        if (not args.only or case.command in args.only) and args.like in f"{case.title} {case.line}"
    ]
    results, broken = [], 0
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["ASSAY_CACHE"] = f"{temporary}/cache"
        full = full_disk(Path(temporary) / "full")
        made = Path(temporary) / "made"
        made.mkdir()
        try:
            for at, case in enumerate(chosen):
                if "FULL" in case.line and full is None:
                    continue
                folder = Path(temporary) / str(at)
                folder.mkdir()
                lay_out(folder)
                if case.bad is not None:
                    put(case.bad, folder, made)
                outcome = run(case, folder, full)
                shutil.rmtree(folder)
                if full:
                    outcome = outcome._replace(err=outcome.err.replace(str(full), "FULL"))
                results.append((case, outcome))
                broken += _tell(case, outcome)
            for title, line in {} if args.only else STREAMS.items():
                case = Case("streams and limits", title, line)
                folder = Path(temporary) / "streams" / str(len(results))
                folder.mkdir(parents=True)
                outcome = run_line(line, folder)
                results.append((case, outcome))
                broken += _tell(case, outcome)
                shutil.rmtree(folder)
        finally:
            if full:
                subprocess.run(["umount", str(full)], check=False)
    print(f"{len(results)} runs, {broken} broke a promise")
    page = renewed(results) if args.only or args.like else document(results)
    DOCS.write_text(page, "utf-8")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
