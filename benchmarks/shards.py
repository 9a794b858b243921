"""A corpus in 40 Parquet shards, scored in constant memory: `make bench`, or by itself.

    python benchmarks/shards.py                       200,000 segments
    python benchmarks/shards.py --segments 10000000   ten million: needs 3 GB of disk

Segments are the outputs of newstest2021 de-en in the folder that ASSAY_DATA names (default:
../shared/data beside the project), or the demo data, again and again with noise: words dropped,
swapped, replaced and misspelt. Shards and scores stay in the folder, so that the same
command goes on where it was interrupted; rates are of what was scored in this run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from string import ascii_lowercase

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import sacrebleu

import assay
from assay.io import read_folder

PROJECT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("ASSAY_DATA", PROJECT.parent / "shared" / "data"))
METRICS = ["bleu", "chrf", "macrof"]
SHARDS = 40
PART = 100_000
"""Segments for the comparison of workers, about, unless --compare all."""

NEW = 0.1
"""The share of replaced words that are new, so that types grow as in real corpora: ten million
segments have about a million."""

SLICE = 4_000
"""Segments for sacreBLEU."""


def main() -> None:
    args = _arguments()
    if args.child:
        print(json.dumps(_score(args.folder, args.child, args.workers)))
        return
    folder = args.folder / str(args.segments)
    shards = _write_shards(folder, args.segments)
    text = sum(_text_size(shard) for shard in shards) / 1e6
    disk = sum(shard.stat().st_size for shard in shards) / 1e6
    print(
        f"{args.segments:,} segments in {SHARDS} Parquet shards: {text:,.0f} MB of text, ", end=""
    )
    print(f"{disk:,.0f} MB on disk; {os.cpu_count()} cores; {', '.join(METRICS)}\n")
    whole = _measured(folder, "*.parquet", folder / "scores")
    _print_run("all shards, a worker per core", whole, text * whole["new"] / args.segments)
    _print_words(folder, shards)
    _print_sacrebleu(shards[0])
    _compare(folder, shards, everything=args.compare == "all", segments=args.segments)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--segments", type=int, default=200_000)
    add("--folder", type=Path, default=Path(tempfile.gettempdir()) / "assay-shards")
    add("--compare", choices=("part", "all"), default="part", help="shards for 1, 2, 8 workers")
    add("--child", help=argparse.SUPPRESS)
    add("--workers", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


def _write_shards(folder: Path, segments: int) -> list[Path]:
    """The shards, of which those that are there stay as they are."""
    folder.mkdir(parents=True, exist_ok=True)
    pairs = _pairs()
    paths = [folder / f"part-{number:02}.parquet" for number in range(SHARDS)]
    for number, path in enumerate(paths):
        if not path.exists():
            size = segments * (number + 1) // SHARDS - segments * number // SHARDS
            _write_shard(path, _noisy(pairs, size, random.Random(number)))
    return paths


def _pairs() -> list[tuple[str, str]]:
    folder = DATA / "wmt21" / "de-en"
    folder = folder if folder.is_dir() else PROJECT / "src" / "assay" / "demo"
    data = read_folder(folder, "de-en")
    return [
        (line, references[0])
        for lines in data.systems.values()
        for line, references in zip(lines, data.references, strict=True)
    ]


def _noisy(
    pairs: list[tuple[str, str]], count: int, rng: random.Random
) -> Iterator[tuple[str, str]]:
    words = [word for pair in rng.sample(pairs, 200) for word in pair[0].split()]
    for _ in range(count):
        hypothesis, reference = rng.choice(pairs)
        yield _changed(hypothesis, words, rng), _changed(reference, words, rng)


def _changed(line: str, words: list[str], rng: random.Random) -> str:
    found = line.split()
    for _ in range(rng.randrange(4)):
        if len(found) > 2:
            at = rng.randrange(len(found) - 1)
            match rng.randrange(3):
                case 0:
                    del found[at]
                case 1:
                    found[at], found[at + 1] = found[at + 1], found[at]
                case _ if rng.random() < NEW:
                    found[at] += "".join(rng.choices(ascii_lowercase, k=3))
                case _:
                    found[at] = rng.choice(words)
    return " ".join(found)


def _write_shard(path: Path, pairs: Iterator[tuple[str, str]]) -> None:
    temporary = path.with_suffix(".tmp")
    schema = pa.schema([("mt", pa.string()), ("ref", pa.string())])
    with pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
        while block := list(islice(pairs, 50_000)):
            writer.write_table(pa.table(list(map(list, zip(*block, strict=True))), schema=schema))
    temporary.rename(path)


def _text_size(path: Path) -> int:
    """Bytes of text, with a line break for each."""
    file = pq.ParquetFile(path)
    batches = file.iter_batches()
    return sum(pc.sum(pc.binary_length(c)).as_py() + len(c) for b in batches for c in b)


def _score(folder: Path, pattern: str, workers: int | None) -> dict[str, object]:
    """In a process of its own: figures, time and memory."""
    start, out = time.perf_counter(), os.environ.get("ASSAY_OUT") or None
    result = assay.score_shards(str(folder / pattern), METRICS, out=out, workers=workers)
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "scores": [record["score"] for record in result.records()],
        "segments": result.segments,
        "new": sum(outcome.segments for outcome in result.shards if outcome.reason),
        "seconds": time.perf_counter() - start,
        "processor": used.ru_utime + used.ru_stime,
        "memory": _peak_memory(used.ru_maxrss),
    }


def _peak_memory(kilobytes: int) -> float:
    """Megabytes of this process; what `getrusage` says counts the one that started it, too."""
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = [each for each in status.read_text().splitlines() if each.startswith("VmHWM")]
        kilobytes = int(line.split()[1])
    return kilobytes / 1024


def _measured(folder: Path, pattern: str, out: Path | None = None, workers: int | None = None):
    command = [sys.executable, __file__, "--folder", str(folder), "--child", pattern]
    command += ["--workers", str(workers)] if workers else []
    environment = os.environ | {"ASSAY_OUT": str(out or "")}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def _print_run(label: str, run, text: float) -> None:
    scores = ", ".join(
        f"{name} {score:.4f}" for name, score in zip(METRICS, run["scores"], strict=True)
    )
    print(f"{label}: {scores}")
    if not run["new"]:
        print(f"  all scored by an earlier run; merged in {run['seconds']:.1f} s\n")
        return
    rate, own = run["new"] / run["seconds"], run["new"] / run["processor"]
    print(f"  {run['new']:,} segments in {run['seconds']:.1f} s: {rate:,.0f} segments/s")
    print(f"  per core (processor time {run['processor']:.1f} s): {own:,.0f} segments/s, ", end="")
    print(f"{text / run['processor']:.1f} MB/s of text")
    print(f"  peak memory {run['memory']:,.0f} MB (wanted: under 2,000)\n")


def _print_words(folder: Path, shards: list[Path]) -> None:
    """What counting lines, words and bytes takes, by `wc` and by Python."""
    plain = folder / "some.txt"
    count = 1 + 50 * 10**6 // max(1, _text_size(shards[0]))
    columns = [column for shard in shards[:count] for column in pq.read_table(shard).columns]
    lines = [line for column in columns for line in column.to_pylist()]
    plain.write_text("\n".join(lines) + "\n", "utf-8")
    size = plain.stat().st_size / 1e6
    environment = os.environ | {"LC_ALL": "C.UTF-8"}
    before = _processor_of_children()
    subprocess.run(["wc", str(plain)], stdout=subprocess.DEVNULL, check=True, env=environment)
    by_wc = _processor_of_children() - before
    start = time.process_time()
    sum(len(line.split()) for line in lines)
    by_python = time.process_time() - start
    plain.unlink()
    print(f"wc over {size:,.1f} MB of it: {size / by_wc:,.0f} MB/s per core; ", end="")
    print(f"words by str.split: {size / by_python:,.0f} MB/s")


def _processor_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _print_sacrebleu(shard: Path) -> None:
    table = pq.read_table(shard).slice(0, SLICE)
    hypotheses, references = (table[name].to_pylist() for name in ("mt", "ref"))
    for metric in (sacrebleu.BLEU(), sacrebleu.CHRF()):
        start = time.process_time()
        metric.corpus_score(hypotheses, [references])
        seconds = time.process_time() - start
        rate = f"{len(table) / seconds:,.0f} segments/s on {len(table):,}"
        print(f"sacreBLEU's {type(metric).__name__}: {rate}, cold, one core")
    print()


def _compare(folder: Path, shards: list[Path], *, everything: bool, segments: int) -> None:
    """The same figures for 1, 2 and 8 workers, for one file, and for texts in memory."""
    count = SHARDS if everything else max(2, min(SHARDS, PART * SHARDS // segments))
    part = folder / f"first-{count}"
    part.mkdir(exist_ok=True)
    for shard in shards[:count]:
        link = part / shard.name
        if not link.exists():
            link.symlink_to(shard)
    runs = {f"{n} workers": _measured(part, "part-*.parquet", workers=n) for n in (1, 2, 8)}
    whole = part / "whole.parquet"
    if not whole.exists():
        temporary = whole.with_suffix(".tmp")
        with pq.ParquetWriter(temporary, pq.read_schema(shards[0]), compression="zstd") as writer:
            for shard in shards[:count]:
                writer.write_table(pq.read_table(shard))
        temporary.rename(whole)
    runs["one file"] = _measured(part, "whole.parquet")
    figures = {label: run["scores"] for label, run in runs.items()}
    if not everything:
        table = pq.read_table(whole)
        lines, references = (table[name].to_pylist() for name in ("mt", "ref"))
        records = assay.score({"mt": lines}, [references], METRICS).records()
        figures["in memory, by assay.score"] = [record["score"] for record in records]
    print(f"the first {count} shards, {runs['one file']['segments']:,} segments:")
    for label, scores in figures.items():
        run = runs.get(label)
        more = f"  {run['seconds']:6.1f} s  {run['memory']:6,.0f} MB" if run else ""
        print(f"  {label:26}{more or ' ' * 20}  {' '.join(map(repr, scores))}")
    same = len({tuple(scores) for scores in figures.values()}) == 1
    print("  equal to the last bit" if same else "  NOT EQUAL")
    if not same:
        sys.exit(1)


if __name__ == "__main__":
    main()
