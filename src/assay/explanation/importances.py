"""Importances of the words of many segments and systems, from few calls of the metric."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain, count, islice, repeat
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from assay.data import Array, DataError, Dataset, Segment
from assay.explanation.explainers import Explainer, Perturbed
from assay.metrics.base import Metric
from assay.progress import Track, current_cluster, untracked

__all__ = [
    "Explanation",
    "SegmentSide",
    "Sides",
    "SystemExplanations",
    "explain_segments",
    "explain_systems",
    "rng_of",
    "sides_of",
    "worst_segments",
]

SegmentSide: TypeAlias = Literal["reference", "source", "hypothesis"]

Sides: TypeAlias = Literal["both", "hypothesis"]
"""Whose words are explained: those of the ground truth and the hypothesis, or the latter's."""

BLOCK = 2**11
"""The metric is called on about so many texts at once, so that memory stays bounded."""

LONGEST = 1000
"""A text of more words is scored, but not explained: it would have to be scored too often."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """How important every white-space token of one side of one segment is to its score.

    Importances are in the metric's own unit and direction: with a metric where lower is better,
    a word that helps has a negative one. Where they are unknown they are `nan`, and `reason` says
    why. `score` is the metric's score of the segment as given, `segment` its position.
    """

    segment: int
    side: SegmentSide
    tokens: tuple[str, ...]
    importances: Array
    score: float
    reason: str = ""


def sides_of(metric: Metric, *, hypothesis_only: bool = False) -> tuple[SegmentSide, ...]:
    """The sides of a segment that a metric reads: the ground truth first, then the hypothesis."""
    if hypothesis_only:
        return ("hypothesis",)
    return ("reference" if metric.needs_references else "source", "hypothesis")


def explain_segments(
    metric: Metric,
    segments: Sequence[Segment],
    explainer: Explainer,
    *,
    seed: int,
    sides: Sequence[SegmentSide] | None = None,
    track: Track = untracked,
) -> list[Explanation]:
    """One explanation per segment and side: all sides of the first segment, then the second's.

    Each side is explained with everything else held fixed; of several references the one that by
    itself gives the best score is explained. `sides` are those of `sides_of(metric)` unless given.
    The random numbers of a text depend on `seed`, its side and its tokens alone, so that they are
    the same in whatever order and with whatever other texts it is explained.
    """
    chosen = tuple(sides_of(metric) if sides is None else sides)
    _check(metric, segments, chosen)
    nearest = _nearest(metric, segments) if "reference" in chosen else [0] * len(segments)
    tasks = (
        _task(at, segments[at], side, explainer, seed, nearest[at])
        for at in _together(segments)
        for side in chosen
    )
    explained = current_cluster().map(
        partial(_explained, metric, explainer), _ahead(_blocks(tasks))
    )
    explanations = chain.from_iterable(explained)
    tracked = track(explanations, total=len(segments) * len(chosen))
    return sorted(tracked, key=lambda explanation: explanation.segment)


def rng_of(seed: int, side: SegmentSide, tokens: tuple[str, ...]) -> np.random.Generator:
    """The randomness of one text: the same wherever it turns up under this seed."""
    text = f"{side} {' '.join(tokens)}".encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(text, digest_size=16).digest()
    return np.random.default_rng([seed, int.from_bytes(digest)])


class _Task(NamedTuple):
    """One side of one segment, to be explained; of the reference's side, that of a number."""

    at: int
    segment: Segment
    side: SegmentSide
    reference: int
    tokens: tuple[str, ...]
    perturbed: Perturbed


def _check(metric: Metric, segments: Sequence[Segment], sides: tuple[SegmentSide, ...]) -> None:
    if unknown := set(sides) - set(get_args(SegmentSide)):
        raise DataError(f"no side {unknown.pop()!r}. Sides: {', '.join(get_args(SegmentSide))}.")
    if "reference" in sides or metric.needs_references:
        for number, segment in enumerate(segments, 1):
            if not segment.references:
                raise DataError(
                    f"{metric} is explained by its references, but segment {number} has none. Name "
                    "one, or take a metric that reads the source alone, as xbertscore."
                )


def _together(segments: Sequence[Segment]) -> list[int]:
    """Positions of the segments, those of all systems with the same references and source together.

    Their references are perturbed alike, so that a model has to encode them for one system only.
    """
    first: dict[tuple[tuple[str, ...], str], int] = {}
    return sorted(range(len(segments)), key=lambda at: first.setdefault(segments[at][1:], at))


def _nearest(metric: Metric, segments: Sequence[Segment]) -> list[int]:
    """By segment, the number of the reference with which, alone, the score is best.

    Among equals it is the first in the alphabet, so that their order does not matter.
    """
    pairs = [
        (at, number, text)
        for at, segment in enumerate(segments)
        if len(segment.references) > 1
        for number, text in enumerate(segment.references)
    ]
    if not pairs:
        return [0] * len(segments)
    alone = [segments[at]._replace(references=(text,)) for at, _, text in pairs]
    with metric.afresh():
        goodness = metric.oriented(metric.statistics(alone).segments())
    badness = np.nan_to_num(-goodness, nan=np.inf)
    best: dict[int, tuple[float, str, int]] = {}
    for (at, number, text), bad in zip(pairs, badness, strict=True):
        best[at] = min((float(bad), text, number), best.get(at, (np.inf, text, number)))
    return [best[at][-1] if at in best else 0 for at in range(len(segments))]


def _task(
    at: int, segment: Segment, side: SegmentSide, explainer: Explainer, seed: int, reference: int
) -> _Task:
    text = segment.references[reference] if side == "reference" else getattr(segment, side)
    tokens = tuple(text.split())
    joined = " ".join(tokens)
    if len(tokens) > LONGEST:
        alone = Perturbed([text], np.ones((1, len(tokens))))
        return _Task(at, segment, side, reference, tokens, alone)
    perturbed = explainer.perturb(tokens, rng_of(seed, side, tokens))
    if text != joined:
        # The full text is scored as it was given, with all its blanks.
        texts = [text if variant == joined else variant for variant in perturbed.texts]
        perturbed = perturbed._replace(texts=texts)
    return _Task(at, segment, side, reference, tokens, perturbed)


def _blocks(tasks: Iterable[_Task]) -> Iterator[list[_Task]]:
    """Tasks in their order, in lists of about `BLOCK` texts."""
    block: list[_Task] = []
    size = 0
    for task in tasks:
        block.append(task)
        size += len(task.perturbed.texts)
        if size >= BLOCK:
            yield block
            block, size = [], 0
    if block:
        yield block


def _ahead(blocks: Iterator[list[_Task]]) -> Iterator[list[_Task]]:
    """The same blocks, each made while the one before is scored."""
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, blocks, None)
        while (block := coming.result()) is not None:
            coming = pool.submit(next, blocks, None)
            yield block


def _explained(metric: Metric, explainer: Explainer, block: list[_Task]) -> list[Explanation]:
    """The explanations of one block."""
    pairs = zip(block, _scores(metric, block), strict=True)
    return [_explanation(metric, explainer, task, scores) for task, scores in pairs]


def _scores(metric: Metric, block: list[_Task]) -> list[Array]:
    """The scores of every task's texts, from one call on what is distinct among them."""
    number = count().__next__
    known: dict[Segment, defaultdict[str, int]] = {}
    whole: dict[Segment, int] = {}
    asked: list[Segment] = []
    places = []
    for task in block:
        # Texts in the same frame are numbered as they first come; loops in Python would be slow.
        numbers = known.setdefault(_frame(task), defaultdict(number))
        texts = task.perturbed.texts
        if task.segment in whole:  # scored with its other side already
            numbers.setdefault(texts[0], whole[task.segment])
        before = len(numbers)
        places.append(list(map(numbers.__getitem__, texts)))
        asked += _segments(task, islice(numbers, before, None))
        whole[task.segment] = numbers[texts[0]]
    # What a block scores is the same wherever it is done, and whatever was done there before.
    with metric.afresh():
        scores = metric.statistics(asked).segments()
    return [scores[place] for place in places]


def _frame(task: _Task) -> Segment:
    """The task's segment without the text that is explained."""
    [frame] = _segments(task, [""])
    return frame


_make_segment = partial(tuple.__new__, Segment)


def _segments(task: _Task, texts: Iterable[str]) -> Iterable[Segment]:
    """The task's segment with each of the texts in place of the one that is explained."""
    hypothesis, references, source = task.segment
    if task.side == "hypothesis":
        return map(_make_segment, zip(texts, repeat(references), repeat(source)))
    if task.side == "source":
        return map(_make_segment, zip(repeat(hypothesis), repeat(references), texts))
    columns: list[Iterable[str]] = [repeat(reference) for reference in references]
    columns[task.reference] = texts
    changed = zip(*columns, strict=False)
    return map(_make_segment, zip(repeat(hypothesis), changed, repeat(source)))


def _explanation(metric: Metric, explainer: Explainer, task: _Task, scores: Array) -> Explanation:
    reason = _reason(metric, task, scores)
    if reason:
        importances = np.full(len(task.tokens), np.nan)
    else:
        importances = explainer.attribute(task.perturbed, scores)
    return Explanation(task.at, task.side, task.tokens, importances, float(scores[0]), reason)


def _reason(metric: Metric, task: _Task, scores: Array) -> str:
    """Why there is no explanation; empty where there is one."""
    if len(task.tokens) > LONGEST:
        return f"a text of {len(task.tokens)} words; up to {LONGEST} are explained"
    unknown = int((~np.isfinite(scores)).sum())
    if unknown:
        return f"{metric} gives no number for {unknown} of the {len(scores)} texts to score"
    return ""


@dataclass(frozen=True, eq=False)
class SystemExplanations:
    """Why a metric gives the segments of each system the scores it gives.

    `positions` are those of the segments in the dataset, in the order asked for. `by_segment` has,
    for a system and a position, one explanation per side.
    """

    dataset: Dataset
    metric: Metric
    explainer: Explainer
    sides: tuple[SegmentSide, ...]
    positions: tuple[int, ...]
    by_segment: Mapping[tuple[str, int], tuple[Explanation, ...]]

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems."""
        return tuple(self.dataset.systems)

    def helps(self, explanation: Explanation) -> Array:
        """What each word does for the score: positive makes it better, whatever the metric."""
        return self.metric.oriented(explanation.importances)

    def of_side(self, system: str, side: SegmentSide) -> list[Explanation]:
        """The explanations of one side of all segments of a system."""
        at = self.sides.index(side)
        return [self.by_segment[system, position][at] for position in self.positions]


def explain_systems(
    dataset: Dataset,
    metric: Metric,
    explainer: Explainer,
    *,
    positions: Sequence[int] | None = None,
    sides: Sequence[SegmentSide] | None = None,
    seed: int,
    track: Track = untracked,
) -> SystemExplanations:
    """Explain segments, at these positions or all, of every system; see `explain_segments`."""
    wanted = tuple(range(len(dataset)) if positions is None else positions)
    _check_positions(dataset, wanted)
    metric = metric.for_dataset(dataset)
    chosen = tuple(sides_of(metric) if sides is None else sides)
    explainer.check_dataset(dataset, chosen)
    texts = {system: dataset.segments(system) for system in dataset.systems}
    places = [(system, position) for system in texts for position in wanted]
    segments = [texts[system][position] for system, position in places]
    explanations = iter(
        explain_segments(metric, segments, explainer, sides=chosen, seed=seed, track=track)
    )
    by_segment = {place: tuple(islice(explanations, len(chosen))) for place in places}
    return SystemExplanations(dataset, metric, explainer, chosen, wanted, by_segment)


def worst_segments(dataset: Dataset, metric: Metric, count: int) -> list[int]:
    """Positions of the segments with the worst scores, worst first; unknown ones come last.

    With several systems it is the mean over them that counts.
    """
    with metric.afresh():
        scores = metric.for_dataset(dataset).statistics(dataset.all_segments()).segments()
    means = scores.reshape(len(dataset.systems), len(dataset)).mean(axis=0)
    order = np.argsort(metric.oriented(means), kind="stable")
    return [int(position) for position in order[:count]]


def _check_positions(dataset: Dataset, positions: Sequence[int]) -> None:
    for at in positions:
        if not 0 <= at < len(dataset):
            raise DataError(f"there is no segment {at + 1}; the texts have {len(dataset)}.")
