"""Settings that are values: they print as a specification and read back from it."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, dataclass, field, fields
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self, get_args, get_origin, get_type_hints

from assay.data import DataError
from assay.version import __version__

__all__ = ["Settings", "nearest", "setting", "settings_of"]


def setting(
    default: Any, *, short: str = "", key: str = "", values: Mapping[str, str] | None = None
) -> Any:
    """A dataclass field: `short` is its name in a specification, `key` in a signature.

    `values` gives the signature's words for values, as in `case:lc` for `lowercase=yes`. A field
    with a key always stands in the signature, any other only where it is not at its default.
    """
    return field(default=default, metadata={"short": short, "key": key, "values": values or {}})


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
                    f"{cls.name} has no setting {key!r}{nearest(key, by_key)}. Settings: {known}."
                )
            f = by_key[key]
            words = {v: k for k, v in f.metadata["values"].items()} if key == _key(f) else {}
            values[f.name] = _read(f"{cls.name}:{key}", words.get(text, text), hints[f.name])
        return cls(**values)


def nearest(word: str, words: Iterable[str]) -> str:
    """A hint for a misspelt word, or nothing.

    >>> nearest("blue", ["bleu", "chrf"])
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
    return "none" if value is None else str(value)


def _check(where: str, value: Any, hint: Any) -> None:
    """Raise a `DataError` for a value of the wrong kind: no choice, no number, not finite."""
    if get_origin(hint) is Literal:
        if value not in (choices := get_args(hint)):
            near = nearest(str(value), choices)
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


def _read(where: str, text: str, hint: Any) -> Any:
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
