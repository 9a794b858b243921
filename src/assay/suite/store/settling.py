"""The verdict that counts for an output: a person's before a rule's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

from sqlalchemy import Connection, bindparam, select, update

from assay.suite.decide import Verdict
from assay.suite.store.tables import annotators, decisions, outputs
from assay.suite.store.texts import batches

__all__ = ["Settled", "Word", "settle", "settled"]


class Word(NamedTuple):
    """What a person says of an output at present: pass or fail."""

    annotator: str
    verdict: Verdict
    adjudication: bool = False


class Settled(NamedTuple):
    """The verdict that counts, the rule or the person behind it, and whether people disagree."""

    verdict: Verdict
    by: str | None
    disputed: bool


def settled(ruled: Verdict, ruled_by: str | None, words: Sequence[Word]) -> Settled:
    """The verdict that counts, from the rules' verdict and people's words, the oldest first.

    The last adjudication counts; else what all people say; else, where they disagree, it is a
    warning and disputed; without any word, the rules' verdict.
    """
    final = [word for word in words if word.adjudication]
    if final:
        return Settled(final[-1].verdict, final[-1].annotator, disputed=False)
    if not words:
        return Settled(ruled, ruled_by, disputed=False)
    if len({word.verdict for word in words}) > 1:
        return Settled("warning", None, disputed=True)
    return Settled(words[0].verdict, words[0].annotator, disputed=False)


def settle(connection: Connection, ids: Iterable[int]) -> None:
    """Write the verdict that counts for these outputs, where it has changed."""
    for batch in batches(ids):
        words = _words(connection, batch)
        columns = (outputs.c.verdict, outputs.c.by, outputs.c.disputed)
        asked = select(outputs.c.id, outputs.c.ruled, outputs.c.ruled_by, *columns)
        moved = []
        for id_, ruled, ruled_by, *before in connection.execute(
            asked.where(outputs.c.id.in_(batch))
        ):
            after = settled(ruled, ruled_by, words.get(id_, ()))
            if list(after) != before:
                moved.append({"which": id_, **after._asdict()})
        if moved:
            connection.execute(update(outputs).where(outputs.c.id == bindparam("which")), moved)


def _words(connection: Connection, ids: Sequence[int]) -> dict[int, list[Word]]:
    asked = (
        select(
            decisions.c.output_id, annotators.c.name, decisions.c.verdict, decisions.c.adjudication
        )
        .join(annotators, annotators.c.id == decisions.c.annotator_id)
        .where(
            decisions.c.output_id.in_(ids), ~decisions.c.withdrawn, decisions.c.verdict != "skip"
        )
        .order_by(decisions.c.id)
    )
    words: dict[int, list[Word]] = defaultdict(list)
    for id_, name, verdict, adjudication in connection.execute(asked):
        words[id_].append(Word(name, cast(Verdict, verdict), adjudication))
    return words
