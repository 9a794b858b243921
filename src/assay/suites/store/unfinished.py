"""Unfinished work: the outputs that people judge, what is open of them, and who is at what."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from assay.suites.store.records import Assignment, OutputState
from assay.suites.store.tables import (
    answers,
    assignments,
    batches,
    decisions,
    leases,
    now,
    outputs,
    runs,
)

__all__ = ["Unfinished", "all_assignments", "unfinished"]


@dataclass(frozen=True)
class Unfinished:
    """The outputs that people judge, what is open of them, and who is at what.

    `open` are the open outputs by item, `item_of` the items of all outputs that people judge.
    `held` are the assignments, `judges` those who judged, by output. `begun` are those who are at
    an item: they look at it, or have judged an output of it in the campaign of an open one.
    """

    open: Mapping[int, Sequence[int]]
    item_of: Mapping[int, int]
    disputed: frozenset[int]
    held: Mapping[int, Sequence[Assignment]]
    judges: Mapping[int, frozenset[int]]
    begun: Mapping[int, Counter[int]]

    @property
    def total(self) -> int:
        """How many outputs people judge, those that they have judged among them."""
        return len(self.item_of)

    def is_waiting(self, row: Assignment) -> bool:
        """Whether the judgement is wanted, not made, and people do not disagree already."""
        said = self.judges.get(row.output, frozenset())
        if row.output not in self.item_of or row.output in self.disputed or row.person in said:
            return False
        return not said or any(other.second for other in self.held[row.output])

    def state_of(self, output: int) -> OutputState:
        """Who has an output, has judged it, and is at its item."""
        item = self.item_of.get(output)
        return OutputState(
            held=tuple(self.held.get(output, ())),
            judges=self.judges.get(output, frozenset()),
            judged_by_people=item is not None,
            at=frozenset(self.begun.get(item, ()) if item is not None else ()),
        )


def unfinished(connection: Connection) -> Unfinished:
    """The outputs that people judge, what is open of them, and who is at what."""
    asked = select(outputs.c.id, outputs.c.item_id, outputs.c.verdict, outputs.c.disputed)
    rows = connection.execute(asked.where(outputs.c.ruled == "warning").order_by(outputs.c.id))
    item_of, open_, disputed = {}, defaultdict(list), set()
    for output, item, verdict, is_disputed in rows:
        item_of[output] = item
        if is_disputed:
            disputed.add(output)
        elif verdict == "warning":
            open_[item].append(output)
    judges = _judges(connection)
    return Unfinished(
        open=open_,
        item_of=item_of,
        disputed=frozenset(disputed),
        held=all_assignments(connection),
        judges=judges,
        begun=_begun(connection, open_, item_of, judges),
    )


def all_assignments(connection: Connection) -> dict[int, list[Assignment]]:
    """Who is to judge what, by output."""
    held = defaultdict(list)
    columns = assignments.c.output_id, assignments.c.annotator_id, assignments.c.second
    for row in connection.execute(select(*columns).order_by(*columns)):
        held[row.output_id].append(Assignment(*row))
    return held


def _judges(connection: Connection) -> dict[int, frozenset[int]]:
    asked = select(decisions.c.output_id, decisions.c.annotator_id).where(
        ~decisions.c.withdrawn, ~decisions.c.adjudication, decisions.c.verdict != "skip"
    )
    found = defaultdict(set)
    for output, person in connection.execute(asked):
        found[output].add(person)
    return {output: frozenset(people) for output, people in found.items()}


def _begun(
    connection: Connection,
    open_: Mapping[int, Sequence[int]],
    item_of: Mapping[int, int],
    judges: Mapping[int, frozenset[int]],
) -> dict[int, Counter[int]]:
    """Who is at each item with open outputs, and how much of it they have judged."""
    begun: dict[int, Counter[int]] = defaultdict(Counter)
    campaigns = _campaigns(connection, [*judges, *(one for ids in open_.values() for one in ids)])
    wanted = {
        item: {campaign for output in ids for campaign in campaigns[output]}
        for item, ids in open_.items()
    }
    for output, people in judges.items():
        item = item_of.get(output)
        # What came with a new campaign is new work, also in an item that somebody knows.
        if item in wanted and not wanted[item].isdisjoint(campaigns[output]):
            begun[item].update(people)
    looking = select(leases.c.item_id, leases.c.annotator_id).where(leases.c.expires > now())
    for item, person in connection.execute(looking):
        begun[item][person] += 1
    return begun


def _campaigns(connection: Connection, ids: Iterable[int]) -> dict[int, set[str]]:
    found: dict[int, set[str]] = defaultdict(set)
    asked = select(answers.c.output_id, runs.c.campaign).join(runs, runs.c.id == answers.c.run_id)
    for batch in batches(ids):
        wanted = asked.where(answers.c.output_id.in_(batch)).distinct()
        for output, campaign in connection.execute(wanted):
            found[output].add(campaign)
    return found
