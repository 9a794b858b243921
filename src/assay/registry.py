"""Settings as values, and what there is by name: `"name:setting=value"` and back."""

from __future__ import annotations

import difflib
import math
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from functools import cached_property, partial
from importlib import import_module
from numbers import Integral, Real
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Literal,
    NamedTuple,
    Self,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from assay.data import DataError
from assay.version import __version__

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = [
    "SEED",
    "Alias",
    "PluginWarning",
    "Registry",
    "Settings",
    "Specification",
    "did_you_mean",
    "nested",
    "read_specification",
    "register",
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


_HINTS: dict[type, dict[str, Any]] = {}


def _hints(kind: type) -> dict[str, Any]:
    """The types of a class's fields; finding them takes longer than scoring a small system."""
    if kind not in _HINTS:
        _HINTS[kind] = get_type_hints(kind)
    return _HINTS[kind]


@dataclass(frozen=True)
class Settings:
    """A frozen dataclass with a name, written `name:key=value,key=value`.

    Only settings that differ from their default are written.
    """

    name: ClassVar[str]

    def __post_init__(self) -> None:
        hints = _hints(type(self))
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
        hints = _hints(cls)
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


T = TypeVar("T")
Kind = TypeVar("Kind", bound=type)

Alias: TypeAlias = tuple[str, str | Callable[[re.Match[str]], str]]
"""A pattern of names, and the specification that it stands for: a template, or a function."""


class PluginWarning(UserWarning):
    """A package offers something that does not work; everything else goes on without it."""


class Registry(Generic[T]):
    """All things of one kind by name; a thing is asked for as `name:setting=value,...`.

    `built_in` says where each class is ("module:Class"), so that only what is asked for is
    loaded. Other packages offer theirs under the entry point `group`: a class, a function that
    makes the thing, or the thing itself. `base` is the class that they all derive from, or a
    runtime-checkable protocol. `hidden` names can be asked for, but are not listed.

    A plug-in that does not load is an error where it is asked for by name; where names are
    listed, it costs one `PluginWarning`.
    """

    def __init__(
        self,
        kind: str,
        group: str,
        built_in: Mapping[str, str],
        *,
        base: type[Any],
        aliases: Sequence[Alias] = (),
        hidden: Sequence[str] = (),
    ) -> None:
        self.kind, self.group, self.base = kind, group, base
        self._built_in, self._aliases, self._hidden = built_in, aliases, hidden
        self._registered: dict[str, type[T]] = {}
        self._reported: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._built_in or name in self._registered or name in self._plugins

    def __str__(self) -> str:
        """The names in a row, for help texts: plug-ins are loaded when somebody reads them."""
        return ", ".join(self.names())

    def parse(self, given: str | T) -> T:
        """The thing that a specification asks for; a thing of this kind passes through."""
        if not isinstance(given, str):
            return self._checked(given)
        specification = self.resolve(read_specification(given, self.kind))
        return self._made(specification.name, specification.options)

    def parse_all(self, given: Iterable[str | T]) -> list[T]:
        """Several things; the same one twice is an error."""
        if isinstance(given, str):
            raise DataError(f"{self.kind}s are a list: pass [{given!r}].")
        things = [self.parse(thing) for thing in given]
        for thing in things:
            if things.count(thing) > 1:
                raise DataError(f"{self.kind} {thing} is given twice; leave one out.")
        return things

    def names(self) -> list[str]:
        """All names that work, built-in ones first."""
        plugins = [name for name in self._plugins if self._works(name)]
        names = (*self._built_in, *plugins, *self._registered)
        return [name for name in names if name not in self._hidden]

    def defaults(self) -> list[T]:
        """Every thing that is listed, at its default settings."""
        return [self._made(name, {}) for name in self.names()]

    def get(self, name: str) -> type[T]:
        """The class of that name."""
        loaded = self._load(self._known(name))
        if not (isinstance(loaded, type) and issubclass(loaded, self.base)):
            raise DataError(self._wrong(name))
        return loaded

    def register(self, kind: type[T]) -> type[T]:
        """Make a class known under its `name` for this process; usable as a decorator."""
        name = getattr(kind, "name", "")
        if not name:
            raise DataError(f"{kind.__name__} needs a name: a class attribute `name`.")
        if name in self._built_in or name in self._plugins:
            raise DataError(f"there is a {self.kind} called {name!r} already; choose another name.")
        self._registered[name] = kind
        return kind

    def forget_plugins(self) -> None:
        """Look again, next time, for what installed packages offer."""
        self.__dict__.pop("_plugins", None)
        self._reported.clear()

    def resolve(self, specification: Specification) -> Specification:
        """With a name that is known: aliases are replaced by what they stand for."""
        name, options = specification
        for known in (name, name.lower()):
            if known in self:
                return Specification(known, options)
        for pattern, target in self._aliases:
            if match := re.fullmatch(pattern, name.lower()):
                text = match.expand(target) if isinstance(target, str) else target(match)
                meant = read_specification(text, self.kind)
                return Specification(self._known(meant.name), {**meant.options, **options})
        return Specification(self._known(name), options)

    def _known(self, name: str) -> str:
        if name in self:
            return name
        names = self.names()
        raise DataError(
            f"unknown {self.kind} {name!r}{did_you_mean(name, names)}. "
            f"{self.kind.capitalize()}s: {', '.join(names)}."
        )

    def _made(self, name: str, options: Mapping[str, str]) -> T:
        loaded = self._load(name)
        if hasattr(loaded, "from_options"):
            return self._checked(loaded.from_options(options.items()), name)
        if options:
            raise DataError(f"{self.kind} {name!r} has no settings; write {name} alone.")
        try:
            thing = loaded() if callable(loaded) else loaded
        except Exception as error:
            raise DataError(f"{self.kind} {name!r} could not be loaded: {error}") from error
        return self._checked(thing, name)

    def _checked(self, thing: Any, name: str = "") -> T:
        if isinstance(thing, self.base):
            found: T = thing
            return found
        if name:
            raise DataError(self._wrong(name))
        raise DataError(f"{thing!r} is no {self.kind}: pass a name or a {self.base.__name__}.")

    def _wrong(self, name: str) -> str:
        return f"{self.kind} {name!r}: its entry point gives no {self.base.__name__}."

    def _load(self, name: str) -> Any:
        """The class, function or object behind a name."""
        if name in self._registered:
            return self._registered[name]
        if name in self._built_in:
            return _load(self._built_in[name])
        try:
            return self._plugins[name].load()
        except Exception as error:
            raise DataError(f"{self.kind} {name!r} could not be loaded: {error}") from error

    def _works(self, name: str) -> bool:
        """Whether a plug-in can be used; where it cannot, one warning says why."""
        try:
            loaded = self._load(name)
            # A class with settings may need some of them: it need not work without any.
            if hasattr(loaded, "from_options"):
                self.get(name)
            else:
                self._made(name, {})
        except Exception as error:
            self._report(name, f"{error}")
            return False
        return True

    def _report(self, name: str, problem: str) -> None:
        if name not in self._reported:
            self._reported.add(name)
            warnings.warn(f"a plug-in is left out: {problem}", PluginWarning, stacklevel=2)

    @cached_property
    def _plugins(self) -> dict[str, EntryPoint]:
        """What packages offer; what is there already keeps its name."""
        # Looking for packages takes time, and most of what people ask for is built in.
        from importlib.metadata import entry_points

        plugins: dict[str, EntryPoint] = {}
        for point in entry_points(group=self.group):
            if point.name in self._built_in:
                where = point.dist.name if point.dist else point.value
                self._report(
                    point.name, f"{where} has a {self.kind} {point.name!r}, which is built in."
                )
            else:
                plugins[point.name] = point
        return plugins


_REGISTRIES = {
    "assay.metrics.base:Metric": "assay.metrics.base:METRICS",
    "assay.explanation.explainers:Explainer": "assay.explanation.explainers:EXPLAINERS",
    "assay.agreement.coefficients:Coefficient": "assay.agreement.coefficients:COEFFICIENTS",
    "assay.agreement.retrieval.measures:Measure": "assay.agreement.retrieval.measures:MEASURES",
    "assay.features.annotation:Annotator": "assay.features.select:ANNOTATORS",
    "assay.rendering.formats:OutputFormat": "assay.rendering.formats:FORMATS",
    "assay.io.datasets:DatasetReader": "assay.io.datasets:READERS",
}
"""Where the registry of each base class is."""


def register(kind: Kind) -> Kind:
    """Make a class known under its name for this process: a metric, an explainer, a coefficient ...

    Its base class decides which registry it goes to. Usable as a decorator; a package offers its
    classes through entry points instead (`assay.metrics`, `assay.explainers` ...).
    """
    for base in kind.__mro__:
        if where := _REGISTRIES.get(f"{base.__module__}:{base.__qualname__}"):
            registry: Registry[Any] = _load(where)
            registry.register(kind)
            return kind
    bases = ", ".join(base.partition(":")[2] for base in _REGISTRIES)
    raise DataError(f"{kind.__name__} derives from none of {bases}: nothing can use it.")


def _load(where: str) -> Any:
    """What "module:name" stands for."""
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)
