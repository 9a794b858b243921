"""The paper's section 5 as figures: what each check measures, and whether it holds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from assay.decomposition.analysis import by_sentence
from assay.decomposition.decompose import FEW, ratio
from assay.decomposition.trials import AlphabetCut, FeatureDraws, FeatureTrial
from assay.features.annotation import Feature
from assay.results import Record, known

__all__ = [
    "SPREAD",
    "Hybrid",
    "Portion",
    "RangeCheck",
    "RobustnessCheck",
    "SpecificityCheck",
    "check_range",
    "check_robustness",
]

SPREAD = 0.05
"""Random features whose MuLER has a larger standard deviation are not all alike."""

_TINY = 1e-9


class Hybrid(NamedTuple):
    """The score with the first words of a feature right and the rest wrong."""

    alpha: float
    share: float
    score: float


@dataclass(frozen=True)
class RangeCheck:
    """Hybrid scores from the anti-oracle (alpha 0) to the oracle (alpha 1), by rising alpha."""

    feature: Feature
    system: str
    n: int
    hybrids: tuple[Hybrid, ...]

    @property
    def positions(self) -> tuple[float, ...]:
        """Where each hybrid lies: 0 at the anti-oracle, 1 at the oracle; `nan` if these agree."""
        anti, oracle = self.hybrids[0].score, self.hybrids[-1].score
        spread = oracle - anti
        if not abs(spread) > _TINY * max(1, abs(oracle)):
            return (math.nan,) * len(self.hybrids)
        return tuple((hybrid.score - anti) / spread for hybrid in self.hybrids)

    @property
    def holds(self) -> bool | None:
        """Whether no score leaves the range or falls as alpha rises; None if there is no range."""
        positions = np.array(self.positions)
        if np.isnan(positions).any():
            return None
        return bool(np.all(np.diff(positions) >= -_TINY))

    def records(self) -> list[Record]:
        """One per alpha."""
        ends = {"anti": known(self.hybrids[0].score), "oracle": known(self.hybrids[-1].score)}
        return [
            {
                **_head("range", self),
                "alpha": hybrid.alpha,
                "share": known(hybrid.share),
                "hybrid": known(hybrid.score),
                **ends,
                "position": known(position),
                "holds": self.holds,
            }
            for hybrid, position in zip(self.hybrids, self.positions, strict=True)
        ]


@dataclass(frozen=True)
class SpecificityCheck:
    """A real feature beside random ones of about its frequency."""

    feature: Feature
    system: str
    n: int
    muler: float
    frequency: float
    groups: int
    draws: FeatureDraws

    @property
    def mean(self) -> float:
        """The mean MuLER of the random features."""
        defined = self._defined
        return float(defined.mean()) if len(defined) else math.nan

    @property
    def variance(self) -> float:
        """The variance of the random features' MuLER."""
        defined = self._defined
        return float(defined.var(ddof=1)) if len(defined) > 1 else math.nan

    @property
    def deviation(self) -> float:
        """The standard deviation of the random features' MuLER."""
        return math.sqrt(self.variance)

    @property
    def extreme(self) -> float:
        """The share of random features as far from their mean as the real one is, or farther."""
        if math.isnan(self.muler) or not len(self._defined):
            return math.nan
        far = np.abs(self._defined - self.mean) >= abs(self.muler - self.mean) - _TINY
        return float(far.mean())

    @property
    def holds(self) -> bool | None:
        """Whether the random features are all alike; None if they have too few sentences."""
        if math.isnan(self.variance) or self.draws.n.mean() < FEW:
            return None
        return self.deviation <= SPREAD

    def records(self) -> list[Record]:
        """One only."""
        drawn = self.draws
        values = {
            "muler": self.muler,
            "frequency": self.frequency,
            "groups": self.groups,
            "draws": len(drawn.muler),
            "undefined": len(drawn.muler) - len(self._defined),
            "random_n": float(drawn.n.mean()),
            "random_frequency_ref": float(drawn.frequency_ref.mean()),
            "random_frequency_sys": float(drawn.frequency_sys.mean()),
            "mean": self.mean,
            "variance": self.variance,
            "sd": self.deviation,
            "as_far": self.extreme,
        }
        figures = {key: known(value) for key, value in values.items()}
        return [{**_head("specificity", self), **figures, "holds": self.holds}]

    @property
    def _defined(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return self.draws.muler[~np.isnan(self.draws.muler)]


class Portion(NamedTuple):
    """MuLER with only the first words of a feature masked."""

    alpha: float
    share: float
    muler: float
    per_sentence: float
    abl: float


@dataclass(frozen=True)
class RobustnessCheck:
    """MuLER and its numerator by how much of the feature is masked, up to all of it."""

    feature: Feature
    system: str
    n: int
    portions: tuple[Portion, ...]

    def change(self, measure: Literal["muler", "per_sentence", "abl"]) -> float:
        """How much less or more it is with half of the words masked, as a share of the whole.

        Half is the portion nearest to it, as long as that is not everything.
        """
        parts = [portion for portion in self.portions if portion.share < 1]
        whole = getattr(self.portions[-1], measure)
        if not parts or not abs(whole) > _TINY:
            return math.nan
        half = min(parts, key=lambda portion: abs(portion.share - 0.5))
        return float(abs(getattr(half, measure) / whole - 1))

    @property
    def holds(self) -> bool | None:
        """Whether MuLER changes less than its numerator; None if that cannot be said."""
        changes = self.change("muler"), self.change("abl")
        if any(map(math.isnan, changes)) or self.n < FEW:
            return None
        return changes[0] < changes[1]

    def records(self) -> list[Record]:
        """One per alpha."""
        return [
            {
                **_head("robustness", self),
                **{key: known(value) for key, value in portion._asdict().items()},
                "holds": self.holds,
            }
            for portion in self.portions
        ]


def _head(check: str, result: RangeCheck | SpecificityCheck | RobustnessCheck) -> Record:
    feature = {"feature": result.feature.name, "kind": result.feature.kind}
    return {"check": check, "system": result.system, **feature, "n": result.n}


def check_range(
    trial: FeatureTrial, alphas: Sequence[float], *, lower_initial: bool = False
) -> RangeCheck:
    """The scores of all hybrids, between those of the anti-oracle and the oracle."""
    alphabet = trial.alphabet(lower_initial=lower_initial)
    cuts = map(alphabet.cut, (0.0, *alphas, 1.0))
    hybrids = tuple(
        Hybrid(cut.alpha, cut.share, trial.score(cut.treat("oracle", "anti"))) for cut in cuts
    )
    return RangeCheck(trial.feature, trial.system, len(trial.whole.chosen), hybrids)


def check_robustness(trial: FeatureTrial, alphas: Sequence[float]) -> RobustnessCheck:
    """MuLER of the first words of a feature, for every alpha and for all words."""
    cuts = map(trial.alphabet().cut, (*alphas, 1.0))
    portions = tuple(_portion(trial, cut) for cut in cuts)
    return RobustnessCheck(trial.feature, trial.system, len(trial.whole.chosen), portions)


def _portion(trial: FeatureTrial, cut: AlphabetCut) -> Portion:
    parts = trial.whole if cut.share == 1 else trial.parts(cut)
    scores = parts.scores() * trial.preset.scale
    per_sentence = by_sentence(parts, trial.metric).ratio
    plain, oracle, _ = scores
    return Portion(cut.alpha, cut.share, float(ratio(scores)), per_sentence, float(oracle - plain))
