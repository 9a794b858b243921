"""All pairs of candidates and references, and the candidate that MBR picks: against slow ways."""

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

import assay
from assay.data import Segment
from assay.metrics.base import parse
from tests.corpora import demo

CANDIDATES = [
    list(lines)
    for lines in zip(
        *(demo(f"systems/{name}.txt", 6) for name in ("atlas", "birch", "cedar")), strict=True
    )
]
REFERENCES = [
    [line, other] for line, other in zip(demo("ref.A.txt", 6), demo("ref.B.txt", 6), strict=True)
]

any_text = st.text(max_size=30) | st.text("ab .,-&'5\n\u00e9\u2003\U0001f600", max_size=30)

METRICS = [
    *("chrf", "chrf++", "chrf:lowercase=yes", "chrf:whitespace=yes,eps_smoothing=yes"),
    *("chrf:legacy=yes", "bleu", "bleu:lowercase=yes,max_ngram_order=2", "bleu:tok=intl"),
    *("bleu:tok=char", "bleu:tok=zh", "bleu:smooth=add-k", "ter", "rougeL", "macrof"),
]


def slow(metric, hypotheses, references):
    """Every pair by itself, as one would write it."""
    metric = parse(metric).for_segments()
    return [
        [[float(metric.statistics([Segment(h, (r,))]).segments()[0]) for r in theirs] for h in ours]
        for ours, theirs in zip(hypotheses, references, strict=True)
    ]


@pytest.mark.parametrize("metric", METRICS)
def test_every_pair_has_the_score_that_it_has_by_itself(metric):
    found = assay.pairwise(CANDIDATES, REFERENCES, metric)
    assert found.shape == (6, 3, 2)
    assert found.tolist() == slow(metric, CANDIDATES, REFERENCES)


def test_pairs_have_sacrebleus_sentence_scores():
    chrf, bleu = (assay.pairwise(CANDIDATES, REFERENCES, name) for name in ("chrf", "bleu"))
    for at, (ours, theirs) in enumerate(zip(CANDIDATES, REFERENCES, strict=True)):
        for h, text in enumerate(ours):
            for r, reference in enumerate(theirs):
                wanted = sacrebleu.sentence_chrf(text, [reference]).score
                assert chrf[at, h, r] == pytest.approx(wanted, abs=1e-10)
                wanted = sacrebleu.sentence_bleu(text, [reference]).score
                assert bleu[at, h, r] == pytest.approx(wanted, abs=1e-10)


def test_pairs_have_fastchrfs_scores():
    fastchrf = pytest.importorskip("fastchrf")
    wanted = fastchrf.pairwise_chrf(CANDIDATES, REFERENCES)
    assert assay.pairwise(CANDIDATES, REFERENCES).tolist() == pytest.approx(np.array(wanted))


@given(lists=st.lists(st.lists(any_text, min_size=1, max_size=4), min_size=1, max_size=3))
@settings(max_examples=40, deadline=None)
@pytest.mark.parametrize("metric", ["chrf++", "bleu"])
def test_any_text_in_ragged_lists(metric, lists):
    found = assay.pairwise(lists, metric=metric)
    for at, (ours, wanted) in enumerate(zip(lists, slow(metric, lists, lists), strict=True)):
        assert found[at, : len(ours), : len(ours)].tolist() == wanted
        assert np.isnan(found[at, len(ours) :]).all()
        assert np.isnan(found[at, :, len(ours) :]).all()


def test_more_references_than_are_compared_with_at_once():
    words = ["red", "cat", "sat", "on", "mats", "today"]
    rng = np.random.default_rng(7)
    many = [" ".join(rng.choice(words, size=rng.integers(1, 9))) for _ in range(70)]
    for metric in ("chrf", "bleu"):
        assert assay.pairwise([many[:5]], [many], metric).tolist() == slow(
            metric, [many[:5]], [many]
        )


def test_texts_longer_than_a_small_number_counts():
    long = "ab " * 20_000
    [[[same, part]]] = assay.pairwise([[long]], [[long, "ab " * 10_000]]).tolist()
    [[[wanted]]] = slow("chrf", [[long]], [["ab " * 10_000]])
    assert (same, part) == (100.0, wanted)


def test_one_list_is_one_segment():
    ours, theirs = CANDIDATES[0], REFERENCES[0]
    assert assay.pairwise(ours, theirs).tolist() == assay.pairwise([ours], [theirs]).tolist()


@pytest.mark.parametrize("metric", ["chrf", "bleu", "ter"])
def test_mbr_picks_the_highest_mean_and_of_equals_the_first(metric):
    lists = [[*texts, texts[0]] for texts in CANDIDATES]
    result = assay.mbr(lists, metric=metric)
    sign = 1 if parse(metric).higher_is_better else -1
    for at, (texts, scores) in enumerate(zip(lists, slow(metric, lists, lists), strict=True)):
        means = [sum(row) / len(row) for row in scores]
        assert result.utilities[at].tolist() == pytest.approx(means)
        best = max(range(len(texts)), key=lambda place: (sign * round(means[place], 9), -place))
        assert result.chosen[at] == best
        assert result.lines[at] == texts[best]
    assert [record["text"] for record in result.records()] == list(result.lines)
    [table] = result.tables()
    assert [row[-1] for row in table.rows] == list(result.lines)


def test_weights_count_as_so_many_copies():
    weights = [[3, 0, 1], [1, 1, 1], [0, 0, 5], [2, 2, 2], [1, 0, 0], [0, 1, 2]]
    copies = [
        [text for text, weight in zip(texts, row, strict=True) for _ in range(weight)]
        for texts, row in zip(CANDIDATES, weights, strict=True)
    ]
    weighted = assay.mbr(CANDIDATES, weights=weights)
    repeated = assay.mbr(CANDIDATES, copies)
    for ours, theirs in zip(weighted.utilities, repeated.utilities, strict=True):
        assert ours == pytest.approx(theirs)
    assert weighted.lines == repeated.lines


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("text",), "a list of texts for each segment"),
        (([],), "a list of texts for each segment"),
        (([["a"], []],), "segment 2: give a list of at least one text"),
        (([["a"], "b"],), "segment 2: give a list of at least one text"),
        (([["a", None]],), "segment 1, segment 2: None is not a text"),
        (([["a"]], [["a"], ["b"]]), "hypotheses for 1 segments, but references for 2"),
    ],
)
def test_texts_of_another_shape_are_errors_that_show_the_right_one(given, message):
    with pytest.raises(assay.DataError, match=message):
        assay.pairwise(*given)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([[1, 2]], "2, but 3 references"),
        ([[1, 2, -1]], "at least 0"),
        ([[0, 0, 0]], "not all of them 0"),
        ([[1, 1, 1], [1, 1, 1]], "weights for 2 segments, but there are 1"),
    ],
)
def test_weights_that_are_none_are_errors(weights, message):
    with pytest.raises(assay.DataError, match=message):
        assay.mbr([CANDIDATES[0]], weights=weights)


def test_sources_are_for_every_segment():
    with pytest.raises(assay.DataError, match="there are 6 segments: give a source for each"):
        assay.pairwise(CANDIDATES, sources=["eins"])
