"""The result of `tune`: the best of every setting, medians, where boosting helps, and charts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from assay.data import Array
from assay.explanation.boosted import PUBLISHED, WeightAndPower
from assay.explanation.tune import (
    POWERS,
    SLACK,
    WEIGHTS,
    BoostSetting,
    Evidence,
    HeldOut,
    SwapTest,
    Tuned,
    tried,
)
from assay.plots import PALETTE, SCHEMA, WIDTH, bar_chart, line_chart
from assay.results import (
    CellValue,
    Chart,
    Charts,
    Column,
    Columns,
    Record,
    Result,
    Table,
    known,
)

__all__ = ["GainEffect", "MedianSetting", "TuneResult", "box_chart", "ridge_effects", "try_medians"]


@dataclass(frozen=True)
class TuneResult(Result):
    """What tuning found in every setting, and what held elsewhere.

    With `grid`, the records are all points of the grid; otherwise the best of each setting.
    `trials` is how many swaps the tests of what held are made of.
    """

    tuned: tuple[Tuned, ...]
    tested: tuple[HeldOut, ...] = ()
    grid: bool = False
    trials: int = 1000
    notes: tuple[str, ...] = ()
    """What to know about the metrics: languages, tokenizers, signatures that do not fit."""

    @cached_property
    def medians(self) -> dict[str, MedianSetting]:
        """By explainer, the weight and power to take where there are no human scores."""
        names = dict.fromkeys(tuned.setting.explainer for tuned in self.tuned)
        return {name: self._median(name) for name in names}

    @cached_property
    def gains(self) -> list[float]:
        """The gain of every setting at the medians of its explainer."""
        return [
            tuned.at(self.medians[tuned.setting.explainer].at) - tuned.base for tuned in self.tuned
        ]

    def effects(self) -> list[GainEffect]:
        """How pair, dataset, metric and explainer go with the gain at the medians."""
        places = [place for place, gain in enumerate(self.gains) if not math.isnan(gain)]
        settings = [self.tuned[place].setting._asdict() for place in places]
        return ridge_effects(settings, [self.gains[place] for place in places])

    def records(self) -> list[Record]:
        """One record per setting, or per setting and point of the grid."""
        if self.grid:
            return [record for tuned in self.tuned for record in _grid_records(tuned)]
        return [
            *map(self._record, self.tuned),
            *(_record_of(tuned, "test") for tuned in self.tested),
        ]

    def tables(self) -> list[Table]:
        """The best of every setting, what held elsewhere, the medians and the regression."""
        return _tables(self)

    def charts(self) -> Charts:
        """The pictures of the paper."""
        return Charts(_charts(self))

    def _median(self, explainer: str) -> MedianSetting:
        own = [tuned for tuned in self.tuned if tuned.setting.explainer == explainer]
        # Where the weight is 1 the explanation does not count, whatever its power.
        boosted = [tuned.best.p for tuned in own if tuned.best.w < 1] or [1.0]
        at = WeightAndPower(
            float(np.median([tuned.best.w for tuned in own])), float(np.median(boosted))
        )
        gains = [tuned.at(at) - tuned.base for tuned in own]
        improved = sum(gain > SLACK for gain in gains)
        return MedianSetting(explainer, at, improved, len(own), float(np.mean(gains)))

    def _record(self, tuned: Tuned) -> Record:
        held = tuned.held_out
        held_out = held._asdict() if held else dict.fromkeys(HeldOut._fields)
        del held_out["setting"]
        median = self.medians[tuned.setting.explainer].at
        return _figures(
            {
                "explainer": tuned.setting.explainer,
                "metric": tuned.setting.metric,
                "w": tuned.best.w,
                "p": tuned.best.p,
                "pearson": tuned.best.pearson,
                "base": tuned.base,
                "what": "best",
                "dataset": tuned.setting.dataset,
                "pair": tuned.setting.pair,
                "n": len(tuned.evidence),
                "unknown": tuned.evidence.unknown,
                "regular": tuned.regular,
                "collapsed": tuned.collapsed,
                "median_w": median.w,
                "median_p": median.p,
                "median_pearson": tuned.at(median),
                **{f"held_out_{key}": value for key, value in held_out.items()},
            }
        )


class MedianSetting(NamedTuple):
    """The medians of an explainer's best weights and powers, and what they do everywhere.

    `improved` and `settings` count the settings that gain at the medians, and all.
    """

    explainer: str
    at: WeightAndPower
    improved: int
    settings: int
    gain: float


class GainEffect(NamedTuple):
    """How much more is gained in settings with this value of this factor."""

    factor: str
    value: str
    coefficient: float


def ridge_effects(
    settings: Sequence[Mapping[str, str]], gains: Sequence[float] | Array, *, penalty: float = 1.0
) -> list[GainEffect]:
    """A coefficient for every value of every factor that varies, the greatest first.

    Each setting names the value of each factor. Every value is a regressor of its own, 1 where
    the setting has it and else 0; the intercept is not penalised (as in scikit-learn's Ridge).
    Factors are not independent of each other, so this is an impression, not a proof.
    """
    columns = [
        (factor, value)
        for factor in (settings[0] if settings else ())
        for value in dict.fromkeys(setting[factor] for setting in settings)
        if any(setting[factor] != value for setting in settings)
    ]
    if not columns:
        return []
    design = np.array(
        [[setting[factor] == value for factor, value in columns] for setting in settings], float
    )
    target = np.asarray(gains, float)
    centred = design - design.mean(axis=0)
    normal = centred.T @ centred + penalty * np.eye(len(columns))
    solved = np.linalg.solve(normal, centred.T @ (target - target.mean()))
    effects = [
        GainEffect(factor, value, float(coefficient))
        for (factor, value), coefficient in zip(columns, solved, strict=True)
    ]
    return sorted(effects, key=lambda effect: -effect.coefficient)


def try_medians(result: TuneResult, evidence: Evidence, *, test: SwapTest) -> HeldOut:
    """The medians of a result on segments that had no part in finding them."""
    at = result.medians[evidence.setting.explainer].at
    return tried(evidence, at, regular=result.tuned[0].regular, test=test)


def _grid_records(tuned: Tuned) -> list[Record]:
    setting = tuned.setting
    return [
        _figures(
            {
                "explainer": setting.explainer,
                "metric": setting.metric,
                "w": w,
                "p": float(p),
                "pearson": float(tuned.grid[row, column]),
                "base": tuned.base,
                "what": "grid",
                "dataset": setting.dataset,
                "pair": setting.pair,
            }
        )
        for row, w in enumerate(WEIGHTS)
        for column, p in enumerate(POWERS)
    ]


def _record_of(held: HeldOut, what: str) -> Record:
    setting = held.setting
    return _figures(
        {
            "explainer": setting.explainer,
            "metric": setting.metric,
            "w": held.w,
            "p": held.p,
            "pearson": held.pearson,
            "base": held.base,
            "what": what,
            "dataset": setting.dataset,
            "pair": setting.pair,
            "n": held.n,
            "significance": held.significance,
        }
    )


def _figures(record: Record) -> Record:
    return {key: known(value) for key, value in record.items()}


DIGITS = 3
ALPHA = 0.05

_WEIGHT_AND_POWER = (Column("w", digits=2), Column("p", digits=2))


def _tables(result: TuneResult) -> list[Table]:
    """The best of every setting, what held elsewhere, the medians and the regression."""
    tables = [_best(result), _held_out(result)]
    if result.tested:
        note = "w and p are the medians found above; these data sets had no part in finding them."
        tables.append(_tried("On other data sets", result.tested, note, result))
    tables.append(_medians(result))
    if result.effects():
        tables.append(_effects(result))
    return tables


def _best(result: TuneResult) -> Table:
    rows: list[list[CellValue]] = [
        [
            *_names(tuned.setting, result),
            len(tuned.evidence),
            tuned.base,
            tuned.best.pearson,
            tuned.best.pearson - tuned.base,
            tuned.best.w,
            tuned.best.p,
            100 * tuned.collapsed,
        ]
        for tuned in result.tuned
    ]
    names = _columns(tuned.setting for tuned in result.tuned)
    columns: Columns = (
        *names,
        Column("n"),
        *(Column(name, digits=DIGITS) for name in ("base", "best", "gain")),
        *_WEIGHT_AND_POWER,
        Column("collapsed", digits=0, unit="%"),
    )
    note = (
        "Pearson's r of segments with people; best: the greatest of the grid of w and p, found on "
        "the very segments it is shown for, so it is never below the base. w = 1 is the metric as "
        "it is, whatever p. collapsed: segments of which the explanation is next to nothing at "
        f"p = -1 (regular={result.tuned[0].regular})."
    )
    return Table("The best weight and power", columns, rows, note, keys=len(names))


def _held_out(result: TuneResult) -> Table:
    held = [tuned.held_out for tuned in result.tuned if tuned.held_out]
    note = "w and p are the best on one half of the segments, and tried here on the other half."
    return _tried("Does it last?", held, note, result)


def _tried(title: str, held: Sequence[HeldOut], note: str, result: TuneResult) -> Table:
    names = _columns(trial.setting for trial in held)
    rows: list[list[CellValue]] = [
        [
            *(getattr(trial.setting, name) for name in names),
            trial.n,
            trial.w,
            trial.p,
            trial.base,
            trial.pearson,
            trial.pearson - trial.base,
            trial.significance,
            _verdict(trial),
        ]
        for trial in held
    ]
    columns: Columns = (
        *names,
        Column("n"),
        *_WEIGHT_AND_POWER,
        *(Column(name, digits=DIGITS) for name in ("base", "boosted", "gain")),
        Column("sig.", style="p"),
        "",
    )
    told = (
        f"{note} sig.: two-sided p of the difference by {result.trials:,} trials in which both "
        f"metrics' scores of a source segment change places; better and worse are below {ALPHA}."
    )
    return Table(title, columns, rows, told, keys=len(names))


def _verdict(held: HeldOut) -> str:
    if not held.significance < ALPHA:
        return ""
    return "better" if held.pearson > held.base else "worse"


def _medians(result: TuneResult) -> Table:
    rows: list[list[CellValue]] = []
    for median in result.medians.values():
        published = PUBLISHED.get(median.explainer.partition(":")[0])
        same = median.settings - median.improved
        row: list[CellValue] = [median.explainer, median.at.w, median.at.p, median.settings]
        row += [median.improved, same, median.gain]
        rows.append([*row, *(published or (None, None))])
    columns: Columns = (
        "explainer",
        *_WEIGHT_AND_POWER,
        *(Column(name) for name in ("settings", "improved", "not")),
        Column("mean gain", digits=DIGITS),
        *(Column(name, digits=2) for name in ("paper's w", "paper's p")),
    )
    note = (
        "Medians of the best w and p over all settings of an explainer, p where w is below 1; how "
        "many settings they improve; paper: the medians of Leiter et al. (2022)."
    )
    return Table("Medians", columns, rows, note)


def _effects(result: TuneResult) -> Table:
    rows: list[list[CellValue]] = [list(effect) for effect in result.effects()]
    note = (
        "Coefficients of a ridge regression of the gain at the medians: above 0, more is gained "
        "there than elsewhere. What varies together cannot be told apart."
    )
    columns: Columns = ("factor", "value", Column("coefficient", digits=4))
    return Table("Where boosting helps", columns, rows, note)


def _columns(settings: Iterable[BoostSetting]) -> list[str]:
    """What tells settings apart: metric and explainer, and dataset and pair where they vary."""
    known = list(settings)
    several = [name for name in ("dataset", "pair") if len({getattr(s, name) for s in known}) > 1]
    return [*several, "metric", "explainer"]


def _names(setting: BoostSetting, result: TuneResult) -> list[CellValue]:
    return [getattr(setting, name) for name in _columns(tuned.setting for tuned in result.tuned)]


CURVES = 8
"""Of more settings than this there are no pictures of each."""

ENDS = 3
"""So many of the greatest and the least coefficients are shown, as in the paper's Figure 8."""

BINS = 120


def _charts(result: TuneResult) -> list[Chart]:
    """Correlation over p for each w, densities, box plots, bars of what improved, coefficients."""
    few = len(result.tuned) <= CURVES
    charts = [_curves(tuned) for tuned in result.tuned] if few else []
    charts += _densities(result)
    if len(result.tuned) > 2 * len(result.medians):
        charts += [_boxes(result, "w"), _boxes(result, "p")]
    charts.append(_improved(result))
    return [*charts, _coefficients(result)] if result.effects() else charts


def _label(setting: BoostSetting) -> str:
    where = " ".join(filter(None, (setting.dataset, setting.pair)))
    return f"{setting.metric} with {setting.explainer}{f', {where}' if where else ''}"


def _curves(tuned: Tuned) -> Chart:
    """The paper's Figure 3."""
    records: list[Record] = [
        {"p": float(p), "Pearson's r": float(tuned.grid[row, at]), "weight": f"w = {w:g}"}
        for row, w in enumerate(WEIGHTS)
        for at, p in enumerate(POWERS)
    ]
    title = f"Correlation over p: {_label(tuned.setting)}"
    note = "w = 1 is the metric as it is."
    return line_chart(title, records, "p", "Pearson's r", "weight", note=note)


def _densities(result: TuneResult) -> list[Chart]:
    """The paper's Figures 4 and 7: how the gains over the whole grid are spread."""
    charts = []
    for factor in ("explainer", "metric", "dataset"):
        values = dict.fromkeys(getattr(tuned.setting, factor) for tuned in result.tuned)
        if factor == "explainer" or len(values) > 1:
            records = [r for value in values for r in _density(result, factor, value)]
            title = f"Gains over the whole grid, by {factor}"
            note = "To the left of 0 boosting harms, to the right it helps; w below 1."
            chart = line_chart(title, records, "gain", "density", factor, note=note)
            charts += [chart] if records else []
    return charts


def _density(result: TuneResult, factor: str, value: str) -> list[Record]:
    own = [tuned for tuned in result.tuned if getattr(tuned.setting, factor) == value]
    gains = np.concatenate([(tuned.grid[:-1] - tuned.base).ravel() for tuned in own])
    gains = gains[np.isfinite(gains)]
    if not len(gains) or np.ptp(gains) < 1e-12:
        return []
    # Thousands of points on a grid: a smoothed histogram is as good as a kernel estimate.
    margin = 0.1 * float(np.ptp(gains))
    ends = (gains.min() - margin, gains.max() + margin)
    counts, edges = np.histogram(gains, bins=BINS, range=ends, density=True)
    kernel = np.exp(-0.5 * (np.arange(-9, 10) / 3) ** 2)
    smooth = np.convolve(counts, kernel / kernel.sum(), mode="same")
    middles = (edges[1:] + edges[:-1]) / 2
    return [
        {"gain": float(x), "density": float(y), factor: value}
        for x, y in zip(middles, smooth, strict=True)
    ]


def _boxes(result: TuneResult, name: str) -> Chart:
    """The paper's Figure 5."""
    records: list[Record] = [
        {"explainer": tuned.setting.explainer, name: getattr(tuned.best, name)}
        for tuned in result.tuned
        if name == "w" or tuned.best.w < 1
    ]
    title = f"The best {name} of all settings"
    note = "Box: the middle half; line: the median; whiskers: the least and the greatest."
    return box_chart(title, records, "explainer", name, note=note)


def _improved(result: TuneResult) -> Chart:
    """The paper's Figure 6."""
    records: list[Record] = []
    for median in result.medians.values():
        counts = {"improved": median.improved, "not improved": median.settings - median.improved}
        records += [
            {"explainer": median.explainer, "settings": count, "what": what}
            for what, count in counts.items()
        ]
    title = "Settings improved at the medians of w and p"
    return bar_chart(title, records, "explainer", "settings", "what")


def _coefficients(result: TuneResult) -> Chart:
    """The paper's Figure 8."""
    effects = result.effects()
    shown = effects if len(effects) <= 2 * ENDS else [*effects[:ENDS], *effects[-ENDS:]]
    records: list[Record] = [
        {"value": f"{effect.factor} {effect.value}", "coefficient": effect.coefficient}
        for effect in shown
    ]
    title = "Where boosting helps most and least"
    return bar_chart(title, records, "value", "coefficient", note="Ridge regression of the gain.")


STEP = 40


def box_chart(title: str, records: Sequence[Record], group: str, value: str, *, note: str) -> Chart:
    """A box for every group: the middle half, the median, and whiskers to the ends."""
    values = [{"group": record[group], "value": record[value]} for record in records]
    box = {"type": "boxplot", "extent": "min-max", "size": 18, "color": PALETTE[0]}
    label = {"field": "group", "type": "nominal", "sort": None, "title": None}
    number = {"field": "value", "type": "quantitative", "title": value, "scale": {"zero": False}}
    spec = {
        "$schema": SCHEMA,
        "usermeta": {"fields": {"group": group, "value": value}},
        "data": {"values": values},
        "width": WIDTH,
        "height": {"step": STEP},
        "mark": box,
        "encoding": {"y": label, "x": number},
    }
    return Chart(title, spec, note)
