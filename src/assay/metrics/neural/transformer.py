"""Transformers as encoders: BERT and its kin, run by torch."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError
from assay.extras import require
from assay.metrics.neural.base import Model, find_model, in_batches, keep_layers, weights_hash
from assay.metrics.neural.encoders import Encoder, Identity, Pieces, Precision, States

__all__ = ["Pooling", "TransformerEncoder", "pooling_of"]

_MODES: dict[str, Literal["mean", "cls", "max"]] = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "mean": "mean",
    "cls": "cls",
    "max": "max",
}


_KNOWN = {"Transformer", "Pooling", "Normalize"}


class Pooling(NamedTuple):
    """The mean of all states, the largest of each, or the first; cut to length 1 on request."""

    mode: Literal["mean", "cls", "max"] = "mean"
    normalized: bool = False
    limit: int | None = None

    def pool(self, states: NDArray[np.float32]) -> NDArray[np.float32]:
        """One vector, (width,)."""
        vector: NDArray[np.float32]
        if self.mode == "cls":
            vector = states[0]
        else:
            vector = states.mean(axis=0) if self.mode == "mean" else states.max(axis=0)
        return vector / max(float(np.linalg.norm(vector)), 1e-12) if self.normalized else vector


def pooling_of(folder: Path) -> Pooling | None:
    """What `modules.json` says; the mean where it is no sentence encoder.

    None where it does more to the states than is known here.
    """
    modules = _read(folder / "modules.json", [])
    paths = {str(module["type"]).rsplit(".", 1)[-1]: module["path"] for module in modules}
    if not paths:
        return Pooling()
    limit = _read(folder / "sentence_bert_config.json", {}).get("max_seq_length")
    mode = _mode(_read(folder / paths.get("Pooling", "") / "config.json", {}))
    if len(paths) < len(modules) or not paths.keys() <= _KNOWN or mode is None:
        return None
    return Pooling(mode, "Normalize" in paths, limit)


def _mode(given: Mapping[str, Any]) -> Literal["mean", "cls", "max"] | None:
    """From a file of sentence-transformers: one word, or before version 6 a choice for each."""
    chosen = {key for key, value in given.items() if key.startswith("pooling_mode_") and value}
    named = {given["pooling_mode"]} if isinstance(given.get("pooling_mode"), str) else set()
    modes = [_MODES.get(key) for key in chosen | named]
    return modes[0] if len(modes) == 1 else None


def _read(path: Path, default: Any) -> Any:
    return json.loads(path.read_text("utf-8")) if path.is_file() else default


BATCH = 16
"""Texts at once on a processor, where more are no faster."""

CARD_BATCH = 128
"""Texts at once on a card."""

_HALF = re.compile("[\ud800-\udfff]")
"""Halves of characters, which no tokenizer takes."""

_PREFIXED = ("roberta", "gpt2", "longformer", "bart")
"""Tokenizers that see a first word as they see the others only after a blank."""


class TransformerEncoder(Encoder):
    """A model of the `transformers` package with its tokenizer."""

    def __init__(
        self,
        module: Any,
        tokenizer: Any,
        *,
        model: Model,
        layer: int | None = None,
        device: str | None = None,
        precision: Precision | None = None,
        batch: int | None = None,
        folder: str | None = None,
    ) -> None:
        import torch

        self._model, self._tokenizer = model, tokenizer
        self._precision = precision or "float32"
        self._device = device or _best_device(torch)
        self._batch = batch or (BATCH if self._device == "cpu" else CARD_BATCH)
        self._limit = _limit(module.config, tokenizer)
        self.layer = keep_layers(module, layer, model.name)
        self._module = _placed(torch, module, self._device, self._precision)
        self._pooling = pooling_of(model.folder)
        super().__init__(folder)

    @classmethod
    def named(cls, name: str, **options: Any) -> TransformerEncoder:
        """The encoder of a package, a folder or a model in the hub's cache."""
        model = find_model(name)
        module, tokenizer = _load(model)
        return cls(module, tokenizer, model=model, **options)

    @cached_property
    def identity(self) -> Identity:
        """Name, revision and hash of the weights."""
        sha256 = weights_hash(self._model.weights)
        return Identity(self._model.name, self._model.revision, sha256)

    @property
    def width(self) -> int:
        """The size of the hidden states."""
        return int(self._module.config.hidden_size)

    @property
    def variant(self) -> str:
        """Layer and precision."""
        return f"layer={self.layer} precision={self._precision}"

    def cut(self, texts: Sequence[str]) -> list[Pieces]:
        """As bert_score cuts them: without blanks at either end, and cut off at the limit."""
        return self._cut_at(texts, self._limit)

    def encode_states(self, texts: Sequence[str]) -> Iterator[tuple[str, States]]:
        """The hidden states of the layer."""
        return self._encoded(texts, self._limit)

    def encode_vectors(self, texts: Sequence[str]) -> Iterator[tuple[str, States]]:
        """The hidden states of a text in one vector, as the model's own files say."""
        pooling = self._pooling
        if pooling is None:
            yield from self._encoded_elsewhere(texts)
            return
        for text, states in self._encoded(texts, pooling.limit or self._limit):
            yield text, pooling.pool(states)

    def _encoded_elsewhere(self, texts: Sequence[str]) -> Iterator[tuple[str, States]]:
        """By the package that has the rest of the model, too."""
        clean = [(text, _HALF.sub("\ufffd", text)) for text in texts]
        for batch, vectors in in_batches(clean, self._sentences, size=self._batch):
            yield from zip((text for text, _ in batch), vectors, strict=True)

    def _sentences(self, batch: Sequence[tuple[str, str]]) -> Any:
        texts = [text for _, text in batch]
        return self._whole.encode(texts, batch_size=len(texts), show_progress_bar=False)

    @cached_property
    def _whole(self) -> Any:
        reason = f"{self._model.name}: its vectors need more packages"
        package = require("neural", "sentence_transformers", reason=reason)
        folder = str(self._model.folder)
        return package.SentenceTransformer(folder, device=self._device, local_files_only=True)

    def _encoded(self, texts: Sequence[str], limit: int) -> Iterator[tuple[str, States]]:
        known = self.pieces(texts) if limit == self._limit else self._cut_at(texts, limit)
        cut = sorted(
            zip(texts, known, strict=True), key=lambda each: len(each[1].ids), reverse=True
        )
        with _one_thread_each(self._device) as workers:
            for batch, states in in_batches(cut, self._forward, size=self._batch, workers=workers):
                for (text, _), own in zip(batch, states, strict=True):
                    yield text, own

    def _cut_at(self, texts: Sequence[str], limit: int) -> list[Pieces]:
        if not texts:
            return []
        stripped = [_HALF.sub("\ufffd", text).strip() for text in texts]
        cut = self._tokenizer(
            stripped,
            truncation=True,
            max_length=limit,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
        )
        return [
            Pieces(
                tuple(ids),
                np.array(special, bool),
                np.array(spans, np.intp).reshape(-1, 2) + len(text) - len(text.lstrip()),
            )
            for text, ids, special, spans in zip(
                texts,
                cut["input_ids"],
                cut["special_tokens_mask"],
                cut["offset_mapping"],
                strict=True,
            )
        ]

    def _forward(self, batch: Sequence[tuple[str, Pieces]]) -> list[States]:
        import torch

        longest = max(len(pieces.ids) for _, pieces in batch)
        ids = np.full((len(batch), longest), self._tokenizer.pad_token_id or 0, np.int64)
        mask = np.zeros_like(ids)
        for row, (_, pieces) in enumerate(batch):
            ids[row, : len(pieces.ids)] = pieces.ids
            mask[row, : len(pieces.ids)] = 1
        with torch.inference_mode():
            out = self._module(
                torch.from_numpy(ids).to(self._device),
                attention_mask=torch.from_numpy(mask).to(self._device),
            )[0]
            states: States = out.float().cpu().numpy()
        # Copies, since a part would keep the whole batch in memory.
        return [own[: len(each.ids)].copy() for own, (_, each) in zip(states, batch, strict=True)]


def _load(model: Model) -> tuple[Any, Any]:
    """The part that reads text, and the tokenizer."""
    reason = f"the model {model.name} needs more packages"
    require("neural", "torch", "transformers", reason=reason)
    logging: Any = import_module("transformers.utils.logging")
    had_bar = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        return _load_module(model), _load_tokenizer(model)
    except (OSError, ValueError, KeyError) as error:
        raise DataError(f"{model.name}: the model cannot be read ({_first_line(error)}).") from None
    finally:
        if had_bar:
            logging.enable_progress_bar()


def _load_module(model: Model) -> Any:
    from transformers import AutoModel

    module = AutoModel.from_pretrained(model.transformer, local_files_only=True)
    # BART and T5: what reads the text is one half of the model.
    is_half = hasattr(module, "decoder") and hasattr(module, "encoder")
    return module.encoder if is_half else module


def _load_tokenizer(model: Model) -> Any:
    from transformers import AutoConfig, AutoTokenizer

    config = AutoConfig.from_pretrained(model.transformer, local_files_only=True)
    # As in bert_score, whose own request for a blank is ignored since transformers 5.
    prefix = {"add_prefix_space": True} if config.model_type in _PREFIXED else {}
    return AutoTokenizer.from_pretrained(model.transformer, local_files_only=True, **prefix)


@contextmanager
def _one_thread_each(device: str) -> Iterator[int]:
    """How many batches to work on at once: on a processor, one per thread that torch would use.

    Small models gain more from batches side by side than from threads that share one, which wait
    for each other; on a busy machine, five times as much.
    """
    import torch

    threads = torch.get_num_threads()
    if device != "cpu" or threads == 1:
        yield 1
        return
    torch.set_num_threads(1)
    try:
        yield threads
    finally:
        torch.set_num_threads(threads)


def _best_device(torch: Any) -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _placed(torch: Any, module: Any, device: str, precision: Precision) -> Any:
    try:
        return module.eval().to(device=device, dtype=getattr(torch, precision))
    except (RuntimeError, AssertionError) as error:
        raise DataError(f"device={device}: {_first_line(error)}") from None


def _limit(config: Any, tokenizer: Any) -> int:
    """The longest text in pieces: what the tokenizer says, unless the model has fewer places."""
    places = getattr(config, "max_position_embeddings", None) or tokenizer.model_max_length
    # RoBERTa counts places from behind the padding's number.
    taken = (config.pad_token_id or 0) + 1 if "roberta" in config.model_type else 0
    return int(min(tokenizer.model_max_length, places - taken))


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0].rstrip(".")
