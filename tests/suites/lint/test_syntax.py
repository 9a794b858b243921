"""Regular expressions as trees."""

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from assay.suites.lint.syntax import (
    Chars,
    Choice,
    Edge,
    Repeat,
    Sequence,
    accepts,
    parse,
    walk,
    written,
)

A, B = Chars("a"), Chars("b")

pieces = st.sampled_from(
    [
        "a",
        "b",
        "ab",
        r"\w",
        r"\.",
        ".",
        "[ab]",
        "[^a]",
        "[]a]",
        r"[\]b]",
        " ",
        r"\bb",
        "(?=a)",
        "(?i)",
    ]
)
patterns = st.recursive(
    pieces,
    lambda below: st.one_of(
        st.lists(below, min_size=1, max_size=3).map("".join),
        st.lists(below, min_size=1, max_size=3).map(lambda branches: f"({'|'.join(branches)})"),
        st.builds(
            "(?:{}){}".format, below, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{2,}"])
        ),
    ),
    max_leaves=6,
).map(lambda text: f"(?i){text.replace('(?i)', '')}" if "(?i)" in text else text)
texts = st.text("abAB.] ", max_size=6)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a", A),
        ("", Sequence(())),
        ("ab", Sequence((A, B))),
        ("a|b|", Choice((A, B, Sequence(())))),
        ("(?P<x>a)|(?:b)", Choice((A, B))),
        ("a*?b+", Sequence((Repeat(A, 0, None), Repeat(B, 1, None)))),
        ("a{2,3}b{,4}", Sequence((Repeat(A, 2, 3), Repeat(B, 0, 4)))),
        ("a{5}", Repeat(A, 5, 5)),
        ("a{", Sequence((A, Chars("{")))),
        ("(?#note)a", A),
        (r"[]\]x][[:alpha:]]", Sequence((Chars(r"[]\]x]"), Chars("[[:alpha:]]")))),
        (r"^\x41\p{Lu}$", Sequence((Edge("^"), Chars(r"\x41"), Chars(r"\p{Lu}"), Edge("$")))),
        (r"(a)\1", Sequence((A, Edge(r"\1")))),
        ("(?<!b)a", Sequence((Edge("(?<!", B), A))),
        ("(?i)a", Chars("(?i)a")),
        ("(?i:a)b", Sequence((Chars("(?i)a"), B))),
    ],
)
def test_a_pattern_becomes_a_tree(text, tree):
    regex.compile(text)
    assert parse(text) == tree


@pytest.mark.parametrize(
    "text",
    ["(?>a+)b", "a++", "a{2}+", r"(a)?(?(1)b|c)", "(?:ab){e<=1}", "(?x) a b", r"\X", "(?|a|b)"],
)
def test_what_the_reader_does_not_know_has_no_tree(text):
    regex.compile(text)
    assert parse(text) is None


def test_a_pattern_that_nests_too_deeply_has_no_tree():
    assert parse("(" * 20_000 + "a" + ")" * 20_000) is None


@given(patterns, texts)
def test_a_tree_written_out_again_matches_the_same_texts(text, output):
    tree = parse(text)
    again = regex.search(written(tree), output)
    assert (again is None) == (regex.search(text, output) is None)


@given(patterns)
def test_a_tree_written_out_again_gives_the_same_tree(text):
    tree = parse(text)
    assert parse(written(parse(written(tree)))) == parse(written(tree))


def test_a_walk_goes_into_looks_around():
    assert B in list(walk(parse("a(?!b+)")))


@given(st.sampled_from([r"\w", "[^a-z]", ".", r"\.", "(?i)A", "é"]), st.characters())
def test_one_character_is_accepted_as_the_engine_says(text, character):
    assert accepts(text, character) == bool(regex.fullmatch(text, character))
