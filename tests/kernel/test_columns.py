"""Columns of lines give what segments give, bytes what characters give, and nothing is stale."""

import os
import pickle
import re
import subprocess
import sys
import threading
from collections import Counter

import numpy as np
import pytest
import sacrebleu
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assay import BLEU, CHRF, DataError, Dataset, kernel
from assay.data import Segment, Segments
from assay.metrics.base import parse
from assay.metrics.references import _KEPT, METRICS_KEPT
from assay.scoring.oddities import COMMON, EVERYTHING, LETTERS, _letters
from tests.corpora import HOSTILE, SHORT, demo, hostile
from tests.patience import PATIENCE

SYSTEMS = {name: tuple(demo(f"systems/{name}.txt", 40)) for name in ("atlas", "birch", "cedar")}
DATASET = Dataset(SYSTEMS, tuple(zip(demo("ref.A.txt", 40), demo("ref.B.txt", 40), strict=True)))
NAMES = ("bleu", "bleu:tok=intl", "bleu:tok=none", "bleu:tok=char", "bleu:lowercase=yes", "chrf++",
         "chrf:lowercase=yes", "ter", "wer", "cer", "rouge2", "rougeLsum", "macrof")  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_columns_give_what_a_list_of_segments_gives(name):
    columns = DATASET.all_segments()
    metric = parse(name)
    ours, theirs = metric.rows(columns), metric.rows(list(columns))
    dense = [
        np.asarray(each.toarray() if hasattr(each, "toarray") else each) for each in (ours, theirs)
    ]
    assert np.array_equal(*dense)


def test_segments_are_read_like_a_list():
    columns = DATASET.all_segments()
    listed = [segment for name in SYSTEMS for segment in DATASET.segments(name)]
    assert list(columns) == listed
    assert columns == listed
    assert columns != listed[:-1]
    assert (len(columns), columns[-1], columns[45]) == (120, listed[-1], listed[45])
    assert columns[38:42] == listed[38:42]
    assert listed[7] in columns
    assert pickle.loads(pickle.dumps(columns)) == listed
    for place in (120, -121):
        with pytest.raises(IndexError):
            columns[place]


class Bad:
    def __init__(self, *columns):
        self.columns = columns


@pytest.mark.parametrize(
    "columns",
    [
        (),
        ((("a",),), (("b",),)),
        ((("a", "b"),), (("c",),), None),
        ((("a",),), ((),), None),
        ((("a",),), ("c",), None),
        (((None,),), (("c",),), None),
        ((("a",),), ((3,),), None),
        (3, (("c",),), None),
    ],
)
def test_bad_columns_are_type_or_value_errors(columns):
    with pytest.raises((TypeError, ValueError)):
        kernel.word_ngrams(Bad(*columns), "13a", b"", 4)


def counted(words, references, order=4):
    """Rows of BLEU, as one would write them."""
    grams = [
        Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
        for n in range(1, order + 1)
    ]
    limits = Counter()
    for reference in references:
        for n in range(1, order + 1):
            limits |= Counter(tuple(reference[i : i + n]) for i in range(len(reference) - n + 1))
    length = len(words)
    closest = min((abs(len(r) - length), len(r)) for r in references)[1]
    matches = [sum((each & limits).values()) for each in grams]
    return [length, closest, *matches, *(max(0, length - n) for n in range(order))]


line = st.text(max_size=40) | st.text(
    "aé.,-'&;<>t 5\t\n\r\x00\x1c\x85\xa0\u2003\u3000\u00fc漢😀\ud800quotampgltskipped", max_size=60
)


@given(hypothesis=line, references=st.lists(line, min_size=1, max_size=3))
@example(hypothesis="&amp;quot; 1-2 a.,b ,.5", references=["-\n<skipped>&lt;"])
@example(hypothesis="x" * 63 + " .", references=["x" * 63 + "." * 70])
@settings(max_examples=150, deadline=None)
@pytest.mark.parametrize("tokenizer", ["13a", "none"])
def test_bytes_are_cut_where_characters_are(tokenizer, hypothesis, references):
    words, *others = kernel.tokenize([hypothesis, *references], tokenizer)
    found = kernel.word_ngrams([(hypothesis, tuple(references))], tokenizer, b"", 4)
    assert found.tolist() == [counted(words, others)]


letters = (
    st.text("ab", max_size=80)
    | st.text("abcdefgh\u00e9\u0436\u6f22", max_size=60)
    | st.text(max_size=30)
    | st.integers(1, 90).map(lambda times: "abc" * times)
)


@given(
    hypothesis=letters,
    references=st.lists(letters, min_size=1, max_size=3),
    order=st.integers(1, 12),
)
@settings(max_examples=200, deadline=None)
def test_ngrams_of_letters_are_those_of_counters(hypothesis, references, order):
    check_letters(hypothesis, references, order)


MANY = "".join(map(chr, range(0x4E00, 0x4E00 + 400)))


@pytest.mark.parametrize(
    "reference",
    [MANY, MANY[:254] * 2, MANY[:255] + "a", "ab" * 3000, "a" * 300, "a" * 255, "abcd" * 1023, ""],
    ids=lambda text: f"{len(set(text))} letters of {len(text)}",
)
def test_references_of_every_size_have_the_same_ngrams(reference):
    for hypothesis in (reference, reference[::-1], reference[7:50] * 5, "a" * 400):
        check_letters(hypothesis, [reference], 6)


def check_letters(hypothesis, references, order):
    """One word per letter: the rows of BLEU, and with one reference also those of chrF."""
    words = [" ".join(text.replace(" ", "")) for text in (hypothesis, *references)]
    cut = kernel.tokenize(words, "none")
    wanted = counted(cut[0], cut[1:], order)
    assert kernel.word_ngrams([(words[0], tuple(words[1:]))], "none", b"", order).tolist() == [
        wanted
    ]
    own = "".join(cut[0]), "".join(cut[1])
    [row] = kernel.character_ngrams([(own[0], (own[1],))], order, 0, 4.0, False, False, True)
    assert row[2::3].tolist() == counted(cut[0], cut[1:2], order)[2 : 2 + order]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_process_has_threads_of_its_own():
    code = """
import os
from assay import BLEU
lines = [f"{at} a b c d" for at in range(500)]
score = BLEU().corpus_score(lines, [lines]).score
child = os.fork()
if child == 0:
    os._exit(BLEU().corpus_score(lines, [lines]).score != score)
raise SystemExit(os.waitpid(child, 0)[1])
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, "ASSAY_THREADS": "4"},
        timeout=PATIENCE,
    )
    assert done.returncode == 0


def test_hostile_lines_are_cut_alike():
    for text in HOSTILE.values():
        [words] = kernel.tokenize([text], "13a")
        [row] = kernel.word_ngrams([(text, (text,))], "13a", b"", 1).tolist()
        assert row == [len(words)] * 4


@pytest.mark.parametrize(
    "metric", [BLEU(), CHRF(), CHRF(word_order=2), BLEU(tokenize="intl")], ids=str
)
def test_one_system_after_the_other_has_the_scores_of_all_at_once(metric):
    references = [list(lines) for lines in zip(*DATASET.references, strict=True)]
    wanted = [metric.statistics(list(DATASET.segments(name))).corpus() for name in SYSTEMS]
    for _ in range(3):
        assert [
            metric.corpus_score(list(lines), references).score for lines in SYSTEMS.values()
        ] == wanted


def test_references_that_were_changed_in_place_are_new():
    metric, lines = BLEU(), list(SYSTEMS["atlas"])
    references = [list(lines)]
    assert [metric.corpus_score(lines, references).score for _ in range(3)] == pytest.approx(
        [100] * 3
    )
    references[0][:] = SYSTEMS["birch"]
    wanted = sacrebleu.corpus_bleu(lines, references).score
    assert [metric.corpus_score(lines, references).score for _ in range(3)] == pytest.approx(
        [wanted] * 3
    )
    references[0][0] = None
    with pytest.raises(DataError, match="segment 1 has no reference"):
        metric.corpus_score(lines, references)


def test_hostile_references_that_are_kept_give_what_fresh_ones_give():
    lines, sets = hostile(SHORT)[:2]
    for metric in (BLEU(), CHRF(word_order=2)):
        fresh = metric.statistics(list(map(Segment, lines, zip(*sets, strict=True)))).corpus()
        named = {str(at): each for at, each in enumerate(sets)}
        assert metric.corpus_score(lines, named).score == fresh
        if len(sets) != len(lines):
            assert {metric.corpus_score(lines, sets).score for _ in range(3)} == {fresh}


def test_a_metric_made_anew_has_the_references_of_the_one_before():
    lines, other = list(SYSTEMS["atlas"]), list(SYSTEMS["birch"])
    wanted = BLEU().statistics(list(map(Segment, lines, zip(other, strict=True)))).corpus()
    assert {BLEU().corpus_score(lines, [list(other)]).score for _ in range(3)} == {wanted}
    assert len(_KEPT) <= METRICS_KEPT
    for order in range(1, 3 + METRICS_KEPT):
        BLEU(max_ngram_order=order).corpus_score(lines, [other])
    assert len(_KEPT) == METRICS_KEPT
    assert BLEU().corpus_score(lines, [other]).score == wanted


def test_an_index_of_other_references_is_not_used():
    index = kernel.ReferenceIndex((("x",),))
    segments = Segments((("a b",),), (("a b",),), (), index)
    assert kernel.word_ngrams(segments, "13a", b"", 1).tolist() == [[2, 2, 2, 2]]


def test_threads_share_one_metric_and_its_references():
    metric, failures = CHRF(), []
    sets = [list(SYSTEMS["birch"])], [list(SYSTEMS["cedar"])]
    wanted = [metric.corpus_score(list(SYSTEMS["atlas"]), each).score for each in sets]

    def work(which):
        for _ in range(10):
            if metric.corpus_score(list(SYSTEMS["atlas"]), sets[which]).score != wanted[which]:
                failures.append(which)

    threads = [threading.Thread(target=work, args=(at % 2,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_empty_and_tokenized_lines_are_counted_as_python_does():
    lines = (
        *HOSTILE.values(),
        "",
        " ",
        "\u3000\u2003",
        "a .",
        " .",
        ".",
        "é .",
        "漢 .",
        "a\u2003.",
    )
    wanted = sum(not line.strip() for line in lines), sum(line.endswith(" .") for line in lines)
    assert kernel.count_lines(tuple(lines)) == wanted


WORD = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|[^\\W\\d_\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+"
)
lowered = line.map(str.lower)


@given(lines=st.lists(lowered, max_size=4), sources=st.lists(lowered, min_size=1, max_size=3))
@settings(max_examples=150, deadline=None)
def test_overlaps_of_words_are_those_of_sets(lines, sources):
    table = _letters(LETTERS).ljust(EVERYTHING, b"\0")
    places = tuple(at % len(sources) for at in range(len(lines)))
    sets = [set(WORD.findall(text)) for text in sources]
    wanted = [
        [len(words), len(words & sets[at]), len(words & set().union(*sets))]
        for words, at in (
            (set(WORD.findall(text)), at) for text, at in zip(lines, places, strict=True)
        )
    ]
    assert kernel.word_overlaps(tuple(lines), places, tuple(sources), table).tolist() == wanted
    small = kernel.word_overlaps(tuple(lines), places, tuple(sources), _letters(COMMON))
    seen = [max(map(ord, text), default=0) < COMMON for text in (*sources, *lines)]
    told = [all(seen[: len(sources)]) and each for each in seen[len(sources) :]]
    assert small.tolist() == [
        row if there else [-1] * 3 for row, there in zip(wanted, told, strict=True)
    ]
