"""What a test suite is made of: items, their rules, and what systems made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, get_args

from assay.data import DataError

__all__ = ["Item", "Kind", "Polarity", "Rule", "Run", "Suite", "rule_id"]

Polarity = Literal["positive", "negative"]
"""Whether a rule that matches speaks for an output or against it."""

Kind = Literal["regex", "fixed"]
"""A regular expression that is searched, or a string that stands somewhere in the output."""

_POLARITIES, _KINDS = get_args(Polarity), get_args(Kind)

NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Rule:
    """One pattern of one item.

    `id` is unique in its suite and stays with the rule. `author`, `time` (ISO 8601) and
    `provenance` say where it came from, as far as that is known.
    """

    id: str
    polarity: Polarity
    kind: Kind
    text: str
    author: str = ""
    time: str = ""
    provenance: str = ""

    def __post_init__(self) -> None:
        if self.polarity not in _POLARITIES:
            raise DataError(f"rule {self.id}: {self.polarity!r} is neither positive nor negative.")
        if self.kind not in _KINDS:
            raise DataError(f"rule {self.id}: {self.kind!r} is neither regex nor fixed.")

    @property
    def content(self) -> tuple[Polarity, Kind, str]:
        """What the rule says, whatever it is called and whoever wrote it."""
        return self.polarity, self.kind, self.text


def rule_id(item: str, polarity: Polarity, number: int) -> str:
    """The name of an item's rule: the item, + or -, and the number among those of its sign.

    >>> rule_id("00001001", "negative", 2)
    '00001001-2'
    """
    return f"{item}{'+' if polarity == 'positive' else '-'}{number}"


@dataclass(frozen=True)
class Item:
    """A sentence to translate, the phenomenon that it tests, and the rules for translations.

    `languages` is the language pair as its author wrote it ("deen", "de-en"). `extra` keeps what
    else its file says of it, so that nothing is lost on the way through.
    """

    id: str
    languages: str
    category: str
    phenomenon: str
    source: str
    rules: tuple[Rule, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=lambda: NOTHING)

    @property
    def retired(self) -> bool:
        """Whether the item is left out of checks, queues and reports; nothing of it is lost."""
        return self.extra.get("retired") is True

    def texts(self, polarity: Polarity, kind: Kind) -> list[str]:
        """The patterns of one polarity and kind, in order."""
        return [rule.text for rule in self.rules if (rule.polarity, rule.kind) == (polarity, kind)]


@dataclass(frozen=True)
class Suite:
    """Items in order, each with its own id; `name` is for people."""

    items: tuple[Item, ...]
    name: str = ""
    extra: Mapping[str, Any] = field(default_factory=lambda: NOTHING)

    def __post_init__(self) -> None:
        _refuse_twice("item", [item.id for item in self.items])
        _refuse_twice("rule", [rule.id for item in self.items for rule in item.rules])

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def by_id(self) -> Mapping[str, Item]:
        """The items by their ids."""
        return {item.id: item for item in self.items}


@dataclass(frozen=True)
class Run:
    """What one system made of a suite: `outputs` by the ids of the items.

    `campaign` names the occasion ("wmt21"), `date` is ISO 8601; a system runs once a campaign.
    """

    system: str
    outputs: Mapping[str, str]
    campaign: str = ""
    date: str = ""


def _refuse_twice(what: str, ids: list[str]) -> None:
    if len(set(ids)) < len(ids):
        twice = next(name for name in ids if ids.count(name) > 1)
        raise DataError(f"{what} {twice} stands twice in the suite; every {what} needs its own id.")
