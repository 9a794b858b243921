"""Runs that are killed go on where they were: nothing is lost, nothing is done twice."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import assay
from tests.corpora import demo
from tests.patience import PATIENCE

METRICS = ["bleu", "chrf", "macrof"]
SHARDS = 12
LENGTH = 40

# Batches and pieces of files are small, so that death comes in the middle of them. The process
# notes every batch that it scores, and dies at the one that it is told.
DYING = """
import json, os, signal, sys
from assay.scale import outputs, readers, shards
from assay.scale.outputs import OutputFolder

corpus, out, log, last, place, name = sys.argv[1:]
readers.ROWS = shards.ROWS = outputs.AT_ONCE = 10
scored, score, write_sums = 0, shards._score_batch, OutputFolder.write_sums

def die():
    os.kill(os.getpid(), getattr(signal, name))

def score_batch(batch, *others):
    global scored
    scored += 1
    with open(log, "a") as file:
        file.write(f"{batch.place.name}\\n")
    if place == "batch" and scored == int(last):
        die()
    return score(batch, *others)

def write(self, name, sums, about):
    # The scores of a shard are in their place, but its sums are not.
    if place == "sums" and scored >= int(last):
        die()
    write_sums(self, name, sums, about)

shards._score_batch, OutputFolder.write_sums = score_batch, write
result = shards.score_shards(corpus, ["bleu", "chrf", "macrof"], out=out, workers=1)
print(json.dumps([record["score"] for record in result.records()]))
"""


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "corpus"
    folder.mkdir()
    lines = [demo(f"systems/{name}.txt") for name in ("atlas", "birch", "cedar")]
    hypotheses = [line for system in lines for line in system] * 2
    references = demo("ref.A.txt") * 6
    for number in range(SHARDS):
        part = slice(number * LENGTH, (number + 1) * LENGTH)
        table = pa.table({"mt": hypotheses[part], "ref": references[part]})
        pq.write_table(table, folder / f"{number:02}.parquet")
    return folder


def run(corpus, tmp_path, last, place="batch", name="SIGKILL"):
    """A run that dies at a batch, or lives; and how it ended."""
    command = [sys.executable, "-c", DYING, f"{corpus}/*.parquet", str(tmp_path / "out")]
    command += [str(tmp_path / "log"), str(last), place, name]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)


def finished(tmp_path):
    """The shards that are done, with what tells whether they were done again."""
    sums = (tmp_path / "out" / "_sums").glob("*.parquet")
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in sums}


def scored(tmp_path):
    return [Path(line).name for line in (tmp_path / "log").read_text().splitlines()]


def test_a_run_that_is_killed_ten_times_ends_with_the_same_result(corpus, tmp_path):
    done, seen, half_written = {}, 0, 0
    for last, place in [(2, "batch"), (1, "sums"), (6, "batch"), (3, "batch"), (9, "sums")] * 2:
        killed = run(corpus, tmp_path, last, place)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        # What was done before has been neither scored nor written again ...
        assert not set(scored(tmp_path)[seen:]) & set(done)
        now = finished(tmp_path)
        assert done.items() <= now.items()
        done, seen = now, len(scored(tmp_path))
        half_written += len(list((tmp_path / "out").rglob(".*.tmp")))
        # ... and whatever has sums is whole.
        for name in done:
            assert len(pq.read_table(tmp_path / "out" / name)) == LENGTH
    assert 0 < len(done) < SHARDS
    assert half_written == 6
    whole = run(corpus, tmp_path, 0)
    assert whole.returncode == 0, whole.stderr
    table = pq.read_table(corpus)
    expected = assay.score({"mt": table["mt"].to_pylist()}, [table["ref"].to_pylist()], METRICS)
    assert json.loads(whole.stdout) == [record["score"] for record in expected.records()]
    assert done.items() <= finished(tmp_path).items()
    assert not set(scored(tmp_path)[seen:]) & set(done)
    assert len(finished(tmp_path)) == SHARDS
    assert list((tmp_path / "out").rglob(".*")) == []
    scores = pq.read_table(tmp_path / "out")
    by_segment = assay.score(
        {"mt": table["mt"].to_pylist()}, [table["ref"].to_pylist()], METRICS, by_segment=True
    )
    for entry, name in zip(by_segment.by_metric, METRICS, strict=True):
        assert scores[name].to_pylist() == entry.segments[0].tolist()


def test_a_run_that_is_interrupted_leaves_no_half_written_file(corpus, tmp_path):
    stopped = run(corpus, tmp_path, 6, name="SIGINT")
    assert stopped.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in stopped.stderr
    assert len(finished(tmp_path)) == 1
    assert list((tmp_path / "out").rglob(".*")) == []


MEASURED = """
import sys
from assay.scale.shards import score_shards

result = score_shards(sys.argv[1], ["bleu"], out=sys.argv[2], workers=2)
lines = open("/proc/self/status").read().splitlines()
print(result.segments, next(line for line in lines if line.startswith("VmHWM")).split()[1])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
def test_memory_does_not_grow_with_the_number_of_segments(tmp_path):
    base = list(zip(demo("systems/atlas.txt"), demo("ref.A.txt"), strict=True))
    kilobytes = {}
    for count in (20_000, 200_000):
        folder = tmp_path / str(count)
        folder.mkdir()
        for part in range(2):
            pairs = [(f"{h} {n % 997}", r) for n in range(count // 240) for h, r in base]
            columns = list(map(list, zip(*pairs, strict=True)))
            table = pa.table(columns, names=["mt", "ref"])
            pq.write_table(table, folder / f"{part}.parquet", row_group_size=10_000)
        command = [sys.executable, "-c", MEASURED, f"{folder}/*.parquet", str(folder / "out")]
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, env=os.environ, timeout=PATIENCE
        )
        segments, kilobytes[count] = map(int, done.stdout.split())
        assert segments > 0.99 * count
    # In memory at once, 180,000 segments would take 400 MB more.
    assert kilobytes[200_000] < kilobytes[20_000] + 100_000
