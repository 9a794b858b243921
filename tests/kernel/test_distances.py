"""Distances and common subsequences are those of others, and need no more memory than the line."""

import os
import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import LCSseq, Levenshtein
from rouge_score.rouge_scorer import RougeScorer

from assay import ROUGE, WER, DataError, kernel, parse
from assay.data import Segment
from tests.corpora import HOSTILE, read_lines, uneven
from tests.patience import PATIENCE

any_text = st.text(
    st.characters(exclude_categories=()) | st.sampled_from("aaabb  \u3000é猫\U0001f600\0"),
    max_size=80,
)


def characters(line, *, space):
    return line if space else "".join(line.split())


@given(hypothesis=any_text, references=st.lists(any_text, min_size=1, max_size=3))
@example("a b", ["ab", " a b "])
@settings(max_examples=300, deadline=None)
def test_edits_of_characters_are_rapidfuzzs(hypothesis, references):
    for space in (False, True):
        texts = [characters(line, space=space) for line in references]
        slow = min(Levenshtein.distance(characters(hypothesis, space=space), t) for t in texts)
        found = kernel.character_edits([(hypothesis, tuple(references))], space)
        assert found.tolist() == [[slow, sum(map(len, texts)) / len(texts)]]


@pytest.mark.parametrize("line", HOSTILE.values(), ids=HOSTILE)
def test_edits_of_hostile_characters_are_rapidfuzzs(line):
    other = line[len(line) // 3 :] + line[: len(line) // 4] + "?"
    for a, b in ((line, other), (other, line), (line, line), (line, "")):
        found = kernel.character_edits([(a, (b,))], True)
        assert found[0, 0] == Levenshtein.distance(a, b)


def edited(units, rng, edits):
    """The units with so many of them changed, lost or doubled."""
    units = list(units)
    for _ in range(edits):
        at = rng.randrange(len(units) + 1)
        units[at : at + rng.randrange(2)] = rng.choice([[], ["z"], [rng.choice("abc"), "y"]])
    return units


@pytest.mark.parametrize("letters", ["ab", "abcdefghijklmnopqrstuvwxyzäöü猫"], ids=["few", "many"])
@pytest.mark.parametrize("size", [63, 64, 65, 255, 256, 257, 511, 512, 513, 1025, 3000])
def test_edits_of_long_texts_are_rapidfuzzs_near_and_far_from_the_diagonal(size, letters):
    rng = random.Random(size)
    reference = rng.choices(letters, k=size)
    others = [edited(reference, rng, edits) for edits in (0, 1, 20, 130, 200, 260, 530, size)]
    others += [rng.choices(letters, k=k) for k in (size // 2, size, size + 300, 3 * size)]
    others += [reference[200:] + reference[:200], reference[::-1], reference[: size // 3]]
    for hypothesis in others:
        slow = Levenshtein.distance(hypothesis, reference)
        for a, b in ((hypothesis, reference), (reference, hypothesis)):
            assert kernel.character_edits([("".join(a), ("".join(b),))], True)[0, 0] == slow
            assert kernel.edits([(" ".join(a), (" ".join(b),))], "none", b"")[0, 0] == slow


@pytest.mark.parametrize("size", [64, 65, 256, 257, 700, 1500])
@pytest.mark.parametrize("letters", ["ab", "abcdefghijklmnopqrstuvwxyz"])
def test_common_subsequences_of_long_texts_are_as_long_as_rapidfuzzs(size, letters):
    rng = random.Random(size)
    reference = rng.choices(letters, k=size)
    for hypothesis in (edited(reference, rng, 50), rng.choices(letters, k=size + 90)):
        slow = LCSseq.similarity(hypothesis, reference)
        found = kernel.rouge([(" ".join(hypothesis), (" ".join(reference),))], 0, False, False)
        assert found[0, :2] == pytest.approx([slow / len(hypothesis), slow / len(reference)])


def summary_hits(hypothesis, reference):
    """Words in the union of rouge_score's common subsequences, by its own table and way back."""
    counts = [
        np.bincount(np.concatenate(side), minlength=10_000) for side in (reference, hypothesis)
    ]
    hits = 0
    for sentence in reference:
        union = sorted(set().union(*(chosen(sentence, candidate) for candidate in hypothesis)))
        for at in union:
            if all(count[sentence[at]] > 0 for count in counts):
                hits += 1
                for count in counts:
                    count[sentence[at]] -= 1
    return hits


def chosen(reference, candidate):
    table = np.zeros((len(reference) + 1, len(candidate) + 1), np.int32)
    for i, word in enumerate(reference, 1):
        above = table[i - 1]
        table[i, 1:] = np.maximum.accumulate(np.where(candidate == word, above[:-1] + 1, above[1:]))
    i, j, found = len(reference), len(candidate), []
    while i and j:
        if reference[i - 1] == candidate[j - 1]:
            found.append(i - 1)
            i, j = i - 1, j - 1
        elif table[i, j - 1] > table[i - 1, j]:
            j -= 1
        else:
            i -= 1
    return found


def as_text(sentences):
    return "\n".join(" ".join(f"w{word}" for word in sentence) for sentence in sentences)


@pytest.mark.parametrize(
    ("sizes", "words"),
    [((90, 70), 3), ((130, 40), 40), ((2000, 900), 2), ((2500, 300), 50), ((4600, 4700), 300)],
)
def test_summaries_of_long_sentences_have_rouge_scores_subsequence(sizes, words):
    # The last ones are too large to be kept as a whole: columns are computed twice.
    draws = np.random.default_rng(words)
    reference = [draws.integers(0, words, size) for size in sizes]
    hypothesis = [draws.integers(0, words, size) for size in (*sizes, 65)]
    hits = summary_hits(hypothesis, reference)
    total = sum(map(len, hypothesis)), sum(map(len, reference))
    found = kernel.rouge([(as_text(hypothesis), (as_text(reference),))], 0, True, False)
    assert found[0, :2] == pytest.approx([hits / total[0], hits / total[1]], abs=1e-12)
    if max(sizes) < 100:
        theirs = RougeScorer(["rougeLsum"]).score(as_text(reference), as_text(hypothesis))
        assert found[0] == pytest.approx(theirs["rougeLsum"], abs=1e-12)


def test_cer_with_white_space_is_rapidfuzzs_rate():
    segments = uneven(40).segments()
    rows = np.array(
        [
            (
                min(Levenshtein.distance(each.hypothesis, line) for line in each.references),
                np.mean([len(line) for line in each.references]),
            )
            for each in segments
        ]
    )
    statistics = parse("cer:space=yes").statistics(segments)
    assert statistics.rows == pytest.approx(rows)
    assert statistics.corpus() == pytest.approx(100 * rows[:, 0].sum() / rows[:, 1].sum())


def test_cer_of_real_text_is_rapidfuzzs(shared):
    folder = shared / "wmt21" / "de-en"
    reference = read_lines(next(folder.glob("ref*")))
    paths = sorted((folder / "systems").iterdir())[:4]
    for lines in map(read_lines, paths):
        slow = sum(map(Levenshtein.distance, lines, reference))
        found = parse("cer:space=yes").corpus_score(lines, [reference]).score
        assert found == pytest.approx(100 * slow / sum(map(len, reference)), rel=1e-12)


def test_white_space_stands_in_the_signature_of_characters_alone():
    assert "unit:char|space:no|" in parse("cer").signature(1)
    assert "unit:char|space:yes|" in parse("cer:space=yes").signature(1)
    assert "space" not in WER().signature(1)
    # Signatures from before there was the setting are of figures without white space.
    assert parse("CER|nrefs:1|case:mixed|tok:none|unit:char|version:assay-0.1.0") == parse("cer")
    with pytest.raises(DataError, match="cer:space=yes"):
        parse("wer:space=yes")


LONG_LINE = """
import resource, sys
from assay import parse
from assay.data import Segment

# Bits for all pairs of positions would take 3 GB for words and 100 GB for characters.
resource.setrlimit(resource.RLIMIT_AS, (1_500_000_000, 1_500_000_000))
words = [f"{chr(97 + at % 7)}{at % 1013}x" for at in range(180_000)]
other = list(words)
for at in range(500, 60_000, 3000):
    other[at] = "-" * len(words[at]) if sys.argv[1] == "cer" else "changed"
line, reference = " ".join(other), " ".join(words)
assert len(reference) > 1_000_000
print(parse(sys.argv[1]).statistics([Segment(line, (reference,))]).rows[0].tolist())
print(sum(map(len, words)), sum(map(len, words[500:60_000:3000])))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory as Linux does")
@pytest.mark.parametrize("metric", ["cer", "wer", "rouge-l", "rouge-lsum"])
def test_a_line_of_a_million_characters_takes_little_memory(metric):
    command = [sys.executable, "-c", LONG_LINE, metric]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    row, sizes = (line.strip("[]").replace(",", "").split() for line in done.stdout.splitlines())
    letters, changed = map(float, sizes)
    expected = {"cer": [changed, letters], "wer": [20, 180_000]}.get(metric, [1 - 20 / 180_000, 1])
    assert list(map(float, row)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("metric", "sizes", "unit"),
    [
        (WER(unit="char"), (8_000_000, 4_000_000), "characters"),
        (WER(), (7_000_000, 3_500_000), "words"),
        (ROUGE(), (3_200_000, 3_200_000), "words"),
        (ROUGE(type="Lsum"), (3_200_000, 3_200_000), "words"),
    ],
    ids=str,
)
def test_lines_that_would_take_hours_are_errors_that_say_which_and_what_to_do(metric, sizes, unit):
    blank = "" if unit == "characters" else " "
    hypothesis, reference = (
        f"{word}{blank}" * size for word, size in zip("ab", sizes, strict=True)
    )
    segments = [Segment("x", ("x",)), Segment(hypothesis, (reference,))]
    with pytest.raises(DataError) as error:
        metric.statistics(segments)
    message = str(error.value)
    assert f"begins with {hypothesis[:40]!r} has {sizes[0]:,} {unit}" in message
    assert f"{sizes[1]:,}" in message
    assert "Cut such lines into sentences" in message


def test_a_summary_of_very_many_sentences_is_an_error_too():
    lines = "a\n" * 60_000
    with pytest.raises(DataError, match="Cut such lines"):
        ROUGE(type="Lsum").sentence_score(lines, [lines + "b\n"])


def test_long_lines_that_are_nearly_the_same_are_compared_whatever_their_length():
    line = "abcdefgh" * 500_000
    other = f"x{line[:2_000_000]}yy{line[2_000_000:]}z"
    assert kernel.character_edits([(line, (other,))], True).tolist() == [[4, len(other)]]
