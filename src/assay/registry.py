"""What there is by name: "name:setting=value" to an object, built-in, registered or plugged in."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from assay.data import DataError
from assay.settings import Specification, did_you_mean, read_specification

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["Alias", "PluginWarning", "Registry", "register"]

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
    "assay.metrics.base:Metric": "assay.metrics.registry:METRICS",
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
