"""What every metric promises, proven for every registered metric and many of its settings."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from assay.data import Segment
from tests.contract.varied import METRICS, is_neural, is_string, is_tagged, parameters
from tests.corpora import SHORT, demo, hostile, texts, uneven

every_metric = pytest.mark.parametrize("metric", parameters(METRICS), ids=str)
on_strings = pytest.mark.parametrize("metric", [m for m in METRICS if is_string(m)], ids=str)
on_real_text = pytest.mark.parametrize(
    "metric", parameters(m for m in METRICS if is_tagged(m) or is_neural(m)), ids=str
)
in_percent = pytest.mark.parametrize(
    "metric", parameters(m for m in METRICS if m.scale == "0-100"), ids=str
)
PLAIN = uneven(12).segments()
ROUGH = [*PLAIN[:5], *hostile(SHORT).segments()[:60:3]]
CORPORA = {"plain": PLAIN, "rough": ROUGH, "one": PLAIN[:1]}
every_corpus = pytest.mark.parametrize("corpus", CORPORA.values(), ids=CORPORA)


def corpus_score(metric, segments):
    """The score of these segments and nothing else."""
    return metric.statistics(segments).corpus() if segments else 0.0


def close(values):
    return pytest.approx(values, abs=1e-9, rel=0)


@every_corpus
@every_metric
def test_leaving_one_out_equals_scoring_the_rest(metric, corpus):
    slow = [corpus_score(metric, corpus[:at] + corpus[at + 1 :]) for at in range(len(corpus))]
    assert metric.statistics(corpus).without_each() == close(slow)


@every_metric
def test_nothing_is_left_of_a_corpus_of_one_segment(metric):
    segments = uneven(60 if is_string(metric) else 12).segments()
    alone = [metric.statistics([segment]).without_each() for segment in segments]
    assert np.concatenate(alone) == close(np.zeros(len(segments)))


@every_corpus
@every_metric
def test_segment_scores_equal_scoring_each_segment_alone(metric, corpus):
    slow = [corpus_score(metric, [segment]) for segment in corpus]
    assert metric.statistics(corpus).segments() == close(slow)


@pytest.mark.parametrize("kind", [np.asarray, csr_array], ids=["dense", "sparse"])
@every_metric
def test_groups_equal_scoring_the_group(metric, kind):
    weights = np.random.default_rng(1).integers(0, 2, size=(9, len(ROUGH))).astype(float)
    weights[0], weights[1] = 1, 0
    slow = [
        corpus_score(metric, [ROUGH[at] for at in np.flatnonzero(members)]) for members in weights
    ]
    assert metric.statistics(ROUGH).score(kind(weights)) == close(slow)


@pytest.mark.parametrize("kind", [np.asarray, csr_array], ids=["dense", "sparse"])
@every_metric
def test_whole_weights_equal_repeating_segments(metric, kind):
    weights = np.random.default_rng(2).integers(0, 4, size=(6, len(ROUGH))).astype(float)
    slow = [
        corpus_score(
            metric, [ROUGH[at] for at in np.repeat(np.arange(len(ROUGH)), row.astype(int))]
        )
        for row in weights
    ]
    assert metric.statistics(ROUGH).score(kind(weights)) == close(slow)


@every_metric
def test_no_weights_give_no_scores(metric):
    assert metric.statistics(PLAIN).score(np.zeros((0, len(PLAIN)))).shape == (0,)


@every_metric
def test_weights_are_worked_off_in_blocks_of_any_size(metric, monkeypatch):
    statistics = metric.statistics(PLAIN)
    weights = np.random.default_rng(3).integers(0, 3, size=(7, len(PLAIN))).astype(float)
    whole = statistics.score(csr_array(weights))
    monkeypatch.setattr("assay.metrics.base.BLOCK", 1)
    assert statistics.score(csr_array(weights)).tolist() == whole.tolist()


@every_metric
def test_the_order_of_segments_does_not_matter(metric):
    order = np.random.default_rng(4).permutation(len(ROUGH))
    shuffled, straight = metric.statistics([ROUGH[at] for at in order]), metric.statistics(ROUGH)
    assert shuffled.corpus() == close(straight.corpus())
    assert shuffled.segments() == close(straight.segments()[order])
    assert shuffled.without_each() == close(straight.without_each()[order])


def systems():
    """Three systems over shared tuples of references."""
    references = [segment.references for segment in uneven(10).segments()]
    return {
        name: list(map(Segment, demo(f"systems/{name}.txt", 10), references))
        for name in ("atlas", "birch", "cedar")
    }


@pytest.mark.parametrize("order", [("atlas", "birch", "cedar"), ("cedar", "atlas", "birch")])
@every_metric
def test_scoring_systems_together_equals_scoring_them_apart(metric, order):
    by_name = systems()
    together = metric.statistics([each for name in order for each in by_name[name]])
    for at, name in enumerate(order):
        part, alone = together[10 * at : 10 * at + 10], metric.statistics(by_name[name])
        assert part.corpus() == close(alone.corpus())
        assert part.segments() == close(alone.segments())
        assert part.without_each() == close(alone.without_each())
        weights = np.random.default_rng(5).integers(0, 3, size=(5, 10)).astype(float)
        assert part.score(weights) == close(alone.score(weights))


@every_metric
def test_equal_references_give_the_same_whether_or_not_they_are_one_object(metric):
    shared = [each for system in systems().values() for each in system]
    apart = [
        Segment(each.hypothesis, tuple("".join(list(line)) for line in each.references))
        for each in shared
    ]
    assert all(a.references is not b.references for a, b in zip(shared, apart, strict=True))
    assert metric.statistics(apart).segments().tolist() == (
        metric.statistics(shared).segments().tolist()
    )
    assert metric.statistics(apart).corpus() == metric.statistics(shared).corpus()


@pytest.mark.parametrize(
    "index",
    [
        slice(2, 9),
        slice(None, None, 3),
        slice(None, None, -1),
        slice(4, 4),
        np.arange(len(ROUGH)) % 3 == 1,
        np.zeros(len(ROUGH), bool),
        np.array([5, 0, 5, 21, 5]),
        [3, 1],
    ],
    ids=["slice", "step", "turned", "nothing", "mask", "no mask", "positions", "list"],
)
@every_metric
def test_an_index_gives_the_statistics_of_those_segments(metric, index):
    chosen = [ROUGH[at] for at in np.arange(len(ROUGH))[index]]
    part = metric.statistics(ROUGH)[index]
    assert len(part) == len(chosen)
    assert part.corpus() == close(corpus_score(metric, chosen))
    assert part.segments() == close([corpus_score(metric, [each]) for each in chosen])
    slow = [corpus_score(metric, chosen[:at] + chosen[at + 1 :]) for at in range(len(chosen))]
    assert part.without_each() == close(slow)
    weights = np.random.default_rng(6).integers(0, 3, size=(4, len(chosen))).astype(float)
    again = [
        [chosen[at] for at in np.repeat(np.arange(len(chosen)), row.astype(int))] for row in weights
    ]
    assert part.score(weights) == close([corpus_score(metric, each) for each in again])


@every_metric
def test_benefit_and_favoritism_equal_brute_force(metric):
    sign = 1 if metric.higher_is_better else -1
    a, b = systems()["atlas"], systems()["birch"]

    def slow(segments):
        whole = corpus_score(metric, segments)
        rest = (segments[:at] + segments[at + 1 :] for at in range(len(segments)))
        return np.array([sign * (whole - corpus_score(metric, each)) for each in rest])

    ours, theirs = metric.statistics(a), metric.statistics(b)
    assert ours.benefit() == close(slow(a))
    assert ours.favoritism(theirs) == close(slow(a) - slow(b))
    assert ours.favoritism(theirs) == close(-theirs.favoritism(ours))


@in_percent
def test_identical_text_is_the_best_score(metric):
    lines = [line for line in demo("ref.A.txt", 30) if len(line.split()) > 8]
    perfect = metric.statistics([Segment(line, (line,)) for line in lines])
    best = 100.0 if metric.higher_is_better else 0.0
    assert perfect.corpus() == close(best)
    assert perfect.segments() == close(np.full(len(lines), best))
    assert perfect.without_each() == close(np.full(len(lines), best))


@given(
    lines=st.lists(
        st.tuples(
            st.text("ab .1", max_size=12), st.lists(st.text("ab .1", max_size=12), min_size=1)
        ),
        min_size=1,
        max_size=4,
    )
)
@settings(max_examples=25, deadline=None)
@on_strings
def test_scores_stay_in_their_range(metric, lines):
    assert_in_range(metric, [Segment(line, tuple(others)) for line, others in lines])


LINES = [*SHORT, *demo("ref.A.txt", 12), *demo("systems/cedar.txt", 12)]


@given(
    lines=st.lists(
        st.tuples(st.sampled_from(LINES), st.lists(st.sampled_from(LINES), min_size=1)),
        min_size=1,
        max_size=4,
    )
)
@settings(max_examples=25, deadline=None)
@on_real_text
def test_scores_of_real_text_stay_in_their_range(metric, lines):
    assert_in_range(metric, [Segment(line, tuple(others)) for line, others in lines])


def assert_in_range(metric, segments):
    statistics = metric.statistics(segments)
    scores = [statistics.corpus(), *statistics.segments(), *statistics.without_each()]
    assert np.isfinite(scores).all()
    if metric.scale != "0-100":
        return
    assert min(scores) >= 0
    if metric.higher_is_better:
        assert max(scores) <= 100 + 1e-9


@on_strings
def test_rows_do_not_depend_on_the_number_of_threads(metric, monkeypatch):
    from assay import kernel
    from assay.metrics import bleu, chrf, rouge, ter, typef

    segments = [*PLAIN * 12, *(Segment(*segment) for segment in texts(120).segments())]
    found = []
    for threads in (1, 2, 5):
        limited = _Threads(kernel, threads)
        for module in (bleu, chrf, rouge, ter, typef):
            monkeypatch.setattr(module, "kernel", limited)
        rows = metric.rows(segments)
        found.append(rows.toarray() if hasattr(rows, "toarray") else rows)
        assert limited.calls
    assert all((rows == found[0]).all() for rows in found)


class _Threads:
    """The kernel with a fixed number of threads."""

    def __init__(self, kernel, threads):
        self.kernel, self.threads, self.calls = kernel, threads, 0

    def __getattr__(self, name):
        def call(*arguments):
            self.calls += 1
            return getattr(self.kernel, name)(*arguments, threads=self.threads)

        return call
