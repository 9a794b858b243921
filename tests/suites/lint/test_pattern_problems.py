"""What the linter says of single patterns."""

import pytest

from assay.suites.lint import lint_suite
from assay.suites.model import Suite
from tests.suites.lint.suites import found, item, places


def test_a_pattern_that_cannot_be_read_is_an_error_that_says_why():
    [(severity, _, rule, message)] = found(item(plus=["/a(b/", "/fine/"]), check="broken")
    assert (severity, rule) == ("error", "1+1")
    assert message == "'a(b' is not a regular expression (missing ) at position 3)"


def test_a_pattern_that_explodes_is_an_error_with_a_text_that_shows_it():
    rules = item(plus=["/(a|aa)+$/"], minus=["/fine/"])
    [problem] = lint_suite(Suite((rules,)), only=["explosive"], limit=0.05).problems
    assert (problem.severity, problem.rule) == ("error", "1+1")
    assert (
        '"(a|aa)+$" searches longer than 0.05 s in 301 characters such as "aaa' in problem.message
    )


def test_a_loop_within_a_loop_is_an_error_even_if_only_a_very_long_text_shows_it():
    rules = item(plus=["/(a+)+$/"], minus=["/fine/"])
    [problem] = lint_suite(Suite((rules,)), only=["explosive"], limit=0.05).problems
    assert (problem.severity, problem.rule) == ("error", "1+1")
    assert "in 1001 characters" in problem.message


def test_an_exploding_pattern_without_nested_loops_is_an_error_too():
    rules = item(plus=["/x*x*x*x*x*x*x*x*y/"])
    [problem] = lint_suite(Suite((rules,)), only=["explosive"], limit=0.05).problems
    assert problem.severity == "error"
    assert problem.message.startswith(
        '"x*x*x*x*x*x*x*x*y" searches longer than 0.05 s in 303 characters such as "xxx'
    )


def test_fixed_strings_are_not_patterns():
    assert found(item(plus=["(a+", "(a+)+$"]), check="broken") == []
    assert found(item(plus=["(a+", "(a+)+$"]), check="explosive") == []


@pytest.mark.parametrize("text", ["a|", "(a|b)?", "x*", ".", ".+", "(a?|b)c*"])
def test_a_pattern_that_needs_nothing_matches_everything(text):
    assert places(item(minus=[f"/{text}/"]), check="everything") == [("error", "1", "1-1")]


@pytest.mark.parametrize("text", ["a", "[^?]$", "^(?!.*not)", ".{40}", "^$", "a+", "(a|b)c?"])
def test_a_pattern_that_needs_something_does_not(text):
    assert found(item(minus=[f"/{text}/"]), check="everything") == []


@pytest.mark.parametrize("text", [r"\p{L}+", "[[a]b", "(?|a|b)"])
def test_a_pattern_of_another_dialect_than_pythons_is_told(text):
    assert places(item(plus=[f"/{text}/"]), check="dialect") == [("info", "1", "1+1")]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("dared ", "it ends with a blank that must be there"),
        (" dared", "it begins with a blank that must be there"),
        ("was|is one ", "an alternative of it ends with a blank that must be there"),
        (
            "I(am)| (greet) him",
            "an alternative of it begins with a blank that must be there; "
            "is a parenthesis in the wrong place?",
        ),
        ("(so|clumsy  person)!", "two blanks in a row"),
    ],
)
def test_blanks_that_may_keep_a_pattern_from_matching_are_told(text, told):
    [(severity, _, _, message)] = found(item(plus=[f"/{text}/"]), check="blank")
    assert (severity, message) == ("info", f'"{text}": {told}')


@pytest.mark.parametrize("text", [" ?said", "say( so)?", "a b", "one +two"])
def test_blanks_within_and_optional_ones_are_fine(text):
    assert found(item(plus=[f"/{text}/"]), check="blank") == []


def test_a_pattern_of_many_items_is_told_for_each():
    items = [item(id, plus=["/(/"]) for id in "123"]
    assert [rule for _, _, rule in places(*items, check="broken")] == ["1+1", "2+1", "3+1"]
