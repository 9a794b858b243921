"""What all pages of one server share: the store, settings, templates and wording."""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from threading import Lock, Semaphore
from typing import Any, NamedTuple, cast
from uuid import uuid4

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from assay.suites.store.history import counted, deed
from assay.suites.store.opening import Store
from assay.suites.store.records import Decision, Person
from assay.suites.store.rules import RuleUse
from assay.suites.web.shares import ShownPlans
from assay.suites.web.uploads import Uploads
from assay.version import __version__

__all__ = [
    "DEFAULT",
    "HERE",
    "LOOPBACK",
    "AttemptKey",
    "Attempts",
    "HashingTurns",
    "Person",
    "ServerSettings",
    "Site",
    "cost",
    "counted",
    "duration",
    "keys_of",
    "listed",
    "moment",
    "new_key",
    "said",
    "site_of",
    "wants_json",
]

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
"""The names by which a machine calls itself, as they stand in an address."""


@dataclass(frozen=True)
class ServerSettings:
    """How the pages are guarded.

    `accounts`: people log in with a password or a one-time link; without, they just say a name.
    `hosts` are the names under which the server answers, None for any. `cookie` keeps servers on
    several ports of one machine apart. `largest` is the most bytes that a form without files has.
    `token` opens the pages where there are no accounts, so that other users of the same machine,
    who reach them as well, cannot act under anybody's name.
    """

    accounts: bool = False
    hosts: frozenset[str] | None = LOOPBACK
    cookie: str = "assay"
    largest: int = 1 << 18
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))


DEFAULT = ServerSettings()
"""For people at this machine."""


MINUTE, HOUR = 60, 3600


def duration(seconds: float) -> str:
    """A time span as exact as an estimate deserves.

    >>> duration(40), duration(1500), duration(9000)
    ('less than a minute', 'about 25 min', 'about 2.5 h')
    """
    if seconds < MINUTE:
        return "less than a minute"
    if seconds < HOUR:
        return f"about {seconds / MINUTE:.0f} min"
    return f"about {seconds / HOUR:.1f} h"


def cost(use: RuleUse) -> str:
    """What a rule takes to search the outputs of its item.

    >>> cost(RuleUse(1, 4, 0.0321)), cost(RuleUse(1, 4, 0.00001))
    ('32 ms', '< 1 ms')
    """
    if use.slow:
        return "could not be searched: wrong or too slow"
    return f"{1000 * use.seconds:.0f} ms" if use.seconds >= 0.001 else "< 1 ms"


def moment(time: str) -> str:
    """A stored time for people; what is no time is left as it is.

    >>> moment("2026-05-01T12:30:59.123456+00:00")
    '2026-05-01 12:30 UTC'
    """
    try:
        return f"{datetime.fromisoformat(time):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return time


def listed(names: list[str]) -> str:
    """Names as a person would say them.

    >>> listed(["Ada"]), listed(["Ada", "Ben", "Cy"])
    ('Ada', 'Ada, Ben and Cy')
    """
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def new_key() -> str:
    """A name for a request that no other request has."""
    return str(uuid4())


def said(decision: Decision) -> str:
    """What somebody said.

    >>> said(Decision(1, "Ada", "pass", False, ""))
    'Ada said pass'
    """
    return f"{decision.person} said {decision.verdict}"


KEPT = 10_000
"""So many names and addresses are remembered; beyond that, the oldest are forgotten."""


class AttemptKey(NamedTuple):
    """What failures are counted for, and how many of them it may have."""

    most: int
    name: str
    address: str


def keys_of(name: str, address: str, device: str = "") -> tuple[AttemptKey, ...]:
    """The keys of one try: the name from there, everybody from there, the name from anywhere.

    A room of people behind one address gets along. Strangers who try a name from many places lock
    it for strangers only: a browser that logged in under the name before is known by its `device`
    and counted by itself, as OWASP advises ("device cookies").
    """
    name = name.casefold()
    if device:
        return (AttemptKey(10, name, f"device {device}"),)
    return AttemptKey(10, name, address), AttemptKey(50, "", address), AttemptKey(50, name, "")


@dataclass
class Attempts:
    """The tries of the last `window` seconds that did not succeed, or not yet."""

    window: float = 300
    clock: Callable[[], float] = time.monotonic
    _tried: dict[AttemptKey, deque[float]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def begin(self, *keys: AttemptKey) -> float:
        """Count a try before it is looked at, so that many at once are not too many.

        Gives 0, or the seconds to wait where it is not allowed; then it is not counted.
        """
        with self._lock:
            wait = max(map(self._wait, keys))
            if wait > 0:
                return wait
            for key in keys:
                times = self._tried.pop(key, deque(maxlen=key.most))
                times.append(self.clock())
                self._tried[key] = times
            while len(self._tried) > KEPT:
                self._tried.pop(next(iter(self._tried)))
            return 0

    def succeeded(self, *keys: AttemptKey) -> None:
        """Forget a try that was right."""
        with self._lock:
            for key in keys:
                if self._tried.get(key):
                    self._tried[key].pop()

    def _wait(self, key: AttemptKey) -> float:
        times = self._tried.get(key, deque())
        if len(times) < key.most:
            return 0
        return max(0.0, times[0] + self.window - self.clock())


@dataclass
class HashingTurns:
    """Turns to compute the hash of a password, which takes long and much memory.

    Two do so at once, a few wait, and all others are sent away: else those who try passwords would
    take all threads, and the pages would stand still for everybody.
    """

    patience: float = 5
    _running: Semaphore = field(default_factory=lambda: Semaphore(2))
    _present: Semaphore = field(default_factory=lambda: Semaphore(10))

    @contextmanager
    def take(self) -> Iterator[bool]:
        """Whether it is this caller's turn, which lasts until the end of the block."""
        if not self._present.acquire(blocking=False):
            yield False
            return
        try:
            mine = self._running.acquire(timeout=self.patience)
            try:
                yield mine
            finally:
                if mine:
                    self._running.release()
        finally:
            self._present.release()


HERE = Path(__file__).parent


@dataclass(frozen=True)
class Session:
    """Who is asking; systems are `named` unless this person wants to judge without their names."""

    person: Person
    named: bool = True


@dataclass(frozen=True)
class Site:
    """The pages of one store."""

    store: Store
    settings: ServerSettings
    attempts: Attempts = field(default_factory=Attempts)
    uploads: Uploads = field(default_factory=Uploads)
    plans: ShownPlans = field(default_factory=ShownPlans)
    hashing: HashingTurns = field(default_factory=HashingTurns)
    templates: Environment = field(default_factory=lambda: _templates())

    def fragment(self, name: str, session: Session | None, /, **values: Any) -> str:
        """A template filled in; every value is escaped."""
        template = self.templates.get_template(f"{name}.html.j2")
        return template.render(session=session, settings=self.settings, **values)

    def page(
        self, name: str, session: Session | None, /, *, status: int = 200, **values: Any
    ) -> HTMLResponse:
        """A whole page."""
        return HTMLResponse(self.fragment(name, session, page=name, **values), status)


def site_of(request: Request) -> Site:
    """The site that a request came to."""
    return cast(Site, request.app.state.site)


def wants_json(request: Request) -> bool:
    """Whether the page's script asks; else it is a browser on its way to a page."""
    return "application/json" in request.headers.get("accept", "")


def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= _filters()
    environment.globals |= {"version": __version__, "new_key": new_key}
    return environment


def _filters() -> Mapping[str, Any]:
    filters = (cost, counted, deed, duration, listed, moment, said)
    return {function.__name__: function for function in filters}
