"""Findings and the scoreboard: what their figures are, against other ways to get them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

import assay
from assay.data import Dataset, Segment
from assay.demo import read_demo
from assay.metrics.base import parse
from assay.reports import probes
from assay.reports.findings import FEWEST_CARRIERS, rank
from assay.reports.wording import describe

KEYS = [
    "rank", "kind", "slice", "metric", "system", "other", "n", "value", "value_other", "difference",
    "low", "high", "p", "p_adjusted", "share", "segments", "also_seen_as",
]  # fmt: skip
METRICS = ["bleu", "chrf", "ter", "wer", "rouge", "macrof", "microf"]
WORDS = st.lists(st.sampled_from(["the", "a", "cat", "dog", "sat", "on", "12", "."]), max_size=8)
LINES = st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=2, max_size=12)


@pytest.fixture(scope="module")
def demo():
    return read_demo()


@pytest.fixture(scope="module")
def pair(demo):
    return replace(demo, systems={name: demo.systems[name] for name in ("atlas", "birch")})


@pytest.fixture(scope="module")
def result(pair):
    return assay.compare(pair, features=())


@pytest.fixture(scope="module")
def three(demo):
    return assay.compare(demo, features=())


def statistics_of(metric, outputs, references):
    """The statistics of two systems, with columns in common."""
    segments = [
        Segment(" ".join(line), (" ".join(reference) or "x",))
        for lines in outputs
        for line, reference in zip(lines, references, strict=True)
    ]
    together = parse(metric).statistics(segments)
    half = len(references)
    return together[:half], together[half:]


@pytest.mark.parametrize("metric", METRICS)
@settings(max_examples=30)
@given(lines=LINES)
def test_contributions_change_their_sign_where_systems_change_places(metric, lines):
    one, other, references = zip(*lines, strict=True)
    first, second = statistics_of(metric, (one, other), references)
    there, back = first.contributions(second), second.contributions(first)
    assert there == pytest.approx(-back, abs=1e-9)


@pytest.mark.parametrize("metric", METRICS)
@settings(max_examples=30)
@given(lines=LINES, swaps=st.lists(st.booleans(), min_size=12, max_size=12))
def test_a_segment_that_changes_places_changes_its_own_sign_alone(metric, lines, swaps):
    one, other, references = zip(*lines, strict=True)
    swaps = swaps[: len(lines)]
    mixed = [
        [b if swap else a for a, b, swap in zip(*sides, swaps, strict=True)]
        for sides in ((one, other), (other, one))
    ]
    first, second = statistics_of(metric, (one, other), references)
    third, fourth = statistics_of(metric, mixed, references)
    signs = np.where(swaps, -1, 1)
    expected = signs * first.contributions(second)
    assert third.contributions(fourth) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("metric", "tolerance"),
    [("bleu", 0.05), ("chrf", 0.01), ("ter", 1e-6), ("wer", 1e-6), ("rouge", 1e-6),
     ("macrof", 0.2), ("microf", 0.1)],
)  # fmt: skip
def test_contributions_add_up_to_about_the_difference(demo, metric, tolerance):
    statistics = parse(metric).statistics(demo.all_segments())
    atlas, birch, cedar = (statistics[at : at + 120] for at in (0, 120, 240))
    for one, other in ((atlas, birch), (atlas, cedar), (birch, cedar)):
        sign = 1 if one.metric.higher_is_better else -1
        difference = sign * (one.corpus() - other.corpus())
        assert one.contributions(other).sum() == pytest.approx(difference, rel=tolerance)


def test_segments_that_are_the_same_contribute_nothing(pair):
    lines = list(pair.systems["atlas"])
    lines[7] = "something else"
    segments = [
        Segment(line, references)
        for texts in (pair.systems["atlas"], lines)
        for line, references in zip(texts, pair.references, strict=True)
    ]
    for metric in METRICS:
        statistics = parse(metric).statistics(segments)
        moved = statistics[:120].contributions(statistics[120:])
        assert np.flatnonzero(np.abs(moved) > 1e-9).tolist() == [7]


def test_records_have_these_keys(result):
    assert all(list(record) == KEYS for record in result.records())
    ranks = [record["rank"] for record in result.records()]
    assert ranks == list(range(1, len(ranks) + 1))


def test_what_is_established_comes_first_and_what_is_too_small_last(three):
    records = three.records()
    state = [
        2 if record["p"] is None else int(not record["p_adjusted"] < 0.05) for record in records
    ]
    assert state == sorted(state)
    assert {0, 2} <= set(state)


def test_p_is_adjusted_over_all_tests_as_statsmodels_does_it(three):
    tested = [record for record in three.records() if record["p"] is not None]
    expected = multipletests([record["p"] for record in tested], method="fdr_bh")[1]
    assert [record["p_adjusted"] for record in tested] == pytest.approx(list(expected))
    assert len({(record["system"], record["other"]) for record in tested}) == 2


def test_slices_in_which_few_segments_differ_have_no_p(three):
    for finding in three.findings:
        assert np.isnan(finding.p) == (finding.carriers < FEWEST_CARRIERS)
        assert finding.carriers > 0


def test_a_segment_slice_has_the_scores_of_its_segments_alone(pair, result):
    found = [r for r in result.records() if r["kind"] in ("text", "label", "difficulty")]
    assert len(found) > 15
    for record in found:
        places = [number - 1 for number in record["segments"]]
        part = Dataset(
            {name: tuple(lines[at] for at in places) for name, lines in pair.systems.items()},
            tuple(pair.references[at] for at in places),
            languages=pair.languages,
        )
        scores = {r["system"]: r["score"] for r in assay.score(part, ["chrf"]).records()}
        assert record["n"] == len(places)
        assert record["value"] == pytest.approx(scores[record["system"]])
        assert record["value_other"] == pytest.approx(scores[record["other"]])
        assert record["difference"] == pytest.approx(record["value"] - record["value_other"])
        if record["n"] > 1:
            assert record["low"] <= record["difference"] <= record["high"]


def test_shares_of_all_documents_add_up_to_1(result):
    shares = [r["share"] for r in result.records() if r["slice"].startswith("document ")]
    assert len(shares) == 12
    assert sum(shares) == pytest.approx(1)


def test_shares_of_quarters_of_length_and_difficulty_add_up_to_1(result):
    records = result.records()
    for chosen in (
        [r for r in records if r["kind"] == "difficulty"],
        [r for r in records if r["kind"] == "text" and r["slice"].startswith("of ")
         and r["slice"].endswith(" words")],
    ):  # fmt: skip
        assert len(chosen) == 4
        assert sum(r["share"] for r in chosen) == pytest.approx(1)


def test_segments_count_from_1_and_those_that_carry_the_difference_come_first(result, pair):
    for finding in result.findings:
        assert all(1 <= number <= len(pair) for number in finding.segments)
        assert len(set(finding.segments)) == len(finding.segments)
    [finding] = [f for f in result.findings if f.kind == "fault" and f.slice == "numbers"]
    assert finding.value > finding.value_other == 0
    faults = parse("fault:numbers").rows(
        [
            Segment(line, references, source)
            for line, references, source in zip(
                pair.systems["birch"], pair.references, pair.sources, strict=True
            )
        ]
    )
    wrong = set((np.flatnonzero(faults[:, 0]) + 1).tolist())
    assert set(finding.segments[: len(wrong)]) == wrong


def test_swapping_two_systems_turns_all_findings_round(pair, result):
    turned = assay.compare(
        replace(pair, systems=dict(reversed(list(pair.systems.items())))), features=()
    )

    def key(record):
        return record["kind"], record["slice"], record["metric"]

    others = {key(record): record for record in turned.records()}
    assert len(others) == len(result.findings)
    for record in result.records():
        other = others[key(record)]
        assert (other["system"], other["other"]) == (record["other"], record["system"])
        for name, opposite in (("difference", "difference"), ("low", "high"), ("high", "low")):
            if record[name] is not None:
                assert other[opposite] == pytest.approx(-record[name], abs=1e-9)
        assert other["p"] == (None if record["p"] is None else pytest.approx(record["p"]))


def on_slice(name, segments, moved, p):
    """A test of two systems on some segments."""
    return probes.ProbeTest(
        "text", name, "chrF2", "", True, False, 1, 0, 50.0, 40.0, p,
        np.array(segments), np.array(moved, float),
    )  # fmt: skip


def test_what_says_the_same_goes_under_the_strongest_finding():
    cause = on_slice("cause", range(10), [3.0] * 10, 1e-6)
    same = on_slice("same", range(20), [3.0] * 10 + [0.1, -0.1] * 5, 1e-5)
    another = on_slice("another", range(50, 60), [2.0] * 10, 1e-4)
    findings = rank([same, another, cause], {(1, 0): np.ones(100)}, ["a", "b"])
    assert [(f.slice, f.under) for f in findings] == [
        ("cause", None), ("another", None), ("same", 1)
    ]  # fmt: skip


def test_what_has_more_left_outside_stands_for_itself():
    cause = on_slice("cause", range(10), [3.0] * 10, 1e-6)
    wider = on_slice("wider", range(40), [1.0] * 40, 1e-5)
    findings = rank([cause, wider], {(1, 0): np.ones(100)}, ["a", "b"])
    assert [finding.under for finding in findings] == [None, None]


def test_findings_of_other_systems_absorb_nothing():
    one = on_slice("one", range(10), [3.0] * 10, 1e-6)
    other = replace(one, name="other", first=2, p=1e-5)
    overall = {(1, 0): np.ones(100), (2, 0): np.ones(100)}
    findings = rank([one, other], overall, ["a", "b", "c"])
    assert [finding.under for finding in findings] == [None, None]


def test_scores_of_the_scoreboard_are_those_of_score(demo, three):
    expected = {
        (record["system"], record["metric"]): record["score"]
        for record in assay.score(demo, ["chrf", "bleu", "macrof"]).records()
    }
    for standing, name in zip(three.board.standings, ("chrf", "bleu", "macrof"), strict=False):
        for system, score in zip(three.board.systems, standing.scores, strict=True):
            assert score == pytest.approx(expected[system, name])


def test_ps_of_the_scoreboard_are_near_approximate_randomisation(demo):
    part = {name: lines[:40] for name, lines in demo.systems.items() if name != "cedar"}
    data = replace(
        demo, systems=part, references=demo.references[:40], sources=demo.sources[:40],
        documents=demo.documents[:40], human={},
    )  # fmt: skip
    board = assay.compare(data, features=()).board
    records = assay.score(data, ["chrf", "bleu", "macrof"], test="randomisation").records()
    for standing, record in zip(board.standings, records[1::2], strict=True):
        p = standing.difference(1, 0).p
        assert record["p"] == pytest.approx(p, rel=0.25, abs=0.01), record["metric"]


def test_ranks_and_clusters_of_the_demo_by_hand(three):
    chrf, bleu, macrof, _ = three.board.standings
    # atlas, birch, cedar
    assert chrf.ranks == ((1, 2), (1, 2), (3, 3))
    assert bleu.ranks == ((2, 2), (1, 1), (3, 3))
    assert macrof.ranks == ((1, 1), (2, 2), (3, 3))
    assert chrf.clusters == (1, 1, 2)
    assert bleu.clusters == (2, 1, 3)
    assert [three.board.systems[at] for at in three.board.order] == ["atlas", "birch", "cedar"]


def test_the_difference_of_two_systems_is_turned_round(three):
    for standing in three.board.standings:
        value, low, high, p, adjusted = standing.difference(0, 2)
        assert standing.difference(2, 0) == (-value, -high, -low, p, adjusted)
        assert low <= value <= high
        assert p <= adjusted


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("“on”", "on the word “on”:"),
        ("“take place”", "on the words “take place”:"),
        ("“,”", "on the mark “,”:"),
        ('‘, "’', 'on the marks ‘, "’:'),
    ],
)
def test_sentences_say_that_words_are_words(three, words, told):
    finding = next(each for each in three.findings if each.kind == "phrases" and each.metric == "F")
    assert told in describe(replace(finding, slice=words))
