"""Soft pairwise accuracy where only part is rated: mt-metrics-eval's definition, written slowly."""

from itertools import combinations

import numpy as np
import pytest

from assay.agreement.agree import confidences_of_corpora
from assay.agreement.correlate import CorrelateOptions, correlate_panels
from assay.agreement.panel import Candidate, Panel
from assay.io import read_folder, read_scores
from assay.metrics.base import parse
from assay.metrics.mean import Mean
from tests.agreement import obvious

SEED, TRIALS = 12345, 60


def slow(human, metric, ties=0.5):
    return obvious.soft_accuracy(human, metric, trials=TRIALS, seed=SEED, ties=ties)


def partly_rated(seed, *, ragged):
    """Five systems on 40 segments; people rate 15 of these, where the systems differ less."""
    rng = np.random.default_rng(seed)
    quality = np.linspace(0, 0.8, 5)[:, None]
    metric = quality + rng.normal(size=(5, 40))
    human = quality / 2 + rng.normal(size=(5, 40))
    rated = rng.random((5 if ragged else 1, 40)) < 0.4
    return np.where(rated, human, np.nan), metric


def at_system_level(human, metric):
    systems = tuple(f"s{at}" for at in range(len(human)))
    statistics = tuple(Mean("own").of(each) for each in metric)
    means = np.nanmean(metric, axis=1, keepdims=True)
    candidate = Candidate("own", "own", means, statistics=statistics)
    quality = np.nanmean(human, axis=1, keepdims=True)
    return Panel("", "system", "da", systems, (candidate,), quality, human)


def at_segment_level(human, metric):
    systems = tuple(f"s{at}" for at in range(len(human)))
    return Panel("", "segment", "da", systems, (Candidate("own", "own", metric),), human)


@pytest.mark.parametrize("level", [at_system_level, at_segment_level])
@pytest.mark.parametrize("ragged", [False, True])
def test_both_confidences_are_over_the_rated_segments(level, ragged):
    for seed in range(3):
        human, metric = partly_rated(seed, ragged=ragged)
        questions = CorrelateOptions(("spa",), trials=TRIALS)
        (record,) = correlate_panels([level(human, metric)], questions, seed=SEED).records()
        assert record["value"] == pytest.approx(slow(human, metric), abs=1e-12)
        # Sums of so many continuous scores are not tied: this is mt-metrics-eval's figure, too.
        if not ragged:
            assert record["value"] == pytest.approx(slow(human, metric, ties=1), abs=1e-12)


def test_what_the_metric_has_not_scored_does_not_count_for_people_either():
    human, metric = partly_rated(5, ragged=True)
    metric[1, :20] = np.nan
    for level in (at_system_level, at_segment_level):
        questions = CorrelateOptions(("spa",), trials=TRIALS)
        (record,) = correlate_panels([level(human, metric)], questions, seed=SEED).records()
        assert record["value"] == pytest.approx(slow(human, metric), abs=1e-12)


def test_pairs_without_a_common_rated_segment_do_not_count():
    human, metric = partly_rated(6, ragged=False)
    human[0, ::2] = np.nan
    human[1, 1::2] = np.nan
    systems = [Mean("own").of(each) for each in metric]
    found = confidences_of_corpora(
        systems, ~np.isnan(human), trials=TRIALS, rng=np.random.default_rng(SEED)
    )
    assert np.isnan(found).tolist() == [True] + [False] * 9
    questions = CorrelateOptions(("spa",), trials=TRIALS)
    (record,) = correlate_panels([at_system_level(human, metric)], questions, seed=SEED).records()
    assert record["n"] == 9
    assert record["value"] == pytest.approx(slow(human, metric), abs=1e-12)


def test_a_corpus_metric_is_scored_on_the_rated_segments(shared):
    """BLEU by scoring the rated segments of every pair anew, swap by swap."""
    folder = shared / "wmt20" / "en-de"
    dataset = read_folder(folder)
    names = ["OPPO.1535", "Online-A.1574", "zlabs-nlp.179"]
    human = read_scores(folder / "human" / "da.seg.tsv", names, length=len(dataset)).values[:, :200]
    metric = parse("bleu")
    systems = [metric.statistics(dataset.segments(name)[:200]) for name in names]
    known = ~np.isnan(human)
    found = confidences_of_corpora(systems, known, trials=30, rng=np.random.default_rng(SEED))
    for ours, (i, j) in zip(found, combinations(range(3), 2), strict=True):
        both = np.flatnonzero(known[i] & known[j])
        assert 10 < len(both) < 150
        first, second = (systems[at].rows[both] for at in (i, j))
        observed = gap(metric, first, second)
        below = 0.0
        for row in obvious.signs(200, 30, SEED):
            swap = np.array(row)[both, None] < 0
            delta = gap(metric, np.where(swap, second, first), np.where(swap, first, second))
            below += 0.5 if abs(delta - observed) < 1e-9 else delta < observed
        assert ours == pytest.approx(below / 30, abs=1e-12)


def gap(metric, first, second):
    return (
        metric.aggregate(first.sum(axis=0)[None])[0] - metric.aggregate(second.sum(axis=0)[None])[0]
    )
