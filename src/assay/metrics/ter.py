"""Translation edit rate (Snover et al., 2006) and word or character error rate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np

from assay import kernel
from assay.data import Array, DataError, Segment, divide
from assay.metrics.base import Metric, Rows, explained_limit
from assay.registry import setting
from assay.text import check_tokenizer, prepare, rewrite

__all__ = ["TER", "WER"]


def _rate(sums: Array) -> Array:
    """Edits per reference word in percent; words against an empty reference count as 100."""
    edits, words = sums.T
    return 100 * np.where(words > 0, divide(edits, words), edits > 0)


@dataclass(frozen=True)
class TER(Metric):
    """Edits and shifts per reference word, in percent; lower is better. Equal to sacreBLEU's."""

    name: ClassVar[str] = "ter"
    higher_is_better: ClassVar[bool] = False
    keeps_references: ClassVar[bool] = True

    case_sensitive: bool = setting(False, key="case", values={"yes": "mixed", "no": "lc"})
    normalized: bool = setting(False, key="norm")
    no_punct: bool = setting(False, key="punct", values={"yes": "no", "no": "yes"})
    asian_support: bool = setting(False, key="asian")

    def rows(self, segments: Sequence[Segment]) -> Rows:
        """Edits to the nearest reference, and the mean reference length."""
        if self.normalized or self.no_punct:
            from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

            # Its cache hides behind __call__; the texts are each rewritten once anyway.
            split = TercomTokenizer(
                normalized=self.normalized,
                no_punct=self.no_punct,
                asian_support=self.asian_support,
                case_sensitive=self.case_sensitive,
            )
            segments = rewrite(segments, lambda line: split(line.rstrip()))
        elif not self.case_sensitive:
            segments = rewrite(segments, str.lower)
        return kernel.shifted_edits(segments, "none", b"")

    def aggregate(self, sums: Array) -> Array:
        """Edits per reference word in percent."""
        return _rate(sums)

    def details(self) -> dict[str, str]:
        """With `tok:tercom`, as sacreBLEU writes it."""
        case, *others = super().details().items()
        return dict([case, ("tok", "tercom"), *others])

    @classmethod
    def from_options(cls, options: Iterable[tuple[str, str]]) -> Self:
        """Also reads sacreBLEU's `tok:tercom`, which says nothing."""
        return super().from_options(pair for pair in options if pair != ("tok", "tercom"))


@dataclass(frozen=True)
class WER(Metric):
    """Edits per reference word (or character) in percent, without shifts; lower is better."""

    name: ClassVar[str] = "wer"
    higher_is_better: ClassVar[bool] = False
    keeps_references: ClassVar[bool] = True

    lowercase: bool = setting(False, key="case", values={"yes": "lc", "no": "mixed"})
    tokenize: str = setting("none", short="tok", key="tok")
    unit: Literal["word", "char"] = setting("word", key="unit")
    whitespace: bool = setting(False, short="space", key="space")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_tokenizer(self.tokenize)
        if self.whitespace and self.unit == "word":
            raise DataError(
                "wer:space=yes: white space can count only among characters. Leave it out, or ask "
                "for cer:space=yes."
            )

    @property
    def title(self) -> str:
        """WER or CER."""
        return "WER" if self.unit == "word" else "CER"

    @property
    def mask_policy(self) -> Literal["word", "length", "type"]:
        """Words or characters count."""
        return "word" if self.unit == "word" else "length"

    def rows(self, segments: Sequence[Segment]) -> Rows:
        """Edits to the nearest reference, and the mean reference length."""
        segments, tokenizer, classes = prepare(segments, self.tokenize, lowercase=self.lowercase)
        with explained_limit(self, segments, "words" if self.unit == "word" else "characters"):
            if self.unit == "char":
                return kernel.character_edits(segments, self.whitespace)
            return kernel.edits(segments, tokenizer, classes)

    def aggregate(self, sums: Array) -> Array:
        """Edits per reference word in percent."""
        return _rate(sums)

    def details(self) -> dict[str, str]:
        """White space matters to characters alone."""
        details = super().details()
        if self.unit == "word":
            del details["space"]
        return details
