"""People who judge: passwords, invitations and logins."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import unicodedata
from datetime import timedelta
from typing import NewType

from sqlalchemy import Connection, delete, insert, select, update

from assay.data import DataError
from assay.suites.store.history import add_change
from assay.suites.store.records import Change, Person
from assay.suites.store.tables import (
    annotators,
    check_text,
    digest,
    invitations,
    logins,
    now,
)

__all__ = [
    "PasswordHash",
    "add_person",
    "all_people",
    "appoint",
    "check_password",
    "checked_name",
    "dismiss",
    "hashed_password",
    "invite",
    "knows_device",
    "leads",
    "log_in",
    "log_out",
    "log_out_everywhere",
    "login",
    "new_device",
    "person_named",
    "person_numbered",
    "redeem",
    "set_password",
    "take_back_role",
]

PasswordHash = NewType("PasswordHash", str)
"""What is kept of a password."""

INVITED = timedelta(days=7)
"""How long a link that invites somebody may be used."""

LOGGED_IN = timedelta(days=30)
"""How long a login lasts."""

SHORTEST, LONGEST = 8, 1000
"""How long a password may be, in characters."""

_COST = {"n": 2**15, "r": 8, "p": 3}  # what OWASP advises for scrypt with 32 MB of memory
_MEMORY = 64 * 2**20


def add_person(connection: Connection, name: str, password: str = "") -> Person:
    """A new person; without a password until one is set. The first person leads the others."""
    name = checked_name(name)
    if person_named(connection, name):
        raise DataError(f"somebody is called {name!r} already; choose another name.")
    hashed = hashed_password(password) if password else ""
    lead = not leads(connection)
    row = insert(annotators).values(name=name, password=hashed, created=now(), lead=lead)
    (number,) = connection.execute(row).inserted_primary_key or (0,)
    return Person(number, name, bool(password), lead)


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


def leads(connection: Connection) -> list[Person]:
    """Those who lead, by name."""
    return [person for person in all_people(connection) if person.lead]


def appoint(connection: Connection, person: int, *, by: int | None = None) -> Change | None:
    """Make a person a lead; None where they are one. Without `by`, a command does it."""
    return _change_role(connection, person, lead=True, by=by)


def dismiss(connection: Connection, person: int, *, by: int | None = None) -> Change | None:
    """Make a lead a person like others; None where they are, a `DataError` for the last one."""
    return _change_role(connection, person, lead=False, by=by)


def take_back_role(connection: Connection, data: str) -> None:
    """Undo that somebody became a lead, or ceased to be one; `data` is that of the change."""
    told = json.loads(data)
    person = person_numbered(connection, told["person"])
    if person is None or person.lead != told["lead"]:
        raise DataError("this was changed again since, so it cannot be taken back any more.")
    _set_role(connection, person.id, lead=not person.lead)


def _change_role(
    connection: Connection, number: int, *, lead: bool, by: int | None
) -> Change | None:
    person = person_numbered(connection, number)
    if person is None:
        raise DataError("this person is not there any more: reload the page.")
    if person.lead == lead:
        return None
    _set_role(connection, number, lead=lead)
    note = f"made {person.name} a lead" if lead else f"ended {person.name}'s role as a lead"
    return add_change(connection, by, None, "lead", note, data={"person": number, "lead": lead})


def _set_role(connection: Connection, person: int, *, lead: bool) -> None:
    if not lead and all(one.id == person for one in leads(connection)):
        raise DataError("this is the only lead; name another one first.")
    connection.execute(update(annotators).where(annotators.c.id == person).values(lead=lead))


def check_password(connection: Connection, name: str, password: str) -> Person | None:
    """The person whose name and password these are; as slow for an unknown name."""
    asked = select(annotators).where(annotators.c.name == _plain(name))
    row = connection.execute(asked).mappings().first()
    right = _matches(password, row["password"] if row and row["password"] else _NOBODY)
    return _person(row) if row and row["password"] and right else None


def hashed_password(password: str) -> PasswordHash:
    """What is kept of a password; computed before a transaction begins, since it takes long."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise DataError(f"a password has at least {SHORTEST} characters.")
    salt = secrets.token_bytes(16)
    return PasswordHash(f"scrypt${salt.hex()}${_scrypt(password, salt).hex()}")


def set_password(connection: Connection, person: int, hashed: PasswordHash) -> None:
    """Let a password count, instead of the one before."""
    connection.execute(update(annotators).where(annotators.c.id == person).values(password=hashed))


def invite(
    connection: Connection, name: str, *, by: int | None = None, lasts: timedelta = INVITED
) -> str:
    """The secret of a link that logs a person in, once; a new name becomes a person.

    Without `by`, a command invites.
    """
    known = person_named(connection, name)
    person = known or add_person(connection, name)
    new = "" if known else ", who is new here,"
    add_change(connection, by, None, "invite", f"invited {person.name}{new} with a one-time link")
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


def log_in(connection: Connection, person: int, *, lasts: timedelta = LOGGED_IN) -> str:
    """The secret of a new login of a person; those of everybody that are over are removed."""
    connection.execute(delete(logins).where(logins.c.expires <= now()))
    secret = secrets.token_urlsafe(32)
    row = {"digest": digest(secret), "annotator_id": person, "expires": now(later=lasts)}
    connection.execute(insert(logins).values(row))
    return secret


def login(connection: Connection, secret: str) -> Person | None:
    """Whose login this secret is."""
    asked = (
        select(annotators)
        .join(logins, logins.c.annotator_id == annotators.c.id)
        .where(logins.c.digest == _digest(secret), logins.c.expires > now())
    )
    return _person(connection.execute(asked).mappings().first())


def log_out(connection: Connection, secret: str) -> None:
    """End one login."""
    connection.execute(delete(logins).where(logins.c.digest == _digest(secret)))


def new_device(connection: Connection, person: int) -> str:
    """What a browser keeps that a person with a password logged in from; else empty.

    It is signed with the hash of the password, and is worth nothing after a new one is chosen.
    """
    hashed = connection.execute(select(annotators.c.password).where(annotators.c.id == person))
    nonce = secrets.token_urlsafe(16)
    return f"{nonce}.{signature}" if (signature := _signature(hashed.scalar(), nonce)) else ""


def knows_device(connection: Connection, name: str, device: str) -> bool:
    """Whether the person of this name logged in from a browser that keeps `device`."""
    nonce, _, given = device.partition(".")
    hashed = connection.execute(
        select(annotators.c.password).where(annotators.c.name == _plain(name))
    )
    signature = _signature(hashed.scalar(), nonce)
    return bool(signature) and hmac.compare_digest(
        given.encode(errors="replace"), signature.encode()
    )


def _signature(hashed: str | None, nonce: str) -> str:
    if not hashed:
        return ""
    return hmac.new(hashed.encode(), nonce.encode(errors="replace"), "sha256").hexdigest()


def log_out_everywhere(connection: Connection, person: int) -> None:
    """End all logins of a person."""
    connection.execute(delete(logins).where(logins.c.annotator_id == person))


def _person(row) -> Person | None:  # type: ignore[no-untyped-def]
    if row is None:
        return None
    return Person(row["id"], row["name"], bool(row["password"]), bool(row["lead"]))


def _plain(name: str) -> str:
    return unicodedata.normalize("NFC", " ".join(name.split())).replace("\0", "\ufffd")


def checked_name(name: str) -> str:
    """A name as it is kept; a `DataError` for one that cannot be shown."""
    plain = _plain(name)
    check_text(name, "the name")
    if not plain or len(plain) > 60 or not plain.isprintable():
        raise DataError("a name has 1 to 60 letters, all of them printable.")
    return plain


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


def _matches(password: str, hashed: str) -> bool:
    _, salt, wanted = hashed.split("$")
    given = _scrypt(password[: LONGEST + 1], bytes.fromhex(salt))
    return hmac.compare_digest(given, bytes.fromhex(wanted))


def _scrypt(password: str, salt: bytes) -> bytes:
    # The end is marked, since the function cannot tell a password from one with U+0000 behind it.
    raw = unicodedata.normalize("NFC", password).encode(errors="surrogatepass") + b"."
    return hashlib.scrypt(raw, salt=salt, **_COST, maxmem=_MEMORY, dklen=32)


_NOBODY = f"scrypt${'00' * 16}${'00' * 32}"
