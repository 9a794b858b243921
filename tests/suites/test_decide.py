"""The decision on one output, every branch of it, and against the procedure written out."""

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data import DataError
from assay.suites.check import Hits, OutOfTime, decide, hit_of, needed_string, pattern, verdict_of
from assay.suites.model import Rule

SLOW = r"(a|aa)+$"
"""Takes for ever on many a's and a b, in every engine that tries all ways."""


def rules(**texts):
    """Rules from lists of patterns: `positive_regex=["x"]`."""
    return [
        Rule(f"{name}{number}", *name.split("_"), text)
        for name, all_texts in texts.items()
        for number, text in enumerate(all_texts, 1)
    ]


def obvious(output, given_rules):
    """The procedure of the original program, step by step."""

    def any_of(polarity, kind):
        texts = [r.text for r in given_rules if r.polarity == polarity and r.kind == kind]
        if kind == "regex":
            return any(re.search(text, output) for text in texts)
        return any(text.strip() and text.strip() in output for text in texts)

    if output.strip() == "":
        return "not tested"
    positive, negative = any_of("positive", "regex"), any_of("negative", "regex")
    if not positive and not negative:
        positive, negative = any_of("positive", "fixed"), any_of("negative", "fixed")
    if positive and not negative:
        return "pass"
    if negative and not positive:
        return "fail"
    return "warning"


@pytest.mark.parametrize(
    ("output", "expected", "by"),
    [
        ("a husband", "pass", "positive_regex1"),
        ("a man", "fail", "negative_regex1"),
        ("a man and a husband", "warning", None),
        ("nobody at all", "warning", None),
        ("my better half", "pass", "positive_fixed1"),
        ("my fellow", "fail", "negative_fixed2"),
        ("a fellow, my better half", "warning", None),
        ("a husband, my fellow", "pass", "positive_regex1"),
        ("my better half, a man", "fail", "negative_regex1"),
        ("", "not tested", None),
        (" \t\u2028", "not tested", None),
        ("HUSBAND", "warning", None),
    ],
)
def test_regexes_come_first_and_fixed_strings_only_where_none_matched(output, expected, by):
    given_rules = rules(
        positive_regex=["husband|spouse"],
        positive_fixed=[" better half "],
        negative_regex=[r"\bm[ae]n\b"],
        negative_fixed=["", "fellow"],
    )
    finding = decide(output, given_rules)
    assert (finding.verdict, finding.by) == (expected, by)


def test_an_item_without_rules_is_always_a_warning():
    assert decide("anything", []).verdict == "warning"


def test_an_empty_fixed_string_matches_nothing():
    assert decide("anything", rules(positive_fixed=["", "  "])).matched == ()


def test_all_rules_that_match_are_named():
    finding = decide("a b", rules(positive_regex=["a"], negative_fixed=["b"], positive_fixed=["c"]))
    assert finding.matched == ("positive_regex1", "negative_fixed1")
    assert finding.verdict == "pass"


def test_every_combination_of_hits_has_the_verdict_of_the_procedure():
    texts = {
        "positive_regex": "pr",
        "negative_regex": "nr",
        "positive_fixed": "pf",
        "negative_fixed": "nf",
    }
    given_rules = rules(**{name: [text] for name, text in texts.items()})
    for present in product([False, True], repeat=4):
        output = "x " + " ".join(
            t for t, there in zip(texts.values(), present, strict=True) if there
        )
        hits = Hits(sum(hit_of(r) for r, there in zip(given_rules, present, strict=True) if there))
        expected = obvious(output, given_rules)
        assert decide(output, given_rules).verdict == expected
        assert verdict_of(hits) == expected
        assert verdict_of(hits | Hits.TROUBLE) == "warning"


def test_a_pattern_that_runs_out_of_time_makes_a_warning_that_says_so():
    given_rules = rules(positive_regex=["b"], negative_regex=[SLOW])
    finding = decide("a" * 60 + "b", given_rules, limit=0.05)
    assert finding.verdict == "warning"
    assert finding.by is None
    assert "rule negative_regex1 took longer than 0.05 s" in finding.trouble[0]


def test_a_pattern_that_does_not_compile_makes_a_warning_that_says_so():
    finding = decide("a husband", rules(positive_regex=["husband"], negative_regex=["(man"]))
    assert finding.verdict == "warning"
    assert "rule negative_regex1" in finding.trouble[0]
    assert "'(man' is not a regular expression" in finding.trouble[0]


def test_a_slow_search_raises_instead_of_hanging():
    with pytest.raises(OutOfTime):
        pattern(SLOW, "regex").search("a" * 60 + "b", limit=0.05)


def test_a_search_says_where_the_match_is():
    assert pattern("b+", "regex").search("abbc") == (1, 3)
    assert pattern(" bc ", "fixed").search("abbc") == (2, 4)
    assert pattern("x", "fixed").search("abbc") is None


def test_a_bad_pattern_is_a_clear_error():
    with pytest.raises(DataError, match=r"'\[' is not a regular expression"):
        pattern("[", "regex")


words = st.lists(st.sampled_from(["a", "b", "ab", "A", " ", "", "ba"]), max_size=4).map("".join)
patterns = st.sampled_from(["a", "b+", "^a", "b$", "(a|b)a", "A", r"\bab\b", "c"])


@given(
    output=words,
    texts=st.tuples(*[st.lists(s, max_size=2) for s in (patterns, words, patterns, words)]),
)
def test_decisions_equal_the_procedure_written_out(output, texts):
    names = ("positive_regex", "positive_fixed", "negative_regex", "negative_fixed")
    given_rules = rules(**dict(zip(names, texts, strict=True)))
    assert decide(output, given_rules).verdict == obvious(output, given_rules)


PIECES = ["ab", "a", "b?", "a*", "b+", "a+?", "[ab]", "[^a]?", ".", ".*", r"\b", r"\w", "^", "$",
          " ", "(a|b)", "(?i)A", "a{0}", r"\x61", r"\.", "|"]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=5), st.text("ab .A", max_size=12))
def test_what_a_match_needs_is_in_every_output_that_matches(pieces, output):
    text = "".join(pieces)
    assert needed_string(text) in output or not re.search(text, output)


@pytest.mark.parametrize(
    ("text", "needed"),
    [(r"\bhubby\b", "hubby"), ("a wife?", "a wif"), ("no|yes", ""), (r"\bw1[0-9]", "w1"), ("", "")],
)
def test_most_words_that_linguists_write_are_needed(text, needed):
    assert needed_string(text) == needed
