"""Dealing: who is to judge which output, in proportion to weights, and a sample judged twice."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, delete, distinct, exists, func, insert, select
from sqlalchemy import case as sql_case

from assay.data import DataError
from assay.registry import did_you_mean
from assay.suites.store.history import add_change
from assay.suites.store.people import add_person, checked_name, person_named
from assay.suites.store.queue import doubled
from assay.suites.store.records import Assignment, Change, DealPlan, PersonsDeal, Share, Team
from assay.suites.store.suites import OPEN
from assay.suites.store.tables import (
    annotators,
    assignments,
    batches,
    decisions,
    facts,
    learn_sizes,
    outputs,
    pairs,
    plain_rows,
)
from assay.suites.store.unfinished import Unfinished, all_assignments, unfinished

__all__ = [
    "apply_deal",
    "assign",
    "clear",
    "move",
    "move_back",
    "plan_deal",
    "shares",
    "team",
]


def plan_deal(
    connection: Connection,
    weights: Mapping[str, float],
    *,
    double: float = 0.1,
    newcomers: bool = False,
    rng: np.random.Generator,
) -> DealPlan:
    """What would change if the open outputs were dealt to the named people.

    Everybody gets outputs in proportion to their weight, whole items at a time; what they still
    have counts. An item that one of them has begun stays with them. A share `double` of all
    outputs that people judge goes to a second person, too; those judged twice already count.
    Names that nobody has are a `DataError`, unless `newcomers` may have them: these become people
    when the plan is applied.
    """
    weights = {checked_name(name): weight for name, weight in weights.items()}
    new = _newcomers(connection, weights) if newcomers else {}
    people = _people(connection, weights, new)
    if not 0 <= double <= 1:
        raise DataError(f"the doubled share is a number from 0 to 1, not {double}.")
    work = unfinished(connection)
    table = _Table(work, {id_: weight for id_, weight in people.items() if weight}, rng)
    table.deal_first()
    table.deal_second(round(double * work.total))
    return _plan(connection, table, people, double, new)


def apply_deal(connection: Connection, plan: DealPlan, person: int) -> Change:
    """Deal as planned; one change, which can be taken back.

    What somebody has judged, begun or been given since the plan was made stays as it is.
    """
    plan, left = _still_to_move(connection, _welcomed(connection, plan))
    before = _fact(connection)
    told = {"weights": {str(id_): weight for id_, weight in plan.weights.items()}}
    _set_fact(connection, json.dumps(told | {"double": plan.double}))
    names = [line.person for line in plan.people if line.total]
    moved = len({row.output for row in (*plan.removed, *plan.added)})
    note = f"dealt {plan.judgements} judgements to {', '.join(names)}; {moved} outputs moved"
    if left:
        note += f", {left} stayed since people had begun or judged them meanwhile"
    more = {"team": before}
    change = move(connection, person, "deal", note, plan.removed, plan.added, more=more)
    learn_sizes(connection)
    return change


def assign(
    connection: Connection,
    person: int,
    weights: Mapping[str, float],
    *,
    double: float = 0.1,
    rng: np.random.Generator,
) -> Change:
    """Deal the open outputs without a look at the plan; `person` is who does it."""
    plan = plan_deal(connection, weights, double=double, rng=rng)
    return apply_deal(connection, plan, person)


def clear(connection: Connection, person: int) -> Change | None:
    """Put everything that is open back into the pool; None where nobody has anything."""
    work = unfinished(connection)
    removed = [row for rows in work.held.values() for row in rows]
    if not removed:
        return None
    note = f"took all shares back: {sum(map(work.is_waiting, removed))} judgements"
    return move(connection, person, "deal", note, removed, ())


def team(connection: Connection) -> Team | None:
    """How work was dealt last, if it was."""
    value = _fact(connection)
    if not value:
        return None
    told = json.loads(value)
    weights = {int(id_): float(weight) for id_, weight in told["weights"].items()}
    return Team(weights, float(told["double"]))


def shares(connection: Connection) -> list[Share]:
    """What everybody was given, by name; those who were given nothing are left out."""
    judged = exists().where(
        decisions.c.output_id == outputs.c.id,
        decisions.c.annotator_id == assignments.c.annotator_id,
        ~decisions.c.withdrawn,
        decisions.c.verdict != "skip",
    )
    held = (
        select(
            assignments.c.annotator_id,
            func.count(distinct(outputs.c.item_id)),
            func.count(sql_case((doubled(), 1))),
            func.count(),
            func.count(sql_case((judged, 1))),
        )
        .join(outputs, outputs.c.id == assignments.c.output_id)
        .where(outputs.c.ruled == "warning")
        .group_by(assignments.c.annotator_id)
    )
    names = pairs(connection, select(annotators.c.id, annotators.c.name))
    found = [Share(names[id_], *counts) for id_, *counts in connection.execute(held)]
    return sorted(found, key=lambda share: share.person)


def move(
    connection: Connection,
    person: int,
    kind: str,
    note: str,
    removed: Sequence[Assignment],
    added: Sequence[Assignment],
    *,
    more: Mapping[str, Any] = MappingProxyType({}),
) -> Change:
    """Take outputs from some people and give them to others; one change of the history."""
    _remove(connection, removed)
    _insert(connection, added)
    data = {"removed": removed, "added": added, **more}
    return add_change(connection, person, None, kind, note, data=data)


def move_back(connection: Connection, change: int, data: str) -> None:
    """Undo a deal: what nobody has judged or dealt since goes back to where it was.

    What was somebody's who is not there any more, since people were merged, goes to the pool.
    """
    told = json.loads(data)
    removed, added = ([Assignment(*row) for row in told[key]] for key in ("removed", "added"))
    since = select(decisions.c.output_id).where(
        decisions.c.change_id > change, ~decisions.c.withdrawn, decisions.c.verdict != "skip"
    )
    settled = set(connection.execute(since).scalars())
    touched = {row.output for row in (*removed, *added)}
    now_held = all_assignments(connection)
    for row in added:
        if row not in now_held[row.output]:
            settled.add(row.output)  # it was dealt again
    gone = set(touched) - set(connection.execute(select(outputs.c.id)).scalars())
    back = touched - settled - gone
    _remove(connection, [row for row in added if row.output in back])
    taken = {(row.output, row.person) for rows in now_held.values() for row in rows}
    taken -= {(row.output, row.person) for row in added}
    there = set(connection.execute(select(annotators.c.id)).scalars())
    wanted = [row for row in removed if row.output in back and row.person in there]
    _insert(connection, [row for row in wanted if (row.output, row.person) not in taken])
    if "team" in told:
        _set_fact(connection, told["team"])


def _remove(connection: Connection, rows: Iterable[Assignment]) -> None:
    by_person = defaultdict(list)
    for row in rows:
        by_person[row.person].append(row.output)
    for person, ids in by_person.items():
        for batch in batches(ids):
            gone = assignments.c.annotator_id == person, assignments.c.output_id.in_(batch)
            connection.execute(delete(assignments).where(*gone))


def _insert(connection: Connection, rows: Iterable[Assignment]) -> None:
    open_ = {output for (output,) in plain_rows(connection, select(outputs.c.id).where(OPEN))}
    told = [
        {
            "output_id": row.output,
            "annotator_id": row.person,
            "second": row.second,
            "open": row.output in open_,
        }
        for row in rows
    ]
    if told:
        connection.execute(insert(assignments), told)


def _fact(connection: Connection) -> str | None:
    return connection.execute(select(facts.c.value).where(facts.c.name == "team")).scalar()


def _set_fact(connection: Connection, value: str | None) -> None:
    connection.execute(delete(facts).where(facts.c.name == "team"))
    if value is not None:
        connection.execute(insert(facts).values(name="team", value=value))


def _welcomed(connection: Connection, plan: DealPlan) -> DealPlan:
    """The plan with people for its newcomers; a `DataError` where somebody is gone since."""
    number = {
        id_: (person_named(connection, name) or add_person(connection, name)).id
        for id_, name in plan.newcomers.items()
    }
    known = set(connection.execute(select(annotators.c.id)).scalars())
    if gone := plan.weights.keys() - known - number.keys():
        raise DataError(
            f"{len(gone)} of these people {'are' if len(gone) > 1 else 'is'} not there any more, "
            "since people were merged. Divide the work anew."
        )
    return replace(
        plan,
        newcomers={},
        weights={number.get(id_, id_): weight for id_, weight in plan.weights.items()},
        added=tuple(row._replace(person=number.get(row.person, row.person)) for row in plan.added),
    )


def _still_to_move(connection: Connection, plan: DealPlan) -> tuple[DealPlan, int]:
    """The plan without outputs that somebody is at since it was made, and how many these are."""
    work = unfinished(connection)
    moved = {id_ for id_, then in plan.states.items() if not then.still(work.state_of(id_))}
    kept = [[row for row in rows if row.output not in moved] for rows in (plan.removed, plan.added)]
    return replace(plan, removed=tuple(kept[0]), added=tuple(kept[1])), len(moved)


def _newcomers(connection: Connection, weights: Mapping[str, float]) -> dict[int, str]:
    """Numbers below 0 for the names that nobody has."""
    new = [name for name in weights if person_named(connection, name) is None]
    return {-at: name for at, name in enumerate(new, 1)}


def _people(
    connection: Connection, weights: Mapping[str, float], new: Mapping[int, str]
) -> dict[int, float]:
    """The weights by the numbers of people; at least one is above 0."""
    known = pairs(connection, select(annotators.c.name, annotators.c.id))
    known |= {name: id_ for id_, name in new.items()}
    for name, weight in weights.items():
        if name not in known:
            raise DataError(f"nobody is called {name!r}{did_you_mean(name, known)}.")
        if not 0 <= weight < float("inf"):
            raise DataError(f"the weight of {name} is a number from 0 on, not {weight}.")
    if not any(weights.values()):
        raise DataError("give at least one person a weight above 0.")
    return {known[name]: float(weight) for name, weight in weights.items()}


class _Unit(NamedTuple):
    """Outputs of one item that are dealt together, and those who cannot get them."""

    item: int
    outputs: tuple[int, ...]
    barred: frozenset[int]


class _Table:
    """A deal under way: what everybody has so far."""

    def __init__(self, work: Unfinished, people: Mapping[int, float], rng: np.random.Generator):
        self.work = work
        self.people = people
        self.rng = rng
        self.load: dict[int, float] = dict.fromkeys(people, 0.0)
        self.first: dict[int, int] = {}  # the person, by item
        self.rows: set[Assignment] = set()
        self.begun: set[Assignment] = set()

    @property
    def twice(self) -> set[int]:
        """The outputs that two people judge."""
        return {row.output for row in self.rows if row.second}

    def deal_first(self) -> None:
        """Give every item with open outputs to one person."""
        free = []
        for item in self._shuffled(self.work.open):
            person = self._person_at(item)
            if person is None:
                free.append(item)
            else:
                self._give_item(item, person)
                self.begun |= {Assignment(one, person, False) for one in self.work.open[item]}
        total = sum(map(len, self.work.open.values())) / sum(self.people.values())
        quota = {person: total * weight + 0.5 for person, weight in self.people.items()}
        left = [item for item in free if not self._keeps(item, quota)]
        # The largest first: what is small evens out what the large ones have left uneven.
        for item in sorted(left, key=lambda item: -len(self.work.open[item])):
            person = self._least(len(self.work.open[item]), frozenset())
            if person is not None:
                self._give_item(item, person)

    def deal_second(self, wanted: int) -> None:
        """Give outputs to a second person until so many are judged twice, or will be."""
        wanted -= self._doubled_already()
        for unit in self._candidates():
            if not 0 < len(unit.outputs) <= wanted:
                continue
            person = self._second_holder(unit) or self._least(len(unit.outputs), unit.barred)
            if person is not None:
                wanted -= len(unit.outputs)
                self._give(unit.outputs, person, second=True)

    def _person_at(self, item: int) -> int | None:
        """Who is at the item: the one who holds it, if possible, or has judged most of it."""
        at = {who: n for who, n in self.work.begun.get(item, Counter()).items() if who in self.load}
        if not at:
            return None
        return max(at, key=lambda who: (who == self._holder(item), at[who], -who))

    def _holder(self, item: int) -> int | None:
        held = [row for one in self.work.open[item] for row in self.work.held.get(one, ())]
        people = Counter(row.person for row in held if not row.second)
        return people.most_common(1)[0][0] if people else None

    def _keeps(self, item: int, quota: Mapping[int, float]) -> bool:
        """Leave an item with its holder, unless that is more than the weight allows."""
        person, size = self._holder(item), len(self.work.open[item])
        if person is None or person not in self.load or self.load[person] + size > quota[person]:
            return False
        self._give_item(item, person)
        return True

    def _doubled_already(self) -> int:
        """How many outputs two people have judged, or one has and another is still to."""
        count = 0
        for output in self.work.item_of:
            said = self.work.judges.get(output, frozenset())
            held = self.work.held.get(output, ()) if len(said) == 1 else ()
            waiting = [row for row in held if self.work.is_waiting(row)]
            kept = next((row for row in waiting if row.person in self.load), None)
            if kept:
                self._give([output], kept.person, second=kept.second)
                self.begun.add(kept)
            count += len(said) > 1 or kept is not None
        return count

    def _candidates(self) -> list[_Unit]:
        """What could be judged twice: what is to be already, what is open, what one has judged."""
        fresh = [
            _Unit(item, tuple(self.work.open[item]), frozenset({self.first[item]}))
            for item in self._shuffled(self.first)
        ]
        fresh.sort(key=lambda unit: self._second_holder(unit) is None)
        once = defaultdict(list)
        dealt = {row.output for row in self.rows}
        for output, item in self.work.item_of.items():
            said = self.work.judges.get(output, frozenset())
            if len(said) == 1 and output not in dealt:
                once[item, said].append(output)
        keys = sorted(once, key=lambda key: (key[0], sorted(key[1])))
        order = self.rng.permutation(len(keys))
        judged = [_Unit(keys[at][0], tuple(once[keys[at]]), keys[at][1]) for at in order]
        return fresh + judged

    def _second_holder(self, unit: _Unit) -> int | None:
        rows = [row for output in unit.outputs for row in self.work.held.get(output, ())]
        people = [row.person for row in rows if row.second]
        return next((who for who in people if who in self.load and who not in unit.barred), None)

    def _least(self, size: int, barred: frozenset[int]) -> int | None:
        free = [person for person in self.people if person not in barred]
        after = {person: (self.load[person] + size) / self.people[person] for person in free}
        return min(free, key=lambda person: (after[person], person), default=None)

    def _give_item(self, item: int, person: int) -> None:
        self.first[item] = person
        self._give(self.work.open[item], person, second=False)

    def _give(self, ids: Iterable[int], person: int, *, second: bool) -> None:
        new = [Assignment(output, person, second) for output in ids]
        self.rows.update(new)
        self.load[person] += len(new)

    def _shuffled(self, ids: Iterable[int]) -> list[int]:
        return [int(one) for one in self.rng.permutation(sorted(ids))]


def _plan(
    connection: Connection,
    table: _Table,
    people: Mapping[int, float],
    double: float,
    new: Mapping[int, str],
) -> DealPlan:
    """What changes from what people have now to what is on the table."""
    work = table.work
    before = {row for rows in work.held.values() for row in rows}
    waiting = {row for row in before if work.is_waiting(row)}
    # Work that is over stays on record; what waits for nobody is not left with those who are gone.
    stale = {row for row in before - waiting if row.person not in table.load}
    over = {row for row in stale if row.person not in work.judges.get(row.output, frozenset())}
    added = table.rows - before
    # A first judge whose output another person has judged may be the second judge of it now.
    again = {(row.output, row.person) for row in added}
    turned = {row for row in before if (row.output, row.person) in again}
    removed = (waiting | over | turned) - table.rows
    names = pairs(connection, select(annotators.c.id, annotators.c.name)) | dict(new)
    had = {(row.output, row.person) for row in waiting}
    lines = [_line(table, id_, names[id_], had) for id_ in sorted(names, key=names.__getitem__)]
    return DealPlan(
        people=tuple(line for line in lines if line.total or line.taken),
        judgements=len(table.rows),
        doubled=len(table.twice),
        weights=people,
        double=double,
        removed=tuple(sorted(removed)),
        added=tuple(sorted(added)),
        newcomers=new,
        states={row.output: work.state_of(row.output) for row in removed | added},
    )


def _line(table: _Table, person: int, name: str, waiting: Set[tuple[int, int]]) -> PersonsDeal:
    """What one person gets; `waiting` are the outputs of all people that wait for them now."""
    mine = {row for row in table.rows if row.person == person}
    had = {(output, who) for output, who in waiting if who == person}
    begun, twice = mine & table.begun, table.twice
    kept = {row for row in mine - begun if (row.output, row.person) in had}
    return PersonsDeal(
        person=name,
        begun=len(begun),
        kept=len(kept),
        given=len(mine - begun - kept),
        taken=len(had - {(row.output, row.person) for row in mine}),
        doubled=sum(row.output in twice for row in mine),
    )
