"""A project of three people from the first judgement to the last, one of whom joins late.

The warnings are those of 18 systems of WMT21 on the published items, where the folder with them
is there, else invented ones. A tenth of the outputs is judged twice. Judgements beyond those that
are needed, and moments in which somebody had nothing to do, are counted.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

from assay.suites.check import Checker
from assay.suites.files import read_suite
from assay.suites.model import Run, Suite
from assay.suites.store.opening import Store, open_store
from assay.suites.store.people import add_person
from assay.suites.store.runs import save_run
from assay.suites.store.suites import save_suite

PROJECT = Path(__file__).resolve().parents[1]
PEOPLE = ("Ann", "Ben", "Cem")
LATE = 400
"""So many judgements are made before the third person joins."""


def main() -> None:
    sys.path.insert(0, str(PROJECT))
    from tests.suites.store.project import Project, wanted

    with tempfile.TemporaryDirectory() as folder:
        store = open_store(Path(folder) / "suite.db", create=True)
        fill(store)
        with store.write() as conn:
            ids = {name: add_person(conn, name).id for name in PEOPLE}
        started = perf_counter()
        project = Project(store, ids, np.random.default_rng(1))
        project.deal("Ann", "Ben")
        project.work(("Ann", "Ben"), most=LATE)
        project.deal(*PEOPLE)
        project.work(PEOPLE)
        total, doubled = wanted(store)
        made = sum(project.made.values())
        each = ", ".join(f"{name} {project.made[name]}" for name in PEOPLE)
        print(f"warnings                             {total:6}")
        print(f"  judged twice                       {doubled:6}")
        print(f"judgements needed                    {total + doubled:6}")
        print(f"judgements made                      {made:6}   {each}")
        print(f"judgements beyond those needed       {made - total - doubled:6}")
        print(f"times that work was taken over       {project.taken:6}")
        print(f"idle while there was work            {project.idle:6}")
        print(f"seconds                              {perf_counter() - started:6.0f}")
        store.close()


def fill(store: Store) -> None:
    suite, runs = published() or invented()
    checker = Checker()
    with store.write() as conn:
        save_suite(conn, suite)
        for run in runs:
            save_run(conn, run, checker)


def published() -> tuple[Suite, list[Run]] | None:
    folder = PROJECT.parent / "shared" / "data" / "testsuite" / "de-en"
    if not folder.is_dir():
        print(f"{folder} is not there: the warnings are invented.")
        return None
    names = lines(folder / "wmt21" / "item_ids.txt")
    paths = sorted((folder / "wmt21" / "systems").glob("*.txt"))
    runs = [Run(path.stem, dict(zip(names, lines(path), strict=True))) for path in paths]
    return read_suite(folder / "items.json"), runs


def lines(path: Path) -> list[str]:
    return path.read_text("utf-8").split("\n")[:-1]


def invented() -> tuple[Suite, list[Run]]:
    from tests.suites.store.samples import item

    names = [f"{at:04}" for at in range(600)]
    texts = {
        f"system {system}": {name: f"so {system % (at % 4 + 1)}" for at, name in enumerate(names)}
        for system in range(4)
    }
    return Suite(tuple(map(item, names))), [Run(name, outputs) for name, outputs in texts.items()]


if __name__ == "__main__":
    main()
