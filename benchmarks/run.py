"""Ratios against sacreBLEU, measured in one run on one machine: `make bench`.

Reads newstest2021 de-en from the folder that ASSAY_DATA names (default: ../shared/data beside the
project) or, where there is none, the demo data repeated. Every peer runs its fastest way: one
process, references prepared once. Times are the least of a few runs; slow peers are run on a part
of the systems and scaled up, which is said.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import sacrebleu
from sacrebleu.significance import PairedTest

from assay.data import Dataset
from assay.io import read_folder
from assay.metrics.base import parse, system_statistics
from assay.scoring import ScoreOptions, score_dataset

PROJECT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("ASSAY_DATA", PROJECT.parent / "shared" / "data"))
PEERS = {"bleu": sacrebleu.BLEU, "chrf": sacrebleu.CHRF, "ter": sacrebleu.TER}
WANTED = {"bleu": 50, "chrf": 30, "ter": 100, "leave-one-out": 500, "paired-bs": 20}


def main() -> None:
    dataset = _one_reference(_dataset())
    print(
        f"{dataset.name}: {len(dataset.systems)} systems x {len(dataset)} segments, one reference"
    )
    print(f"{os.cpu_count()} cores; sacreBLEU {sacrebleu.__version__}, one process each\n")
    print(f"{'':34}{'sacreBLEU':>11}{'assay':>11}{'ratio':>9}{'wanted':>8}")
    for name in PEERS:
        _compare_scoring(dataset, name)
    _compare_leave_one_out(dataset)
    _compare_paired_bootstrap(dataset)
    _print_profile(dataset)
    _print_growth()


def _dataset() -> Dataset:
    folder = DATA / "wmt21" / "de-en"
    if folder.is_dir():
        return read_folder(folder, "de-en", references=["all"])
    demo = read_folder(PROJECT / "src" / "assay" / "demo", "de-en", references=["all"])
    return _repeated(demo, 1000)


def _one_reference(dataset: Dataset) -> Dataset:
    return Dataset(
        dataset.systems, tuple(refs[:1] for refs in dataset.references), name=dataset.name
    )


def _repeated(dataset: Dataset, length: int) -> Dataset:
    """The same segments again and again, with references that are not shared."""
    times = -(-length // len(dataset))

    def again(lines):
        return tuple((lines * times)[:length])

    systems = {name: again(lines) for name, lines in dataset.systems.items()}
    references = tuple((r[0],) for r in again(dataset.references))
    return Dataset(systems, references, name=dataset.name)


def _least(function: Callable[[], object], times: int = 5) -> float:
    found = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        found.append(time.perf_counter() - start)
    return min(found)


def _row(name: str, theirs: float, ours: float, wanted: int, note: str = "") -> None:
    print(f"{name:34}{theirs:>10.2f}s{ours:>10.4f}s{theirs / ours:>8.0f}x{wanted:>7}x  {note}")


def _compare_scoring(dataset: Dataset, name: str) -> None:
    """From strings to the corpus score of every system."""
    references = [[refs[0] for refs in dataset.references]]
    systems = list(dataset.systems.values())
    part = systems[:3] if name == "ter" else systems
    theirs = _least(lambda: _sacrebleu_scores(name, part, references), 1 if name == "ter" else 3)
    theirs *= len(systems) / len(part)
    ours = _least(lambda: score_dataset(dataset, [parse(name)]))
    note = "theirs scaled up from 3 systems" if part != systems else ""
    _row(f"{name}, all systems", theirs, ours, WANTED[name], note)


def _sacrebleu_scores(name: str, systems, references) -> list[float]:
    for module in ("tokenizer_13a.Tokenizer13a", "tokenizer_re.TokenizerRegexp"):
        _forget(module)
    metric = PEERS[name](references=references)
    return [metric.corpus_score(lines, None).score for lines in systems]


def _forget(name: str) -> None:
    """Empty sacreBLEU's cache of tokenized lines, so that every run does the work."""
    from importlib import import_module

    module, _, kind = name.partition(".")
    getattr(import_module(f"sacrebleu.tokenizers.{module}"), kind).__call__.cache_clear()


def _compare_leave_one_out(dataset: Dataset) -> None:
    """Naive: score the corpus again without each segment, from sacreBLEU's own statistics."""
    name, lines = next(iter(dataset.systems.items()))
    references = [refs[0] for refs in dataset.references]
    metric = sacrebleu.BLEU()
    sample = range(0, len(lines), max(1, len(lines) // 5))

    def naive():
        for at in sample:
            rest = list(lines[:at] + lines[at + 1 :])
            metric.corpus_score(rest, [references[:at] + references[at + 1 :]])

    theirs = _least(naive, 1) * len(lines) / len(sample)
    one = Dataset({name: lines}, dataset.references)
    ours = _least(lambda: system_statistics(one, parse("bleu"))[0].without_each())
    _row("bleu, leaving each segment out", theirs, ours, WANTED["leave-one-out"],
         f"theirs scaled up from {len(sample)} of {len(lines)} segments")  # fmt: skip


def _compare_paired_bootstrap(dataset: Dataset) -> None:
    references = [[refs[0] for refs in dataset.references]]
    named = [(name, list(lines)) for name, lines in dataset.systems.items()]

    def theirs():
        _forget("tokenizer_13a.Tokenizer13a")
        PairedTest(named, {"BLEU": sacrebleu.BLEU()}, references, test_type="bs", n_samples=1000)()

    asked = ScoreOptions(test="bootstrap")
    ours = _least(lambda: score_dataset(dataset, [parse("bleu")], options=asked), 3)
    _row("bleu --paired-bs, all systems", _least(theirs, 1), ours, WANTED["paired-bs"])


def _print_profile(dataset: Dataset) -> None:
    """Where our time goes: what is left to the limit."""
    from assay import kernel

    segments = dataset.all_segments()
    steps = {
        "segments from lines (Python)": dataset.all_segments,
        "kernel: group and view strings": lambda: kernel.word_ngrams(
            [("", *s[1:]) for s in segments], "none", b"", 1, 1
        ),
        "kernel: split at blanks, 1 thread": lambda: kernel.word_ngrams(
            segments, "none", b"", 1, 1
        ),
        "kernel: 13a and 4-grams, 1 thread": lambda: kernel.word_ngrams(segments, "13a", b"", 4, 1),
        "kernel: 13a and 4-grams, all cores": lambda: kernel.word_ngrams(segments, "13a", b"", 4),
        "kernel: 6 characters, 1 thread": lambda: kernel.character_ngrams(
            segments, 6, 0, 4.0, False, False, False, 1
        ),
        "kernel: 6 characters, all cores": lambda: kernel.character_ngrams(
            segments, 6, 0, 4.0, False, False, False
        ),
        "kernel: TER, 1 thread": lambda: kernel.shifted_edits(segments, "none", b"", 1),
        "aggregate all systems (NumPy)": lambda: parse("bleu").aggregate(np.ones((19, 10))),
    }
    print("\nwhere the time goes")
    for name, step in steps.items():
        print(f"  {name:38}{1000 * _least(step):>9.2f} ms")


def _print_growth() -> None:
    """Time and memory by the number of segments, each in a process of its own."""
    print("\none system, bleu + chrf + macrof, by the number of segments")
    print(
        f"  {'segments':>10}{'seconds':>10}{'us/segment':>12}{'MB more':>10}{'bytes/segment':>15}"
    )
    for length in (1_000, 10_000, 100_000, 1_000_000):
        command = [sys.executable, __file__, "--grow", str(length)]
        print(subprocess.run(command, check=True, capture_output=True, text=True).stdout, end="")


def _grow(length: int) -> None:
    """Memory is what scoring adds to the texts themselves."""
    full = _one_reference(_dataset())
    name, lines = next(iter(full.systems.items()))
    dataset = _repeated(Dataset({name: lines}, full.references), length)
    metrics = [parse(each) for each in ("bleu", "chrf", "macrof")]
    score_dataset(_repeated(dataset, 100), metrics)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    score_dataset(dataset, metrics)
    seconds = time.perf_counter() - start
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    each = 1e6 * seconds / length, more * 2**20 / length
    print(f"  {length:>10,}{seconds:>10.2f}{each[0]:>12.1f}{more:>10.1f}{each[1]:>15.0f}")


if __name__ == "__main__":
    if "--grow" in sys.argv:
        _grow(int(sys.argv[-1]))
    else:
        main()
