"""Fuzz shards: damaged files of every format, conditions, and what an earlier run left behind.

All that may come of a changed shard is a result or a `DataError` that names it. A folder of scores
that was damaged never changes a figure: what cannot be trusted in it is scored again.
"""

from __future__ import annotations

import gzip
import io
import json
import lzma
import random
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet
from zstandard import ZstdCompressor

from assay.scale.filters import Where
from assay.scale.shards import score_shards
from fuzz.texts import Finding, changed, run, trouble

METRICS = ("bleu", "chrf", "macrof")
ROWS = [
    {"src": "Ein Satz.", "mt": "A sentence.", "ref": "A sentence, one.", "origin": "web", "n": 1},
    {"src": "Zwei.", "mt": "Two.", "ref": "Two.", "origin": "books", "n": 2},
    {"src": "Grüße aus 北京!", "mt": "Greetings 😀!", "ref": "Greetings!", "origin": "web", "n": 3},
] * 3
CONDITIONS = [
    "chrf > 20",
    "chrf > 20 and not bleu <= 5",
    "(origin == 'web' or n >= 2) and macrof != 0",
    "5 < bleu and bleu < 90.5 or origin == 'it''s'",
]


def fuzz(seconds: float, seed: int) -> int:
    """Fuzz for so long; the number of different findings comes back."""
    return run(inputs, seconds, seed)


def inputs(folder: Path, seed: int) -> Iterator[Finding]:
    """Score one changed shard after the other, without end."""
    rng, files = random.Random(seed), seeds()
    parts: list[Callable[..., Finding]] = [_shard] * 4 + [_condition, _left_behind]
    while True:
        yield rng.choice(parts)(folder, rng, files)


def seeds() -> dict[str, bytes]:
    """A good shard of every format, plain and packed, by its file's name."""
    table, buffer, sink = pa.Table.from_pylist(ROWS), io.BytesIO(), pa.BufferOutputStream()
    parquet.write_table(table, buffer)
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    lines = [list(ROWS[0]), *(list(map(str, row.values())) for row in ROWS)]
    tabs = "".join("\t".join(cells) + "\n" for cells in lines).encode()
    commas = "".join(",".join(f'"{cell}"' for cell in cells) + "\n" for cells in lines).encode()
    objects = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
    return {
        "s.parquet": buffer.getvalue(),
        "s.arrow": sink.getvalue().to_pybytes(),
        "s.tsv": tabs,
        "s.csv": commas,
        "s.jsonl": objects,
        "s.tsv.gz": gzip.compress(tabs),
        "s.csv.xz": lzma.compress(commas),
        "s.jsonl.zst": ZstdCompressor().compress(objects),
    }


def _shard(folder: Path, rng: random.Random, files: dict[str, bytes]) -> Finding:
    """A changed shard, scored twice: the second time, figures come from what the first one left."""
    name = rng.choice(list(files))
    path, data = folder / name, changed(files[name], rng)
    path.write_bytes(data)
    where = rng.choice([None, *CONDITIONS])

    def score() -> None:
        out = folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        first, second = (_scored(path, out=out, where=where) for _ in range(2))
        assert first == second, "another score when it is read from the folder"

    # A condition on a column that is gone names the condition.
    return Finding(name, trouble(score, "" if where else name), data)


def _condition(folder: Path, rng: random.Random, files: dict[str, bytes]) -> Finding:
    data = changed(rng.choice(CONDITIONS).encode(), rng)
    text = data.decode("utf-8", "surrogateescape")
    return Finding("where", trouble(partial(_passing, text)), data)


def _passing(text: str) -> None:
    """The rows that pass a condition; names that nobody knows are refused before."""
    table = pa.Table.from_pylist(ROWS)
    scores = {metric: pa.array([10.0 * at for at in range(len(ROWS))]) for metric in METRICS}
    columns = {**{name: table[name] for name in table.column_names}, **scores}
    where = Where(text)
    where.check(list(columns))
    assert len(where.mask(columns)) == len(ROWS)


def _left_behind(folder: Path, rng: random.Random, files: dict[str, bytes]) -> Finding:
    """A good shard, whose scores of an earlier run were changed: the figures stay the same."""
    out, path = folder / "left", folder / "s.tsv"
    shutil.rmtree(out, ignore_errors=True)
    path.write_bytes(files["s.tsv"])
    expected = _scored(path, out=out)
    spoilt = rng.choice(sorted(file for file in out.rglob("*") if file.is_file()))
    data = changed(spoilt.read_bytes(), rng)
    spoilt.write_bytes(data)

    def score() -> None:
        assert _scored(path, out=out) == expected, f"another score from a changed {spoilt.name}"

    return Finding("left behind", trouble(score), data)


def _scored(path: Path, *, out: Path, where: str | None = None) -> list[dict[str, object]]:
    return score_shards(path, METRICS, out=out, where=where, workers=1).records()
