"""A corpus in shards has the scores of one file, whatever the format and whoever works."""

import gzip
import json
import lzma
import pickle
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import zstandard

import assay
from assay.data import DataError, divide
from assay.metrics.base import Metric, parse
from assay.scale import outputs, readers, shards
from assay.scale.outputs import OutputFolder
from assay.scale.shards import score_shards
from tests.corpora import demo

METRICS = ["bleu", "chrf", "macrof"]
PACK = {"": bytes, "gz": gzip.compress, "xz": lzma.compress, "zst": zstandard.compress}


def rows(system="atlas", count=120):
    return pa.table(
        {
            "id": [f"{system} {at}" for at in range(count)],
            "mt": demo(f"systems/{system}.txt", count),
            "ref": demo("ref.A.txt", count),
            "src": demo("src.txt", count),
        }
    )


def write(table, path, packing=""):
    """A table in the format that the path's ending says."""
    lines = table.to_pylist()
    match path.suffix:
        case ".parquet":
            pq.write_table(table, path, row_group_size=50)
        case ".arrow":
            with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as to:
                to.write_table(table)
        case ".feather":
            pyarrow.feather.write_feather(table, str(path), compression="zstd")
        case ".jsonl":
            text = "\n\n".join(json.dumps(line) for line in lines)
            path.write_text(text, "utf-8")
        case ".tsv":
            cells = [table.column_names, *(list(line.values()) for line in lines)]
            path.write_text("".join("\t".join(row) + "\r\n" for row in cells), "utf-8-sig")
        case ".csv":
            import csv

            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, quoting=csv.QUOTE_ALL)
                writer.writerows([table.column_names, *(list(line.values()) for line in lines)])
    if packing:
        packed = path.with_name(f"{path.name}.{packing}")
        packed.write_bytes(PACK[packing](path.read_bytes()))
        path.unlink()


@pytest.fixture
def corpus(tmp_path):
    """Three shards, of two formats and different lengths."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    write(rows("atlas"), folder / "part-0.parquet")
    write(rows("birch", 70), folder / "part-1.tsv")
    write(rows("cedar", 33), folder / "part-2.jsonl")
    return folder


@pytest.fixture(scope="module")
def whole():
    parts = [rows("atlas"), rows("birch", 70), rows("cedar", 33)]
    return pa.concat_tables(parts)


def figures(result):
    return [record["score"] for record in result.records()]


def expected(table, metrics=METRICS):
    hypotheses, references, sources = (table[name].to_pylist() for name in ("mt", "ref", "src"))
    return figures(assay.score({"mt": hypotheses}, [references], metrics, sources=sources))


def test_shards_have_the_scores_of_one_file(corpus, whole):
    metrics = [*METRICS, "ter", "microf", "rouge-l", "boost:metric=chrf,explainer=erasure"]
    result = score_shards(str(corpus / "*"), metrics, languages="de-en")
    assert figures(result) == expected(whole, metrics)
    assert result.segments == len(whole)
    assert "223 segments in 3 shards." in str(result)
    assert "BLEU|nrefs:1|case:mixed" in str(result)


def test_small_batches_make_no_difference(corpus, whole, monkeypatch):
    monkeypatch.setattr(readers, "ROWS", 7)
    assert figures(score_shards(str(corpus / "*"), METRICS)) == expected(whole)
    monkeypatch.setattr(readers, "BYTES", 300)
    assert figures(score_shards(str(corpus / "*"), METRICS)) == expected(whole)


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_the_number_of_workers_makes_no_difference(corpus, whole, workers):
    metrics = [*METRICS, "rouge-1", "random"]
    assert figures(score_shards(str(corpus / "*"), metrics, workers=workers)) == expected(
        whole, metrics
    )


class Elsewhere:
    """Runs functions as another process would: nothing but what can be pickled gets there."""

    def map(self, function, items):
        travelled = [pickle.loads(pickle.dumps((function, item))) for item in items]
        outcomes = [function(item) for function, item in reversed(travelled)]
        return (pickle.loads(pickle.dumps(outcome)) for outcome in reversed(outcomes))


def test_a_cluster_makes_no_difference(corpus, whole, tmp_path, monkeypatch):
    metrics = [*METRICS, "rouge-1"]
    monkeypatch.chdir(corpus)
    result = score_shards("*", metrics, cluster=Elsewhere(), out=tmp_path / "out")
    assert result.inputs() == score_shards("*", metrics).inputs()
    assert figures(result) == expected(whole, metrics)
    assert score_shards(str(corpus / "*"), metrics, out=tmp_path / "out").summary() == [
        "223 segments in 3 shards, 3 of them scored by an earlier run."
    ]


@pytest.mark.parametrize("packing", PACK)
@pytest.mark.parametrize("ending", ["parquet", "arrow", "feather", "jsonl", "tsv", "csv"])
def test_every_format_and_packing_is_read(tmp_path, ending, packing):
    for system in ("atlas", "birch"):
        write(rows(system, 40), tmp_path / f"{system}.{ending}", packing)
    result = score_shards(f"{tmp_path}/*", ["chrf"])
    assert figures(result) == expected(
        pa.concat_tables([rows("atlas", 40), rows("birch", 40)]), ["chrf"]
    )
    assert [outcome.shard.name for outcome in result.shards] == ["atlas", "birch"]


def test_columns_are_named(tmp_path):
    table = rows().rename_columns(["mt", "out", "gold", "ref"])
    write(table, tmp_path / "a.parquet")
    columns = {"hypothesis": "out", "reference": "gold"}
    result = score_shards(tmp_path / "a.parquet", METRICS, columns=columns)
    assert figures(result) == expected(rows())
    assert result.systems == ("out",)


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_a_column_may_hold_lists_of_references(tmp_path, ending):
    both = [list(each) for each in zip(demo("ref.A.txt"), demo("ref.B.txt"), strict=True)]
    table = pa.table({"hypothesis": demo("systems/atlas.txt"), "references": both})
    write(table, tmp_path / f"a.{ending}")
    sets = {"A": demo("ref.A.txt"), "B": demo("ref.B.txt")}
    known = assay.score({"mt": demo("systems/atlas.txt")}, sets, METRICS)
    result = score_shards(tmp_path / f"a.{ending}", METRICS)
    assert figures(result) == figures(known)
    assert "nrefs:2" in result.records()[0]["signature"]


def test_texts_and_lists_of_references_mix_in_json(tmp_path):
    lines = [{"mt": "a b", "ref": "a"}, {"mt": "a b", "ref": ["a b", "c"]}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert "nrefs:var" in score_shards(tmp_path / "a.jsonl").records()[0]["signature"]


def test_the_language_is_settled_once(tmp_path):
    for at, line in enumerate(["我们去了北京。", "plain English words"]):
        write(pa.table({"mt": [line], "ref": [line]}), tmp_path / f"{at}.parquet")
    result = score_shards(f"{tmp_path}/*", ["bleu"], languages="en-zh")
    assert "tok:zh" in result.records()[0]["signature"]


def test_scores_are_written_with_all_it_takes_to_know_them(corpus, tmp_path):
    out = tmp_path / "out"
    score_shards(str(corpus / "*"), ["bleu", "chrf++"], out=out)
    assert sorted(path.name for path in out.glob("*.parquet")) == [
        *("part-0.parquet", "part-1.parquet", "part-2.parquet")
    ]
    assert not list(out.rglob(".*"))
    table = rows("birch", 70)
    known = assay.score(
        {"mt": table["mt"].to_pylist()},
        [table["ref"].to_pylist()],
        ["bleu", "chrf++"],
        by_segment=True,
    )
    scores = pq.read_table(out / "part-1.parquet")
    assert scores["bleu"].to_pylist() == known.by_metric[0].segments[0].tolist()
    assert scores["chrf++"].to_pylist() == known.by_metric[1].segments[0].tolist()
    about = json.loads(scores.schema.metadata[b"assay"])
    assert about["version"] == assay.__version__
    assert about["signatures"]["bleu"].startswith("BLEU|nrefs:1|case:mixed|eff:yes|")
    assert about["input"]["sha256"] == score_shards(corpus / "part-1.tsv").shards[0].sha256
    assert about["segments"] == 70
    # Readers of a whole folder see the scores alone.
    assert len(pq.read_table(out)) == 223


def stamps(out):
    return {path.name: path.stat().st_mtime_ns for path in (out / "_sums").iterdir()}


def test_what_is_done_is_not_done_again(corpus, whole, tmp_path):
    out = tmp_path / "out"
    first = score_shards(str(corpus / "part-[01].*"), METRICS, out=out)
    before = stamps(out)
    second = score_shards(str(corpus / "*"), METRICS, out=out)
    assert [outcome.reason for outcome in first.shards] == ["new", "new"]
    assert [outcome.reason for outcome in second.shards] == ["", "", "new"]
    assert figures(second) == expected(whole)
    assert before.items() <= stamps(out).items()
    assert "2 of them scored by an earlier run" in second.summary()[0]


def test_a_changed_shard_is_noticed(corpus, tmp_path):
    out = tmp_path / "out"
    score_shards(str(corpus / "*"), METRICS, out=out)
    text = (corpus / "part-1.tsv").read_bytes()
    (corpus / "part-1.tsv").write_bytes(text.replace(b"the", b"thy", 1))
    (corpus / "part-0.parquet").touch()
    result = score_shards(str(corpus / "*"), METRICS, out=out)
    assert [outcome.reason for outcome in result.shards] == ["", "changed", ""]
    assert result.notes == (f"{corpus}/part-1.tsv has changed since it was scored: scored again.",)
    assert figures(result) == figures(score_shards(str(corpus / "*"), METRICS))


def test_a_shard_that_changes_while_it_is_read_is_told(corpus, tmp_path, monkeypatch):
    score = shards._score_batch

    def change(*given):
        (corpus / "part-0.parquet").touch()
        return score(*given)

    monkeypatch.setattr(shards, "_score_batch", change)
    with pytest.raises(DataError, match=r"part-0.parquet has changed while it was read"):
        score_shards(corpus / "part-0.parquet", METRICS, out=tmp_path / "out")
    assert not list((tmp_path / "out").rglob("*.parquet"))


@pytest.mark.parametrize("other", [["bleu:lowercase=yes"], ["bleu", "chrf"]])
def test_other_metrics_are_noticed(corpus, tmp_path, other):
    out = tmp_path / "out"
    score_shards(str(corpus / "*"), ["bleu"], out=out)
    result = score_shards(str(corpus / "*"), other, out=out)
    assert {outcome.reason for outcome in result.shards} == {"other settings"}
    assert "(and 2 more) was scored with other metrics" in result.notes[0]
    assert figures(result) == figures(score_shards(str(corpus / "*"), other))


@dataclass(frozen=True)
class WordsOfList(Metric):
    """The share of words that a file lists."""

    name: ClassVar[str] = "words_of_list"

    words: str = ""

    def rows(self, segments):
        known = set(Path(self.words).read_text("utf-8").split())
        texts = [segment.hypothesis.split() for segment in segments]
        return np.array([[sum(word in known for word in words), len(words)] for words in texts])

    def aggregate(self, sums):
        return 100 * divide(*sums.T)


def test_a_changed_file_that_a_metric_reads_is_noticed(corpus, tmp_path):
    listed, out = tmp_path / "words.txt", tmp_path / "scores"
    metric = WordsOfList(str(listed))
    reasons = []
    for text in ("the a", "the a", "the a of"):
        listed.write_text(text, "utf-8")
        result = assay.score_shards(f"{corpus}/*", [metric], out=out)
        reasons.append({outcome.reason for outcome in result.shards})
    assert reasons == [{"new"}, {""}, {"other settings"}]


def test_what_is_damaged_or_gone_is_scored_again(corpus, whole, tmp_path):
    out = tmp_path / "out"
    score_shards(str(corpus / "*"), METRICS, out=out)
    (out / "part-0.parquet").unlink()
    (out / "_sums" / "part-1.parquet").write_bytes(b"PAR1 half")
    (out / "part-2.parquet").write_bytes(b"")
    result = score_shards(str(corpus / "*"), METRICS, out=out)
    assert [outcome.reason for outcome in result.shards] == ["damaged"] * 3
    (note,) = result.notes
    assert note.endswith(
        "(and 2 more) was scored, but what was written of it is damaged or gone: scored again."
    )
    assert figures(result) == expected(whole)
    assert len(pq.read_table(out)) == 223


def test_a_changed_byte_in_the_sums_is_noticed_or_makes_no_difference(corpus, tmp_path):
    score_shards(str(corpus / "part-0*"), METRICS, out=tmp_path)
    path, folder = tmp_path / "_sums" / "part-0.parquet", OutputFolder(str(tmp_path))
    good, data, noticed = folder.finished("part-0"), path.read_bytes(), 0
    # Byte by byte where the types are: some damage makes numbers that Arrow does not have.
    for at in (*range(4, len(data), 61), *range(len(data) - 400, len(data))):
        path.write_bytes(data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])
        found = folder.finished("part-0")
        assert found is None or (found.sums.equals(good.sums), found.about) == (True, good.about)
        noticed += found is None
    assert noticed > 10


def test_outputs_of_other_shards_are_told(corpus, tmp_path):
    score_shards(str(corpus / "*"), out=tmp_path / "out")
    result = score_shards(str(corpus / "part-0*"), out=tmp_path / "out")
    (note,) = result.notes
    assert note.endswith("also holds part-1.parquet and 1 more, of none of these shards.")


def test_rows_that_pass_are_written_with_all_their_columns(corpus, tmp_path):
    out = tmp_path / "out"
    result = score_shards(
        str(corpus / "*"), ["bleu", "chrf"], out=out, where="chrf > 60 and not bleu < 40"
    )
    wanted = []
    for table in (rows("atlas"), rows("birch", 70), rows("cedar", 33)):
        for row in table.to_pylist():
            chrf = parse("chrf").sentence_score(row["mt"], [row["ref"]]).score
            bleu = parse("bleu:eff=yes").sentence_score(row["mt"], [row["ref"]]).score
            if chrf > 60 and bleu >= 40:
                wanted.append(row)
    found = pq.read_table(out).select(["id", "mt", "ref", "src"]).to_pylist()
    assert 0 < len(wanted) < 223
    assert found == wanted
    assert result.passed == len(wanted)
    assert f"{len(wanted):,} rows" in result.summary()[1]
    again = score_shards(
        str(corpus / "*"), ["bleu", "chrf"], out=out, where="chrf > 60 and not bleu < 40"
    )
    assert again.passed == len(wanted)
    assert not any(outcome.reason for outcome in again.shards)


def test_a_condition_may_ask_about_columns_of_the_input(tmp_path):
    table = rows(count=30).append_column("score", pa.array(map(float, range(30))))
    write(table, tmp_path / "a.parquet")
    result = score_shards(
        tmp_path / "a.parquet",
        ["chrf"],
        out=tmp_path / "out",
        where="score >= 20 or id = 'atlas 3'",
    )
    assert result.passed == 11
    assert pq.read_table(tmp_path / "out" / "a.parquet")["score"].to_pylist() == [3, *range(20, 30)]


def test_nothing_may_pass(corpus, tmp_path):
    result = score_shards(str(corpus / "*"), ["chrf"], out=tmp_path / "out", where="chrf > 100")
    assert result.passed == 0
    assert pq.read_table(tmp_path / "out").column_names == ["id", "mt", "ref", "src", "chrf"]


def test_a_column_called_like_a_metric_gives_way(tmp_path):
    table = rows(count=5).append_column("chrf", pa.array(["x"] * 5))
    write(table, tmp_path / "a.parquet")
    result = score_shards(tmp_path / "a.parquet", ["chrf"], out=tmp_path / "o", where="chrf >= 0")
    assert "gives way to the new score" in result.notes[0]
    assert result.passed == 5


def test_files_far_away_are_read_and_written():
    system = fsspec.filesystem("memory")
    for at, name in enumerate(("atlas", "birch")):
        with system.open(f"/corpus/de/part-{at}.parquet", "wb") as file:
            pq.write_table(rows(name, 40), file)
    try:
        result = score_shards("memory://corpus/*/*.parquet", METRICS, out="memory://out")
        both = pa.concat_tables([rows("atlas", 40), rows("birch", 40)])
        assert figures(result) == expected(both)
        with system.open("/out/de/part-1.parquet") as file:
            assert len(pq.read_table(file)) == 40
        again = score_shards("memory://corpus/*/*.parquet", METRICS, out="memory://out")
        assert not any(outcome.reason for outcome in again.shards)
        with system.open("/corpus/de/part-1.parquet", "wb") as file:
            pq.write_table(rows("cedar", 40), file)
        third = score_shards("memory://corpus/*/*.parquet", METRICS, out="memory://out")
        assert [outcome.reason for outcome in third.shards] == ["", "changed"]
        with pytest.raises(DataError, match="memory://corpus/none/\\*: no file matches it"):
            score_shards("memory://corpus/none/*", METRICS)
    finally:
        system.rm("/corpus", recursive=True)
        system.rm("/out", recursive=True)


@pytest.mark.parametrize("caches", ["", "simplecache::"])
def test_files_in_an_archive_are_read(tmp_path, caches):
    for system in ("atlas", "birch"):
        write(rows(system, 40), tmp_path / f"{system}.tsv")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for path in tmp_path.glob("*.tsv"):
            archive.write(path, f"in/{path.name}")
    inside = f"{caches}zip://in/*.tsv::{tmp_path}/all.zip"
    both = pa.concat_tables([rows("atlas", 40), rows("birch", 40)])
    for reason in ("new", ""):
        result = score_shards(inside, METRICS, out=tmp_path / "out")
        assert figures(result) == expected(both)
        assert {outcome.reason for outcome in result.shards} == {reason}
    assert (tmp_path / "out" / "birch.parquet").exists()


def test_folders_of_a_pattern_are_folders_of_the_output(tmp_path):
    for language in ("de", "fr"):
        (tmp_path / "in" / language).mkdir(parents=True)
        write(rows(count=5), tmp_path / "in" / language / "a.tsv", "gz")
    score_shards(f"{tmp_path}/in/*/*.gz", ["chrf"], out=tmp_path / "out")
    assert (tmp_path / "out" / "de" / "a.parquet").exists()
    assert (tmp_path / "out" / "fr" / "a.parquet").exists()


def test_half_written_files_of_the_dead_are_removed_and_those_of_the_living_are_not(
    corpus, tmp_path
):
    import os
    import socket

    out = tmp_path / "out"
    (out / "_sums").mkdir(parents=True)
    host = socket.gethostname().split(".")[0]
    done = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True
    )
    dead = out / f".a.parquet.{host}.{int(done.stdout)}.ab12.tmp"
    alive = out / f".a.parquet.{host}.{os.getpid()}.ab12.tmp"
    for path in (dead, alive):
        path.write_bytes(b"half")
    outputs.OutputFolder(str(out)).prepare()
    assert not dead.exists()
    assert alive.exists()
