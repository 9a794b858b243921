"""The distinct outputs of items: put in, judged, and taken out again when nobody has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy import (
    Connection,
    Insert,
    bindparam,
    delete,
    exists,
    insert,
    literal,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from assay.suite.check import Checker
from assay.suite.decide import Hits
from assay.suite.store.asking import pairs
from assay.suite.store.checking import recheck
from assay.suite.store.reading import load_items
from assay.suite.store.settling import settle
from assay.suite.store.tables import answers, changes, decisions, outputs
from assay.suite.store.texts import batches, check_text, digest

__all__ = ["drop_unused", "save_answers"]


def save_answers(
    connection: Connection, run: int, texts: Mapping[int, str], checker: Checker
) -> None:
    """Keep what a run has for these items; a text that is new to its item is judged."""
    for text in texts.values():
        check_text(text, "an output")
    digests = {item: digest(text) for item, text in texts.items()}
    known = load_items(connection, texts)
    rows = []
    for item, text in texts.items():
        finding = checker.finding(known[item], text)
        rows.append(
            {
                "item_id": item,
                "digest": digests[item],
                "text": text,
                "hits": int(finding.hits),
                "ruled": finding.verdict,
                "ruled_by": finding.by,
                "verdict": finding.verdict,
                "by": finding.by,
            }
        )
    if rows:
        connection.execute(_insert_new(connection), rows)
        told = [{"item": item, "digest": digests[item]} for item in texts]
        connection.execute(_answer(run), told)
        _revive(connection, run)


def drop_unused(connection: Connection, ids: Iterable[int]) -> None:
    """Delete those of the outputs that no run has; what people said something of stays."""
    for batch in batches(ids):
        unused = outputs.c.id.in_(batch), ~exists().where(answers.c.output_id == outputs.c.id)
        noticed = exists().where(decisions.c.output_id == outputs.c.id) | exists().where(
            changes.c.output_id == outputs.c.id
        )
        connection.execute(delete(outputs).where(*unused, ~noticed))
        connection.execute(
            update(outputs)
            .where(*unused)
            .values(hits=int(Hits.NONE), ruled="not tested", ruled_by=None)
        )
        settle(connection, batch)


def _insert_new(connection: Connection) -> Insert:
    """An insertion that passes over outputs that are there."""
    same = ["item_id", "digest"]
    if connection.dialect.name == "postgresql":
        return postgresql.insert(outputs).on_conflict_do_nothing(index_elements=same)
    return sqlite.insert(outputs).on_conflict_do_nothing(index_elements=same)


def _answer(run: int) -> Insert:
    """An insertion that looks the output of an item up by its digest."""
    found = select(literal(run), outputs.c.item_id, outputs.c.id).where(
        outputs.c.item_id == bindparam("item"), outputs.c.digest == bindparam("digest")
    )
    return insert(answers).from_select(["run_id", "item_id", "output_id"], found)


def _revive(connection: Connection, run: int) -> None:
    """Judge those outputs of a run again that nobody had for a while."""
    asked = (
        select(outputs.c.id, outputs.c.item_id)
        .join(answers, answers.c.output_id == outputs.c.id)
        .where(answers.c.run_id == run, outputs.c.ruled == "not tested", outputs.c.text != "")
    )
    asleep = pairs(connection, asked)
    if asleep:
        recheck(connection, set(asleep.values()), only=list(asleep))
