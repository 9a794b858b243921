"""`muler_validate`: whether MuLER does on these texts what it should."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeVar

import numpy as np

from assay.data import DataError, Dataset, MissingInput
from assay.decomposition.decompose import (
    FEW,
    PRESETS,
    Annotated,
    Preset,
    decompose,
    is_few,
    preset_named,
    ratio,
)
from assay.decomposition.mask import MaskUnit
from assay.decomposition.report import feature_label
from assay.decomposition.texts import annotate
from assay.decomposition.trials import (
    SPREAD,
    FeatureDraws,
    RangeCheck,
    RobustnessCheck,
    SpecificityCheck,
    batches,
    check_range,
    check_robustness,
    draw_features,
    trials,
)
from assay.features.annotation import Annotator, Feature
from assay.features.select import DEFAULT_FEATURES
from assay.io.files import FilePath
from assay.metrics.base import Metric, select_metrics
from assay.plots import bar_chart, line_chart
from assay.progress import Engine, Track, spread, untracked
from assay.registry import SEED
from assay.results import CellValue, Chart, Charts, Column, Columns, Record, Result, Table
from assay.text import Side

__all__ = ["CheckVerdict", "ValidationResult", "muler_validate", "validate"]

ALPHAS = (0.3, 0.4, 0.5)
"""The shares of the paper's Tables 11 to 13."""

SEGMENTS = 500
"""Random features are drawn on so many segments: enough to tell, and quick."""

GROUPS = (2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100, 200, 500)
"""Into how many groups words are split; features of similar frequency share one split."""


@spread
def muler_validate(
    data: Dataset,
    metric: str | Metric = "bleu",
    features: str | Sequence[str] = DEFAULT_FEATURES,
    *,
    annotator: str | Annotator | None = None,
    pipeline: str = "",
    tags: Sequence[FilePath] = (),
    cache: bool = True,
    preset: str = "corpus",
    per: MaskUnit = "token",
    alphas: Sequence[float] = ALPHAS,
    draws: int = 1000,
    segments: int = SEGMENTS,
    lower_initial: bool = False,
    seed: int = SEED,
    cluster: Engine = None,
    track: Track = untracked,
) -> ValidationResult:
    """Whether MuLER does on these texts what it should (Karidi et al., 2023, section 5).

    Range: with more of a feature's words right, scores move from the anti-oracle to the oracle.
    Specificity: random words as frequent as a feature all get about the same MuLER. Robustness:
    MuLER depends less than its numerator on how many of the words are masked.

    `alphas` are the shares of a feature's words that hybrids get right and that are masked alone.
    Specificity takes `draws` random features (0 leaves it out) on up to `segments` segments.
    `lower_initial` builds the hybrids of words in lower case only, as the paper's Tables 11-13.
    For the other options see `muler`. `result.holds` is False where a check does not hold.

    >>> from assay.demo import read_demo
    >>> muler_validate(read_demo(), "bleu", "gender", draws=0).holds
    True
    """
    way = preset_named(preset)
    selection = select_metrics([metric], data)
    annotated = annotate(
        data,
        features,
        annotator=annotator,
        pipeline=pipeline,
        tags=tags,
        cache=cache,
        track=track,
    )
    result = validate(
        annotated.texts,
        selection.metrics[0],
        annotated.features,
        preset=way,
        per=per,
        alphas=alphas,
        draws=draws,
        segments=segments,
        lower_initial=lower_initial,
        rng=np.random.default_rng(seed),
        track=track,
    )
    notes = (*selection.notes, *annotated.notes)
    return replace(result, sides=annotated.sides, notes=notes)


def validate(
    annotated: Annotated,
    metric: Metric,
    features: Sequence[Feature],
    *,
    preset: Preset = PRESETS["corpus"],
    per: MaskUnit = "token",
    alphas: Sequence[float] = ALPHAS,
    draws: int = 1000,
    segments: int = SEGMENTS,
    lower_initial: bool = False,
    rng: np.random.Generator,
    track: Track = untracked,
) -> ValidationResult:
    """The three checks on annotated texts; see `muler_validate`."""
    _check(features, alphas)
    shares = sorted(set(alphas))
    tried = list(trials(annotated, metric, features, preset=preset, per=per))
    few = _sample(annotated, segments, rng) if draws else annotated
    return ValidationResult(
        preset.metric(metric),
        preset,
        tuple(check_range(trial, shares, lower_initial=lower_initial) for trial in tried),
        tuple(_specificity(few, metric, features, preset, per, draws, rng, track)) if draws else (),
        tuple(check_robustness(trial, shares) for trial in tried),
        len(few),
        len(annotated),
    )


def _check(features: Sequence[Feature], alphas: Sequence[float]) -> None:
    if not features:
        raise MissingInput("features", "there is no feature to look at")
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
    per: MaskUnit,
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
    drawn: dict[tuple[str, int], list[FeatureDraws]] = {split: [] for split in splits.values()}

    def steps() -> Iterator[None]:
        for (system, groups), own in drawn.items():
            for part in draw_features(
                annotated, system, metric, groups=groups, draws=draws, preset=preset, rng=rng
            ):
                own.append(part)
                yield

    for _ in track(steps(), total=len(drawn) * batches(annotated, draws)):
        pass
    joined = {split: FeatureDraws.joined(parts) for split, parts in drawn.items()}
    for key, parts in real.parts.items():
        value, size, split = float(ratio(parts.scores())), len(parts.chosen), splits[key]
        yield SpecificityCheck(*key, size, value, frequencies[key], split[1], joined[split])


def _groups(frequency: float) -> int:
    """The split whose groups are about that frequent."""
    if not frequency > 0:
        return GROUPS[-1]
    return min(GROUPS, key=lambda groups: abs(np.log(groups * frequency)))


_RANGE = "Range and monotonicity: hybrids between anti-oracle and oracle"
_SPECIFICITY = "Specificity: random features beside real ones"
_ROBUSTNESS = "Robustness to frequency: some of a feature's words masked"

_Measure = Literal["muler", "per_sentence", "abl"]
_MEASURES: dict[_Measure, str] = {
    "muler": "MuLER",
    "per_sentence": "MuLER per sentence",
    "abl": "numerator",
}


class CheckVerdict(NamedTuple):
    """What a check asks, what was found, and whether it holds; None if that cannot be said."""

    check: str
    asks: str
    finding: str
    holds: bool | None


@dataclass(frozen=True, eq=False)
class ValidationResult(Result):
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
    sides: tuple[Side, ...] = ()
    notes: tuple[str, ...] = ()
    """What to know: the languages taken, metrics that do not suit them, a cache that fails."""

    @property
    def holds(self) -> bool:
        """Whether no check fails; what cannot be judged does not fail."""
        return all(verdict.holds is not False for verdict in self.verdicts())

    def verdicts(self) -> list[CheckVerdict]:
        """One per check that was made."""
        checks = [self._range_verdict(), self._robustness_verdict()]
        if self.specificity:
            checks.insert(1, self._specificity_verdict())
        return checks

    def tables(self) -> list[Table]:
        """The verdicts, and the figures behind each of them."""
        rows = [(*verdict[:3], _word(verdict.holds)) for verdict in self.verdicts()]
        few = any(is_few(check.n) for check in self.ranges)
        note = f"(few): found in fewer than {FEW} sentences; do not rely on it.\n" if few else ""
        note += f"{self.metric.title}|{self.metric.signature()}|preset:{self.preset.name}"
        columns: Columns = ("check", "it should be that", "found", "verdict")
        first = Table("Does MuLER do what it should?", columns, rows, note)
        specificity = [self._specificity_table()] if self.specificity else []
        return [first, self._range_table(), *specificity, self._robustness_table()]

    def charts(self) -> Charts:
        """The figures of the first system."""
        charts = [replace(self._range_chart(), after=_RANGE)]
        if self.specificity:
            charts.append(replace(self._specificity_chart(), after=_SPECIFICITY))
        return Charts([*charts, replace(self._robustness_chart(), after=_ROBUSTNESS)])

    def records(self) -> list[Record]:
        """One record per check, system, feature and, where there are several, alpha."""
        checks: list[_Check] = [*self.ranges, *self.specificity, *self.robustness]
        asked = {"metric": self.metric.requested, "resolved": str(self.metric)}
        return [
            {"check": record.pop("check"), **asked, **record}
            for check in checks
            for record in check.records()
        ]

    def _range_verdict(self) -> CheckVerdict:
        known = [check.holds for check in self.ranges if check.holds is not None]
        return CheckVerdict(
            "range and monotonicity",
            "hybrid scores go from anti-oracle to oracle as alpha rises, never back",
            f"so in {sum(known)} of {len(known)} cases",
            all(known) if known else None,
        )

    def _specificity_verdict(self) -> CheckVerdict:
        spreads = [check.deviation for check in self.specificity if check.holds is not None]
        asks = f"random features score alike: standard deviation at most {SPREAD}"
        if not spreads:
            return CheckVerdict("specificity", asks, "too few sentences to say", None)
        middle, most = float(np.median(spreads)), max(spreads)
        finding = f"standard deviation {middle:.3f} (median), {most:.3f} (largest)"
        return CheckVerdict("specificity", asks, finding, middle <= SPREAD)

    def _robustness_verdict(self) -> CheckVerdict:
        known = [check for check in self.robustness if check.holds is not None]
        name = "robustness to frequency"
        asks = "MuLER depends less on how much is masked than its numerator"
        if not known:
            return CheckVerdict(name, asks, "too few sentences or initials to say", None)
        own, ablated = (
            float(np.median([check.change(measure) for check in known]))
            for measure in ("muler", "abl")
        )
        count = sum(check.holds is True for check in known)
        finding = (
            f"changes by {100 * own:.0f}% against {100 * ablated:.0f}% (medians); "
            f"less in {count} of {len(known)} cases"
        )
        return CheckVerdict(name, asks, finding, own < ablated)

    def _range_table(self) -> Table:
        alphas = [f"{hybrid.alpha:g}" for hybrid in self.ranges[0].hybrids[1:-1]]
        scores = ("anti-oracle", *alphas, "oracle")
        columns: Columns = (
            *("system", "feature"),
            Column("n"),
            *(Column(name, digits=self._digits) for name in scores),
            "verdict",
        )
        rows: list[tuple[CellValue, ...]] = [
            (*self._names(check), check.n, *(h.score for h in check.hybrids), _word(check.holds))
            for check in self.ranges
        ]
        note = (
            f"{self.preset.meaning[0].upper()}{self.preset.meaning[1:]}; n is the size of I. Under "
            "alpha: the alphabetically first share alpha of the feature's words is masked for the "
            "best, the rest for the worst. Words go by their initials, so the share may be larger; "
            "json and tsv tell it."
        )
        return Table(_RANGE, columns, rows, note)

    def _specificity_table(self) -> Table:
        rows: list[tuple[CellValue, ...]] = []
        for check in self.specificity:
            words = (100 * check.frequency, 100 * float(check.draws.frequency_ref.mean()),
                     100 * float(check.draws.frequency_sys.mean()))  # fmt: skip
            spread = check.mean, check.variance, check.deviation
            rows.append(
                (*self._names(check), words[0], check.muler, check.groups, *words[1:],
                 float(check.draws.n.mean()), *spread, 100 * check.extreme, _word(check.holds))
            )  # fmt: skip
        columns: Columns = (
            *("system", "feature"),
            Column("words", digits=1, unit="%"),
            Column("MuLER", digits=3),
            Column("groups"),
            Column("random: ref", digits=1, unit="%"),
            Column("random: output", digits=1, unit="%"),
            Column("n", digits=0),
            Column("mean", digits=3),
            Column("variance", digits=6),
            Column("sd", digits=3),
            Column("as far", digits=1, unit="%"),
            "verdict",
        )
        note = (
            f"{len(self.specificity[0].draws.muler)} draws on {self._basis}. Random: the distinct "
            "words of references and output are split into groups, and one group is masked; its "
            "share of either side's words, its mean number of sentences n, and the mean, variance "
            "and standard deviation of its MuLER. as far: the share of random features whose MuLER "
            f"is as far from the mean as the real one's. No verdict where n < {FEW}."
        )
        return Table(_SPECIFICITY, columns, rows, note)

    def _robustness_table(self) -> Table:
        shares = [f"{100 * portion.alpha:g}%" for portion in self.robustness[0].portions]
        rows: list[tuple[CellValue, ...]] = []
        for check in self.robustness:
            head: tuple[CellValue, ...] = (*self._names(check), check.n)
            verdict = _word(check.holds)
            for measure, name in _MEASURES.items():
                values = [getattr(portion, measure) for portion in check.portions]
                rows.append((*head, name, *values, 100 * check.change(measure), verdict))
                head, verdict = (None, None, None), ""
        note = (
            "The alphabetically first share of the feature's words is masked, by whole initials, "
            "and all others stay as they are. change: from masking all to masking half, or what is "
            "nearest to half. It holds where MuLER changes less than its numerator; no verdict "
            f"where n < {FEW} or all words have one initial."
        )
        columns: Columns = (
            *("system", "feature"),
            Column("n"),
            "measure",
            *(Column(share, digits=3) for share in shares),
            Column("change", digits=0, unit="%"),
            "verdict",
        )
        return Table(_ROBUSTNESS, columns, rows, note)

    def _range_chart(self) -> Chart:
        records = [
            {"share": 100 * hybrid.share, "position": position, "feature": self._names(check)[1]}
            for check in self._first(self.ranges)
            for hybrid, position in zip(check.hybrids, check.positions, strict=True)
        ]
        return line_chart(
            "Where hybrid scores lie between anti-oracle (0) and oracle (1)",
            records, "share", "position", "feature",
            x_title="share of the feature's words masked for the best, in percent",
        )  # fmt: skip

    def _specificity_chart(self) -> Chart:
        records = []
        for check in self._first(self.specificity):
            name = self._names(check)[1]
            low, high = check.mean - check.deviation, check.mean + check.deviation
            random = {"words": "random", "MuLER": check.mean, "low": low, "high": high}
            records += [{"feature": name, "words": "real", "MuLER": check.muler},
                        {"feature": name, **random}]  # fmt: skip
        title = "MuLER of real features and of random ones of their frequency"
        note = "The error bars are one standard deviation of the random features to either side."
        return bar_chart(
            title, records, "feature", "MuLER", "words", low="low", high="high", note=note
        )

    def _robustness_chart(self) -> Chart:
        records = [
            {"feature": self._names(check)[1], "measure": name, "change %": 100 * check.change(key)}
            for check in self._first(self.robustness)
            for key, name in _MEASURES.items()
        ]
        title = "Change by masking only half of a feature's words"
        return bar_chart(title, records, "feature", "change %", "measure")

    def _names(self, check: _Check) -> tuple[str, str]:
        features = list(dict.fromkeys(other.feature for other in self.ranges))
        return check.system, f"{feature_label(check.feature, features)}{' (few)' * is_few(check.n)}"

    def _first(self, checks: Sequence[_AnyCheck]) -> list[_AnyCheck]:
        return [check for check in checks if check.system == checks[0].system]

    @property
    def _basis(self) -> str:
        if self.segments < self.total:
            return f"{self.segments} of {self.total} segments, taken at random"
        return f"all {self.total} segments"

    @property
    def _digits(self) -> int:
        return 3 if self.preset.scale != 1 else 2


_Check = RangeCheck | SpecificityCheck | RobustnessCheck
_AnyCheck = TypeVar("_AnyCheck", RangeCheck, SpecificityCheck, RobustnessCheck)


def _word(holds: bool | None) -> str:
    if holds is None:
        return "cannot be said"
    return "holds" if holds else "does not hold"
