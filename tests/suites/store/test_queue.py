"""What waits for whom, what a case shows, searching, and how far the work is."""

import numpy as np
import pytest
from sqlalchemy import insert, select, update

from assay.data import DataError
from assay.suites.check import Checker
from assay.suites.model import Run
from assay.suites.store.decisions import save_decision, undo
from assay.suites.store.finding import disputed_cases, find
from assay.suites.store.history import add_change
from assay.suites.store.queue import case, next_case, progress
from assay.suites.store.records import Draft, Filters
from assay.suites.store.runs import save_run
from assay.suites.store.suites import mark_open
from assay.suites.store.tables import assignments, changes, items, outputs
from assay.suites.store.trials import save_rule
from tests.suites.store.samples import fill, item, number

ANN, BEN, CEM = 1, 2, 3
ALL = Filters()


def say(store, who, text, choice="pass", **options):
    output = number(store, text)
    with store.write() as conn:
        seen = case(conn, output).output.version
        return save_decision(conn, output, who, choice, seen=seen, **options)


def upcoming(store, who, filters=ALL, **options):
    with store.read() as conn:
        found = next_case(conn, who, filters, **options)
    return found and found.output.text


def give(store, **items_):
    """Assign items, by name, to people."""
    with store.write() as conn:
        for name, people in items_.items():
            joined = outputs.join(items, items.c.id == outputs.c.item_id)
            asked = select(outputs.c.id).select_from(joined).where(items.c.name == name)
            for output in conn.execute(asked).scalars().all():
                held = conn.execute(assignments.select().where(assignments.c.output_id == output))
                rows = [{"output_id": output, "annotator_id": each} for each in people]
                taken = len(held.all())
                told = [row | {"second": taken + at > 0} for at, row in enumerate(rows)]
                conn.execute(insert(assignments), [row | {"open": False} for row in told])
                mark_open(conn, [output])


def worked_off(store, who):
    """The queue of a person who passes everything."""
    found = []
    while text := upcoming(store, who):
        found.append(text)
        say(store, who, text)
    return found


def test_the_queue_follows_the_items_and_asks_once_for_identical_outputs(three):
    assert worked_off(three, ANN) == ["so a", "hm a", "so c"]
    assert upcoming(three, BEN) is None


def test_the_queue_follows_the_order_of_a_newer_file(three):
    with three.write() as conn:
        conn.execute(update(items).values(position=100 - items.c.position))
    assert worked_off(three, ANN) == ["so c", "so a", "hm a"]


def test_what_nobody_was_given_is_asked_of_whoever_comes_first(three):
    say(three, ANN, "so a")
    assert worked_off(three, BEN) == ["hm a", "so c"]


def test_what_somebody_was_given_is_asked_of_them_alone(three):
    give(three, a=[BEN])
    assert worked_off(three, ANN) == ["so c"]
    assert worked_off(three, BEN) == ["so a", "hm a"]


def test_what_two_people_were_given_is_asked_of_both(three):
    give(three, a=[ANN, BEN])
    assert worked_off(three, ANN) == ["so a", "hm a", "so c"]
    assert worked_off(three, BEN) == ["so a", "hm a"]
    assert worked_off(three, CEM) == []


def test_disputes_wait_for_nobody_but_the_adjudicator(three):
    give(three, a=[ANN, BEN, CEM])
    say(three, ANN, "so a", "pass")
    say(three, BEN, "so a", "fail")
    assert upcoming(three, CEM) == "hm a"
    with three.read() as conn:
        assert [each.output.text for each in disputed_cases(conn)] == ["so a"]
        assert disputed_cases(conn, offset=1) == []
        assert progress(conn, CEM).disputed == 1
    say(three, CEM, "so a", "fail", adjudication=True)
    with three.read() as conn:
        assert disputed_cases(conn) == []


def test_what_was_skipped_waits_in_a_queue_of_its_own_and_for_others(three):
    say(three, ANN, "so a", "skip")
    assert upcoming(three, ANN) == "hm a"
    assert upcoming(three, ANN, skipped=True) == "so a"
    assert upcoming(three, BEN) == "so a"
    say(three, ANN, "so a")
    assert upcoming(three, ANN, skipped=True) is None


def test_skipping_what_was_skipped_leads_on_to_the_next(three):
    say(three, ANN, "so a", "skip")
    say(three, ANN, "hm a", "skip")
    assert upcoming(three, ANN, skipped=True) == "so a"
    say(three, ANN, "so a", "skip")
    assert upcoming(three, ANN, skipped=True) == "hm a"
    say(three, ANN, "hm a", "skip")
    assert upcoming(three, ANN, skipped=True) == "so a"


def test_what_was_taken_back_waits_again(three):
    say(three, ANN, "so a")
    with three.write() as conn:
        undo(conn, ANN)
    assert upcoming(three, ANN) == "so a"


def test_what_a_rule_settles_waits_no_longer(three):
    with three.write() as conn:
        save_rule(conn, Draft(number(three, "so a"), "positive", "fixed", "so"), BEN)
    assert upcoming(three, ANN) == "hm a"


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        (Filters(), "so a"),
        (Filters(system="y"), "hm a"),
        (Filters(category="D"), "so c"),
        (Filters(category="D", phenomenon="Q"), None),
        (Filters(phenomenon="P", text="SO"), "so a"),
        (Filters(text="quelle C"), "so c"),
        (Filters(text="%"), None),
        (Filters(campaign="wmt21"), None),
        (Filters(verdict="pass"), None),
        (Filters(person="Ben"), None),
        (Filters(person="Nobody"), None),
    ],
)
def test_filters_leave_the_rest_out_of_the_queue(three, filters, wanted):
    assert upcoming(three, ANN, filters) == wanted


def test_a_case_shows_what_matched_and_the_other_outputs(store):
    fill(
        store,
        [item("a", ["go+d", "("], ["bad"], kind="regex"), item("b")],
        {
            "x": {"a": "good and bad", "b": "z"},
            "y": {"a": "goood"},
            "z": {"a": "so"},
            "w": {"a": "good and bad"},
        },
    )
    with store.read() as conn:
        shown = case(conn, number(store, "good and bad"))
    assert shown.item == item("a", ["go+d", "("], ["bad"], kind="regex")
    assert shown.matches == (("a+1", 0, 4), ("a-1", 9, 12))
    assert shown.trouble[0].startswith("rule a+2: '(' is not a regular expression")
    assert shown.output.systems == ("x", "w")
    assert {each.text for each in shown.others} == {"goood", "so"}
    with pytest.raises(DataError, match="no output 99"), store.read() as conn:
        case(conn, 99)


def test_the_other_outputs_come_warnings_first(store):
    texts = ["so 1", "good 2", "bad 3", "so 4"]
    fill(store, [item()], {text: {"i1": text} for text in texts})
    with store.read() as conn:
        shown = case(conn, number(store, "so 1"))
    assert [each.text for each in shown.others] == ["so 4", "good 2", "bad 3"]


def test_systems_are_named_with_their_campaigns_where_there_are_several(three):
    with three.write() as conn:
        save_run(conn, Run("x", {"a": "so a"}, "wmt22"), Checker())
    with three.read() as conn:
        assert case(conn, number(three, "so a")).output.systems == ("x", "x (wmt22)")
        assert case(conn, number(three, "hm a")).output.systems == ("y",)


def test_a_second_judge_does_not_see_what_the_first_said(three):
    give(three, a=[ANN, BEN])
    say(three, ANN, "so a", "fail")
    say(three, ANN, "hm a", "pass")
    output = number(three, "so a")

    def seen(who):
        with three.read() as conn:
            shown = case(conn, output, who)
        return shown.output.verdict, len(shown.output.decisions), shown.others[0].verdict

    assert seen(BEN) == ("warning", 0, "warning")
    assert seen(ANN) == seen(CEM) == seen(None) == ("fail", 1, "pass")
    say(three, BEN, "so a", "skip")
    assert seen(BEN) == ("warning", 0, "warning")
    say(three, BEN, "so a", "fail")
    assert seen(BEN) == ("fail", 2, "warning")


def far(store, who):
    with store.read() as conn:
        found = progress(conn, who)
    return found.total, found.settled, found.mine, found.mine_done, found.skipped


def test_progress_counts_the_work_of_all_and_of_one_person(three):
    assert far(three, ANN) == (3, 0, 3, 0, 0)
    say(three, ANN, "so a")
    say(three, BEN, "hm a", "skip")
    assert far(three, ANN) == (3, 1, 3, 1, 0)
    assert far(three, BEN) == (3, 1, 2, 0, 1)
    give(three, c=[BEN])
    assert far(three, ANN) == (3, 1, 2, 1, 0)
    assert far(three, CEM) == (3, 1, 1, 0, 0)
    with three.write() as conn:
        save_rule(conn, Draft(number(three, "hm a"), "positive", "fixed", "hm"), ANN)
    # What the new rule settled still counts as work that is done.
    assert far(three, BEN) == (3, 2, 1, 0, 0)
    assert far(three, ANN) == (3, 2, 1, 1, 0)


def test_the_time_left_follows_the_pace_of_the_last_decisions(three):
    for text in ("so a", "hm a"):
        say(three, ANN, text)
        with three.read() as conn:
            left = progress(conn, ANN).seconds_left
        if text == "so a":
            assert left is None
    for number_, time in ((1, "10:00:00"), (2, "10:00:08")):
        with three.write() as conn:
            stamp = f"2024-01-01T{time}.000000+00:00"
            conn.execute(update(changes).where(changes.c.id == number_).values(time=stamp))
    with three.read() as conn:
        assert progress(conn, ANN).seconds_left == 8
        assert progress(conn, BEN).seconds_left is None
    say(three, ANN, "so c")
    with three.read() as conn:
        # The pause before the last one was a pause.
        assert progress(conn, ANN).seconds_left == 0


def test_what_is_no_judgement_tells_no_pace(three):
    with three.write() as conn:
        for _ in range(2):
            add_change(conn, ANN, None, "import", "imported items")
    with three.read() as conn:
        assert progress(conn, ANN).seconds_left is None
    say(three, ANN, "so a")
    with three.read() as conn:
        assert progress(conn, ANN).seconds_left is None


def test_the_queue_equals_a_slow_look_at_everything(store):
    """A random state, and the queue of everybody by the letter of its description."""
    rng = np.random.default_rng(4)
    words = ["good", "bad", "so", "hm", "ok"]
    names = [f"{at:02}" for at in range(12)]
    runs = {
        f"s{system}": {name: f"{words[rng.integers(5)]} {rng.integers(3)}" for name in names}
        for system in range(6)
    }
    fill(store, [item(name) for name in names], runs, people=("Ann", "Ben", "Cem"))
    give(store, **{name: [ANN] for name in names[:4]})
    give(store, **{name: [BEN] for name in names[2:6]})
    said = {}
    for _ in range(60):
        who = int(rng.integers(1, 4))
        with store.write() as conn:
            pairs, _ = find(conn, Filters())
            shown, output = pairs[rng.integers(len(pairs))]
            choice = ("pass", "fail", "skip")[rng.integers(3)]
            save_decision(conn, output.id, who, choice, seen=output.version)
            said[output.id, who] = choice
    with store.read() as conn:
        pairs, _ = find(conn, Filters(), limit=1000)
    for who in (ANN, BEN, CEM):
        given = {ANN: names[:4], BEN: names[2:6], CEM: []}[who]
        own, pool = [], []
        for shown, output in pairs:
            others = {said[key] for key in said if key[0] == output.id} - {"skip"}
            if output.ruled != "warning" or len(others) > 1 or (output.id, who) in said:
                continue
            mine = shown.id in given and (shown.id in names[2:4] or not others)
            if mine:
                own.append(output.id)
            elif shown.id not in names[:6] and not others:
                pool.append(output.id)
        queue = own + pool
        with store.read() as conn:
            found = next_case(conn, who)
            assert (found.output.id if found else None) == (queue[0] if queue else None)
            systems = {output.id: len(output.systems) for _, output in pairs}
            # The sort is stable: of equally many systems, the order stays.
            ranked = [sorted(part, key=lambda one: -systems[one]) for part in (own, pool)]
            sorted_ = [one for part in ranked for one in part]
            found = next_case(conn, who, Filters(sort="systems"))
            assert (found.output.id if found else None) == (sorted_[0] if sorted_ else None)
            done = sum(choice != "skip" for (_, person), choice in said.items() if person == who)
            told = progress(conn, who)
            assert (told.mine - told.skipped, told.mine_done) == (len(queue) + done, done)
