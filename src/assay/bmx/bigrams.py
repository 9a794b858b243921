"""Words that fit between two others, from counts of word pairs: English, and without a network."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import version
from importlib.resources import files
from importlib.util import find_spec
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from assay.data import DataError
from assay.metrics.base import Array, divide

__all__ = ["BigramModel", "Candidate", "packaged_bigrams"]

TRUST = 0.9
"""The share of counted pairs in a probability; the rest goes to words by themselves."""

_CORE = re.compile(r"\w(?:.*\w)?", re.DOTALL)
"""A token without the punctuation around it."""


class Candidate(NamedTuple):
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

    def candidates(self, tokens: tuple[str, ...], threshold: float) -> list[list[Candidate]]:
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
    ) -> list[Candidate]:
        found, probabilities = self.between(left, right, threshold)
        return [
            Candidate(token.dressed(self.words[at]), float(probability))
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
    if not find_spec("symspellpy"):
        raise DataError(
            "replacement words need the counts of symspellpy: pip install 'assay-mt[explain]', "
            "or name a masked language model: marginal:model=NAME."
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
