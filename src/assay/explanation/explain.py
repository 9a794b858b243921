"""What every word does to the score of its segment, and whether that finds the wrong words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.data import Array, DataError, Dataset, MissingInput, divide
from assay.explanation.explainers import EXPLAINERS, Explainer
from assay.explanation.importances import (
    Explanation,
    SegmentSide,
    Sides,
    SystemExplanations,
    explain_systems,
    sides_of,
    worst_segments,
)
from assay.io.files import FilePath, label, read_lines
from assay.metrics.base import Metric, reference_count, select_metrics
from assay.progress import Engine, Track, spread, untracked
from assay.registry import SEED
from assay.results import (
    CellValue,
    Column,
    Columns,
    Record,
    Result,
    Span,
    Table,
    Words,
    graded,
    known,
    marked_text,
)

__all__ = [
    "SHOWN",
    "Detection",
    "DetectionQuality",
    "ExplainResult",
    "Labels",
    "WordLabels",
    "area",
    "average_precision",
    "check_labels",
    "detection",
    "explain",
    "largest_importance",
    "mean_quality",
    "read_word_labels",
    "recall_at_top",
    "shaded_words",
    "side_by_side",
    "tagged_words",
]


SHOWN = 10
"""Tables show so many segments, the worst, where none are asked for."""


@spread
def explain(
    data: Dataset,
    metric: str | Metric = "chrf",
    explainer: str | Explainer = "lime",
    *,
    worst: int | None = None,
    only: Sequence[int] = (),
    sides: Sides = "both",
    tags: Sequence[FilePath] | Mapping[str, Sequence[Sequence[int]]] = (),
    source_tags: Sequence[FilePath] | Mapping[str, Sequence[Sequence[int]]] = (),
    top: int | None = None,
    seed: int = SEED,
    cluster: Engine = None,
    track: Track = untracked,
) -> ExplainResult:
    """What every word does to the score of its segment, by any metric and explainer.

    The hypothesis and what it is compared with (the reference, or the source) are explained one
    by one, the other held fixed; `sides="hypothesis"` leaves the other out. All segments are
    explained and tables show the worst, unless `worst` asks for so many segments with the worst
    scores, or `only` names segments by their numbers, which count from 1.

    `tags` and `source_tags` are word-level human labels of the systems' outputs and of the source:
    a file per system, or 0 and 1 (wrong) for every word of every segment by system. With them the
    result says how well wrong words are found, with recall at the `top` most suspect words of a
    text, or at as many as are wrong.

    >>> from assay.demo import read_demo
    >>> result = explain(read_demo(), "chrf", "erasure", worst=1)
    >>> record = max(result.records(), key=lambda record: record["importance"])
    >>> record["segment"], record["system"], record["token"]
    (67, 'birch', 'everyone')
    """
    explainer = EXPLAINERS.parse(explainer)
    selection = select_metrics([metric], data)
    [metric] = selection.metrics
    explained = sides_of(metric, hypothesis_only=sides == "hypothesis")
    labels = _labels(data, explained, tags, source_tags, top)
    explanations = explain_systems(
        data,
        metric,
        explainer,
        positions=_positions(data, metric, worst, only),
        sides=explained,
        seed=seed,
        track=track,
    )
    shown = None if worst or only else tuple(worst_segments(data, metric, SHOWN))
    return ExplainResult(explanations, shown, labels, top, tuple(selection.notes))


def _positions(
    data: Dataset, metric: Metric, worst: int | None, only: Sequence[int]
) -> list[int] | None:
    """Positions of the segments that are asked for, or None for all."""
    if worst is not None and only:
        raise DataError(f"worst={worst} chooses segments itself: leave only= out.")
    if worst is not None:
        if worst < 1:
            raise DataError(f"{worst} segments are nothing to explain: ask for at least 1.")
        return worst_segments(data, metric, worst)
    return list(dict.fromkeys(number - 1 for number in only)) or None


def _labels(
    data: Dataset,
    sides: Sequence[SegmentSide],
    tags: Sequence[FilePath] | Mapping[str, Sequence[Sequence[int]]],
    source_tags: Sequence[FilePath] | Mapping[str, Sequence[Sequence[int]]],
    top: int | None,
) -> WordLabels:
    """Word-level human labels by system and side."""
    if source_tags and "source" not in sides:
        raise DataError(
            "source tags belong to words of the source, which is not explained here: choose a "
            "metric that reads the source, as embed:against=source."
        )
    if top is not None and not (tags or source_tags):
        raise MissingInput("tags", f"top={top} counts among words that people tagged")
    outputs = _by_system(data, "tags", tags, data.systems)
    sources = _by_system(
        data, "source tags", source_tags, dict.fromkeys(data.systems, data.sources)
    )
    labels: dict[tuple[str, SegmentSide], Sequence[NDArray[np.bool_]]] = {}
    labels |= {(system, "hypothesis"): own for system, own in outputs.items()}
    labels |= {(system, "source"): own for system, own in sources.items()}
    return labels


def _by_system(
    data: Dataset,
    name: str,
    tags: Sequence[FilePath] | Mapping[str, Sequence[Sequence[int]]],
    texts: Mapping[str, Sequence[str]],
) -> dict[str, list[NDArray[np.bool_]]]:
    if isinstance(tags, Mapping):
        return {system: check_labels(own, texts[system], system) for system, own in tags.items()}
    if tags and len(tags) != len(data.systems):
        raise DataError(
            f"{name}: {len(tags)} files, but there are {len(data.systems)} systems: "
            "give one for each, in the same order."
        )
    label = "the source" if name == "source tags" else ""
    return {
        system: read_word_labels(path, texts[system], text=label or system)
        for system, path in zip(data.systems, tags, strict=False)
    }


BESIDE = 2
"""So many systems stand side by side; more come in several tables."""

_DETECTION = ("auc", "average_precision", "recall")


@dataclass(frozen=True, eq=False)
class ExplainResult(Result):
    """Explanations, and which of the segments tables show: their positions, or all of them.

    With `labels` of people it also tells how well wrong words are found, with recall at the `top`
    words of every text, or at as many as are labelled as wrong.
    """

    explanations: SystemExplanations
    shown: tuple[int, ...] | None = None
    labels: WordLabels = field(default_factory=dict)
    top: int | None = None
    notes: tuple[str, ...] = ()
    """What to know about the metric: languages, tokenizers, signatures that do not fit."""

    def quality(self, system: str, side: SegmentSide) -> DetectionQuality:
        """How well the wrong words of one side of a system's segments are found."""
        explained, labels = self.explanations, self.labels[system, side]
        return mean_quality(
            [-explained.helps(text) for text in explained.of_side(system, side)],
            [labels[position] for position in explained.positions],
            top=self.top,
        )

    def records(self) -> list[Record]:
        """One per word; with labels also its label, and how well its text's errors are found."""
        return [
            record
            for (system, position), sides in self.explanations.by_segment.items()
            for explanation in sides
            for record in self._records(system, position, explanation)
        ]

    def tables(self) -> list[Table]:
        """How well wrong words are found, if people labelled them, and the words in colour."""
        explained = self.explanations
        shown = explained.positions if self.shown is None else self.shown
        pairs = [
            explained.systems[at : at + BESIDE] for at in range(0, len(explained.systems), BESIDE)
        ]
        quality = [self._quality()] if self.labels else []
        return quality + [side_by_side(explained, pair, shown, self.labels) for pair in pairs]

    def paper_tables(self) -> list[Table]:
        """All of them: every system has its words in one of the tables."""
        return self.tables()

    def _records(self, system: str, position: int, explanation: Explanation) -> Iterator[Record]:
        labels = self.labels.get((system, explanation.side))
        quality = self._detection(system, position, explanation)
        values = zip(explanation.tokens, explanation.importances.tolist(), strict=True)
        for place, (token, importance) in enumerate(values):
            record: Record = {
                "system": system,
                "segment": position + 1,
                "side": explanation.side,
                "position": place + 1,
                "token": token,
                "importance": known(importance),
            }
            if self.labels:
                record["tag"] = None if labels is None else int(labels[position][place])
            yield record | quality

    def _detection(self, system: str, position: int, explanation: Explanation) -> Record:
        """How well the wrong words of one text are found."""
        if not self.labels:
            return {}
        if (system, explanation.side) not in self.labels:
            return dict.fromkeys(_DETECTION)
        labels = self.labels[system, explanation.side][position]
        values = detection(-self.explanations.helps(explanation), labels, top=self.top)
        return dict(zip(_DETECTION, map(known, values), strict=False))

    def _quality(self) -> Table:
        recall = "recall at k" if self.top is None else f"recall at {self.top}"
        columns: Columns = (
            *("system", "side"),
            *(Column(name) for name in ("segments", "left out")),
            *(Column(name, digits=3) for name in ("AUC", "AP", recall, "tagged")),
        )
        rows: list[tuple[CellValue, ...]] = []
        unknown = 0
        for system, side in self.labels:
            quality = self.quality(system, side)
            unknown += quality.unknown
            left_out = quality.alike + quality.unknown
            rows.append((system, side, quality.texts, left_out, *quality.mean))
        title = "How well do the importances find the words that people tagged as wrong?"
        return Table(title, columns, rows, self._note(unknown))

    def _note(self, unknown: int) -> str:
        k = "k words, as many as are tagged" if self.top is None else f"{self.top} words"
        guess = ", which is what guessing gets as recall" if self.top is None else ""
        note = (
            "Means over segments; a word is the more suspect the less it helps the score. AUC: how "
            "often a tagged word is more suspect than another one (guessing: 0.5). AP: average "
            f"precision. recall: the share of tagged words among the most suspect {k}. tagged: the "
            f"share of words that are tagged{guess}. left out: people tagged all words or none, so "
            "that nothing can be found."
        )
        return note + (f" Of those left out, {unknown} could not be explained." if unknown else "")


NOTHING = 1e-9
"""Importances up to this share of the score (of 1 for lower scores) are rounding."""


def largest_importance(explanations: Iterable[Explanation]) -> float:
    """The size of the largest importance that is known and more than rounding; 0 for none."""
    sizes = [0.0]
    for explanation in explanations:
        importances = explanation.importances
        finite = np.abs(importances[np.isfinite(importances)])
        score = abs(explanation.score) if np.isfinite(explanation.score) else 0.0
        sizes += finite[finite > NOTHING * max(1.0, score)].tolist()
    return max(sizes)


def shaded_words(tokens: Sequence[str], helps: Array, largest: float) -> Words:
    """Words by what each does to the score: good by degrees above 0, bad below, of the `largest`.

    Every word's own number is its remark; unknown ones have neither mark nor number.
    """
    return tuple(
        _word(token, float(value), largest) for token, value in zip(tokens, helps, strict=True)
    )


def tagged_words(tokens: Sequence[str], labels: Labels) -> Words:
    """The words, with those noted that people labelled as wrong."""
    pairs = zip(tokens, labels.tolist(), strict=True)
    return marked_text((token, "note" if wrong else "") for token, wrong in pairs)


def _word(token: str, helps: float, largest: float) -> Span:
    if not np.isfinite(helps):
        return Span(token)
    return Span(token, graded(helps / largest) if largest else "", f"{helps:+.4g}")


def side_by_side(
    explained: SystemExplanations,
    systems: Sequence[str],
    shown: Sequence[int],
    labels: WordLabels | None = None,
) -> Table:
    """The segments at these positions, with a column per system.

    Every segment has a row with its scores, one per side with the words in colour, and one per
    side that people labelled. A source that is not explained stands above them.
    """
    rows = [row for at in shown for row in _rows(explained, systems, at, labels or {})]
    title = f"{explained.metric.title} of {' and '.join(systems)}, word by word"
    heads = frozenset(at for at, row in enumerate(rows) if row[0] is not None)
    scores = (Column(system, finer=explained.metric.is_small) for system in systems)
    columns: Columns = ("segment", "side", *scores)
    return Table(
        title,
        columns,
        rows,
        _note(explained, shown),
        shaded=heads,
        group=f"{explained.metric.title}, word by word",
        choice=(("systems", " and ".join(systems)),),
    )


def _rows(
    explained: SystemExplanations, systems: Sequence[str], at: int, labels: WordLabels
) -> Iterator[tuple[CellValue, ...]]:
    by_system = [explained.by_segment[system, at] for system in systems]
    # One scale for all systems, so that a colour means the same in all columns.
    largest = largest_importance(
        text for system in explained.systems for text in explained.by_segment[system, at]
    )
    yield (at + 1, "score", *(sides[0].score for sides in by_system))
    sources = explained.dataset.sources
    if sources and "source" not in explained.sides:
        yield (None, "source", (Span(sources[at]),), *([None] * (len(systems) - 1)))
    for number, side in enumerate(explained.sides):
        texts = [sides[number] for sides in by_system]
        words = (shaded_words(text.tokens, explained.helps(text), largest) for text in texts)
        yield (None, side, *words)
        if any((system, side) in labels for system in systems):
            wrong = (
                tagged_words(text.tokens, labels[system, side][at])
                for system, text in zip(systems, texts, strict=True)
            )
            yield (None, "tagged", *wrong)


def _note(explained: SystemExplanations, shown: Sequence[int]) -> str:
    metric, dataset = explained.metric, explained.dataset
    counted = reference_count(dataset.references) if metric.needs_references else None
    lines = [
        f"{_legend(explained)}{_unknown(explained, shown)}{_chosen(explained, shown)}",
        f"{metric.title}|{metric.signature(counted)}|explainer:{explained.explainer.label}",
    ]
    return "\n".join(lines)


def _legend(explained: SystemExplanations) -> str:
    several = any(len(references) > 1 for references in explained.dataset.references)
    truth = {"reference": "the best reference" if several else "the reference"}
    others = [truth.get(side, f"the {side}") for side in explained.sides if side != "hypothesis"]
    missing = "".join(f", and of {side} those that it misses" for side in others)
    return (
        "Green or {+1} to {+4}: the word helps the score of its segment. Red and underlined or "
        "[-1] to [-4]: it hurts. The strongest word of a segment has the strongest colour. Of the "
        f"hypothesis, words that do not help are those that the metric takes for wrong{missing}."
    )


def _unknown(explained: SystemExplanations, shown: Sequence[int]) -> str:
    for system in explained.systems:
        for at in shown:
            for text in explained.by_segment[system, at]:
                if text.reason:
                    return f" Without colour: segment {at + 1} of {system}, say: {text.reason}."
    return ""


def _chosen(explained: SystemExplanations, shown: Sequence[int]) -> str:
    count = len(explained.positions)
    if len(shown) == count:
        return ""
    return (
        f" These are the {len(shown)} worst of {count} segments; worst and only choose others, "
        "and the records have all."
    )


Labels: TypeAlias = NDArray[np.bool_]
"""Which words of a text people labelled as wrong, (tokens,)."""

WordLabels: TypeAlias = Mapping[tuple[str, SegmentSide], Sequence[Labels]]
"""The labels of every segment, by system and side."""

_MEANINGS = {"0": False, "OK": False, "1": True, "BAD": True}


def read_word_labels(
    path: FilePath, texts: Sequence[str], *, text: str = "the text"
) -> list[Labels]:
    """Whether each white-space token of each text is wrong, from a file with a line per text.

    Labels are 0 and 1, as in Eval4NLP, or OK and BAD, as in WMT: 1 and BAD are wrong. `text` says
    in messages what the labels belong to.
    """
    lines, where = read_lines(path), label(path)
    if len(lines) != len(texts):
        raise DataError(
            f"{where}: {len(lines)} lines, but there are {len(texts)} segments. "
            "A tag file needs one line of tags per segment; blank lines count."
        )
    pairs = enumerate(zip(lines, texts, strict=True), 1)
    return [
        _read_labels(line.split(), own, f"{where}, line {number}", text)
        for number, (line, own) in pairs
    ]


def check_labels(
    labels: Sequence[Sequence[int]], texts: Sequence[str], text: str = "the text"
) -> list[Labels]:
    """The same from 0 and 1 (wrong) for every word of every text."""
    if len(labels) != len(texts):
        raise DataError(
            f"tags of {text}: {len(labels)} lists, but there are {len(texts)} segments. "
            "Give one list of tags per segment."
        )
    pairs = enumerate(zip(labels, texts, strict=True), 1)
    return [
        _read_labels([str(int(tag)) for tag in own], line, f"tags, segment {number}", text)
        for number, (own, line) in pairs
    ]


def _read_labels(tags: Sequence[str], line: str, where: str, text: str) -> Labels:
    tokens = line.split()
    if len(tags) != len(tokens):
        raise DataError(
            f"{where}: {len(tags)} tags for the {len(tokens)} words of {text}. "
            "Each line needs one tag per white-space token of its segment."
        )
    for tag in tags:
        if tag not in _MEANINGS:
            raise DataError(
                f"{where}: {tag!r} is no tag. Give 1 or BAD for a wrong word, else 0 or OK."
            )
    return np.array([_MEANINGS[tag] for tag in tags], bool)


class Detection(NamedTuple):
    """How well the wrong words of one text are found, all from 0 to 1; `nan` is undefined.

    `tagged` is the share of words labelled as wrong: what guessing gets as recall, on average.
    """

    area: float
    precision: float
    recall: float
    tagged: float


@dataclass(frozen=True)
class DetectionQuality:
    """Means over texts: those that have words of both kinds and known importances.

    `alike` counts the texts that are left out because people tagged all words or none, `unknown`
    those whose importances nobody knows.
    """

    texts: int
    alike: int
    unknown: int
    mean: Detection


def detection(suspicions: Array, tags: Labels, *, top: int | None = None) -> Detection:
    """How well the tagged words of one text are found by suspicions, one per word.

    The more suspect a word is, the higher its suspicion: an importance with its sign turned.
    Undefined where a suspicion is unknown, or where all words are tagged or none.
    """
    if len(suspicions) != len(tags):
        raise DataError(f"{len(suspicions)} words, but {len(tags)} tags: give one tag per word.")
    if _alike(tags) or np.isnan(suspicions).any():
        return Detection(np.nan, np.nan, np.nan, float(tags.mean()) if len(tags) else np.nan)
    return Detection(
        area(suspicions, tags),
        average_precision(suspicions, tags),
        recall_at_top(suspicions, tags, top),
        float(tags.mean()),
    )


def mean_quality(
    suspicions: Sequence[Array], tags: Sequence[Labels], *, top: int | None = None
) -> DetectionQuality:
    """The quality of the importances of many texts, every text counting alike."""
    alike = [_alike(labels) for labels in tags]
    detections = [
        detection(scores, labels, top=top)
        for scores, labels, same in zip(suspicions, tags, alike, strict=True)
        if not same
    ]
    known = [text for text in detections if not np.isnan(text.area)]
    means = np.mean(known, axis=0).tolist() if known else [np.nan] * len(Detection._fields)
    unknown = len(detections) - len(known)
    return DetectionQuality(len(known), sum(alike), unknown, Detection(*means))


def area(suspicions: Array, tags: Labels) -> float:
    """The area under the ROC curve: how often a tagged word is more suspect than another word.

    >>> area(np.array([3.0, 1.0, 2.0]), np.array([True, False, True]))
    1.0
    """
    tagged, others = suspicions[tags][:, None], suspicions[~tags]
    return float(np.mean((tagged > others) + 0.5 * (tagged == others)))


def average_precision(suspicions: Array, tags: Labels) -> float:
    """The mean, over the tagged words, of the precision of all words as suspect as that one.

    >>> average_precision(np.array([3.0, 2.0, 1.0]), np.array([True, False, True]))
    0.8333333333333333
    """
    at_least = suspicions >= suspicions[tags][:, None]
    return float(np.mean(divide((at_least & tags).sum(axis=1), at_least.sum(axis=1))))


def recall_at_top(suspicions: Array, tags: Labels, top: int | None = None) -> float:
    """The share of tagged words among the `top` most suspect, by default as many as are tagged.

    Words that are as suspect as the last one of these share the places that are left: the recall
    is what any order among them gives on average.

    >>> recall_at_top(np.array([3.0, 2.0, 2.0, 1.0]), np.array([True, False, True, False]))
    0.75
    """
    if top is not None and top < 1:
        raise DataError(f"recall at the top {top} words says nothing: ask for at least 1.")
    count = min(int(tags.sum()) if top is None else top, len(tags))
    last = np.sort(suspicions)[::-1][count - 1]
    above, level = suspicions > last, suspicions == last
    share = (count - above.sum()) / level.sum()
    return float((tags[above].sum() + share * tags[level].sum()) / tags.sum())


def _alike(tags: Labels) -> bool:
    return bool(tags.all() or not tags.any())
