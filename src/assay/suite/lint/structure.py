"""Checks of the suite as a whole: what it is made of, and how much of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from assay.suite.lint.names import name_problems
from assay.suite.lint.problems import Problem, quoted
from assay.suite.model import Item, Suite

__all__ = ["ENOUGH", "structure_problems"]

ENOUGH = 20
"""Items that a phenomenon needs (Avramidis et al., 2020)."""

NAMED = 3
"""Items of a group that are named."""


def structure_problems(suite: Suite) -> Iterator[Problem]:
    """What is wrong with the items, their rules aside, and with the suite as a whole."""
    yield from _incomplete(suite)
    yield from _languages(suite)
    yield from name_problems(suite)
    yield from _two_categories(suite)
    yield from _same_source(suite)
    yield from _few_items(suite)


def _incomplete(suite: Suite) -> Iterator[Problem]:
    for item in suite.items:
        if not item.source.strip():
            yield Problem("error", "no-source", "the source is empty", item.id)
        for what, name in (("category", item.category), ("phenomenon", item.phenomenon)):
            if not name.strip():
                yield Problem("error", "no-name", f"the {what} has no name", item.id)


def _languages(suite: Suite) -> Iterator[Problem]:
    pairs = Counter(item.languages for item in suite.items)
    if len(pairs) > 1:
        counts = ", ".join(f"{pair!r} ({number})" for pair, number in pairs.most_common())
        yield Problem(
            "warning", "languages", f"the items are of different language pairs: {counts}"
        )


def _two_categories(suite: Suite) -> Iterator[Problem]:
    places: dict[str, Counter[str]] = defaultdict(Counter)
    for item in suite.items:
        places[item.phenomenon][item.category] += 1
    for phenomenon, categories in places.items():
        if len(categories) > 1:
            counts = ", ".join(f"{name!r} ({number})" for name, number in categories.most_common())
            yield Problem("warning", "two-categories", f"{phenomenon!r} stands in {counts}")


def _same_source(suite: Suite) -> Iterator[Problem]:
    """Within a phenomenon, one problem per item; across, one per pair of phenomena."""
    first: dict[str, Item] = {}
    across: dict[tuple[str, str], list[str]] = defaultdict(list)
    for item in suite.items:
        earlier = first.setdefault(" ".join(item.source.split()), item)
        if earlier is item or not item.source.strip():
            continue
        if earlier.phenomenon == item.phenomenon:
            told = f"{quoted(item.source)} is the source of item {earlier.id}, too"
            yield Problem("warning", "same-source", told, item.id)
        else:
            across[earlier.phenomenon, item.phenomenon].append(f"{earlier.id} = {item.id}")
    yield from (_shared(*names, items) for names, items in across.items())


def _shared(one: str, other: str, items: list[str]) -> Problem:
    more = f" and {len(items) - NAMED} more" if len(items) > NAMED else ""
    sources = "a source" if len(items) == 1 else f"{len(items)} sources"
    told = f"{one!r} and {other!r} share {sources}: {', '.join(items[:NAMED])}{more}"
    return Problem("info", "same-source", told)


def _few_items(suite: Suite) -> Iterator[Problem]:
    sizes = Counter((item.category, item.phenomenon) for item in suite.items)
    for (category, phenomenon), number in sorted(sizes.items(), key=lambda pair: pair[1]):
        if number < ENOUGH:
            items = "1 item" if number == 1 else f"{number} items"
            told = f"{phenomenon!r} ({category}) has {items}, fewer than {ENOUGH}"
            yield Problem("warning", "few-items", told)
