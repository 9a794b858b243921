"""Batches add up to the corpus: the figures are those of `score` on all texts at once."""

import pickle
import random
from itertools import pairwise

import pyarrow as pa
import pytest

import assay
from assay.data import DataError
from assay.metrics.base import Metric, parse
from assay.scale.batches import score_batch
from assay.scale.sums import merge_sums, score_sums
from tests.corpora import demo, uneven

METRICS = [
    *("bleu", "chrf++", "ter", "wer", "macrof", "microf", "macrof:max_order=2"),
    *("rouge-l", "random", "fault:numbers"),
]


def table(hypotheses, references, **more):
    return pa.table({"mt": hypotheses, "ref": references, **more})


def figures(result):
    return [record["score"] for record in result.records()]


@pytest.fixture(scope="module")
def texts():
    # Some lines come twice, some are not of plain letters.
    odd = ["", "😀 \uffff zwei", "\U0001f600", "naïve café", "！？ 你好", "a\u2028b"]
    hypotheses = [*demo("systems/atlas.txt"), *demo("systems/birch.txt", 40), *odd]
    references = [*demo("ref.A.txt"), *demo("ref.A.txt", 40), *reversed(odd)]
    return hypotheses, references


def test_batches_in_any_order_give_the_scores_of_all_texts(texts):
    whole = table(*texts)
    cuts = [0, 1, 30, 31, 90, 140, len(whole)]
    sums = [
        score_batch(whole.slice(start, end - start), METRICS).sums for start, end in pairwise(cuts)
    ]
    random.Random(3).shuffle(sums)
    expected = assay.score({"mt": texts[0]}, [texts[1]], METRICS)
    merged = score_sums(merge_sums(sums))
    assert figures(merged) == figures(expected)
    assert [record["signature"] for record in merged.records()] == [
        record["signature"] for record in expected.records()
    ]
    again = merge_sums([merge_sums(sums[:2]), merge_sums(sums[2:])])
    assert again.to_pylist() == merge_sums(sums).to_pylist()
    assert merge_sums(pa.concat_tables(sums)).to_pylist() == again.to_pylist()


def test_a_boosted_metric_adds_up(texts):
    metrics = ["boost:metric=chrf,explainer=lime(samples=8)"]
    hypotheses, references = (lines[:12] for lines in texts)
    whole = table(hypotheses, references)
    sums = [score_batch(whole.slice(at, 5), metrics, languages="de-en").sums for at in (0, 5, 10)]
    expected = assay.score({"mt": hypotheses}, [references], metrics, languages="de-en")
    assert figures(score_sums(merge_sums(sums))) == figures(expected)


def test_segment_scores_are_those_of_score(texts):
    metrics = ["bleu", "chrf", "macrof", "rouge-1"]
    scores = score_batch(table(*texts), metrics).segments
    expected = assay.score({"mt": texts[0]}, [texts[1]], metrics, by_segment=True)
    assert scores.column_names == metrics
    for entry, name in zip(expected.by_metric, metrics, strict=True):
        assert scores[name].to_pylist() == entry.segments[0].tolist()


def test_repeated_segments_count_as_often_as_they_are_there():
    hypotheses, references = ["a b c", "x", "a b c"] * 20, ["a b d", "x y", "a b d"] * 20
    found = score_batch(table(hypotheses, references), METRICS)
    expected = assay.score({"mt": hypotheses}, [references], METRICS, by_segment=True)
    assert figures(score_sums(found.sums)) == [
        record["score"] for record in expected.records() if record["segment"] is None
    ]
    for entry, name in zip(expected.by_metric, METRICS, strict=True):
        assert found.segments[name].to_pylist() == entry.segments[0].tolist()


class Counting(Metric):
    """Counts the segments that it is asked for."""

    name = "counting"
    asked = 0

    def rows(self, segments):
        type(self).asked += len(segments)
        return parse("chrf").rows(segments)

    def aggregate(self, sums):
        return parse("chrf").aggregate(sums)


def test_each_distinct_segment_is_scored_once():
    score_batch(table(["a", "b", "a"] * 10, ["a", "c", "a"] * 10), [Counting()])
    assert Counting.asked == 2


@pytest.mark.parametrize("shape", ["list", "columns"])
def test_several_references_some_of_them_missing(shape):
    hypotheses, sets = uneven()
    if shape == "list":
        lists = [list(filter(None, lines)) for lines in zip(*sets, strict=True)]
        batch, columns = table(hypotheses, lists), None
    else:
        names = {f"r{at}": lines for at, lines in enumerate(sets)}
        batch, columns = pa.table({"mt": hypotheses, **names}), {"reference": list(names)}
    metrics = ["bleu", "chrf", "ter", "macrof"]
    found = score_sums(score_batch(batch, metrics, columns=columns).sums)
    expected = assay.score({"mt": hypotheses}, dict(enumerate(sets)), metrics)
    assert figures(found) == figures(expected)
    assert "nrefs:var" in found.records()[0]["signature"]


def test_kinds_of_text_that_arrow_has(texts):
    plain = table(*texts)
    expected = score_batch(plain, ["chrf"]).segments
    for kind in (pa.large_string(), pa.dictionary(pa.int32(), pa.string())):
        cast = plain.cast(pa.schema([("mt", kind), ("ref", kind)]))
        assert score_batch(cast, ["chrf"]).segments.equals(expected)
    (batch,) = plain.combine_chunks().to_batches()
    assert score_batch(batch, ["chrf"]).segments.equals(expected)


def test_the_language_decides_the_tokenizer():
    batch = table(["我们去了北京。"], ["我们去北京。"])
    sums = score_batch(batch, ["bleu"], languages="en-zh").sums
    assert "tok:zh" in score_sums(sums).records()[0]["signature"]
    with pytest.raises(DataError, match="pass languages="):
        score_batch(batch, ["entityf"])


def test_sums_travel_and_tell_what_they_are_of(texts):
    sums = pickle.loads(pickle.dumps(score_batch(table(*texts), ["chrf++", "macrof"]).sums))
    assert [str(entry.metric) for entry in score_sums(sums).by_metric] == [
        "chrf:word_order=2",
        "macrof",
    ]
    assert len(sums) == 1


@pytest.mark.parametrize(
    ("batch", "metrics", "message"),
    [
        (pa.table({"x": ["a"]}), ["bleu"], "no column hypothesis"),
        (pa.table({"mt": ["a"], "ref": [1]}), ["bleu"], "'ref' holds int64, not text"),
        (pa.table({"mt": ["a", None], "ref": ["a", "b"]}), ["bleu"], "row 2: 'mt' is missing"),
        (pa.table({"mt": ["a", "b"], "ref": ["a", None]}), ["bleu"], "row 2: no reference"),
        (pa.table({"mt": ["a"], "ref": [[1]]}), ["bleu"], "not lists of texts"),
        (pa.table({"mt": ["a"], "ref": ["a"]}), "bleu", r"pass \['bleu'\]"),
    ],
)
def test_what_cannot_be_scored_is_told(batch, metrics, message):
    with pytest.raises(DataError, match=message):
        score_batch(batch, metrics)


def test_sums_of_different_settings_do_not_add_up(texts):
    one, other = (score_batch(table(*texts), [metric]).sums for metric in ("chrf", "chrf++"))
    renamed = other.rename_columns(one.column_names)
    with pytest.raises(DataError, match="are of chrf and of chrf:word_order=2"):
        merge_sums([one, renamed])
    with pytest.raises(DataError, match=r"some sums are of chrf and some are not"):
        merge_sums([one, other])
    with pytest.raises(DataError, match="these are no sums"):
        merge_sums(pa.table({"a": [1]}))
