"""Patterns tried on texts that wear them out."""

import pytest
import regex

from assay.suites.check import OutOfTime, Pattern
from assay.suites.lint.patterns import LONGEST, SENTENCE, probe, probes
from assay.suites.lint.syntax import parse
from tests.suites.lint.test_ambiguity import HARMLESS

WORN_OUT = [
    "(a|a)*b",
    "(a|aa)+$",
    "(a|b|ab)*c",
    "(.*a){12}b",
    "x*x*x*x*x*x*x*x*y",
    r"(\w{1,20}){1,20}x",
]
ENDLESS = 0.05
AMPLE = 60


@pytest.mark.parametrize("text", WORN_OUT)
def test_probing_alone_finds_what_searches_for_ever(text):
    pattern = Pattern(text, "regex")
    worn = probe(pattern, probes(text, parse(text)), limit=ENDLESS)
    with pytest.raises(OutOfTime):
        pattern.search(worn, limit=ENDLESS)


def test_probing_finds_what_has_no_tree():
    text = "(?>x)?(a|a)*c"
    assert parse(text) is None
    assert probe(Pattern(text, "regex"), probes(text, None), limit=ENDLESS)


@pytest.mark.parametrize("text", HARMLESS)
def test_a_harmless_pattern_gets_through(text):
    assert probe(Pattern(text, "regex"), probes(text, parse(text)), limit=AMPLE) is None


@pytest.mark.parametrize("text", ["(husband|spouse)", r"I('d| would) say( so)?\.", ""])
def test_a_pattern_without_loops_is_not_tried(text):
    assert list(probes(text, parse(text))) == []


@pytest.mark.parametrize("length", [SENTENCE, LONGEST])
def test_the_texts_are_as_long_as_asked(length):
    text = "see (the )*(red|green)+ house"
    sizes = [len(each) for each in probes(text, parse(text), length=length)]
    assert sizes
    assert all(abs(size - length) < 50 for size in sizes)


def test_what_leads_to_a_loop_and_the_rest_of_the_match_are_in_the_texts():
    text = "see (the )*house"
    tried = list(probes(text, parse(text), length=40))
    assert any(regex.fullmatch("see (the )+! see house", each) for each in tried)


def test_huge_counts_do_not_make_huge_texts():
    text = "((((a{999}){999}){999}){999})+b"
    assert max(map(len, probes(text, parse(text)))) < 10 * LONGEST
