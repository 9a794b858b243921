"""Words that fit in a place, from a masked language model of the `transformers` package."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from assay.bmx.bigrams import Candidate
from assay.data import DataError
from assay.metrics.base import Array
from assay.neural.batching import in_batches
from assay.neural.encoders import Identity
from assay.neural.models import INSTALL, Model, find_model, weights_hash, weights_of

__all__ = ["MaskedModel", "masked_model"]

BATCH = 32
"""Masked texts that go through the model at once."""


class MaskedModel:
    """A masked language model with its tokenizer."""

    def __init__(self, module: Any, tokenizer: Any, model: Model) -> None:
        import torch

        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._module = module.eval().to(self._device)
        self._tokenizer, self._model = tokenizer, model

    @cached_property
    def identity(self) -> str:
        """Name, revision and hash of the weights."""
        sha256 = weights_hash(weights_of(self._model.folder))
        return str(Identity(self._model.name, self._model.revision, sha256))

    def candidates(self, tokens: tuple[str, ...], threshold: float) -> list[list[Candidate]]:
        """For every token, the model's words that are more probable in its place.

        The whole token, with its punctuation, is one mask. Special tokens are no words.
        """
        texts = [self._encoded(tokens, at) for at in range(len(tokens))]
        return [
            self._likely(row, threshold)
            for _, rows in in_batches(texts, self._probabilities, size=BATCH)
            for row in rows
        ]

    def _encoded(self, tokens: tuple[str, ...], at: int) -> list[int]:
        """The numbers of the pieces of the text, or of as much of it around the mask as fits."""
        mask, unknown = self._tokenizer.mask_token, self._tokenizer.unk_token or ""
        # A text that itself says "[MASK]" must not get a second one.
        words = [_whole(word).replace(mask, unknown) for word in tokens]
        reach = len(tokens)
        while True:
            before, after = words[max(0, at - reach) : at], words[at + 1 : at + 1 + reach]
            text = " ".join([*before, mask, *after])
            pieces: list[int] = self._tokenizer(text, verbose=False)["input_ids"]
            if len(pieces) <= self._limit or not reach:
                return pieces
            reach //= 2

    @cached_property
    def _limit(self) -> int:
        """The longest text in pieces; two places less, as RoBERTa counts from behind them."""
        places = getattr(self._module.config, "max_position_embeddings", None) or 512
        return int(min(self._tokenizer.model_max_length, places - 2))

    def _probabilities(self, batch: Sequence[list[int]]) -> list[Array]:
        """For every text, how probable each of the model's words is in place of the mask."""
        import torch

        padded = self._tokenizer.pad({"input_ids": list(batch)}, return_tensors="pt")
        mask = padded["input_ids"] == self._tokenizer.mask_token_id
        with torch.inference_mode():
            logits = self._module(**padded.to(self._device)).logits.float().cpu()
        return list(torch.softmax(logits[mask].double(), dim=-1).numpy())

    def _likely(self, probabilities: Array, threshold: float) -> list[Candidate]:
        above = np.flatnonzero(probabilities > threshold)
        ranked = above[np.argsort(-probabilities[above], kind="stable")]
        return list(self._words(ranked, probabilities))

    def _words(self, numbers: Any, probabilities: Array) -> Iterator[Candidate]:
        special = set(self._tokenizer.all_special_ids)
        for number in numbers.tolist():
            word = self._tokenizer.decode([number]).strip().removeprefix("##")
            if number not in special and word:
                yield Candidate(word, float(probabilities[number]))


def _whole(word: str) -> str:
    """Without halves of characters, which no tokenizer takes."""
    return word.encode("utf-8", "replace").decode()


@lru_cache(maxsize=2)
def masked_model(name: str) -> MaskedModel:
    """The masked language model of a name or folder; a `DataError` where it is not here."""
    if not (find_spec("torch") and find_spec("transformers")):
        raise DataError(f"the model {name} needs more packages: {INSTALL}")
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    model = find_model(name)
    logging: Any = import_module("transformers.utils.logging")
    had_bar = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        tokenizer = AutoTokenizer.from_pretrained(model.folder, local_files_only=True)
        module = AutoModelForMaskedLM.from_pretrained(model.folder, local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        reason = str(error).strip().split("\n", 1)[0].rstrip(".")
        raise DataError(f"{name}: no masked language model here ({reason}).") from None
    finally:
        if had_bar:
            logging.enable_progress_bar()
    if tokenizer.mask_token is None:
        raise DataError(f"{name}: its tokenizer has no mask. Name a masked language model.")
    return MaskedModel(module, tokenizer, model)
