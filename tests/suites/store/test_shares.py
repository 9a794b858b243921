"""Open outputs are dealt by weight, a sample to two people, and ratings are what both said."""

import numpy as np
import pytest

from assay.data import DataError
from assay.statistics.correlation import krippendorff_alpha
from assay.suites.check import Checker
from assay.suites.model import Run
from assay.suites.store.dealing import apply_deal, assign, clear, plan_deal, shares, team
from assay.suites.store.decisions import save_decision, undo
from assay.suites.store.leases import claim
from assay.suites.store.merging import merge
from assay.suites.store.offers import offer, take
from assay.suites.store.people import person_named
from assay.suites.store.queue import case, next_case, progress
from assay.suites.store.ratings import ratings
from assay.suites.store.runs import save_run
from tests.suites.store.samples import fill, item, rows

ANN, BEN, CEM = 1, 2, 3
THREE = {"Ann": 1, "Ben": 1, "Cem": 1}


@pytest.fixture
def many(store):
    """100 items with 0 to 5 warnings each, and three people."""
    names = [f"{at:03}" for at in range(100)]
    runs = {
        f"s{system}": {
            name: f"so {system % (at % 5 + 1)}" for at, name in enumerate(names) if at % 5
        }
        for system in range(5)
    }
    fill(store, [item(name) for name in names], runs, people=("Ann", "Ben", "Cem"))
    return store


def deal(store, weights, seed=1, **options):
    """Deal, and give back the plan."""
    with store.write() as conn:
        plan = plan_deal(conn, weights, rng=np.random.default_rng(seed), **options)
        apply_deal(conn, plan, ANN)
    return plan


def held(store):
    with store.read() as conn:
        return {each.person: each for each in shares(conn)}


def work(store, who, count):
    """Let somebody judge so many outputs of their queue."""
    for _ in range(count):
        with store.write() as conn:
            shown = next_case(conn, who)
            save_decision(conn, shown.output.id, who, "pass", seen=shown.output.version)


def assigned(store):
    return rows(store, "SELECT output_id, annotator_id, second FROM assignments ORDER BY 1, 2")


def test_everybody_gets_warnings_by_weight(many):
    plan = deal(many, {"Ann": 1, "Ben": 2, "Cem": 0}, double=0)
    found = held(many)
    assert set(found) == {"Ann", "Ben"}
    assert found["Ann"].outputs + found["Ben"].outputs == plan.judgements == 280
    assert found["Ann"].outputs == pytest.approx(280 / 3, abs=2)
    assert found["Ann"].items + found["Ben"].items == 80
    assert (found["Ann"].doubled, found["Ann"].done) == (0, 0)
    assert [(line.person, line.given) for line in plan.people] == [
        ("Ann", found["Ann"].outputs),
        ("Ben", found["Ben"].outputs),
    ]
    with many.read() as conn:
        assert team(conn).weights == {ANN: 1, BEN: 2, CEM: 0}


def test_what_people_began_or_judged_since_the_plan_was_made_stays_as_it_is(many):
    with many.read() as conn:
        plan = plan_deal(conn, {"Ann": 1, "Cem": 1}, double=0.5, rng=np.random.default_rng(1))
    with many.write() as conn:
        judged = next_case(conn, BEN)
        save_decision(conn, judged.output.id, BEN, "pass", seen=judged.output.version)
        looked = next(row.output for row in plan.added if row.output > judged.output.id + 20)
        claim(conn, looked, BEN)
    with many.write() as conn:
        change = apply_deal(conn, plan, ANN)
    now_held, stay = set(assigned(many)), "SELECT id FROM outputs WHERE item_id IN (%s)"
    items = f"SELECT item_id FROM outputs WHERE id IN ({judged.output.id}, {looked})"
    left = {number for (number,) in rows(many, stay % items)}
    assert {output for output, *_ in now_held}.isdisjoint(left)
    planned = {(row.output, row.person, row.second) for row in plan.added}
    assert {(one, who, bool(second)) for one, who, second in now_held} == {
        row for row in planned if row[0] not in left
    }
    assert f", {len(left)} stayed since people had begun or judged them" in change.note


def test_what_was_dealt_otherwise_since_the_plan_was_made_stays_so(many):
    with many.read() as conn:
        plan = plan_deal(conn, THREE, double=0, rng=np.random.default_rng(1))
    deal(many, {"Ben": 1}, double=0)
    before = assigned(many)
    with many.write() as conn:
        apply_deal(conn, plan, ANN)
    assert assigned(many) == before


def test_newcomers_become_people_when_the_plan_is_applied(many):
    weights = {"Ann": 1, " Dora  Lee ": 1, "Ben": 0}
    with many.read() as conn:
        plan = plan_deal(conn, weights, double=0, newcomers=True, rng=np.random.default_rng(1))
        assert person_named(conn, "Dora Lee") is None
        assert "Dora Lee" in [line.person for line in plan.people]
        with pytest.raises(DataError, match="nobody is called 'Dora Lee'"):
            plan_deal(conn, weights, rng=np.random.default_rng(1))
    with many.write() as conn:
        apply_deal(conn, plan, ANN)
        dora = person_named(conn, "Dora Lee")
        assert team(conn).weights == {ANN: 1, dora.id: 1, BEN: 0}
    assert held(many)["Dora Lee"].outputs == 140


def test_a_plan_for_somebody_who_was_merged_is_refused(many):
    with many.read() as conn:
        plan = plan_deal(conn, THREE, rng=np.random.default_rng(1))
    with many.write() as conn:
        merge(conn, CEM, BEN, by=ANN)
    refused = pytest.raises(DataError, match="1 of these people is not there any more")
    with refused, many.write() as conn:
        apply_deal(conn, plan, ANN)


@pytest.mark.parametrize("double", [0.1, 0.5, 1])
def test_a_share_of_the_outputs_is_judged_by_two(many, double):
    plan = deal(many, THREE, double=double)
    twice = rows(many, "SELECT output_id FROM assignments GROUP BY output_id HAVING count(*) = 2")
    assert len(twice) == plan.doubled == 280 * double
    assert plan.judgements == 280 + len(twice)
    assert rows(many, "SELECT count(*) FROM assignments WHERE second") == [(len(twice),)]
    found = held(many)
    assert sum(each.doubled for each in found.values()) == 2 * len(twice)
    assert max(each.outputs for each in found.values()) - plan.judgements / 3 <= 5


def test_a_first_judge_becomes_the_second_where_another_was_faster(many):
    deal(many, {"Ben": 1}, double=0)
    before = assigned(many)
    taken = [output for output, _, _ in before[:5]]
    with many.write() as conn:
        for output in taken:
            save_decision(conn, output, ANN, "pass", seen=0)
    deal(many, {"Ann": 1, "Ben": 1}, double=1)
    found = [(output, who, bool(second)) for output, who, second in assigned(many)]
    assert {(output, BEN, True) for output in taken} <= set(found)
    with many.write() as conn:
        assert undo(conn, ANN, 7).kind == "deal"
    assert assigned(many) == before


def test_one_person_gets_everything_once(many):
    plan = deal(many, {"Ann": 3}, double=0.5)
    assert (plan.judgements, plan.doubled) == (280, 0)


def test_the_same_seed_gives_the_same_shares(many):
    first = deal(many, THREE).added
    with many.write() as conn:
        clear(conn, ANN)
        assert shares(conn) == []
    assert deal(many, THREE, seed=2).added != first
    with many.write() as conn:
        clear(conn, ANN)
    assert deal(many, THREE).added == first
    # Dealing once more leaves everything as it is.
    again = deal(many, THREE, seed=7)
    assert (again.removed, again.added) == ((), ())


def test_in_the_middle_of_a_project_only_what_is_open_is_dealt(many):
    work(many, ANN, 100)
    plan = deal(many, {"Ann": 1, "Ben": 1}, double=0)
    assert plan.judgements == 180
    open_ = {id_ for (id_,) in rows(many, "SELECT id FROM outputs WHERE verdict = 'warning'")}
    assert {output for output, _, _ in assigned(many)} == open_
    # What was judged once counts for the share that is judged twice.
    plan = deal(many, {"Ann": 1, "Ben": 1}, double=0.5)
    assert plan.doubled == 140
    assert plan.judgements == 180 + 140
    plan = deal(many, {"Ann": 1, "Ben": 1}, double=1)
    assert plan.judgements == 180 + 280
    twice = [output for output, person, second in assigned(many) if second and person == ANN]
    assert set(twice) <= open_


def test_who_joins_gets_what_nobody_has_begun(many):
    deal(many, {"Ann": 1, "Ben": 1}, double=0)
    work(many, ANN, 4)
    begun = rows(
        many,
        "SELECT DISTINCT item_id FROM outputs JOIN decisions ON output_id = outputs.id",
    )
    with many.write() as conn:
        shown = next_case(conn, BEN)
        claim(conn, shown.output.id, BEN)
    before = assigned(many)
    plan = deal(many, THREE, double=0)
    lines = {line.person: line for line in plan.people}
    assert lines["Cem"].given == pytest.approx((280 - 4) / 3, abs=3)
    assert lines["Ann"].taken + lines["Ben"].taken == lines["Cem"].given
    assert lines["Ann"].given == lines["Ben"].given == 0
    assert lines["Ben"].begun >= 1
    moved = {row[0] for row in set(before) ^ set(assigned(many))}
    items = dict(rows(many, "SELECT id, item_id FROM outputs"))
    mine = {items[shown.output.id], *(id_ for (id_,) in begun)}
    assert not mine & {items[output] for output in moved}


def test_what_somebody_leaves_behind_goes_to_the_others(many):
    deal(many, THREE, double=0.1)
    work(many, BEN, 20)
    deal(many, {"Ann": 1, "Cem": 1, "Ben": 0}, double=0.1)
    judged = {id_ for (id_,) in rows(many, "SELECT output_id FROM decisions")}
    assert {output for output, person, _ in assigned(many) if person == BEN} <= judged
    for who in (ANN, CEM):
        with many.read() as conn:
            left = progress(conn, who).mine
        work(many, who, left)
    asked = "SELECT count(*) FROM decisions WHERE NOT withdrawn"
    assert rows(many, asked) == [(280 + 28,)]
    assert rows(many, "SELECT count(*) FROM outputs WHERE verdict = 'warning'") == [(0,)]


def test_outputs_that_come_later_are_in_the_pool(many):
    deal(many, {"Ann": 1}, double=0)
    with many.write() as conn:
        save_run(conn, Run("new", {"001": "so new"}, "next"), Checker())
        assert next_case(conn, BEN).output.text == "so new"
        assert progress(conn, BEN).mine == 1
    work(many, ANN, 2)
    # In a new campaign, nobody has begun the item.
    plan = deal(many, {"Ann": 0, "Ben": 1}, double=0)
    assert plan.judgements == 279


def test_a_deal_is_taken_back_but_for_what_was_judged_since(many):
    deal(many, {"Ann": 1}, double=0)
    before = assigned(many)
    deal(many, {"Ben": 1, "Ann": 0}, double=0)
    work(many, BEN, 10)
    done = {id_ for (id_,) in rows(many, "SELECT output_id FROM decisions")}
    with many.write() as conn:
        for _ in range(10):
            save = undo(conn, BEN)
            assert save.kind == "decision"
    work(many, BEN, 10)
    with many.write() as conn, pytest.raises(DataError, match="only a lead can take back how"):
        undo(conn, CEM, 2)
    with many.write() as conn:
        assert undo(conn, ANN) is None
        assert undo(conn, ANN, 2).kind == "deal"
        assert team(conn).weights == {ANN: 1}
    after = assigned(many)
    assert {row for row in after if row[0] not in done} == {
        row for row in before if row[0] not in done
    }
    assert {person for output, person, _ in after if output in done} == {BEN}


def test_a_deal_is_taken_back_after_people_were_merged(many):
    deal(many, {"Cem": 1}, double=0)
    deal(many, {"Ben": 1, "Cem": 0}, double=0)
    with many.write() as conn:
        merge(conn, CEM, ANN, by=ANN)
        assert undo(conn, ANN, 2).kind == "deal"
    assert assigned(many) == []


def test_who_has_nothing_left_is_told_why_and_takes_over(many):
    deal(many, {"Ann": 2, "Ben": 1}, double=0)
    with many.write() as conn:
        assert next_case(conn, CEM) is None
        claim(conn, next_case(conn, ANN).output.id, ANN)
        told = offer(conn, CEM)
        assert (told.open, told.holders, told.items, told.from_) == (280, ("Ann", "Ben"), 10, "Ann")
        assert 0 < told.watched <= 5
        shown = next_case(conn, ANN)
        change = take(conn, CEM)
        assert change.note == "took 10 items over from Ann"
        assert next_case(conn, ANN) == shown
        assert progress(conn, CEM).mine >= 10
    work(many, CEM, 1)
    with many.write() as conn:
        undo(conn, CEM, change.id)
        assert next_case(conn, CEM) is None
        assert shares(conn)[-1].done == 1


def test_no_items_are_not_taken_over(many):
    deal(many, {"Ann": 1, "Ben": 1}, double=0)
    with many.write() as conn, pytest.raises(DataError, match="name at least 1"):
        take(conn, CEM, 0)


def test_nothing_is_taken_over_that_one_has_judged_or_others_are_at(store):
    fill(store, [item("a"), item("b")], {"x": {"a": "so a", "b": "so b"}})
    with store.write() as conn:
        assign(conn, ANN, {"Ann": 1, "Ben": 1}, double=1, rng=np.random.default_rng(1))
    work(store, ANN, 2)
    with store.write() as conn, pytest.raises(DataError, match="nothing to take over"):
        take(conn, ANN)
    with store.write() as conn:
        shown = next_case(conn, BEN)
        claim(conn, shown.output.id, BEN)
        assert case(conn, shown.output.id, BEN).output.verdict == "warning"
        assert offer(conn, ANN).open == 2
        assert offer(conn, ANN).watched == 1


@pytest.mark.parametrize(
    ("weights", "double", "complaint"),
    [
        ({}, 0, "at least one"),
        ({"Ann": 0}, 0, "at least one"),
        ({"An": 1}, 0, "nobody is called 'An'.*'Ann'"),
        ({"Ann": -1}, 0, "weight of Ann"),
        ({"Ann": float("nan")}, 0, "weight of Ann"),
        ({"Ann": 1}, 1.5, "from 0 to 1"),
    ],
)
def test_shares_that_make_no_sense_are_refused(many, weights, double, complaint):
    deal(many, {"Ben": 1})
    with pytest.raises(DataError, match=complaint):
        deal(many, weights, double=double)
    assert rows(many, "SELECT count(*) FROM assignments") == [(280,)]


def test_what_is_done_of_a_share_is_counted(many):
    deal(many, {"Ann": 1, "Ben": 1}, double=1)
    ids = [id_ for (id_,) in rows(many, "SELECT id FROM outputs ORDER BY id")][:3]
    with many.write() as conn:
        for id_, choice in zip(ids, ("pass", "fail", "skip"), strict=True):
            save_decision(conn, id_, 1, choice, seen=0)
    assert {name: each.done for name, each in held(many).items()} == {"Ann": 2, "Ben": 0}


def test_ratings_are_the_words_on_what_several_judged(many):
    ids = [id_ for (id_,) in rows(many, "SELECT id FROM outputs ORDER BY id")]
    said = [
        (0, 1, "pass"),
        (0, 2, "fail"),
        (1, 1, "pass"),
        (1, 3, "pass"),
        (2, 1, "fail"),  # by one person alone
        (3, 1, "fail"),
        (3, 2, "skip"),  # which is no word
        (4, 2, "pass"),
        (4, 3, "fail"),
        (4, 3, "pass"),  # which replaces the one before
    ]
    with many.write() as conn:
        versions = dict.fromkeys(ids, 0)
        for at, who, choice in said:
            save_decision(conn, ids[at], who, choice, seen=versions[ids[at]])
            versions[ids[at]] += 1
        save_decision(conn, ids[0], 3, "pass", seen=2, adjudication=True)  # which is none
        found = ratings(conn)
    assert found.people == ("Ann", "Ben", "Cem")
    assert found.outputs == (ids[0], ids[1], ids[4])
    nan = np.nan
    assert np.array_equal(found.codes, [[1, 1, nan], [0, nan, 1], [nan, 1, 1]], equal_nan=True)
    words = [[None if np.isnan(code) else code for code in row] for row in found.codes]
    assert krippendorff_alpha(words) == pytest.approx(0.0)


def test_without_common_work_there_are_no_ratings(store):
    with store.read() as conn:
        found = ratings(conn)
    assert (found.people, found.outputs, found.codes.shape) == ((), (), (0, 0))
