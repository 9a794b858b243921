"""Patterns tried on texts that wear them out."""

import pytest
import regex

from assay.suites.check import Pattern
from assay.suites.lint.patterns import LONGEST, SENTENCE, outline, probe, probes

ENDLESS = [
    "(a+)+$",
    "(a*)*b",
    "(a|a)*b",
    "(a|aa)+$",
    r"(\w+\s?)+\.",
    r"(\w+\s?)*x",
    r"(?:\s*\w+\s*)*$",
    "(a|b|ab)*c",
    "(.*a){12}b",
    r"(\w{1,20}){1,20}x",
    "((a+)+b)+",
    r"([A-Z]\w*)+\d",
    r"(\w+|\d+)*!",
    "( the( big)?| the)*!",
    "x*x*x*x*x*x*x*x*y",
    "(x+x+)+y",
    "(.*,){11}P",
    "([k-z]|[a-m])*!",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "(very ?|very)+!",
    "(?>x)?(a|a)*c",
]
HARMLESS = [
    "husband|spouse",
    "(a+)+",
    "(a+b)+c",
    r"(\w+\s)+$",
    ".*a.*b.*c",
    ".*.*.*=",
    "(very )*good",
    "(the (big|small)? ?)+house",
    "(a|b)*c",
    "(a{1,3}){1,3}b",
    r"a(b|c)?d+e*\.",
]
SHORT = 0.05
AMPLE = 60


@pytest.mark.parametrize("text", ENDLESS)
def test_probing_finds_what_searches_for_ever(text):
    pattern = Pattern(text, "regex")
    # A busy machine may stop a search once that is none of these.
    assert any(never_ends(pattern, worn) for worn in probes(text))


def never_ends(pattern, text):
    return all(probe(pattern, [text], limit=times * SHORT) for times in (1, 2, 4))


@pytest.mark.parametrize("text", HARMLESS)
def test_a_harmless_pattern_gets_through(text):
    assert probe(Pattern(text, "regex"), probes(text), limit=AMPLE) is None


@pytest.mark.parametrize("text", ["(husband|spouse)", r"I('d| would) say( so)?\.", ""])
def test_a_pattern_without_loops_is_not_tried(text):
    assert list(probes(text)) == []


@pytest.mark.parametrize("length", [SENTENCE, LONGEST])
def test_the_texts_are_as_long_as_asked(length):
    sizes = [len(text) for text in probes("see (the )*(red|green)+ house", length=length)]
    assert sizes
    assert all(abs(size - length) < 50 for size in sizes)


def test_what_leads_to_a_loop_and_the_rest_of_the_match_are_in_the_texts():
    tried = list(probes("see (the )*house", length=40))
    assert any(regex.fullmatch("see (the )+! see house", text) for text in tried)


def test_huge_counts_do_not_make_huge_texts():
    text = "((((a{999}){999}){999}){999})+b"
    assert max(map(len, probes(text))) < 10 * LONGEST


def test_digits_that_are_no_count_for_the_engine_are_none_for_the_outline():
    text = "ab{2٣}"
    assert regex.fullmatch(text, text)
    parts = [part for branch in outline(text) for part in branch]
    assert [part.least for part in parts] == [1] * 6
    assert list(probes(f"a{{{'9' * 5000}٣}}(b)+")) == []


def written(branches):
    return ["".join(map(str, branch)) for branch in branches]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a|b c", ["a", "b c"]),
        ("(a|b)", ["a", "b"]),
        ("(?:a|b)(?P<n>c)d", ["(a|b)cd"]),
        ("a.*?b+", ["a.*b+"]),
        (r"[]|)]\|\)|\(", [r"[]|)]\|\)", r"\("]),
        (r"a{2,3}?{x}\p{L}{2}", [r"a{2,3}{x}\p{L}{2}"]),
        ("(?!a|b)c|(?i)d(?#e|f)", ["(?!a|b)c", "(?i)d"]),
        ("", [""]),
    ],
)
def test_an_outline_has_the_alternatives_and_their_parts(text, parts):
    assert written(outline(text)) == parts


def test_a_pattern_that_needs_thousands_of_letters_is_not_tried():
    assert list(probes("1" * 40_000 + "(a|b)+")) == []
    assert list(probes("1" * 400 + "(a|b)+"))
