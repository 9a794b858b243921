"""What is proposed settles the case, and tells the output from those with another verdict."""

import numpy as np
import pytest

from assay.suites.check import decide
from assay.suites.model import Rule
from assay.suites.store.common_words import common_words
from assay.suites.store.dealing import assign
from assay.suites.store.decisions import save_decision
from assay.suites.store.drafts import suggest
from assay.suites.store.queue import case
from assay.suites.store.records import Draft
from assay.suites.store.suggestions import suggestions
from tests.suites.store.samples import fill, item, number

ANN, BEN = 1, 2


def say(store, text, choice, *, who=ANN, seen=0):
    with store.write() as conn:
        save_decision(conn, number(store, text), who, choice, seen=seen)


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


def suggested(store):
    """The strings that are suggested for the whole suite, the best first."""
    with store.read() as conn:
        return [one.draft.text for one in suggestions(conn) if one.draft.scope == "item"]


def told(*texts):
    """Each text as the output of a system of its own."""
    return {f"s{at}": {"i1": text} for at, text in enumerate(texts)}


TAGS = item("i1", [r", (do they|right)\?"], [r", or\?"], kind="regex")


def test_words_away_from_where_rules_matched_are_not_suggested(store):
    """The rules look for the question tag, and the library is there by chance."""
    texts = (
        "Nobody visits a library freely, do they?",
        "Nobody visits a library nowadays, right?",
        "Few go there, or?",
        "Nobody visits a library, is it?",
    )
    fill(store, [TAGS], told(*texts))
    assert suggested(store) == []


def test_words_of_what_people_judged_are_suggested(store):
    texts = ("She saw her spouse, is it?", "Her spouse came, no?", "Somebody came, no?")
    fill(store, [TAGS], told(*texts))
    say(store, "She saw her spouse, is it?", "pass")
    say(store, "Somebody came, no?", "fail")
    assert suggested(store) == ["spouse"]


def test_what_one_of_two_judges_said_suggests_nothing_before_the_other_has_judged(store):
    texts = ("She saw her spouse, is it?", "Her spouse came, no?", "Somebody came, no?")
    fill(store, [TAGS], told(*texts))
    with store.write() as conn:
        weights = {"Ann": 1, "Ben": 1}
        assign(conn, ANN, weights, double=1, rng=np.random.default_rng(1))
    judged = [("She saw her spouse, is it?", "pass"), ("Somebody came, no?", "fail")]
    for text, choice in judged:
        say(store, text, choice)
    assert suggested(store) == []
    for text, choice in judged:
        say(store, text, choice, who=BEN, seen=1)
    assert suggested(store) == ["spouse"]


def test_what_a_rule_looked_for_is_suggested_in_other_surroundings(store):
    rods = item("i1", ["fishing (rod|line)"], ["angel"], kind="regex")
    texts = ("on the fishing rod", "on a fishing line", "on the angel", "with fishing gear")
    fill(store, [rods], told(*texts))
    assert suggested(store) == ["fishing"]


def test_one_output_that_a_rule_passed_is_too_little_to_suggest_from(store):
    rods = item("i1", ["fishing (rod|line)"], ["angel"], kind="regex")
    fill(store, [rods], told("on the fishing rod", "on the angel", "with fishing gear"))
    assert suggested(store) == []


def test_a_little_word_is_not_suggested_where_more_of_it_says_the_same(store):
    texts = ("broken out of anger", "a pen out of anger", "by anger", "mine, out of anger")
    whole = item("i1", texts[:2], texts[2:3])
    fill(store, [whole], told(*texts))
    assert suggested(store) == ["of anger"]


def test_words_that_stand_in_many_items_are_common(store):
    names = [f"i{at}" for at in range(8)]
    texts = {name: f"The cat has number{at}" for at, name in enumerate(names)}
    fill(store, [item(name) for name in names], {"x": texts, "y": {"i1": "The dog has good ones"}})
    with store.read() as conn:
        common = common_words(conn)
    assert common == {"the", "cat", "has"}
    shown_ = shown(store, "The cat has number3")
    assert suggest(shown_, "positive", common=common)[0].text == "number3"
    # Where there is nothing else, they are better than nothing.
    every = frozenset({*common, "number3"})
    assert suggest(shown_, "positive", common=every) == suggest(shown_, "positive")
