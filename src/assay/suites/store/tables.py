"""The tables of a suite's database, and texts, times and rows on their way in and out.

migrations/ brings a database to this form.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Select,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
)

from assay.data import DataError

__all__ = [
    "annotators",
    "answers",
    "assignments",
    "batches",
    "changes",
    "check_text",
    "decisions",
    "digest",
    "facts",
    "invitations",
    "items",
    "learn_sizes",
    "leases",
    "logins",
    "metadata",
    "notes",
    "now",
    "outputs",
    "pairs",
    "plain_rows",
    "rules",
    "runs",
]

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _key() -> Column[int]:
    return Column("id", Integer, primary_key=True)


def _points_to(name: str, *, optional: bool = False, primary: bool = False) -> Column[int]:
    target = f"{name.removesuffix('_id')}s.id"
    return Column(
        name, Integer, ForeignKey(target), nullable=optional, primary_key=primary, index=not primary
    )


def _text(name: str, **options: object) -> Column[str]:
    return Column(name, Text, nullable=False, **options)  # type: ignore[arg-type]


# What is known of the suite as a whole: its name, and what else its file said.
facts = Table("facts", metadata, Column("name", String(64), primary_key=True), _text("value"))

items = Table(
    "items",
    metadata,
    _key(),
    _text("name", unique=True),  # the item's id in its suite
    Column("position", Integer, nullable=False, index=True),
    _text("languages"),
    _text("category"),
    _text("phenomenon"),
    _text("source"),
    _text("extra"),  # JSON
    Index(None, "category", "phenomenon"),
)

rules = Table(
    "rules",
    metadata,
    _key(),
    _text("name", unique=True),  # the rule's id in its suite
    _points_to("item_id"),
    Column("position", Integer, nullable=False),
    Column("polarity", String(8), nullable=False),
    Column("kind", String(8), nullable=False),
    _text("text"),
    _text("author"),
    _text("time"),
    _text("provenance"),
    _points_to("change_id", optional=True),  # the change that added it in the page
    Column(
        "retired", Boolean, nullable=False, default=False
    ),  # no longer used, kept for the history
    Column("replaces", Integer),  # the rule of which this one is the next version
)

runs = Table(
    "runs",
    metadata,
    _key(),
    _text("system"),
    _text("campaign"),
    _text("date"),
    UniqueConstraint("system", "campaign"),
)

# Every distinct output of an item stands once, whoever produced it. `hits` are the rules' hits
# (assay.suites.check.Hits), `ruled` and `ruled_by` what the rules alone say; `verdict` and `by`
# are the verdict that counts, a person's before a rule's. `disputed` where people disagree.
# `version` grows with every decision on the output, and when one is taken back. An output that
# nobody has any more, since its run was replaced, is `ruled` "not tested".
outputs = Table(
    "outputs",
    metadata,
    _key(),
    Column("item_id", Integer, ForeignKey("items.id"), nullable=False),
    Column("digest", String(64), nullable=False),  # SHA-256 of the text
    _text("text"),
    Column("hits", Integer, nullable=False),
    Column("ruled", String(10), nullable=False),
    Column("ruled_by", Text),
    Column("verdict", String(10), nullable=False),
    Column("by", Text),
    Column("disputed", Boolean, nullable=False, default=False),
    Column("version", Integer, nullable=False, default=0),
    UniqueConstraint("item_id", "digest"),
    Index(None, "item_id", "ruled", "verdict", "disputed"),
    Index(None, "ruled", "verdict", "disputed", "item_id"),
    Index(
        None,
        "ruled_by",
        sqlite_where=text("ruled_by IS NOT NULL"),
        postgresql_where=text("ruled_by IS NOT NULL"),
    ),
    Index(None, "disputed", sqlite_where=text("disputed = 1"), postgresql_where=text("disputed")),
    sqlite_autoincrement=True,  # the number of an output is never used again
)

answers = Table(
    "answers",
    metadata,
    _points_to("run_id", primary=True),
    _points_to("item_id", primary=True),
    Column("output_id", Integer, ForeignKey("outputs.id"), nullable=False),
    Index(None, "output_id", "run_id"),
)

# `password` is a salted hash, empty until one is chosen.
# A `lead` deals work out, adjudicates, and looks after people.
annotators = Table(
    "annotators",
    metadata,
    _key(),
    _text("name", unique=True),
    _text("password"),
    _text("created"),
    Column("lead", Boolean, nullable=False, default=False, server_default=false()),
)

# One-time links and logins are kept as the SHA-256 of their secret.
invitations = Table(
    "invitations",
    metadata,
    _key(),
    Column("digest", String(64), nullable=False, unique=True),
    _points_to("annotator_id"),
    _text("expires"),
    Column("used", Boolean, nullable=False, default=False),
)

logins = Table(
    "logins",
    metadata,
    _key(),
    Column("digest", String(64), nullable=False, unique=True),
    _points_to("annotator_id"),
    _text("expires"),
)

# Who is to judge which output. `second` marks the one who judges it after, or beside, another
# person, without knowing what they said. An output without any is in the pool, for whoever comes.
assignments = Table(
    "assignments",
    metadata,
    _points_to("output_id", primary=True),
    _points_to("annotator_id", primary=True),
    Column("second", Boolean, nullable=False, default=False),
    # Nobody has judged the output yet. It is known from `outputs`, and kept here to be counted.
    Column("open", Boolean, nullable=False),
    Index(None, "annotator_id", "output_id", "second"),
    Index(
        None,
        "annotator_id",
        "second",
        sqlite_where=text("open = 1"),
        postgresql_where=text("open"),
    ),
    Index(None, "output_id", sqlite_where=text("second = 1"), postgresql_where=text("second")),
)

# An item that is shown to a person is theirs until the lease ends; the page renews it.
leases = Table(
    "leases",
    metadata,
    _points_to("item_id", primary=True),
    _points_to("annotator_id", primary=True),
    _text("expires"),
)

# Everything that was done, in order, for which output or item, and by whom; a command of the
# command line has no person. `undone` is when it was taken back, else empty, and `undone_by` who
# did that. `key` is the page's own name for the
# request: sent once more, it changes nothing. `data` is JSON: what it takes to undo the change.
changes = Table(
    "changes",
    metadata,
    _key(),
    _points_to("annotator_id", optional=True),
    _points_to("output_id", optional=True),
    _text("time"),
    Column("kind", String(16), nullable=False),  # see history.KINDS
    _text("note"),
    _text("undone"),
    _text("undone_by"),
    _points_to("item_id", optional=True),
    Column("key", String(64)),
    Column("data", Text),
    UniqueConstraint("annotator_id", "key"),
)

# What people say of outputs. Those that were withdrawn, because the same person said something else
# later or took the change back, stay for the history. `made` is the version that the decision
# gave its output, `unmade` the one it got when the decision was taken back.
decisions = Table(
    "decisions",
    metadata,
    _key(),
    _points_to("output_id"),
    Column("annotator_id", Integer, ForeignKey("annotators.id"), nullable=False),
    _points_to("change_id"),
    Column("verdict", String(10), nullable=False),  # pass, fail or skip
    Column("adjudication", Boolean, nullable=False, default=False),
    _text("time"),
    Column("withdrawn", Boolean, nullable=False, default=False),
    Column("made", Integer, nullable=False),
    Column("unmade", Integer),
    Index(None, "annotator_id", "output_id", "withdrawn", "verdict"),
)

# What people write on items and outputs: a flag ("bad item", "unsure"), free text, or both.
notes = Table(
    "notes",
    metadata,
    _key(),
    _points_to("item_id"),
    _points_to("output_id", optional=True),
    _points_to("annotator_id"),
    _points_to("change_id"),
    _text("time"),
    Column("flag", String(32), nullable=False),
    _text("text"),
    Column("withdrawn", Boolean, nullable=False, default=False),
)

T = TypeVar("T")


def check_text(value: str, what: str) -> None:
    """Raise a `DataError` for what no database can hold: U+0000 and halves of characters."""
    if "\0" in value:
        raise DataError(f"{what} has a character U+0000, which cannot be stored; take it out.")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            code = ord(value[error.start])
            raise DataError(f"{what} has U+{code:04X}, which is half a character.") from None


def digest(value: str) -> str:
    """The SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(value.encode()).hexdigest()


def batches(values: Iterable[T], size: int = 5000) -> Iterator[list[T]]:
    """The values in lists that fit into one question to a database.

    >>> list(batches([1, 2, 3], 2))
    [[1, 2], [3]]
    """
    rest = iter(values)
    while batch := list(islice(rest, size)):
        yield batch


def now(*, later: timedelta = timedelta()) -> str:
    """The time in UTC, as ISO 8601 with microseconds, so that texts sort as times do."""
    return (datetime.now(UTC) + later).isoformat(timespec="microseconds")


def pairs(connection: Connection, asked: Select[Any]) -> dict[Any, Any]:
    """The second column by the first."""
    return {key: value for key, value in connection.execute(asked)}


def plain_rows(connection: Connection, asked: Select[Any]) -> list[tuple[Any, ...]]:
    """All rows as the driver gives them, in half the time of `Connection.execute`."""
    with connection.execute(asked) as result:
        return [] if result.cursor is None else list(result.cursor.fetchall())


def learn_sizes(connection: Connection) -> None:
    """Let the database count its tables, so that it plans well after they have grown."""
    connection.exec_driver_sql("ANALYZE")
