"""Edits are counted as sacreBLEU and a plain dynamic programme count them."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import lib_ter

from assay import TER, WER, kernel
from assay.data import Segment
from tests.corpora import HOSTILE, SHORT, hostile, uneven


def shifted(hypothesis, reference):
    """Edits of the kernel between two lists of words."""
    segment = (" ".join(hypothesis), (" ".join(reference),))
    return int(kernel.shifted_edits([segment], "none", b"")[0, 0])


def sacrebleus(hypothesis, reference):
    return lib_ter.translation_edit_rate(hypothesis, reference)[0]


words = st.sampled_from(["a", "b", "c", "d", "e", "f", "g", "h"])


@given(hypothesis=st.lists(words, max_size=14), reference=st.lists(words, max_size=14))
@settings(max_examples=400, deadline=None)
def test_shifted_edits_of_short_texts_are_sacrebleus(hypothesis, reference):
    assert shifted(hypothesis, reference) == sacrebleus(hypothesis, reference)


def moved(words, rng, *, moves, losses):
    """The words with blocks of them moved, and some lost or replaced."""
    words = list(words)
    for _ in range(moves):
        start, length = rng.randrange(len(words) + 1), rng.randrange(1, 13)
        block = words[start : start + length]
        del words[start : start + length]
        target = rng.randrange(len(words) + 1)
        words[target:target] = block
    for _ in range(losses):
        at = rng.randrange(len(words)) if words else 0
        words[at : at + 1] = rng.choice([[], ["new"], ["new", "words"]])
    return words


@pytest.mark.parametrize("seed", range(25))
def test_shifted_edits_of_moved_blocks_are_sacrebleus(seed):
    rng = random.Random(seed)
    size, vocabulary = (
        rng.choice([5, 12, 24, 25, 26, 50, 63, 64, 65, 90, 120]),
        rng.choice([3, 20, 500]),
    )
    reference = [f"w{rng.randrange(vocabulary)}" for _ in range(size)]
    hypothesis = moved(reference, rng, moves=rng.randrange(5), losses=rng.randrange(12))
    assert shifted(hypothesis, reference) == sacrebleus(hypothesis, reference)


@pytest.mark.parametrize("seed", range(20))
def test_shifted_edits_of_unrelated_long_texts_are_sacrebleus(seed):
    # Beyond 24 words the beam hides paths.
    rng = random.Random(1000 + seed)
    vocabulary = rng.choice([2, 5, 40])
    sizes = (rng.choice([0, 1, 3, 30, 70, 90]), rng.choice([1, 26, 60, 90, 110]))
    hypothesis, reference = ([f"w{rng.randrange(vocabulary)}" for _ in range(n)] for n in sizes)
    assert shifted(hypothesis, reference) == sacrebleus(hypothesis, reference)


@pytest.mark.parametrize(
    ("short", "long"), [(1, 60), (2, 101), (1, 49), (1, 51), (3, 400), (7, 300), (40, 150), (2, 5)]
)
@pytest.mark.parametrize("turned", [False, True])
def test_texts_of_very_different_lengths_get_sacrebleus_wider_beam(short, long, turned):
    rng = random.Random(short * long)
    hypothesis, reference = ([f"w{rng.randrange(30)}" for _ in range(n)] for n in (short, long))
    if turned:
        hypothesis, reference = reference, hypothesis
    assert shifted(hypothesis, reference) == sacrebleus(hypothesis, reference)


def test_the_beam_misses_matches_far_from_the_diagonal():
    # 60 words too many at the start and too few at the end: 120 edits keep 60 words, but the
    # beam sees only substitutions. No word is near enough to be shifted.
    words = [f"w{at}" for at in range(200)]
    hypothesis = [f"x{at}" for at in range(60)] + words[:140]
    assert plain_distance(hypothesis, words) == 120
    assert shifted(hypothesis, words) == sacrebleus(hypothesis, words) == 200


def test_texts_longer_than_the_bit_vectors_are_sacrebleus():
    # More than 256 words of reference are compared by the beam alone.
    rng = random.Random(7)
    words = [f"w{at}" for at in range(270)]
    hypothesis = moved(words, rng, moves=3, losses=6)
    assert shifted(hypothesis, words) == sacrebleus(hypothesis, words)


@pytest.mark.parametrize("size", [15, 30, 70])
@pytest.mark.parametrize("seed", range(2))
def test_the_search_ends_after_1000_candidates_as_in_sacrebleu(size, seed, monkeypatch):
    rng = random.Random(seed)
    reference = [rng.choice("ab") for _ in range(size)]
    hypothesis = [rng.choice("abc") for _ in range(size)]
    expected = sacrebleus(hypothesis, reference)
    assert shifted(hypothesis, reference) == expected
    checked = []
    search = lib_ter._shift

    def watched(*arguments):
        result = search(*arguments)
        checked.append(result[2])
        return result

    monkeypatch.setattr(lib_ter, "_shift", watched)
    assert sacrebleus(hypothesis, reference) == expected
    assert (checked[-1] >= 1000) == (size == 70), "the sizes are on both sides of the limit"


def plain_distance(hypothesis, reference):
    """Insertions, deletions and substitutions, by the obvious dynamic programme."""
    row = list(range(len(reference) + 1))
    for i, word in enumerate(hypothesis, 1):
        above, row = row, [i]
        for j, wanted in enumerate(reference, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (word != wanted)))
    return row[-1]


@given(hypothesis=st.lists(words, max_size=20), reference=st.lists(words, max_size=20))
@settings(max_examples=400, deadline=None)
def test_edits_are_the_plain_distance(hypothesis, reference):
    segment = (" ".join(hypothesis), (" ".join(reference),))
    expected = [plain_distance(hypothesis, reference), len(reference)]
    assert kernel.edits([segment], "none", b"").tolist() == [expected]


@pytest.mark.parametrize("size", [1, 63, 64, 65, 127, 128, 129, 200, 300])
def test_edits_are_the_plain_distance_across_machine_words(size):
    rng = random.Random(size)
    reference = [rng.choice("abcd") for _ in range(size)]
    for other in (size, max(0, size - 40), size + 70, 0):
        hypothesis = [rng.choice("abcd") for _ in range(other)]
        segment = (" ".join(hypothesis), (" ".join(reference),))
        found = kernel.edits([segment], "none", b"")[0, 0]
        assert found == plain_distance(hypothesis, reference)


@given(hypothesis=st.lists(words, max_size=12), reference=st.lists(words, max_size=12))
@settings(max_examples=200, deadline=None)
def test_shifts_never_cost_more_than_they_save(hypothesis, reference):
    assert shifted(hypothesis, reference) <= plain_distance(hypothesis, reference)


def test_wer_is_the_plain_rate_over_all_segments():
    segments = [*uneven(20).segments(), *hostile(SHORT).segments()]
    rows = np.array([plain_row(segment, str.split) for segment in segments])
    statistics = WER().statistics(segments)
    assert statistics.rows == pytest.approx(rows)
    assert statistics.corpus() == pytest.approx(100 * rows[:, 0].sum() / rows[:, 1].sum())


def test_cer_is_the_plain_rate_over_characters_without_white_space():
    segments = uneven(6).segments()
    rows = np.array(
        [plain_row(segment, lambda line: "".join(line.split())) for segment in segments]
    )
    statistics = WER(unit="char").statistics(segments)
    assert statistics.rows == pytest.approx(rows)


def plain_row(segment, split):
    references = [split(line) for line in segment.references]
    nearest = min(plain_distance(split(segment.hypothesis), each) for each in references)
    return nearest, sum(map(len, references)) / len(references)


@pytest.mark.parametrize("metric", [TER(), WER(), WER(unit="char")], ids=str)
def test_words_against_nothing_are_100_and_nothing_against_nothing_is_0(metric):
    segments = [Segment("a b c", ("",)), Segment("", ("",)), Segment("", ("a b",))]
    assert metric.statistics(segments).segments().tolist() == [100, 0, 100]


def test_more_edits_than_reference_words_are_more_than_100():
    assert WER().sentence_score("a b c d", ["x"]).score == 400
    assert TER().sentence_score("a b c d", ["x"]).score == 400


def test_wer_tokenizes_and_lowercases_on_demand():
    hypothesis, reference = "Yes, we can.", "yes , we can ."
    assert WER().sentence_score(hypothesis, [reference]).score == pytest.approx(80)
    assert WER(tokenize="13a").sentence_score(hypothesis, [reference]).score == pytest.approx(20)
    both = WER(tokenize="13a", lowercase=True)
    assert both.sentence_score(hypothesis, [reference]).score == 0


def test_long_hostile_lines_are_counted_quickly():
    lines = [Segment(line, (line[::-1], line)) for line in HOSTILE.values()]
    assert TER().statistics(lines).corpus() == 0
