"""Drafts of rules: what they would do is what they do, and what is proposed settles the case."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from assay.data import DataError
from assay.suites.check import Checker, decide
from assay.suites.model import Rule, Run
from assay.suites.store import trials
from assay.suites.store.decisions import save_decision, undo
from assay.suites.store.finding import find
from assay.suites.store.records import Draft, Filters
from assay.suites.store.runs import save_run
from assay.suites.store.suites import load_suite, recheck
from assay.suites.store.trials import preview, save_rule
from tests.suites.store.samples import fill, item, number, rows, state

ANN, BEN = 1, 2


def tried(store, text, output="her hubby", polarity="positive", kind="fixed", scope="item"):
    with store.read() as conn:
        return preview(conn, Draft(number(store, output), polarity, kind, text, scope))


def add(store, text, output="her hubby", polarity="positive", kind="fixed", scope="item", who=ANN):
    with store.write() as conn:
        return save_rule(conn, Draft(number(store, output), polarity, kind, text, scope), who)


def say(store, text, choice, who=ANN):
    with store.write() as conn:
        save_decision(conn, number(store, text), who, choice, seen=0)


def texts(lines):
    return [line.text for line in lines]


def test_a_preview_shows_what_would_be_settled_in_its_scope(husbands):
    found = {
        scope: tried(husbands, "hubby", scope=scope)
        for scope in ("item", "phenomenon", "category", "suite")
    }
    assert texts(found["item"].settles) == ["her hubby"]
    assert texts(found["phenomenon"].settles) == ["her hubby", "a hubby"]
    assert texts(found["category"].settles) == ["her hubby", "a hubby", "her hubby c", "hubby"]
    assert found["suite"].settles == found["category"].settles
    assert [found[scope].items for scope in found] == [1, 2, 3, 3]
    # An empty output is none to search.
    assert [found[scope].searched for scope in found] == [3, 5, 8, 11]
    line = found["suite"].settles[1]
    assert (line.item, line.systems, line.span, line.before, line.after) == (
        "b",
        ("x",),
        (2, 7),
        "warning",
        "pass",
    )


def test_a_preview_shows_the_verdicts_that_it_would_turn_around(husbands):
    found = tried(husbands, "hubby")
    assert texts(found.unsettles) == ["her man, hubby"]
    assert (found.unsettles[0].before, found.unsettles[0].after) == ("fail", "warning")
    found = tried(husbands, "h?ubby", kind="regex")
    assert (found.unsettles[0].before, found.unsettles[0].after) == ("fail", "pass")
    # The dog and the cat would not get the rule: it settles nothing there.
    assert found.unsettles_count == tried(husbands, "hubby", scope="suite").unsettles_count == 1


def test_a_preview_shows_the_words_that_it_would_contradict(husbands):
    say(husbands, "a hubby", "fail")
    say(husbands, "her hubby c", "pass")
    found = tried(husbands, "hubby", scope="suite")
    assert texts(found.settles) == ["her hubby", "hubby"]
    assert found.contradicts == ()
    found = tried(husbands, "hubby", output="a hubby")
    assert texts(found.contradicts) == ["a hubby"]
    assert [(each.person, each.verdict) for each in found.contradicts[0].said] == [("Ann", "fail")]
    assert (found.settles_count, found.contradicts_count, found.items) == (0, 1, 1)


def test_a_preview_lists_a_few_and_counts_all(store):
    runs = {f"s{at}": {"i1": f"so {at}"} for at in range(40)}
    fill(store, [item(), item("i2")], runs | {"t": {"i2": "so i2"}})
    found = tried(store, "so", "so 7", scope="suite")
    assert (len(found.settles), found.settles_count) == (30, 41)
    assert found.settles == tried(store, "s[o]", "so 7", kind="regex", scope="suite").settles
    assert {line.item for line in found.settles} == {"i1"}


@pytest.mark.parametrize(
    ("text", "kind", "complaint"),
    [
        ("(", "regex", r"'\(' is not a regular expression"),
        ("  ", "fixed", "the rule is empty"),
        ("", "regex", "the rule is empty"),
        ("a\0", "fixed", r"has a character U\+0000"),
        ("x", "exact", "neither regex nor fixed"),
    ],
)
def test_a_draft_that_is_no_rule_is_refused(husbands, text, kind, complaint):
    with pytest.raises(DataError, match=complaint):
        tried(husbands, text, kind=kind)
    with pytest.raises(DataError, match=complaint):
        add(husbands, text, kind=kind)
    with pytest.raises(DataError, match="no output 99"), husbands.read() as conn:
        preview(conn, Draft(99, "positive", "fixed", "x"))


def test_a_draft_that_runs_away_is_refused(store):
    fill(store, [item()], {"x": {"i1": "a" * 60 + "b"}})
    with pytest.raises(DataError, match="the rule is too slow"):
        tried(store, "(a|aa)+$", "a" * 60 + "b", kind="regex")


def test_a_draft_that_is_slow_in_sum_is_refused(husbands, monkeypatch):
    monkeypatch.setattr(trials, "BUDGET", -1)
    with pytest.raises(DataError, match="the rule is too slow"):
        tried(husbands, "hubby")


@pytest.mark.parametrize(
    ("text", "harmless"),
    [
        (r"\bhubby\b", True),
        (r"(his|her) (hubby|husband)s?", True),
        (r"a.*b\w+", True),
        (r"(?:a|b) c", True),
        (r"(a|aa)+$", False),
        (r"(a+)+", False),
        (r"(?:a*)*", False),
        (r"a*a*a*b", False),
        (r"(ab){2,}", False),
        (r"(?R)?a", False),
        (r"(?:hubby){e<=2}", False),
        ("|".join("abcdefghij"), False),
    ],
)
def test_only_patterns_that_cannot_run_away_are_searched_without_a_clock(text, harmless):
    assert trials._harmless(Rule("r", "positive", "regex", text)) == harmless


def test_a_rule_is_added_where_it_settles_something(husbands):
    change = add(husbands, " hubby ", scope="suite")
    assert (change.kind, change.person, change.item) == ("rule", "Ann", "a")
    assert change.note == "positive fixed 'hubby' for item a and 2 more"
    with husbands.read() as conn:
        suite = load_suite(conn)
    new = {each.id: each.rules[2:] for each in suite.items}
    assert [[rule.id for rule in rules] for rules in new.values()] == [
        ["a+2"],
        ["b+2"],
        ["c+2"],
        [],
    ]
    assert new["b"][0] == Rule(
        "b+2", "positive", "fixed", "hubby", "Ann", change.time, "resolving a warning of a"
    )
    found = state(husbands)
    assert found["her hubby"] == ("pass", "a+2", False)
    assert found["hubby"] == ("pass", "c+2", False)
    assert found["her man, hubby"] == ("warning", None, False)
    assert found["hubby cat"] == ("fail", "d-1", False)


def test_taking_a_rule_back_brings_everything_back(husbands):
    asked = 'SELECT id, hits, ruled, ruled_by, verdict, "by" FROM outputs ORDER BY id'
    before = rows(husbands, asked)
    change = add(husbands, "hubby", scope="suite")
    assert rows(husbands, asked) != before
    with husbands.write() as conn:
        assert undo(conn, ANN).id == change.id
    assert rows(husbands, asked) == before
    # The name of the retired rule is not used again.
    add(husbands, "hubb?y", kind="regex")
    assert state(husbands)["her hubby"] == ("pass", "a+3", False)


def test_a_rule_that_the_item_has_is_refused(husbands):
    add(husbands, "hubby")
    with pytest.raises(DataError, match="item a has this rule already"):
        add(husbands, " hubby", output="her husband")
    assert rows(husbands, "SELECT count(*) FROM changes") == [(1,)]


def test_outputs_that_come_later_are_judged_by_the_new_rule(husbands):
    add(husbands, "hubby")
    with husbands.write() as conn:
        save_run(conn, Run("new", {"a": "hubby dear"}), Checker())
    assert state(husbands)["hubby dear"] == ("pass", "a+2", False)


def test_a_preview_tells_what_saving_does(store):
    """Random outputs and drafts: every verdict afterwards is that of the rules written out."""
    rng = np.random.default_rng(7)
    words = ["good", "bad", "so", "hm"]
    names = [f"{at:02}" for at in range(8)]
    items = [
        replace(
            item(name, ["good"][: at % 2 + at % 3], ["bad"], kind=("fixed", "regex")[at % 2]),
            phenomenon=f"P{at // 2}",
            category=f"C{at // 4}",
        )
        for at, name in enumerate(names)
    ]
    runs = {
        f"s{at}": {name: " ".join(words[each] for each in rng.integers(0, 4, 2)) for name in names}
        for at in range(8)
    }
    fill(store, items, runs)
    for turn in range(30):
        with store.write() as conn:
            pairs, _ = find(conn, Filters(), limit=1000)
            suite = load_suite(conn)
            own, output = pairs[rng.integers(len(pairs))]
            if rng.random() < 0.4:
                said = ("pass", "fail")[rng.integers(2)]
                save_decision(conn, output.id, ANN, said, seen=output.version)
                continue
            draft = Draft(
                output.id,
                ("positive", "negative")[rng.integers(2)],
                ("fixed", "regex")[rng.integers(2)],
                words[rng.integers(4)] + " "[: rng.integers(2)] + str(turn)[:0],
                ("item", "phenomenon", "category", "suite")[rng.integers(4)],
            )
            wanted = slow_preview(suite, pairs, own, draft)
            found = preview(conn, draft)
            assert (found.settles_count, found.unsettles_count, found.contradicts_count) == wanted
            try:
                save_rule(conn, draft, BEN)
            except DataError:
                continue
            after = load_suite(conn)
            assert sum(map(len, (each.rules for each in after.items))) == found.items + sum(
                map(len, (each.rules for each in suite.items))
            )
            for each, stored in find(conn, Filters(), limit=1000)[0]:
                finding = decide(stored.text, each.rules)
                assert stored.ruled == finding.verdict
                if not stored.decisions:
                    assert (stored.verdict, stored.by) == (finding.verdict, finding.by)


def test_saving_leaves_nothing_to_judge_anew(store):
    """Whatever had matched before, and whether people have judged, disagreed or skipped."""
    kinds = [
        (polarity, kind) for polarity in ("positive", "negative") for kind in ("regex", "fixed")
    ]
    words = ["one", "two", "three", "four"]
    said = {"w": (), "x": ("pass",), "y": ("pass", "fail"), "z": ("skip",)}
    items = [
        replace(
            item(f"{name}{new}"),
            rules=tuple(
                Rule(f"{name}{new}.{word}", *kinds[at], word) for at, word in enumerate(words)
            ),
        )
        for name in said
        for new in range(4)
    ]
    subsets = [" ".join(some) for count in range(5) for some in combinations(words, count)]
    people = fill(
        store, items, {text: {it.id: f"{text} {it.id}" for it in items} for text in subsets}
    )
    outputs = rows(store, "SELECT id, text FROM outputs ORDER BY id")
    with store.write() as conn:
        for output, text in outputs:
            for seen, choice in enumerate(said[text[-2]]):
                save_decision(conn, output, people[seen], choice, seen=seen)
        for output, text in outputs[: len(items)]:
            save_rule(conn, Draft(output, *kinds[int(text[-1])], text[-1]), ANN)
    saved = rows(store, "SELECT * FROM outputs ORDER BY id")
    with store.write() as conn:
        assert recheck(conn, range(1, len(items) + 1)) == len(outputs)
    assert rows(store, "SELECT * FROM outputs ORDER BY id") == saved


def slow_preview(suite, pairs, own, draft):
    """The counts of a preview, by judging everything with the rule and without."""
    rule = Rule("new", draft.polarity, draft.kind, draft.text)
    near = {
        "item": lambda each: each.id == own.id,
        "phenomenon": lambda each: (
            (each.phenomenon, each.category) == (own.phenomenon, own.category)
        ),
        "category": lambda each: each.category == own.category,
        "suite": lambda each: True,
    }[draft.scope]
    changed = {}
    for each, output in pairs:
        if near(each):
            before, after = (
                decide(output.text, each.rules),
                decide(output.text, (*each.rules, rule)),
            )
            if before.verdict != after.verdict:
                said = {word.verdict for word in output.decisions}
                changed.setdefault(each.id, []).append((before.verdict, after.verdict, said))
    settling = lambda change: change[0] == "warning" and not change[2]  # noqa: E731
    reached = [
        change
        for name, changes in changed.items()
        for change in changes
        if name == own.id or any(map(settling, changes))
    ]
    return (
        sum(map(settling, reached)),
        sum(before != "warning" for before, _, _ in reached),
        sum(after != "warning" and bool(said - {after}) for _, after, said in reached),
    )
