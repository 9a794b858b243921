"""Fuzz what reads: files of texts, tables, scores, tags, suites and limits; specifications; rules.

Right inputs are changed at random: bits, cut ends, separators, odd characters, huge numbers. All
that may come of it is a result or a `DataError` that names the file, within a few seconds.
"""

from __future__ import annotations

import gzip
import io
import json
import lzma
import random
import resource
import signal
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from assay.agreement.retrieval.collection import (
    read_judgements,
    read_queries,
    read_trec_documents,
)
from assay.agreement.tables import read_score_table
from assay.data import DataError, Dataset
from assay.decomposition.examples import read_key
from assay.explanation.explainers import EXPLAINERS
from assay.features.lexicons import parse_scorers, read_lexicon
from assay.features.rules import read_patterns, read_word_lists
from assay.features.select import parse_features
from assay.features.tagged_files import read_tags
from assay.io import read, read_documents, read_groups, read_labels, read_scores, read_texts
from assay.io.nbest import read_nbest
from assay.metrics.base import parse
from assay.reports.limits import read_limits
from assay.reports.study import read_study
from assay.suites.evaluation import run_suite
from assay.suites.files import read_ids, read_runs, read_suite
from assay.suites.files.columns import guess_roles, read_item_table
from assay.suites.files.mapping import suite_of_table
from assay.suites.lint import lint_suite
from assay.suites.sampling import mix
from assay.suites.sampling import read_key as read_sample_key

SECONDS = 10.0
"""Of processor time that one input may take."""

MEMORY = 4 * 2**30
LARGEST = 200_000
"""Bytes of an input."""

LONGEST = 1200
"""Characters of a message."""

TEXT = "Das ist ein Satz.\nUnd noch einer, mit 3,5 % mehr.\n\nGrüße aus 北京 😀!\n"
RECORDS = [
    {
        "src": "Ein Satz.",
        "mt": "A sentence.",
        "ref": ["A sentence.", "One."],
        "system": "a",
        "doc": 1,
    },
    {"src": "Zwei.", "mt": "Two.", "ref": ["Two.", "2."], "system": "a", "doc": 2},
]
TABLE = "src\tmt\tref\tsystem\nEin Satz.\tA sentence.\tOne.\ta\nZwei.\tTwo.\t2.\ta\n"
SGM = """<refset setid="x" srclang="de" trglang="en">
<doc docid="d">
<seg id="1">A &amp; b</seg>
</doc>
</refset>
"""
XML = (
    '<?xml version="1.0" encoding="utf-8"?>\n<dataset id="t"><doc id="d" origlang="de">'
    '<src lang="de"><p><seg id="1">Ein Satz.</seg><seg id="2">Zwei.</seg></p></src>'
    '<ref lang="en" translator="A"><p><seg id="1">One.</seg><seg id="2">Two.</seg></p></ref>'
    '<hyp lang="en" system="s"><p><seg id="1">A.</seg><seg id="2">B.</seg></p></hyp>'
    "</doc></dataset>"
)
SCORES = "system\tline\tz\traw\na\t1\t0.5\t70\na\t2\t-1.25e-3\t60\nb\t1\tNone\t\nb\t4\t3\t1\n"
ITEM: dict[str, Any] = {
    "id": "1",
    "category": "Ambiguity",
    "phenomenon": "Lexical ambiguity",
    "source_sentence": "Die Bank.",
    "positive_regex": r"\b(bank|benches?)\b",
    "negative_regex": "(bench|shore)+ x{1,3}",
    "positive_tokens": ["the bank"],
    "negative_tokens": [],
}
SUITE = json.dumps({"name": "s", "languages": "de-en", "items": [ITEM, {**ITEM, "id": "2"}]})
CONLLU = (
    "# text = A b.\n1\tA\ta\tDET\tDT\tCase=Nom|Number=Sing\t2\tdet\t_\t_\n"
    "2\tb.\tb\tNOUN\tNN\t_\t0\troot\t_\t_\n\n"
)
SHEET = (
    "id\tcategory\tphenomenon\tsource_sentence\tpositive_regex\tnegative_tokens\n"
    "1\tc\tp\tDie Bank.\tbank\tshore\n"
)
LIMITS = """[limits]
bleu = { worse = "never significantly", min = 30.5 }
"slice:with a negation" = { min_difference = -5 }
"fault:empty" = { max = 0, max_rate = 0.01 }
"suite:Negation" = { min_accuracy = 90 }
"""
STUDY = """features = ["gender"]
title = "x"
[data]
references = ["ref.txt"]
systems = ["a.txt"]
languages = "de-en"
"""
SPECIFICATIONS = [
    "bleu:tok=intl,smooth=floor,smooth_value=0.1,max_ngram_order=4,effective_order=yes",
    "chrf:char_order=6,word_order=2,beta=2,whitespace=no",
    "ter:no_punct=yes,case_sensitive=no",
    "macrof:max_order=2,beta=1",
    "rouge:type=Lsum,stem=yes",
    "fault:numbers",
    "boost:metric=bleu(effective_order=yes),explainer=lime(samples=10,width=3),w=0.6,p=-1.4",
    "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0",
    "chrF2|nrefs:var|bs:1000|seed:12345|case:lc|eff:yes|nc:6|nw:0|space:no|version:2.3.1",
    "TER|nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2.3.1",
]
FEATURES = ["upos:NOUN,VERB", "morph:Gender=Fem", "ner", "tag", "dep:nsubj", "gender"]
EXPLAINERS_SEEN = ["lime:samples=100,width=1", "shap", "erasure", "random"]

ODD = [
    *("\0", "\ufeff", "\u2028", "\u0085", "\x0b", "\x1c", "\r", "\r\n", "\u202e", "\u200d", "é"),
    *("\U0010ffff", "ﬁ", "İ", "ß", "٣", "²", "１", "\x7f", "\x1b[31m", "ǅ", "\ud7ff"),
]
NUMBERS = [
    *(
        "1e308",
        "-1e308",
        "1e400",
        "nan",
        "inf",
        "-0",
        "9" * 5000,
        "1" * 20,
        "0x10",
        "1_0",
        "1e-400",
    ),
    *("None", "true", "null", "2147483648", "-9223372036854775809", "0.1" * 50, "1/0", "٣"),
]
MARKS = [
    *(
        "\t",
        "\n",
        "\n\n",
        ",",
        ";",
        ":",
        "|",
        "=",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        '"',
        "'",
        "\\",
        "<",
    ),
    *(
        ">",
        "&",
        "/",
        "#",
        "&a;",
        "<!DOCTYPE x>",
        "(?P<",
        "(a+)+$",
        "\\p{",
        "{9999999}",
        "*",
        "?",
        "$",
    ),
    *(
        "..",
        "../",
        "-",
        "//",
        "http://x",
        "\\u",
        "\\ud800",
        "[[",
        "]]",
        "%s",
        "{}",
        "{0}",
        "_",
        " ",
    ),
]


ITEMS = (
    "Direction\tCategory\tPhenomenon\tSource\tCorrect Translation\tIncorrect Translation\n"
    "deen\tAmbiguity\tLexical ambiguity\tEr hat eine Bank.\tHe has a bench.\tHe has a bank.\n"
    "deen\tAmbiguity\tLexical ambiguity\tSie sitzt.\tShe sits.\t\n"
)
"""As TQ-AutoTest writes its items."""

MOSES = b"0 ||| a b ||| LM= -1.5 ||| -3\n0 ||| a c ||| LM= -2 ||| -4\n1 ||| d ||| LM= 0 ||| 0\n"


class Target(NamedTuple):
    """Something that reads a file: the file's name, right contents, and the reader."""

    name: str
    seeds: list[bytes]
    read: Callable[[Path], object]


def _dataset(path: Path) -> Dataset:
    return read(systems=[str(path)], references=[])


def _verdicts(path: Path) -> object:
    suite = read_suite(path)
    outputs = path.parent / "outputs.txt"
    outputs.write_text("the bank xx\n" * len(suite), "utf-8")
    return run_suite(suite, read_runs(suite, [outputs])).records()


def _ids(path: Path) -> object:
    suite = path.parent / "suite.json"
    suite.write_text(SUITE, "utf-8")
    return read_ids(read_suite(suite), path)


def _sheet(path: Path) -> object:
    table = read_item_table(path)
    suite = suite_of_table(table, guess_roles(table), languages="de-en")
    return mix(suite.items, rng=np.random.default_rng(1))


def _linted(path: Path) -> object:
    return lint_suite(read_suite(path)).records()


def _pairs(path: Path) -> object:
    return read_scores(path, ["a", "b"], length=4, documents=["x", "x", "y", "y"])


def _parquet() -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    buffer = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(RECORDS), buffer)
    return buffer.getvalue()


def _xlsx() -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    for row in (["word", "human", "score"], ["good", 1, 1.5], ["bad", 2, -2]):
        book.active.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def targets() -> list[Target]:
    """All that reads a file."""
    jsonl = "".join(json.dumps(record) + "\n" for record in RECORDS).encode()
    text, table, suite = TEXT.encode(), TABLE.encode(), SUITE.encode()
    items = "".join(json.dumps({**ITEM, "id": str(at)}) + "\n" for at in range(2)).encode()
    sheet = SHEET.encode()
    conll = CONLLU.encode() * 2
    words = b"good\tpositive\nbetter\tpositive\nworse\tnegative\n"
    lines = ("A b.", "A b.")
    return [
        Target("t.txt", [text], read_texts),
        Target("t.txt.gz", [gzip.compress(text)], read_texts),
        Target("t.txt.xz", [lzma.compress(text)], read_texts),
        Target("t.sgm", [SGM.encode()], read_texts),
        Target("t.xml", [XML.encode()], _dataset),
        Target("t.tsv", [table], _dataset),
        Target("t.csv", [table.replace(b"\t", b",")], _dataset),
        Target("t.jsonl", [jsonl], _dataset),
        Target("t.parquet", [_parquet()], _dataset),
        Target("d.tsv", [b"dom\tdoc\nx\ta\nx\tb\n", b"x\ta\nx\tb\n"], read_documents),
        Target("l.tsv", [b"line\ttopic\n1\tx\n2\ty\n"], lambda path: read_labels(path, 2)),
        Target("g.txt", [b"x\ny\n"], lambda path: read_groups(path, 2)),
        Target("h.seg.tsv", [SCORES.encode()], _pairs),
        Target("h.seg.score", [b"a\t1\na\t2\na\tNone\na\t-3e2\n"], _pairs),
        Target("h.jsonl", [b'{"system": "a", "line": 1, "score": 0.5}\n'], _pairs),
        Target("table.tsv", [b"system\thuman\tBLEU\na\t1\t30.5\nb\t2\t31\n"], _score_table),
        Target("table.xlsx", [_xlsx()], _score_table),
        Target("s.json", [suite], _verdicts),
        Target("s.jsonl", [items], _verdicts),
        Target("s.tsv", [sheet], _verdicts),
        Target("i.csv", [ITEMS.replace("\t", ";").encode()], _sheet),
        Target("i.txt", [ITEMS.encode()], _sheet),
        Target("i.json", [items.replace(b"}\n{", b"},\n{").join((b"[", b"]"))], _sheet),
        Target("lint.json", [suite], _linted),
        Target("ids.txt", [b"1\n2\n"], _ids),
        Target("k.tsv", [b"line\titem\tsource\n1\ti1\tSatz.\n2\t\tZwei.\n"], read_sample_key),
        Target("key.tsv", [_blind_key()], read_key),
        Target("c.conllu", [conll], lambda path: read_tags(path, lines, text="t")),
        Target("c.tags", [b"NOUN VERB\nDET NOUN\n"], lambda path: read_tags(path, lines, text="t")),
        Target("w.tsv", [b"good\t1.5\nbad\t-2\n"], read_lexicon),
        Target("w.xlsx", [_xlsx()], lambda path: read_lexicon(path, "score")),
        Target("w.txt", [words], read_word_lists),
        Target("p.txt", [b"date\t[0-9]{4}\nother\t(a|b)+c\n"], read_patterns),
        Target("q.tsv", [b"q1\tcity council\nq2\tthe doctor\n"], read_queries),
        Target("q.txt", [b"q1 0 council 1\nq2 0 x 0\n"], read_judgements),
        Target(
            "q.xml", [b"<DOC><DOCNO>1</DOCNO><TEXT>A &amp; b</TEXT></DOC>"], read_trec_documents
        ),
        Target("n.txt", [MOSES, b"a b\na c\n\nd\n"], lambda path: read_nbest([path])),
        Target("n.tsv", [b"1\ta b\t0.5\n1\ta\t2\n2\tc\t1\n"], lambda path: read_nbest([path])),
        Target("limits.toml", [LIMITS.encode()], read_limits),
        Target("study.toml", [STUDY.encode()], read_study),
    ]


def _score_table(path: Path) -> object:
    return read_score_table(path).panels()


def _blind_key() -> bytes:
    return b"item\tsegment\tfeature\tX\tY\tmuler_X\tmuler_Y\n1\t7\tNOUN\ta\tb\t0.5\t0.25\n"


def _parsed(text: str) -> object:
    metric = parse(text)
    # What a metric says of itself gives the same metric again.
    assert parse(str(metric)) == metric, str(metric)
    return metric


SPECS: dict[str, tuple[list[str], Callable[[str], object]]] = {
    "metrics": (SPECIFICATIONS, _parsed),
    "explainers": (EXPLAINERS_SEEN, EXPLAINERS.parse),
    "features": (FEATURES, lambda text: parse_features([text])),
    "scorers": (["sentiment", "concreteness"], lambda text: parse_scorers([text])),
}


def changed(data: bytes, rng: random.Random) -> bytes:
    """The data with one to six changes."""
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        data = rng.choice(CHANGES)(data, rng)[:LARGEST]
    return data


def _flip(data: bytes, rng: random.Random) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def _cut(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] if rng.random() < 0.7 else data[at:]


def _put(data: bytes, rng: random.Random) -> bytes:
    word = rng.choice(rng.choice((ODD, NUMBERS, MARKS))).encode("utf-8", "surrogatepass")
    at = rng.randrange(len(data) + 1)
    return data[:at] + word * rng.choice((1, 1, 1, 2, 50, 2000)) + data[at:]


def _replace_number(data: bytes, rng: random.Random) -> bytes:
    places = [at for at, byte in enumerate(data) if 48 <= byte <= 57]
    if not places:
        return _put(data, rng)
    at = rng.choice(places)
    return data[:at] + rng.choice(NUMBERS).encode() + data[at + 1 :]


def _swap_mark(data: bytes, rng: random.Random) -> bytes:
    marks = [at for at, byte in enumerate(data) if byte in b'\t\n,;:|=()[]{}"<>/& ']
    if not marks:
        return _put(data, rng)
    at = rng.choice(marks)
    put = rng.choice(
        (b"", data[at : at + 1] * 2, data[at : at + 1] * 3000, rng.choice(MARKS).encode())
    )
    return data[:at] + put + data[at + 1 :]


def _double(data: bytes, rng: random.Random) -> bytes:
    first, last = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
    return data[:last] + data[first:last] * rng.choice((1, 2, 100)) + data[last:]


def _recode(data: bytes, rng: random.Random) -> bytes:
    text = data.decode("utf-8", "replace")
    return text.encode(
        rng.choice(("utf-16", "utf-16-le", "latin-1", "utf-7", "utf-8-sig")), "replace"
    )


CHANGES = [_flip, _cut, _put, _put, _replace_number, _swap_mark, _swap_mark, _double, _recode]


class TooSlow(Exception):
    """An input took longer than it may."""


@contextmanager
def _limited() -> Iterator[None]:
    def stop(number: int, frame: object) -> None:
        raise TooSlow(f"more than {SECONDS:g} s")

    signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def trouble(call: Callable[[], object], name: str = "") -> str:
    """What is wrong with what comes of a call, or nothing."""
    try:
        with _limited():
            call()
    except DataError as error:
        message = str(error)
        # A study names other files, and then they are named.
        if name and name not in message and name != "study.toml":
            return f"does not name the file: {message[:300]}"
        if len(message) > LONGEST:
            return f"a message of {len(message)} characters"
        return ""
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        own = [
            each for each in traceback.extract_tb(error.__traceback__) if "assay" in each.filename
        ]
        place = f"{own[-1].filename.rpartition('assay/')[2]}:{own[-1].lineno}" if own else ""
        return (
            f"{type(error).__name__} at {place} ({Path(frame.filename).name}): {str(error)[:200]}"
        )
    return ""


class Finding(NamedTuple):
    """What came of one input: which reader, and what is wrong, or nothing."""

    part: str
    wrong: str
    data: bytes


def inputs(folder: Path, seed: int) -> Iterator[Finding]:
    """Read one changed input after the other, without end."""
    for name in ("ref.txt", "a.txt"):
        (folder / name).write_text("A.\nB.\n")
    rng, files = random.Random(seed), targets()
    for target in files:
        for data in target.seeds:
            (folder / target.name).write_bytes(data)
            target.read(folder / target.name)
    while True:
        if rng.random() < 0.25:
            part = rng.choice(list(SPECS))
            seeds, parser = SPECS[part]
            data = changed(rng.choice(seeds).encode(), rng)
            text = data.decode("utf-8", "surrogateescape")[:5000]
            yield Finding(part, trouble(partial(parser, text)), data)
        else:
            target = rng.choice(files)
            path, data = folder / target.name, changed(rng.choice(target.seeds), rng)
            path.write_bytes(data)
            yield Finding(target.name, trouble(partial(target.read, path), target.name), data)


def fuzz(seconds: float, seed: int) -> int:
    """Fuzz for so long; the number of different findings comes back."""
    return run(inputs, seconds, seed)


def run(inputs: Callable[[Path, int], Iterator[Finding]], seconds: float, seed: int) -> int:
    """Take one input after the other for so long, and print what is wrong and the counts."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    counts, known, end = Counter[str](), set[str](), time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        for part, wrong, data in inputs(Path(folder), seed):
            counts[part] += 1
            key = f"{part}: {wrong.partition(')')[0][:90]}"
            if wrong and key not in known:
                known.add(key)
                print(f"{part}: {wrong}\n    {data[:400]!r}", flush=True)
            if counts.total() % 1000 == 0:
                print(f"{counts.total():,} inputs so far", flush=True)
            if time.monotonic() > end:
                break
    print(f"{counts.total():,} inputs of {len(counts)} kinds, seed {seed},")
    print(f"{time.process_time():.0f} s of processor time; findings: {len(known)}")
    print("  " + ", ".join(f"{part} {count:,}" for part, count in sorted(counts.items())))
    return len(known)
