"""Input marginalisation (Kim et al., 2020): what the score loses when likely words stand in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib import import_module
from importlib.metadata import version
from importlib.resources import files
from math import ceil
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from assay.data import Array, DataError, divide
from assay.explanation.explainers import Explainer, Perturbed
from assay.extras import is_installed, missing, require
from assay.metrics.neural.base import Model, find_model, in_batches, weights_hash, weights_of
from assay.metrics.neural.encoders import Identity

__all__ = [
    "BIGRAMS",
    "BigramModel",
    "Marginal",
    "MaskedModel",
    "Replacement",
    "masked_model",
    "packaged_bigrams",
]

TRUST = 0.9
"""The share of counted pairs in a probability; the rest goes to words by themselves."""

_CORE = re.compile(r"\w(?:.*\w)?", re.DOTALL)
"""A token without the punctuation around it."""


class Replacement(NamedTuple):
    """A word that could stand in a place, and how probable it is there."""

    word: str
    probability: float


class _Token(NamedTuple):
    before: str
    core: str
    after: str

    def dressed(self, word: str) -> str:
        """Another word with this token's capitals and punctuation."""
        if self.core.isupper() and len(self.core) > 1:
            word = word.upper()
        elif self.core[:1].isupper():
            word = word[:1].upper() + word[1:]
        return f"{self.before}{word}{self.after}"


@dataclass(frozen=True, eq=False)
class BigramModel:
    """The probability of a word given the word to its left times that of the right one given it.

    Both are mixed with the words' own frequencies. A neighbour that is missing or unknown says
    nothing. `shares` are the frequencies of `words`, `following` is (left, right) with rows that
    sum to 1, or to 0 where a word is not known as the left of any pair.
    """

    words: list[str]
    shares: Array
    following: Any
    identity: str

    def candidates(self, tokens: tuple[str, ...], threshold: float) -> list[list[Replacement]]:
        """For every token, the words that are more probable than the threshold in its place.

        Punctuation around a token stays, and a token of nothing else has no candidates.
        """
        taken = [_token(each) for each in tokens]
        at = [None, *(self._index.get(each.core.lower()) for each in taken), None]
        return [
            self._dressed(token, at[place], at[place + 2], threshold) if token.core else []
            for place, token in enumerate(taken)
        ]

    def _dressed(
        self, token: _Token, left: int | None, right: int | None, threshold: float
    ) -> list[Replacement]:
        found, probabilities = self.between(left, right, threshold)
        return [
            Replacement(token.dressed(self.words[at]), float(probability))
            for at, probability in zip(found, probabilities, strict=True)
        ]

    def between(
        self, left: int | None, right: int | None, threshold: float
    ) -> tuple[NDArray[np.intp], Array]:
        """The words (their numbers) above the threshold between two others, best first."""
        near = self._near(left, right, threshold)
        ahead = self._after(left, near)
        rest = 1.0 if left is None else float(self._rest[left])
        if right is None:
            fit, total = ahead, ahead.sum() + rest * (1 - self.shares[near].sum())
        else:
            fit = ahead * self._before(right, near)
            # Words that no pair speaks for share what is left, each by its frequency.
            others = self._all_loose - self._loose[near].sum()
            total = fit.sum() + rest * self.shares[right] * others
        probabilities = fit / total
        order = np.argsort(-probabilities, kind="stable")
        order = order[probabilities[order] > threshold]
        return near[order], probabilities[order]

    def _near(self, left: int | None, right: int | None, threshold: float) -> NDArray[np.intp]:
        """All words that can be above the threshold: those in a pair, and the most frequent."""
        order = self._frequent[0 if right is None else 1]
        parts = [order[: ceil(1 / threshold)]]
        if left is not None:
            parts.append(_line(self.following, left)[0])
        if right is not None:
            parts.append(_line(self._preceding, right)[0])
        return np.unique(np.concatenate(parts))

    def _after(self, left: int | None, words: NDArray[np.intp]) -> Array:
        if left is None:
            own: Array = self.shares[words]
            return own
        pairs = _picked(*_line(self.following, left), words)
        mixed: Array = TRUST * pairs + self._rest[left] * self.shares[words]
        return mixed

    def _before(self, right: int, words: NDArray[np.intp]) -> Array:
        pairs = _picked(*_line(self._preceding, right), words)
        mixed: Array = TRUST * pairs + self._rest[words] * self.shares[right]
        return mixed

    @cached_property
    def _index(self) -> dict[str, int]:
        return {word: at for at, word in enumerate(self.words)}

    @cached_property
    def _preceding(self) -> Any:
        return csr_array(self.following.T)

    @cached_property
    def _rest(self) -> Array:
        """What every word's pairs leave to the words' own frequencies."""
        return np.where(self.following.sum(axis=1) > 0, 1 - TRUST, 1.0)

    @cached_property
    def _loose(self) -> Array:
        return self.shares * self._rest

    @cached_property
    def _all_loose(self) -> float:
        return float(self._loose.sum())

    @cached_property
    def _frequent(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return np.argsort(-self.shares), np.argsort(-self._loose)


def _line(table: Any, at: int) -> tuple[NDArray[np.intp], Array]:
    inside = slice(table.indptr[at], table.indptr[at + 1])
    return table.indices[inside], table.data[inside]


def _picked(places: NDArray[np.intp], values: Array, wanted: NDArray[np.intp]) -> Array:
    """The values at the wanted places, which are sorted and include all places."""
    found = np.zeros(len(wanted))
    found[np.searchsorted(wanted, places)] = values
    return found


def _token(text: str) -> _Token:
    match = _CORE.search(text)
    if not match:
        return _Token(text, "", "")
    return _Token(text[: match.start()], match[0], text[match.end() :])


@cache
def packaged_bigrams() -> BigramModel:
    """The model of the counts in the package `symspellpy`."""
    if not is_installed("symspellpy"):
        raise missing(
            "explain",
            "replacement words need the counts of symspellpy",
            ", or name a masked language model: marginal:model=NAME.",
        )
    folder = files("symspellpy")
    single = _read(folder / "frequency_dictionary_en_82_765.txt")
    pairs = _read(folder / "frequency_bigramdictionary_en_243_342.txt")
    words = [word for word, _ in single]
    shares = np.array([count for _, count in single], float)
    index = {word: at for at, word in enumerate(words)}
    left, right, counts = zip(
        *((index[a], index[b], int(count)) for a, b, count in pairs if a in index and b in index),
        strict=True,
    )
    table = csr_array((np.array(counts, float), (left, right)), shape=(len(words),) * 2)
    scale = np.repeat(np.asarray(table.sum(axis=1)), np.diff(table.indptr))
    table.data = divide(table.data, scale)
    table.sort_indices()
    identity = f"bigram counts of symspellpy {version('symspellpy')}"
    return BigramModel(words, shares / shares.sum(), table, identity)


def _read(path: Any) -> list[list[str]]:
    return [line.split() for line in path.read_text("utf-8-sig").splitlines() if line.strip()]


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

    def candidates(self, tokens: tuple[str, ...], threshold: float) -> list[list[Replacement]]:
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

    def _likely(self, probabilities: Array, threshold: float) -> list[Replacement]:
        above = np.flatnonzero(probabilities > threshold)
        ranked = above[np.argsort(-probabilities[above], kind="stable")]
        return list(self._words(ranked, probabilities))

    def _words(self, numbers: Any, probabilities: Array) -> Iterator[Replacement]:
        special = set(self._tokenizer.all_special_ids)
        for number in numbers.tolist():
            word = self._tokenizer.decode([number]).strip().removeprefix("##")
            if number not in special and word:
                yield Replacement(word, float(probabilities[number]))


def _whole(word: str) -> str:
    """Without halves of characters, which no tokenizer takes."""
    return word.encode("utf-8", "replace").decode()


@lru_cache(maxsize=2)
def masked_model(name: str) -> MaskedModel:
    """The masked language model of a name or folder; a `DataError` where it is not here."""
    require("neural", "torch", "transformers", reason=f"the model {name} needs more packages")
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


BIGRAMS = "bigrams"
"""The model that needs neither a hub nor torch."""


@dataclass(frozen=True)
class Marginal(Explainer):
    """The full text's score less the sum of p(word) times the score with the word in place.

    The words are those that a masked language model, by name or folder, finds more probable than
    `threshold` in the token's place; offline, a model of English word pairs. Their probabilities
    need not add up to 1, and a token without such words has the full score for its importance:
    that is the formula. `softmax` puts the probabilities of the words found through a softmax, as
    the published program does.
    """

    name: ClassVar[str] = "marginal"

    model: str = BIGRAMS
    threshold: float = 0.05
    softmax: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.001 <= self.threshold < 1:
            raise DataError(f"marginal:threshold={self.threshold}: a number from 0.001 to 1.")
        if not self.model or set(self.model) & set(",()"):
            raise DataError(f"marginal:model={self.model}: a name without commas and brackets.")

    @property
    def needs_english(self) -> bool:
        """The counts of word pairs are English."""
        return self.model == BIGRAMS

    @property
    def label(self) -> str:
        """The specification, and the model by whose words it goes."""
        stated = "no masked language model, but " if self.model == BIGRAMS else ""
        return f"{self} ({stated}{_model(self.model).identity})"

    def perturb(self, tokens: tuple[str, ...], rng: np.random.Generator) -> Perturbed:
        """The full text, and one for every word in place of a token; `design` is its weight."""
        texts, places, weights = [" ".join(tokens)], [], []
        for at, found in enumerate(_candidates(self.model, self.threshold, tokens)):
            texts += [" ".join((*tokens[:at], word, *tokens[at + 1 :])) for word, _ in found]
            places += [at] * len(found)
            weights += self._weights(found)
        design = np.zeros((len(texts), len(tokens)))
        design[np.arange(1, len(texts)), places] = weights
        return Perturbed(texts, design)

    def attribute(self, perturbed: Perturbed, scores: Array) -> Array:
        """What the score loses, on average, with another word in each token's place."""
        losses: Array = scores[0] - scores @ perturbed.design
        return losses

    def _weights(self, found: list[Replacement]) -> list[float]:
        probabilities = np.array([each.probability for each in found])
        if self.softmax:
            probabilities = np.exp(probabilities) / np.exp(probabilities).sum()
        return list(map(float, probabilities))


class _Replacing(Protocol):
    """Whatever finds words for a place."""

    @property
    def identity(self) -> str: ...

    def candidates(self, tokens: tuple[str, ...], threshold: float) -> list[list[Replacement]]: ...


def _model(name: str) -> _Replacing:
    if name == BIGRAMS:
        return packaged_bigrams()
    return masked_model(name)


@lru_cache(maxsize=2**14)
def _candidates(model: str, threshold: float, tokens: tuple[str, ...]) -> list[list[Replacement]]:
    """Kept, as several systems share their references and sources."""
    return _model(model).candidates(tokens, threshold)
