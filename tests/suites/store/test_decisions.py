"""Everybody has a word of their own; it can be changed and taken back, and nothing is lost."""

import pytest

from assay.data import DataError
from assay.suites.store.decisions import Outdated, save_decision, save_decisions, undo
from assay.suites.store.history import history
from assay.suites.store.people import add_person
from assay.suites.store.queue import case
from assay.suites.store.records import Draft
from assay.suites.store.trials import save_rule
from tests.suites.store.samples import fill, item, number, rows, state


@pytest.fixture
def lala(store):
    """Ann and Ben, and one warning that two systems have."""
    fill(store, [item()], {"x": {"i1": "so lala"}, "y": {"i1": "so lala"}})
    return store


def say(store, who, choice, seen, text="so lala", **options):
    output = number(store, text)
    with store.write() as conn:
        return save_decision(conn, output, who, choice, seen=seen, **options)


def take_back(store, who, change=None):
    with store.write() as conn:
        return undo(conn, who, change)


ANN, BEN, CEM = 1, 2, 3


def test_a_decision_settles_the_answers_of_all_systems(lala):
    saved = say(lala, ANN, "pass", 0)
    assert (saved.settles, saved.met) == (2, None)
    assert saved.output.systems == ("x", "y")
    assert (saved.output.verdict, saved.output.by, saved.output.version) == ("pass", "Ann", 1)
    assert [(each.person, each.verdict) for each in saved.output.decisions] == [("Ann", "pass")]
    assert state(lala) == {"so lala": ("pass", "Ann", False)}


def test_a_skip_settles_nothing(lala):
    saved = say(lala, ANN, "skip", 0)
    assert saved.settles == 0
    assert state(lala) == {"so lala": ("warning", None, False)}
    assert [each.verdict for each in saved.output.decisions] == ["skip"]


def test_a_later_word_replaces_the_earlier_which_is_kept(lala):
    say(lala, ANN, "pass", 0)
    saved = say(lala, ANN, "fail", 1)
    assert [each.verdict for each in saved.output.decisions] == ["fail"]
    assert state(lala) == {"so lala": ("fail", "Ann", False)}
    assert rows(lala, "SELECT verdict FROM decisions ORDER BY id") == [("pass",), ("fail",)]


def test_people_who_disagree_make_a_dispute_that_an_adjudication_ends(lala):
    say(lala, ANN, "pass", 0)
    saved = say(lala, BEN, "fail", 1)
    assert (saved.settles, saved.met) == (0, None)
    assert state(lala) == {"so lala": ("warning", None, True)}
    with lala.write() as conn:
        cem = add_person(conn, "Cem").id
    saved = say(lala, cem, "fail", 2, adjudication=True)
    assert saved.settles == 2
    assert state(lala) == {"so lala": ("fail", "Cem", False)}
    # What they said stays, for the agreement.
    assert [(each.person, each.verdict, each.adjudication) for each in saved.output.decisions] == [
        ("Ann", "pass", False),
        ("Ben", "fail", False),
        ("Cem", "fail", True),
    ]
    take_back(lala, cem)
    assert state(lala) == {"so lala": ("warning", None, True)}


def test_who_meets_another_person_is_told_and_both_words_are_kept(lala):
    say(lala, ANN, "pass", 0)
    saved = say(lala, BEN, "fail", 0)
    assert (saved.met.person, saved.met.verdict) == ("Ann", "pass")
    assert len(saved.output.decisions) == 2
    assert state(lala) == {"so lala": ("warning", None, True)}


def test_who_meets_a_skip_or_a_word_that_was_taken_back_is_not_told(lala):
    say(lala, ANN, "pass", 0)
    take_back(lala, ANN)
    say(lala, ANN, "skip", 2)
    assert say(lala, BEN, "fail", 0).met is None


def test_a_page_that_the_same_person_has_outdated_is_refused(lala):
    say(lala, ANN, "pass", 0)
    with pytest.raises(Outdated):
        say(lala, ANN, "fail", 0)
    assert state(lala) == {"so lala": ("pass", "Ann", False)}
    assert rows(lala, "SELECT count(*) FROM changes") == [(1,)]
    # Also after the word was taken back, and between the words of others.
    take_back(lala, ANN)
    say(lala, BEN, "pass", 2)
    for seen in (0, 1):
        with pytest.raises(Outdated):
            say(lala, ANN, "fail", seen)
    assert say(lala, ANN, "fail", 2).met.person == "Ben"


def test_a_version_that_never_was_is_refused(lala):
    with pytest.raises(Outdated):
        say(lala, ANN, "fail", 7)


def test_taking_back_goes_back_step_by_step(lala):
    say(lala, ANN, "pass", 0)
    say(lala, ANN, "fail", 1)
    assert take_back(lala, ANN).note == "fail"
    assert state(lala) == {"so lala": ("pass", "Ann", False)}
    undone = take_back(lala, ANN)
    assert (undone.note, undone.undone_by, undone.output) == ("pass", "Ann", 1)
    assert undone.undone > undone.time
    assert state(lala) == {"so lala": ("warning", None, False)}
    assert take_back(lala, ANN) is None
    assert rows(lala, "SELECT version FROM outputs") == [(4,)]


def test_a_change_can_be_taken_back_out_of_turn(lala):
    first = say(lala, ANN, "pass", 0)
    say(lala, ANN, "fail", 1)
    take_back(lala, ANN, first.change)
    assert state(lala) == {"so lala": ("fail", "Ann", False)}
    assert take_back(lala, ANN, first.change) is None
    take_back(lala, ANN)
    assert state(lala) == {"so lala": ("warning", None, False)}


def test_nobody_takes_back_the_word_of_another(lala):
    saved = say(lala, ANN, "pass", 0)
    with pytest.raises(DataError, match="only the person who made a decision"):
        take_back(lala, BEN, saved.change)
    assert take_back(lala, BEN) is None
    with pytest.raises(DataError, match="no change 99"):
        take_back(lala, BEN, 99)
    assert state(lala) == {"so lala": ("pass", "Ann", False)}


def test_a_rule_is_taken_back_by_the_person_who_made_it_or_by_a_lead(lala):
    with lala.write() as conn:
        change = save_rule(conn, Draft(1, "negative", "fixed", "lala"), BEN)
        other = add_person(conn, "Cem").id
    assert state(lala) == {"so lala": ("fail", "i1-2", False)}
    with pytest.raises(DataError, match="only a lead"):
        take_back(lala, other, change.id)
    undone = take_back(lala, ANN, change.id)
    assert (undone.person, undone.undone_by, undone.kind) == ("Ben", "Ann", "rule")
    assert state(lala) == {"so lala": ("warning", None, False)}
    with lala.read() as conn:
        assert case(conn, 1).item == item()


def test_only_a_lead_decides_a_dispute_and_none_of_their_own(three):
    def final(who):
        return say(three, who, "pass", 2, "so a", adjudication=True)

    with pytest.raises(DataError, match="no dispute to decide"):
        say(three, ANN, "pass", 0, "so a", adjudication=True)
    say(three, BEN, "pass", 0, "so a")
    say(three, CEM, "fail", 1, "so a")
    with pytest.raises(DataError, match=r"one of those who disagree.*a lead.*: Ann decide"):
        final(BEN)
    with three.write() as conn:
        dan = add_person(conn, "Dan").id
    with pytest.raises(DataError, match="only a lead decides a dispute; ask Ann"):
        final(dan)
    final(ANN)
    # Whoever decided it may change their mind.
    assert say(three, ANN, "fail", 3, "so a", adjudication=True).output.verdict == "fail"


def test_anybody_else_decides_where_all_leads_disagree_themselves(three):
    say(three, ANN, "pass", 0, "so a")
    say(three, BEN, "fail", 1, "so a")
    with pytest.raises(DataError, match="let anybody else decide"):
        say(three, ANN, "pass", 2, "so a", adjudication=True)
    assert say(three, CEM, "pass", 2, "so a", adjudication=True).output.by == "Cem"


def test_a_request_that_is_sent_again_changes_nothing(lala):
    first = say(lala, ANN, "pass", 0, key="k")
    assert say(lala, ANN, "pass", 0, key="k") == first
    # The key is each person's own.
    other = say(lala, BEN, "fail", 0, key="k")
    assert say(lala, BEN, "fail", 0, key="k").met == other.met
    assert other.met.person == "Ann"
    assert say(lala, ANN, "pass", 0, key="k").met is None
    with pytest.raises(DataError, match="for something else"):
        say(lala, ANN, "fail", 2, key="k")
    take_back(lala, ANN)
    say(lala, ANN, "pass", 0, key="k")
    assert rows(lala, "SELECT count(*) FROM changes") == [(2,)]
    assert state(lala) == {"so lala": ("fail", "Ben", False)}


def test_what_was_decided_at_once_is_taken_back_at_once(three):
    ids = [number(three, text) for text in ("so a", "hm a", "so c")]
    with three.write() as conn:
        saved = save_decisions(conn, dict.fromkeys(ids, 0), ANN, "pass", key="k")
        assert save_decisions(conn, dict.fromkeys(ids, 0), ANN, "pass", key="k") == saved
    assert [one.settles for one in saved] == [1, 1, 2]
    assert take_back(three, ANN).id == saved[-1].change
    assert state(three)["so a"] == state(three)["so c"] == ("warning", None, False)
    assert take_back(three, ANN) is None


@pytest.mark.parametrize(
    ("choice", "adjudication"), [("maybe", False), ("warning", False), ("skip", True)]
)
def test_other_choices_are_refused(lala, choice, adjudication):
    with pytest.raises(DataError, match=f"'{choice}' is none of pass, fail"):
        say(lala, ANN, choice, 0, adjudication=adjudication)


def test_an_output_that_is_gone_is_refused(lala):
    with pytest.raises(DataError, match="no output 99 any more"), lala.write() as conn:
        save_decision(conn, 99, ANN, "pass", seen=0)


def test_the_history_tells_everything_newest_first(store):
    fill(
        store,
        [item("a"), item("b"), item("c")],
        {"x": {"a": "so a", "b": "so b", "c": "so c"}},
    )
    say(store, ANN, "pass", 0, "so a")
    say(store, BEN, "skip", 0, "so b")
    with store.write() as conn:
        draft = Draft(number(store, "so b"), "positive", "regex", "s[o]", "suite")
        save_rule(conn, draft, BEN)
    say(store, ANN, "fail", 1, "so a")
    take_back(store, ANN)

    def told(**options):
        with store.read() as conn:
            return [
                (each.person, each.kind, each.note, each.item, bool(each.undone))
                for each in history(conn, **options)
            ]

    everything = [
        ("Ann", "decision", "fail", "a", True),
        ("Ben", "rule", "positive regex 's[o]' for item b and 1 more", "b", False),
        ("Ben", "skip", "skip", "b", False),
        ("Ann", "decision", "pass", "a", False),
    ]
    assert told() == everything
    assert told(person=BEN) == everything[1:3]
    assert told(item="a") == [everything[0], everything[3]]
    # The rule settles something in c, too; in a, there was nothing left to settle.
    assert told(item="c") == everything[1:2]
    assert told(limit=1) == everything[:1]
    with store.read() as conn:
        second = history(conn, limit=2)[1].id
    assert told(before=second) == everything[2:]
