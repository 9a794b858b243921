"""Does MuLER do on these texts what it should? The checks of the paper's section 5."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from assay.data import DataError
from assay.features.annotation import Feature
from assay.metrics.base import Metric
from assay.muler.checks import (
    RangeCheck,
    RobustnessCheck,
    SpecificityCheck,
    check_range,
    check_robustness,
)
from assay.muler.decompose import Annotated, decompose, ratio
from assay.muler.hybrid import trials
from assay.muler.mask import Per
from assay.muler.presets import PRESETS, Preset
from assay.muler.synthetic import Draws, batches, draw_features
from assay.muler.verdicts import Verdicts
from assay.results import Chart, Record, Table
from assay.tracking import Track, untracked

__all__ = ["ValidationResult", "validate"]

ALPHAS = (0.3, 0.4, 0.5)
"""The shares of the paper's Tables 11 to 13."""

SEGMENTS = 500
"""Random features are drawn on so many segments: enough to tell, and quick."""

GROUPS = (2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100, 200, 500)
"""Into how many groups words are split; features of similar frequency share one split."""


@dataclass(frozen=True, eq=False)
class ValidationResult:
    """Three checks of every feature and system; `specificity` is empty without draws.

    `segments` of the `total` segments were used for specificity.
    """

    metric: Metric
    preset: Preset
    ranges: tuple[RangeCheck, ...]
    specificity: tuple[SpecificityCheck, ...]
    robustness: tuple[RobustnessCheck, ...]
    segments: int
    total: int

    @property
    def holds(self) -> bool:
        """Whether no check fails; what cannot be judged does not fail."""
        return all(verdict.holds is not False for verdict in self._verdicts().verdicts())

    def tables(self) -> list[Table]:
        """The verdicts, and the figures behind each of them."""
        return self._verdicts().tables()

    def charts(self) -> list[Chart]:
        """The figures of the first system."""
        return self._verdicts().charts()

    def records(self) -> list[Record]:
        """One record per check, system, feature and, where there are several, alpha."""
        return self._verdicts().records()

    def _verdicts(self) -> Verdicts:
        return Verdicts(
            self.metric,
            self.preset,
            self.ranges,
            self.specificity,
            self.robustness,
            f"{self.segments} of {self.total} segments, taken at random"
            if self.segments < self.total
            else f"all {self.total} segments",
        )


def validate(
    annotated: Annotated,
    metric: Metric,
    features: Sequence[Feature],
    *,
    preset: Preset = PRESETS["corpus"],
    per: Per = "token",
    alphas: Sequence[float] = ALPHAS,
    draws: int = 1000,
    segments: int = SEGMENTS,
    lower_initial: bool = False,
    rng: np.random.Generator,
    track: Track = untracked,
) -> ValidationResult:
    """Check range and monotonicity, specificity, and robustness to frequency.

    `alphas` are the shares of a feature's words that hybrids get right and that are masked alone.
    Specificity takes `draws` random features (0 leaves it out) on up to `segments` segments.
    `lower_initial` builds the hybrids of words in lower case only, as the paper's Tables 11-13.
    `track` shows how far the draws are: `partial(assay.cli.progress.track, label="Drawing")`.
    """
    _check(features, alphas)
    shares = sorted(set(alphas))
    found = list(trials(annotated, metric, features, preset=preset, per=per))
    few = _sample(annotated, segments, rng) if draws else annotated
    return ValidationResult(
        preset.metric(metric),
        preset,
        tuple(check_range(trial, shares, lower_initial=lower_initial) for trial in found),
        tuple(_specificity(few, metric, features, preset, per, draws, rng, track)) if draws else (),
        tuple(check_robustness(trial, shares) for trial in found),
        len(few),
        len(annotated),
    )


def _check(features: Sequence[Feature], alphas: Sequence[float]) -> None:
    if not features:
        raise DataError("no feature to look at: name some with -f.")
    if not alphas:
        raise DataError("no alpha given: pass at least one share between 0 and 1, such as 0.5.")
    for alpha in alphas:
        if not 0 < alpha < 1:
            raise DataError(f"alpha {alpha:g} is no share of words: give one between 0 and 1.")


def _sample(annotated: Annotated, segments: int, rng: np.random.Generator) -> Annotated:
    """Up to so many segments, in their order."""
    if len(annotated) <= segments:
        return annotated
    chosen = np.sort(rng.choice(len(annotated), segments, replace=False)).tolist()
    return Annotated(
        {name: [lines[at] for at in chosen] for name, lines in annotated.systems.items()},
        [annotated.references[at] for at in chosen],
    )


def _specificity(
    annotated: Annotated,
    metric: Metric,
    features: Sequence[Feature],
    preset: Preset,
    per: Per,
    draws: int,
    rng: np.random.Generator,
    track: Track,
) -> Iterator[SpecificityCheck]:
    """Every feature of every system beside random ones of about its frequency."""
    real = decompose(annotated, metric, features, preset=preset, per=per)
    frequencies = {
        key: float(np.mean([usage.frequency for usage in real.usage[key]])) for key in real.parts
    }
    splits = {key: (key[1], _groups(frequency)) for key, frequency in frequencies.items()}
    drawn: dict[tuple[str, int], list[Draws]] = {split: [] for split in splits.values()}

    def steps() -> Iterator[None]:
        for (system, groups), own in drawn.items():
            for part in draw_features(
                annotated, system, metric, groups=groups, draws=draws, preset=preset, rng=rng
            ):
                own.append(part)
                yield

    for _ in track(steps(), total=len(drawn) * batches(annotated, draws)):
        pass
    joined = {split: Draws.joined(parts) for split, parts in drawn.items()}
    for key, parts in real.parts.items():
        value, size, split = float(ratio(parts.scores())), len(parts.chosen), splits[key]
        yield SpecificityCheck(*key, size, value, frequencies[key], split[1], joined[split])


def _groups(frequency: float) -> int:
    """The split whose groups are about that frequent."""
    if not frequency > 0:
        return GROUPS[-1]
    return min(GROUPS, key=lambda groups: abs(np.log(groups * frequency)))
