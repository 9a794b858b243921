"""What a metric is: rows of sums per segment, an aggregate of their weighted sum, and a name."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay import kernel
from assay.data import (
    Array,
    DataError,
    Dataset,
    Segment,
    Segments,
    are_small_and_whole,
    check_lines,
)
from assay.metrics.references import known_references, new_references, reference_count
from assay.registry import (
    Alias,
    Registry,
    Settings,
    Specification,
    key_and_value,
    read_specification,
    settings_of,
)
from assay.statistics.exact import column_totals
from assay.text import Side, language_by_script, language_of, plain_code
from assay.version import __version__

__all__ = [
    "LONGEST_NGRAM",
    "METRICS",
    "Metric",
    "MetricRequest",
    "NamedRows",
    "Rows",
    "Score",
    "Selection",
    "Statistics",
    "StatisticsCache",
    "cached_statistics",
    "counted_rows",
    "explained_limit",
    "labels",
    "parse",
    "reference_count",
    "registered",
    "select_metrics",
    "system_statistics",
    "verify",
    "with_shared",
]

Rows: TypeAlias = Any
"""(n, k) sums per segment: an array, or a SciPy csr_array."""


class NamedRows(NamedTuple):
    """Rows, and what their columns stand for where that depends on the segments.

    `names` are in alphabetical order, each of the same number of columns; None where every text
    has the same columns.
    """

    rows: Rows
    names: Sequence[str] | None = None


LONGEST_NGRAM = 100
"""No metric counts n-grams of a higher order: rows would grow beyond all use."""

BLOCK = 2**22
"""Sums are worked off in blocks of at most so many numbers, so memory stays bounded."""


PRIVATE = 0xE000
"""Where Unicode's private characters begin."""


@dataclass(frozen=True)
class Score:
    """A figure and what it takes to reproduce it, as sacreBLEU users expect it."""

    name: str
    score: float
    signature: str

    def format(self, width: int = 2) -> str:
        """`BLEU|nrefs:1|... = 31.18`."""
        return f"{self.name}|{self.signature} = {self.score:.{width}f}"

    def __str__(self) -> str:
        return self.format()


class MetricRequest(NamedTuple):
    """How somebody asked for a metric: in these words, which say these of its settings.

    `claims` is what a whole signature says besides, such as the hash of a model.
    """

    text: str
    settings: frozenset[str]
    claims: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Metric(Settings, ABC):
    """Settings only; `str(metric)` names them and `registry.parse` reads them back.

    `request` is no setting: metrics are equal however they were asked for.
    """

    higher_is_better: ClassVar[bool] = True
    needs_references: ClassVar[bool] = True
    scale: ClassVar[str] = "0-100"
    ignores_blanks: ClassVar[bool] = False  # tokenized or not, a text has the same score
    keeps_references: ClassVar[bool] = False  # `corpus_score` keeps them for the next call
    interval_method: ClassVar[Literal["bca", "jackknife"]] = "bca"

    request: MetricRequest | None = field(default=None, kw_only=True, compare=False, repr=False)

    @property
    def requested(self) -> str:
        """The words in which it was asked for; its settings where nobody wrote them."""
        return self.request.text if self.request else str(self)

    @classmethod
    def claims(cls) -> dict[str, str]:
        """What its signature says besides settings, each with what to do instead; {}: its value."""
        run = "it tells of one run"
        return {
            "nrefs": "give as many references as there should be",
            "version": "install that version of the package",
            "test": "choose the test set {}",
            "lang": 'pass languages="{}"',
            "seed": "pass seed={}",
            **dict.fromkeys(("subset", "origlang", "bs", "ar"), run),
        }

    def for_segments(self) -> Metric:
        """The metric with which to score single segments, where its settings leave that open."""
        return self

    def segment_remark(self) -> str:
        """What to know about scores of single segments; nothing for most metrics."""
        return ""

    def language_remark(self, languages: tuple[str, str]) -> str:
        """What to know about scores of these languages, source and target; mostly nothing."""
        return ""

    @property
    def is_small(self) -> bool:
        """Whether scores are of the size of 1, so that people need more decimals of them."""
        return self.scale.endswith("1")

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest score there can be."""
        if self.scale != "0-100":
            return -math.inf, math.inf
        return 0.0, 100.0 if self.higher_is_better else math.inf

    @property
    def needs_languages(self) -> tuple[Side, ...]:
        """The sides whose language decides what the settings leave open: a tagger, a model."""
        return ()

    def for_dataset(self, dataset: Dataset) -> Self:
        """The metric as it is for the languages of these texts, by `languages.language_of`.

        A `DataError` where it is not for them, with the way out.
        """
        return self

    @abstractmethod
    def rows(self, segments: Sequence[Segment]) -> Rows:
        """One row of sums per segment, (n, k); pass the segments of all systems at once."""

    def named_rows(self, segments: Sequence[Segment]) -> NamedRows:
        """The rows, with names for the columns of a metric whose columns depend on the segments."""
        return NamedRows(self.rows(segments))

    def pair_rows(
        self,
        hypotheses: Sequence[Sequence[str]],
        references: Sequence[Sequence[str]],
        sources: Sequence[str] = (),
    ) -> Rows:
        """A row for every hypothesis of a segment with every one of its references, in this order.

        Each holds the texts of every segment. Pairs that are alike are scored once.
        """
        places: dict[Segment, int] = {}
        at = [
            places.setdefault(Segment(text, (reference,), source), len(places))
            for ours, theirs, source in zip(
                hypotheses, references, sources or [""] * len(hypotheses), strict=True
            )
            for text in ours
            for reference in theirs
        ]
        return self.statistics(list(places)).rows[np.array(at, np.intp)]

    def afresh(self) -> AbstractContextManager[None]:
        """Within it, scores depend on their own texts alone, to the last bit."""
        return nullcontext()

    def winners(self, segments: Sequence[Segment]) -> NDArray[np.intp] | None:
        """By segment the number of the reference that counts, from 0, if just one of them does."""
        return None

    @abstractmethod
    def aggregate(self, sums: Array) -> Array:
        """Scores of summed rows: (b, k) to (b,)."""

    def oriented(self, scores: Array) -> Array:
        """Scores of which higher is better: where lower is, the sign is turned."""
        return np.asarray(scores if self.higher_is_better else np.negative(scores))

    @property
    def mask_policy(self) -> Literal["word", "length", "type"]:
        """What stands in for a masked word: a word, its length in letters, or another type."""
        return "word"

    def placeholder(self, number: int) -> str:
        """A word that no text has, to mask others with; each number gives another word.

        By default a private character, which passes every tokenizer as letters do.
        """
        return chr(PRIVATE + number)

    def as_in_muler_paper(self) -> Metric:
        """The metric as the paper on MuLER computes it; itself where the paper does not say."""
        return self

    def each(self, rows: Rows) -> Array:
        """The score of every row by itself, (n,)."""
        return self.aggregate(rows)

    def without_each(self, rows: Rows) -> Array:
        """The score of all rows but one, for every one, (n,)."""
        return self.aggregate(rows.sum(axis=0) - rows)

    def contributions(self, rows: Rows, others: Rows) -> Array:
        """What each segment adds to the difference between two systems' scores, (n,).

        It is the score where the segment is the first system's less the score where it is the
        second's, all other segments lying halfway between the two. So it only changes its sign
        where the systems change places.
        """
        middle = (rows.sum(axis=0) + others.sum(axis=0)) / 2
        half = (rows - others) / 2
        differ = half.any(axis=1)
        moved = np.zeros(len(half))
        moved[differ] = self.aggregate(middle + half[differ]) - self.aggregate(
            middle - half[differ]
        )
        return np.nan_to_num(moved)

    def weighted(self, weights: Any, rows: Rows) -> Array:
        """Scores of weighted sums of the rows: (b, n) weights, dense or sparse, to (b,)."""
        step = max(1, BLOCK // max(1, rows.shape[1]))
        cuts = (weights[at : at + step] for at in range(0, weights.shape[0], step))
        blocks = [self.aggregate(_dense(block @ rows)) for block in cuts]
        return np.concatenate(blocks) if blocks else np.zeros(0)

    def swapped(
        self, rows: Sequence[Rows], pairs: Sequence[tuple[int, int]], keep: Array
    ) -> Iterator[Array]:
        """The difference of each pair of systems in every trial, (b,), from sparse rows.

        Two systems change places on the segments that are not kept: `keep`, (b, n), is 0 there.
        """
        from scipy.sparse import vstack

        ways = np.hstack([keep, 1 - keep]), np.hstack([1 - keep, keep])
        for i, j in pairs:
            stacked = vstack([rows[i], rows[j]], format="csr")
            first, second = (self.weighted(way, stacked) for way in ways)
            yield first - second

    def statistics(self, segments: Sequence[Segment]) -> Statistics:
        """The rows of these segments, ready for every analysis."""
        if self.needs_references:
            _check_references(self, segments)
        return Statistics(self, self.rows(segments))

    @property
    def title(self) -> str:
        """The name people print: BLEU, chrF2++, MacroF1."""
        return self.name.upper()

    def corpus_score(
        self,
        hypotheses: Sequence[str],
        references: Sequence[Sequence[str | None]] | Mapping[str, Sequence[str | None]],
    ) -> Score:
        """Score one system against K reference sets of N lines each, as in sacreBLEU."""
        if isinstance(hypotheses, str):
            raise DataError("corpus_score takes a list of lines; sentence_score takes one string.")
        if self.keeps_references:
            known = known_references(self, references, len(hypotheses))
        else:
            known = new_references(references, len(hypotheses))
        check_lines("hypotheses", hypotheses)
        segments = Segments((tuple(hypotheses),), known.tuples, (), known.prepared)
        return self._score(segments, known.number)

    def sentence_score(self, hypothesis: str, references: Sequence[str]) -> Score:
        """Score one segment against its references, as in sacreBLEU."""
        if not isinstance(hypothesis, str) or isinstance(references, str):
            raise DataError("sentence_score takes one string and a list of reference strings.")
        return self._score(Segments(((hypothesis,),), (tuple(references),)), len(references))

    def get_signature(self, references: int | str = 1) -> str:
        """Everything it takes to reproduce a score, in sacreBLEU's manner."""
        return self.signature(references)

    def _score(self, segments: Segments, references: int | str) -> Score:
        metric = self.for_dataset(Dataset({"": segments.hypotheses[0]}, segments.references))
        score = metric.statistics(segments).corpus()
        return Score(metric.title, score, metric.signature(references))


@dataclass(frozen=True, eq=False)
class Statistics:
    """A metric's rows for some segments; every analysis is a choice of rows and weights."""

    metric: Metric
    rows: Rows

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def __getitem__(self, index: Any) -> Statistics:
        """The statistics of some of the segments: a slice, a mask or positions."""
        return Statistics(self.metric, self.rows[index])

    def corpus(self) -> float:
        """The score of all segments together; the same in whatever order they stand."""
        return float(self.metric.aggregate(_totals(self.rows)[None, :])[0])

    def segments(self) -> Array:
        """The score of every segment by itself, (n,)."""
        return self.metric.each(self.rows)

    def for_segments(self) -> Statistics:
        """The same counts for the metric with which to score single segments."""
        return Statistics(self.metric.for_segments(), self.rows)

    def score(self, weights: Any) -> Array:
        """Scores of weighted sums of the rows: (b, n) weights, dense or sparse, to (b,)."""
        return self.metric.weighted(weights, self.rows)

    def without_each(self) -> Array:
        """The score of all segments but one, for every one, (n,)."""
        return self.metric.without_each(self.rows)

    def benefit(self) -> Array:
        """How much better the corpus score is for having each segment, (n,).

        Positive is good for every metric: where lower is better the sign is turned.
        """
        return self.metric.oriented(self.corpus() - self.without_each())

    def favoritism(self, other: Statistics) -> Array:
        """How much each segment makes the metric prefer this system to the other, (n,)."""
        return self.benefit() - other.benefit()

    def contributions(self, other: Statistics) -> Array:
        """What each segment adds to the difference from another system's score, (n,).

        Positive is good for this system: where lower is better the sign is turned.
        """
        return self.metric.oriented(self.metric.contributions(self.rows, other.rows))


def counted_rows(metric: Metric, segments: Sequence[Segment]) -> NamedRows:
    """The rows of these segments, which are checked first, with the names of their columns."""
    if metric.needs_references:
        _check_references(metric, segments)
    return metric.named_rows(segments)


def _check_references(metric: Metric, segments: Sequence[Segment]) -> None:
    columns = segments.references if isinstance(segments, Segments) else ()
    if not all(columns or map(itemgetter(1), segments)):
        number = next(at for at, segment in enumerate(segments, 1) if not segment.references)
        raise DataError(
            f"{metric} compares with references, but segment {number} has none. Name one, or take "
            "a metric that reads the source alone, as xbertscore."
        )


@contextmanager
def explained_limit(metric: Metric, segments: Sequence[Segment], unit: str) -> Iterator[None]:
    """Where the kernel finds two lines too long to compare, a `DataError` says which ones."""
    try:
        yield
    except kernel.TooLong as error:
        at, hypothesis, reference = error.args
        start = segments[at].hypothesis[:40]
        raise DataError(
            f"{metric}: the segment that begins with {start!r} has {hypothesis:,} {unit} and its "
            f"reference {reference:,}: more than 10,000,000,000,000 pairs to compare. Cut such "
            "lines into sentences, or take a metric whose time does not grow with the square of a "
            "line, as chrf."
        ) from None


def _totals(rows: Rows) -> Array:
    # Without rounding in between, so that parts of a corpus add up to the score of all of it.
    if isinstance(rows, np.ndarray) and not are_small_and_whole(rows):
        return column_totals(rows)
    return np.asarray(rows.sum(axis=0), float)


def _dense(sums: Any) -> Array:
    return np.asarray(sums.toarray() if hasattr(sums, "toarray") else sums, float)


def system_statistics(
    dataset: Dataset, metric: Metric, segments: Sequence[Segment] | None = None
) -> list[Statistics]:
    """The statistics of each system, from one call so that all share columns and references.

    The metric is made to fit the languages of the dataset first.
    """
    metric = metric.for_dataset(dataset)
    if (cache := _CACHE.get()) is not None:
        return cache.statistics(dataset, metric)
    all_segments = dataset.all_segments() if segments is None else segments
    together = metric.statistics(all_segments)
    length = len(dataset)
    if len(dataset.systems) == 1:
        return [together]
    return [together[at * length : (at + 1) * length] for at in range(len(dataset.systems))]


class StatisticsCache(Protocol):
    """Statistics that are kept for later: what `system_statistics` asks before it counts."""

    def statistics(self, dataset: Dataset, metric: Metric) -> list[Statistics]:
        """The statistics of each system, by a metric that fits the languages of the dataset."""


_CACHE: ContextVar[StatisticsCache | None] = ContextVar("statistics cache", default=None)


@contextmanager
def cached_statistics(cache: StatisticsCache) -> Iterator[None]:
    """Within it, `system_statistics` takes what the cache has, and lets it keep the rest."""
    before = _CACHE.set(cache)
    try:
        yield
    finally:
        _CACHE.reset(before)


def labels(metrics: Sequence[Metric]) -> list[str]:
    """The metrics' titles; those that share a title as they were asked for, if that tells."""
    titles = [metric.title for metric in metrics]
    shared = [title for title in titles if titles.count(title) > 1]
    words = [metric.requested for metric in metrics if metric.title in shared]
    tell = len(set(words)) == len(words) and not any("|" in text for text in words)
    return [
        title if title not in shared else metric.requested if tell else str(metric)
        for metric, title in zip(metrics, titles, strict=True)
    ]


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
    "fault": "assay.metrics.faults:Fault",
    "entities": "assay.metrics.entities:Entities",
    "entityf": "assay.metrics.entities:EntityF",
    "relations": "assay.metrics.entities:Relations",
    "xscore": "assay.metrics.entities:XScore",
    "boost": "assay.explanation.boosted:Boosted",
    "bertscore": "assay.metrics.neural.bertscore:BERTScore",
    "embed": "assay.metrics.neural.embed:Embed",
    "xmover": "assay.metrics.neural.xmover:XMover",
    "comet": "assay.metrics.neural.comet:COMET",
    "random": "assay.metrics.mean:RandomMetric",
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
