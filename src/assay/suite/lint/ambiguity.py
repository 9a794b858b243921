"""Loops that can read one text in two ways, and so in 2, 4, 8 ... ways when it is repeated.

A search that fails tries all of them. Every character that a pattern reads is a position; from
each lead edges to those that may follow, as many as there are ways (Glushkov's automaton). A
loop is ambiguous if two walks from one position back to it read the same text.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from assay.suite.lint.syntax import Chars, Choice, Edge, Node, Repeat, Sequence, accepts, walk

__all__ = ["ambiguous_text", "loops"]

LOOP = 10
"""Something that may stand this often counts as a loop."""

MOST = 60
"""Positions of a loop that are looked at; longer ones are left to probing."""

CHARACTERS = frozenset("aZ0 _-.,!'é")

Pair = tuple[int, int]


def ambiguous_text(tree: Node) -> str | None:
    """A text that doubles the work each time it is repeated, or None.

    >>> from assay.suite.lint.syntax import parse
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
