"""Small matrices of verdicts, written as letters."""

from collections.abc import Sequence

import numpy as np

from assay.suites.check import FAIL, NOT_TESTED, PASS, WARNING, Verdicts
from assay.suites.model import Item

LETTERS = {"p": PASS, "f": FAIL, "w": WARNING, "-": NOT_TESTED}


def verdicts(rows: dict[str, str], groups: Sequence[str] = ()) -> Verdicts:
    """One string of p, f, w and - per system; groups are "category/phenomenon" per item."""
    length = len(next(iter(rows.values()), ""))
    places = [each.split("/") for each in groups or ["C/P"] * length]
    items = tuple(Item(f"i{at}", "deen", *place, f"s{at}") for at, place in enumerate(places))
    return Verdicts(
        systems=tuple(rows),
        items=items,
        codes=np.array([LETTERS[each] for row in rows.values() for each in row], np.int8).reshape(
            len(rows), length
        ),
        by=[[None] * length for _ in rows],
        outputs=[[f"{name} {at}" for at in range(length)] for name in rows],
    )


def random_verdicts(rng, systems=4, items=150, letters="pppffw-", categories=4, phenomena=3):
    """Verdicts of systems that are unlike, on categories of very unlike sizes."""
    places = [
        f"C{int(c**1.5)}/C{int(c**1.5)}P{rng.integers(phenomena)}"
        for c in rng.uniform(0, (categories - 0.01) ** (2 / 3), items)
    ]
    skill = rng.uniform(-0.25, 0.25, systems)
    rows = {}
    for at in range(systems):
        chances = np.array([1.0 + skill[at] if each == "p" else 1.0 for each in letters])
        rows[f"S{at}"] = "".join(rng.choice([*letters], items, p=chances / chances.sum()))
    return verdicts(rows, places)
