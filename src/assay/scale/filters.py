"""Conditions on rows, such as `chrf > 20 and not (bleu <= 5 or domain == 'news')`.

A condition is parsed, never evaluated as code. Names are metrics and columns; one with other
characters than letters, digits and `_` stands in double quotes, a text in single ones. What is
unknown (null or `nan`) neither passes nor fails: a row passes where the whole condition is true.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from assay.data import DataError
from assay.extras import require
from assay.registry import did_you_mean

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Where"]

LONGEST = 10_000
"""Characters of a condition."""

DEEPEST = 50
"""Brackets and nots inside one another."""

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)(?![\w.])
    | (?P<word>[^\W\d]\w*)
    | "(?P<name>[^"]+)"
    | '(?P<text>(?:[^']|'')*)'
    | (?P<mark>>=|<=|==|!=|<>|=|>|<|\(|\))
    )""",
    re.VERBOSE,
)
_OPERATORS = {
    ">": "greater",
    ">=": "greater_equal",
    "<": "less",
    "<=": "less_equal",
    "=": "equal",
    "==": "equal",
    "!=": "not_equal",
    "<>": "not_equal",
}


class _ConditionToken(NamedTuple):
    kind: str
    text: str
    at: int


class _Name(NamedTuple):
    name: str


class _Compare(NamedTuple):
    left: _Value
    operator: str
    right: _Value


class _Join(NamedTuple):
    word: str
    conditions: tuple[_Condition, ...]


class _Not(NamedTuple):
    condition: _Condition


_Value: TypeAlias = _Name | float | str
_Condition: TypeAlias = _Compare | _Join | _Not


@dataclass(frozen=True)
class Where:
    """A condition that rows pass or not; its text is checked when it is made."""

    text: str

    def __post_init__(self) -> None:
        self._tree()

    @property
    def names(self) -> list[str]:
        """The names in it, each once."""
        return list(dict.fromkeys(_names(self._tree())))

    def check(self, names: Sequence[str]) -> None:
        """Raise a `DataError` where a name is not among these."""
        for name in self.names:
            if name not in names:
                known = ", ".join(dict.fromkeys(names))[:200]
                raise DataError(
                    f"where {self.text[:80]!r}: there is no {name}{did_you_mean(name, names)}. "
                    f"Names: {known}."
                )

    def mask(self, columns: Mapping[str, Any]) -> pa.Array:
        """Whether each row passes; null where that is unknown."""
        return _evaluate(self._tree(), columns)

    def _tree(self) -> _Condition:
        return _ConditionParser(self.text).parse()


class _ConditionParser:
    """Reads a condition from left to right: or, and, not, comparison."""

    def __init__(self, text: str) -> None:
        self._text = text
        if len(text) > LONGEST:
            raise DataError(f"where: a condition has at most {LONGEST} characters.")
        self._tokens = list(self._read())
        self._at = 0
        self._depth = 0

    def parse(self) -> _Condition:
        condition = self._joined("or")
        if self._peek() is not None:
            raise self._wrong("'and', 'or' or the end")
        return condition

    def _read(self) -> Iterator[_ConditionToken]:
        at = 0
        end = len(self._text.rstrip())
        while at < end:
            match = _TOKEN.match(self._text, at)
            if match is None or match.lastgroup is None:
                rest = self._text[at:].lstrip()[:20]
                raise DataError(
                    f"where {self._text[:80]!r}: cannot read {rest!r}. Write as in: "
                    "chrf > 20 and not bleu <= 5"
                )
            yield _ConditionToken(
                match.lastgroup, match[match.lastgroup], match.start(match.lastgroup)
            )
            at = match.end()

    def _joined(self, word: str) -> _Condition:
        """Conditions with `or` between them, or within these, `and`."""
        read: Callable[[], _Condition] = self._single
        if word == "or":
            read = partial(self._joined, "and")
        found = [read()]
        while self._is_word(word):
            self._at += 1
            found.append(read())
        return found[0] if len(found) == 1 else _Join(word, tuple(found))

    def _single(self) -> _Condition:
        self._depth += 1
        if self._depth > DEEPEST:
            raise DataError(f"where: brackets and nots are at most {DEEPEST} deep.")
        try:
            if self._is_word("not"):
                self._at += 1
                return _Not(self._single())
            if self._is_mark("("):
                self._at += 1
                condition = self._joined("or")
                if not self._is_mark(")"):
                    raise self._wrong("')'")
                self._at += 1
                return condition
            return self._comparison()
        finally:
            self._depth -= 1

    def _comparison(self) -> _Compare:
        left = self._value()
        operator = self._peek()
        if operator is None or operator.kind != "mark" or operator.text not in _OPERATORS:
            raise self._wrong("one of > >= < <= == !=")
        self._at += 1
        right = self._value()
        following = self._peek()
        if following is not None and following.text in _OPERATORS and following.kind == "mark":
            raise self._wrong("'and': compare two things at a time, as in 5 < bleu and bleu < 9")
        return _Compare(left, _OPERATORS[operator.text], right)

    def _value(self) -> _Value:
        token = self._peek()
        if token is None or token.kind == "mark" or self._is_word("and", "or", "not"):
            raise self._wrong("a name or a number")
        self._at += 1
        if token.kind == "number":
            return float(token.text)
        if token.kind == "text":
            return token.text.replace("''", "'")
        return _Name(token.text)

    def _peek(self) -> _ConditionToken | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _is_word(self, *words: str) -> bool:
        token = self._peek()
        return token is not None and token.kind == "word" and token.text.lower() in words

    def _is_mark(self, mark: str) -> bool:
        token = self._peek()
        return token is not None and token.kind == "mark" and token.text == mark

    def _wrong(self, wanted: str) -> DataError:
        token = self._peek()
        found = f"{token.text[:20]!r} at character {token.at + 1}" if token else "the end"
        return DataError(f"where {self._text[:80]!r}: {found}, but here comes {wanted}.")


def _names(tree: _Condition) -> list[str]:
    match tree:
        case _Compare(left, _, right):
            return [value.name for value in (left, right) if isinstance(value, _Name)]
        case _Join(_, conditions):
            return [name for condition in conditions for name in _names(condition)]
        case _Not(condition):
            return _names(condition)


def _evaluate(tree: _Condition, columns: Mapping[str, Any]) -> Any:
    compute = require("scale", "pyarrow.compute")
    match tree:
        case _Compare(left, operator, right):
            return _compared(left, operator, right, columns)
        case _Not(condition):
            return compute.invert(_evaluate(condition, columns))
        case _Join(word, conditions):
            join = compute.and_kleene if word == "and" else compute.or_kleene
            found = _evaluate(conditions[0], columns)
            for condition in conditions[1:]:
                found = join(found, _evaluate(condition, columns))
            return found


def _compared(left: _Value, operator: str, right: _Value, columns: Mapping[str, Any]) -> Any:
    """Numbers are compared as numbers, where one side is one; texts with texts."""
    pa = require("scale", "pyarrow")
    compute = require("scale", "pyarrow.compute")
    sides = (left, right)
    values = [columns[side.name] if isinstance(side, _Name) else side for side in sides]
    as_numbers = any(_is_number(value) for value in values)
    try:
        ready = [_number(value) if as_numbers else _text(value) for value in values]
    except (pa.ArrowException, ValueError) as error:
        names = " and ".join(side.name for side in sides if isinstance(side, _Name))
        reason = str(error).split("\n", 1)[0][:120]
        other = "a text" if any(isinstance(side, str) for side in sides) else "a number"
        raise DataError(f"where: {names} cannot be compared with {other} ({reason}).") from None
    found = getattr(compute, operator)(*ready)
    if isinstance(found, pa.Scalar):
        length = len(next(iter(columns.values())))
        return pa.array([found.as_py()] * length, pa.bool_())
    return found


def _is_number(value: Any) -> bool:
    pa = require("scale", "pyarrow")
    if isinstance(value, float | str):
        return isinstance(value, float)
    kind = value.type
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _number(value: Any) -> Any:
    pa = require("scale", "pyarrow")
    compute = require("scale", "pyarrow.compute")
    if isinstance(value, float | str):
        return pa.scalar(float(value) if not _is_nan(value) else None, pa.float64())
    numbers = value.cast(pa.float64())
    return compute.if_else(compute.is_nan(numbers), None, numbers)


def _is_nan(value: float | str) -> bool:
    return math.isnan(float(value))


def _text(value: Any) -> Any:
    pa = require("scale", "pyarrow")
    return pa.scalar(value, pa.string()) if isinstance(value, str) else value.cast(pa.string())
