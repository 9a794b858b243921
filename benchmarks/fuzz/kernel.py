"""The kernel under the sanitizers of GCC, every function against a slow and obvious one.

    python benchmarks/fuzz.py kernel --minutes 5

It is built twice, once to notice bad addresses and undefined behaviour, once to notice races, and
gets the same kind of inputs each time: all code points, halves of surrogate pairs, NUL, blanks of
all sorts, empty and very long lines, many references, all options, several threads, and things that
are no segments at all. What comes back is compared with sacreBLEU, `rouge_score` or a few lines of
Python. An input is its seed and number: `python benchmarks/fuzz/kernel.py address --seed 1 --first
4711 --count 1` does one again.
"""

from __future__ import annotations

import argparse
import mmap
import os
import random
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "src/assay/demo"


class Sanitizer(NamedTuple):
    """Flags to build with, the library to load first, and its options."""

    flags: str
    library: str
    options: dict[str, str]


SANITIZERS = {
    "address": Sanitizer(
        "-fsanitize=address,undefined -fno-sanitize-recover=all",
        "libasan.so",
        # Python itself leaks at its end. Its own allocator would hide a string's borders.
        {"ASAN_OPTIONS": "detect_leaks=0", "PYTHONMALLOC": "malloc"},
    ),
    "thread": Sanitizer(
        "-fsanitize=thread",
        "libtsan.so",
        {"TSAN_OPTIONS": "halt_on_error=1:ignore_noninstrumented_modules=1"},
    ),
}


def fuzz(seconds: float, seed: int) -> int:
    """How many of the sanitizers found something."""
    return sum(_run(name, seconds / len(SANITIZERS), seed) for name in SANITIZERS)


def main() -> int:
    parser = argparse.ArgumentParser(description="One sanitizer, or one input once more.")
    parser.add_argument("sanitizer", choices=list(SANITIZERS))
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--count", type=int, default=0, help="so many inputs instead of minutes")
    parser.add_argument("--progress", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.progress:
        return _worker(options)
    seconds = 60 * options.minutes
    return _run(options.sanitizer, seconds, options.seed, options.first, options.count)


def _built(name: str) -> Path:
    """The extension with the sanitizer in it; built where the sources are newer."""
    folder = ROOT / "build/fuzz" / name
    sources = [ROOT / "CMakeLists.txt", *(ROOT / "src/assay/kernel").glob("*.?pp")]
    for path in folder.glob("_native.*"):
        if path.stat().st_mtime > max(source.stat().st_mtime for source in sources):
            return path
    print(f"{name}: building ...", flush=True)
    flags = f"{SANITIZERS[name].flags} -g -O1 -fno-omit-frame-pointer"
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    command += ["--wheel-dir", str(folder / "wheel"), str(ROOT), "-C", f"build-dir={folder}"]
    command += ["-C", "cmake.build-type=Debug", "-C", "install.strip=false"]
    subprocess.run([*command, "-C", f"cmake.define.CMAKE_CXX_FLAGS={flags}"], cwd=ROOT, check=True)
    (path,) = folder.glob("_native.*")
    return path


def _run(name: str, seconds: float, seed: int, first: int = 0, count: int = 0) -> int:
    """One process with that extension; 1 where it found something."""
    sanitizer = SANITIZERS[name]
    _built(name)
    # C++'s own library goes along: the sanitizer wants to see it throw from the start.
    libraries = " ".join(map(_library, (sanitizer.library, "libstdc++.so")))
    environment = {**os.environ, **sanitizer.options, "LD_PRELOAD": libraries}
    with tempfile.NamedTemporaryFile() as progress:
        progress.write(bytes(8))
        progress.flush()
        command = [sys.executable, str(Path(__file__)), name, "--progress", progress.name]
        command += ["--minutes", str(seconds / 60), "--seed", str(seed)]
        command += ["--first", str(first), "--count", str(count)]
        print(f"{name}:", flush=True)
        done = subprocess.run(command, env=environment, cwd=ROOT)
        (number,) = struct.unpack("q", Path(progress.name).read_bytes()[:8])
    if done.returncode != 0:
        again = f"python benchmarks/fuzz/kernel.py {name} --seed {seed} --first {number} --count 1"
        print(f"{name}: stopped with status {done.returncode}. Once more: {again}", flush=True)
    return int(done.returncode != 0)


def _library(name: str) -> str:
    command = ["gcc", f"-print-file-name={name}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _worker(options: argparse.Namespace) -> int:
    """Inputs until the time is over, each with its number in the file of progress.

    Minutes are of processor time: on a busy machine it takes longer, but not fewer inputs.
    """
    load_native(str(_built(options.sanitizer)))
    end = time.process_time() + 60 * options.minutes
    counts: Counter[str] = Counter()
    with Path(options.progress).open("r+b") as file, mmap.mmap(file.fileno(), 8) as place:
        number, last = options.first, options.first + options.count
        while number < last if options.count else time.process_time() < end:
            place[:] = struct.pack("q", number)
            counts[check_one(options.seed, number)] += 1
            number += 1
            if number % 1000 == 0:
                print(f"  {number - options.first:9,} inputs so far", flush=True)
    for name, count in sorted(counts.items()):
        print(f"  {count:9,} {name}")
    print(f"  {counts.total():9,} inputs", flush=True)
    return 0


def load_native(path: str) -> None:
    """Put this extension in the place of the installed one."""
    spec = spec_from_file_location("assay.kernel._native", path)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules[spec.name])


def check_one(seed: int, number: int) -> str:
    """The check of that number, on its input; an `AssertionError` where a result is wrong."""
    rng = random.Random(f"{seed} {number}")
    (check,) = rng.choices([*QUICK, *SLOW], [10] * len(QUICK) + [1] * len(SLOW))
    try:
        check(rng)
    except BaseException as error:
        error.add_note(f"{check.__name__}: --seed {seed} --first {number} --count 1")
        raise
    return check.__name__


ALPHABETS = (
    "ab ",
    "abc d\n",
    "ABCdefghij    .,-'\"",
    "0123456789.,-% a",
    " \t\n\r\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000\u200bab",
    "äöüßéñçÄÖÜ ab.,",
    "我们去了北京。 ，东京",
    "\x00\x01\x7f\x80\xff\u0100\ud7ff\ud800\udbff\udc00\udfff\ue000\uffff\U00010000\U0010ffff a",
    "👩‍👧🇩🇪é\u0301\u202e ab",
    "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ a1",
)
PIECES = ("&quot;", "&amp;", "&lt;", "&gt;", "<skipped>", "-\n", "ing", "ational", "s", " the ")
LENGTHS = (0, 1, 2, 3, 5, 8, 13, 20, 30, 50, 63, 64, 65, 90, 127, 128, 129, 200)


def text(rng: random.Random, longest: int = 200) -> str:
    """A line of some alphabet, of real words, or of any code points."""
    kind, length = rng.randrange(8), min(longest, rng.choice(LENGTHS))
    if kind == 0:
        return "".join(chr(rng.randrange(0x110000)) for _ in range(length))
    if kind == 1:
        return rng.choice(_lines())[: max(length, 20)]
    if kind == 2:
        letters = rng.choice(ALPHABETS)
        pieces = (
            rng.choice(PIECES) if rng.random() < 0.3 else rng.choice(letters) for _ in "x" * length
        )
        return "".join(pieces)[:longest]
    if kind == 3:
        words = [f"w{number}" for number in range(rng.choice((2, 5, 40)))]
        return " ".join(rng.choices(words, k=length // 3))
    return "".join(rng.choices(rng.choice(ALPHABETS), k=length))


def mutated(line: str, rng: random.Random) -> str:
    """The line with parts of it moved, lost, doubled, replaced."""
    letters = list(line)
    for _ in range(rng.choice((0, 1, 1, 2, 5, 12))):
        start = rng.randrange(len(letters) + 1)
        part = letters[start : start + rng.choice((1, 1, 3, 10))]
        if rng.random() < 0.7:
            del letters[start : start + len(part)]
        target = rng.randrange(len(letters) + 1)
        letters[target:target] = rng.choice((part, [], list(text(rng, 5))))
    return "".join(letters)


def segments(
    rng: random.Random, longest: int = 200, most: int = 4
) -> list[tuple[str, tuple[str, ...]]]:
    """A few segments, of which some share their references; now and then many."""
    found: list[tuple[str, tuple[str, ...]]] = []
    references: tuple[str, ...] = ()
    for _ in range(rng.choice((1, 1, 2, most))):
        if not references or rng.random() < 0.6:
            first = text(rng, longest)
            others = (mutated(first, rng) for _ in range(rng.choice((0, 0, 0, 1, 2, 9))))
            references = (first, *others)
        near = rng.random() < 0.7
        found.append(
            (mutated(rng.choice(references), rng) if near else text(rng, longest), references)
        )
    return found


@lru_cache
def _lines() -> list[str]:
    paths = [DEMO / "ref.A.txt", DEMO / "systems/atlas.txt"]
    return [line for path in paths for line in path.read_text("utf-8").splitlines()]


@lru_cache
def _kernel() -> Any:
    from assay import kernel

    return kernel


def _classes(tokenizer: str) -> bytes:
    from assay.text import prepare

    return prepare([], tokenizer).classes


@lru_cache
def _sacrebleus(tokenizer: str) -> Callable[[str], str]:
    from sacrebleu.metrics.bleu import _get_tokenizer

    # Past its cache, which would keep every line.
    split = _get_tokenizer(tokenizer)()
    inner = type(split).__call__
    plain = getattr(inner, "__wrapped__", inner)
    return lambda line: str(plain(split, line.rstrip()))


def _threads(rng: random.Random) -> int:
    return rng.choice((0, 1, 2, 5, -1))


TOKENIZERS = ("13a", "intl", "char", "none")


def tokenize(rng: random.Random) -> None:
    name = rng.choice(TOKENIZERS)
    lines = [text(rng) for _ in range(3)]
    found = _kernel().tokenize(lines, name, _classes(name))
    assert found == [_sacrebleus(name)(line).split() for line in lines], (name, lines)


def word_ngrams(rng: random.Random) -> None:
    given, name, order = segments(rng), rng.choice(TOKENIZERS), rng.choice((0, 1, 2, 4, 6, 255))
    found = _kernel().word_ngrams(given, name, _classes(name), order, _threads(rng))
    split = _sacrebleus(name)
    for row, (hypothesis, references) in zip(found, given, strict=True):
        words = split(hypothesis).split()
        others = [split(line).split() for line in references]
        nearest = min(map(len, others), key=lambda n: (abs(n - len(words)), n))
        slow = [len(words), nearest]
        slow += [_matched(words, others, n) for n in range(1, order + 1)]
        slow += [max(0, len(words) - n + 1) for n in range(1, order + 1)]
        assert row.tolist() == slow, (name, order, hypothesis, references)


def _matched(words: Sequence[Any], others: list[list[str]], order: int) -> int:
    most: Counter[tuple[Any, ...]] = Counter()
    for each in others:
        most |= _ngrams(each, order)
    return (_ngrams(words, order) & most).total()


def _ngrams(words: Sequence[Any], order: int) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(words[at : at + order]) for at in range(len(words) - order + 1))


def character_ngrams(rng: random.Random) -> None:
    from sacrebleu.metrics import CHRF

    given, blanks, eps = segments(rng, 90), rng.random() < 0.5, rng.random() < 0.5
    char_order, word_order, beta = rng.randrange(1, 7), rng.randrange(4), rng.choice((1, 2, 3))
    found = _kernel().character_ngrams(
        given, char_order, word_order, float(beta**2), blanks, eps, False, _threads(rng)
    )
    metric = CHRF(char_order, word_order, beta, whitespace=blanks, eps_smoothing=eps)
    for row, (hypothesis, references) in zip(found, given, strict=True):
        known = metric._extract_reference_info(list(references))
        slow = metric._compute_segment_statistics(hypothesis, known)
        assert row.tolist() == slow, (metric.get_signature(), hypothesis, references)


def shifted_edits(rng: random.Random) -> None:
    from sacrebleu.metrics.lib_ter import translation_edit_rate

    given = segments(rng, 120, 2)
    found = _kernel().shifted_edits(given, "none", b"", _threads(rng))
    for row, (hypothesis, references) in zip(found, given, strict=True):
        words, others = hypothesis.split(), [line.split() for line in references]
        slow = min(translation_edit_rate(words, each)[0] for each in others)
        assert row.tolist() == [slow, sum(map(len, others)) / len(others)], (hypothesis, references)


def edits(rng: random.Random) -> None:
    given, name = segments(rng), rng.choice(TOKENIZERS)
    found = _kernel().edits(given, name, _classes(name), _threads(rng))
    split = _sacrebleus(name)
    _check_edits(found, given, lambda line: split(line).split())


def character_edits(rng: random.Random) -> None:
    given, blanks = segments(rng), rng.random() < 0.5
    found = _kernel().character_edits(given, blanks, _threads(rng))
    _check_edits(found, given, list if blanks else lambda line: list("".join(line.split())))


def long_edits(rng: random.Random) -> None:
    """Beyond 256 positions, where only the part near the diagonal is gone through."""
    letters = rng.choice(("ab", "abcdefgh", "abcdefghijklmnopqrstuvwxyzäö猫"))
    reference = "".join(rng.choices(letters, k=rng.choice((255, 256, 257, 300, 600, 1500))))
    hypothesis = reference
    for _ in range(rng.choice((1, 3, 30))):
        hypothesis = mutated(hypothesis, rng)
    if rng.random() < 0.2:
        hypothesis = "".join(rng.choices(letters, k=rng.randrange(2000)))
    given = [(hypothesis, (reference,))]
    _check_edits(_kernel().character_edits(given, True), given, list)
    spaced = [(" ".join(hypothesis), (" ".join(reference),))]
    _check_edits(_kernel().edits(spaced, "none", b""), spaced, str.split)


def _check_edits(
    found: Any, given: list[tuple[str, tuple[str, ...]]], split: Callable[[str], list[str]]
) -> None:
    for row, (hypothesis, references) in zip(found, given, strict=True):
        others = [split(line) for line in references]
        slow = min(_distance(split(hypothesis), each) for each in others)
        assert row.tolist() == [slow, sum(map(len, others)) / len(others)], (hypothesis, references)


def _distance(one: list[str], other: list[str]) -> int:
    """The table of distances by anti-diagonals, so that NumPy does the work."""
    numbers: dict[str, int] = {}
    a, b = (np.array([numbers.setdefault(w, len(numbers)) for w in x], int) for x in (one, other))
    far = len(a) + len(b) + 1
    before, last = np.full(len(a) + 1, far), np.full(len(a) + 1, far)
    last[0] = 0
    for total in range(1, len(a) + len(b) + 1):
        now = np.full(len(a) + 1, far)
        low, high = max(0, total - len(b)), min(len(a), total)
        i = np.arange(low, high + 1)
        now[i] = last[i] + 1
        inner = i[i > 0]
        now[inner] = np.minimum(now[inner], last[inner - 1] + 1)
        both = inner[total - inner > 0]
        same = a[both - 1] == b[total - both - 1]
        now[both] = np.minimum(now[both], before[both - 1] + (1 - same))
        before, last = last, now
    return int(last[len(a)])


def rouge(rng: random.Random) -> None:
    kind = rng.choice(("1", "2", "3", "9", "L", "Lsum", "Lsum"))
    stem = rng.random() < 0.5
    given = [(h.lower(), tuple(map(str.lower, refs))) for h, refs in segments(rng, 90, 2)]
    order = int(kind) if kind.isdigit() else 0
    found = _kernel().rouge(given, order, kind == "Lsum", stem, _threads(rng))
    name = f"rouge{kind}"
    for row, (hypothesis, references) in zip(found, given, strict=True):
        slow = _rouge_scorer(name, stem).score_multi(references, hypothesis)[name]
        assert np.allclose(row, slow, rtol=0, atol=1e-12), (kind, stem, hypothesis, references)


@lru_cache
def _rouge_scorer(name: str, stem: bool) -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer([name], use_stemmer=stem)


def long_summaries(rng: random.Random) -> None:
    """Sentences of more than 64 words, of which rouge_score's subsequence is wanted."""
    words = [f"w{number}" for number in range(rng.choice((2, 4, 30, 300)))]
    texts = (
        "\n".join(
            " ".join(rng.choices(words, k=rng.choice((3, 60, 64, 70, 130, 300)))) for _ in "xy"
        )
        for _ in range(2)
    )
    hypothesis, reference = texts
    for kind in ("L", "Lsum"):
        found = _kernel().rouge([(hypothesis, (reference,))], 0, kind == "Lsum", False)
        slow = _rouge_scorer(f"rouge{kind}", False).score(reference, hypothesis)[f"rouge{kind}"]
        assert np.allclose(found[0], slow, rtol=0, atol=1e-12), (kind, hypothesis, reference)


def type_counts(rng: random.Random) -> None:
    given, name, characters = segments(rng, 90), rng.choice(TOKENIZERS), rng.random() < 0.3
    low = rng.randrange(1, 4)
    high = low + rng.randrange(3)
    starts, columns, counts, types = _kernel().type_counts(
        given, name, _classes(name), characters, low, high, _threads(rng)
    )
    assert types == sorted(set(types)), "types are in order"
    split = _sacrebleus(name)
    for at, (hypothesis, references) in enumerate(given):
        sides = [
            _types(split(line).split(), characters, low, high) for line in (hypothesis, *references)
        ]
        most: Counter[str] = Counter()
        for each in sides[1:]:
            most |= each
        slow = {
            kind: [sides[0][kind], most[kind], min(sides[0][kind], most[kind])]
            for kind in sides[0] | most
        }
        part = slice(starts[at], starts[at + 1])
        rows = counts[part].reshape(-1, 3).tolist()
        found = {types[c // 3]: row for c, row in zip(columns[part][::3], rows, strict=True)}
        assert found == slow, (name, characters, low, high, hypothesis, references)


def _types(words: list[str], characters: bool, low: int, high: int) -> Counter[str]:
    units: Sequence[str] = "".join(words) if characters else words
    between = "" if characters else " "
    return Counter(
        between.join(units[at : at + n])
        for n in range(low, high + 1)
        for at in range(len(units) - n + 1)
    )


def type_scores(rng: random.Random) -> None:
    """Sparse rows, good ones or spoilt: a mean of F scores, or a ValueError."""
    draws = np.random.default_rng(rng.randrange(2**32))
    rows, types, jobs = (int(draws.integers(0, n)) for n in (12, 9, 40))
    chosen = [np.flatnonzero(draws.random(types) < 0.5) for _ in range(rows)]
    starts = np.cumsum([0, *(3 * len(each) for each in chosen)]).astype(np.int64)
    columns = np.concatenate(
        [np.zeros(0, int), *((3 * c[:, None] + [0, 1, 2]).ravel() for c in chosen)]
    )
    columns = columns.astype(np.int32)
    counts = draws.integers(0, 5, len(columns)).astype(np.int32)
    weights = draws.integers(-1, 3, (jobs, rows)).astype(float)
    if rng.random() < 0.5:
        array = rng.choice((starts, columns))
        if len(array):
            array[rng.randrange(len(array))] = rng.choice((-1, 1, 2, 3, 10**6, 2**31 - 1))
    width = rng.choice((3 * types, 3 * types, 3 * types + 3, 1, 0))
    beta, by_frequency, k = rng.choice((0.0, 1.0, 4.0)), rng.random() < 0.5, rng.choice((0.0, 1.0))
    try:
        found = _kernel().type_scores(
            weights, starts, columns, counts, width, beta, by_frequency, k, _threads(rng)
        )
    except ValueError:
        return
    dense = np.zeros((rows, width))
    for at in range(rows):
        for place in range(int(starts[at]), int(starts[at + 1]), 3):
            first = int(columns[place])
            dense[at, first : first + 3] += counts[place : place + 3]
    sums = weights @ dense
    with np.errstate(all="ignore"):
        predicted, wanted, matched = sums[:, 0::3], sums[:, 1::3], sums[:, 2::3]
        used = (predicted > 0) | (wanted > 0)
        weight = np.where(used, wanted + k if by_frequency else 1.0, 0.0)
        values = np.where(used, (1 + beta) * matched / (beta * wanted + predicted), 0.0)
        above = np.where(used, weight * values, 0.0).sum(axis=1)
        below = weight.sum(axis=1)
        slow = np.where(below == 0, 0.0, above / below)
    assert np.allclose(found, slow, rtol=1e-9, atol=1e-12, equal_nan=True), (found, slow)


def masked(rng: random.Random) -> None:
    words = tuple(text(rng, 8) for _ in range(rng.randrange(6)))
    keep = np.random.default_rng(rng.randrange(2**32)).random((3, len(words))) < 0.5
    mask = text(rng, 3)
    slow = [" ".join(w if k else mask for w, k in zip(words, row, strict=True)) for row in keep]
    assert _kernel().masked(words, keep, mask) == slow, (words, keep, mask)


def long_lines(rng: random.Random) -> None:
    """Very long lines, too long for slow versions: every function takes them, and says the same."""
    line = text(rng) * rng.choice((100, 500))
    given = [(mutated(line, rng), (line, text(rng)))] * rng.choice((1, 40))
    for call in _calls(rng):
        once, again = call(given, 1), call(given, 4)
        assert _plain(once) == _plain(again), given[0]


def many_threads(rng: random.Random) -> None:
    """Many segments on several threads, for several callers at once: always the same."""
    given = [pair for _ in range(rng.choice((40, 80))) for pair in segments(rng, 60, 2)]
    call = rng.choice(_calls(rng))
    expected = _plain(call(given, 1))
    with ThreadPoolExecutor(3) as pool:
        for found in pool.map(lambda threads: _plain(call(given, threads)), (2, 4, 5)):
            assert found == expected, given


def _calls(rng: random.Random) -> list[Callable[[Any, int], Any]]:
    kernel, name, stem = _kernel(), rng.choice(TOKENIZERS), rng.random() < 0.5
    classes = _classes(name)
    return [
        lambda given, threads: kernel.word_ngrams(given, name, classes, 4, threads),
        lambda given, threads: kernel.character_ngrams(given, 6, 2, 4.0, stem, stem, stem, threads),
        lambda given, threads: kernel.shifted_edits(
            [(h[:400], tuple(r[:400] for r in refs)) for h, refs in given], name, classes, threads
        ),
        lambda given, threads: kernel.edits(given, name, classes, threads),
        lambda given, threads: kernel.character_edits(given, stem, threads),
        lambda given, threads: kernel.rouge(given, 0, False, stem, threads),
        lambda given, threads: kernel.rouge(given, 0, True, stem, threads),
        lambda given, threads: kernel.rouge(given, 2, False, stem, threads),
        lambda given, threads: kernel.type_counts(given, name, classes, stem, 1, 3, threads),
    ]


def _plain(result: Any) -> Any:
    if isinstance(result, tuple):
        return [_plain(part) for part in result]
    return result.tolist() if isinstance(result, np.ndarray) else result


def no_segments(rng: random.Random) -> None:
    """What is no list of segments is a TypeError or a ValueError, or nothing happens."""
    given: Any = _anything(rng, 4)
    if rng.random() < 0.5:
        given = [*segments(rng, 20), given, *segments(rng, 20)]
    for call in _calls(rng)[:2] + _calls(rng)[3:]:
        try:
            call(given, _threads(rng))
        except (TypeError, ValueError):
            continue


def _anything(rng: random.Random, depth: int) -> Any:
    leaves: list[Any] = [None, 7, -1, 2**70, 1.5, "", "a b", "\ud800", b"ab", (), [], {}, object()]
    if depth == 0 or rng.random() < 0.3:
        return rng.choice(leaves)
    inner = [_anything(rng, depth - 1) for _ in range(rng.randrange(4))]
    return rng.choice((inner, tuple(inner), ("a", tuple(inner)), [("a", tuple(inner))]))


def no_options(rng: random.Random) -> None:
    """Options that make no sense: an exception, or a result; never a crash."""
    kernel, given = _kernel(), segments(rng, 30)
    numbers = (0, 1, -1, 255, 256, 2**31, 2**63, None, "4", 1.5)
    names = (*TOKENIZERS, "", "13A", "zh\x00", "ü")
    order = rng.choice(numbers)
    calls: list[Callable[[], Any]] = [
        lambda: kernel.word_ngrams(given, rng.choice(names), bytes(rng.randrange(300)), order),
        lambda: kernel.character_ngrams(given, order, rng.choice(numbers), 4.0, True, True, False),
        lambda: kernel.rouge(given, order, rng.random() < 0.5, True),
        lambda: kernel.type_counts(given, rng.choice(names), b"", True, order, rng.choice((0, 3))),
        lambda: kernel.edits(given, rng.choice(names), b"\x01", order),
        lambda: kernel.character_edits(given, order, rng.choice((1, 10**6, -(2**31)))),
        lambda: kernel.tokenize(
            [given[0][0]], "intl", bytes(rng.choice((0, 1, 2, 4, 99)) for _ in "x" * 200)
        ),
    ]
    for call in calls:
        try:
            call()
        except (TypeError, ValueError):
            continue


def on_arrays(rng: random.Random) -> None:
    """The functions on arrays and on lists of texts."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    from fuzz import arrays

    check = rng.choice((arrays.windows, arrays.concordance, arrays.swapped_types))
    on_texts = rng.choice((arrays.pairs_of_texts, arrays.counted_lines))
    check(rng, _kernel())
    on_texts(rng, _kernel(), text)


QUICK: tuple[Callable[[random.Random], None], ...] = (
    *(tokenize, word_ngrams, character_ngrams, shifted_edits, edits, character_edits, rouge),
    *(type_counts, type_scores, masked, no_segments, no_options, on_arrays),
)
SLOW: tuple[Callable[[random.Random], None], ...] = (
    *(long_edits, long_summaries, long_lines, many_threads),
)


if __name__ == "__main__":
    sys.exit(main())
