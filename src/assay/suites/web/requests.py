"""What a request asks for: who sends it, its form, and which cases to go through."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Annotated, NamedTuple, TypeVar
from urllib.parse import parse_qs, quote, urlencode

from fastapi import Depends, HTTPException, Path, Request, Response
from starlette.types import Message, Receive

from assay.suites.store.people import leads, login
from assay.suites.store.records import Filters, Person
from assay.suites.web.site import Session, Site, listed, site_of, wants_json

__all__ = [
    "YEAR",
    "Asked",
    "Form",
    "Given",
    "Lead",
    "LeadPosted",
    "Number",
    "Post",
    "Posted",
    "Queue",
    "Upload",
    "Visitor",
    "inside",
    "lead_uploaded",
    "names_cookie",
    "session_of",
    "set_cookie",
]

Value = TypeVar("Value", bound=str)

HIGHEST = 2**31 - 1
"""The highest number that a row of the database can have."""

MOST = 500
"""How many outputs can be decided on at once."""

LONGEST = 50
"""How many characters the key of a request can have."""

DAYS_30, YEAR = 30 * 24 * 3600, 365 * 24 * 3600
"""Seconds for which browsers keep cookies."""

FIELDS, FILES = 5000, 20
"""How many fields and files a form may have."""


@dataclass(frozen=True)
class Queue:
    """Which cases a person goes through: warnings that fit the filters, or the skipped ones.

    `listed` are all outputs that fit, in the order of the list that the person came from.
    """

    filters: Filters = field(default_factory=Filters)
    skipped: bool = False
    listed: bool = False

    @cached_property
    def query(self) -> str:
        """The queue as it stands in an address."""
        values = {name: value for name, value in asdict(self.filters).items() if value}
        marks = {"skipped": self.skipped, "list": self.listed}
        return urlencode(values | {name: "1" for name, mark in marks.items() if mark})

    def address(self, output: int | None) -> str:
        """Where a case of the queue is shown."""
        path = "/resolve" if output is None else f"/case/{output}"
        return f"{path}?{self.query}" if self.query else path

    @classmethod
    def read(cls, query: str) -> Queue:
        """The queue that an address asks for; what it does not know is left out."""
        given = {name: values[0] for name, values in parse_qs(query).items()}
        names = [column.name for column in fields(Filters)]
        known = {name: given.get(name, "").strip() for name in names}
        return cls(Filters(**known), given.get("skipped") == "1", given.get("list") == "1")


class Upload(NamedTuple):
    """A file that came with a form, and the name that its sender gave it."""

    name: str
    data: bytes


@dataclass(frozen=True)
class Form:
    """The fields of a form; one that is missing is empty."""

    values: Mapping[str, str]
    files: Mapping[str, Sequence[Upload]] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """A field as it was sent."""
        return self.values.get(name, "")

    def number(self, name: str) -> int:
        """A field that holds a whole number."""
        value = self.text(name)
        if not (value.isdecimal() and value.isascii() and int(value[:11]) <= HIGHEST):
            raise HTTPException(400, f"{name} has to be a number.")
        return int(value)

    def versions(self) -> dict[int, int]:
        """The versions that were seen, by output: one of each field, or pairs `ID:SEEN`."""
        if "outputs" not in self.values:
            return {self.number("output"): self.number("seen")}
        written = [pair.partition(":")[::2] for pair in self.text("outputs").split()]
        if not 0 < len(written) <= MOST:
            raise HTTPException(400, f"outputs has to be 1 to {MOST} pairs of ID:SEEN.")
        fields = [Form({"outputs": id_, "seen": seen}) for id_, seen in written]
        return {field.number("outputs"): field.number("seen") for field in fields}

    def key(self) -> str:
        """The page's own name for the request, by which it can be sent again."""
        value = self.text("key")
        if not (value.isascii() and value.isprintable() and len(value) <= LONGEST):
            raise HTTPException(400, f"key has to have up to {LONGEST} plain characters.")
        return value

    def one_of(self, name: str, choices: Collection[Value]) -> Value:
        """A field that holds one of some values."""
        for choice in choices:
            if self.text(name) == choice:
                return choice
        raise HTTPException(400, f"{name} has to be one of {', '.join(choices)}.")


@dataclass(frozen=True)
class Post:
    """A form that a known person sent from a page of ours."""

    session: Session
    form: Form

    @property
    def person(self) -> Person:
        """Who sent it."""
        return self.session.person

    @property
    def queue(self) -> Queue:
        """The cases that the person was going through."""
        return Queue.read(self.form.text("back"))


def session_of(request: Request) -> Session | None:
    """Who is logged in, if anybody."""
    site = site_of(request)
    secret = request.cookies.get(site.settings.cookie, "")
    if not secret:
        return None
    with site.store.read() as conn:
        found = login(conn, secret)
    if found is None:
        return None
    session = Session(found, request.cookies.get(names_cookie(site, found)) != "hidden")
    request.state.session = session  # for the page of an error, which must not ask the database
    return session


def names_cookie(site: Site, person: Person) -> str:
    """The cookie in which a browser remembers whether this person sees the names of systems."""
    return f"{site.settings.cookie}-names-{person.id}"


def set_cookie(
    response: Response, request: Request, name: str, value: str, *, lasts: int = DAYS_30
) -> None:
    """Have a browser keep something for this server alone, also where links of others lead here."""
    response.set_cookie(
        name,
        value,
        max_age=lasts,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )


def inside(path: str, default: str = "/resolve") -> str:
    """The path, if it leads to a page of ours; a way out is replaced by the default.

    >>> inside("/browse?text=a"), inside("//elsewhere.org/browse"), inside("https://elsewhere.org")
    ('/browse?text=a', '/resolve', '/resolve')
    """
    plain = path.isascii() and path.isprintable() and "\\" not in path
    return path if plain and path.startswith("/") and not path.startswith("//") else default


async def _form(request: Request) -> Form:
    return await _read_form(request, site_of(request).settings.largest, files=0)


Given = Annotated[Form, Depends(_form)]


async def _read_form(request: Request, largest: int, *, files: int) -> Form:
    """The form in the body of a request of at most `largest` bytes."""
    limited = Request(request.scope, _at_most(largest, request.receive))
    size = request.headers.get("content-length", "0")
    if not size.isdecimal() or int(size[:20]) > largest:
        raise _too_large(largest)
    async with limited.form(max_files=files, max_fields=FIELDS, max_part_size=largest) as fields:
        values: dict[str, str] = {}
        sent: dict[str, list[Upload]] = {}
        for name, value in fields.multi_items():
            if isinstance(value, str):
                values[name] = value
            else:
                file = Upload(value.filename or "", await value.read())
                sent.setdefault(name, []).append(file)
    return Form(values, sent)


def _at_most(largest: int, receive: Receive) -> Receive:
    """The body of a request, which ends in a refusal once it is longer than it may be."""
    total = 0

    async def receiving() -> Message:
        nonlocal total
        message = await receive()
        total += len(message.get("body", b""))
        if total > largest:
            raise _too_large(largest)
        return message

    return receiving


def _too_large(largest: int) -> HTTPException:
    return HTTPException(413, f"The request is larger than {largest:,} bytes.")


def _visitor(request: Request) -> Session:
    session = session_of(request)
    if session is None:
        if wants_json(request) or request.method != "GET":
            raise HTTPException(401, "You are not logged in any more: reload the page.")
        asked = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        raise HTTPException(303, headers={"location": f"/login?next={quote(asked, safe='')}"})
    return session


Visitor = Annotated[Session, Depends(_visitor)]


def _posted(session: Visitor, form: Given) -> Post:
    return Post(session, form)


Posted = Annotated[Post, Depends(_posted)]


def _lead(request: Request, session: Visitor) -> Session:
    if not session.person.lead:
        with site_of(request).store.read() as conn:
            names = listed([person.name for person in leads(conn)] or ["nobody yet"])
        raise HTTPException(403, f"Only a lead may do this. Ask one of the leads: {names}.")
    return session


Lead = Annotated[Session, Depends(_lead)]
"""A visitor who is a lead; others are told who the leads are."""


def lead_uploaded(largest: int) -> Callable[[Request, Session], Awaitable[Post]]:
    """What a route depends on whose form may bring files, of at most `largest` bytes in all.

    Only leads may use it: nothing that others send is read.
    """

    async def posted(request: Request, session: Lead) -> Post:
        return Post(session, await _read_form(request, largest, files=FILES))

    return posted


def _led(post: Posted, _: Lead) -> Post:
    return post


LeadPosted = Annotated[Post, Depends(_led)]
"""A form that a lead sent."""


def _asked(request: Request) -> Queue:
    return Queue.read(request.url.query)


Asked = Annotated[Queue, Depends(_asked)]

Number = Annotated[int, Path(ge=0, le=HIGHEST)]
"""The number of an output, in an address."""
