"""How the states of a text become one vector, as a sentence encoder's files say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.data import DataError

__all__ = ["Pooling", "pooling_of"]

_MODES: dict[str, Literal["mean", "cls", "max"]] = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
}


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


def pooling_of(folder: Path) -> Pooling:
    """What `modules.json` says; the mean where it is no sentence encoder."""
    modules = _read(folder / "modules.json", [])
    kinds = [str(module["type"]).rsplit(".", 1)[-1] for module in modules]
    limit = _read(folder / "sentence_bert_config.json", {}).get("max_seq_length")
    return Pooling(_mode(folder, modules, kinds), "Normalize" in kinds, limit)


def _mode(folder: Path, modules: Any, kinds: list[str]) -> Literal["mean", "cls", "max"]:
    if "Pooling" not in kinds:
        return "mean"
    given = _read(folder / modules[kinds.index("Pooling")]["path"] / "config.json", {})
    chosen = [key for key, value in given.items() if key.startswith("pooling_mode") and value]
    modes = [_MODES[key] for key in chosen if key in _MODES]
    if len(chosen) != 1 or not modes:
        raise DataError(f"{folder}: {', '.join(chosen)} is a pooling that is not known here.")
    return modes[0]


def _read(path: Path, default: Any) -> Any:
    return json.loads(path.read_text("utf-8")) if path.is_file() else default
