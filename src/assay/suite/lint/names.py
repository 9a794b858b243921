"""Names of categories and phenomena that look like two spellings of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations

import regex

from assay.suite.lint.problems import Problem
from assay.suite.lint.taxonomy import TAXONOMY
from assay.suite.model import Suite

__all__ = ["alike", "name_problems"]

SHORTEST = 5
"""Letters of a word in which a slip can be told from another word: I and II are two tenses."""

LONG = 9
"""Letters of a word that may have two slips."""


def name_problems(suite: Suite) -> Iterator[Problem]:
    """Names that are nearly another of the suite, or nearly one of the published suite."""
    categories = Counter(item.category for item in suite.items if item.category)
    phenomena = Counter(item.phenomenon for item in suite.items if item.phenomenon)
    published = [each for phenomena in TAXONOMY.values() for each in phenomena]
    yield from _problems("category", categories, TAXONOMY)
    yield from _problems("phenomenon", phenomena, published)


def alike(one: str, other: str) -> bool:
    """Whether two different names look like one: but for case, plural and signs, or a slip.

    >>> alike("Named entitiy", "Named entity"), alike("Subject clause", "Object clause")
    (True, False)
    """
    mine, yours = _words(one), _words(other)
    if "".join(mine) == "".join(yours):
        return one != other
    differing = [pair for pair in zip(mine, yours, strict=False) if pair[0] != pair[1]]
    return len(mine) == len(yours) and len(differing) == 1 and _slip(*differing[0])


def _problems(kind: str, names: Counter[str], published: Iterable[str]) -> Iterator[Problem]:
    for one, other in combinations(names, 2):
        if alike(one, other):
            rare, usual = sorted((one, other), key=lambda name: names[name])
            yield Problem(
                "warning",
                "similar-names",
                f"{kind} {rare!r} ({_items(names[rare])}) looks like {usual!r} "
                f"({_items(names[usual])})",
            )
    known = set(published)
    for name in names:
        near = next((each for each in published if alike(name, each)), None)
        if near and near not in names and name not in known:
            told = f"{kind} {name!r} ({_items(names[name])}) is {near!r} in the published suite"
            yield Problem("warning", "similar-names", told)


def _words(name: str) -> list[str]:
    """The words of a name without signs, case and plural; "and" is a sign."""
    words = regex.findall(r"[^\W_]+", name.casefold())
    return [_singular(word) for word in words if word != "and"]


def _singular(word: str) -> str:
    return word.removesuffix("s") if len(word) >= SHORTEST and not word.endswith("ss") else word


def _slip(one: str, other: str) -> bool:
    """Whether one word is the other misspelt; slips seldom hit the first letter."""
    longer = max(len(one), len(other))
    if one[0] != other[0] or min(len(one), len(other)) < SHORTEST - 1 or longer < SHORTEST:
        return False
    return _distance(one, other) <= (2 if longer >= LONG else 1)


def _distance(one: str, other: str) -> int:
    """Letters to add, drop, change or swap."""
    rows = [list(range(len(other) + 1))]
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            least = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (a != b))
            if i > 1 and j > 1 and (a, b) == (other[j - 2], one[i - 2]):
                least = min(least, rows[-2][j - 2] + 1)
            row.append(least)
        rows.append(row)
    return rows[-1][-1]


def _items(number: int) -> str:
    return "1 item" if number == 1 else f"{number} items"
