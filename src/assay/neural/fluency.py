"""How likely a text is to a language model: what XMoverScore adds for fluency."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from assay.data import DataError
from assay.metrics.base import Array
from assay.neural.batching import in_batches
from assay.neural.models import INSTALL, Model, find_model, weights_hash, weights_of

__all__ = ["LanguageModel", "language_model"]

BATCH = 16
LONGEST = 1024
"""Pieces; what comes after them is left out, as in XMoverScore."""


class LanguageModel:
    """A causal language model of the `transformers` package, GPT-2 for example."""

    def __init__(self, model: Model, module: Any, tokenizer: Any, device: str) -> None:
        self._module, self._tokenizer, self._device = module.eval().to(device), tokenizer, device
        places = getattr(module.config, "max_position_embeddings", None) or LONGEST
        self._limit = min(LONGEST, places)
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
    if not (find_spec("torch") and find_spec("transformers")):
        raise DataError(f"the model {name} needs more packages: {INSTALL}")
    import torch

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
