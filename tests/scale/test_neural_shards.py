"""Neural scores of shards: the same to the last bit whatever else was scored before or beside."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import assay
from assay.metrics.neural import encoders
from tests.corpora import demo

pytest.importorskip("sentence_transformers")


def test_scores_do_not_depend_on_what_was_encoded_before(tmp_path, monkeypatch):
    metric = "embed"
    lines, references = demo("systems/atlas.txt", 60), demo("ref.A.txt", 60)
    # All shards share texts, but not what stands beside them.
    for name, part in (("a", slice(0, 40)), ("b", slice(10, 60)), ("c", slice(35, 60))):
        table = pa.table({"mt": lines[part], "ref": references[part]})
        pq.write_table(table, tmp_path / f"{name}.parquet")
    paths = [tmp_path / f"{name}.parquet" for name in "abc"]
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "kept"))
    table = pa.concat_tables(map(pq.read_table, paths))
    whole = assay.score(
        {"mt": table["mt"].to_pylist()}, [table["ref"].to_pylist()], [metric], languages="de-en"
    )
    assert list(tmp_path.glob("kept/vectors/*/*.npy"))
    scores = []
    for order, workers, kept in ((paths, 1, True), (paths[::-1], 1, False), (paths, 3, False)):
        if not kept:
            monkeypatch.setenv("ASSAY_CACHE", "")
        encoders._encoder_named.cache_clear()
        run = assay.score_shards(order, [metric], languages="de-en", workers=workers)
        scores.append(run.records()[0]["score"])
    assert scores == scores[:1] * 3
    assert scores[0] == pytest.approx(whole.records()[0]["score"], abs=1e-6)
