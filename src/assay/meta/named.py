"""Coefficients by name: `coefficient_named("wmt:gap=25")`, and `str(coefficient)` back."""

from __future__ import annotations

from assay.data import DataError
from assay.meta.coefficients import WMT, Accuracy, Coefficient, Kendall, Pearson, Spearman
from assay.meta.ties import AccuracyWithTies
from assay.settings import nearest

__all__ = ["coefficient_named", "coefficient_names"]

_KNOWN: dict[str, type[Coefficient]] = {
    kind.name: kind for kind in (Pearson, Spearman, Kendall, WMT, Accuracy, AccuracyWithTies)
}
_SHORT = {"kendall-b": "kendall", "kendall-c": "kendall:variant=c", "tau": "kendall"}


def coefficient_names() -> list[str]:
    """The names that `coefficient_named` knows."""
    return [*_KNOWN, *_SHORT]


def coefficient_named(text: str) -> Coefficient:
    """The coefficient of a name, with settings after a colon: `wmt:gap=25`.

    >>> coefficient_named("kendall-c")
    Kendall(variant='c')
    """
    name, _, rest = _SHORT.get(text, text).partition(":")
    if name not in _KNOWN:
        hint = nearest(name, coefficient_names())
        known = ", ".join(coefficient_names())
        raise DataError(f"unknown coefficient {name!r}{hint}. Coefficients: {known}.")
    pairs = [tuple(part.split("=", 1)) for part in rest.split(",") if part]
    if any(len(pair) != 2 for pair in pairs):
        raise DataError(f"coefficient {text!r}: settings are key=value, as in wmt:gap=25.")
    return _KNOWN[name].from_options([(key, value) for key, value in pairs])
