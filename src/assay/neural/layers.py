"""Only the layers that are wanted: the rest of a model is dropped, which also saves their time."""

from __future__ import annotations

from typing import Any

from assay.data import DataError

__all__ = ["keep_layers", "usual_layer"]

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
        config.num_hidden_layers = _checked(layer, config.num_hidden_layers, name)
        return int(config.num_hidden_layers)
    if isinstance(getattr(module, "n_layers", None), int):
        module.n_layers = _checked(layer, module.n_layers, name)
        return int(module.n_layers)
    holder, attribute = _holder(module)
    layers = getattr(holder, attribute)
    kept = _checked(layer, len(layers), name)
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


def _checked(layer: int | None, there: int, name: str) -> int:
    if layer is not None and not 0 <= layer <= there:
        raise DataError(f"layer={layer}: {name} has {there} layers; 0 is its input.")
    return there if layer is None else layer
