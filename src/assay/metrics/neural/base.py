"""What neural metrics share: a model, batches, and the mean of segment scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError, Dataset, MissingInput, Segment
from assay.languages import Pair, Side, language_of, plain_code
from assay.metrics.base import Metric, Rows
from assay.metrics.neural.encoders import Encoder, encoder_named
from assay.metrics.neural.models import LANGUAGES
from assay.settings import setting
from assay.statistics.arrays import Array, divide

__all__ = ["NeuralMetric", "in_batches"]

Item = TypeVar("Item")
Made = TypeVar("Made")

AHEAD = 4
"""Batches per worker that are worked on before the first is handed on."""

_SAYINGS = ("out of memory", "not enough memory", "can't allocate memory", "cannot allocate memory")
"""What torch says on a processor or a card, as a plain RuntimeError."""


def in_batches(
    items: Sequence[Item],
    work: Callable[[Sequence[Item]], Made],
    *,
    size: int,
    workers: int = 1,
) -> Iterator[tuple[Sequence[Item], Made]]:
    """What `work` makes of so many items at a time, with the items; `workers` batches at once.

    A batch for which there is no memory is halved, as often as need be, and later batches are no
    larger; a single item for which there is none is a `DataError`.
    """
    at = 0
    with ThreadPoolExecutor(workers) as pool:
        while at < len(items):
            ahead = range(at, min(at + size * workers * AHEAD, len(items)), size)
            batches = [items[start : start + size] for start in ahead]
            done = map if workers == 1 else pool.map
            for batch, made in zip(batches, done(partial(_tried, work), batches), strict=True):
                if isinstance(made, _NoMemory):
                    size = len(batch) // 2
                    break
                yield batch, made
                at += len(batch)


class _NoMemory:
    """Instead of a result."""


def _tried(work: Callable[[Sequence[Item]], Made], batch: Sequence[Item]) -> Made | _NoMemory:
    try:
        return work(batch)
    except (RuntimeError, MemoryError) as error:
        if not _is_memory(error):
            raise
        if len(batch) == 1:
            raise DataError(
                f"out of memory with a single text in a batch ({error}). "
                "Take a smaller model, or another device: device=cpu."
            ) from None
    return _NoMemory()


def _is_memory(error: Exception) -> bool:
    # torch.OutOfMemoryError is a RuntimeError with this name; torch need not be there to ask.
    return (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"
        or any(saying in str(error).lower() for saying in _SAYINGS)
    )


USUAL = {"reference": "minilm", "source": "use"}
"""The models that come as packages: English sentences, and sixteen languages in one space."""


@dataclass(frozen=True, kw_only=True)
class NeuralMetric(Metric):
    """A metric on vectors. `against=source` compares with the source and needs no reference.

    `model` is `minilm`, `use`, a Hugging Face name or a folder; `auto` is minilm against
    references (English) and use, which knows 16 languages, against the source. `device`,
    `precision` and `batch` say how it is run: by default on a card if there is one, in float32.
    """

    scale: ClassVar[str] = "0-1"

    against: Literal["reference", "source"] = setting("reference", key="against")
    model: str = setting("auto")
    device: str = setting("auto")
    precision: Literal["float32", "float16", "bfloat16"] = setting("float32")
    batch: int | None = setting(None)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("model", "device"):
            self.check_writable(name)

    @property
    def needs_references(self) -> bool:  # type: ignore[override]  # here it is up to a setting
        """Whether it compares with references."""
        return self.against == "reference"

    @property
    def mask_policy(self) -> Literal["word", "length", "type"]:
        """None: to a model, a masked word is another word."""
        raise DataError(
            f"{self}: words cannot be masked for a model, which would read the mask as a word. "
            "Take bertscore, or a metric that compares words or letters: bleu, chrf, ter ..."
        )

    @property
    def model_name(self) -> str:
        """The model, also where it is chosen here."""
        return USUAL[self.against] if self.model == "auto" else self.model

    @property
    def layer_wanted(self) -> int | None:
        """The layer whose states are wanted; none for the model's last."""
        return None

    @property
    def needs_languages(self) -> tuple[Side, ...]:
        """The sides that a packaged model reads: it knows some languages only."""
        if self.model_name not in LANGUAGES:
            return ()
        return ("target",) if self.against == "reference" else ("source", "target")

    def language_remark(self, languages: tuple[str, str]) -> str:
        """That the model does not know a language which it is to read, if so."""
        unknown = _unknown(self, languages)
        if not unknown:
            return ""
        return (
            f"{self}: the model {self.model_name} does not know {' and '.join(unknown)}; "
            f"its scores mean little there. {_REMEDY[self.model_name]}"
        )

    def for_dataset(self, dataset: Dataset) -> Self:
        """With a packaged model that knows the texts' languages, where no model is named."""
        if self.against == "source" and not any(dataset.sources):
            raise self._no_source()
        if self.model != "auto" or not self.needs_languages:
            return self
        read = [language_of(dataset, side) for side in self.needs_languages]
        wanted = {language.known(self) for language in read}
        for model in dict.fromkeys((self.model_name, "use")):
            if wanted <= LANGUAGES[model]:
                return self if model == self.model_name else replace(self, model=model)
        unknown = " and ".join(str(each) for each in read if each.code not in LANGUAGES["use"])
        raise DataError(
            f"{self}: no packaged model knows {unknown}. Name a model that does, model=NAME; or "
            "model=use all the same."
        )

    def encoder(self) -> Encoder:
        """The model, loaded; a `DataError` with the remedy where it is not on this machine."""
        return encoder_named(
            self.model_name,
            layer=self.layer_wanted,
            device=None if self.device == "auto" else self.device,
            precision=self.precision,
            batch=self.batch,
        )

    @classmethod
    def claims(cls) -> dict[str, str]:
        """With the model, and the hash of its weights."""
        return super().claims() | {"encoder": "set model={}", "sha256": "set model=NAME"}

    def details(self) -> dict[str, str]:
        """With the model, its revision and the hash of its weights."""
        name, revision, sha256 = self.encoder().identity
        encoder = f"{name}@{revision}" if revision else name
        return super().details() | {"encoder": encoder, "sha256": sha256[:12]}

    def compared_with(self, segments: Sequence[Segment]) -> list[tuple[str, ...]]:
        """By segment the texts that the output is compared with: the references, or the source."""
        if self.against == "reference":
            return [segment.references for segment in segments]
        if segments and not any(segment.source for segment in segments):
            raise self._no_source()
        return [(segment.source,) for segment in segments]

    def _no_source(self) -> DataError:
        return MissingInput("sources", f"{self} compares with the source")

    def winners(self, segments: Sequence[Segment]) -> NDArray[np.intp]:
        """By segment the number of the reference that counts, from 0; the first among equals."""
        others = self.compared_with(segments)
        pairs = zip(segments, others, strict=True)
        alone = [each._replace(references=(text,)) for each, some in pairs for text in some]
        counts = [len(each) for each in others]
        scores = np.split(self.statistics(alone).segments(), np.cumsum(counts)[:-1])
        return np.array([int(np.argmax(each)) for each in scores if len(each)], np.intp)

    def rows_of(self, scores: Array) -> Rows:
        """One score per segment as rows."""
        return np.column_stack([scores, np.ones(len(scores))])

    def aggregate(self, sums: Array) -> Array:
        """The mean of the segments' scores."""
        total, count = sums.T
        return divide(total, count)

    def check_writable(self, name: str) -> None:
        """Raise a `DataError` for a text that a specification cannot hold."""
        value = getattr(self, name)
        if set(value) & set(",|") or value.strip() != value or not value:
            raise DataError(
                f"{self.name}:{name}={value}: a comma, a | or a blank at either end cannot be "
                "written here. Give the file or folder another name."
            )


_REMEDY = {
    "minilm": "Take model=use, which knows 16 languages, or a model of your own.",
    "use": "Take a model that knows them: model=NAME.",
}


def _unknown(metric: NeuralMetric, languages: Pair) -> list[str]:
    known = LANGUAGES.get(metric.model_name)
    source, target = (plain_code(each) for each in languages)
    read = [source, target] if metric.against == "source" else [target]
    return [
        each for each in dict.fromkeys(read) if known is not None and each and each not in known
    ]
