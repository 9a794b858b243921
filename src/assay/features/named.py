"""Annotators by name: the built-in one, and those of other packages."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import entry_points

from assay.data import DataError
from assay.features.annotation import Annotator
from assay.features.wordlists import gender
from assay.settings import nearest

__all__ = ["annotator_named", "annotator_names"]

_BUILT_IN = {"gender": gender}


def annotator_names() -> list[str]:
    """The names that `annotator_named` knows."""
    return [*_BUILT_IN, *(name for name in _entry_points() if name not in _BUILT_IN)]


def annotator_named(name: str) -> Annotator:
    """The annotator of that name; packages offer theirs under entry points `assay.annotators`.

    An entry point names a class or function that takes nothing and gives the annotator, or the
    annotator itself.
    """
    if name in _BUILT_IN:
        return _BUILT_IN[name]()
    if name not in _entry_points():
        names = annotator_names()
        raise DataError(
            f"unknown annotator {name!r}{nearest(name, names)}. Annotators: {', '.join(names)}."
        )
    try:
        made = _entry_points()[name].load()
        annotator = made() if callable(made) else made
    except Exception as error:
        raise DataError(f"annotator {name!r} could not be loaded: {error}") from error
    if not all(hasattr(annotator, part) for part in ("identity", "layers", "annotate")):
        raise DataError(
            f"annotator {name!r}: its entry point gives no Annotator; it needs identity, layers "
            "and annotate."
        )
    return annotator  # type: ignore[no-any-return]  # what it has was checked


@lru_cache
def _entry_points() -> dict:  # type: ignore[type-arg]  # EntryPoint is not generic everywhere
    return {point.name: point for point in entry_points(group="assay.annotators")}
