"""Loops that read one text in several ways."""

from functools import cache
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.suites.lint.syntax import (
    Chars,
    Choice,
    Edge,
    Repeat,
    Sequence,
    accepts,
    ambiguous_text,
    parse,
)

EXPLOSIVE = [
    "(a+)+$",
    "(a*)*b",
    "(a|a)*b",
    "(a|aa)+$",
    r"(\w+\s?)+\.",
    r"(?:\s*\w+\s*)*$",
    "(a|b|ab)*c",
    "(.*a){12}b",
    r"(\w{1,20}){1,20}x",
    "((a+)+b)+",
    r"([A-Z]\w*)+\d",
    r"(\w+|\d+)*!",
    "(?i)(a|A)+b",
    "( the( big)?| the)*!",
    r"x(?!(a+)+$)",
]
HARMLESS = [
    "husband|spouse",
    "(a+)+",
    "(a+b)+c",
    r"(\w+\s)+$",
    ".*a.*b.*c",
    "(very )*good",
    "(the (big|small)? ?)+house",
    "(a|b)*c",
    "(a{1,3}){1,3}b",
    r"a(b|c)?d+e*\.",
]


@pytest.mark.parametrize("text", EXPLOSIVE)
def test_an_explosive_pattern_is_ambiguous(text):
    assert ambiguous_text(parse(text))


@pytest.mark.parametrize("text", HARMLESS)
def test_a_harmless_pattern_is_not(text):
    assert ambiguous_text(parse(text)) is None


trees = st.recursive(
    st.sampled_from([Chars("a"), Chars("b"), Chars("[ab]")]),
    lambda below: st.one_of(
        st.lists(below, min_size=2, max_size=3).map(lambda parts: Sequence(tuple(parts))),
        st.lists(below, min_size=2, max_size=3).map(lambda parts: Choice(tuple(parts))),
        st.builds(Repeat, below, st.sampled_from([0, 1]), st.sampled_from([1, None])),
    ),
    max_leaves=5,
)
SHORT = ["".join(text) for size in range(4) for text in product("ab", repeat=size)]


@given(trees)
def test_an_ambiguous_text_doubles_the_ways_each_time(tree):
    word = ambiguous_text(Sequence((tree, Edge("$"))))
    if word:
        texts = (before + word * 5 + after for before in SHORT for after in SHORT)
        assert any(ways(tree, text) >= 2**5 for text in texts)


@cache
def ways(node, text):
    """How many ways there are to read the whole text; no turn of a loop reads nothing."""
    match node:
        case Chars(chars):
            return int(len(text) == 1 and accepts(chars, text))
        case Choice(branches):
            return sum(ways(branch, text) for branch in branches)
        case Sequence(()):
            return int(not text)
        case Sequence((first, *rest)):
            cuts = range(len(text) + 1)
            tail = Sequence(tuple(rest))
            return sum(ways(first, text[:at]) * ways(tail, text[at:]) for at in cuts)
        case Repeat(body, least, most):
            if not text:
                return int(least == 0 or ways(body, "") > 0)
            if most == 1:
                return ways(body, text)
            loop = Repeat(body, 0, None)
            cuts = range(1, len(text) + 1)
            return sum(ways(body, text[:at]) * ways(loop, text[at:]) for at in cuts)
