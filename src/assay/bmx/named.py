"""Explainers by name: `explainer_named("lime:samples=50")`, and `str(explainer)` back."""

from __future__ import annotations

from importlib import import_module

from assay.bmx.explainer import Explainer
from assay.data import DataError
from assay.settings import nearest

__all__ = ["explainer_named", "explainer_names"]

_EXPLAINERS = {
    "erasure": "assay.bmx.erasure:Erasure",
    "lime": "assay.bmx.lime:LIME",
    "shap": "assay.bmx.shap:SHAP",
    "marginal": "assay.bmx.marginal:Marginal",
    "random": "assay.bmx.noise:Noise",
}


def explainer_names() -> list[str]:
    """The names that `explainer_named` knows."""
    return list(_EXPLAINERS)


def explainer_named(text: str) -> Explainer:
    """The explainer of a specification.

    >>> str(explainer_named("lime:samples=50"))
    'lime:samples=50'
    """
    head, _, rest = text.partition(":")
    name = head.strip().lower()
    if name not in _EXPLAINERS:
        known = ", ".join(_EXPLAINERS)
        raise DataError(
            f"unknown explainer {name!r}{nearest(name, _EXPLAINERS)}. Explainers: {known}."
        )
    pairs = [_pair(part, text) for part in rest.split(",") if part]
    module, _, attribute = _EXPLAINERS[name].partition(":")
    kind: type[Explainer] = getattr(import_module(module), attribute)
    return kind.from_options(pairs)


def _pair(part: str, text: str) -> tuple[str, str]:
    key, found, value = part.partition("=")
    if not found:
        raise DataError(f"explainer {text!r}: {part!r} is not key=value.")
    return key.strip(), value.strip()
