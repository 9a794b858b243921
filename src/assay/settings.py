"""Settings that are values: they print as a specification and read back from it."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, dataclass, field, fields
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple, Self, get_args, get_origin, get_type_hints

from assay.data import DataError
from assay.version import __version__

__all__ = [
    "SEED",
    "Settings",
    "Specification",
    "did_you_mean",
    "nested",
    "read_specification",
    "setting",
    "settings_of",
    "spelt_out",
]

SEED = 12345
"""The default random seed: sacreBLEU's, so that its resamples are ours."""


class Specification(NamedTuple):
    """What `name:key=value,key=value` says."""

    name: str
    options: dict[str, str]


def read_specification(text: str, kind: str = "setting") -> Specification:
    """The name and the options of a specification; commas inside brackets do not count.

    `kind` is what it is of, for errors.

    >>> read_specification("boost:metric=bleu(tok=13a,smooth=none),w=0.2")
    Specification(name='boost', options={'metric': 'bleu(tok=13a,smooth=none)', 'w': '0.2'})
    """
    name, _, rest = spelt_out(text).partition(":")
    options = (key_and_value(part, "=", f"{kind} {text!r}") for part in _parts(rest) if part)
    return Specification(name.strip(), dict(options))


def key_and_value(part: str, mark: str, where: str) -> tuple[str, str]:
    """The two sides of the mark in `key=value`."""
    key, marked, value = part.partition(mark)
    if not marked:
        raise DataError(f"{where}: {part!r} is not key{mark}value.")
    return key.strip(), value.strip()


def _parts(text: str) -> list[str]:
    """Settings, cut at the commas outside brackets: a metric inside another brings its own."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def nested(text: str) -> str:
    """A specification as it stands inside another one.

    >>> nested("bleu:effective_order=yes,tok=char")
    'bleu(effective_order=yes,tok=char)'
    """
    name, colon, settings = text.partition(":")
    return f"{name}({settings})" if colon else name


def spelt_out(text: str) -> str:
    """A specification from its form inside another one; any other stays as it is.

    >>> spelt_out("boost(metric=bleu(tok=char),w=0.2)")
    'boost:metric=bleu(tok=char),w=0.2'
    """
    name, bracket, settings = text.strip().partition("(")
    if not bracket or ":" in name or not settings.endswith(")"):
        return text
    return f"{name}:{settings.removesuffix(')')}"


def setting(
    default: Any,
    *,
    short: str = "",
    key: str = "",
    values: Mapping[str, str] | None = None,
    parse: Callable[[str], Any] | None = None,
) -> Any:
    """A dataclass field: `short` is its name in a specification, `key` in a signature.

    `values` gives the signature's words for values, as in `case:lc` for `lowercase=yes`. A field
    with a key always stands in the signature, any other only where it is not at its default.
    `parse` reads a setting that has settings itself, as a metric inside another.
    """
    words = {"short": short, "key": key, "values": values or {}, "parse": parse}
    return field(default=default, metadata=words)


def settings_of(settings: Settings | type[Settings]) -> list[Field[Any]]:
    """The fields that are settings; one that makes no difference to equality is none."""
    return [f for f in fields(settings) if f.compare]


@dataclass(frozen=True)
class Settings:
    """A frozen dataclass with a name, written `name:key=value,key=value`.

    Only settings that differ from their default are written.
    """

    name: ClassVar[str]

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for f in settings_of(self):
            _check(f"{self.name}:{_short(f)}", getattr(self, f.name), hints[f.name])

    def __str__(self) -> str:
        changed = [f for f in settings_of(self) if getattr(self, f.name) != f.default]
        pairs = (f"{_short(f)}={_write(getattr(self, f.name))}" for f in changed)
        return self.name + ":" * bool(changed) + ",".join(pairs)

    def signature(self, references: int | str | None = None) -> str:
        """All that makes the figure, in sacreBLEU's manner: `nrefs:1|case:mixed|...`."""
        counted = {} if references is None else {"nrefs": str(references)}
        parts = counted | self.details() | {"version": f"assay-{__version__}"}
        return "|".join(f"{key}:{value}" for key, value in parts.items())

    def details(self) -> dict[str, str]:
        """The settings under the keys and values that a signature uses."""
        details = {}
        for f in settings_of(self):
            value = _write(getattr(self, f.name))
            if key := f.metadata.get("key"):
                details[key] = f.metadata["values"].get(value, value)
            elif getattr(self, f.name) != f.default:
                details[_short(f)] = value
        return details

    @classmethod
    def by_name(cls) -> dict[str, Field[Any]]:
        """The settings by all of their names: the field's, a specification's and a signature's."""
        return {name: f for f in settings_of(cls) for name in _names(f)}

    @classmethod
    def from_options(cls, options: Iterable[tuple[str, str]]) -> Self:
        """Settings from pairs of key and value, in a specification's words or a signature's."""
        by_key = cls.by_name()
        hints = get_type_hints(cls)
        values: dict[str, Any] = {}
        for key, text in options:
            if key not in by_key:
                known = ", ".join(_short(f) for f in settings_of(cls)) or "none"
                raise DataError(
                    f"{cls.name} has no setting {key!r}{did_you_mean(key, by_key)}. "
                    f"Settings: {known}."
                )
            f = by_key[key]
            words = {v: k for k, v in f.metadata["values"].items()} if key == _key(f) else {}
            parse = f.metadata.get("parse") or partial(_read, f"{cls.name}:{key}", hints[f.name])
            values[f.name] = parse(words.get(text, text))
        return cls(**values)


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """A hint for a misspelt word, or nothing.

    >>> did_you_mean("blue", ["bleu", "chrf"])
    " (did you mean 'bleu'?)"
    """
    folded = {each.lower(): each for each in words}
    found = difflib.get_close_matches(word.lower(), folded, n=1, cutoff=0.5)
    return f" (did you mean {folded[found[0]]!r}?)" if found else ""


def _short(f: Field[Any]) -> str:
    return f.metadata.get("short") or f.name


def _key(f: Field[Any]) -> str:
    return str(f.metadata.get("key", ""))


def _names(f: Field[Any]) -> set[str]:
    return {f.name, _short(f), _key(f)} - {""}


def _write(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(float(value))
    if isinstance(value, Settings):
        return nested(str(value))
    return "none" if value is None else str(value)


def _check(where: str, value: Any, hint: Any) -> None:
    """Raise a `DataError` for a value of the wrong kind: no choice, no number, not finite."""
    if get_origin(hint) is Literal:
        if value not in (choices := get_args(hint)):
            near = did_you_mean(str(value), choices)
            raise DataError(
                f"{where}={value} is not a choice{near}. Choices: {', '.join(choices)}."
            )
        return
    kinds = get_args(hint) or (hint,)
    known = [_KINDS[kind] for kind in kinds if kind in _KINDS]
    if known and not (isinstance(value, tuple(known)) or (value is None and type(None) in kinds)):
        wanted = next(_READERS[kind][0] for kind in kinds if kind in _READERS)
        raise DataError(f"{where}={value!r}: this setting takes {wanted}.")
    if isinstance(value, float) and not math.isfinite(value):
        raise DataError(f"{where}={value}: this setting takes a finite number.")


def _read(where: str, hint: Any, text: str) -> Any:
    if get_origin(hint) is Literal:
        _check(where, text, hint)
        return text
    kinds = get_args(hint) or (hint,)
    if text == "none" and type(None) in kinds:
        return None
    kind = next(each for each in kinds if each in _READERS)
    wanted, read = _READERS[kind]
    try:
        return read(text)
    except (KeyError, ValueError):
        raise DataError(f"{where}={text}: this setting takes {wanted}.") from None


def _number(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(text)
    return value


_KINDS: dict[type, type] = {bool: bool, int: Integral, float: Real, str: str}
_ANSWERS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_READERS: dict[type, tuple[str, Callable[[str], Any]]] = {
    bool: ("yes or no", lambda text: _ANSWERS[text.lower()]),
    int: ("a whole number", int),
    float: ("a number", _number),
    str: ("a text", str),
}
