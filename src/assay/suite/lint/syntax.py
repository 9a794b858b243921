"""Regular expressions as trees, as far as needed to see where they repeat themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import regex

__all__ = [
    "Chars",
    "Choice",
    "Edge",
    "Node",
    "Repeat",
    "Sequence",
    "accepts",
    "parse",
    "walk",
    "written",
]


@dataclass(frozen=True)
class Chars:
    """Something that reads one character: a literal, an escape, a set; `text` as written."""

    text: str


@dataclass(frozen=True)
class Edge:
    """Something that reads nothing: an anchor, a look around (with its body), a reference."""

    text: str
    body: Node | None = None


@dataclass(frozen=True)
class Sequence:
    """Parts one after the other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Choice:
    """Branches, one of which matches."""

    branches: tuple[Node, ...]


@dataclass(frozen=True)
class Repeat:
    """Something that stands `least` to `most` times, without limit where `most` is None."""

    body: Node
    least: int
    most: int | None


Node = Chars | Edge | Sequence | Choice | Repeat


@lru_cache(100_000)
def parse(text: str) -> Node | None:
    """The tree of a valid regular expression; groups vanish.

    None where it uses what this reader does not know: atomic groups, possessive quantifiers,
    conditions, recursion, fuzzy matching, verbose layout; or nests too deeply.
    """
    try:
        reader = _Reader(text)
        tree = reader.choice()
        return tree if reader.at == len(text) else None
    except (_Unknown, RecursionError):
        return None


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it, those in looks around too."""
    yield node
    match node:
        case Sequence(below) | Choice(below):
            for each in below:
                yield from walk(each)
        case Repeat(body) | Edge(_, Chars() | Edge() | Sequence() | Choice() | Repeat() as body):
            yield from walk(body)


def written(node: Node) -> str:
    """The node as a regular expression again; lazy quantifiers come out greedy."""
    match node:
        case Chars(text):
            return text
        case Edge(text, body):
            return f"{text}{written(body)})" if body else text
        case Sequence(parts):
            return "".join(
                f"({written(p)})" if isinstance(p, Choice) else written(p) for p in parts
            )
        case Choice(branches):
            return "|".join(map(written, branches))
        case Repeat(body, least, most):
            simple = isinstance(body, Chars)
            return (written(body) if simple else f"({written(body)})") + _sign(least, most)


@lru_cache(100_000)
def accepts(text: str, character: str) -> bool:
    r"""Whether what reads one character reads this one.

    >>> accepts(r"[^\W\d]", "7")
    False
    """
    return _one(text).fullmatch(character) is not None


@lru_cache(10_000)
def _one(text: str) -> regex.Pattern[str]:
    return regex.compile(text, cache_pattern=False)


class _Unknown(Exception):
    """Syntax that the reader does not know."""


_ESCAPE = regex.compile(
    r"\\(?:[pP]\{[^}]*\}|[pP]\w|N\{[^}]*\}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|0[0-7]{0,2}"
    r"|[1-9]\d?|g<[^>]*>|.)",
    regex.DOTALL,
)
_SET = regex.compile(r"\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]", regex.DOTALL)
_COUNT = regex.compile(r"\{(\d*)(,?)(\d*)\}")
_FUZZY = regex.compile(r"\{[^{}]*[eids][^{}]*\}")
_COMMENT = regex.compile(r"\(\?#[^)]*\)")
_LOOK = regex.compile(r"\(\?<?[=!]")
_REFERENCE = regex.compile(r"\(\?P=\w+\)")
_FLAGS = regex.compile(r"\(\?([aimsu]+)([:)])")
_GROUP = regex.compile(r"\((?:\?:|\?P?<\w+>|(?![?*]))")
_SIGNS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def _sign(least: int, most: int | None) -> str:
    counted = f"{{{least},{'' if most is None else most}}}"
    return next((sign for sign, count in _SIGNS.items() if count == (least, most)), counted)


class _Reader:
    """Reads from left to right; `at` is where it stands."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.flags = text, 0, ""

    def choice(self) -> Node:
        branches = [self._sequence()]
        while self._take("|"):
            branches.append(self._sequence())
        return branches[0] if len(branches) == 1 else Choice(tuple(branches))

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            atom = self._atom()
            if atom:
                parts.append(self._repeated(atom))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _atom(self) -> Node | None:
        """What comes next; None for what stands for nothing, such as a comment."""
        first = self.text[self.at]
        if first == "(":
            return self._group()
        if first == "[":
            return self._chars(self._found(_SET))
        if first == "\\":
            return self._escape(self._found(_ESCAPE))
        self.at += 1
        return Edge(first) if first in "^$" else self._chars(first)

    def _escape(self, text: str) -> Node:
        if text[1] in "KLRXC":
            raise _Unknown
        edge = text[1] in "bBAZmMG" or text[1] == "g" or text[1] in "123456789"
        return Edge(text) if edge else self._chars(text)

    def _chars(self, text: str) -> Chars:
        return Chars(f"(?{self.flags}){text}" if self.flags else text)

    def _group(self) -> Node | None:
        if self._try(_COMMENT):
            return None
        if reference := self._try(_REFERENCE):
            return Edge(reference[0])
        if look := self._try(_LOOK):
            return Edge(look[0], self._body())
        if flags := self._try(_FLAGS):
            return self._flagged(flags[1], group=flags[2] == ":")
        self._found(_GROUP)
        return self._body()

    def _flagged(self, flags: str, *, group: bool) -> Node | None:
        before = self.flags
        self.flags = "".join(sorted({*before, *flags}))
        if not group:
            return None
        body = self._body()
        self.flags = before
        return body

    def _body(self) -> Node:
        flags = self.flags
        body = self.choice()
        self.flags = flags
        if not self._take(")"):
            raise _Unknown
        return body

    def _repeated(self, atom: Node) -> Node:
        count = self._count()
        if count is None:
            return atom
        self._take("?")
        if self._take("+"):
            raise _Unknown
        return self._repeated(Repeat(atom, *count))

    def _count(self) -> tuple[int, int | None] | None:
        for sign, count in _SIGNS.items():
            if self._take(sign):
                return count
        found = self._try(_COUNT)
        if found and any(found.groups()):
            least = int(found[1] or 0)
            return least, (int(found[3]) if found[3] else None) if found[2] else least
        if self._try(_FUZZY):
            raise _Unknown
        return None

    def _take(self, sign: str) -> bool:
        taken = self.text.startswith(sign, self.at)
        self.at += len(sign) * taken
        return taken

    def _try(self, pattern: regex.Pattern[str]) -> regex.Match[str] | None:
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found

    def _found(self, pattern: regex.Pattern[str]) -> str:
        found = self._try(pattern)
        if not found:
            raise _Unknown
        return str(found[0])
