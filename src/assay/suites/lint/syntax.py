"""Regular expressions as trees, and loops that can read one text in two ways."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import regex

__all__ = [
    "Chars",
    "Choice",
    "Edge",
    "Node",
    "Repeat",
    "Sequence",
    "accepts",
    "ambiguous_text",
    "loops",
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


LOOP = 10
"""Something that may stand this often counts as a loop."""

MOST = 60
"""Positions of a loop that are looked at; longer ones are left to probing."""

CHARACTERS = frozenset("aZ0 _-.,!'é")

Pair = tuple[int, int]


def ambiguous_text(tree: Node) -> str | None:
    """A text that doubles the work each time it is repeated, or None.

    >>> from assay.suites.lint.syntax import parse
    >>> ambiguous_text(parse("(a+b?)+!")), ambiguous_text(parse("(a+b)+!"))
    ('a', None)
    """
    nodes = list(walk(tree))
    if not any(loops(node) for node in nodes):
        return None
    looks = [each.body for each in nodes if isinstance(each, Edge) and each.body]
    texts = (_Automaton(each).ambiguous_text() for each in [tree, *looks])
    return next((text for text in texts if text), None)


def loops(node: Node) -> bool:
    """Whether the node is a repetition without limit, or with a high one."""
    return isinstance(node, Repeat) and (node.most is None or node.most >= LOOP)


class _Fragment(NamedTuple):
    """Where a part of a pattern may begin and end, and whether it may read nothing."""

    first: tuple[int, ...]
    last: tuple[int, ...]
    nullable: bool


class _Automaton:
    def __init__(self, tree: Node) -> None:
        chars = [each.text for each in walk(tree) if isinstance(each, Chars)]
        self._known = CHARACTERS | set("".join(chars))
        self._reads: list[frozenset[str]] = []
        self._ways: Counter[Pair] = Counter()
        whole = self._fragment(tree)
        anchored = any(isinstance(each, Edge) for each in walk(tree))
        # A search that may end where it stands has no reason to go back.
        self._ends = frozenset() if anchored else frozenset(whole.last)
        self._next: list[list[int]] = [[] for _ in self._reads]
        for one, other in self._ways:
            self._next[one].append(other)

    def ambiguous_text(self) -> str | None:
        for loop in _components(list(self._ways), len(self._reads)):
            if len(loop) <= MOST and (text := self._doubled(loop)):
                return text
        return None

    def _fragment(self, node: Node) -> _Fragment:
        match node:
            case Chars(text):
                self._reads.append(frozenset(c for c in self._known if accepts(text, c)))
                at = (len(self._reads) - 1,)
                return _Fragment(at, at, False)
            case Edge():
                return _Fragment((), (), True)
            case Choice(branches):
                below = [self._fragment(each) for each in branches]
                first = tuple(at for each in below for at in each.first)
                last = tuple(at for each in below for at in each.last)
                return _Fragment(first, last, any(each.nullable for each in below))
            case Repeat():
                return self._repeated(node)
            case Sequence(parts):
                return self._sequence(parts)

    def _repeated(self, node: Repeat) -> _Fragment:
        body = self._fragment(node.body)
        if loops(node):
            self._connect(body.last, body.first)
        return body._replace(nullable=body.nullable or node.least == 0)

    def _sequence(self, parts: Iterable[Node]) -> _Fragment:
        whole = _Fragment((), (), True)
        for part in map(self._fragment, parts):
            self._connect(whole.last, part.first)
            whole = _Fragment(
                whole.first + part.first * whole.nullable,
                part.last + whole.last * part.nullable,
                whole.nullable and part.nullable,
            )
        return whole

    def _connect(self, last: Iterable[int], first: Iterable[int]) -> None:
        first = tuple(first)
        self._ways.update((one, other) for one in last for other in first)

    def _doubled(self, loop: frozenset[int]) -> str | None:
        """A text that leads from a position of the loop back to it in two ways."""
        for (one, other), ways in self._ways.items():
            if ways > 1 and {one, other} <= loop - self._ends:
                back, _ = self._text(loop, (other, other), {(one, one)}.__contains__)
                return self._common((other, other)) + back
        return self._doubled_apart(loop)

    def _doubled_apart(self, loop: frozenset[int]) -> str | None:
        """The same by two walks that part and meet again."""
        for group in self._pair_components(loop):
            same = sorted(one for one, other in group if one == other and one not in self._ends)
            if same and any(map(_apart, group)):
                meeting = (same[0], same[0])
                out, apart = self._text(loop, meeting, _apart, group)
                back, _ = self._text(loop, apart, {meeting}.__contains__, group)
                return out + back
        return None

    def _pair_components(self, loop: frozenset[int]) -> Iterator[frozenset[Pair]]:
        pairs = [(one, other) for one in loop for other in loop]
        numbers = {pair: at for at, pair in enumerate(pairs)}
        edges = [(numbers[a], numbers[b]) for a in pairs for b in self._after(a, loop)]
        for group in _components(edges, len(pairs)):
            yield frozenset(pairs[at] for at in group)

    def _after(self, pair: Pair, loop: frozenset[int]) -> Iterator[Pair]:
        for one in self._next[pair[0]]:
            for other in self._next[pair[1]]:
                if {one, other} <= loop and self._reads[one] & self._reads[other]:
                    yield one, other

    def _text(
        self,
        loop: frozenset[int],
        start: Pair,
        wanted: Callable[[Pair], bool],
        within: frozenset[Pair] | None = None,
    ) -> tuple[str, Pair]:
        """The shortest text from a pair of positions to a wanted one, and that one."""
        waiting, known = deque([(start, "")]), {start}
        while waiting:
            pair, text = waiting.popleft()
            if wanted(pair):
                return text, pair
            for after in self._after(pair, loop):
                if after not in known and (within is None or after in within):
                    known.add(after)
                    waiting.append((after, text + self._common(after)))
        return "", start

    def _common(self, pair: Pair) -> str:
        """A character that both positions read, a letter if there is one."""
        both = self._reads[pair[0]] & self._reads[pair[1]]
        return min(both, key=lambda c: (not c.isalpha(), c), default="")


def _apart(pair: Pair) -> bool:
    return pair[0] != pair[1]


def _components(edges: list[Pair], size: int) -> list[frozenset[int]]:
    """The sets of nodes that lead to each other, those without a way back to themselves aside."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    if not edges:
        return []
    rows, columns = np.array(edges).T
    graph = csr_array((np.ones(len(edges)), (rows, columns)), shape=(size, size))
    _, labels = connected_components(graph, directed=True, connection="strong")
    looping = {labels[one] for one, other in edges if labels[one] == labels[other]}
    return [frozenset(np.flatnonzero(labels == label).tolist()) for label in sorted(looping)]
