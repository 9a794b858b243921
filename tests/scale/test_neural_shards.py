"""Neural scores of shards: the same to the last bit whatever else was scored before or beside."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import assay
from tests.corpora import demo

pytest.importorskip("sentence_transformers")


@pytest.mark.parametrize("metric", ["bertscore", "boost:metric=embed,explainer=erasure"])
def test_scores_do_not_depend_on_what_was_encoded_before(tmp_path, metric):
    lines, references = demo("systems/atlas.txt", 9), demo("ref.A.txt", 9)
    # All shards share texts, but not what stands beside them.
    for name, part in (("a", slice(0, 6)), ("b", slice(2, 9)), ("c", slice(5, 9))):
        table = pa.table({"mt": lines[part], "ref": references[part]})
        pq.write_table(table, tmp_path / f"{name}.parquet")
    paths = [tmp_path / f"{name}.parquet" for name in "abc"]
    given = {"metrics": [metric], "languages": "de-en"}
    runs = [
        assay.score_shards(paths, workers=1, **given),
        assay.score_shards(paths[::-1], workers=1, **given),
        assay.score_shards(paths, workers=3, **given),
    ]
    scores = [run.records()[0]["score"] for run in runs]
    assert scores == scores[:1] * 3
    table = pa.concat_tables(map(pq.read_table, paths))
    whole = assay.score(
        {"mt": table["mt"].to_pylist()}, [table["ref"].to_pylist()], [metric], languages="de-en"
    )
    assert scores[0] == pytest.approx(whole.records()[0]["score"], abs=1e-6)
