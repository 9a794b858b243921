"""What tuning found, as the pictures of Leiter et al. (2022)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.bmx.boxes import box_chart
from assay.bmx.evidence import Setting
from assay.bmx.tuning import POWERS, WEIGHTS, Tuned
from assay.plots import bar_chart, line_chart
from assay.results import Chart, Record

if TYPE_CHECKING:
    from assay.bmx.study import TuneResult

__all__ = ["charts"]

CURVES = 8
"""Of more settings than this there are no pictures of each."""

ENDS = 3
"""So many of the greatest and the least coefficients are shown, as in the paper's Figure 8."""

BINS = 120


def charts(result: TuneResult) -> list[Chart]:
    """Correlation over p for each w, densities, box plots, bars of what improved, coefficients."""
    few = len(result.tuned) <= CURVES
    found = [_curves(each) for each in result.tuned] if few else []
    found += _densities(result)
    if len(result.tuned) > 2 * len(result.medians):
        found += [_boxes(result, "w"), _boxes(result, "p")]
    found.append(_improved(result))
    return [*found, _coefficients(result)] if result.effects() else found


def _label(setting: Setting) -> str:
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
    found = []
    for factor in ("explainer", "metric", "dataset"):
        values = dict.fromkeys(getattr(each.setting, factor) for each in result.tuned)
        if factor == "explainer" or len(values) > 1:
            records = [r for value in values for r in _density(result, factor, value)]
            title = f"Gains over the whole grid, by {factor}"
            note = "To the left of 0 boosting harms, to the right it helps; w below 1."
            chart = line_chart(title, records, "gain", "density", factor, note=note)
            found += [chart] if records else []
    return found


def _density(result: TuneResult, factor: str, value: str) -> list[Record]:
    own = [each for each in result.tuned if getattr(each.setting, factor) == value]
    gains = np.concatenate([(each.grid[:-1] - each.base).ravel() for each in own])
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
        {"explainer": each.setting.explainer, name: getattr(each.best, name)}
        for each in result.tuned
        if name == "w" or each.best.w < 1
    ]
    title = f"The best {name} of all settings"
    note = "Box: the middle half; line: the median; whiskers: the least and the greatest."
    return box_chart(title, records, "explainer", name, note=note)


def _improved(result: TuneResult) -> Chart:
    """The paper's Figure 6."""
    records: list[Record] = []
    for each in result.medians.values():
        counts = {"improved": each.improved, "not improved": each.settings - each.improved}
        records += [
            {"explainer": each.explainer, "settings": count, "what": what}
            for what, count in counts.items()
        ]
    title = "Settings improved at the medians of w and p"
    return bar_chart(title, records, "explainer", "settings", "what")


def _coefficients(result: TuneResult) -> Chart:
    """The paper's Figure 8."""
    effects = result.effects()
    shown = effects if len(effects) <= 2 * ENDS else [*effects[:ENDS], *effects[-ENDS:]]
    records: list[Record] = [
        {"value": f"{each.factor} {each.value}", "coefficient": each.coefficient} for each in shown
    ]
    title = "Where boosting helps most and least"
    return bar_chart(title, records, "value", "coefficient", note="Ridge regression of the gain.")
