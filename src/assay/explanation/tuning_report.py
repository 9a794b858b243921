"""What tuning found, as tables and as the charts of Leiter et al. (2022)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from assay.explanation.boosted import PUBLISHED
from assay.explanation.tuning import POWERS, WEIGHTS, HeldOut, Setting, Tuned
from assay.plots import PALETTE, SCHEMA, WIDTH, bar_chart, line_chart
from assay.results import Cell, Chart, PValue, Record, Table

if TYPE_CHECKING:
    from assay.explanation.study import TuneResult

__all__ = ["box_chart", "charts", "tables"]

STEP = 40


def box_chart(title: str, records: Sequence[Record], group: str, value: str, *, note: str) -> Chart:
    """A box for every group: the middle half, the median, and whiskers to the ends."""
    values = [{"group": each[group], "value": each[value]} for each in records]
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


DIGITS = 3
ALPHA = 0.05


def tables(result: TuneResult) -> list[Table]:
    """The best of every setting, what held elsewhere, the medians and the regression."""
    found = [_best(result), _held_out(result)]
    if result.tested:
        note = "w and p are the medians found above; these data sets had no part in finding them."
        found.append(_tried("On other data sets", result.tested, note, result))
    found.append(_medians(result))
    if result.effects():
        found.append(_effects(result))
    return found


def _best(result: TuneResult) -> Table:
    rows: list[list[Cell]] = [
        [
            *_names(each.setting, result),
            len(each.evidence),
            each.base,
            each.best.pearson,
            each.best.pearson - each.base,
            each.best.w,
            each.best.p,
            100 * each.collapsed,
        ]
        for each in result.tuned
    ]
    columns = ("n", "base", "best", "gain", "w", "p", "collapsed %")
    note = (
        "Pearson's r of segments with people; best: the greatest of the grid of w and p, found on "
        "the very segments it is shown for, so it is never below the base. w = 1 is the metric as "
        "it is, whatever p. collapsed: segments of which the explanation is next to nothing at "
        f"p = -1 (regular={result.tuned[0].regular})."
    )
    return _table("The best weight and power", result, columns, rows, note)


def _held_out(result: TuneResult) -> Table:
    held = [each.held_out for each in result.tuned if each.held_out]
    note = "w and p are the best on one half of the segments, and tried here on the other half."
    return _tried("Does it last?", held, note, result)


def _tried(title: str, held: Sequence[HeldOut], note: str, result: TuneResult) -> Table:
    names = _columns(each.setting for each in held)
    rows: list[list[Cell]] = [
        [
            *(getattr(each.setting, name) for name in names),
            each.n,
            each.w,
            each.p,
            each.base,
            each.pearson,
            each.pearson - each.base,
            PValue(each.significance),
            _verdict(each),
        ]
        for each in held
    ]
    columns = (*names, "n", "w", "p", "base", "boosted", "gain", "sig.", "")
    told = (
        f"{note} sig.: two-sided p of the difference by {result.trials:,} trials in which both "
        f"metrics' scores of a source segment change places; better and worse are below {ALPHA}."
    )
    return Table(title, columns, rows, told, _digits(), keys=len(names))


def _verdict(held: HeldOut) -> str:
    if not held.significance < ALPHA:
        return ""
    return "better" if held.pearson > held.base else "worse"


def _medians(result: TuneResult) -> Table:
    rows: list[list[Cell]] = []
    for each in result.medians.values():
        published = PUBLISHED.get(each.explainer.partition(":")[0])
        same = each.settings - each.improved
        row: list[Cell] = [each.explainer, each.at.w, each.at.p, each.settings]
        row += [each.improved, same, each.gain]
        rows.append([*row, *(published or (None, None))])
    columns = ("explainer", "w", "p", "settings", "improved", "not", "mean gain")
    note = (
        "Medians of the best w and p over all settings of an explainer, p where w is below 1; how "
        "many settings they improve; paper: the medians of Leiter et al. (2022)."
    )
    titles = (*columns, "paper's w", "paper's p")
    return Table("Medians", titles, rows, note, _digits() | {"paper's w": 2, "paper's p": 2})


def _effects(result: TuneResult) -> Table:
    rows: list[list[Cell]] = [list(each) for each in result.effects()]
    note = (
        "Coefficients of a ridge regression of the gain at the medians: above 0, more is gained "
        "there than elsewhere. What varies together cannot be told apart."
    )
    columns = ("factor", "value", "coefficient")
    return Table("Where boosting helps", columns, rows, note, {"coefficient": 4})


def _table(
    title: str, result: TuneResult, columns: Sequence[str], rows: list[list[Cell]], note: str
) -> Table:
    names = _columns(each.setting for each in result.tuned)
    return Table(title, (*names, *columns), rows, note, _digits(), keys=len(names))


def _columns(settings: Iterable[Setting]) -> list[str]:
    """What tells settings apart: metric and explainer, and dataset and pair where they vary."""
    known = list(settings)
    several = [name for name in ("dataset", "pair") if len({getattr(s, name) for s in known}) > 1]
    return [*several, "metric", "explainer"]


def _names(setting: Setting, result: TuneResult) -> list[Cell]:
    return [getattr(setting, name) for name in _columns(each.setting for each in result.tuned)]


def _digits() -> dict[str, int]:
    figures = dict.fromkeys(("base", "best", "boosted", "gain", "mean gain"), DIGITS)
    return figures | {"w": 2, "p": 2, "collapsed %": 0}
