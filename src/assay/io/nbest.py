"""N-best lists: several candidates for each segment, from one file or from a file per system."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple

from assay.data import DataError
from assay.io.files import FilePath, label, read_lines

__all__ = ["NBest", "read_nbest"]

_MOSES = re.compile(r"\s*(\d+)\s*\|\|\|\s?(.*)")
_HEADER = ("segment", "candidate", "weight")


class NBest(NamedTuple):
    """The candidates of each segment, and their weights where the file has any."""

    candidates: tuple[tuple[str, ...], ...]
    weights: tuple[tuple[float, ...], ...] = ()


class _Entry(NamedTuple):
    """A candidate, the segment that it is for, and where it stands."""

    segment: str
    text: str
    weight: float
    line: int


def read_nbest(paths: Sequence[FilePath], *, per_segment: int | None = None) -> NBest:
    r"""The candidates of each segment.

    Several files have one candidate per line, each file one for every segment. One file is

    - Moses's list, as Marian writes it, too: `0 ||| a candidate ||| scores ||| score`;
    - a table of `segment<TAB>candidate[<TAB>weight]`, the lines of a segment together;
    - with `per_segment` N: N lines for each segment, as COMET's `comet-mbr` and `mbrs` have them;
    - candidates one per line, with a blank line after those of a segment.
    """
    if not paths:
        raise DataError("no candidates given: name a file of N-best lists, or a file per system.")
    if len(paths) > 1:
        if per_segment:
            raise DataError("a number of lines per segment is for one file; several are parallel.")
        return _parallel(paths)
    lines = read_lines(paths[0])
    return _layout(paths[0], lines, per_segment)(paths[0], lines)


def _parallel(paths: Sequence[FilePath]) -> NBest:
    columns = [read_lines(path) for path in paths]
    for path, lines in zip(paths, columns, strict=True):
        if len(lines) != len(columns[0]):
            raise DataError(
                f"{label(path)}: {len(lines)} lines, but {label(paths[0])} has {len(columns[0])}. "
                "Each file needs one candidate per segment; blank lines count."
            )
    return NBest(tuple(zip(*columns, strict=True)))


def _blocks_of(path: FilePath, lines: Sequence[str], size: int) -> NBest:
    if len(lines) % size:
        raise DataError(
            f"{label(path)}: {len(lines)} lines are not a multiple of {size}. With {size} "
            "candidates per segment, every segment needs that many lines; blank lines count."
        )
    return NBest(tuple(tuple(lines[at : at + size]) for at in range(0, len(lines), size)))


def _layout(
    path: FilePath, lines: Sequence[str], per_segment: int | None
) -> Callable[[FilePath, Sequence[str]], NBest]:
    """How one file has its candidates; by all of its lines, so that no single one misleads."""
    full = [line for line in lines if line.strip()]
    if full and all("|||" in line for line in full):
        return _moses
    if full and all("\t" in line for line in full):
        return _table
    if per_segment:
        return partial(_blocks_of, size=per_segment)
    if full and len(full) < len(lines):
        return _paragraphs
    raise DataError(
        f"{label(path)}: cannot tell which candidates are for which segment. Say how many lines "
        "each segment has (-n 10), put a blank line after those of a segment, write "
        "segment<TAB>candidate, or give one file per system."
    )


def _moses(path: FilePath, lines: Sequence[str]) -> NBest:
    entries = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        match = _MOSES.fullmatch(line)
        if not match:
            raise DataError(
                f"{label(path)}, line {number}: write the segment's number first, as in "
                "'0 ||| a candidate ||| scores ||| score'."
            )
        candidate = match[2].partition("|||")[0].rstrip()
        entries.append(_Entry(match[1], candidate, 1.0, number))
    return NBest(_grouped(path, entries).candidates)


def _table(path: FilePath, lines: Sequence[str]) -> NBest:
    rows = [(number, line.split("\t")) for number, line in enumerate(lines, 1) if line.strip()]
    if tuple(name.strip().lower() for name in rows[0][1]) in (_HEADER[:2], _HEADER):
        del rows[0]
    width = len(rows[0][1]) if rows else 2
    entries = []
    for number, cells in rows:
        if len(cells) != width or width not in (2, 3):
            raise DataError(
                f"{label(path)}, line {number}: {len(cells)} columns; every line has "
                "segment<TAB>candidate or segment<TAB>candidate<TAB>weight."
            )
        weight = _weight(path, number, cells[2]) if width == 3 else 1.0
        entries.append(_Entry(cells[0], cells[1], weight, number))
    if not entries:
        raise DataError(f"{label(path)} has no candidates below its header.")
    grouped = _grouped(path, entries)
    return grouped if width == 3 else NBest(grouped.candidates)


def _weight(path: FilePath, number: int, text: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not 0 <= weight < math.inf:
        raise DataError(
            f"{label(path)}, line {number}: the weight {text[:40]!r} is not a number of at least 0."
        )
    return weight


def _grouped(path: FilePath, entries: Sequence[_Entry]) -> NBest:
    seen: set[str] = set()
    texts, weights = [], []
    for segment, group in groupby(entries, key=lambda entry: entry.segment):
        members = list(group)
        if segment in seen:
            raise DataError(
                f"{label(path)}, line {members[0].line}: segment {segment[:40]!r} comes back after "
                "another one; put all candidates of a segment together."
            )
        seen.add(segment)
        texts.append(tuple(entry.text for entry in members))
        weights.append(tuple(entry.weight for entry in members))
    return NBest(tuple(texts), tuple(weights))


def _paragraphs(path: FilePath, lines: Sequence[str]) -> NBest:
    texts: list[tuple[str, ...]] = []
    current: list[str] = []
    for number, line in enumerate([*lines, *([""] if lines[-1].strip() else [])], 1):
        if line.strip():
            current.append(line)
        elif current:
            texts.append(tuple(current))
            current = []
        else:
            raise DataError(
                f"{label(path)}, line {number}: a blank line without candidates before it. One "
                "blank line ends a segment; for empty candidates write segment<TAB>candidate."
            )
    return NBest(tuple(texts))
