"""Metrics by name: `parse("chrf:word_order=2")`, and `str(metric)` back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from importlib.metadata import entry_points

from assay.data import DataError
from assay.metrics.base import Metric, Request
from assay.settings import nearest
from assay.version import __version__

__all__ = ["names", "parse", "parse_all", "register", "registered", "verify"]

SHORT_HASH = 12
"""So many digits of a hash stand in a signature."""

_BUILT_IN = {
    "bleu": "assay.metrics.bleu:BLEU",
    "chrf": "assay.metrics.chrf:CHRF",
    "ter": "assay.metrics.ter:TER",
    "wer": "assay.metrics.ter:WER",
    "macrof": "assay.metrics.typef:MacroF",
    "microf": "assay.metrics.typef:MicroF",
    "rouge": "assay.metrics.rouge:ROUGE",
    "entities": "assay.metrics.entities:Entities",
    "entityf": "assay.metrics.entities:EntityF",
    "relations": "assay.metrics.relations:Relations",
    "xscore": "assay.metrics.relations:XScore",
    "boost": "assay.explanation.boosted:Boosted",
    "bertscore": "assay.metrics.neural.bertscore:BERTScore",
    "embed": "assay.metrics.neural.embed:Embed",
    "xmover": "assay.metrics.neural.xmover:XMover",
    "comet": "assay.metrics.neural.comet:COMET",
    "random": "assay.metrics.random:Noise",
    "mean": "assay.metrics.mean:Mean",
}

_ROUGE = {"l": "L", "lsum": "Lsum"}
_NUMBER = r"\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_ALIASES: tuple[tuple[str, Callable[[re.Match[str]], tuple[str, dict[str, str]]]], ...] = (
    (rf"chrf(?P<beta>{_NUMBER})?(?P<plus>\+*)", lambda m: ("chrf", _chrf_options(m))),
    (rf"(?P<n>macrof|microf)(?P<beta>{_NUMBER})", lambda m: (m["n"], {"beta": m["beta"]})),
    (
        r"rouge-?(?P<type>\d|l|lsum)",
        lambda m: ("rouge", {"type": _ROUGE.get(m["type"], m["type"])}),
    ),
    (r"cer", lambda m: ("wer", {"unit": "char"})),
    (r"xbertscore", lambda m: ("bertscore", {"against": "source"})),
    (r"boosted (?P<metric>.+)", lambda m: ("boost", {"metric": m["metric"]})),
)

_HASHES = ("sha256", "mapping_sha256", "lm_sha256")
_DECISIVE = (*_HASHES, "depth")
"""What makes another figure, so that it is an error where it is not what a signature says."""

_added: dict[str, type[Metric]] = {}


def parse(text: str) -> Metric:
    """The metric of a specification (`bleu:tok=intl`), a signature or a bare name.

    What belongs to a signature only, such as `nrefs`, is an error in a specification.

    >>> str(parse("chrf:word_order=2"))
    'chrf:word_order=2'
    >>> parse("BLEU|nrefs:1|case:lc|eff:no|tok:13a|smooth:exp|version:2.6.0") == parse(
    ...     "bleu:lowercase=yes"
    ... )
    True
    """
    if whole := "|" in text:
        head, *parts = text.split("|")
        pairs = [_pair(part, ":", text) for part in parts]
    else:
        head, _, rest = text.partition(":")
        pairs = [_pair(part, "=", text) for part in _parts(rest) if part]
    name, implied = _resolve(head.strip().lower())
    kind = _class_of(name)
    settings, known = kind.by_name(), kind.claims()
    claims = tuple((key, each) for key, each in pairs if key in known and key not in settings)
    if claims and not whole:
        key, value = claims[0]
        raise DataError(
            f"{head.strip()}:{key}={value}: {key} is no setting, but part of a whole signature "
            f"(NAME|...); {_instead(kind, key, value)}."
        )
    options = implied | {key: value for key, value in pairs if (key, value) not in claims}
    metric = kind.from_options(options.items())
    said = frozenset(settings[key].name for key in options if key in settings)
    return replace(metric, request=Request(text, said, claims))


def verify(
    metric: Metric,
    *,
    references: int | str | None = None,
    languages: tuple[str, str] | None = None,
) -> list[str]:
    """Remarks where the signature that was asked for says something else than is so here.

    Another model, layer or mapping is a `DataError`: the figures would be other figures.
    """
    claims = dict(metric.request.claims) if metric.request else {}
    facts = {"version": f"assay-{__version__}"}
    if references is not None and metric.needs_references:
        facts["nrefs"] = str(references)
    if languages is not None:
        facts["lang"] = "-".join(languages)
    if claims.keys() - Metric.claims():
        facts |= metric.details()
    if not claims.get("version", "").startswith("assay-"):
        del facts["version"]  # sacreBLEU's figures are ours
    if "sha256" in claims:
        facts.pop("encoder", None)  # the same weights under another name
    wrong = [key for key in claims if key in facts and not _same(key, claims[key], facts[key])]
    for key in wrong:
        if key in _DECISIVE or key == "encoder":
            raise DataError(
                f"{metric}: the signature says {key}:{claims[key]}, but here it is "
                f"{key}:{facts[key]}, which gives other figures; "
                f"{_instead(type(metric), key, claims[key])}."
            )
    return [
        f"{metric}: the signature says {key}:{claims[key]}, but here it is {key}:{facts[key]}; "
        "figures need not be the same."
        for key in wrong
    ]


def parse_all(given: Iterable[str | Metric]) -> list[Metric]:
    """Several metrics; the same one twice is an error, as it would score twice."""
    if isinstance(given, str):
        raise DataError(f"metrics are a list: pass [{given!r}].")
    metrics = [each if isinstance(each, Metric) else parse(each) for each in given]
    for metric in metrics:
        if metrics.count(metric) > 1:
            raise DataError(f"metric {metric} is given twice; leave one out.")
    return metrics


def names() -> list[str]:
    """The names that `parse` knows."""
    return [name for name in (*_BUILT_IN, *_entry_points(), *_added) if name != "mean"]


def registered() -> list[Metric]:
    """Every registered metric that works on text, at its default settings."""
    return [_class_of(name)() for name in names()]


def register(kind: type[Metric]) -> type[Metric]:
    """Make a metric class known under its name for this process; usable as a decorator."""
    if kind.name in _BUILT_IN or kind.name in _entry_points():
        raise DataError(f"there is a metric called {kind.name!r} already; choose another name.")
    _added[kind.name] = kind
    return kind


def _instead(kind: type[Metric], key: str, value: str) -> str:
    """What to do, where something was to be set that is no setting; models without revision."""
    return kind.claims()[key].format(value.partition("@")[0])


def _same(key: str, claimed: str, fact: str) -> bool:
    """Whether they agree; of hashes and of models the shorter form is enough."""
    if key in _HASHES:
        return len(claimed) >= SHORT_HASH and (claimed.startswith(fact) or fact.startswith(claimed))
    return claimed == fact or (key == "encoder" and claimed == fact.partition("@")[0])


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


def _pair(part: str, mark: str, text: str) -> tuple[str, str]:
    key, found, value = part.partition(mark)
    if not found:
        raise DataError(f"metric {text!r}: {part!r} is not key{mark}value.")
    return key.strip(), value.strip()


def _resolve(name: str) -> tuple[str, dict[str, str]]:
    if name in _BUILT_IN or name in _added or name in _entry_points():
        return name, {}
    for pattern, target in _ALIASES:
        if match := re.fullmatch(pattern, name):
            return target(match)
    raise DataError(
        f"unknown metric {name!r}{nearest(name, names())}. Metrics: {', '.join(names())}."
    )


def _chrf_options(match: re.Match[str]) -> dict[str, str]:
    options = {"beta": match["beta"], "nw": str(len(match["plus"])) if match["plus"] else None}
    return {key: value for key, value in options.items() if value}


def _class_of(name: str) -> type[Metric]:
    if name in _added:
        return _added[name]
    if name in _BUILT_IN:
        module, _, attribute = _BUILT_IN[name].partition(":")
        kind: type[Metric] = getattr(import_module(module), attribute)
        return kind
    return _load(name)


def _load(name: str) -> type[Metric]:
    try:
        kind = _entry_points()[name].load()
    except Exception as error:
        raise DataError(f"metric {name!r} could not be loaded: {error}") from error
    if not (isinstance(kind, type) and issubclass(kind, Metric)):
        raise DataError(f"metric {name!r}: its entry point is not a Metric class.")
    return kind


@lru_cache
def _entry_points() -> dict:  # type: ignore[type-arg]  # EntryPoint is not generic everywhere
    return {point.name: point for point in entry_points(group="assay.metrics")}
