"""How the states of a text become one vector, as a sentence encoder's files say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Pooling", "pooling_of"]

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
