"""XMoverScore (Zhao et al., 2020): how far the output's words are from the source's."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from assay.data import Array, DataError, Segment, divide
from assay.extras import require
from assay.metrics.base import Rows
from assay.metrics.neural.base import (
    Model,
    NeuralMetric,
    find_model,
    in_batches,
    usual_layer,
    weights_hash,
    weights_of,
)
from assay.metrics.neural.encoders import States
from assay.registry import setting

__all__ = [
    "LanguageModel",
    "Mapping",
    "XMover",
    "language_model",
    "movers_distance",
    "ngram_vectors",
    "read_mapping",
]


class Mapping(NamedTuple):
    """A matrix (width, width) that vectors are multiplied by, or a direction (width,) to take out.

    Zhao et al. (2020) call the first CLP, cross-lingual projection, and the second UMD, universal
    language mismatch direction. `sha256` is that of the file.
    """

    path: str
    values: Array
    sha256: str

    def apply(self, states: Any) -> Array:
        """The vectors (n, width) in the other space."""
        width = states.shape[1]
        if width != len(self.values):
            raise DataError(
                f"{self.path}: the mapping is for vectors of {len(self.values)} numbers, but the "
                f"model's have {width}. Take the model and layer that it was learned for."
            )
        if self.values.ndim == 2:
            return np.asarray(states @ self.values, float)
        along = states @ self.values
        return np.asarray(states - along[:, None] * self.values, float)


def read_mapping(path: str) -> Mapping:
    """The mapping in a .npy file: a square matrix, or a direction."""
    try:
        changed = Path(path).stat().st_mtime_ns
    except OSError as error:
        raise DataError(f"{path}: the mapping cannot be read ({error.strerror}).") from None
    return _read(path, changed)


@lru_cache(maxsize=4)
def _read(path: str, changed: int) -> Mapping:
    try:
        data = Path(path).read_bytes()
        values = np.load(io.BytesIO(data), allow_pickle=False)
        numbers = np.asarray(values, float)
    except OSError as error:
        raise DataError(f"{path}: the mapping cannot be read ({error.strerror}).") from None
    except (ValueError, EOFError, TypeError, AttributeError):
        raise DataError(
            f"{path}: not a .npy file of numbers. From a text file: "
            "numpy.save('mapping.npy', numpy.loadtxt(FILE))"
        ) from None
    # The published directions are the first of several, each a row.
    if numbers.ndim == 2 and numbers.shape[0] != numbers.shape[1]:
        numbers = numbers[0]
    if numbers.ndim not in (1, 2) or not numbers.size or not np.isfinite(numbers).all():
        raise DataError(f"{path}: a mapping is a square matrix or a direction, of finite numbers.")
    return Mapping(path, numbers, hashlib.sha256(data).hexdigest())


MOST_STEPS = 10**7
"""Of the simplex algorithm; texts of five hundred pieces take far fewer."""


def ngram_vectors(states: Any, n: int) -> Array:
    """Means of n neighbouring states, cut to length 1; of all of them where there are fewer.

    >>> ngram_vectors(np.array([[1.0, 0.0], [0.0, 3.0], [0.0, 1.0]]), 2).round(2)
    array([[0.32, 0.95],
           [0.  , 1.  ]])
    """
    n = min(n, len(states))
    windows = [states[at : len(states) - n + 1 + at] for at in range(n)]
    means = np.mean(windows, axis=0, dtype=float)
    return divide(means, np.linalg.norm(means, axis=1, keepdims=True))


def movers_distance(a: Array, b: Array) -> float:
    """The cost of the best way to move vectors a, all of one weight, to vectors b; exact.

    A way costs its Euclidean length, so that between vectors of length 1 it is from 0 to 2. It is
    `nan` where a vector is not a number.
    """
    from scipy.spatial.distance import cdist

    costs = cdist(a, b)
    if not np.isfinite(costs).all():
        return float("nan")
    uniform = [np.full(size, 1 / size) for size in costs.shape]
    return float(_transport().emd2(*uniform, costs, numItermax=MOST_STEPS))


def _transport() -> Any:
    return require("neural", "ot", reason="xmover needs the package POT")


BATCH = 16
LONGEST_TEXT = 1024
"""Pieces; what comes after them is left out, as in XMoverScore."""


class LanguageModel:
    """A causal language model of the `transformers` package, GPT-2 for example."""

    def __init__(self, model: Model, module: Any, tokenizer: Any, device: str) -> None:
        self._module, self._tokenizer, self._device = module.eval().to(device), tokenizer, device
        places = getattr(module.config, "max_position_embeddings", None) or LONGEST_TEXT
        self._limit = min(LONGEST_TEXT, places)
        self.sha256 = weights_hash(weights_of(model.folder))

    def log_likelihoods(self, texts: Sequence[str]) -> Array:
        """By text, the mean log-likelihood of its pieces but the first, each given those before.

        That is the logarithm of the perplexity with a minus. A text of one piece or none has 0, as
        in XMoverScore. Every distinct text is read once.
        """
        found = dict.fromkeys(texts, 0.0)
        cut = {text: self._tokenizer(text)["input_ids"][: self._limit] for text in found}
        some = sorted((text for text in cut if len(cut[text]) > 1), key=lambda text: len(cut[text]))
        batches = in_batches(some, lambda batch: self._read([cut[t] for t in batch]), size=BATCH)
        for batch, values in batches:
            found.update(zip(batch, values, strict=True))
        return np.array([found[text] for text in texts], float)

    def _read(self, batch: Sequence[Sequence[int]]) -> list[float]:
        import torch

        longest = max(map(len, batch))
        ids = torch.tensor([[*each, *[0] * (longest - len(each))] for each in batch])
        there = torch.tensor([[1] * len(each) + [0] * (longest - len(each)) for each in batch])
        ids, there = ids.to(self._device), there.to(self._device)
        with torch.inference_mode():
            logits = self._module(ids, attention_mask=there).logits[:, :-1].float()
            chosen = logits.log_softmax(-1).gather(-1, ids[:, 1:, None])[..., 0]
            kept = there[:, 1:]
            means: list[float] = ((chosen * kept).sum(1) / kept.sum(1)).cpu().tolist()
        return means


@lru_cache(maxsize=1)
def language_model(name: str, device: str | None = None) -> LanguageModel:
    """The model of a name or folder; a `DataError` with the remedy where it is not here."""
    model = find_model(name)
    torch = require(
        "neural", "torch", "transformers", reason=f"the model {name} needs more packages"
    )
    chosen = device or ("cuda" if torch.cuda.is_available() else "cpu")
    return LanguageModel(model, *_load(model), chosen)


def _load(model: Model) -> tuple[Any, Any]:
    transformers = import_module("transformers")
    bars = transformers.utils.logging
    had_bar = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    try:
        module = transformers.AutoModelForCausalLM.from_pretrained(
            model.folder, local_files_only=True
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(model.folder, local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        line = str(error).strip().split("\n", 1)[0].rstrip(".")
        raise DataError(f"{model.name}: not a language model that can be read ({line}).") from None
    finally:
        if had_bar:
            bars.enable_progress_bar()
    return module, tokenizer


BLOCK = 512
"""Segments whose vectors are in memory at once."""

LONGEST_NGRAM = 9

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
        if not 1 <= self.ngram <= LONGEST_NGRAM:
            raise DataError(f"xmover:ngram={self.ngram}: give a length from 1 to {LONGEST_NGRAM}.")
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
