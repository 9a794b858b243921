"""Marked words: nothing is lost, and no word is marked more often than it differs."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.comparison.favoritism import _bare, mark_differences
from assay.results import Span
from tests.corpora import SHORT

WORD = st.sampled_from(["a", "b", "c", "a,", "(b)", "c.", "“a”", "...", "北京", "e\u0301"])
LINE = st.lists(WORD, max_size=12).map(" ".join)
ANY = st.text(max_size=40)


def words(marked):
    return [word for span in marked for word in span.text.split(" ")] if marked else []


def marks(marked, kind):
    return Counter(
        _bare(word) for span in marked if span.mark == kind for word in span.text.split(" ")
    )


def counts(line):
    return Counter(map(_bare, line.split()))


@settings(deadline=None)
@given(ANY | LINE, ANY | LINE, ANY | LINE)
def test_texts_are_preserved_word_for_word(reference, first, second):
    for marked, line in zip(
        mark_differences(reference, first, second), (reference, first, second), strict=True
    ):
        assert words(marked) == line.split()


@pytest.mark.parametrize("line", SHORT)
def test_hostile_texts_are_preserved_word_for_word(line):
    for marked in mark_differences(line, line, line):
        assert words(marked) == line.split()
        assert {span.mark for span in marked} <= {""}


@settings(deadline=None)
@given(LINE, LINE, LINE)
def test_each_word_is_marked_as_often_as_it_differs(reference, first, second):
    marked = mark_differences(reference, first, second)
    goal, mine, theirs = map(counts, (reference, first, second))
    every = {*goal, *mine, *theirs}
    for word in every:
        right, other = min(mine[word], goal[word]), min(theirs[word], goal[word])
        assert marks(marked.first, "good")[word] == max(0, right - theirs[word])
        assert marks(marked.second, "good")[word] == max(0, other - mine[word])
        assert marks(marked.first, "bad")[word] == max(0, mine[word] - goal[word])
        assert marks(marked.second, "bad")[word] == max(0, theirs[word] - goal[word])
        assert marks(marked.reference, "note")[word] == abs(right - other)


@settings(deadline=None)
@given(LINE, LINE, LINE)
def test_changing_places_changes_only_places(reference, first, second):
    marked = mark_differences(reference, first, second)
    turned = mark_differences(reference, second, first)
    assert (marked.reference, marked.first, marked.second) == (
        turned.reference,
        turned.second,
        turned.first,
    )


@settings(deadline=None)
@given(LINE, LINE, LINE)
def test_neighbours_have_different_marks(reference, first, second):
    for marked in mark_differences(reference, first, second):
        kinds = [span.mark for span in marked]
        assert all(one != other for one, other in pairwise(kinds))


def test_punctuation_at_the_edges_makes_no_difference():
    marked = mark_differences("the cat.", "the cat", "the “cat”,")
    assert all(not span.mark for line in marked for span in line)


def test_only_the_surplus_of_a_repeated_word_is_bad():
    marked = mark_differences("the cat", "the the the cat", "")
    assert marked.first == (Span("the the", "bad"), Span("the cat", "good"))


def test_chinese_is_cut_where_the_tokenizer_cuts_it():
    marked = mark_differences("我去北京。", "我去北京。", "我去上海。", tokenizer="zh")
    assert marks(marked.first, "good") == Counter("北京")
    assert marks(marked.second, "bad") == Counter("上海")
    whole = mark_differences("我去北京。", "我去北京。", "我去上海。")
    assert [span.mark for span in whole.second] == ["bad"]
