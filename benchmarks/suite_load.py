"""Whether anything is lost when 20 people work and the server is killed again and again.

    python benchmarks/suite_load.py                                  SQLite and PostgreSQL
    python benchmarks/suite_load.py --kills 3 --clients 4 --db a.db  a short one, on one database
    python benchmarks/suite_load.py --real                           18 systems of WMT21

Each client is a person with a browser of their own, on a real `assay suite serve`. First nobody is
killed, and the time of every answer is measured. Then the server is killed with SIGKILL and started
again, as often as `--kills` says. A request without an answer is sent again with the same key, as
the page does. In the end every answered request must be in the database, once; nobody may have been
sent away with 503. PostgreSQL is started for the occasion where it is installed.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import numpy as np
from sqlalchemy import select

from assay.suites.check import Checker
from assay.suites.files import read_runs, read_suite
from assay.suites.model import Item, Rule, Run, Suite, rule_id
from assay.suites.store.opening import open_store
from assay.suites.store.runs import save_run
from assay.suites.store.suites import save_suite
from assay.suites.store.tables import changes, rules

PROJECT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("ASSAY_DATA", PROJECT.parent / "shared" / "data"))
ITEMS, SYSTEMS = 200, 20
RULE_EVERY = 10
"""One request in so many makes a rule; the others are decisions."""

TOKEN = "load-load-load-load"
TIMEOUT = 60
JSON = {"Accept": "application/json"}


@dataclass(frozen=True)
class LoadOptions:
    """How many people, for how many seconds without kills, and how many kills then."""

    clients: int = 20
    seconds: float = 30
    kills: int = 100
    life: tuple[float, float] = (0.5, 3)


@dataclass
class Tally:
    """What the clients saw; `keys` and `texts` are the decisions and rules that were answered."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: {"decide": [], "rule": []})
    statuses: Counter[int] = field(default_factory=Counter)
    unanswered: int = 0
    keys: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    complaints: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, kind: str, took: float, answer: httpx.Response) -> None:
        """Note one answer."""
        with self.lock:
            self.seconds[kind].append(took)
            self.statuses[answer.status_code] += 1
            if answer.status_code not in (200, 409):
                self.complaints.add(answer.text[:200])

    @property
    def acknowledged(self) -> int:
        """How many changes were answered with success."""
        return len(self.keys) + len(self.texts)


@dataclass(frozen=True)
class LoadResult:
    """What is in the database of what was acknowledged."""

    acknowledged: int
    stored: int
    refused: int
    doubled: int
    tally: Tally

    @property
    def lost(self) -> int:
        """Acknowledged, and not there."""
        return self.acknowledged - self.stored


def main() -> None:
    args = _arguments()
    options = LoadOptions(clients=args.clients, seconds=args.seconds, kills=args.kills)
    with ExitStack() as stack:
        for name, where in _databases(args.db, stack):
            print(f"\n{name}: {args.clients} clients, {args.kills} kills", flush=True)
            fill(where, real=args.real)
            quiet, killed = load(where, options)
            _show("without kills", quiet)
            _show("with kills", killed)


def load(where: str, options: LoadOptions) -> tuple[LoadResult, LoadResult]:
    """What happens without kills, and then with them."""
    server, people = Server(where), []
    try:
        server.start()
        for number in range(options.clients):
            people.append(Client(number, server.address))
        with _working(people) as tally:
            time.sleep(options.seconds)
        quiet = _result(where, tally)
        with _working(people) as tally:
            for _ in range(options.kills):
                _wait_for_answer(people)
                time.sleep(random.uniform(*options.life))
                server.kill()
                server.start()
        return quiet, _result(where, tally)
    finally:
        server.kill()
        for person in people:
            person.http.close()


def _wait_for_answer(people: Sequence[Client]) -> None:
    """Wait until somebody gets an answer, so that every server has something to lose."""
    before, late = _answers(people), time.monotonic() + TIMEOUT
    while _answers(people) == before:
        if time.monotonic() > late:
            raise RuntimeError("the server does not answer")
        time.sleep(0.01)


def _answers(people: Sequence[Client]) -> int:
    return sum(person.tally.statuses.total() for person in people)


class Server:
    """`assay suite serve` on one port, however often it is killed."""

    def __init__(self, where: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.where = where
        self.address = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Begin, and wait for the line that says where it listens."""
        command = [sys.executable, "-m", "assay.cli", "suite", "serve", "--db", self.where]
        self.process = subprocess.Popen(
            [*command, "--port", str(self.port)],
            stdout=subprocess.PIPE,
            env=os.environ | {"ASSAY_TOKEN": TOKEN},
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line.startswith(b"http"):
            raise RuntimeError("the server does not start")

    def kill(self) -> None:
        """End it with SIGKILL, whatever it is doing."""
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


class Client:
    """A person who judges what the page shows, and now and then makes a rule."""

    def __init__(self, number: int, address: str) -> None:
        self.http = httpx.Client(base_url=address, headers=JSON, timeout=TIMEOUT)
        self.name = f"Person {number}"
        self.tally = Tally()
        self.stop = threading.Event()
        self.random = random.Random(number)
        self.http.get("/", params={"token": TOKEN})
        self.token = _field("csrf", self.http.get("/login", headers={"Accept": "*/*"}).text)
        self.http.post("/login", data=self._with_token(name=self.name, after="/resolve"))
        self.main = ""

    def work(self) -> None:
        """Go on until told to stop."""
        while not self.stop.is_set():
            output, seen = self._shown()
            if self.random.randrange(RULE_EVERY):
                self._decide(output, seen)
            else:
                self._make_rule(output)

    def _shown(self) -> tuple[str, str]:
        """The output to judge, and the version in which it was shown."""
        while True:
            found = re.search(r'data-output="(\d+)" data-seen="(\d+)"[^>]* data-open', self.main)
            found = found or re.search(
                r'name="output" value="(\d+)">\s*<input type="hidden" name="seen" value="(\d+)"',
                self.main,
            )
            if found:
                self.token = _field("csrf", self.main) or self.token
                return found[1], found[2]
            # What is left was judged by others in the meantime, or is all done: look back.
            path = "/resolve" if not self.main else f"/case/{self.random.randint(1, ITEMS)}"
            self.main = self._answer("GET", path, {}).json().get("main", "-")

    def _decide(self, output: str, seen: str) -> None:
        key = secrets.token_hex(16)
        fields = {"output": output, "seen": seen, "key": key}
        fields |= {"choice": self.random.choice(("pass", "fail", "skip"))}
        answer = self._timed("decide", "/decide", fields)
        if answer.status_code == 200:
            self.tally.keys.add(key)

    def _make_rule(self, output: str) -> None:
        text = f"rule {secrets.token_hex(8)}"
        fields = {"polarity": "positive", "kind": "fixed", "scope": "item", "text": text}
        answer = self._timed("rule", f"/rule/{output}", fields)
        if answer.status_code == 200 or "has this rule already" in answer.text:
            self.tally.texts.add(text)

    def _timed(self, kind: str, path: str, fields: dict[str, str]) -> httpx.Response:
        answer = self._answer("POST", path, self._with_token(**fields), kind=kind)
        self.main = answer.json().get("main", "") if answer.status_code in (200, 409) else ""
        return answer

    def _answer(
        self, method: str, path: str, fields: dict[str, str], kind: str = ""
    ) -> httpx.Response:
        """The first answer to a request that is sent until there is one."""
        missed = False
        while True:
            started = time.perf_counter()
            try:
                answer = self.http.request(method, path, data=fields or None)
            except httpx.TransportError:
                self.tally.unanswered += bool(kind) and not missed
                missed = True
                time.sleep(0.05)
                continue
            known = "has this rule already" in answer.text
            if kind and not known:
                self.tally.add(kind, time.perf_counter() - started, answer)
            if answer.status_code != 503:
                return answer

    def _with_token(self, **fields: str) -> dict[str, str]:
        return fields | ({"csrf": self.token} if self.token else {})


@contextmanager
def _working(people: Sequence[Client]) -> Iterator[Tally]:
    """Let people work for a while; afterwards the tally holds what all of them saw."""
    tally = Tally()
    threads = []
    for person in people:
        person.tally = Tally(lock=tally.lock)
        person.stop.clear()
        threads.append(threading.Thread(target=person.work, daemon=True))
    for thread in threads:
        thread.start()
    yield tally
    for person in people:
        person.stop.set()
    for thread in threads:
        thread.join()
    for person in people:
        _add(tally, person.tally)


def _add(tally: Tally, one: Tally) -> None:
    for kind, seconds in one.seconds.items():
        tally.seconds[kind] += seconds
    tally.statuses += one.statuses
    tally.unanswered += one.unanswered
    tally.keys |= one.keys
    tally.texts |= one.texts
    tally.complaints |= one.complaints


def _result(where: str, tally: Tally) -> LoadResult:
    with closing(open_store(where)) as store, store.read() as connection:
        kept = list(connection.execute(select(changes.c.key).where(changes.c.key.is_not(None))))
        keys = Counter(key for (key,) in kept)
        texts = Counter(connection.execute(select(rules.c.text)).scalars())
    answered = (*(keys[key] for key in tally.keys), *(texts[text] for text in tally.texts))
    return LoadResult(
        acknowledged=tally.acknowledged,
        stored=sum(map(bool, answered)),
        refused=tally.statuses[503],
        doubled=sum(number > 1 for number in answered),
        tally=tally,
    )


def fill(where: str, *, real: bool = False) -> None:
    """Make the database: 200 items and 20 systems whose outputs all differ, or the real suite."""
    suite, runs = _real() if real else _made()
    checker = Checker()
    with closing(open_store(where, create=True)) as store:
        with store.write() as connection:
            save_suite(connection, suite)
        for run in runs:
            with store.write() as connection:
                save_run(connection, run, checker)


def _made() -> tuple[Suite, list[Run]]:
    items = []
    for number in range(ITEMS):
        name = f"i{number}"
        rule = Rule(rule_id(name, "positive", 1), "positive", "regex", "husband")
        said = ("de-en", f"Category {number % 5}", f"Phenomenon {number % 20}", f"Satz {number}.")
        items.append(Item(name, *said, (rule,)))
    runs = [
        Run(f"system {at}", {item.id: f"Sentence {item.id} in words {at}." for item in items})
        for at in range(SYSTEMS)
    ]
    return Suite(tuple(items), name="load"), runs


def _real() -> tuple[Suite, list[Run]]:
    folder = DATA / "testsuite" / "de-en"
    suite = read_suite(folder / "items.json")
    paths = sorted(folder.glob("wmt21/systems/*.txt"))
    return suite, read_runs(suite, paths, ids=folder / "wmt21" / "item_ids.txt")


def _field(name: str, page: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]+)"', page)
    return found[1] if found else ""


def _show(when: str, result: LoadResult) -> None:
    print(
        f"  {when}: {result.acknowledged} acknowledged, {result.stored} stored, "
        f"{result.lost} lost, {result.doubled} doubled, {result.refused} answered with 503, "
        f"{result.tally.unanswered} sent again"
    )
    for kind, seconds in result.tally.seconds.items():
        if seconds:
            middle, slow, slowest = np.quantile(seconds, [0.5, 0.95, 1])
            print(
                f"    {kind:8}{len(seconds):7} answers   p50 {middle:6.2f} s   p95 {slow:6.2f} s   "
                f"max {slowest:6.2f} s"
            )
    for complaint in sorted(result.tally.complaints)[:5]:
        print(f"    {complaint}")


def _databases(db: str, stack: ExitStack) -> Iterator[tuple[str, str]]:
    if db:
        yield db, db
        return
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    yield "SQLite", str(Path(folder) / "suite.db")
    sys.path.insert(0, str(PROJECT))
    from tests import postgresql

    if postgresql.binary("initdb") is None:
        print(f"PostgreSQL: left out, {postgresql.MISSING}")
        return
    server = stack.enter_context(postgresql.cluster())
    postgresql.run(server, "CREATE DATABASE suite")
    yield "PostgreSQL", postgresql.address(server, "suite")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--db", default="", help="a new file, or the URL of an empty database")
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=30, help="time without kills")
    parser.add_argument("--real", action="store_true", help="the public suite and WMT21's systems")
    return parser.parse_args()


if __name__ == "__main__":
    main()
