"""COMET (Rei et al., 2020) and its kin, through the package that they come in."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from assay.data import DataError, MissingInput, Segment
from assay.extras import missing
from assay.metrics.base import Rows
from assay.metrics.neural.base import NeuralMetric, check_not_path, weights_hash
from assay.registry import Settings

__all__ = ["COMET"]

USUAL = {"reference": "Unbabel/wmt22-comet-da", "source": "Unbabel/wmt22-cometkiwi-da"}
BATCH = 16


@dataclass(frozen=True, kw_only=True)
class COMET(NeuralMetric):
    """The score that a model gives which was trained on people's scores.

    It always reads the source; `against=source` is for models that read nothing else besides the
    output, as CometKiwi. `model` is a Hugging Face name, a folder or a checkpoint. Of several
    references the best counts.
    """

    name: ClassVar[str] = "comet"
    scale: ClassVar[str] = "about 0-1"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.precision != "float32":
            raise DataError(f"{self}: COMET runs in float32; leave precision out.")
        if self.batch is not None and self.batch < 1:
            raise DataError(f"{self}: at least one text is read at a time.")

    @property
    def model_name(self) -> str:
        """The model, also where it is chosen here."""
        return USUAL[self.against] if self.model == "auto" else self.model

    @classmethod
    def claims(cls) -> dict[str, str]:
        """With the package that runs it."""
        return super().claims() | {"package": "install that version"}

    def details(self) -> dict[str, str]:
        """With the model, its revision and the hash of its weights."""
        found = _load(self.model_name)
        encoder = f"{self.model_name}@{found.revision}" if found.revision else self.model_name
        package = {"package": f"unbabel-comet-{version('unbabel-comet')}"}
        return Settings.details(self) | {"encoder": encoder, "sha256": found.sha256[:12]} | package

    def rows(self, segments: Sequence[Segment]) -> Rows:
        """The score of every segment, and 1."""
        if segments and not any(segment.source for segment in segments):
            raise MissingInput("sources", f"{self} compares with the source")
        asked = [self._asked(segment) for segment in segments]
        scores = self._scores(list(dict.fromkeys(chain(*asked)))) if asked else {}
        best = [max(scores[each] for each in some) for some in asked]
        return self.rows_of(np.array(best, float))

    def _asked(self, segment: Segment) -> list[_Asked]:
        others = segment.references if self.against == "reference" else (None,)
        return [_Asked(segment.source, segment.hypothesis, other) for other in others]

    def _scores(self, asked: Sequence[_Asked]) -> dict[_Asked, float]:
        found = _load(self.model_name)
        wanted = bool(found.module.requires_references())
        if wanted and self.against == "source":
            raise DataError(f"{self}: {self.model_name} reads references; leave against out.")
        cards = _cards(self.device)
        with _quiet():
            predicted = found.module.predict(
                [each.sample() for each in asked],
                batch_size=self.batch or BATCH,
                gpus=cards,
                accelerator="auto" if cards else "cpu",
                progress_bar=False,
            )
        return dict(zip(asked, map(float, predicted.scores), strict=True))


class _Asked(NamedTuple):
    """What the model is given: a source, an output, and a reference if it reads one."""

    source: str
    output: str
    reference: str | None

    def sample(self) -> dict[str, str]:
        """As the package takes it."""
        sample = {"src": self.source, "mt": self.output}
        return sample if self.reference is None else sample | {"ref": self.reference}


class _Loaded(NamedTuple):
    """A model in memory."""

    module: Any
    revision: str
    sha256: str


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the remarks of the packages below, which are for those who train models."""
    for name in ("comet", "pytorch_lightning"):
        logging.getLogger(name).setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _cards(device: str) -> int:
    import torch

    return int(device != "cpu" and torch.cuda.is_available())


@lru_cache(maxsize=1)
def _load(name: str) -> _Loaded:
    try:
        version("unbabel-comet")
    except PackageNotFoundError:
        raise missing("comet", "comet needs its own package") from None
    checkpoint, revision = _checkpoint(name)
    try:
        with _quiet():
            comet = import_module("comet")
            module = comet.load_from_checkpoint(str(checkpoint), local_files_only=True)
    except OSError as error:
        raise DataError(_not_loaded(name, checkpoint, error)) from None
    return _Loaded(module, revision, weights_hash([checkpoint]))


def _checkpoint(name: str) -> tuple[Path, str]:
    """The file with the weights, and the revision of a model of the hub."""
    path, revision = Path(name), ""
    if not path.exists():
        check_not_path(name)
        from huggingface_hub import snapshot_download

        try:
            path = Path(snapshot_download(name, local_files_only=True))
        except (ValueError, OSError):
            raise DataError(
                f"the model {name} is not on this machine, and there is no folder of that name. "
                f"To fetch it: hf download {name}"
            ) from None
        revision = path.name[:12]
    checkpoint = path / "checkpoints" / "model.ckpt" if path.is_dir() else path
    if not checkpoint.is_file() or not (checkpoint.parents[1] / "hparams.yaml").is_file():
        raise DataError(
            f"{name}: no model of COMET's here; it has hparams.yaml and checkpoints/model.ckpt."
        )
    return checkpoint, revision


def _not_loaded(name: str, checkpoint: Path, error: Exception) -> str:
    """COMET's models bring their weights, but not the tokenizer of what they are made from."""
    settings = (checkpoint.parents[1] / "hparams.yaml").read_text("utf-8")
    made_from = re.search(r"^pretrained_model:\s*(\S+)", settings, re.M)
    line = str(error).strip().split("\n", 1)[0].rstrip(".")
    remedy = f" It is made from {made_from[1]}: hf download {made_from[1]}" if made_from else ""
    return f"{name} cannot be loaded ({line}).{remedy}"
