"""XMoverScore (Zhao et al., 2020): how far the output's words are from the source's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from assay.data import DataError, Segment
from assay.metrics.base import Array, Rows
from assay.neural.encoders import States
from assay.neural.fluency import LanguageModel, language_model
from assay.neural.layers import usual_layer
from assay.neural.mapping import read_mapping
from assay.neural.metric import NeuralMetric
from assay.neural.transport import movers_distance, ngram_vectors
from assay.settings import setting

__all__ = ["XMover"]

BLOCK = 512
"""Segments whose vectors are in memory at once."""

LONGEST = 9

_LAYERS = {"bert-base-multilingual-cased": 8}
"""The authors' choice."""


@dataclass(frozen=True, kw_only=True)
class XMover(NeuralMetric):
    """1 less the word mover's distance between the n-grams of the source and of the output.

    An n-gram is the mean of the vectors of neighbouring pieces, and all weigh the same. With
    `mapping`, a .npy file, the source's vectors are taken into the output's space first. With `lm`,
    a language model by name or folder, `weight` times the mean log-likelihood of the output's
    pieces is added. Of several references the nearest counts.
    """

    name: ClassVar[str] = "xmover"
    scale: ClassVar[str] = "-1 to 1"

    against: Literal["reference", "source"] = setting("source", key="against")
    ngram: int = setting(2, key="ngram")
    layer: int | None = setting(None)
    mapping: str = setting("no", key="mapping")
    lm: str = setting("no", key="lm")
    weight: float = setting(0.1)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_writable("mapping")
        self.check_writable("lm")
        if not 1 <= self.ngram <= LONGEST:
            raise DataError(f"xmover:ngram={self.ngram}: give a length from 1 to {LONGEST}.")
        if self.mapping != "no" and self.against == "reference":
            raise DataError(f"{self}: a mapping is for sources. Leave it out, or against.")

    @property
    def title(self) -> str:
        """XMover."""
        return "XMover"

    @property
    def layer_wanted(self) -> int | None:
        """The one that is set, or the authors', or bert_score's; none for the last."""
        usual = _LAYERS.get(self.model_name, usual_layer(self.model_name))
        return usual if self.layer is None else self.layer

    @classmethod
    def claims(cls) -> dict[str, str]:
        """With the layer that was taken, and the hashes of the mapping and the language model."""
        hashes = {"mapping_sha256": "set mapping=FILE", "lm_sha256": "set lm=NAME"}
        return super().claims() | {"depth": "set layer={}"} | hashes

    def details(self) -> dict[str, str]:
        """With the layer that was taken, and the hashes of the mapping and the language model."""
        details, depth = super().details(), self.encoder().layer
        if depth is not None:
            details["depth"] = str(depth)
        if self.mapping != "no":
            details["mapping_sha256"] = read_mapping(self.mapping).sha256[:12]
        if self.lm != "no":
            details["lm_sha256"] = self._language_model().sha256[:12]
        return details

    def rows(self, segments: Sequence[Segment]) -> Rows:
        """The score of every segment, and 1."""
        scores = np.zeros(len(segments))
        for number, distances in self._distances(segments):
            scores[number] = 1 - min(distances)
        if self.lm != "no":
            outputs = [segment.hypothesis for segment in segments]
            scores += self.weight * self._language_model().log_likelihoods(outputs)
        return self.rows_of(scores)

    def _distances(self, segments: Sequence[Segment]) -> Iterator[tuple[int, list[float]]]:
        """By number of segment, how far the output is from each text that it is compared with."""
        encoder, others = self.encoder(), self.compared_with(segments)
        # Those with the same source come together, so that each text is encoded once.
        order = sorted(range(len(segments)), key=others.__getitem__)
        for at in range(0, len(order), BLOCK):
            block = order[at : at + BLOCK]
            lines = dict.fromkeys(line for number in block for line in others[number])
            outputs = dict.fromkeys(segments[number].hypothesis for number in block)
            ours = self._vectors(outputs, encoder.states(list(outputs)))
            theirs = self._vectors(lines, self._mapped(encoder.states(list(lines))))
            for number in block:
                output = ours[segments[number].hypothesis]
                yield number, [movers_distance(output, theirs[line]) for line in others[number]]

    def _vectors(
        self, texts: dict[str, None], states: Sequence[States | Array]
    ) -> dict[str, Array]:
        return {
            text: ngram_vectors(each, self.ngram) for text, each in zip(texts, states, strict=True)
        }

    def _mapped(self, states: Sequence[States]) -> Sequence[States | Array]:
        if self.mapping == "no":
            return states
        mapping = read_mapping(self.mapping)
        return [mapping.apply(each) for each in states]

    def _language_model(self) -> LanguageModel:
        return language_model(self.lm, None if self.device == "auto" else self.device)
