"""Items in JSON and JSON Lines, without loss: their fields, and where an error is."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, get_args

from assay.data import DataError
from assay.io.files import (
    SURROGATE,
    FilePath,
    label,
    read_lines,
    read_text,
    suffix,
    write_whole,
)
from assay.registry import did_you_mean
from assay.suites.model import Item, Kind, Polarity, Rule, Suite, rule_id

__all__ = [
    "PATTERNS",
    "PUBLIC",
    "RULE_FIELDS",
    "Placed",
    "checked_id",
    "described",
    "dump_json",
    "fields_of",
    "gather",
    "head_of",
    "item_of",
    "lines_of_list",
    "parse_json",
    "place",
    "public_patterns",
    "read_items_json",
    "read_items_jsonl",
    "rule_of",
    "rules_of",
    "standard_rules",
    "text_of",
    "write_items_json",
    "write_items_jsonl",
]


def read_items_json(path: FilePath) -> Suite:
    """The suite of an items.json: `{"items": [{"id": ..., "langpair": ..., ...}, ...]}`."""
    text = read_text(path)
    whole = parse_json(path, text)
    if not isinstance(whole, dict) or not isinstance(whole.get("items"), list):
        raise DataError(
            f'{label(path)}: the items are missing. Write one object, {{"items": [...]}}.'
        )
    placed = list(_placed(path, whole["items"], lines_of_list(text, "items")))
    extra = {key: value for key, value in whole.items() if key not in ("items", "name")}
    return gather(path, placed, name=name_of(path, whole), extra=extra)


def write_items_json(path: FilePath, suite: Suite) -> None:
    """Write an items.json; `read_items_json` gives the same suite back."""
    items = [fields_of(item) for item in suite.items]
    whole = {**head_of(path, suite), "items": items}
    write_whole(path, dump_json(path, whole, indent=2) + "\n")


def name_of(path: FilePath, head: dict[str, Any]) -> str:
    """The suite's name, "" where it has none."""
    name = head.get("name", "")
    if not isinstance(name, str):
        raise DataError(f"{label(path)}: the suite's 'name' must be a text.")
    try:
        refuse_halves(head)
    except DataError as error:
        raise DataError(f"{label(path)}: {error}") from None
    return name


def head_of(path: FilePath, suite: Suite) -> dict[str, Any]:
    """What a file says of the suite as a whole, where there is something to say."""
    taken = next((key for key in suite.extra if key in ("items", "name")), None)
    if taken is not None:
        raise DataError(f"{path}: a further field cannot be called {taken!r}. Rename it.")
    return ({"name": suite.name} if suite.name else {}) | dict(suite.extra)


def placed_item(path: FilePath, line: int, fields: Any) -> Placed:
    """The item whose fields begin on this line of the file."""
    try:
        if not isinstance(fields, dict):
            raise DataError('not an item; each is one object: {"id": ..., "category": ...}')
        refuse_halves(fields)
        return Placed(line, item_of(fields))
    except DataError as error:
        raise DataError(f"{label(path)}, {place(path, line)}: {error}") from None


def place(path: FilePath, line: int) -> str:
    """Where in a file something stands, in the words of the program that shows the file.

    >>> place("items.tsv", 3), place("sheet.xlsx", 3)
    ('line 3', 'row 3')
    """
    return f"{'row' if suffix(path) in ('.csv', '.xlsx') else 'line'} {line}"


def _placed(path: FilePath, items: list[Any], lines: list[int]) -> Iterator[Placed]:
    for line, fields in zip(lines, items, strict=True):
        yield placed_item(path, line, fields)


def read_items_jsonl(path: FilePath) -> Suite:
    """The suite of a file with one item a line; blank lines are left out.

    The first line may speak of the suite as a whole: `{"suite": {"name": ...}}`.
    """
    values = [
        (number, parse_json(path, line, line=number))
        for number, line in enumerate(read_lines(path), 1)
        if line.strip()
    ]
    head: dict[str, Any] = {}
    if values and _is_head(values[0][1]):
        head = values.pop(0)[1]["suite"]
    placed = [placed_item(path, number, fields) for number, fields in values]
    extra = {key: value for key, value in head.items() if key != "name"}
    return gather(path, placed, name=name_of(path, head), extra=extra)


def write_items_jsonl(path: FilePath, suite: Suite) -> None:
    """Write one item a line; `read_items_jsonl` gives the same suite back."""
    head = head_of(path, suite)
    records = [{"suite": head}] if head else []
    records += [fields_of(item) for item in suite.items]
    write_whole(path, "".join(dump_json(path, record) + "\n" for record in records))


def _is_head(value: Any) -> bool:
    return isinstance(value, dict) and list(value) == ["suite"] and isinstance(value["suite"], dict)


def parse_json(path: FilePath, text: str, *, line: int = 1, cell: str = "") -> Any:
    """The value of a JSON text that begins on this line of a file, perhaps in a cell of a table.

    A key that stands twice in an object, NaN and half characters are errors, since none of them
    would come out again.
    """
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        at = f"line {line + error.lineno - 1}, column {error.colno}" + f" of {cell}" * bool(cell)
        raise DataError(f"{label(path)}, {at}: not JSON ({error.msg}).") from None
    except (DataError, ValueError, RecursionError) as error:
        raise DataError(f"{label(path)}, from line {line}: {error}") from None
    return value


def dump_json(path: FilePath, value: Any, *, indent: int | None = None) -> str:
    """The value as JSON text with its characters as they are."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: a field that JSON cannot hold ({error}).") from None
    return text


def refuse_halves(value: Any) -> None:
    """Raise a `DataError` where a text has half a character."""
    if SURROGATE.search(json.dumps(value, ensure_ascii=False)):
        raise DataError("a text has half a character (a lone surrogate escape). Repair it.")


def lines_of_list(text: str, key: str) -> list[int]:
    """The line where each element begins of the list under a key of the outermost object.

    The text must have gone through `parse_json`.
    """
    decoder = json.JSONDecoder()
    name, at = None, text.index("{")
    while name != key:
        name, at = decoder.raw_decode(text, _after(text, at))
        at = _after(text, at)
        if name != key:
            _, at = decoder.raw_decode(text, at)
            at = _blanks(text, at)
    lines, line, counted = [], 1, 0
    while text[(at := _after(text, at))] != "]":
        line, counted = line + text.count("\n", counted, at), at
        lines.append(line)
        _, at = decoder.raw_decode(text, at)
        at = _blanks(text, at)
        if text[at] == "]":
            break
    return lines


def _after(text: str, at: int) -> int:
    """Where the next value begins, behind a bracket, a colon or a comma."""
    return _blanks(text, _blanks(text, at) + 1)


def _blanks(text: str, at: int) -> int:
    while text[at] in " \t\r\n":
        at += 1
    return at


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        owner = f" of {found['id']!r}" if isinstance(found.get("id"), str) else ""
        raise DataError(f"the key {twice!r}{owner} stands twice in one object. Remove one.")
    return found


def _refuse(constant: str) -> Any:
    raise DataError(f"{constant} is not JSON. Write null for unknown.")


SIGNS: tuple[Polarity, ...] = get_args(Polarity)

PATTERNS = tuple(f"{sign}_{what}" for sign in SIGNS for what in ("regex", "tokens"))
"""The public fields that hold rules."""

RULE_FIELDS = ("id", "polarity", "kind", "text", "author", "time", "provenance")
OPTIONAL = dict.fromkeys(("id", "author", "time", "provenance"), "")
CHOICES = {"polarity": SIGNS, "kind": get_args(Kind)}


def rules_of(item: str, fields: Mapping[str, Any]) -> tuple[Rule, ...]:
    """The rules of an item: `rules` where it is there, else what the public fields stand for."""
    standard = standard_rules(item, fields)
    if "rules" not in fields:
        return standard
    rules = _full_rules(item, fields["rules"])
    for key, value in public_patterns(rules).items():
        if key in fields and fields[key] != value:
            raise DataError(
                f"'rules' and {key!r} disagree. Change both alike, or remove 'rules': it only "
                "adds ids, authors, times and the order."
            )
    return rules


def standard_rules(item: str, fields: Mapping[str, Any]) -> tuple[Rule, ...]:
    """The rules that the public fields stand for; an empty regex is none, an empty token is one."""
    return tuple(rule for sign in SIGNS for rule in _rules_of_sign(item, sign, fields))


def rule_of(fields: Any) -> Rule:
    """The rule of a record; its id is "" where the record has none."""
    if not isinstance(fields, dict):
        raise DataError('not a rule; write {"polarity": ..., "kind": ..., "text": ...}')
    for key in fields:
        if key not in RULE_FIELDS:
            known = ", ".join(RULE_FIELDS)
            raise DataError(f"unknown {key!r}{did_you_mean(key, RULE_FIELDS)}. Rules have {known}.")
    texts = {key: text_of(fields, key, default=OPTIONAL.get(key)) for key in RULE_FIELDS}
    for key, choices in CHOICES.items():
        if texts[key] not in choices:
            hint = did_you_mean(texts[key], choices)
            raise DataError(f"{key!r} is {texts[key]!r}, not {' or '.join(choices)}{hint}.")
    if texts["id"]:
        checked_id("rule", texts["id"])
    return Rule(**texts)  # type: ignore[arg-type]  # the choices were checked above


def public_patterns(rules: Sequence[Rule]) -> dict[str, Any]:
    """The public fields that stand for these rules; several regexes become one."""
    patterns: dict[str, Any] = {}
    for sign in SIGNS:
        own = [rule for rule in rules if rule.polarity == sign]
        patterns[f"{sign}_regex"] = _joined([rule.text for rule in own if rule.kind == "regex"])
        patterns[f"{sign}_tokens"] = [rule.text for rule in own if rule.kind == "fixed"]
    return patterns


def described(rule: Rule) -> dict[str, str]:
    """The fields of a rule without those that are unknown."""
    fields = {key: getattr(rule, key) for key in RULE_FIELDS}
    return {key: text for key, text in fields.items() if text or key == "text"}


def checked_id(what: str, name: str) -> str:
    """The id, which must stand on a line of its own without getting lost."""
    if not name.strip() or name != name.strip() or re.search(r"[\t\r\n]", name):
        raise DataError(
            f"{what} {name!r}: an id is neither empty, nor has it tabs or line breaks inside or "
            "blanks around it. Give it another one."
        )
    return name


def text_of(fields: Mapping[str, Any], key: str, *, default: str | None = None) -> str:
    """A field that holds a text; it must be there where it has no default."""
    value = fields.get(key, default)
    if key not in fields and value is None:
        raise DataError(f"there is no {key!r}; every item and rule needs one.")
    if not isinstance(value, str):
        raise DataError(f"{key!r} is {_shown(value)}, but must be a text.")
    return value


def _rules_of_sign(item: str, sign: Polarity, fields: Mapping[str, Any]) -> Iterator[Rule]:
    regex = text_of(fields, f"{sign}_regex", default="")
    patterns: list[tuple[Kind, str]] = [("regex", regex)] if regex else []
    patterns += [("fixed", token) for token in _texts(fields, f"{sign}_tokens")]
    for number, (kind, text) in enumerate(patterns, 1):
        yield Rule(rule_id(item, sign, number), sign, kind, text)


def _full_rules(item: str, value: Any) -> tuple[Rule, ...]:
    """The rules of a list of records; one without an id gets that of its number."""
    if not isinstance(value, list):
        raise DataError("'rules' must be a list of rules.")
    rules: list[Rule] = []
    signs: Counter[str] = Counter()
    for number, fields in enumerate(value, 1):
        try:
            rule = rule_of(fields)
        except DataError as error:
            raise DataError(f"number {number} of 'rules': {error}") from None
        signs[rule.polarity] += 1
        standard = rule_id(item, rule.polarity, signs[rule.polarity])
        rules.append(rule if rule.id else replace(rule, id=standard))
    return tuple(rules)


def _joined(regexes: Sequence[str]) -> str:
    """One regex that matches where any of these does.

    >>> _joined(["a|b", "c"])
    '(?:a|b)|(?:c)'
    """
    return "|".join(f"(?:{text})" for text in regexes) if len(regexes) > 1 else "".join(regexes)


def _texts(fields: Mapping[str, Any], key: str) -> list[str]:
    value = fields.get(key, [])
    if not isinstance(value, list):
        raise DataError(f"{key!r} is {_shown(value)}, but must be a list of texts.")
    for number, each in enumerate(value, 1):
        if not isinstance(each, str):
            raise DataError(f"number {number} of {key!r} is {_shown(each)}, but must be a text.")
    return value


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:40]


PUBLIC = ("id", "langpair", "category", "phenomenon", "source_sentence", *PATTERNS)
"""The fields that the public items.json has, in the order in which they are written."""


class Placed(NamedTuple):
    """An item, and the line of its file where it begins."""

    line: int
    item: Item


def item_of(fields: Mapping[str, Any]) -> Item:
    """The item that these fields describe; a `DataError` names the item and the field.

    `rules` says more than the public fields can (ids, authors, order) and is preferred, but must
    agree with those of them that are there. Fields that nobody knows are kept in `extra`.
    """
    name = checked_id("item", text_of(fields, "id"))
    try:
        extra = {key: fields[key] for key in fields if key not in (*PUBLIC, "rules")}
        return Item(
            id=name,
            languages=text_of(fields, "langpair", default=""),
            category=text_of(fields, "category"),
            phenomenon=text_of(fields, "phenomenon"),
            source=text_of(fields, "source_sentence"),
            rules=rules_of(name, fields),
            **({"extra": extra} if extra else {}),
        )
    except DataError as error:
        raise DataError(f"item {name}: {error}") from None


def fields_of(item: Item) -> dict[str, Any]:
    """The item's fields, from which `item_of` makes the same item.

    `rules` is among them only where the public fields do not say it all.
    """
    taken = next((key for key in item.extra if key in (*PUBLIC, "rules")), None)
    if taken is not None:
        raise DataError(f"item {item.id}: a further field cannot be called {taken!r}. Rename it.")
    for what, name in [("item", item.id), *(("rule", rule.id) for rule in item.rules)]:
        checked_id(what, name)
    public = {
        "id": item.id,
        "langpair": item.languages,
        "category": item.category,
        "phenomenon": item.phenomenon,
        "source_sentence": item.source,
        **public_patterns(item.rules),
    }
    if standard_rules(item.id, public) != item.rules:
        public["rules"] = [described(rule) for rule in item.rules]
    return public | dict(item.extra)


def gather(
    path: FilePath, placed: Sequence[Placed], *, name: str = "", extra: Mapping[str, Any]
) -> Suite:
    """The suite of these items of a file; an id that stands twice is an error with both lines."""
    if not placed:
        raise DataError(f"{label(path)} has no items. A suite needs at least one.")
    _refuse_twice(path, "item", ((entry.item.id, entry.line) for entry in placed))
    rules = ((rule.id, entry.line) for entry in placed for rule in entry.item.rules)
    _refuse_twice(path, "rule", rules)
    return Suite(tuple(entry.item for entry in placed), name, **({"extra": extra} if extra else {}))


def _refuse_twice(path: FilePath, what: str, places: Iterator[tuple[str, int]]) -> None:
    seen: dict[str, int] = {}
    for name, line in places:
        if name in seen:
            raise DataError(
                f"{label(path)}, {place(path, line)}: {what} {name} stands on "
                f"{place(path, seen[name])} already; every {what} needs its own id."
            )
        seen[name] = line
