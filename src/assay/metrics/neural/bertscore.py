"""BERTScore (Zhang et al., 2020): each word beside the most similar one of the other text."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.data import Array, DataError, Segment
from assay.io.files import write_lines
from assay.io.tables import TableRow, read_sheets
from assay.metrics.base import Rows
from assay.metrics.neural.base import NeuralMetric, usual_layer
from assay.metrics.neural.encoders import Encoder, Pieces
from assay.registry import setting

__all__ = [
    "BUILT_IN",
    "BERTScore",
    "Baseline",
    "EncodedText",
    "Matched",
    "PieceCosines",
    "Places",
    "Rarity",
    "Stretches",
    "baseline_of",
    "best_and_worst",
    "match",
    "one_set",
    "pair_of",
    "rarity_of",
    "read_baseline",
    "read_texts",
    "texts_of",
    "write_baselines",
]


class Baseline(NamedTuple):
    """Precision, recall and F1 that count as 0."""

    precision: float
    recall: float
    f1: float

    def rescale(self, scores: Array) -> Array:
        """Scores (..., 3), so that the baseline is 0 and 1 stays 1."""
        own = np.array(self)
        rescaled: Array = (scores - own) / (1 - own)
        return rescaled


BUILT_IN = {("minilm", 6): Baseline(0.1593, 0.1594, 0.1567)}
"""By model and layer; from 50,000 pairs among 3,500 English references of newstest2018."""


def baseline_of(
    score: Callable[[Sequence[str], Sequence[str]], Array],
    texts: Sequence[str],
    *,
    pairs: int = 10_000,
    rng: np.random.Generator,
) -> Baseline:
    """The mean (n, 3) scores of texts beside others, drawn at random."""
    known = list(dict.fromkeys(text for text in texts if text.strip()))
    if len(known) < 2:
        raise DataError("a baseline needs at least two different texts.")
    first = rng.integers(len(known), size=pairs)
    second = (first + rng.integers(1, len(known), size=pairs)) % len(known)
    scores = score([known[at] for at in first], [known[at] for at in second])
    return Baseline(*map(float, scores.mean(axis=0)))


def read_baseline(path: Path | str, layer: int) -> Baseline:
    """A layer's row of a file as bert_score has it: `LAYER,P,R,F` and a row per layer."""
    header, *rows = next(iter(read_sheets(path)), [TableRow(1, [])])
    for row in rows:
        values = dict(zip(header.cells, row.cells, strict=False))
        if baseline := _baseline(path, row.line, values, layer):
            return baseline
    raise DataError(f"{path}: no row for layer {layer}. A baseline file has one per layer.")


def write_baselines(path: Path | str, baselines: Mapping[int, Baseline]) -> None:
    """Such a file."""
    rows = ([layer, *values] for layer, values in sorted(baselines.items()))
    write_lines(["LAYER,P,R,F", *(",".join(map(str, row)) for row in rows)], path)


def _baseline(path: Path | str, number: int, row: Mapping[str, str], layer: int) -> Baseline | None:
    try:
        own = int(row["LAYER"])
        found = Baseline(float(row["P"]), float(row["R"]), float(row["F"]))
    except (KeyError, TypeError, ValueError):
        raise DataError(
            f"{path}: line {number} is not a layer and its baseline. "
            "The first line is LAYER,P,R,F, and the others are numbers."
        ) from None
    if not all(-1 <= value < 1 for value in found):
        raise DataError(f"{path}: line {number}: a baseline is a number from -1 to below 1.")
    return found if own == layer else None


BLOCK = 1024
"""Segments whose vectors are in memory at once."""

_MEASURES = ("precision", "recall", "f1")


@dataclass(frozen=True, kw_only=True)
class BERTScore(NeuralMetric):
    """Precision, recall or F1 of the best matches between pieces, from 0 to 1, as in bert_score.

    `layer` is the model's layer: by default the one that bert_score takes, or else the last. With
    `idf=yes` rare pieces weigh more, counted in the references, or in the lines of a file. With
    `rescale=yes`, or a file as bert_score has it, unrelated sentences are about 0.
    Of several references the best counts. `xbertscore` is short for `bertscore:against=source`.
    """

    name: ClassVar[str] = "bertscore"

    layer: int | None = setting(None)
    measure: Literal["f1", "precision", "recall"] = setting("f1", key="measure")
    idf: str = setting("no", key="idf")
    rescale: str = setting("no", key="rescale")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_writable("idf")
        self.check_writable("rescale")

    @property
    def title(self) -> str:
        """BERTScore, or XBERTScore against the source."""
        return "BERTScore" if self.against == "reference" else "XBERTScore"

    @property
    def layer_wanted(self) -> int | None:
        """The one that is set, or bert_score's."""
        return usual_layer(self.model_name) if self.layer is None else self.layer

    @classmethod
    def claims(cls) -> dict[str, str]:
        """With the layer that was taken."""
        return super().claims() | {"depth": "set layer={}"}

    def details(self) -> dict[str, str]:
        """With the layer that was taken."""
        depth = self.encoder().layer
        return super().details() | ({} if depth is None else {"depth": str(depth)})

    def rows(self, segments: Sequence[Segment]) -> Rows:
        """The score of every segment, and 1."""
        return self.rows_of(self.measures(segments)[:, _MEASURES.index(self.measure)])

    def measures(self, segments: Sequence[Segment]) -> Array:
        """Precision, recall and F1 of every segment, (n, 3); each is the best of its references."""
        found = np.zeros((len(segments), 3))
        for number, pairs in self._pairs(segments, self._rarity(segments)):
            found[number] = np.max([match(*pair) for pair in pairs], axis=0)
        return self._rescaled(found)

    def winners(self, segments: Sequence[Segment]) -> NDArray[np.intp]:
        """By segment the number of the reference that counts, from 0; the first among equals."""
        found = np.zeros(len(segments), np.intp)
        for number, pairs in self._pairs(segments, self._rarity(segments)):
            found[number] = np.argmax([getattr(match(*pair), self.measure) for pair in pairs])
        return found

    def masked_rows(
        self, segments: Sequence[Segment], places: Sequence[Places]
    ) -> tuple[Rows, Rows]:
        """Rows of segments as if all words at some places were right, and as if all were wrong.

        One row per element of `places`, for MuLER: the cosines are edited, not the texts.
        """
        found = np.zeros((2, len(places), 3))
        wanted: dict[int, list[int]] = {}
        for at, each in enumerate(places):
            wanted.setdefault(each.number, []).append(at)
        numbers, some = list(wanted), [segments[number] for number in wanted]
        for number, pairs in self._pairs(some, self._rarity(segments)):
            for at in wanted[numbers[number]]:
                found[:, at] = _extremes(pairs, places[at])
        best, worst = self._rescaled(found)[..., _MEASURES.index(self.measure)]
        return self.rows_of(best), self.rows_of(worst)

    def _pairs(
        self, segments: Sequence[Segment], rarity: Rarity | None
    ) -> Iterator[tuple[int, list[PieceCosines]]]:
        """By number of segment, the output beside each text that it is compared with.

        Those with the same references come together, so that each text is encoded once.
        """
        encoder = self.encoder()
        others = self.compared_with(segments)
        order = sorted(range(len(segments)), key=others.__getitem__)
        for at in range(0, len(order), BLOCK):
            block = order[at : at + BLOCK]
            lines = {line for n in block for line in (segments[n].hypothesis, *others[n])}
            texts = texts_of(encoder, sorted(lines), rarity)
            for number in block:
                output = texts[segments[number].hypothesis]
                yield number, [pair_of(output, texts[line]) for line in others[number]]

    def _rarity(self, segments: Sequence[Segment]) -> Rarity | None:
        if self.idf == "no" or not segments:
            return None
        yes = self.idf == "yes"
        texts = one_set(self.compared_with(segments)) if yes else read_texts(self.idf)
        return rarity_of(self.encoder(), texts)

    def _rescaled(self, scores: Array) -> Array:
        if self.rescale == "no":
            return scores
        depth = self.encoder().layer or 0
        if self.rescale != "yes":
            return read_baseline(self.rescale, depth).rescale(scores)
        if (self.model_name, depth) not in BUILT_IN:
            raise DataError(
                f"{self}: no baseline is known for layer {depth} of {self.model_name}. "
                "Name a file as bert_score has it: rescale=FILE."
            )
        return BUILT_IN[self.model_name, depth].rescale(scores)


def _extremes(pairs: Sequence[PieceCosines], places: Places) -> Array:
    """Precision, recall and F1 at best and at worst, (2, 3), each the best of the references."""
    found = []
    for pair, stretches in zip(pairs, places.references, strict=True):
        marked = pair.output.within(places.hypothesis), pair.other.within(stretches)
        edited = best_and_worst(pair.cosines, *marked)
        found.append([match(cosines, pair.output, pair.other) for cosines in edited])
    best: Array = np.max(found, axis=0)
    return best


@dataclass(frozen=True)
class Rarity:
    """By piece, the logarithm of how seldom a text has it."""

    values: Mapping[int, float]
    unseen: float

    def weights(self, pieces: Pieces) -> Array:
        """One weight per piece; those that stand for no text weigh nothing."""
        values = [self.values.get(each, self.unseen) for each in pieces.ids]
        return np.where(pieces.special, 0.0, values)


def rarity_of(encoder: Encoder, texts: Mapping[str, int]) -> Rarity:
    """From texts and how often there is each."""
    counts: Counter[int] = Counter()
    for pieces, times in zip(encoder.pieces(list(texts)), texts.values(), strict=True):
        counts.update(dict.fromkeys(pieces.ids, times))
    total = sum(texts.values()) + 1
    return Rarity(
        {each: math.log(total / (count + 1)) for each, count in counts.items()}, math.log(total)
    )


def one_set(references: Sequence[tuple[str, ...]]) -> Counter[str]:
    """The texts of one reference set, where the segments of several systems have it each."""
    tuples = Counter(references)
    systems = math.gcd(*tuples.values())
    counts: Counter[str] = Counter()
    for texts, times in tuples.items():
        for text in texts:
            counts[text] += times // systems
    return counts


def read_texts(path: str) -> Counter[str]:
    """The lines of a file."""
    try:
        lines: Iterable[str] = Path(path).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise DataError(
            f"idf={path}: the texts to count words in cannot be read ({reason}). "
            "Write idf=yes to count in the references, or name a file of texts."
        ) from None
    return Counter(lines)


Stretches: TypeAlias = Sequence[tuple[int, int]]
"""Letters of a text, from and to."""


class EncodedText(NamedTuple):
    """A text's pieces as vectors of length 1, where they stand, and how much each weighs."""

    vectors: NDArray[np.float32]
    weights: Array
    pieces: Pieces

    def within(self, stretches: Stretches) -> NDArray[np.bool_]:
        """The pieces that have letters of the stretches."""
        first, last = self.pieces.spans.T
        found = np.zeros(len(first), bool)
        for start, end in stretches:
            found |= (first < end) & (last > start)
        return found & ~self.pieces.special


class PieceCosines(NamedTuple):
    """The cosine of every piece of an output with every piece of another text."""

    cosines: Array
    output: EncodedText
    other: EncodedText


class Matched(NamedTuple):
    """How much of the output is in the other text, how much of that is in the output, and F1."""

    precision: float
    recall: float
    f1: float


class Places(NamedTuple):
    """Where one of several segments has something; one list of stretches per reference."""

    number: int
    hypothesis: Stretches
    references: Sequence[Stretches]


def texts_of(
    encoder: Encoder, lines: Sequence[str], rarity: Rarity | None
) -> dict[str, EncodedText]:
    """The texts encoded; without a rarity, all pieces but the special ones weigh the same."""
    texts = {}
    for line, pieces, states in zip(
        lines, encoder.pieces(lines), encoder.states(lines), strict=True
    ):
        weights = rarity.weights(pieces) if rarity else (~pieces.special).astype(float)
        vectors = states / np.maximum(np.linalg.norm(states, axis=1, keepdims=True), 1e-12)
        texts[line] = EncodedText(vectors, weights, pieces)
    return texts


def pair_of(output: EncodedText, other: EncodedText) -> PieceCosines:
    """Two texts, compared."""
    return PieceCosines((output.vectors @ other.vectors.T).astype(float), output, other)


def match(cosines: Array, output: EncodedText, other: EncodedText) -> Matched:
    """Precision, recall and F1 of the best matches.

    As in bert_score, they are 0 without text on either side, and where all of it weighs nothing.
    """
    if output.pieces.is_empty or other.pieces.is_empty:
        return Matched(0.0, 0.0, 0.0)
    precision = _weighed(cosines.max(axis=1), output.weights)
    recall = _weighed(cosines.max(axis=0), other.weights)
    total = precision + recall
    return Matched(precision, recall, 2 * precision * recall / total if total else 0.0)


def best_and_worst(
    cosines: Array, output: NDArray[np.bool_], other: NDArray[np.bool_]
) -> tuple[Array, Array]:
    """The cosines as if the marked pieces were all right, and as if all were wrong.

    Right, a marked piece of one side is equal to those of the other; wrong, it is like none
    (Karidi et al., 2023, appendix C).
    """
    best, worst = cosines.copy(), cosines.copy()
    best[np.ix_(output, other)] = 1.0
    worst[output, :] = 0.0
    worst[:, other] = 0.0
    return best, worst


def _weighed(values: Array, weights: Array) -> float:
    total = weights.sum()
    return float(values @ weights / total) if total > 0 else 0.0
