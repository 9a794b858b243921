"""How long people wait for a suite's database of 200,000 outputs, on SQLite and PostgreSQL.

73 invented systems each translate 2,748 items, all of them differently; one output in five is a
warning. PostgreSQL is started for the occasion where it is installed.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from assay.suites.check import Checker
from assay.suites.model import Item, Rule, Run, Suite, rule_id
from assay.suites.store.dealing import assign
from assay.suites.store.decisions import save_decision
from assay.suites.store.finding import find
from assay.suites.store.opening import Store, open_store
from assay.suites.store.people import add_person
from assay.suites.store.queue import next_case, progress
from assay.suites.store.records import Draft, Filters
from assay.suites.store.runs import load_verdicts, save_run, stored_runs
from assay.suites.store.suites import save_suite
from assay.suites.store.trials import preview, save_rule

PROJECT = Path(__file__).resolve().parents[1]
ITEMS, SYSTEMS, PHENOMENA = 2748, 73, 100
TIMES = 5


def main() -> None:
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        measure("SQLite", open_store(Path(folder) / "suite.db", create=True))
        sys.path.insert(0, str(PROJECT))
        from tests import postgresql

        if postgresql.binary("initdb") is None:
            print(f"PostgreSQL: left out, {postgresql.MISSING}")
            return
        socket = stack.enter_context(postgresql.cluster())
        postgresql.run(socket, "CREATE DATABASE suite")
        measure("PostgreSQL", open_store(postgresql.address(socket, "suite"), create=True))


def measure(name: str, store: Store) -> None:
    print(f"\n{name}, {SYSTEMS} systems, {ITEMS} items, {SYSTEMS * ITEMS} outputs", flush=True)
    started = perf_counter()
    fill(store)
    print(f"  {'import of all runs':44}{perf_counter() - started:10.1f} s", flush=True)
    with store.write() as conn:
        ann, ben = (add_person(conn, each).id for each in ("Ann", "Ben"))
    queue(store, ann)
    with store.read() as conn:
        first = next_case(conn, ann)
    told("preview, fixed string, the whole suite", store, drafted(first, "fixed", "w17 w4"))
    told("preview, regex, the whole suite", store, drafted(first, "regex", r"\bw1[0-9] w[45]\b"))
    told("preview, matches every output", store, drafted(first, "fixed", "w"))
    told("preview, regex, matches every output", store, drafted(first, "regex", "[a-z]"))
    told("find, no filter", store, lambda conn: find(conn, Filters()))
    told("find, page 1000", store, lambda conn: find(conn, Filters(), offset=50_000))
    told("find, text", store, lambda conn: find(conn, Filters(text="W17 w4")))
    told("find, warnings of a system", store, of_system)
    told("load verdicts of all runs", store, everything)
    written(store, ann, "save a decision")
    decide_all(store, ann)
    queue(store, ann, "all decided but one")
    with store.write() as conn:
        assign(conn, ann, {"Ann": 1, "Ben": 1}, double=1, rng=np.random.default_rng(1))
    queue(store, ann, "all given to me, all decided but one")
    queue(store, ben, "all given to me, nothing decided")
    started = perf_counter()
    with store.write() as conn:
        save_rule(conn, Draft(first.output.id, "positive", "regex", r"\bw1[0-9]\b", "suite"), ann)
    print(f"  {'save a rule for the suite':44}{perf_counter() - started:10.1f} s", flush=True)
    store.close()


def fill(store: Store) -> None:
    rng = np.random.default_rng(1)
    with store.write() as conn:
        save_suite(conn, Suite(tuple(item(at) for at in range(ITEMS))))
    for system in range(SYSTEMS):
        words = rng.integers(0, 200, (ITEMS, 18))
        texts = {f"{at:08}": text(row, system) for at, row in enumerate(words)}
        with store.write() as conn:
            save_run(conn, Run(f"system {system:02}", texts), Checker())


def item(at: int) -> Item:
    name, phenomenon = f"{at:08}", at * PHENOMENA // ITEMS
    rules = [
        Rule(rule_id(name, "positive", 1), "positive", "regex", rf"\bw{at % 9}\b|\bw1{at % 9}"),
        Rule(rule_id(name, "negative", 1), "negative", "fixed", f"w{at % 7}"),
    ]
    return Item(name, "de-en", f"c{phenomenon // 7}", f"p{phenomenon}", f"s{at}", tuple(rules))


def text(words: np.ndarray, system: int) -> str:
    # One output in five has neither rule.
    told = [f"w{word}" for word in words] if words[0] < 160 else [f"v{word}" for word in words]
    return " ".join([*told, f"({system})"])


def queue(store: Store, person: int, note: str = "nothing decided") -> None:
    told(f"next case, {note}", store, lambda conn: next_case(conn, person))
    told(f"progress, {note}", store, lambda conn: progress(conn, person))
    wanted = Filters(category="c9", system="system 60", text="V17")
    told(f"next case, filters, {note}", store, lambda conn: next_case(conn, person, wanted))


def drafted(first, kind: str, pattern: str) -> Callable:
    draft = Draft(first.output.id, "positive", kind, pattern, "suite")
    return lambda conn: preview(conn, draft)


def of_system(conn):
    return find(conn, Filters(system="system 60", verdict="warning"))


def everything(conn):
    return load_verdicts(conn, [run.id for run in stored_runs(conn)])


def told(what: str, store: Store, action: Callable) -> None:
    """Print the median and the longest of several times."""
    times = []
    for _ in range(TIMES):
        started = perf_counter()
        with store.read() as conn:
            action(conn)
        times.append(1000 * (perf_counter() - started))
    print(f"  {what:52}{median(times):8.1f} ms   at most {max(times):8.1f} ms", flush=True)


def written(store: Store, person: int, what: str) -> None:
    times = []
    for _ in range(20):
        with store.read() as conn:
            case = next_case(conn, person)
        started = perf_counter()
        with store.write() as conn:
            save_decision(conn, case.output.id, person, "pass", seen=case.output.version)
        times.append(1000 * (perf_counter() - started))
    print(f"  {what:52}{median(times):8.1f} ms   at most {max(times):8.1f} ms", flush=True)


def decide_all(store: Store, person: int) -> None:
    """Let one person have judged all warnings but the last, without waiting for it."""
    from sqlalchemy import insert, select, update

    from assay.suites.store.tables import changes, decisions, outputs

    with store.write() as conn:
        asked = select(outputs.c.id).where(outputs.c.verdict == "warning").order_by(outputs.c.id)
        ids = conn.execute(asked.order_by(outputs.c.item_id)).scalars().all()[:-1]
        row = {"annotator_id": person, "time": "2024-01-01T00:00:00.000000+00:00"}
        change = {"kind": "decision", "note": "pass", "undone": "", "undone_by": ""} | row
        conn.execute(insert(changes), [change | {"output_id": each} for each in ids])
        made = conn.execute(select(changes.c.id, changes.c.output_id)).all()
        word = {"verdict": "pass", "made": 1} | row
        conn.execute(
            insert(decisions),
            [word | {"output_id": output, "change_id": id_} for id_, output in made[-len(ids) :]],
        )
        for at in range(0, len(ids), 5000):
            some = outputs.c.id.in_(ids[at : at + 5000])
            conn.execute(update(outputs).where(some).values(verdict="pass", by="Ann", version=1))


if __name__ == "__main__":
    main()
