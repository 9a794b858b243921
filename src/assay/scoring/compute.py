"""Scoring: statistics once per metric, and every answer from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from assay.data import (
    Array,
    DataError,
    Dataset,
    MissingInput,
    Scores,
    check_lines,
    language_pair,
    reference_tuples,
)
from assay.io.files import FilePath
from assay.metrics.base import (
    Metric,
    Statistics,
    reference_count,
    select_metrics,
    system_statistics,
)
from assay.metrics.mean import Mean
from assay.progress import Engine, Track, spread, untracked
from assay.registry import SEED
from assay.scoring.oddities import oddities
from assay.scoring.report import (
    FEWEST,
    Grouped,
    MetricScores,
    Part,
    ScoreOptions,
    ScoreResult,
    SegmentMetric,
    parts,
)
from assay.statistics.significance import (
    BootstrapStatistic,
    Comparison,
    Interval,
    IntervalMethod,
    against_first,
    all_pairs,
    bootstrap,
    holm,
    interval,
    paired_bootstrap,
    paired_jackknife,
    paired_randomisation,
    rank_clusters,
    significant,
)
from assay.statistics.weights import groups
from assay.store.observing import Estimate, estimate, observe_metric, slice_signature
from assay.store.results import ResultStore, use_store
from assay.store.runs import Observation

__all__ = [
    "score",
    "score_dataset",
    "score_each",
]

References: TypeAlias = Sequence[Sequence[str | None]] | Mapping[str, Sequence[str | None]]
"""K reference sets of N lines each."""

DEFAULT = ScoreOptions()


class ScoreKeywords(TypedDict, total=False):
    """The options of `score`, which documents them."""

    by_segment: bool
    by_document: bool
    by_group: bool
    confidence: bool
    interval: IntervalMethod | None
    level: float
    test: Literal["bootstrap", "randomisation"] | None
    statistic: BootstrapStatistic
    all_pairs: bool
    resamples: int | None
    trials: int | None
    scores: Sequence[Scores]
    store: FilePath | None
    run_name: str
    seed: int
    cluster: Engine
    track: Track


@overload
def score(
    data: Dataset, metrics: Iterable[str | Metric] = ..., /, **options: Unpack[ScoreKeywords]
) -> ScoreResult: ...


@overload
def score(
    data: Mapping[str, Sequence[str]],
    references: References,
    metrics: Iterable[str | Metric] = ...,
    /,
    *,
    sources: Sequence[str] = ...,
    documents: Sequence[str] = ...,
    languages: str | tuple[str, str] | None = ...,
    **options: Unpack[ScoreKeywords],
) -> ScoreResult: ...


@spread
def score(
    data: Dataset | Mapping[str, Sequence[str]],
    *given: Any,
    metrics: Iterable[str | Metric] = ("bleu",),
    sources: Sequence[str] = (),
    documents: Sequence[str] = (),
    languages: str | tuple[str, str] | None = None,
    by_segment: bool = False,
    by_document: bool = False,
    by_group: bool = False,
    confidence: bool = False,
    interval: IntervalMethod | None = None,
    level: float = 0.95,
    test: Literal["bootstrap", "randomisation"] | None = None,
    statistic: BootstrapStatistic = "two-sided",
    all_pairs: bool = False,
    resamples: int | None = None,
    trials: int | None = None,
    scores: Sequence[Scores] = (),
    store: FilePath | None = None,
    run_name: str = "",
    seed: int = SEED,
    cluster: Engine = None,
    track: Track = untracked,
) -> ScoreResult:
    """Score every system by every metric: `score(data, metrics)`.

    Lists work as in sacreBLEU: `score({name: lines}, [reference_lines, ...], metrics)`, where
    `sources`, `documents` and `languages` (`"de-en"`) may be given as well.

    - `by_segment`, `by_document`, `by_group`: score each of them, too.
    - `confidence`: intervals at `level`; `interval` names the method (`"bca"`, `"jackknife"` ...).
    - `test`: is each system different from the first, or with `all_pairs` every system from every
      other? By paired `"bootstrap"` or approximate `"randomisation"`, with as many `resamples` or
      `trials` as it takes. `statistic="sacrebleu"` counts as sacreBLEU does.
    - `scores`: segment scores from elsewhere, treated like a metric.
    - `store`: a folder that keeps results: what is scored already is not scored again, and the run
      is written down as `run_name` for `history`. Figures are the same with and without.
    - `cluster`: where to resample, as in `"local:8"`: see docs/cluster.md.

    >>> result = score({"a": ["a cat"], "b": ["XYZ"]}, [["a cat"]], ["chrf"])
    >>> [(record["system"], record["score"]) for record in result.records()]
    [('a', 100.0), ('b', 0.0)]
    >>> from assay.demo import read_demo
    >>> tested = score(read_demo(), ["chrf"], test="bootstrap")
    >>> [record["p"] for record in tested.records()]
    [None, 0.14385614385614387, 0.000999000999000999]
    """
    options = ScoreOptions(
        segments=by_segment,
        documents=by_document,
        groups=by_group,
        confidence=confidence or interval is not None,
        method=interval,
        level=level,
        test=test or "none",
        statistic=statistic,
        all_pairs=all_pairs,
        resamples=resamples,
        trials=trials,
    )
    if isinstance(data, Dataset):
        dataset, (metrics,) = data, given or (metrics,)
    else:
        references, metrics = (*given, metrics)[:2] if given else (None, metrics)
        dataset = _dataset(data, references, sources, documents, languages)
    selection = select_metrics(metrics, dataset)
    with use_store(store) if store else nullcontext() as kept:
        result = score_dataset(
            dataset, selection.metrics, imported=scores, options=options, seed=seed, track=track
        )
        if kept:
            kept.add_dataset_run(
                "score", dataset, _observations(kept, dataset, result, scores), name=run_name
            )
    return replace(
        result, notes=(*selection.notes, *result.notes, *oddities(dataset, selection.metrics))
    )


def score_dataset(
    dataset: Dataset,
    metrics: Sequence[Metric],
    *,
    imported: Sequence[Scores] = (),
    options: ScoreOptions = DEFAULT,
    seed: int = SEED,
    track: Track = untracked,
) -> ScoreResult:
    """Score every system of a dataset by every metric, and by imported segment scores."""
    asked = options.filled(dataset)
    steps = score_each(dataset, metrics, imported=imported, options=asked, seed=seed)
    entries = tuple(track(steps, total=len(metrics) + len(imported)))
    remarks = [metric.for_segments().segment_remark() for metric in metrics if asked.segments]
    return ScoreResult(tuple(dataset.systems), entries, asked, tuple(filter(None, remarks)))


def score_each(
    dataset: Dataset,
    metrics: Sequence[Metric],
    *,
    imported: Sequence[Scores] = (),
    options: ScoreOptions = DEFAULT,
    seed: int = SEED,
) -> Iterator[MetricScores]:
    """What each metric says, one after the other as they are ready."""
    options = options.filled(dataset)
    _check(dataset, options, seed)
    _check_metrics(metrics, imported)
    metrics = [metric.for_dataset(dataset) for metric in metrics]
    segments = dataset.all_segments()
    count = reference_count(dataset.references)
    for metric in metrics:
        statistics = system_statistics(dataset, metric, segments)
        yield _answer(dataset, statistics, count, options, seed)
    for scores in imported:
        yield _answer(dataset, _imported_statistics(dataset, scores), count, options, seed)


def _observations(
    store: ResultStore, dataset: Dataset, result: ScoreResult, imported: Sequence[Scores]
) -> Iterator[Observation]:
    """What a store keeps of the result: scores with intervals, of parts of the test set, too."""
    level, by_name = result.options.level, {scores.name: scores for scores in imported}
    for entry in result.by_metric:
        if entry.intervals is not None:
            method = result.options.method_for(entry.metric, entry.length)
            figures = [
                Estimate(float(value), low, high, entry.length, method)
                for value, (low, high, _) in zip(entry.corpus, entry.intervals, strict=True)
            ]
        else:
            given = by_name.get(entry.metric.title) if isinstance(entry.metric, Mean) else None
            statistics = (
                system_statistics(dataset, entry.metric)
                if given is None
                else _imported_statistics(dataset, given)
            )
            figures = [estimate(each, level=level) for each in statistics]
        whole = [
            observe_metric(store, dataset, entry.metric, system, figure, level=level)
            for system, figure in zip(result.systems, figures, strict=True)
        ]
        yield from whole
        for kind, grouped in parts(entry):
            for part in grouped:
                labels = dataset.documents if kind == "document" else dataset.groups
                segments = np.flatnonzero(np.array(labels, dtype=object) == part.name)
                yield from _part_observations(kind, part, segments, whole)


def _part_observations(
    kind: str, part: Part, segments: NDArray[np.intp], whole: Sequence[Observation]
) -> Iterator[Observation]:
    """The same of a document or group, which is called as `compare` calls it."""
    unknown = [Interval(np.nan, np.nan, np.nan)] * len(whole)
    for seen, value, (low, high, _) in zip(
        whole, part.scores, part.intervals or unknown, strict=True
    ):
        yield replace(
            seen, kind="slice", name=f"{kind} {part.name}", value=float(value), low=low, high=high,
            n=part.segments, rows="", interval=seen.interval if part.intervals else "",
            signature=slice_signature(seen.signature, segments),
        )  # fmt: skip


def _dataset(
    systems: Mapping[str, Sequence[str]],
    references: References | None,
    sources: Sequence[str],
    documents: Sequence[str],
    languages: str | tuple[str, str] | None,
) -> Dataset:
    """The lists of a call in sacreBLEU's manner as a dataset."""
    if not isinstance(systems, Mapping) or not systems:
        raise DataError("systems are given by name: pass {name: lines, ...}.")
    if references is None:
        raise DataError("no references given: pass a list of reference sets, [reference_lines].")
    lines = {name: _lines(f"system {name!r}", texts) for name, texts in systems.items()}
    return Dataset(
        systems=lines,
        references=reference_tuples(references, len(next(iter(lines.values())))),
        sources=_lines("the source", sources),
        documents=_lines("the list of documents", documents),
        languages=language_pair(languages) if isinstance(languages, str) else languages,
    )


def _lines(label: str, lines: Sequence[str]) -> tuple[str, ...]:
    if isinstance(lines, str):
        raise DataError(f"{label} is one string; pass a list of lines.")
    check_lines(label, lines)
    return tuple(lines)


def _check(dataset: Dataset, options: ScoreOptions, seed: int) -> None:
    if not len(dataset) or not dataset.systems:
        raise DataError("there is nothing to score: give at least one system and one segment.")
    if options.groups and not dataset.groups:
        raise MissingInput("groups", "group scores need a group for each segment")
    if options.documents and not dataset.documents:
        raise MissingInput("documents", "document scores need document ids")
    if options.test != "none" and len(dataset.systems) < 2:
        raise MissingInput("systems", "a paired test compares systems, at least two")
    if min(options.resamples or 0, options.trials or 0) < 1:
        raise DataError("the number of resamples or trials is at least 1.")
    if not 0 < options.level < 1:
        raise DataError(f"level {options.level:g}: give a share between 0 and 1, such as 0.95.")
    if seed < 0:
        raise DataError(f"seed {seed}: give a whole number of at least 0.")


def _check_metrics(metrics: Sequence[Metric], imported: Sequence[Scores]) -> None:
    if not metrics and not imported:
        raise DataError("no metric given: pass at least one, as in ['bleu'].")
    names = [scores.name for scores in imported]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise DataError(f"two files of scores are called {twice!r}; rename one.")


def _imported_statistics(dataset: Dataset, scores: Scores) -> list[Statistics]:
    if scores.granularity != "segment":
        raise DataError(
            f"{scores.name}: scores of segments are needed here, not of {scores.granularity}s."
        )
    if len(scores.items) != len(dataset):
        raise DataError(
            f"{scores.name}: {len(scores.items)} scores per system, but there are {len(dataset)} "
            "segments. Give one for each, nan where it is unknown."
        )
    if missing := [name for name in dataset.systems if name not in scores.systems]:
        raise DataError(f"{scores.name}: no scores of {', '.join(missing)}.")
    return [Mean(scores.name).of(scores.of(system)) for system in dataset.systems]


def _answer(
    dataset: Dataset,
    statistics: list[Statistics],
    references: int | str,
    options: ScoreOptions,
    seed: int,
) -> MetricScores:
    metric = statistics[0].metric
    counted = references if metric.needs_references else None
    by_segment = metric.for_segments()
    replicates = _replicates(statistics, options, seed)
    comparisons = _compare(statistics, replicates, options, seed)
    corpus = np.array([each.corpus() for each in statistics])
    return MetricScores(
        metric=metric,
        signature=_signature(metric, counted),
        length=len(dataset),
        corpus=corpus,
        intervals=_intervals(statistics, corpus, replicates, options),
        segments=_by_segment(statistics, by_segment) if options.segments else None,
        documents=_parts(dataset.documents, statistics, options, seed)
        if options.documents
        else None,
        groups=_in_natural_order(_parts(dataset.groups, statistics, options, seed))
        if options.groups
        else None,
        comparisons=comparisons,
        clusters=_clusters(metric, corpus, comparisons) if options.all_pairs else None,
        winners=_winners(dataset, metric) if options.segments and references != 1 else None,
        by_segment=SegmentMetric(by_segment, _signature(by_segment, counted)),
    )


def _signature(metric: Metric, references: int | str | None) -> str:
    return f"{metric.title}|{metric.signature(references)}"


def _by_segment(statistics: list[Statistics], metric: Metric) -> Array:
    """The scores of every system's segments; the rows are those of the corpus score."""
    return np.array([Statistics(metric, each.rows).segments() for each in statistics])


def _winners(dataset: Dataset, metric: Metric) -> NDArray[np.intp] | None:
    if not metric.needs_references:
        return None
    found = metric.winners(dataset.all_segments())
    return None if found is None else found.reshape(len(dataset.systems), -1)


def _replicates(statistics: list[Statistics], options: ScoreOptions, seed: int) -> Array:
    """Bootstrap scores for the intervals and the paired bootstrap; none where neither is done."""
    metric, length = statistics[0].metric, len(statistics[0])
    resampled = options.confidence and options.method_for(metric, length) != "jackknife"
    if not resampled and options.test_for(metric, length) != "bootstrap":
        return np.zeros((len(statistics), 0))
    rng = np.random.default_rng(seed)
    return bootstrap(statistics, resamples=options.resamples or 0, rng=rng)


def _intervals(
    statistics: list[Statistics], corpus: Array, replicates: Array, options: ScoreOptions
) -> list[Interval] | None:
    if not options.confidence:
        return None
    return [
        interval(
            float(corpus[at]),
            replicates[at],
            level=options.level,
            method=options.method_for(each.metric, len(each)),
            jackknife=each.without_each() if len(each) > 1 else np.zeros(len(each)),
            bounds=each.metric.bounds,
        )
        for at, each in enumerate(statistics)
    ]


def _compare(
    statistics: list[Statistics], replicates: Array, options: ScoreOptions, seed: int
) -> list[Comparison] | None:
    if options.test == "none":
        return None
    pairs = (all_pairs if options.all_pairs else against_first)(len(statistics))
    rng = np.random.default_rng(seed)
    match options.test_for(statistics[0].metric, len(statistics[0])):
        case "jackknife":
            return paired_jackknife(statistics, pairs=pairs, level=options.level)
        case "bootstrap":
            return paired_bootstrap(
                statistics,
                pairs=pairs,
                statistic=options.statistic,
                level=options.level,
                rng=rng,
                replicates=replicates,
                correction=options.correction,
            )
        case "randomisation":
            return paired_randomisation(
                statistics,
                pairs=pairs,
                trials=options.trials or 0,
                resamples=options.resamples or 0,
                level=options.level,
                rng=rng,
                correction=options.correction,
            )
        case _:
            return None


def _clusters(
    metric: Metric, corpus: Array, comparisons: list[Comparison] | None
) -> list[int] | None:
    if comparisons is None:
        return None
    differ = significant(comparisons, len(corpus))
    return rank_clusters(metric.oriented(corpus), differ)


def _parts(
    labels: Sequence[str], statistics: list[Statistics], options: ScoreOptions, seed: int
) -> Grouped:
    """What is asked about all segments, for those of each label; p corrected over all of them."""
    names, weights = groups(labels)
    scores = np.array([each.score(weights) for each in statistics])
    found = []
    for at, name in enumerate(names):
        members = weights[[at]].indices
        part = Part(name, len(members), scores[:, at])
        if len(members) >= FEWEST:
            of_members = [each[members] for each in statistics]
            part = _answered(part, of_members, options, seed)
        found.append(part)
    return _corrected(found, options, statistics[0].metric)


def _answered(part: Part, statistics: list[Statistics], options: ScoreOptions, seed: int) -> Part:
    replicates = _replicates(statistics, options, seed)
    return part._replace(
        intervals=_intervals(statistics, part.scores, replicates, options),
        comparisons=_compare(statistics, replicates, options, seed),
    )


def _corrected(parts: Sequence[Part], options: ScoreOptions, metric: Metric) -> Grouped:
    """The parts with Holm's correction over all of their comparisons.

    What was corrected by a step-down test within each part is, by Bonferroni, over all parts.
    """
    tests = {options.test_for(metric, part.segments) for part in parts if part.comparisons}
    if options.correction == "holm" or tests <= {"jackknife"}:
        p = holm([each.p for part in parts for each in part.comparisons or ()])
    else:
        count = sum(bool(part.comparisons) for part in parts)
        found = [one.p_holm for part in parts for one in part.comparisons or ()]
        p = np.minimum(1.0, count * np.array(found))
    corrected = iter(p.tolist())
    return tuple(
        part._replace(
            comparisons=[one._replace(p_holm=next(corrected)) for one in part.comparisons]
        )
        if part.comparisons
        else part
        for part in parts
    )


def _in_natural_order(parts: Grouped) -> Grouped:
    """By name, where numbers count as such: 2 before 10."""
    return tuple(sorted(parts, key=lambda part: _natural(part.name)))


def _natural(name: str) -> list[tuple[int, str]]:
    """A key to sort by that takes digits by their value.

    >>> sorted(["domain 10", "domain 2", "9"], key=_natural)
    ['9', 'domain 2', 'domain 10']
    """
    words_and_numbers = re.split("0*([0-9]+)", name)
    return [(len(each), each) if at % 2 else (0, each) for at, each in enumerate(words_and_numbers)]
