"""Items drawn from a suite, and mixed with other sentences, to be translated."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from numpy.random import Generator

from assay.data import DataError
from assay.settings import nearest
from assay.suite.building.key import KeyLine
from assay.suite.model import Item, Suite

__all__ = ["Group", "Per", "Sample", "draw", "mix"]

Per = Literal["category", "phenomenon"]

_BREAKS = re.compile(r"[ \t]*[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+[ \t]*")
"""Where some program ends a line or a cell, and the blanks around."""


@dataclass(frozen=True)
class Group:
    """A category or phenomenon, how many items it has, and how many of them were drawn."""

    name: str
    items: int
    drawn: int


@dataclass(frozen=True)
class Sample:
    """The items that were drawn, in the order of the suite, and what they were drawn from."""

    items: tuple[Item, ...]
    groups: tuple[Group, ...]


def draw(
    suite: Suite,
    *,
    count: int | None = None,
    per: Per = "phenomenon",
    only: Sequence[str] = (),
    rng: Generator,
) -> Sample:
    """`count` items of every category or phenomenon, or all that it has, or None for all.

    `only` names the categories and phenomena to draw from.
    """
    groups: dict[tuple[str, ...], list[int]] = {}
    for at, item in enumerate(suite.items):
        if not only or item.category in only or item.phenomenon in only:
            groups.setdefault(_group(item, per), []).append(at)
    _check_only(suite, only)
    chosen: list[int] = []
    told = []
    for name, places in groups.items():
        size = len(places) if count is None else min(count, len(places))
        chosen += rng.choice(places, size, replace=False).tolist()
        told.append(Group(name[-1], len(places), size))
    return Sample(tuple(suite.items[at] for at in sorted(chosen)), tuple(told))


def mix(
    items: Sequence[Item], sentences: Sequence[str] = (), *, ratio: int = 2, rng: Generator
) -> tuple[KeyLine, ...]:
    """The lines to translate: the items, shuffled into `ratio` times as many other sentences.

    Without sentences the items keep their order. Blank sentences, those that stand twice and
    those that are an item's source are not used. Every source fits on a line: breaks and tabs
    inside are blanks.
    """
    lines = [(item.id, _source(item)) for item in items]
    if sentences:
        used = {source for _, source in lines}
        others = [each for each in dict.fromkeys(map(_on_one_line, sentences)) if each]
        others = [each for each in others if each not in used]
        wanted = ratio * len(items)
        if len(others) < wanted:
            raise DataError(
                f"{wanted} sentences are needed to distract from {len(items)} items, but only "
                f"{len(others)} can be used. Give more sentences, draw fewer items, or lower "
                "--ratio."
            )
        places = rng.choice(len(others), wanted, replace=False)
        lines += [("", others[at]) for at in places]
        lines = [lines[at] for at in rng.permutation(len(lines))]
    return tuple(KeyLine(number, *line) for number, line in enumerate(lines, 1))


def _group(item: Item, per: Per) -> tuple[str, ...]:
    return (item.category,) if per == "category" else (item.category, item.phenomenon)


def _check_only(suite: Suite, only: Sequence[str]) -> None:
    known = {name for item in suite.items for name in (item.category, item.phenomenon)}
    for name in only:
        if name not in known:
            hint = nearest(name, sorted(known))
            raise DataError(f"the suite has neither category nor phenomenon {name!r}{hint}.")


def _source(item: Item) -> str:
    source = _on_one_line(item.source)
    if not source:
        raise DataError(f"item {item.id} has no source to translate. Give it one, or remove it.")
    return source


def _on_one_line(text: str) -> str:
    return _BREAKS.sub(" ", text).strip()
