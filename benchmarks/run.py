"""Ratios against sacreBLEU and other peers, measured in one run on one machine: `make bench`.

Reads newstest2021 de-en from the folder that ASSAY_DATA names (default: ../shared/data beside the
project) or, where there is none, the demo data repeated. Everything goes through the public
functions that users call, from lists of strings to finished scores. sacreBLEU is cold: it keeps
tokenized lines between calls, so its caches are emptied before every run, and every run has a fresh
metric; unless it is said, references are prepared once. Times are the least of a few runs on both
sides; slow peers are run on a part of the systems and scaled up, which is said. A peer that is not
installed is left out, which is said as well: pip install 'assay-mt[bench]'.

With --cpu times are of the processor, of all threads together: steadier on a machine that has other
work, and without what a second core gains.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import sacrebleu
from sacrebleu.significance import PairedTest

import assay
from assay.data import Dataset, Segments
from assay.io import read_folder
from assay.metrics.base import parse, system_statistics
from assay.scoring import ScoreOptions, score_dataset

PROJECT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("ASSAY_DATA", PROJECT.parent / "shared" / "data"))
PEERS = {"bleu": sacrebleu.BLEU, "chrf": sacrebleu.CHRF, "ter": sacrebleu.TER}
FUNCTIONS = {"bleu": sacrebleu.corpus_bleu, "chrf": sacrebleu.corpus_chrf}
CLOCK = time.process_time if "--cpu" in sys.argv else time.perf_counter
WANTED = {"bleu": 80, "chrf": 30, "ter": 100, "leave-one-out": 500, "paired-bs": 20}


def main() -> None:
    dataset = _one_reference(_dataset())
    print(
        f"{dataset.name}: {len(dataset.systems)} systems x {len(dataset)} segments, one reference"
    )
    print(f"{os.cpu_count()} cores; sacreBLEU {sacrebleu.__version__}, cold, one process")
    print("processor time of all threads\n" if CLOCK is time.process_time else "")
    print(f"{'':34}{'sacreBLEU':>11}{'assay':>11}{'ratio':>9}{'wanted':>8}")
    for name in PEERS:
        _compare_scoring(dataset, name)
    for name in FUNCTIONS:
        _compare_functions(dataset, name)
    _compare_leave_one_out(dataset)
    _compare_paired_bootstrap(dataset)
    _print_one_by_one(dataset)
    _print_others(dataset)
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
        start = CLOCK()
        function()
        found.append(CLOCK() - start)
    return min(found)


def _row(name: str, theirs: float, ours: float, wanted: int, note: str = "") -> None:
    print(f"{name:34}{theirs:>10.2f}s{ours:>10.4f}s{theirs / ours:>8.0f}x{wanted:>7}x  {note}")


def _lists(dataset: Dataset) -> tuple[dict[str, list[str]], list[str]]:
    """Outputs and references as people have them."""
    systems = {name: list(lines) for name, lines in dataset.systems.items()}
    return systems, [references[0] for references in dataset.references]


def _compare_scoring(dataset: Dataset, name: str) -> None:
    """From strings to the corpus score of every system; references once for both."""
    systems, references = _lists(dataset)
    part = list(systems.values())[: 3 if name == "ter" else None]
    theirs = _least(lambda: _sacrebleu_scores(name, part, [references]), 1 if name == "ter" else 3)
    theirs *= len(systems) / len(part)
    ours = _least(lambda: assay.score(systems, [references], [name]), 15)
    note = "theirs scaled up from 3 systems" if len(part) < len(systems) else ""
    _row(f"{name}, all systems", theirs, ours, WANTED[name], note)


def _compare_functions(dataset: Dataset, name: str) -> None:
    """The functions that most people call, once for every system: references each time anew."""
    systems, references = _lists(dataset)

    def theirs() -> None:
        _forget_lines()
        for lines in systems.values():
            FUNCTIONS[name](lines, [references])

    ours = partial(_score_each, name, systems, references)
    _row(f"{name}, a call for each system", _least(theirs, 2), _least(ours, 10), WANTED[name],
         f"sacrebleu.corpus_{name} | corpus_score")  # fmt: skip


def _print_one_by_one(dataset: Dataset) -> None:
    """One call for each system, beside one call for all."""
    systems, references = _lists(dataset)
    print("\ncorpus_score for each system, beside assay.score of all (wanted: at most 1.5x)")
    for name in ("bleu", "chrf"):
        one_by_one = partial(_score_each, name, systems, references)
        together = partial(assay.score, systems, [references], [name])
        # In turn, so that both have the machine in the same mood.
        times = np.array([[_least(one_by_one, 1), _least(together, 1)] for _ in range(15)])
        each, batch = times.min(axis=0)
        print(f"  {name:32}{1e3 * each:>10.1f} ms{1e3 * batch:>10.1f} ms{each / batch:>8.2f}x")


def _score_each(name: str, systems: dict[str, list[str]], references: list[str]) -> None:
    metric = parse(name)
    for lines in systems.values():
        metric.corpus_score(lines, [references])


def _print_others(dataset: Dataset) -> None:
    """Other fast peers, each at what it does best."""
    systems, references = _lists(dataset)
    texts = [list(lines) for lines in zip(*list(systems.values()), strict=True)][:50]
    score = partial(assay.score, systems, [references])

    def bleu(bleuscore: Any) -> None:
        for lines in systems.values():
            bleuscore.compute([[line] for line in references], lines)

    def chrf(fastchrf: Any) -> None:
        fastchrf.pairwise_chrf(texts, texts)

    def rouge(rouge_score_rs: Any) -> None:
        scorer = rouge_score_rs.RougeScorer(["rougeL"])
        for lines in systems.values():
            scorer.score_batch(references, lines)

    def edits(rapidfuzz: Any) -> None:
        distance = import_module("rapidfuzz.distance.Levenshtein").distance
        process = import_module("rapidfuzz.process")
        for lines in systems.values():
            process.cpdist(lines, references, scorer=distance, workers=-1)

    size = f"{len(texts)} x {len(texts[0])} x {len(texts[0])}"
    jobs: list[tuple[str, str, Callable[[Any], None], Callable[[], object], str]] = [
        ("bleuscore", "bleuscore", bleu, lambda: score(["bleu"]), "BLEU of all systems"),
        ("fastchrf", "fastchrf", chrf, lambda: assay.pairwise(texts), f"chrF, pairs of {size}"),
        ("rouge-score-rs", "rouge_score_rs", rouge, lambda: score(["rougeL"]), "ROUGE-L"),
        ("rapidfuzz", "rapidfuzz", edits, lambda: score(["cer"]), "edits of characters (CER)"),
    ]
    print(f"\n{'others':26}{'theirs':>12}{'assay':>12}{'ratio':>9}")
    for package, module, theirs, ours, what in jobs:
        try:
            peer = import_module(module)
        except ImportError:
            print(f"  {package:24}not installed: pip install 'assay-mt[bench]'")
            continue
        times = _least(partial(theirs, peer), 5), _least(ours, 10)
        print(f"  {package + ' ' + version(package):24}{1e3 * times[0]:>9.1f} ms"
              f"{1e3 * times[1]:>9.1f} ms{times[0] / times[1]:>8.1f}x  {what}")  # fmt: skip


def _sacrebleu_scores(name: str, systems, references) -> list[float]:
    _forget_lines()
    metric = PEERS[name](references=references)
    return [metric.corpus_score(lines, None).score for lines in systems]


def _forget_lines() -> None:
    """Empty all of sacreBLEU's caches of tokenized lines, so that every run does the work."""
    for name, module in list(sys.modules.items()):
        if not name.startswith("sacrebleu."):
            continue
        for kind in [each for each in vars(module).values() if isinstance(each, type)]:
            for method in vars(kind).values():
                if hasattr(method, "cache_clear"):
                    method.cache_clear()


def _compare_leave_one_out(dataset: Dataset) -> None:
    """Naive: score the corpus again without each segment, from sacreBLEU's own statistics."""
    name, lines = next(iter(dataset.systems.items()))
    references = [refs[0] for refs in dataset.references]
    metric = sacrebleu.BLEU()
    sample = range(0, len(lines), max(1, len(lines) // 5))

    def naive():
        _forget_lines()
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
        _forget_lines()
        PairedTest(named, {"BLEU": sacrebleu.BLEU()}, references, test_type="bs", n_samples=1000)()

    asked = ScoreOptions(test="bootstrap")
    ours = _least(lambda: score_dataset(dataset, [parse("bleu")], options=asked), 3)
    _row("bleu --paired-bs, all systems", _least(theirs, 1), ours, WANTED["paired-bs"])


def _print_profile(dataset: Dataset) -> None:
    """Where our time goes: what is left to the limit."""
    from assay import kernel

    segments = dataset.all_segments()
    nothing = Segments(
        tuple(("",) * len(dataset) for _ in dataset.systems), (("",),) * len(dataset)
    )
    steps = {
        "kernel: view strings": lambda: kernel.word_ngrams(nothing, "none", b"", 1, 1),
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
