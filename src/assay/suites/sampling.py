"""Items drawn from a suite to be translated among other sentences, and taken back."""

from __future__ import annotations

import contextlib
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.random import Generator

from assay.data import DataError
from assay.io.files import (
    FilePath,
    joined_lines,
    label,
    read_lines,
    suffix,
    write_all,
    write_lines,
)
from assay.io.tables import TextTable, read_table, whole_number, write_table
from assay.registry import SEED, did_you_mean
from assay.suites.model import Item, Suite

__all__ = [
    "COLUMNS",
    "IDS",
    "KeyLine",
    "Per",
    "Sample",
    "SampledGroup",
    "SampledText",
    "collect_suite",
    "draw",
    "items_in",
    "mix",
    "read_key",
    "read_translations",
    "sample_suite",
    "write_collected",
    "write_key",
    "write_sample",
]


@dataclass(frozen=True)
class SampledText:
    """A text to translate: its lines, and the key that finds the items in it again.

    `groups` are the categories or phenomena that the items were drawn from.
    """

    key: tuple[KeyLine, ...]
    groups: tuple[SampledGroup, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """The sentences, one per line of the text."""
        return tuple(line.source for line in self.key)

    @property
    def items(self) -> int:
        """How many of the lines are items."""
        return len(items_in(self.key))


def sample_suite(
    suite: Suite,
    *,
    count: int | None = None,
    per: Per = "phenomenon",
    only: Sequence[str] = (),
    distractors: Sequence[str] = (),
    ratio: int = 2,
    like_length: bool = True,
    seed: int = SEED,
) -> SampledText:
    """A text for systems to translate: items of a suite, hidden among ordinary sentences.

    - `suite`: the items, as from `read_suite`.
    - `count`: how many items of each group to draw (default: all).
    - `per`: what a group is: "phenomenon" or "category".
    - `only`: draw from these categories and phenomena only (default: from all).
    - `distractors`: other sentences of the source language. The items are shuffled among them,
      so that nobody can tell what is tested; without any, the items keep their order.
    - `ratio`: how many distractors there are for every item.
    - `like_length`: whether each item gets distractors about as long as itself, so that items do
      not stick out (see `mix`); else they are drawn at random.
    - `seed`: the random seed.

    >>> from assay.demo import read_demo_suite
    >>> text = sample_suite(read_demo_suite().suite, count=1, only=["Negation", "Idiom"])
    >>> [(line.line, line.item) for line in text.key]
    [(1, 'idi5'), (2, 'neg2')]
    >>> text.lines[1]
    'Keiner der Gäste hat sich über das Essen beschwert.'
    """
    rng = np.random.default_rng(seed)
    sample = draw(suite, count=count, per=per, only=only, rng=rng)
    key = mix(sample.items, distractors, ratio=ratio, like_length=like_length, rng=rng)
    return SampledText(key, sample.groups)


def collect_suite(
    key: SampledText | Sequence[KeyLine],
    translations: Mapping[str, Sequence[str] | FilePath],
) -> dict[str, dict[str, str]]:
    """The outputs of systems by the ids of the items, taken out of the translated text.

    `run_suite` takes what comes out.

    - `key`: which line of the text is which item, as from `sample_suite` or `read_key`.
    - `translations`: by system, the translation of every line of the text, in order; or the
      path of a file that has them, or of a .tsv in any order with a column `line` or `source`.

    >>> from assay.demo import read_demo_suite
    >>> text = sample_suite(read_demo_suite().suite, count=1, only=["Negation", "Idiom"])
    >>> outputs = collect_suite(text, {"loud": [line.upper() for line in text.lines]})
    >>> outputs["loud"]["neg2"]
    'KEINER DER GÄSTE HAT SICH ÜBER DAS ESSEN BESCHWERT.'
    """
    lines = key.key if isinstance(key, SampledText) else key
    ids = [line.item for line in items_in(lines)]
    return {
        system: dict(zip(ids, _translations(system, given, lines), strict=True))
        for system, given in translations.items()
    }


def _translations(
    system: str, given: Sequence[str] | FilePath, key: Sequence[KeyLine]
) -> tuple[str, ...]:
    if isinstance(given, str | Path):
        return read_translations(given, key)
    if len(given) != len(key):
        raise DataError(
            f"{system}: {len(given)} lines, but the text has {len(key)}. Give the translation of "
            "every line, in order."
        )
    return tuple(given[line.line - 1] for line in items_in(key))


COLUMNS = ("line", "item", "source")


class KeyLine(NamedTuple):
    """A line of the text, counting from 1; `item` is "" where it only distracts."""

    line: int
    item: str
    source: str


def items_in(key: Sequence[KeyLine]) -> list[KeyLine]:
    """The lines that are items."""
    return [line for line in key if line.item]


def write_key(path: FilePath, key: Sequence[KeyLine]) -> None:
    """Write a key as a table; `read_key` gives it back."""
    write_table(path, COLUMNS, [(str(line), item, source) for line, item, source in key])


def write_sample(text: SampledText, path: FilePath, key: FilePath) -> None:
    """Write the text and its key, both or none; a key of another text is not overwritten."""
    known = Path(key).exists()
    if known and not _is_key_of(key, text):
        raise DataError(
            f"{key} is there already, of another text, whose translations need it. Name another "
            "file, or remove it."
        )
    if not known:
        write_key(key, text.key)
    try:
        write_lines(text.lines, path)
    except BaseException:
        if not known:
            Path(key).unlink(missing_ok=True)
        raise


def _is_key_of(path: FilePath, text: SampledText) -> bool:
    with contextlib.suppress(DataError):
        return read_key(path) == text.key
    return False


def read_key(path: FilePath) -> tuple[KeyLine, ...]:
    """The lines of a key, in order; every line from the first to the last must be there once."""
    table = read_table(path)
    columns = (table.column(name) for name in COLUMNS)
    lines: dict[int, int] = {}
    items: dict[str, int] = {}
    key = []
    for row, number, item, source in zip(table.rows, *columns, strict=True):
        line = whole_number(path, row.line, number.strip())
        _refuse_twice(path, row.line, f"line {line}", lines.setdefault(line, row.line))
        if item.strip():
            first = items.setdefault(item.strip(), row.line)
            _refuse_twice(path, row.line, f"item {item.strip()}", first)
        key.append(KeyLine(line, item.strip(), source))
    missing = next((line for line in range(1, len(key) + 1) if line not in lines), None)
    if missing is not None:
        raise DataError(f"{label(path)}: line {missing} of the text is missing from this key.")
    if not items:
        raise DataError(f"{label(path)}: no line is an item. Is it a key of assay suite sample?")
    return tuple(sorted(key))


def _refuse_twice(path: FilePath, line: int, what: str, first: int) -> None:
    if first != line:
        raise DataError(
            f"{label(path)}, line {line}: {what} stands on line {first} of this key already. "
            "Use the key as assay suite sample wrote it."
        )


Per = Literal["category", "phenomenon"]

_BREAK = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
"""Where some program ends a line or a cell."""


@dataclass(frozen=True)
class SampledGroup:
    """A category or phenomenon, how many items it has, and how many of them were drawn."""

    name: str
    items: int
    drawn: int


@dataclass(frozen=True)
class Sample:
    """The items that were drawn, in the order of the suite, and what they were drawn from."""

    items: tuple[Item, ...]
    groups: tuple[SampledGroup, ...]


def draw(
    suite: Suite,
    *,
    count: int | None = None,
    per: Per = "phenomenon",
    only: Sequence[str] = (),
    rng: Generator,
) -> Sample:
    """`count` items of every category or phenomenon, or all that it has, or None for all.

    `only` names the categories and phenomena to draw from. Retired items are never drawn.
    """
    groups: dict[tuple[str, ...], list[int]] = {}
    for at, item in enumerate(suite.items):
        wanted = not only or item.category in only or item.phenomenon in only
        if wanted and not item.retired:
            groups.setdefault(_group(item, per), []).append(at)
    _check_only(suite, only)
    chosen: list[int] = []
    told = []
    for name, places in groups.items():
        size = len(places) if count is None else min(count, len(places))
        chosen += rng.choice(places, size, replace=False).tolist()
        told.append(SampledGroup(name[-1], len(places), size))
    return Sample(tuple(suite.items[at] for at in sorted(chosen)), tuple(told))


BAND = 0.1
"""How far the length of a distractor may be from its item's, as a share of it."""


def mix(
    items: Sequence[Item],
    sentences: Sequence[str] = (),
    *,
    ratio: int = 2,
    like_length: bool = True,
    rng: Generator,
) -> tuple[KeyLine, ...]:
    """The lines to translate: the items, shuffled into `ratio` times as many other sentences.

    With `like_length` the items take turns, in random order: each gets `ratio` of the sentences
    left, at random among those that have at most 10 % more or fewer characters than it has, or
    those nearest in length where they are too few. Else all are drawn at random. Without
    sentences the items keep their order. Blank sentences, those that stand twice and those that
    are an item's source are not used. Every source fits on a line: breaks and tabs inside are
    blanks.
    """
    lines = [(item.id, _source(item)) for item in items]
    if sentences:
        used = {source for _, source in lines}
        usable = dict.fromkeys(map(_on_one_line, sentences))
        others = [sentence for sentence in usable if sentence and sentence not in used]
        wanted = ratio * len(items)
        if len(others) < wanted:
            raise DataError(
                f"{wanted} sentences are needed to distract from {len(items)} items, but only "
                f"{len(others)} can be used. Give more sentences, draw fewer items, or "
                "lower the ratio."
            )
        if like_length:
            chosen = _of_like_length([source for _, source in lines], others, ratio, rng)
        else:
            chosen = [others[at] for at in rng.choice(len(others), wanted, replace=False)]
        lines += [("", sentence) for sentence in chosen]
        lines = [lines[at] for at in rng.permutation(len(lines))]
    return tuple(KeyLine(number, *line) for number, line in enumerate(lines, 1))


def _of_like_length(
    sources: Sequence[str], sentences: Sequence[str], ratio: int, rng: Generator
) -> list[str]:
    """`ratio` sentences for every source, each used once."""
    left = sorted(sentences, key=len)
    lengths = [len(sentence) for sentence in left]
    chosen = []
    for at in rng.permutation(len(sources)):
        start, end = _nearest(lengths, len(sources[at]), ratio)
        # From the last place to the first, so that those before keep theirs.
        for place in sorted(rng.choice(np.arange(start, end), ratio, replace=False))[::-1]:
            chosen.append(left.pop(place))
            lengths.pop(place)
    return chosen


def _nearest(lengths: Sequence[int], length: int, wanted: int) -> tuple[int, int]:
    """The places of the lengths in the band around a length, or else of the nearest ones."""
    start = bisect_left(lengths, length - BAND * length)
    end = bisect_right(lengths, length + BAND * length)
    while end - start < wanted:
        below = length - lengths[start - 1] if start else math.inf
        above = lengths[end] - length if end < len(lengths) else math.inf
        start, end = (start - 1, end) if below <= above else (start, end + 1)
    return start, end


def _group(item: Item, per: Per) -> tuple[str, ...]:
    return (item.category,) if per == "category" else (item.category, item.phenomenon)


def _check_only(suite: Suite, only: Sequence[str]) -> None:
    known = {name for item in suite.items for name in (item.category, item.phenomenon)}
    for name in only:
        if name not in known:
            hint = did_you_mean(name, sorted(known))
            raise DataError(f"the suite has neither category nor phenomenon {name!r}{hint}.")


def _source(item: Item) -> str:
    source = _on_one_line(item.source)
    if not source:
        raise DataError(f"item {item.id} has no source to translate. Give it one, or remove it.")
    return source


def _on_one_line(text: str) -> str:
    parts = (part.strip(" ") for part in _BREAK.split(text))
    return " ".join(filter(None, parts)).strip()


IDS = "item_ids.txt"


def read_translations(path: FilePath, key: Sequence[KeyLine]) -> tuple[str, ...]:
    """The translations of the key's items, in the key's order.

    A plain file has one translation per line of the text. A .tsv has any order and says in a
    column `line` or `source` what each row translates; only the items must be there. A source
    that stands on several lines of the text needs one row, or as many as it has lines.
    """
    found = _from_table(path, key) if suffix(path) == ".tsv" else _from_lines(path, key)
    # A second carriage return at the end of a line is some editor's, not the translation's.
    return tuple(found[item.line].rstrip("\r") for item in items_in(key))


def write_collected(folder: FilePath, outputs: Mapping[str, Mapping[str, str]]) -> list[Path]:
    """Write the ids of the items and a file per system, all or none; what files there are now.

    `outputs` are those of `collect_suite`. A folder may hold other systems already, of the same
    items; nothing there is overwritten.
    """
    home, ids = Path(folder), tuple(next(iter(outputs.values()), {}))
    files: dict[Path, Sequence[str]] = {}
    if not _same_ids(home / IDS, ids):
        files[home / IDS] = ids
    for system, texts in outputs.items():
        files[home / f"{_file_name(system)}.txt"] = [*texts.values()]
    for path in files:
        if path.exists():
            raise DataError(f"{path} is there already and is not overwritten. Name another folder.")
    return write_all(home, {path.name: joined_lines(lines, path) for path, lines in files.items()})


def _from_lines(path: FilePath, key: Sequence[KeyLine]) -> dict[int, str]:
    lines = read_lines(path)
    if len(lines) != len(key):
        raise DataError(
            f"{label(path)}: {len(lines)} lines, but the key has {len(key)}. Give the translation "
            "of every line of the text, or a .tsv that says which line or source each one is."
        )
    return dict(enumerate(lines, 1))


def _from_table(path: FilePath, key: Sequence[KeyLine]) -> dict[int, str]:
    table = read_table(path)
    translations = table.column("translation", "output", "mt", "target")
    if table.find("line") is not None:
        found = _by_line(table, translations, key)
    elif table.find("source", "src") is not None:
        found = _by_source(table, translations, key)
    else:
        raise DataError(
            f"{label(path)}, line 1: no column is called line or source, so nobody knows what "
            "each row translates. Name the columns."
        )
    for item in items_in(key):
        if item.line not in found:
            raise DataError(
                f"{label(path)}: line {item.line} of the text, {item.source[:60]!r}, has no "
                "translation. Every item needs one, even if it is empty."
            )
    return found


def _by_line(table: TextTable, texts: Sequence[str], key: Sequence[KeyLine]) -> dict[int, str]:
    column = table.find("source", "src")
    seen: dict[int, int] = {}
    found = {}
    for row, number, text in zip(table.rows, table.column("line"), texts, strict=True):
        where = f"{label(table.path)}, line {row.line}"
        line = whole_number(table.path, row.line, number.strip())
        if line > len(key):
            raise DataError(f"{where}: the text has no line {line}; the key has {len(key)}.")
        if seen.setdefault(line, row.line) != row.line:
            raise DataError(f"{where}: line {line} is on line {seen[line]} already. Remove one.")
        if column is not None and _plain(row.cells[column]) != _plain(key[line - 1].source):
            raise DataError(
                f"{where}: this is not line {line} of the text, which the key says is "
                f"{key[line - 1].source[:60]!r}. Are the lines of another text?"
            )
        found[line] = text
    return found


def _by_source(table: TextTable, texts: Sequence[str], key: Sequence[KeyLine]) -> dict[int, str]:
    lines: dict[str, list[int]] = {}
    for line in key:
        lines.setdefault(_plain(line.source), []).append(line.line)
    given: dict[str, list[tuple[int, str]]] = {}
    for row, source, text in zip(table.rows, table.column("source", "src"), texts, strict=True):
        if (plain := _plain(source)) not in lines:
            hint = did_you_mean(plain, lines)
            raise DataError(
                f"{label(table.path)}, line {row.line}: the text has no line "
                f"{plain[:60]!r}{hint}. Leave the sources as they went out."
            )
        given.setdefault(plain, []).append((row.line, text))
    found: dict[int, str] = {}
    for source, rows in given.items():
        found |= _shared_out(table.path, source, rows, lines[source])
    return found


def _shared_out(
    path: FilePath, source: str, rows: Sequence[tuple[int, str]], lines: Sequence[int]
) -> dict[int, str]:
    """The translations of a source by the lines where it stands, in order, or one for all."""
    if len(rows) not in (1, len(lines)):
        places = " and ".join(str(line) for line, _ in rows[:2])
        times = "once" if len(lines) == 1 else f"{len(lines)} times"
        raise DataError(
            f"{label(path)}: {source[:60]!r} is translated on lines {places}, but stands {times} "
            "in the text. Remove those too many."
        )
    texts = [text for _, text in rows] if len(rows) > 1 else [rows[0][1]] * len(lines)
    return dict(zip(lines, texts, strict=True))


def _plain(text: str) -> str:
    """A source as it is compared: editors and spreadsheets change blanks."""
    return " ".join(text.split())


def _same_ids(path: Path, ids: Sequence[str]) -> bool:
    if not path.exists():
        return False
    if read_lines(path) != tuple(ids):
        raise DataError(f"{path} has the items of another key. Name another folder.")
    return True


def _file_name(system: str) -> str:
    if system.startswith(".") or re.search(r"[/\\:\x00-\x1f\x7f]", system):
        raise DataError(f"the system's name {system!r} cannot be a file's. Give it another.")
    if f"{system.lower()}.txt" == IDS:
        raise DataError(f"a system cannot be called {system!r}: {IDS} holds the ids.")
    return system
