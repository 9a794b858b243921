"""Surface faults as metrics: the rate of segments that are empty, cut off, looping, copied ..."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Literal, NamedTuple, Self, TypeAlias

import numpy as np

from assay.data import Array, Dataset, Segment, divide
from assay.metrics import fault_detectors as detectors
from assay.metrics import fault_marks as marks
from assay.metrics.base import Metric, Rows
from assay.metrics.fault_languages import wrong_language
from assay.registry import setting
from assay.text import Side, language_of

__all__ = ["FAULTS", "Fault", "FaultFamily", "FaultKind", "Kind", "faults_for"]

Kind: TypeAlias = Literal[
    "any",
    "empty",
    "cut",
    "length",
    "loop",
    "copied",
    "language",
    "numbers",
    "brackets",
    "markup",
    "casing",
    "punctuation",
    "characters",
    "doubled",
]

Needs: TypeAlias = Literal["nothing", "original", "source"]
"""What a detector compares the output with: an original is a source or a reference."""


class FaultKind(NamedTuple):
    """What is wrong, in words, and what it takes to see it."""

    description: str
    needs: Needs


FAULTS: dict[str, FaultKind] = {
    "empty": FaultKind("no text at all", "nothing"),
    "cut": FaultKind("the end is missing", "original"),
    "length": FaultKind("far too short or too long", "original"),
    "loop": FaultKind("a word or phrase again and again", "nothing"),
    "copied": FaultKind("copied from the source", "source"),
    "language": FaultKind("wrong script or language", "nothing"),
    "numbers": FaultKind("numbers lost or made up", "original"),
    "brackets": FaultKind("quotes or brackets not in pairs", "nothing"),
    "markup": FaultKind("placeholders, tags or addresses lost or damaged", "original"),
    "casing": FaultKind("all small or all capital, a small start, small names", "nothing"),
    "punctuation": FaultKind("final punctuation lost or changed", "original"),
    "characters": FaultKind("broken characters or entities", "nothing"),
    "doubled": FaultKind("a word twice in a row", "nothing"),
}
"""The kinds of fault in the order in which they are shown."""

_Detector: TypeAlias = Callable[[str, str, tuple[str, ...]], detectors.Found]

_DETECTORS: dict[str, _Detector] = {
    "empty": detectors.empty,
    "cut": detectors.cut,
    "length": detectors.length,
    "loop": detectors.loop,
    "copied": detectors.copied,
    "numbers": detectors.numbers,
    "brackets": marks.brackets,
    "markup": marks.markup,
    "casing": marks.casing,
    "punctuation": detectors.punctuation,
    "characters": marks.characters,
    "doubled": detectors.doubled,
}


@dataclass(frozen=True)
class Fault(Metric):
    """The share of segments with a fault of that kind, in percent of those where it can be told.

    The kind `any` is for segments with at least one fault. Sources and references are used as far
    as there are any. The languages, those of the dataset unless they are set, matter for the kinds
    `language` and `copied` only.
    """

    name: ClassVar[str] = "fault"
    higher_is_better: ClassVar[bool] = False
    needs_references: ClassVar[bool] = False

    kind: Kind = setting("any", key="kind")
    source: str = ""
    target: str = ""

    @property
    def title(self) -> str:
        """fault: numbers."""
        return f"fault: {self.kind}"

    @property
    def description(self) -> str:
        """What is wrong, in words."""
        return FAULTS[self.kind].description if self.kind in FAULTS else "any fault"

    @property
    def bounds(self) -> tuple[float, float]:
        """A rate in percent."""
        return 0.0, 100.0

    @property
    def needs_languages(self) -> tuple[Side, ...]:
        """Both where the language is looked at and not known yet."""
        return ("source", "target") if self._reads_languages and not self.target else ()

    def for_dataset(self, dataset: Dataset) -> Self:
        """With the languages that the dataset is in, as far as they can be told."""
        if not self._reads_languages or self.target:
            return self
        source = language_of(dataset, "source") if dataset.sources else None
        target = language_of(dataset, "target")
        known = [
            "" if each is None or each.how == "assumed" else each.code for each in (source, target)
        ]
        return replace(self, source=self.source or known[0], target=known[1])

    def flags(self, segments: Sequence[Segment]) -> Array:
        """1 for a fault, 0 for none, `nan` where it cannot be told, (n,)."""
        rows = np.asarray(self.rows(segments))
        return np.where(rows[:, 1] > 0, rows[:, 0], np.nan)

    def rows(self, segments: Sequence[Segment]) -> Rows:
        """Whether there is a fault, whether that can be told, and 1, (n, 3)."""
        detect = self._detector()
        rows = np.ones((len(segments), 3))
        for row, (hypothesis, references, source) in zip(rows, segments, strict=True):
            found = detect(hypothesis, source, references)
            row[0], row[1] = bool(found), found is not None
        return rows

    def aggregate(self, sums: Array) -> Array:
        """Faults in percent; `nan` where none of the segments can be judged, 0 without segments."""
        faults, judged, segments = sums.T
        return np.where((judged > 0) | (segments == 0), 100 * divide(faults, judged), np.nan)

    @property
    def _reads_languages(self) -> bool:
        return self.kind in ("language", "copied", "any")

    def _detector(self) -> _Detector:
        every = {kind: _DETECTORS.get(kind) or self._wrong_language for kind in FAULTS}
        if self.source and self.source == self.target:
            every["copied"] = _never
        if self.kind == "any":
            return partial(_any, tuple(every.values()))
        return (
            every[self.kind] if self.kind == "empty" else partial(_unless_empty, every[self.kind])
        )

    @property
    def _wrong_language(self) -> _Detector:
        return partial(wrong_language, languages=(self.source, self.target))


class FaultFamily(NamedTuple):
    """The kinds of fault that can be told from some data, and a note on those that cannot."""

    kinds: list[str]
    notes: list[str]


def faults_for(dataset: Dataset) -> FaultFamily:
    """What the name `faults` stands for: every kind of which the data say something."""
    there: set[Needs] = {"nothing"}
    there |= {"original", "source"} if any(dataset.sources) else set()
    there |= {"original"} if any(dataset.references) else set()
    kinds = [kind for kind in FAULTS if FAULTS[kind].needs in there]
    left_out = [kind for kind in FAULTS if kind not in kinds]
    missing = "source" if "original" in there else "source or reference"
    note = f"faults: {', '.join(left_out)} left out, as there is no {missing}."
    return FaultFamily(kinds, [note] if left_out else [])


def _any(
    every: tuple[_Detector, ...], output: str, source: str, references: tuple[str, ...]
) -> bool:
    if detectors.is_blank(output):
        return bool(detectors.empty(output, source, references))
    return any(detect(output, source, references) for detect in every)


def _unless_empty(
    detect: _Detector, output: str, source: str, references: tuple[str, ...]
) -> detectors.Found:
    return None if detectors.is_blank(output) else detect(output, source, references)


def _never(output: str, source: str, references: tuple[str, ...]) -> None:
    """What makes no sense for texts of one language."""
