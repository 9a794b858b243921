"""BLEU (Papineni et al., 2002), equal to sacreBLEU's."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

import numpy as np

from assay import kernel
from assay.data import Array, DataError, Segment, Segments, divide
from assay.metrics.base import LONGEST_NGRAM, Metric, Rows, Score
from assay.registry import setting
from assay.text import check_tokenizer, prepare, prepare_lists

__all__ = ["BLEU", "BLEUScore"]


@dataclass(frozen=True)
class BLEUScore(Score):
    """A BLEU figure with its parts."""

    precisions: tuple[float, ...]
    bp: float
    sys_len: int
    ref_len: int
    counts: tuple[int, ...]
    totals: tuple[int, ...]

    def format(self, width: int = 2) -> str:
        """The line of sacreBLEU: the score, the precisions, the brevity penalty and the lengths."""
        precisions = "/".join(f"{p:.1f}" for p in self.precisions)
        ratio = self.sys_len / self.ref_len if self.ref_len else 0
        return (
            f"{super().format(width)} {precisions} (BP = {self.bp:.3f} ratio = {ratio:.3f} "
            f"hyp_len = {self.sys_len} ref_len = {self.ref_len})"
        )

    def __str__(self) -> str:
        return self.format()


@dataclass(frozen=True)
class BLEU(Metric):
    """Geometric mean of clipped n-gram precisions times the brevity penalty, 0-100.

    For single segments use `effective_order`, or many scores are 0.
    """

    name: ClassVar[str] = "bleu"
    keeps_references: ClassVar[bool] = True

    lowercase: bool = setting(False, key="case", values={"yes": "lc", "no": "mixed"})
    effective_order: bool = setting(False, key="eff")
    tokenize: str = setting("13a", short="tok", key="tok")
    smooth_method: Literal["exp", "floor", "add-k", "none"] = setting(
        "exp", short="smooth", key="smooth"
    )
    smooth_value: float | None = setting(None)
    max_ngram_order: int = setting(4)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_tokenizer(self.tokenize)
        if not 1 <= self.max_ngram_order <= LONGEST_NGRAM:
            raise DataError(f"bleu:max_ngram_order is from 1 to {LONGEST_NGRAM}.")
        if self.smooth_value is None:
            return
        if self.smooth_method not in _SMOOTH_DEFAULTS:
            raise DataError(f"bleu:smooth={self.smooth_method} takes no smooth_value.")
        if self.smooth_value < 0:
            raise DataError("bleu:smooth_value cannot be negative.")
        if self.smooth_value == _SMOOTH_DEFAULTS[self.smooth_method]:
            object.__setattr__(self, "smooth_value", None)  # one way to write one setting

    def for_segments(self) -> BLEU:
        """With effective order, as in sacreBLEU, unless the request says something about it."""
        said = self.request is not None and "effective_order" in self.request.settings
        return self if said else replace(self, effective_order=True)

    def segment_remark(self) -> str:
        """That short segments score 0, without effective order."""
        if self.effective_order:
            return ""
        return (
            f"{self.title} without effective order: segments of fewer than {self.max_ngram_order} "
            "words score 0, which no smoothing mends. effective_order=yes mends it."
        )

    def sentence_score(self, hypothesis: str, references: Sequence[str]) -> Score:
        """Score one segment against its references; as in sacreBLEU, `effective_order` is wanted.

        sacreBLEU's `sentence_bleu` is `BLEU(effective_order=True).sentence_score`.
        """
        score = super().sentence_score(hypothesis, references)
        if remark := self.segment_remark():
            warnings.warn(remark, stacklevel=2)
        return score

    @property
    def mask_policy(self) -> Literal["word", "length", "type"]:
        """Words count, unless the tokenizer makes words of characters."""
        return "length" if self.tokenize == "char" else "word"

    def as_in_muler_paper(self) -> BLEU:
        """NLTK's sentence BLEU of tokenized text: four-grams without smoothing."""
        return replace(self, tokenize="none", smooth_method="none", smooth_value=None)

    def rows(self, segments: Sequence[Segment]) -> Rows:
        """Hypothesis length, closest reference length, matches and totals of every order."""
        ready = prepare(segments, self.tokenize, lowercase=self.lowercase)
        return kernel.word_ngrams(*ready, self.max_ngram_order)

    def pair_rows(
        self,
        hypotheses: Sequence[Sequence[str]],
        references: Sequence[Sequence[str]],
        sources: Sequence[str] = (),
    ) -> Rows:
        """The same for every pair of texts of a segment; every text is read once."""
        ready = prepare_lists(hypotheses, references, self.tokenize, lowercase=self.lowercase)
        return kernel.word_pairs(*ready, self.max_ngram_order)

    def aggregate(self, sums: Array) -> Array:
        """BLEU of summed counts; 0 where nothing matches, as in sacreBLEU."""
        return self._combined(sums, *self._precisions(sums))

    def _combined(self, sums: Array, precisions: Array, used: Array) -> Array:
        with np.errstate(divide="ignore"):
            logs = np.where(used, np.log(precisions), 0.0)
        orders = used.sum(axis=1) if self.effective_order else self.max_ngram_order
        geometric = np.exp(logs.sum(axis=1) / np.maximum(orders, 1))
        any_match = sums[:, 2 : 2 + self.max_ngram_order].any(axis=1)
        return np.where(any_match, brevity_penalty(sums[:, 0], sums[:, 1]) * geometric, 0.0)

    def details(self) -> dict[str, str]:
        """As sacreBLEU writes them: a smoothing with a value is `add-k[1.00]`."""
        details = super().details()
        details.pop("smooth_value", None)
        if self.smooth_method in _SMOOTH_DEFAULTS:
            short = f"{self._smooth_value:.2f}"
            exact = short if float(short) == self._smooth_value else repr(float(self._smooth_value))
            details["smooth"] += f"[{exact}]"
        return details

    @classmethod
    def from_options(cls, options: Iterable[tuple[str, str]]) -> Self:
        """Also reads sacreBLEU's `smooth:floor[0.10]`."""
        parted: list[tuple[str, str]] = []
        for key, value in options:
            method, bracket, number = value.partition("[")
            parted.append((key, method))
            if bracket:
                parted.append(("smooth_value", number.removesuffix("]")))
        return super().from_options(parted)

    def _score(self, segments: Segments, references: int | str) -> BLEUScore:
        sums = np.asarray(self.rows(segments)).sum(axis=0)[None, :]
        order = self.max_ngram_order
        precisions, used = self._precisions(sums)
        return BLEUScore(
            name=self.title,
            score=float(self._combined(sums, precisions, used)[0]),
            signature=self.signature(references),
            precisions=tuple(map(float, precisions[0])),
            bp=float(brevity_penalty(sums[:, 0], sums[:, 1])[0]),
            sys_len=int(sums[0, 0]),
            ref_len=int(sums[0, 1]),
            counts=tuple(map(int, sums[0, 2 : 2 + order])),
            totals=tuple(map(int, sums[0, 2 + order :])),
        )

    @property
    def _smooth_value(self) -> float:
        """The value in force; 0 for the methods that take none."""
        default = _SMOOTH_DEFAULTS.get(self.smooth_method, 0.0)
        return default if self.smooth_value is None else self.smooth_value

    def _precisions(self, sums: Array) -> tuple[Array, Array]:
        """Precisions in percent, (b, N), and which orders take part."""
        matches = sums[:, 2 : 2 + self.max_ngram_order].astype(float)
        totals = sums[:, 2 + self.max_ngram_order :].astype(float)
        if self.smooth_method == "add-k":
            matches[:, 1:] += self._smooth_value
            totals[:, 1:] += self._smooth_value
        # An order without n-grams ends the count: nothing longer is looked at.
        # Where nothing matches there is nothing to smooth, as in sacreBLEU.
        any_match = sums[:, 2 : 2 + self.max_ngram_order].any(axis=1, keepdims=True)
        there = np.logical_and.accumulate((totals > 0) & any_match, axis=1)
        missed = there & (matches == 0)
        if self.smooth_method == "exp":
            matches = np.where(missed, 0.5 ** np.cumsum(missed, axis=1), matches)
        elif self.smooth_method == "floor":
            matches = np.where(missed, self._smooth_value, matches)
        precisions = np.where(there, 100.0 * divide(matches, totals), 0.0)
        return precisions, there if self.effective_order else np.ones_like(there)


def brevity_penalty(hypothesis: Array, reference: Array) -> Array:
    """1 for hypotheses as long as the reference, less for shorter ones, 0 for empty ones."""
    short = hypothesis < reference
    with np.errstate(divide="ignore"):
        penalty = np.exp(1 - reference / np.where(hypothesis > 0, hypothesis, 1.0))
    return np.where(short, np.where(hypothesis > 0, penalty, 0.0), 1.0)


_SMOOTH_DEFAULTS = {"floor": 0.1, "add-k": 1.0}
