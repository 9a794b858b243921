"""Common words: those of many items, which tell no output of one item from another."""

from __future__ import annotations

from collections import Counter
from typing import Any
from weakref import WeakKeyDictionary

import regex
from sqlalchemy import Connection, Engine, func, select

from assay.suites.store.tables import outputs, plain_rows

__all__ = ["WORD", "common_words", "is_common"]

WORD = regex.compile(r"\w+(?:['’\-]\w+)*")
"""A word as it stands in an output."""

SHARE, FEWEST = 0.005, 5
"""A word is common in outputs of more than this share of items, and more than so many."""

LOOKED_AT = 5000
"""Items of which an output is looked at."""


def common_words(connection: Connection) -> frozenset[str]:
    """The words, in lower case, that stand in the outputs of many items: articles, names, "have".

    No list of a language's words is needed. A suite of a few items has none.
    """
    kept = _KEPT.setdefault(connection.engine, {})
    stamp = connection.execute(select(func.max(outputs.c.id))).scalar()
    found = kept.get(stamp)
    if found is None:
        found = _common(connection)
        kept.clear()
        kept[stamp] = found
    return found


def is_common(string: str, common: frozenset[str]) -> bool:
    """Whether all words of a string are common.

    >>> is_common("He has", frozenset({"he", "has"})), is_common("he ran", frozenset({"he"}))
    (True, False)
    """
    return all(word.casefold() in common for word in WORD.findall(string))


_KEPT: WeakKeyDictionary[Engine, dict[Any, frozenset[str]]] = WeakKeyDictionary()


def _common(connection: Connection) -> frozenset[str]:
    """One output of an item is enough to tell."""
    first = select(func.min(outputs.c.id)).where(outputs.c.text != "").group_by(outputs.c.item_id)
    asked = select(outputs.c.text).where(outputs.c.id.in_(first.limit(LOOKED_AT)))
    texts = [text for (text,) in plain_rows(connection, asked)]
    found = Counter(
        word for text in texts for word in {word.casefold() for word in WORD.findall(text)}
    )
    return frozenset(
        word for word, count in found.items() if count > max(FEWEST, SHARE * len(texts))
    )
