"""A short form of `benchmarks/fuzz.py shards`: shards and their scores, changed at random."""

from itertools import islice

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("zstandard")

from fuzz import shards


def test_changed_shards_are_scored_or_refused(tmp_path):
    found = list(islice(shards.inputs(tmp_path, 1), 120))
    assert [finding for finding in found if finding.wrong] == []
    assert len({finding.part for finding in found}) == 10


def test_good_shards_of_all_formats_have_the_same_scores(tmp_path):
    scored = []
    for name, data in shards.seeds().items():
        (tmp_path / name).write_bytes(data)
        result = shards.score_shards(tmp_path / name, shards.METRICS, workers=1)
        scored.append([record["score"] for record in result.records()])
    assert all(scores == scored[0] for scores in scored)
