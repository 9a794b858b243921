"""ROUGE is the rouge_score package's, to the last word form."""

import re
import string
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer
from rouge_score.rouge_scorer import RougeScorer

from assay import ROUGE, kernel
from assay.data import Segment
from tests.corpora import HOSTILE, SHORT, hostile, read_lines, texts, uneven

TYPES = [*"123456789", "L", "Lsum"]
VALUES = {"precision": "precision", "recall": "recall", "f": "fmeasure"}


def expected(metric, segments):
    """The scores of rouge_score in percent, one per segment."""
    name = f"rouge{metric.type}"
    scorer = RougeScorer([name], use_stemmer=metric.stem)
    scores = (scorer.score_multi(each.references, each.hypothesis)[name] for each in segments)
    return [100 * getattr(each, VALUES[metric.value]) for each in scores]


def check(metric, segments):
    slow = expected(metric, segments)
    statistics = metric.statistics(segments)
    assert statistics.segments() == pytest.approx(slow, abs=1e-9, rel=0)
    assert statistics.corpus() == pytest.approx(sum(slow) / len(slow), abs=1e-9, rel=0)


@pytest.mark.parametrize("stem", [False, True], ids=["plain", "stemmed"])
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("kind", TYPES)
def test_rouge_is_rouge_scores(kind, value, stem):
    check(ROUGE(type=kind, value=value, stem=stem), uneven(15).segments())


@pytest.mark.parametrize("stem", [False, True], ids=["plain", "stemmed"])
@pytest.mark.parametrize("kind", TYPES)
def test_rouge_of_hostile_text_is_rouge_scores(kind, stem):
    check(ROUGE(type=kind, stem=stem), hostile(SHORT).segments())


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("lines", [1, 2, 5, 13])
def test_summaries_of_several_lines_are_rouge_scores(lines, value):
    full = texts(60, references=2).segments()
    grouped = [full[at : at + lines] for at in range(0, len(full), lines)]
    joined = [
        Segment(
            "\n".join(each.hypothesis for each in group),
            tuple("\n".join(lines) for lines in zip(*(g.references for g in group), strict=True)),
        )
        for group in grouped
    ]
    check(ROUGE(type="Lsum", value=value), joined)
    check(ROUGE(type="Lsum", value=value, stem=True), joined)


def test_lines_of_a_summary_matter_to_lsum_only():
    segment = Segment("b c\na", ("a\nb c",))
    assert ROUGE(type="L").statistics([segment]).corpus() == pytest.approx(200 / 3)
    assert ROUGE(type="Lsum").statistics([segment]).corpus() == pytest.approx(100)


def test_very_long_lines_are_rouge_scores():
    long = [line for line in HOSTILE.values() if len(line) > 1000]
    cut = [" ".join(line.split()[:300]) for line in long]
    segments = [Segment(line, (cut[0], line[: len(line) // 2])) for line in cut]
    for kind in ("1", "2", "L"):
        check(ROUGE(type=kind, stem=True), segments)


any_text = st.text(
    st.characters(exclude_categories=()) | st.sampled_from("aabbcc 019\nSsİKeding"), max_size=30
)


@given(
    hypothesis=any_text,
    references=st.lists(any_text, min_size=1, max_size=3),
    kind=st.sampled_from(["1", "2", "4", "L", "Lsum"]),
    value=st.sampled_from(list(VALUES)),
    stem=st.booleans(),
)
@settings(max_examples=400, deadline=None)
def test_rouge_of_any_text_is_rouge_scores(hypothesis, references, kind, value, stem):
    check(ROUGE(type=kind, value=value, stem=stem), [Segment(hypothesis, tuple(references))])


few_words = st.lists(st.sampled_from(["a", "b", "c", "\n"]), max_size=20).map(" ".join)


@given(hypothesis=few_words, reference=few_words)
@settings(max_examples=300, deadline=None)
def test_common_subsequences_of_few_words_are_rouge_scores(hypothesis, reference):
    for kind in ("L", "Lsum"):
        check(ROUGE(type=kind), [Segment(hypothesis, (reference,))])


def assert_stems_are_nltks(words):
    """A word matches its stem if the kernel's stem is NLTK's; a changed stem does not match it."""
    stemmer = PorterStemmer()
    stems = [stemmer.stem(word) if len(word) > 3 else word for word in words]
    # A stem as such is only comparable where stemming it again leaves it alone.
    pairs = [
        (word, stem)
        for word, stem in zip(words, stems, strict=True)
        if len(stem) <= 3 or stemmer.stem(stem) == stem
    ]
    segments = [(word, (stem,)) for word, stem in pairs]
    found = kernel.rouge(segments, 1, False, True)[:, 2]
    wrong = [pair for pair, score in zip(pairs, found, strict=True) if score != 1]
    assert wrong == []
    assert len(pairs) > 0.5 * len(words)


def assert_same_words_match(words):
    """Two neighbours in a list share a stem here where they share one in NLTK."""
    stemmer = PorterStemmer()
    pairs = list(pairwise(words))
    found = kernel.rouge([(a, (b,)) for a, b in pairs], 1, False, True)[:, 2]
    stems = {word: stemmer.stem(word) if len(word) > 3 else word for word in words}
    same = [stems[a] == stems[b] for a, b in pairs]
    wrong = [pair for pair, one, other in zip(pairs, found, same, strict=True) if one != other]
    assert wrong == []
    assert any(same)


def test_word_forms_of_real_text_have_nltks_stems(shared):
    lines = [
        line
        for pair in ("de-en", "ru-en", "et-en", "tr-en", "zh-en", "en-de")
        for line in read_lines(shared / "wmt18" / pair / "ref.txt")
    ]
    words = sorted({word for line in lines for word in re.findall("[a-z0-9]+", line.lower())})
    assert len(words) > 20_000
    assert_stems_are_nltks(words)
    assert_same_words_match(words)


SUFFIXES = re.findall(
    r"\w+",
    "s es ies sses ed ing eed ied ying ational tional enci anci izer bli alli entli eli ousli "
    "ization ation ator alism iveness fulness ousness aliti iviti biliti fulli logi icate ative "
    "alize iciti ical ful ness al ance ence er ic able ible ant ement ment ent ion sion tion ou "
    "ism ate iti ous ive ize e ll y ly ely ally ability",
)
STEMS = ["a", "be", "hop", "fall", "fizz", "fil", "agre", "sky", "yy", "siz", "xyl"]
IRREGULAR = re.findall(
    r"\w+",
    "sky skies dying lying tying news innings inning outings outing cannings canning howe proceed "
    "exceed succeed",
)


def test_every_suffix_on_every_stem_is_stemmed_as_by_nltk():
    words = sorted(
        {stem + a + b for stem in STEMS for a in ["", *SUFFIXES] for b in ["", *SUFFIXES]}
    )
    assert_stems_are_nltks([*words, *IRREGULAR])
    assert_same_words_match([*words, *IRREGULAR])


@given(
    st.lists(
        st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=15)
        | st.builds(str.__add__, st.text("aeioubcdlstyz", max_size=7), st.sampled_from(SUFFIXES)),
        min_size=1,
        max_size=40,
    )
)
@settings(max_examples=300, deadline=None)
def test_any_words_are_stemmed_as_by_nltk(words):
    stemmer = PorterStemmer()
    by_stem = {word: stemmer.stem(word) if len(word) > 3 else word for word in words}
    segments = [(a, (b,)) for a in words for b in {*words[:3], by_stem[a]}]
    found = kernel.rouge(segments, 1, False, True)[:, 2]
    expected = [_stem(a, stemmer) == _stem(b, stemmer) for a, (b,) in segments]
    assert found.tolist() == expected


def _stem(word, stemmer):
    return stemmer.stem(word) if len(word) > 3 else word
