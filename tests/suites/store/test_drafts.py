"""What is proposed settles the case, and tells the output from those with another verdict."""

import pytest

from assay.suites.check import decide
from assay.suites.model import Rule
from assay.suites.store.decisions import save_decision
from assay.suites.store.drafts import suggest
from assay.suites.store.queue import case
from assay.suites.store.records import Draft
from tests.suites.store.samples import fill, item, number

ANN = 1


def say(store, text, choice, who=ANN):
    with store.write() as conn:
        save_decision(conn, number(store, text), who, choice, seen=0)


def shown(store, text):
    with store.read() as conn:
        return case(conn, number(store, text))


def test_the_proposed_rule_is_what_tells_the_output_from_the_others(husbands):
    say(husbands, "her hubby", "pass")
    # "her man, hubby" has both words and fails.
    output = number(husbands, "her hubby")
    assert suggest(shown(husbands, "her hubby")) == (
        Draft(output, "positive", "fixed", "her hubby"),
        Draft(output, "positive", "regex", r"\bher hubby\b"),
    )


def test_words_of_outputs_with_the_opposite_verdict_are_not_proposed(store):
    fill(
        store,
        [item()],
        {"x": {"i1": "so lala here"}, "y": {"i1": "bad here so"}, "z": {"i1": "lala, yes"}},
    )
    say(store, "so lala here", "pass")
    drafts = suggest(shown(store, "so lala here"))
    assert drafts[0].text == "lala"
    assert drafts[1].text == r"\blala\b"
    assert not {"so", "here"} & {draft.text for draft in drafts}
    assert drafts[-1].text == "so lala here"
    # Of a warning, both polarities are proposed, or the one that is asked for.
    drafts = suggest(shown(store, "lala, yes"))
    assert {draft.polarity for draft in drafts} == {"positive", "negative"}
    drafts = suggest(shown(store, "lala, yes"), "negative")
    assert {draft.polarity for draft in drafts} == {"negative"}


@pytest.mark.parametrize(
    "output", ["her hubby", "a spouse", "wife and woman", "a bird", "hubby dog"]
)
@pytest.mark.parametrize("polarity", ["positive", "negative"])
def test_every_proposed_rule_settles_the_output(husbands, output, polarity):
    shown_ = shown(husbands, output)
    drafts = suggest(shown_, polarity)
    wanted = "pass" if polarity == "positive" else "fail"
    assert drafts or shown_.output.ruled == wanted
    for draft in drafts:
        rule = Rule("new", draft.polarity, draft.kind, draft.text)
        assert decide(output, (*shown_.item.rules, rule)).verdict == wanted


def test_nothing_is_proposed_where_no_rule_can_help(store):
    fill(
        store,
        [item("a", ["good"], ["bad"], kind="regex"), item("b", ["("], [], kind="regex")],
        {"x": {"a": "good and bad", "b": "so"}},
    )
    assert suggest(shown(store, "good and bad")) == ()
    assert suggest(shown(store, "so")) == ()
