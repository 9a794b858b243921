"""Scoring: statistics once per metric, and every answer from them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError, Dataset, Scores, Segment, reference_tuples
from assay.languages import language_pair
from assay.metrics.base import Metric, Statistics, reference_count
from assay.metrics.mean import Mean
from assay.metrics.registry import METRICS, verify
from assay.scoring.entries import FEWEST, Grouped, MetricScores, Part, Questions, SegmentMetric
from assay.scoring.report import ScoreResult
from assay.statistics.arrays import Array
from assay.statistics.significance import (
    Comparison,
    Interval,
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

__all__ = ["SEED", "score", "score_dataset", "score_each", "system_statistics"]

SEED = 12345
"""sacreBLEU's seed; its resamples are ours."""


NO_QUESTIONS = Questions()


def score(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[Sequence[str | None]] | Mapping[str, Sequence[str | None]],
    metrics: Iterable[str | Metric] = ("bleu",),
    *,
    sources: Sequence[str] = (),
    documents: Sequence[str] = (),
    languages: str | tuple[str, str] | None = None,
    questions: Questions = NO_QUESTIONS,
    seed: int = SEED,
) -> ScoreResult:
    """Score systems against K reference sets of N lines each.

    `languages` are source and target, as in `de-en`. Taggers and packaged models depend on them;
    where they are not given, they are told from the text.

    >>> result = score({"a": ["a cat"], "b": ["XYZ"]}, [["a cat"]], ["chrf"])
    >>> [(record["system"], record["score"]) for record in result.records()]
    [('a', 100.0), ('b', 0.0)]
    """
    if not isinstance(systems, Mapping) or not systems:
        raise DataError("systems are given by name: pass {name: lines, ...}.")
    lines = {name: _lines(f"system {name!r}", each) for name, each in systems.items()}
    dataset = Dataset(
        systems=lines,
        references=reference_tuples(references, len(next(iter(lines.values())))),
        sources=_lines("the source", sources),
        documents=_lines("the list of documents", documents),
        languages=language_pair(languages) if isinstance(languages, str) else languages,
    )
    found = METRICS.parse_all(metrics)
    count = reference_count(dataset.references)
    for note in (note for metric in found for note in verify(metric, references=count)):
        warnings.warn(note, stacklevel=2)
    return score_dataset(dataset, found, questions=questions, seed=seed)


def score_dataset(
    dataset: Dataset,
    metrics: Sequence[Metric],
    *,
    imported: Sequence[Scores] = (),
    questions: Questions = NO_QUESTIONS,
    seed: int = SEED,
) -> ScoreResult:
    """Score every system of a dataset by every metric, and by imported segment scores."""
    asked = questions.filled(dataset)
    found = score_each(dataset, metrics, imported=imported, questions=asked, seed=seed)
    return ScoreResult(tuple(dataset.systems), tuple(found), asked)


def score_each(
    dataset: Dataset,
    metrics: Sequence[Metric],
    *,
    imported: Sequence[Scores] = (),
    questions: Questions = NO_QUESTIONS,
    seed: int = SEED,
) -> Iterator[MetricScores]:
    """What each metric says, one after the other as they are ready."""
    questions = questions.filled(dataset)
    _check(dataset, questions, seed)
    _check_metrics(metrics, imported)
    metrics = [metric.for_dataset(dataset) for metric in metrics]
    segments = dataset.all_segments()
    count = reference_count(dataset.references)
    for metric in metrics:
        statistics = system_statistics(dataset, metric, segments)
        yield _answer(dataset, statistics, count, questions, seed)
    for scores in imported:
        yield _answer(dataset, _imported_statistics(dataset, scores), count, questions, seed)


def system_statistics(
    dataset: Dataset, metric: Metric, segments: Sequence[Segment] | None = None
) -> list[Statistics]:
    """The statistics of each system, from one call so that all share columns and references.

    The metric is made to fit the languages of the dataset first.
    """
    metric = metric.for_dataset(dataset)
    all_segments = dataset.all_segments() if segments is None else segments
    together = metric.statistics(all_segments)
    length = len(dataset)
    if len(dataset.systems) == 1:
        return [together]
    return [together[at * length : (at + 1) * length] for at in range(len(dataset.systems))]


def _lines(label: str, lines: Sequence[str]) -> tuple[str, ...]:
    if isinstance(lines, str):
        raise DataError(f"{label} is one string; pass a list of lines.")
    for number, line in enumerate(lines, 1):
        if not isinstance(line, str):
            raise DataError(f"{label}, segment {number}: {line!r} is not a text.")
    return tuple(lines)


def _check(dataset: Dataset, questions: Questions, seed: int) -> None:
    if not len(dataset) or not dataset.systems:
        raise DataError("there is nothing to score: give at least one system and one segment.")
    if questions.groups and not dataset.groups:
        raise DataError("group scores need a group for each segment: give them with --groups FILE.")
    if questions.documents and not dataset.documents:
        raise DataError("document scores need document ids: give them with --docs FILE.")
    if questions.test != "none" and len(dataset.systems) < 2:
        raise DataError("a paired test compares systems: give at least two with -i.")
    if min(questions.resamples or 0, questions.trials or 0) < 1:
        raise DataError("the number of resamples or trials is at least 1.")
    if not 0 < questions.level < 1:
        raise DataError(f"level {questions.level:g}: give a share between 0 and 1, such as 0.95.")
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
    questions: Questions,
    seed: int,
) -> MetricScores:
    metric = statistics[0].metric
    counted = references if metric.needs_references else None
    by_segment = metric.for_segments()
    replicates = _replicates(statistics, questions, seed)
    comparisons = _compare(statistics, replicates, questions, seed)
    corpus = np.array([each.corpus() for each in statistics])
    return MetricScores(
        metric=metric,
        signature=_signature(metric, counted),
        length=len(dataset),
        corpus=corpus,
        intervals=_intervals(statistics, corpus, replicates, questions),
        segments=_by_segment(statistics, by_segment) if questions.segments else None,
        documents=_parts(dataset.documents, statistics, questions, seed)
        if questions.documents
        else None,
        groups=_in_natural_order(_parts(dataset.groups, statistics, questions, seed))
        if questions.groups
        else None,
        comparisons=comparisons,
        clusters=_clusters(metric, corpus, comparisons) if questions.all_pairs else None,
        winners=_winners(dataset, metric) if questions.segments and references != 1 else None,
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


def _replicates(statistics: list[Statistics], questions: Questions, seed: int) -> Array:
    """Bootstrap scores for the intervals and the paired bootstrap; none where neither is done."""
    metric, length = statistics[0].metric, len(statistics[0])
    resampled = questions.confidence and questions.method_for(metric, length) != "jackknife"
    asked = resampled or questions.test_for(metric, length) == "bootstrap"
    rng, count = np.random.default_rng(seed), (questions.resamples or 0) if asked else 0
    return bootstrap(statistics, resamples=count, rng=rng)


def _intervals(
    statistics: list[Statistics], corpus: Array, replicates: Array, questions: Questions
) -> list[Interval] | None:
    if not questions.confidence:
        return None
    return [
        interval(
            float(corpus[at]),
            replicates[at],
            level=questions.level,
            method=questions.method_for(each.metric, len(each)),
            jackknife=each.without_each() if len(each) > 1 else np.zeros(len(each)),
            bounds=each.metric.bounds,
        )
        for at, each in enumerate(statistics)
    ]


def _compare(
    statistics: list[Statistics], replicates: Array, questions: Questions, seed: int
) -> list[Comparison] | None:
    pairs = (all_pairs if questions.all_pairs else against_first)(len(statistics))
    rng = np.random.default_rng(seed)
    match questions.test_for(statistics[0].metric, len(statistics[0])):
        case "jackknife":
            return paired_jackknife(statistics, pairs=pairs, level=questions.level)
        case "bootstrap":
            return paired_bootstrap(
                statistics,
                pairs=pairs,
                statistic=questions.statistic,
                level=questions.level,
                rng=rng,
                replicates=replicates,
            )
        case "randomisation":
            return paired_randomisation(
                statistics,
                pairs=pairs,
                trials=questions.trials or 0,
                resamples=questions.resamples or 0,
                level=questions.level,
                rng=rng,
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
    labels: Sequence[str], statistics: list[Statistics], questions: Questions, seed: int
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
            part = _answered(part, of_members, questions, seed)
        found.append(part)
    return _corrected(found)


def _answered(part: Part, statistics: list[Statistics], questions: Questions, seed: int) -> Part:
    replicates = _replicates(statistics, questions, seed)
    return part._replace(
        intervals=_intervals(statistics, part.scores, replicates, questions),
        comparisons=_compare(statistics, replicates, questions, seed),
    )


def _corrected(parts: Sequence[Part]) -> Grouped:
    """The parts with Holm's correction over all of their comparisons."""
    p = holm([each.p for part in parts for each in part.comparisons or ()])
    corrected = iter(p.tolist())
    return tuple(
        part._replace(
            comparisons=[each._replace(p_holm=next(corrected)) for each in part.comparisons]
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
