"""People who judge: passwords, invitations, logins, shares of the items, and what they said."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import unicodedata
from collections.abc import Mapping
from datetime import timedelta

import numpy as np
from sqlalchemy import Connection, delete, distinct, func, insert, select, update

from assay.data import DataError
from assay.registry import did_you_mean
from assay.suites.store.records import Login, Person, Ratings, Share
from assay.suites.store.tables import (
    annotators,
    assignments,
    check_text,
    decisions,
    digest,
    invitations,
    items,
    learn_sizes,
    logins,
    now,
    outputs,
    pairs,
)

__all__ = [
    "add_person",
    "all_people",
    "assign",
    "check_password",
    "clear",
    "invite",
    "log_in",
    "log_out",
    "log_out_everywhere",
    "login",
    "person_named",
    "person_numbered",
    "ratings",
    "redeem",
    "set_password",
    "shares",
]

INVITED = timedelta(days=7)
"""How long a link that invites somebody may be used."""

LOGGED_IN = timedelta(days=30)
"""How long a login lasts."""

SHORTEST, LONGEST = 8, 1000
"""How long a password may be, in characters."""

_COST = {"n": 2**15, "r": 8, "p": 3}  # what OWASP advises for scrypt with 32 MB of memory
_MEMORY = 64 * 2**20


def add_person(connection: Connection, name: str, password: str = "") -> Person:
    """A new person; without a password until one is set."""
    name = _checked_name(name)
    if person_named(connection, name):
        raise DataError(f"somebody is called {name!r} already; choose another name.")
    hashed = _hashed(password) if password else ""
    row = insert(annotators).values(name=name, password=hashed, created=now())
    (number,) = connection.execute(row).inserted_primary_key or (0,)
    return Person(number, name, bool(password))


def person_named(connection: Connection, name: str) -> Person | None:
    """The person of this name, blanks around it aside."""
    asked = select(annotators).where(annotators.c.name == _plain(name))
    return _person(connection.execute(asked).mappings().first())


def person_numbered(connection: Connection, number: int) -> Person | None:
    """The person of this number."""
    asked = select(annotators).where(annotators.c.id == number)
    return _person(connection.execute(asked).mappings().first())


def all_people(connection: Connection) -> list[Person]:
    """Everybody, by name."""
    rows = connection.execute(select(annotators).order_by(annotators.c.name)).mappings()
    return [each for row in rows if (each := _person(row))]


def check_password(connection: Connection, name: str, password: str) -> Person | None:
    """The person whose name and password these are; as slow for an unknown name."""
    asked = select(annotators).where(annotators.c.name == _plain(name))
    row = connection.execute(asked).mappings().first()
    right = _matches(password, row["password"] if row and row["password"] else _NOBODY)
    return _person(row) if row and row["password"] and right else None


def set_password(connection: Connection, person: int, password: str) -> None:
    """Choose a password, instead of the one before."""
    changed = update(annotators).where(annotators.c.id == person)
    connection.execute(changed.values(password=_hashed(password)))


def invite(connection: Connection, name: str, *, lasts: timedelta = INVITED) -> str:
    """The secret of a link that logs a person in, once; a new name becomes a person."""
    person = person_named(connection, name) or add_person(connection, name)
    secret = secrets.token_urlsafe(32)
    row = {"digest": digest(secret), "annotator_id": person.id, "expires": now(later=lasts)}
    connection.execute(insert(invitations).values(row))
    return secret


def redeem(connection: Connection, secret: str) -> Person | None:
    """The person that a link invited, the first time it is used; None if it is not valid."""
    taken = update(invitations).where(
        invitations.c.digest == _digest(secret),
        ~invitations.c.used,
        invitations.c.expires > now(),
    )
    number = connection.execute(
        taken.values(used=True).returning(invitations.c.annotator_id)
    ).scalar()
    return None if number is None else person_numbered(connection, number)


def log_in(connection: Connection, person: int, *, lasts: timedelta = LOGGED_IN) -> Login:
    """A new login of a person; those of everybody that are over are removed."""
    connection.execute(delete(logins).where(logins.c.expires <= now()))
    made = Login(secrets.token_urlsafe(32), secrets.token_urlsafe(32))
    row = {"digest": digest(made.secret), "annotator_id": person, "csrf": made.csrf}
    connection.execute(insert(logins).values(**row, expires=now(later=lasts)))
    return made


def login(connection: Connection, secret: str) -> tuple[Person, str] | None:
    """Whose login this secret is, and what their forms have to bring back."""
    asked = (
        select(annotators, logins.c.csrf)
        .join(logins, logins.c.annotator_id == annotators.c.id)
        .where(logins.c.digest == _digest(secret), logins.c.expires > now())
    )
    row = connection.execute(asked).mappings().first()
    person = _person(row)
    return None if row is None or person is None else (person, row["csrf"])


def log_out(connection: Connection, secret: str) -> None:
    """End one login."""
    connection.execute(delete(logins).where(logins.c.digest == _digest(secret)))


def log_out_everywhere(connection: Connection, person: int) -> None:
    """End all logins of a person."""
    connection.execute(delete(logins).where(logins.c.annotator_id == person))


def _person(row) -> Person | None:  # type: ignore[no-untyped-def]
    return None if row is None else Person(row["id"], row["name"], bool(row["password"]))


def _plain(name: str) -> str:
    return unicodedata.normalize("NFC", " ".join(name.split())).replace("\0", "\ufffd")


def _checked_name(name: str) -> str:
    plain = _plain(name)
    check_text(name, "the name")
    if not plain or len(plain) > 60 or not plain.isprintable():
        raise DataError("a name has 1 to 60 letters, all of them printable.")
    return plain


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


def _hashed(password: str) -> str:
    if not SHORTEST <= len(password) <= LONGEST:
        raise DataError(f"a password has at least {SHORTEST} characters.")
    salt = secrets.token_bytes(16)
    return f"scrypt${salt.hex()}${_scrypt(password, salt).hex()}"


def _matches(password: str, hashed: str) -> bool:
    _, salt, wanted = hashed.split("$")
    given = _scrypt(password[: LONGEST + 1], bytes.fromhex(salt))
    return hmac.compare_digest(given, bytes.fromhex(wanted))


def _scrypt(password: str, salt: bytes) -> bytes:
    # The end is marked, since the function cannot tell a password from one with U+0000 behind it.
    raw = unicodedata.normalize("NFC", password).encode(errors="surrogatepass") + b"."
    return hashlib.scrypt(raw, salt=salt, **_COST, maxmem=_MEMORY, dklen=32)


_NOBODY = f"scrypt${'00' * 16}${'00' * 32}"


def assign(
    connection: Connection,
    weights: Mapping[str, float],
    *,
    double: float = 0.1,
    rng: np.random.Generator,
) -> None:
    """Give every item to one of the named people, instead of what was given before.

    Everybody gets warnings in proportion to their weight, as far as whole items allow. A share
    `double` of the items with warnings goes to a second person, too, unless there is only one.
    """
    people = _people(connection, weights)
    if not 0 <= double <= 1:
        raise DataError(f"the doubled share is a number from 0 to 1, not {double}.")
    load = _warnings_by_item(connection)
    order = [int(id_) for id_ in rng.permutation(sorted(load))]
    # The largest first: what is small evens out what the large ones have left uneven.
    order.sort(key=lambda item: -load[item])
    given = _deal(order, load, people)
    with_warnings = [item for item in sorted(load) if load[item]]
    if len(people) > 1:
        size = round(double * len(with_warnings))
        sample = (
            [int(item) for item in rng.choice(with_warnings, size, replace=False)] if size else []
        )
        given |= _deal(sample, load, people, taken=dict(given))
    clear(connection)
    rows = [{"item_id": item, "annotator_id": person} for item, person in sorted(given)]
    if rows:
        connection.execute(insert(assignments), rows)
    learn_sizes(connection)


def clear(connection: Connection) -> None:
    """Give nothing to anybody: everybody may judge everything."""
    connection.execute(delete(assignments))


def shares(connection: Connection) -> list[Share]:
    """What everybody was given, by name; those who were given nothing are left out."""
    twice = (
        select(assignments.c.item_id)
        .group_by(assignments.c.item_id)
        .having(func.count() > 1)
        .subquery()
    )
    held = (
        select(
            assignments.c.annotator_id,
            func.count().label("items"),
            func.count(twice.c.item_id).label("doubled"),
        )
        .select_from(assignments)
        .join(twice, twice.c.item_id == assignments.c.item_id, isouter=True)
        .group_by(assignments.c.annotator_id)
    )
    names = pairs(connection, select(annotators.c.id, annotators.c.name))
    warnings, done = _warnings_by_person(connection), _done_by_person(connection)
    found = [
        Share(names[id_], number, doubled, warnings.get(id_, 0), done.get(id_, 0))
        for id_, number, doubled in connection.execute(held)
    ]
    return sorted(found, key=lambda share: share.person)


def ratings(connection: Connection) -> Ratings:
    """What people said of the outputs that several of them judged, adjudications aside."""
    current = ~decisions.c.withdrawn, ~decisions.c.adjudication, decisions.c.verdict != "skip"
    several = (
        select(decisions.c.output_id)
        .where(*current)
        .group_by(decisions.c.output_id)
        .having(func.count() > 1)
    )
    asked = (
        select(decisions.c.output_id, annotators.c.name, decisions.c.verdict)
        .join(annotators, annotators.c.id == decisions.c.annotator_id)
        .where(*current, decisions.c.output_id.in_(several))
    )
    rows = connection.execute(asked).all()
    people = sorted({row.name for row in rows})
    judged = sorted({row.output_id for row in rows})
    codes = np.full((len(people), len(judged)), np.nan)
    at = {name: row for row, name in enumerate(people)}
    column = {output: number for number, output in enumerate(judged)}
    for row in rows:
        codes[at[row.name], column[row.output_id]] = float(row.verdict == "pass")
    return Ratings(tuple(people), tuple(judged), codes)


def _people(connection: Connection, weights: Mapping[str, float]) -> dict[int, float]:
    """The weights by the numbers of people; nobody has a weight of 0."""
    known = pairs(connection, select(annotators.c.name, annotators.c.id))
    people = {}
    for name, weight in weights.items():
        if name not in known:
            raise DataError(f"nobody is called {name!r}{did_you_mean(name, known)}.")
        if not 0 <= weight < float("inf"):
            raise DataError(f"the weight of {name} is a number from 0 on, not {weight}.")
        if weight:
            people[known[name]] = weight
    if not people:
        raise DataError("give at least one person a weight above 0.")
    return people


def _warnings_by_item(connection: Connection) -> dict[int, int]:
    warned = outputs.c.ruled == "warning"
    asked = (
        select(items.c.id, func.count(outputs.c.id))
        .join(outputs, (outputs.c.item_id == items.c.id) & warned, isouter=True)
        .group_by(items.c.id)
    )
    return pairs(connection, asked)


def _deal(
    order: list[int],
    load: Mapping[int, int],
    people: Mapping[int, float],
    *,
    taken: Mapping[int, int] | None = None,
) -> set[tuple[int, int]]:
    """Give each item to the person who has least for their weight, and has not `taken` it."""
    held = dict.fromkeys(people, 0.0)
    given = set()
    for item in order:
        free = [person for person in people if (taken or {}).get(item) != person]
        # An item without warnings weighs a little, so that these are spread, too.
        size = load[item] + 0.01
        person = min(free, key=lambda one: (held[one] + size) / people[one])
        held[person] += size
        given.add((item, person))
    return given


def _warnings_by_person(connection: Connection) -> dict[int, int]:
    asked = (
        select(assignments.c.annotator_id, func.count())
        .join(outputs, outputs.c.item_id == assignments.c.item_id)
        .where(outputs.c.ruled == "warning")
        .group_by(assignments.c.annotator_id)
    )
    return pairs(connection, asked)


def _done_by_person(connection: Connection) -> dict[int, int]:
    asked = (
        select(assignments.c.annotator_id, func.count(distinct(outputs.c.id)))
        .join(outputs, outputs.c.item_id == assignments.c.item_id)
        .join(
            decisions,
            (decisions.c.output_id == outputs.c.id)
            & (decisions.c.annotator_id == assignments.c.annotator_id),
        )
        .where(outputs.c.ruled == "warning", ~decisions.c.withdrawn, decisions.c.verdict != "skip")
        .group_by(assignments.c.annotator_id)
    )
    return pairs(connection, asked)
