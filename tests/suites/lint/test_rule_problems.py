"""What the linter says of the rules of an item, one against the other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.suites.check import decide
from assay.suites.lint.items import rule_problems
from tests.suites.lint.suites import found, item, places


@pytest.mark.parametrize("rules", [{}, {"plus": [""]}, {"plus": ["  "], "minus": ["//"]}])
def test_an_item_without_rules_is_an_error(rules):
    [(severity, name, rule, message)] = found(item("7", source="Nein.", **rules), check="no-rule")
    assert (severity, name, rule) == ("error", "7", None)
    assert message == 'nothing judges the outputs of "Nein."'


def test_an_item_with_a_rule_has_rules():
    assert found(item(minus=["no"]), item("2", plus=["/x/"]), check="no-rule") == []


def test_items_with_rules_on_one_side_are_told():
    items = item("1", plus=["a"]), item("2", minus=["a"]), item("3", plus=["a"], minus=["b"])
    assert places(*items, check="one-sided") == [("warning", "2", None), ("info", "1", None)]


def test_an_empty_rule_is_a_warning():
    assert places(item(plus=["a", " "], minus=[""]), check="empty") == [
        ("warning", "1", "1+2"),
        ("warning", "1", "1-1"),
    ]


def test_the_same_text_on_both_sides_is_an_error():
    rules = item(plus=["/x/", "Yes. ", "No."], minus=["/x/", "Yes.", "x"])
    problems = found(rules, check="both-sides")
    assert problems == [
        ("error", "1", "1-1", '"x" is also positive (1+1)'),
        ("error", "1", "1-2", '"Yes." is also positive (1+2)'),
    ]


def test_a_rule_that_stands_twice_is_told_once_for_each_copy():
    rules = item(plus=["Yes.", " Yes.", "Yes. ", "/x/", "/x/", "/x /"], minus=["Yes."])
    problems = found(rules, check="duplicate")
    assert [rule for _, _, rule, _ in problems] == ["1+2", "1+3", "1+5"]
    assert problems[0][3] == '" Yes." stands there already (1+1)'


def test_a_string_that_its_items_regex_decides_otherwise_is_an_error():
    rules = item(plus=["/You('d| would) rest/"], minus=["You'd rest you."])
    [problem] = found(rules, check="contradiction")
    assert problem == (
        "error",
        "1",
        "1-1",
        'negative, but "You\'d rest you." passes by 1+1: "You(\'d| would) rest"',
    )


def test_a_string_that_both_sides_claim_is_a_warning():
    rules = item(plus=["You ran"], minus=["You ranntest."])
    [problem] = found(rules, check="contradiction")
    told = 'negative, but "You ranntest." stays a warning, since rules of both sides match (1+1)'
    assert problem == ("warning", "1", "1-1", told)


def test_a_part_that_is_wrong_alone_does_not_contradict_the_whole():
    rules = item(plus=[r"/Can you do that\?/", "Can you do that?"], minus=["Can you do that"])
    assert found(rules, check="contradiction") == []


def test_a_string_that_a_rule_of_its_side_finds_anyway_is_told():
    rules = item(plus=["/cats?/", "The cat sat.", "The dog sat."], minus=["You ran.", "You ran"])
    assert found(rules, check="shadowed") == [
        ("info", "1", "1+2", '"The cat sat." is found by 1+1 anyway: "cats?"'),
        ("info", "1", "1-1", '"You ran." is found by 1-2 anyway: "You ran"'),
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("(shall|will|shall) go", 'the alternative "shall" stands twice'),
        ("elected|selected", 'the alternative "selected" adds nothing to "elected"'),
        (
            "wash.*up|wash.*up the dog",
            'the alternative "wash.*up the dog" adds nothing to "wash.*up"',
        ),
        ("(go|go off)", 'the alternative "go off" adds nothing to "go"'),
        ("^go|go", 'the alternative "^go" adds nothing to "go"'),
        ("staff|staff member", 'the alternative "staff member" adds nothing to "staff"'),
        ("(a|b)c|x(?:a|b)c", 'the alternative "x(a|b)c" adds nothing to "(a|b)c"'),
    ],
)
def test_an_alternative_that_adds_nothing_is_told(text, told):
    [problem] = found(item(plus=[f"/{text}/"]), check="shadowed")
    assert problem == ("info", "1", "1+1", f'{told}, in "{text}"')


@pytest.mark.parametrize(
    "text",
    [
        "(go|go off) now",
        "a|b",
        r"\bgo|ago",
        r"(a)(x\1|y)|(b)(x\1|z)",
        "|ab",
    ],
)
def test_an_alternative_that_adds_something_is_not(text):
    assert found(item(plus=[f"/{text}/"]), check="shadowed") == []


def test_rules_that_cannot_be_searched_do_not_hide_the_others():
    rules = item(plus=["/(/", "/You ran/"], minus=["You ran off."])
    assert places(rules, check="contradiction") == [("error", "1", "1-1")]


strings = st.lists(
    st.text("ab ", max_size=4) | st.sampled_from(["/a+b/", "/b|ba/", "/aa/"]), max_size=4
)


@given(strings, strings)
def test_every_string_is_judged_as_its_own_output(plus, minus):
    rules = item(plus=plus, minus=minus)
    wanted = {"positive": "pass", "negative": "fail"}
    told = {problem.rule for problem in rule_problems(rules) if problem.check == "contradiction"}
    assert told == {
        rule.id
        for rule in rules.rules
        if rule.kind == "fixed" and rule.text.strip()
        if decide(rule.text, rules.rules).verdict != wanted[rule.polarity]
    }


def test_alternatives_of_what_is_no_regular_expression_are_not_looked_at():
    text = "/a|a|" + "[" * 200_000 + "/"
    assert found(item(plus=[text]), check="shadowed") == []
