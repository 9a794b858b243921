"""What tuning found, as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from assay.bmx.boosting import PUBLISHED
from assay.bmx.evidence import Setting
from assay.bmx.tuning import HeldOut
from assay.results import Cell, PValue, Table

if TYPE_CHECKING:
    from assay.bmx.study import TuneResult

__all__ = ["tables"]

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
