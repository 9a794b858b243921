"""MuLER with all that says how far to trust it, and differences by scorers of sentences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.data import Array, DataError, Dataset, MissingInput
from assay.decomposition.decompose import (
    ENOUGH,
    PRESETS,
    Annotated,
    Decomposition,
    FeatureScore,
    Parts,
    Preset,
    decompose,
    is_few,
    preset_named,
    ratio,
)
from assay.decomposition.mask import MaskUnit
from assay.decomposition.report import MulerScores
from assay.decomposition.texts import annotate
from assay.features.annotation import Annotator, Feature
from assay.features.lexicons import Lexicon, SentenceScorer, parse_scorers, score_lines
from assay.features.select import DEFAULT_FEATURES
from assay.io.files import FilePath
from assay.metrics.base import Metric, Statistics, labels, select_metrics
from assay.metrics.mean import Mean
from assay.plots import bar_chart
from assay.progress import Engine, Track, spread, untracked
from assay.registry import SEED
from assay.results import (
    CellValue,
    Chart,
    Charts,
    Column,
    Columns,
    CombinedResult,
    Direction,
    LabelledResult,
    Record,
    Result,
    Table,
    known,
)
from assay.statistics.intervals import Interval, interval, jackknife_interval, jackknife_p
from assay.statistics.significance import benjamini_hochberg, bootstrap
from assay.text import Side, language_notes, language_of

__all__ = [
    "MulerEstimate",
    "MulerResult",
    "ScorerDifference",
    "ScorerResult",
    "Sentences",
    "by_sentence",
    "muler",
    "muler_scores",
    "scorer_differences",
]


_UNKNOWN = Interval(math.nan, math.nan, math.nan)


@spread
def muler(
    data: Dataset,
    metrics: str | Metric | Iterable[str | Metric] = "bleu",
    features: str | Sequence[str] = DEFAULT_FEATURES,
    *,
    annotator: str | Annotator | None = None,
    pipeline: str = "",
    tags: Sequence[FilePath] = (),
    cache: bool = True,
    preset: str = "corpus",
    per: MaskUnit = "token",
    scorers: Sequence[str] = (),
    resamples: int = 1000,
    seed: int = SEED,
    cluster: Engine = None,
    track: Track = untracked,
) -> MulerResult:
    """Take metrics apart by linguistic features (MuLER, Karidi et al., 2023).

    For each feature the texts are scored as they are, with its words masked alike on both sides
    (as if all were right) and masked apart (as if all were wrong). MuLER says how much of that
    range is lost: 0 is perfect, 1 is as bad as can be.

    `features` are kinds (`"upos"`, `"ner"`), some of a kind (`"ner:PERSON,GPE"`) or bare names
    (`"NOUN"`). Texts are tagged by spaCy: by the `pipeline` of that name, or the one for the
    target language; or else by `annotator`; or `tags` names files with tags of your own, one per
    text, references first, then the systems. Tagging is kept on disk for the next time, unless
    `cache` is False.

    `preset` says how sentences make a score: `"corpus"`, `"sentence"` or `"paper"`. `per` masks
    each `"token"`, or each `"span"` of several tokens at once. `scorers` compare the tone of the
    texts, too (`"sentiment"`, `"concreteness"`, `"NAME=FILE"`), with intervals by `resamples`;
    `resamples=0` leaves out all intervals and tests, MuLER's own as well.

    >>> from assay.demo import read_demo
    >>> result = muler(read_demo(), "bleu", "gender")
    >>> [(record["system"], round(record["muler"], 2)) for record in result.records()]
    [('atlas', 0.02), ('birch', 0.01), ('cedar', 0.19)]
    """
    way, tones = preset_named(preset), parse_scorers(scorers)
    selection = select_metrics([metrics] if isinstance(metrics, str | Metric) else metrics, data)
    annotated = annotate(
        data,
        features,
        annotator=annotator,
        pipeline=pipeline,
        tags=tags,
        cache=cache,
        track=track,
    )
    by_metric = tuple(
        muler_scores(
            annotated.texts,
            metric,
            annotated.features,
            preset=way,
            per=per,
            tested=resamples > 0,
        )
        for metric in track(selection.metrics, total=len(selection.metrics))
    )
    rng = np.random.default_rng(seed)
    tone = scorer_differences(data, tones, resamples=resamples, rng=rng) if tones else None
    english: tuple[Side, ...] = ("target",) if any(s.needs_english for s in tones) else ()
    sides = tuple(dict.fromkeys((*annotated.sides, *english)))
    notes = (*selection.notes, *annotated.notes, *language_notes(data, english))
    return MulerResult(by_metric, tone, sides, tuple(dict.fromkeys(notes)))


@dataclass(frozen=True, eq=False)
class MulerResult(Result):
    """MuLER by every metric, and how the tone of the texts differs if that was asked for.

    `sides` are those whose language decided how texts were annotated or scored.
    """

    by_metric: tuple[MulerScores, ...]
    tone: ScorerResult | None = None
    sides: tuple[Side, ...] = ()
    notes: tuple[str, ...] = ()
    """What to know: the languages taken, metrics that do not suit them, a cache that fails."""

    def tables(self) -> list[Table]:
        """Those of every metric, and those of the tone."""
        return self._together().tables()

    def paper_tables(self) -> list[Table]:
        """The first table of every metric, and that of the tone."""
        return self._together().paper_tables()

    def charts(self) -> Charts:
        """Those of every metric, and those of the tone."""
        return self._together().charts()

    def records(self) -> list[Record]:
        """One per metric, system and feature, and one per scorer of the tone and system."""
        return self._together().records()

    def _together(self) -> CombinedResult:
        results: list[Result] = list(self.by_metric)
        if len(results) > 1:
            names = labels([scores.metric for scores in self.by_metric])
            results = [LabelledResult(*pair) for pair in zip(names, results, strict=True)]
        return CombinedResult(*results, *([self.tone] if self.tone else []))


def muler_scores(
    annotated: Annotated,
    metric: Metric,
    features: Sequence[Feature],
    *,
    preset: Preset = PRESETS["corpus"],
    per: MaskUnit = "token",
    tested: bool = True,
) -> MulerScores:
    """One metric taken apart, with intervals and paired tests against the first system.

    Both are by jackknife, so that nothing is drawn at random; `tested=False` leaves them out. A
    feature of few sentences has neither.
    """
    if not features:
        raise MissingInput("features", "there is no feature to look at")
    parts = decompose(annotated, metric, features, preset=preset, per=per)
    scores = [score for feature in parts.features for score in _of_feature(parts, feature, tested)]
    return MulerScores(
        parts.metric, preset, parts.systems, parts.features, _corrected(scores), tested
    )


@dataclass(frozen=True, eq=False)
class MulerEstimate:
    """MuLER of one feature and system, by leaving out each sentence of I in turn."""

    parts: Parts

    @cached_property
    def value(self) -> float:
        """MuLER."""
        return float(ratio(self.parts.scores()))

    @cached_property
    def without_each(self) -> Array:
        """MuLER without each sentence of I."""
        if len(self.parts.chosen) < 2:
            return np.full(len(self.parts.chosen), np.nan)
        return ratio(self.parts.without_each())

    def interval(self) -> Interval:
        """The 95 % interval, however few sentences there are."""
        return jackknife_interval(self.value, self.without_each)

    def p(self, first: MulerEstimate) -> float:
        """How likely chance alone would set the system so far apart from the first one.

        Every sentence that either has in I is left out of both.
        """
        segments = np.union1d(self.parts.chosen, first.parts.chosen)
        own, other = self._over(segments), first._over(segments)
        return jackknife_p(self.value - first.value, own - other)

    def _over(self, segments: NDArray[np.intp]) -> Array:
        values = np.full(len(segments), self.value)
        values[np.searchsorted(segments, self.parts.chosen)] = self.without_each
        return values


def _of_feature(decomposed: Decomposition, feature: Feature, tested: bool) -> list[FeatureScore]:
    first = MulerEstimate(decomposed.parts[feature, decomposed.systems[0]])
    scores: list[FeatureScore] = []
    for system in decomposed.systems:
        key = feature, system
        parts = decomposed.parts[key]
        plain, oracle, anti = parts.scores() * decomposed.preset.scale
        n = len(parts.chosen)
        estimate = first if system == decomposed.systems[0] else MulerEstimate(parts)
        interval = estimate.interval() if tested and n >= ENOUGH else _UNKNOWN
        few = is_few(min(n, len(first.parts.chosen)))
        sentences = by_sentence(parts, decomposed.metric)
        under, over, equal = _discrepancy(decomposed.counts[key][parts.chosen])
        of_reference, of_system = decomposed.usage[key]
        scores.append(
            FeatureScore(
                feature=feature,
                system=system,
                n=n,
                plain=float(plain),
                oracle=float(oracle),
                anti=float(anti),
                muler=estimate.value,
                low=interval.low,
                high=interval.high,
                abl=float(oracle - plain),
                under=under,
                over=over,
                equal=equal,
                frequency_ref=of_reference.frequency,
                frequency_sys=of_system.frequency,
                uniqueness_ref=of_reference.uniqueness,
                uniqueness_sys=of_system.uniqueness,
                per_sentence=sentences.ratio,
                negative=sentences.negative,
                undefined=sentences.undefined,
                p=estimate.p(first) if tested and not few and estimate is not first else math.nan,
            )
        )
    return scores


class Sentences(NamedTuple):
    """MuLER as the mean of sentences' ratios, and the sentences that have none."""

    ratio: float
    negative: int
    undefined: int


def by_sentence(parts: Parts, metric: Metric) -> Sentences:
    """The variant of the paper's Tables 3 and 15: a ratio per sentence, where it makes sense.

    A sentence counts where masking gains something and no more than there is to gain; the sum is
    divided by all of I. Sentences that lose by the oracle are negative (appendix G), those where
    oracle and anti-oracle are equal undefined.
    """
    if not len(parts.chosen):
        return Sentences(math.nan, 0, 0)
    plain, oracle, anti = (metric.oriented(part.segments()) for part in parts[1:])
    gain, spread = oracle - plain, oracle - anti
    tiny = 1e-9 * np.maximum(1, np.abs(oracle))
    good = (gain > tiny) & (gain <= spread + tiny)
    total = float((gain[good] / spread[good]).sum())
    negative = int(np.count_nonzero(gain < -tiny))
    undefined = int(np.count_nonzero(np.abs(spread) <= tiny))
    return Sentences(total / len(gain), negative, undefined)


def _discrepancy(counts: NDArray[np.intp]) -> tuple[float, float, float]:
    """The shares of I in which the output has the feature less, more and just as often."""
    if not len(counts):
        return math.nan, math.nan, math.nan
    wanted, given = counts.T
    return (
        float(np.mean(wanted > given)),
        float(np.mean(wanted < given)),
        float(np.mean(wanted == given)),
    )


def _corrected(scores: Sequence[FeatureScore]) -> tuple[FeatureScore, ...]:
    """The same with p corrected over the features of each system (Benjamini and Hochberg)."""
    corrected = list(scores)
    for system in {score.system for score in scores}:
        own = [at for at, score in enumerate(scores) if score.system == system]
        for at, p in zip(own, benjamini_hochberg([scores[at].p for at in own]), strict=True):
            corrected[at] = scores[at].with_correction(float(p))
    return tuple(corrected)


FEW = 0.5
"""Below this share of segments with words of the lexicon on both sides, the table warns."""

CALIBRATED = 300
"""Intervals of fewer segments are only approximate (benchmarks/calibrations/muler.py)."""

Counts: TypeAlias = NDArray[np.int64]

_MEAN = Mean("difference")


class ToneEstimate(NamedTuple):
    """A mean over segments and its bootstrap interval; `nan` where nothing was resampled."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class ScorerDifference:
    """One system by one scorer: the means of s(r) - s(c) and of |s(r) - s(c)| over segments.

    `found_ref` and `found_sys` count the segments with a word of the lexicon, in any reference
    and in the system's output.
    """

    system: str
    scorer: SentenceScorer
    lexicon: Lexicon
    n: int
    signed: ToneEstimate
    absolute: ToneEstimate
    found_ref: int
    found_sys: int


@dataclass(frozen=True, eq=False)
class ScorerResult(Result):
    """Differences of all systems by all scorers."""

    differences: tuple[ScorerDifference, ...]
    level: float
    resamples: int

    def records(self) -> list[Record]:
        """One record per scorer and system."""
        return [_record(difference) for difference in self.differences]

    def tables(self) -> list[Table]:
        """A table per scorer, for their scales differ."""
        return [self._table(*group) for group in self._by_scorer()]

    def charts(self) -> Charts:
        """Bars with intervals for both kinds of difference, a chart per scorer."""
        return Charts(self._chart(*group) for group in self._by_scorer())

    def _by_scorer(self) -> list[tuple[str, list[ScorerDifference]]]:
        groups: dict[SentenceScorer, list[ScorerDifference]] = {}
        for difference in self.differences:
            groups.setdefault(difference.scorer, []).append(difference)
        return [(_title(group[0]), group) for group in groups.values()]

    def _table(self, title: str, group: Sequence[ScorerDifference]) -> Table:
        ends = ("", " low", " high") if self.resamples else ("",)
        means = tuple(f"{kind}{end}" for kind in _KINDS for end in ends)
        columns: Columns = (
            "system",
            *(Column(name, digits=3, direction=_BETTER.get(name)) for name in means),
            *(Column(name) for name in ("segments", "found ref", "found sys")),
        )
        rows: list[tuple[CellValue, ...]] = [
            (
                difference.system,
                *difference.signed[: len(ends)],
                *difference.absolute[: len(ends)],
                difference.n,
                difference.found_ref,
                difference.found_sys,
            )
            for difference in group
        ]
        return Table(title, columns, rows, self._note(group))

    def _note(self, group: Sequence[ScorerDifference]) -> str:
        lexicon = group[0].lexicon
        note = (
            "signed: the mean of reference minus system. absolute: the mean of its size. Scores "
            f"lie between {lexicon.low:g} and {lexicon.high:g}; a text without words of the "
            f"lexicon has 0. found: segments with such a word.{self._interval_note(group)}"
        )
        few = [difference.system for difference in group if _is_thin(difference)]
        if not few:
            return note
        return f"{note} Few segments have words of this lexicon: {', '.join(few)}."

    def _interval_note(self, group: Sequence[ScorerDifference]) -> str:
        if not self.resamples:
            return ""
        approximate = (
            f", approximate for fewer than {CALIBRATED} segments" if group[0].n < CALIBRATED else ""
        )
        return (
            f" low, high: {self.level:.0%} BCa bootstrap interval, {self.resamples} resamples"
            f"{approximate}."
        )

    def _chart(self, title: str, group: Sequence[ScorerDifference]) -> Chart:
        records = [
            {"system": difference.system, "kind": kind, **getattr(difference, kind)._asdict()}
            for difference in group
            for kind in _KINDS
        ]
        low, high = ("low", "high") if self.resamples else (None, None)
        chart = bar_chart(
            title, records, "system", "value", "kind",
            y_title="reference minus system", low=low, high=high,
        )  # fmt: skip
        return replace(chart, after=title)


def scorer_differences(
    dataset: Dataset,
    scorers: Sequence[SentenceScorer],
    *,
    level: float = 0.95,
    resamples: int = 1000,
    rng: np.random.Generator,
) -> ScorerResult:
    """How far every system is from the references by every scorer, over all segments.

    With several references, a segment's difference is the mean of those to each of them. All
    intervals come from the same resamples of the segments; `resamples=0` leaves them out.
    """
    if not scorers:
        raise DataError("no scorer given: pass at least one, such as sentiment.")
    if not dataset.systems or not len(dataset):
        raise DataError("sentence scorers compare systems with references: there are none.")
    _check_references(dataset)
    for scorer in scorers:
        if scorer.needs_english:
            scorer.check_language(language_of(dataset, "target"))
    measured = [one for scorer in scorers for one in _measure(dataset, scorer)]
    statistics = [own for one in measured for own in (one.signed, one.absolute)]
    replicates = bootstrap(statistics, resamples=resamples, rng=rng)
    pairs = zip(statistics, replicates, strict=True)
    estimates = iter([_estimate(own, sample, level) for own, sample in pairs])
    differences = [one.with_estimates(next(estimates), next(estimates)) for one in measured]
    return ScorerResult(tuple(differences), level, resamples)


class _Measured(NamedTuple):
    """One system by one scorer, before anything is resampled."""

    system: str
    scorer: SentenceScorer
    lexicon: Lexicon
    signed: Statistics
    absolute: Statistics
    found_ref: int
    found_sys: int

    def with_estimates(self, signed: ToneEstimate, absolute: ToneEstimate) -> ScorerDifference:
        return ScorerDifference(
            self.system, self.scorer, self.lexicon, len(self.signed), signed, absolute,
            self.found_ref, self.found_sys,
        )  # fmt: skip


def _check_references(dataset: Dataset) -> None:
    for number, references in enumerate(dataset.references, 1):
        if not references:
            raise DataError(f"scorers compare with references, but segment {number} has none.")


def _measure(dataset: Dataset, scorer: SentenceScorer) -> list[_Measured]:
    lexicon = scorer.lexicon()
    lines = [*chain.from_iterable(dataset.references), *chain(*dataset.systems.values())]
    scored = score_lines(lexicon, lines, negation=scorer.negates)
    counts = np.array([len(references) for references in dataset.references], np.int64)
    cut, shape = int(counts.sum()), (len(dataset.systems), len(dataset))
    found_ref = np.count_nonzero(_means(scored.found[:cut].astype(float), counts))
    found_sys = np.count_nonzero(scored.found[cut:].reshape(shape), axis=1)
    systems = zip(dataset.systems, scored.scores[cut:].reshape(shape), found_sys, strict=True)
    return [
        _Measured(
            name, scorer, lexicon, *_statistics(scored.scores[:cut], counts, scores),
            int(found_ref), int(count),
        )
        for name, scores, count in systems
    ]  # fmt: skip


def _statistics(references: Array, counts: Counts, scores: Array) -> tuple[Statistics, Statistics]:
    """The signed and the absolute difference of every segment, as means to be resampled."""
    differences = references - np.repeat(scores, counts)
    return _MEAN.of(_means(differences, counts)), _MEAN.of(_means(np.abs(differences), counts))


def _means(values: Array, counts: Counts) -> Array:
    """The mean over the references of each segment, which stand one after the other."""
    starts = np.cumsum(counts) - counts
    means: Array = np.add.reduceat(values, starts) / counts
    return means


def _estimate(statistics: Statistics, replicates: Array, level: float) -> ToneEstimate:
    value = statistics.corpus()
    jackknife = statistics.without_each()
    limits = interval(value, replicates, level=level, jackknife=jackknife)
    return ToneEstimate(value, limits.low, limits.high)


def _is_thin(difference: ScorerDifference) -> bool:
    return min(difference.found_ref, difference.found_sys) < FEW * difference.n


def _title(difference: ScorerDifference) -> str:
    return f"{difference.scorer.title}: {difference.lexicon.name}"


def _record(difference: ScorerDifference) -> Record:
    record: Record = {
        "system": difference.system,
        "scorer": difference.scorer.title,
        "lexicon": difference.lexicon.name,
        "n": difference.n,
    }
    for kind in _KINDS:
        value, low, high = map(known, getattr(difference, kind))
        record |= {kind: value, f"{kind}_low": low, f"{kind}_high": high}
    return record | {"found_ref": difference.found_ref, "found_sys": difference.found_sys}


_KINDS = ("signed", "absolute")
_BETTER: dict[str, Direction] = {"absolute": "low"}
