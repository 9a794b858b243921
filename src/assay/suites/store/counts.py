"""How many outputs each choice of a filter would leave, under the other filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, distinct, false, func, literal, select
from sqlalchemy import case as sql_case

from assay.suites.store.blind import hidden_from
from assay.suites.store.filters import JOINED, conditions
from assay.suites.store.notes import FLAGS, flagged
from assay.suites.store.records import FilterCounts, Filters
from assay.suites.store.tables import annotators, answers, decisions, items, notes, outputs, runs

__all__ = ["counts"]


def counts(connection: Connection, filters: Filters, *, person: int | None = None) -> FilterCounts:
    """How many outputs each choice would leave, as a `person` may see them."""
    hidden = hidden_from(connection, person)
    groups = _groups(connection, filters, hidden, person)
    return FilterCounts(
        categories=_summed(groups, filters, "category", lambda group: group.category),
        phenomena=_summed(
            groups, filters, "phenomenon", lambda group: (group.category, group.phenomenon)
        ),
        verdicts=_verdicts(groups, filters),
        systems=_by_run(connection, filters, hidden, person, "system"),
        campaigns=_by_run(connection, filters, hidden, person, "campaign"),
        people=_by_person(connection, filters, hidden, person),
        flags=_by_flag(connection, filters, hidden, person),
    )


class _Group(NamedTuple):
    """Outputs that are alike in what most filters ask for."""

    category: str
    phenomenon: str
    verdict: str
    disputed: bool
    outputs: int

    def passes(self, filters: Filters, *, but: str) -> bool:
        """Whether the outputs pass the filters of groups, one of them left out."""
        asked = filters.verdict if but != "verdict" else ""
        return (
            (but == "category" or filters.category in ("", self.category))
            and (but == "phenomenon" or filters.phenomenon in ("", self.phenomenon))
            and (asked in ("", self.verdict) or (asked == "disputed" and self.disputed))
        )


def _groups(
    connection: Connection, filters: Filters, hidden: ColumnElement[bool], person: int | None
) -> list[_Group]:
    """All outputs in groups: one question to the database answers for three filters."""
    others = replace(filters, category="", phenomenon="", verdict="")
    verdict: ColumnElement[str] = outputs.c.verdict
    disputed: ColumnElement[bool] = outputs.c.disputed
    if hidden is not false():
        verdict = sql_case((hidden, literal("warning")), else_=verdict)
        disputed = and_(disputed, ~hidden)
    wanted = conditions(connection, others, hidden=hidden, person=person)
    # By item first, in the order of an index: to sort all outputs by four texts takes longer.
    columns = (outputs.c.item_id, verdict, disputed)
    asked = select(*columns, func.count()).select_from(JOINED if wanted else outputs)
    found: Counter[tuple[str, str, str, bool]] = Counter()
    about = {row.id: (row.category, row.phenomenon) for row in connection.execute(_NAMES)}
    for item, said, split, count in connection.execute(asked.where(*wanted).group_by(*columns)):
        found[*about[item], said, bool(split)] += count
    return [_Group(*key, count) for key, count in found.items()]


_NAMES = select(items.c.id, items.c.category, items.c.phenomenon)


def _summed(
    groups: Sequence[_Group], filters: Filters, name: str, key: Callable[[_Group], Any]
) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for group in groups:
        if group.passes(filters, but=name):
            found[key(group)] += group.outputs
    return found


def _verdicts(groups: Sequence[_Group], filters: Filters) -> Counter[str]:
    """The verdicts; what is disputed is a warning as well."""
    found = _summed(groups, filters, "verdict", lambda group: group.verdict)
    disputed = [group for group in groups if group.disputed]
    found["disputed"] = sum(
        group.outputs for group in disputed if group.passes(filters, but="verdict")
    )
    return found


def _by_run(
    connection: Connection,
    filters: Filters,
    hidden: ColumnElement[bool],
    person: int | None,
    name: str,
) -> Counter[str]:
    """By system or by campaign; an output counts once for each."""
    column = runs.c[name]
    if name == "campaign" and not filters.campaign and _campaigns(connection) < 2:
        return Counter()
    others = replace(filters, system="", campaign="")
    # A run has no output twice, and a system has one run in a campaign.
    once = name == "system" and (filters.campaign or _campaigns(connection) < 2)
    counted = func.count() if once else func.count(distinct(answers.c.output_id))
    asked = select(column, counted).join(answers, answers.c.run_id == runs.c.id)
    if name == "system" and filters.campaign:
        asked = asked.where(runs.c.campaign == filters.campaign)
    if name == "campaign" and filters.system:
        asked = asked.where(runs.c.system == filters.system)
    if wanted := conditions(connection, others, hidden=hidden, person=person):
        asked = (
            asked.join(outputs, outputs.c.id == answers.c.output_id)
            .join(items, items.c.id == outputs.c.item_id)
            .where(*wanted)
        )
    return Counter({value: count for value, count in connection.execute(asked.group_by(column))})


def _campaigns(connection: Connection) -> int:
    return connection.execute(select(func.count(distinct(runs.c.campaign)))).scalar_one()


def _by_person(
    connection: Connection, filters: Filters, hidden: ColumnElement[bool], person: int | None
) -> Counter[str]:
    others = replace(filters, person="", against="")
    asked = (
        select(annotators.c.name, func.count(distinct(outputs.c.id)))
        .select_from(decisions)
        .join(annotators, annotators.c.id == decisions.c.annotator_id)
        .join(outputs, outputs.c.id == decisions.c.output_id)
        .join(items, items.c.id == outputs.c.item_id)
        .where(
            ~decisions.c.withdrawn,
            ~hidden,
            *conditions(connection, others, hidden=hidden, person=person),
        )
        .group_by(annotators.c.name)
    )
    return Counter({name: count for name, count in connection.execute(asked)})


def _by_flag(
    connection: Connection, filters: Filters, hidden: ColumnElement[bool], person: int | None
) -> Counter[str]:
    """By flag, and outputs with "any" note."""
    some = select(notes.c.id).where(~notes.c.withdrawn).limit(1)
    if connection.execute(some).first() is None:
        return Counter()
    wanted = conditions(connection, replace(filters, flag=""), hidden=hidden, person=person)
    asked = select(func.count()).select_from(JOINED).where(*wanted)
    return Counter(
        {
            flag: connection.execute(asked.where(flagged(flag, hidden, person))).scalar_one()
            for flag in (*FLAGS, "any")
        }
    )
