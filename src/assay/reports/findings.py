"""Findings: differences between two systems on a slice, ranked so that each is told once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay.data import Array
from assay.reports.probes import ProbeTest, SliceKind
from assay.results import Record, known
from assay.statistics.significance import benjamini_hochberg

__all__ = ["ALPHA", "Finding", "rank"]

ALPHA = 0.05

FEWEST_CARRIERS = 5
"""With fewer segments in which two systems differ, no test can say anything."""

MOST_ABSORBED = 0.6
"""What has this much of its difference inside of another finding may be the same thing."""

MOST_CARRIERS = 0.5
"""A finding that more segments than this share carry is everywhere: nothing lies outside of it."""

STANDS_OUT = -math.log10(ALPHA)
"""What stands out from the whole difference less surely than this is just as everywhere else."""

GENERAL = {"phrases": 0.85, "uses": 0.7, "difficulty": 0.7, "frequency": 0.9, "morph": 0.85}
"""Kinds of slices that see a little of everything count less than those that name a cause."""


@dataclass(frozen=True, eq=False)
class Finding:
    """A difference between two systems on a slice.

    `difference` is `value` less `value_other`, in the metric's own units, with its interval from
    `low` to `high`. `p` is that of the sign-flip test, `p_adjusted` corrects it for everything
    that was looked at; both are None where the slice is too small to be tested. `share` is the
    part of the overall difference that its segments make. `segments` are numbered from 1, those
    that carry the difference first. `under` is the finding of which this one is another view;
    a difference that is `everywhere` is no larger here than the systems' difference as a whole.
    """

    kind: SliceKind
    slice: str
    metric: str
    unit: str
    higher: bool | None
    finer: bool
    system: str
    other: str
    n: int
    value: float
    value_other: float
    low: float
    high: float
    p: float
    p_adjusted: float
    share: float
    segments: tuple[int, ...]
    carriers: int
    evidence: float
    domain: str
    rank: int = 0
    under: int | None = None
    everywhere: bool = False

    @property
    def difference(self) -> float:
        """The system's value less the other's."""
        return self.value - self.value_other

    @property
    def established(self) -> bool:
        """Whether it is significant after correction for all that was looked at."""
        return self.p_adjusted < ALPHA

    @property
    def leads(self) -> bool:
        """Whether it stands for itself: no other view of another, nor of the whole difference."""
        return self.under is None and not self.everywhere

    @property
    def better(self) -> bool | None:
        """Whether the system is better than the other; None where that is no question."""
        if self.higher is None or not self.difference:
            return None
        return (self.difference > 0) == self.higher

    def record(self) -> Record:
        """The finding as flat data."""
        return {
            "rank": self.rank,
            "kind": self.kind,
            "slice": self.slice,
            "metric": self.metric,
            "system": self.system,
            "other": self.other,
            "n": self.n,
            "value": known(self.value),
            "value_other": known(self.value_other),
            "difference": known(self.difference),
            "low": known(self.low),
            "high": known(self.high),
            "p": known(self.p),
            "p_adjusted": known(self.p_adjusted),
            "share": known(self.share),
            "segments": list(self.segments),
            "also_seen_as": self.under,
        }


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A tested probe on its way to being a finding."""

    tested: ProbeTest
    adjusted: float
    size: int

    @cached_property
    def evidence(self) -> float:
        """How strongly it speaks, as -log10 p; only as far as it stands out from the rest."""
        own = -math.log10(max(self.tested.p, 1e-300))
        if not math.isnan(self.tested.specific):
            own = min(own, self.tested.specific)
        return own * GENERAL.get(self._family, 1.0)

    @property
    def _family(self) -> str:
        """The kind of slice, or what is special about it."""
        if self.tested.higher is None:
            return "uses"
        tagged = self.tested.name.partition(":")[0] if self.tested.kind == "words" else ""
        return tagged if tagged in GENERAL else self.tested.kind

    @cached_property
    def purity(self) -> float:
        """The share of its segments that carry it: of two that say the same, the closer one."""
        return self.tested.carriers / max(1, len(self.tested.segments))

    @property
    def everywhere(self) -> bool:
        """Whether it does not stand out from what the pair shows as a whole."""
        return self.tested.specific < STANDS_OUT

    @property
    def key(self) -> tuple[bool, float, float]:
        """The strongest first; those that are established before all others."""
        return (not self.adjusted < ALPHA, -round(self.evidence, 6), -self.purity)

    @cached_property
    def full(self) -> Array:
        """The contribution of every segment of the test set."""
        found = np.zeros(max(self.size, int(self.tested.segments.max(initial=-1)) + 1))
        found[self.tested.segments] = self.tested.contributions
        return found

    @cached_property
    def carried_by(self) -> NDArray[np.bool_]:
        """The segments that pull in the direction of the difference."""
        return np.asarray(self.full * float(self.tested.contributions.sum()) > 0)

    def is_inside(self, other: _Candidate) -> bool:
        """Whether little is left of it without the other one.

        That is outside of the segments that carry the other one, where these are not most of all;
        or beyond what goes along with the other one, segment by segment.
        """
        if not self.full.any() or self.tested.domain != other.tested.domain:
            return False
        few = other.carried_by.mean() <= MOST_CARRIERS
        if few and self._is_gone(self.full[~other.carried_by]):
            return True
        along = float(self.full @ other.full) / float(other.full @ other.full)
        return self._is_gone(self.full - along * other.full)

    def _is_gone(self, left: Array) -> bool:
        """Whether what is left is a small part of the whole, and not significant by itself."""
        total, rest = float(self.full.sum()), float(left.sum())
        spread = math.sqrt(float((left**2).sum()))
        small = abs(rest) <= (1 - MOST_ABSORBED) * abs(total)
        return small and (not spread or abs(rest) < 2 * spread)


def rank(
    tests: Sequence[ProbeTest],
    overall: dict[tuple[int, int], Array],
    systems: Sequence[str],
    *,
    level: float = 0.95,
) -> list[Finding]:
    """The findings of all tests, p adjusted over all of them; what is established comes first.

    Within each pair of systems the strongest is taken first, and of the others those of which
    nothing is left outside of it go under it. `overall` are the contributions of all segments to
    each pair's difference. Slices too small to be tested come last, without p.
    """
    tested = [test for test in tests if test.carriers >= FEWEST_CARRIERS]
    small = [test for test in tests if 0 < test.carriers < FEWEST_CARRIERS]
    adjusted = benjamini_hochberg([test.p for test in tested])
    found: list[tuple[_Candidate, _Candidate | None]] = []
    for pair, whole in overall.items():
        candidates = [
            _Candidate(test, float(p), len(whole))
            for test, p in zip(tested, adjusted, strict=True)
            if (test.first, test.second) == pair
        ]
        found += _greedy(sorted(candidates, key=lambda candidate: candidate.key))
    found.sort(key=lambda entry: _order(*entry))
    places = {id(candidate): place for place, (candidate, _) in enumerate(found, 1)}
    findings = [
        _finding(candidate.tested, candidate.adjusted, overall, systems, level, candidate.evidence)
        for candidate, _ in found
    ]
    findings = [
        replace(
            finding,
            rank=place,
            under=places[id(parent)] if parent else None,
            everywhere=candidate.everywhere,
        )
        for place, (finding, (candidate, parent)) in enumerate(zip(findings, found, strict=True), 1)
    ]
    rest = [
        _finding(replace(test, p=math.nan), math.nan, overall, systems, level) for test in small
    ]
    rest.sort(key=lambda finding: -finding.carriers)
    return [
        *findings,
        *(replace(finding, rank=place) for place, finding in enumerate(rest, len(findings) + 1)),
    ]


def _order(candidate: _Candidate, parent: _Candidate | None) -> tuple[bool, bool, float, float]:
    established, evidence, purity = candidate.key
    return established, parent is not None or candidate.everywhere, evidence, purity


def _greedy(
    candidates: Sequence[_Candidate],
) -> Iterable[tuple[_Candidate, _Candidate | None]]:
    """Each candidate with the stronger one of which it is another view, if there is one."""
    leaders: list[_Candidate] = []
    for candidate in candidates:
        parent = None
        if candidate.tested.p < ALPHA or len(leaders) < 1:
            parent = next((leader for leader in leaders if candidate.is_inside(leader)), None)
            if parent is None and not candidate.everywhere:
                leaders.append(candidate)
        yield candidate, parent


def _finding(
    test: ProbeTest,
    adjusted: float,
    overall: dict[tuple[int, int], Array],
    systems: Sequence[str],
    level: float,
    evidence: float = 0.0,
) -> Finding:
    from scipy.special import stdtrit

    moved, n = test.contributions, len(test.segments)
    sign = -1 if test.higher is False else 1
    size = max(n, test.size)
    reach = float(stdtrit(size - 1, (1 + level) / 2)) * test.error if size > 1 else math.nan
    difference = test.value - test.other
    most = 100.0 if test.unit == "%" else math.inf
    order = np.argsort(-moved * np.sign(difference * sign or 1), kind="stable")
    return Finding(
        kind=test.kind,
        slice=test.name,
        metric=test.metric,
        unit=test.unit,
        higher=test.higher,
        finer=test.finer,
        system=systems[test.first],
        other=systems[test.second],
        n=n,
        value=test.value,
        value_other=test.other,
        low=max(-most, difference - reach),
        high=min(most, difference + reach),
        p=test.p,
        p_adjusted=adjusted,
        share=_share(test, overall[test.first, test.second]),
        segments=tuple(int(at) + 1 for at in test.segments[order]),
        carriers=test.carriers,
        evidence=evidence,
        domain=test.domain,
    )


def _share(test: ProbeTest, whole: Array) -> float:
    """The part of the overall difference that lies in its segments, or in those that carry it."""
    total = float(whole.sum())
    if not total or test.domain != "segments":
        return math.nan
    by_segment = test.kind in ("text", "label", "difficulty")
    chosen = test.segments if by_segment else test.segments[test.contributions != 0]
    return float(whole[chosen].sum()) / total
