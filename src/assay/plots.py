"""Vega-Lite pictures of records, drawn by whoever renders them.

The palette is safe for colour-blind readers and keeps its contrast on light and dark paper.
Categories keep the order of the records. Bars start at zero; lines and points do not have to.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

from assay.results import Chart, Record

__all__ = ["bar_chart", "heat_map", "line_chart", "scatter"]

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
WIDTH = 640
HEIGHT = 320
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#8C8C8C")
"""Okabe and Ito's colours, without the two that vanish on white or on black."""

CELL = 64
POINTS = 40
"""Lines with more points than this are drawn without them."""

LABELS = 40
"""More points than this go without labels."""

Spec = dict[str, Any]


def line_chart(
    title: str,
    records: Sequence[Record],
    x: str,
    y: str,
    series: str,
    *,
    x_title: str = "",
    y_title: str = "",
    log_x: bool = False,
    band: tuple[str, str] | None = None,
    note: str = "",
) -> Chart:
    """One line per series; `band` names the fields with the lower and upper limit around it."""
    names = {"x": x, "y": y, "series": series} | dict(
        zip(("low", "high"), band or (), strict=False)
    )
    values = _values(records, names)
    across = _axis(values, "x", x_title or x)
    across["scale"] = {"type": "log", "nice": False} if log_x else {"zero": False}
    up = _axis(values, "y", y_title or y) | {"scale": {"zero": False}}
    key = _legend(values)
    layers = [_layer({"type": "line", "strokeWidth": 2}, y=up)]
    if len(values) <= POINTS * len({record["series"] for record in values}):
        layers.append(_layer({"type": "point", "filled": True, "size": 45}, y=up, shape=key))
    if band:
        limits = {"y": up | {"field": "low"}, "y2": {"field": "high"}}
        layers.insert(0, _layer({"type": "area", "opacity": 0.18}, **limits))
    spec = {"encoding": {"x": across, "color": key}, "layer": layers}
    return Chart(title, _spec(values, names, spec, WIDTH, HEIGHT), note)


def bar_chart(
    title: str,
    records: Sequence[Record],
    x: str,
    y: str,
    series: str | None = None,
    *,
    y_title: str = "",
    low: str | None = None,
    high: str | None = None,
    horizontal: bool = True,
    note: str = "",
) -> Chart:
    """One bar per record: `x` names the category, `y` the value, `series` the bars side by side.

    `low` and `high` name the ends of the error bars.
    """
    names = _given(x=x, series=series, y=y, low=low, high=high)
    values = _values(records, names)
    across, up = ("y", "x") if horizontal else ("x", "y")
    shared: Spec = {across: _category("x")}
    if series:
        shared[f"{across}Offset"] = {"field": "series", "type": "nominal", "sort": None}
    value = {"field": "y", "type": "quantitative", "title": y_title or y}
    color = _legend(values) if series else {"value": PALETTE[0]}
    layers = [_layer({"type": "bar"}, **{up: value}, color=color)]
    if low and high:
        ends = {up: value | {"field": "low"}, f"{up}2": {"field": "high"}}
        layers.append(_layer({"type": "rule", "strokeWidth": 1.5}, **ends))
    spec = {"encoding": shared, "layer": layers}
    return Chart(title, _spec(values, names, spec, *_bar_size(values, horizontal)), note)


def scatter(
    title: str,
    records: Sequence[Record],
    x: str,
    y: str,
    label: str,
    *,
    x_title: str = "",
    y_title: str = "",
    series: str | None = None,
    note: str = "",
) -> Chart:
    """One point per record, with its label where there are few enough to read."""
    names = _given(label=label, series=series, x=x, y=y)
    values = _values(records, names)
    shared: Spec = {
        "x": _axis(values, "x", x_title or x) | {"scale": {"zero": False}},
        "y": _axis(values, "y", y_title or y) | {"scale": {"zero": False}},
    }
    key = _legend(values)
    look = {"color": key, "shape": key} if series else {"color": {"value": PALETTE[0]}}
    layers = [_layer({"type": "point", "filled": True, "size": 60, "opacity": 0.85}, **look)]
    if len(records) <= LABELS:
        words = {"type": "text", "align": "left", "dx": 7, "dy": -5, "limit": 240}
        layers.append(_layer(words, text={"field": "label", "type": "nominal"}))
    spec = {"encoding": shared, "layer": layers}
    return Chart(title, _spec(values, names, spec, WIDTH, HEIGHT + 80), note)


def heat_map(
    title: str,
    records: Sequence[Record],
    x: str,
    y: str,
    value: str,
    *,
    diverging: bool = False,
    text: bool = True,
    digits: int = 2,
    note: str = "",
) -> Chart:
    """A grid of `y` by `x` coloured by value: around zero when diverging, else from low to high.

    `text` prints the values in the cells, where those are wide enough.
    """
    names = {"y": y, "x": x, "value": value}
    values = _values(records, names)
    step = min(CELL, WIDTH / max(1, len(_domain(values, "x"))))
    low, high = _limits(values, diverging)
    scale = {"scheme": "blueorange" if diverging else "blues", "domain": [low, high]}
    field = {"field": "value", "type": "quantitative"}
    color = field | {"title": value, "scale": scale | {"reverse": diverging}}
    layers = [_layer({"type": "rect"}, color=color)]
    if text and step >= 8 * (digits + 2):
        white = {"condition": {"test": _dark(low, high), "value": "white"}, "value": "#222222"}
        layers.append(_layer({"type": "text"}, text=field | {"format": f".{digits}f"}, color=white))
    spec = {"encoding": {"x": _category("x", tilt=-35), "y": _category("y")}, "layer": layers}
    return Chart(title, _spec(values, names, spec, {"step": step}, {"step": 28}), note)


def _spec(
    values: list[Record], names: Mapping[str, str], spec: Spec, width: Any, height: Any
) -> Spec:
    """The whole specification; `usermeta` tells what the fields are called in the records.

    Inside, fields have names of their own: Vega takes dots, quotes and brackets for syntax.
    """
    axis = {"labelLimit": 240, "labelOverlap": "greedy", "labelSeparation": 8}
    config = {"range": {"category": list(PALETTE)}, "axis": axis}
    data = {"usermeta": {"fields": dict(names)}, "data": {"values": values}}
    size = {"width": width, "height": height}
    return {"$schema": SCHEMA, **data, **size, **spec, "config": config}


def _values(records: Sequence[Record], names: Mapping[str, str]) -> list[Record]:
    return [{key: _value(record.get(name)) for key, name in names.items()} for record in records]


def _value(value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _given(**names: str | None) -> dict[str, str]:
    return {key: name for key, name in names.items() if name is not None}


def _layer(mark: Spec, **encoding: Spec) -> Spec:
    return {"mark": mark, "encoding": encoding}


def _axis(values: list[Record], field: str, title: str) -> Spec:
    numbers = all(isinstance(record[field], Real | None) for record in values)
    kind = {"type": "quantitative"} if numbers else {"type": "ordinal", "sort": None}
    return {"field": field, "title": title, **kind}


def _category(field: str, *, tilt: int = 0) -> Spec:
    axis = {"labelAngle": tilt, "grid": False}
    return {"field": field, "type": "nominal", "sort": None, "title": None, "axis": axis}


def _legend(values: list[Record]) -> Spec:
    """A colour or a shape per series; the same domain for both makes them one legend."""
    legend = {"orient": "top", "columns": 4, "labelLimit": 200, "title": None, "symbolOpacity": 1}
    legend["columnPadding"] = 28  # fonts of readers differ in width
    scale = {"domain": _domain(values, "series")}
    return {"field": "series", "type": "nominal", "scale": scale, "legend": legend}


def _domain(values: list[Record], field: str) -> list[Any]:
    return list(dict.fromkeys(record.get(field) for record in values))


def _bar_size(values: list[Record], horizontal: bool) -> tuple[int, int]:
    groups, side_by_side = len(_domain(values, "x")), len(_domain(values, "series"))
    bars = groups * (side_by_side + (side_by_side > 1))
    if horizontal:
        return WIDTH, max(60, bars * (26 if side_by_side == 1 else 13))
    return min(WIDTH, max(120, bars * 40)), HEIGHT


def _limits(values: list[Record], diverging: bool) -> tuple[float, float]:
    """The least and greatest value; when diverging, as far below zero as above."""
    known = [float(record["value"]) for record in values if record["value"] is not None] or [0.0]
    most = max(map(abs, known))
    return (-most, most) if diverging else (min(known), max(known))


def _dark(low: float, high: float) -> Spec:
    """Where a cell is so dark that its text has to be white."""
    if low != -high:
        return {"field": "value", "gt": low + 0.65 * (high - low)}
    return {"or": [{"field": "value", "gt": 0.6 * high}, {"field": "value", "lt": 0.6 * low}]}
