"""Metrics by name, and made ready for a dataset: tokenizer, tagger and model for its languages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.data import DataError, Dataset
from assay.languages import Side, language_by_script, language_of, plain_code
from assay.metrics.base import Metric, MetricRequest, reference_count
from assay.registry import Alias, Registry
from assay.settings import Specification, key_and_value, read_specification, settings_of
from assay.version import __version__

__all__ = ["METRICS", "Selection", "parse", "registered", "select_metrics", "verify", "with_shared"]

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
    "fault": "assay.metrics.faults:Fault",
    "random": "assay.metrics.random:RandomMetric",
    "mean": "assay.metrics.mean:Mean",
}

_HASHES = ("sha256", "mapping_sha256", "lm_sha256")
_DECISIVE = (*_HASHES, "depth")
"""What makes another figure, so that it is an error where it is not what a signature says."""


class _Metrics(Registry[Metric]):
    """The registry of metrics, which also reads whole signatures."""

    def parse(self, given: str | Metric) -> Metric:
        """The metric of a specification or a signature, which remembers how it was asked for."""
        if not isinstance(given, str):
            return super().parse(given)
        whole = "|" in given
        text = _KIND_OF_FAULT.sub(r"fault:kind=\1", given)
        name, options = _signature(given) if whole else read_specification(text, self.kind)
        meant = self.resolve(Specification(name, {}))
        kind = self.get(meant.name)
        settings = kind.by_name()
        claims = {
            key: value
            for key, value in options.items()
            if key in kind.claims() and key not in settings
        }
        if claims and not whole:
            key, value = next(iter(claims.items()))
            raise DataError(
                f"{name}:{key}={value}: {key} is no setting, but part of a whole signature "
                f"(NAME|...); {_instead(kind, key, value)}."
            )
        options = meant.options | {k: value for k, value in options.items() if k not in claims}
        metric = kind.from_options(options.items())
        said = frozenset(settings[key].name for key in options if key in settings)
        return replace(metric, request=MetricRequest(given, said, tuple(claims.items())))


def _signature(text: str) -> Specification:
    """The name and the options of `NAME|key:value|key:value`."""
    name, *parts = text.split("|")
    pairs = (key_and_value(part, ":", f"metric {text!r}") for part in parts)
    return Specification(name.strip(), dict(pairs))


def _chrf(match: re.Match[str]) -> str:
    """chrf3 is beta 3; every plus is one more order of words."""
    beta, pluses = match["beta"], len(match["plus"])
    options = [f"beta={beta}"] * bool(beta) + [f"word_order={pluses}"] * bool(pluses)
    return f"chrf:{','.join(options)}"


_KIND_OF_FAULT = re.compile(r"^\s*fault: ?(\w+)(?=,|\s*$)", re.IGNORECASE)
"""`fault:numbers` is short for `fault:kind=numbers`."""

_NUMBER = r"\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_ALIASES: tuple[Alias, ...] = (
    (rf"chrf(?P<beta>{_NUMBER})?(?P<plus>\+*)", _chrf),
    (rf"(macrof|microf)({_NUMBER})", r"\1:beta=\2"),
    (r"rouge-?(\d)", r"rouge:type=\1"),
    (r"rouge-?l", "rouge:type=L"),
    (r"rouge-?lsum", "rouge:type=Lsum"),
    (r"cer", "wer:unit=char"),
    (r"xbertscore", "bertscore:against=source"),
    (r"fault: ?(\w+)", r"fault:kind=\1"),
    (r"boosted (.+)", r"boost:metric=\1"),
)

METRICS = _Metrics(
    "metric", "assay.metrics", _BUILT_IN, base=Metric, aliases=_ALIASES, hidden=("mean",)
)
"""All metrics: those of `assay`, those of installed plug-ins and those given to `register`."""


def parse(text: str | Metric) -> Metric:
    """The metric of a specification (`bleu:tok=intl`), a signature or a bare name.

    What belongs to a signature only, such as `nrefs`, is an error in a specification.

    >>> str(parse("chrf:word_order=2"))
    'chrf:word_order=2'
    >>> parse("BLEU|nrefs:1|case:lc|eff:no|tok:13a|smooth:exp|version:2.6.0") == parse(
    ...     "bleu:lowercase=yes"
    ... )
    True
    """
    return METRICS.parse(text)


def registered() -> list[Metric]:
    """Every registered metric that works on text, at its default settings."""
    return METRICS.defaults()


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


def _instead(kind: type[Metric], key: str, value: str) -> str:
    """What to do, where something was to be set that is no setting; models without revision."""
    return kind.claims()[key].format(value.partition("@")[0])


def _same(key: str, claimed: str, fact: str) -> bool:
    """Whether they agree; of hashes and of models the shorter form is enough."""
    if key in _HASHES:
        return len(claimed) >= SHORT_HASH and (claimed.startswith(fact) or fact.startswith(claimed))
    return claimed == fact or (key == "encoder" and claimed == fact.partition("@")[0])


_TOKENIZERS = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}
"""The tokenizer that sacreBLEU takes for a target language when none is named."""

_ASIAN = {"zh": "Chinese", "ja": "Japanese", "ko": "Korean"}


@dataclass(frozen=True)
class Selection:
    """Metrics that are ready, what to tell the user about them, and the languages they need."""

    metrics: list[Metric]
    notes: list[str]
    sides: list[Side]


def select_metrics(
    metrics: Iterable[str | Metric],
    dataset: Dataset,
    *,
    tokenize: str | None = None,
    lowercase: bool = False,
) -> Selection:
    """The metrics with tokenizer, tagger and model for the dataset's languages.

    `tokenize` and `lowercase` are for all metrics that have these settings and do not say
    themselves. A tokenizer is chosen by a language that was told only, so that the same call has
    the same signature whatever the texts are and however their files are called.
    """
    if isinstance(metrics, str):
        raise DataError(f"metrics are a list: pass [{metrics!r}].")
    target = plain_code((dataset.languages or ("", ""))[1])
    shared = {"tokenize": tokenize or _TOKENIZERS.get(target), "lowercase": lowercase}
    given, notes = _with_families(metrics, dataset)
    asked = [with_shared(metric, shared) for metric in given]
    ready = METRICS.parse_all(metric.for_dataset(dataset) for metric in asked)
    sides = list(dict.fromkeys(side for metric in asked for side in metric.needs_languages))
    known = {side: language_of(dataset, side).code for side in sides}
    pair = known.get("source", ""), known.get("target", "")
    references = reference_count(dataset.references)
    notes += [remark for metric in ready if (remark := metric.language_remark(pair))]
    notes += _tokenizer_notes(ready, dataset)
    for metric in ready:
        notes += verify(metric, references=references, languages=dataset.languages)
    return Selection(ready, list(dict.fromkeys(notes)), sides)


def _with_families(
    metrics: Iterable[str | Metric], dataset: Dataset
) -> tuple[list[str | Metric], list[str]]:
    """The metrics with `faults` replaced by all that it stands for, and notes on them."""
    given: list[str | Metric] = []
    notes: list[str] = []
    for metric in metrics:
        if isinstance(metric, str) and metric.strip().lower() == "faults":
            from assay.metrics.faults import faults_for

            family = faults_for(dataset)
            given += [f"fault:{kind}" for kind in family.kinds]
            notes += family.notes
        else:
            given.append(metric)
    return given, notes


def with_shared(given: str | Metric, shared: Mapping[str, object]) -> Metric:
    """The metric with the shared settings, where it has them and does not say itself.

    An object stays as it is: it has all its settings.
    """
    if not isinstance(given, str):
        return given
    metric = parse(given)
    said = metric.request.settings if metric.request else frozenset()
    names = {field.name for field in settings_of(metric)} - said
    changes: dict[str, Any] = {
        name: value for name, value in shared.items() if value and name in names
    }
    return replace(metric, **changes)


def _tokenizer_notes(metrics: Sequence[Metric], dataset: Dataset) -> list[str]:
    """A hint where words are cut as if Chinese, Japanese or Korean had blanks between them."""
    usual = [metric for metric in metrics if getattr(metric, "tokenize", "") == "13a"]
    lines = [line for references in dataset.references for line in references[:1]]
    code = language_by_script(lines) if usual and not dataset.languages else ""
    if not code:
        return []
    names = ", ".join(map(str, usual))
    return [
        f"the references look {_ASIAN[code]}, but {names} cuts words at blanks: pass the "
        f'languages (languages="en-{code}") or a tokenizer (tokenize="{_TOKENIZERS[code]}").'
    ]
