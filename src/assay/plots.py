"""Vega-Lite pictures of records, drawn by whoever renders them.

The palette is safe for colour-blind readers and keeps its contrast on light and dark paper.
Categories keep the order of the records. Bars start at zero; lines and points do not have to.
More series than there are colours stand in panels of their own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

from assay.results import Chart, Record

__all__ = ["bar_chart", "dot_chart", "heat_map", "line_chart", "scatter"]

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

READABLE = 8
"""Figures smaller than this are left out."""

ROWS = 30
"""A heat map of more rows than this has lower ones."""

PANELS = 3
"""So many panels of a dot chart stand in a row."""

SMALL = {"width": 170, "height": 110}
"""The size of a panel where each series has its own."""

ACROSS = 4
"""So many of these stand in a row."""

ROW = 20
"""The height of a row of dots."""

TALLER = HEIGHT + 80
"""The height of a scatter plot."""

LETTER, LINE = 6.6, 13
"""About the width and height of a letter in a drawing, to keep labels apart."""

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
    panel: str | None = None,
    note: str = "",
) -> Chart:
    """One line per series; `band` names the fields with the lower and upper limit around it.

    With `panel`, lines of the same value there share a panel. More series than colours are drawn
    in a panel each, before the range of all of them.
    """
    names = _given(x=x, y=y, series=series, panel=panel) | dict(
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
    if panel:
        order = _domain(values, "panel")
        spec = _panels("panel", order, {"x": across, "color": key}, layers)
        note = f"{_axes_note(across, up)} {note}".strip()
        return Chart(title, _spec(values, names, spec, None, None), note)
    order = _domain(values, "series")
    if len(order) > len(PALETTE):
        layers = [*_range_layer(values, up), *layers[:1]]
        spec = _panels("series", order, {"x": across, "color": {"value": PALETTE[0]}}, layers)
        note = (
            f"{_axes_note(across, up)} Grey: from the lowest to the highest of all. {note}".strip()
        )
        return Chart(title, _spec(values, names, spec, None, None), note)
    spec = {"encoding": {"x": across, "color": key}, "layer": layers}
    return Chart(title, _spec(values, names, spec, WIDTH, HEIGHT), note)


def dot_chart(
    title: str,
    records: Sequence[Record],
    row: str,
    value: str,
    *,
    panel: str | None = None,
    series: str | None = None,
    low: str | None = None,
    high: str | None = None,
    domain: tuple[float, float] | None = None,
    captions: Mapping[str, str] | None = None,
    note: str = "",
) -> Chart:
    """One dot per record, with its interval from `low` to `high`: `row` names what it is of.

    Each value of `panel` has a panel with an axis of its own, titled by `captions`, and dots of
    different `series` different colours. What lies outside of the `domain` is drawn as a triangle
    at its edge.
    """
    names = _given(x=row, panel=panel, series=series, y=value, low=low, high=high)
    values = _values(records, names)
    rows, colours = _domain(values, "x"), _domain(values, "series") if series else []
    titles = _domain(values, "panel") if panel else [value]
    lines = math.ceil(len(titles) / PANELS) or 1
    columns = math.ceil(len(titles) / lines) or 1
    size = {"width": min(480, WIDTH // columns), "height": ROW * len(rows)}
    size["height"] = max(40, size["height"], (9 * len(colours) + 6) * len(rows))
    panels = []
    for at, name in enumerate(titles):
        own = [record for record in values if not panel or record["panel"] == name]
        caption = (captions or {}).get(str(name), str(name))
        axis = _dot_axis(caption, domain or _reach(own, "y", "low", "high"))
        shared = {"y": _rows(rows, labels=at % columns == 0)}
        if series:
            shared["yOffset"] = {"field": "series", "type": "nominal", "sort": None}
        look = _legend(values) if series else {"value": PALETTE[0]}
        spec = {**size, "encoding": shared, "layer": _dots(own, axis, look)}
        if panel:
            spec["transform"] = [{"filter": {"field": "panel", "equal": name}}]
        panels.append(spec)
    together = {"concat": panels, "columns": columns, "spacing": 24}
    return Chart(title, _spec(values, names, together, None, None), note)


def _dot_axis(title: str, limits: tuple[float, float]) -> Spec:
    """The axis of a panel; what lies beyond it is drawn at its ends."""
    scale = {"domain": list(limits), "nice": False, "zero": False, "clamp": True}
    axis = {"tickCount": 4}
    return {"field": "y", "type": "quantitative", "title": title, "scale": scale, "axis": axis}


def _rows(names: list[Any], *, labels: bool) -> Spec:
    """The rows of a panel, with their names where it is the first of its line."""
    axis = {"grid": True, "labelLimit": 180, "labelOverlap": False, "ticks": False}
    scale = {"scale": {"domain": names}} if names else {}
    return _category("x") | scale | {"axis": axis if labels else None}


def _dots(values: list[Record], x: Spec, color: Spec) -> list[Spec]:
    """Dots with their intervals, and triangles for what lies beyond the axis."""
    layers = []
    if any(record.get("low") is not None for record in values):
        rule = {"type": "rule", "strokeWidth": 1.6, "opacity": 0.85}
        layers.append(_layer(rule, x=x | {"field": "low"}, x2={"field": "high"}, color=color))
    dot: Spec = {"type": "point", "filled": True, "size": 48, "opacity": 1}
    triangle: Spec = dot | {"size": 80, "filled": False, "strokeWidth": 1.5}
    least, most = x["scale"]["domain"]
    known = [record["y"] for record in values if record["y"] is not None]
    layers.append(_within({"gte": least, "lte": most}, _layer(dot, x=x, color=color)))
    if any(value < least for value in known):
        left = _layer(triangle | {"shape": "triangle-left"}, x=x, color=color)
        layers.append(_within({"lt": least}, left))
    if any(value > most for value in known):
        right = _layer(triangle | {"shape": "triangle-right"}, x=x, color=color)
        layers.append(_within({"gt": most}, right))
    return layers


def _within(limits: Mapping[str, float], layer: Spec) -> Spec:
    tests = [{"field": "y", key: limit} for key, limit in limits.items()]
    return layer | {"transform": [{"filter": {"and": tests}}]}


def _reach(values: list[Record], *fields: str) -> tuple[float, float]:
    """From the least to the greatest of these fields, with a little room at either side."""
    known = [
        float(record[field])
        for field in fields
        for record in values
        if isinstance(record.get(field), Real)
    ]
    if not known:
        return 0.0, 1.0
    least, most = min(known), max(known)
    room = 0.05 * (most - least) or 0.05 * abs(most) or 1.0
    return least - room, most + room


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
    x_limits: tuple[str, str] | None = None,
    y_limits: tuple[str, str] | None = None,
    series: str | None = None,
    note: str = "",
) -> Chart:
    """One point per record, with its label where there are few enough to read.

    `x_limits` and `y_limits` name the fields with the ends of intervals. More series than colours
    have a panel each.
    """
    ends = dict(zip(("x_low", "x_high"), x_limits or (), strict=False))
    ends |= dict(zip(("y_low", "y_high"), y_limits or (), strict=False))
    names = _given(label=label, series=series, x=x, y=y) | ends
    values = _values(records, names)
    shared = {
        "x": _fitted(values, "x", x_title or x),
        "y": _fitted(values, "y", y_title or y),
    }
    rules = [_interval(shared, axis) for axis in ("x", "y") if f"{axis}_low" in names]
    key = _legend(values)
    point: Spec = {"type": "point", "filled": True, "size": 60, "opacity": 0.85}
    if series and len(_domain(values, "series")) > len(PALETTE):
        layers = [*rules, _layer(point | {"size": 30}, color={"value": PALETTE[0]})]
        spec = _panels("series", _domain(values, "series"), shared, layers)
        note = f"{_axes_note(shared['x'], shared['y'])} {note}".strip()
        return Chart(title, _spec(values, names, spec, None, None), note)
    look = {"color": key, "shape": key} if series else {"color": {"value": PALETTE[0]}}
    layers = [*rules, _layer(point, **look)]
    if len(records) <= LABELS:
        layers += _labels(values, shared)
    spec = {"encoding": shared, "layer": layers}
    return Chart(title, _spec(values, names, spec, WIDTH, TALLER), note)


def _fitted(values: list[Record], field: str, title: str) -> Spec:
    """An axis that reaches just beyond the points and their intervals."""
    axis = _axis(values, field, title)
    if axis["type"] == "quantitative":
        limits = _reach(values, field, f"{field}_low", f"{field}_high")
        axis["scale"] = {"zero": False, "nice": False, "domain": list(limits)}
    return axis


def _interval(encoding: Mapping[str, Spec], axis: str) -> Spec:
    ends = {axis: encoding[axis] | {"field": f"{axis}_low"}, f"{axis}2": {"field": f"{axis}_high"}}
    return _layer({"type": "rule", "strokeWidth": 1.2, "opacity": 0.35}, **ends)


class _Box(NamedTuple):
    """A rectangle in pixels from the upper left corner of the drawing."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: _Box) -> bool:
        """Whether the two overlap."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


def _labels(values: list[Record], axes: Mapping[str, Spec]) -> list[Spec]:
    """A text per point, each where it covers neither a point nor another text.

    What stands away from its point has a thin line to it.
    """
    if any(axes[axis]["type"] != "quantitative" for axis in ("x", "y")):
        text = {"type": "text", "align": "left", "dx": 7, "dy": -5, "limit": 240}
        return [_layer(text, text={"field": "label", "type": "nominal"})]
    (left, right), (low, high) = (axes[axis]["scale"]["domain"] for axis in ("x", "y"))
    across, up = (right - left) / WIDTH, (high - low) / TALLER
    known = [each for each in values if each["x"] is not None and each["y"] is not None]
    points = [((each["x"] - left) / across, (high - each["y"]) / up) for each in known]
    taken = [_Box(x - 5, y - 5, x + 5, y + 5) for x, y in points]
    up_by = LINE * 0.75 if any("x_low" in each for each in values) else 0
    placed, lines = [], []
    for record, (x, y) in zip(known, points, strict=True):
        box = _free(x, y, min(240, LETTER * len(str(record["label"]))), taken, up=up_by)
        taken.append(box)
        middle = high - up * (box.top + box.bottom) / 2
        placed.append({"x": left + across * box.left, "y": middle, "label": record["label"]})
        if (
            box.left - x > LINE
            or x - box.right > LINE
            or abs((box.top + box.bottom) / 2 - y) > LINE
        ):
            end = left + across * min(max(x, box.left), box.right)
            near = high - up * (box.bottom if box.bottom < y else box.top if box.top > y else y)
            lines.append({"x": record["x"], "y": record["y"], "end": end, "near": near})
    text = {"type": "text", "align": "left", "baseline": "middle", "limit": 240}
    layers = [_layer(text, text={"field": "label", "type": "nominal"}) | _data(placed)]
    if lines:
        line = {"type": "rule", "strokeWidth": 0.8, "opacity": 0.5}
        layers.insert(0, _layer(line, x2={"field": "end"}, y2={"field": "near"}) | _data(lines))
    return layers


def _data(values: list[Record]) -> Spec:
    return {"data": {"values": values}}


def _free(x: float, y: float, width: float, taken: Sequence[_Box], *, up: float) -> _Box:
    """The nearest place for a text of this width beside a point that nothing else takes.

    It is best `up` so many pixels, which keeps it off the interval that goes through the point.
    """
    places = [
        _Box(left, y + dy - LINE / 2, left + width, y + dy + LINE / 2)
        for dy in sorted((step * LINE / 2 for step in range(-40, 41)), key=lambda dy: abs(dy + up))
        for left in (x + 8, x - 8 - width, *((x - width / 2,) if abs(dy) > 10 else ()))
    ]
    inside = [box for box in places if box.left >= 0 and 0 <= box.top <= TALLER - LINE]
    free = (box for box in inside if not any(box.meets(other) for other in taken))
    return next(free, places[0])


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
    domain: tuple[float, float] | None = None,
    note: str = "",
) -> Chart:
    """A grid of `y` by `x` coloured by value: around zero when diverging, else from low to high.

    `text` prints the values in the cells, where those are wide enough. Values beyond the `domain`
    have the colour of its end.
    """
    names = {"y": y, "x": x, "value": value}
    values = _values(records, names)
    step = min(CELL, WIDTH / max(1, len(_domain(values, "x"))))
    low, high = domain or _limits(values, diverging)
    scheme = "blueorange" if diverging else "blues"
    scale = {"scheme": scheme, "domain": [low, high], "clamp": True}
    field = {"field": "value", "type": "quantitative"}
    color = field | {"title": value, "scale": scale | {"reverse": diverging}}
    layers = [_layer({"type": "rect"}, color=color)]
    size = _cell_font(values, step, digits)
    if text and size:
        white = {"condition": {"test": _dark(low, high), "value": "white"}, "value": "#222222"}
        figure = {"type": "text", "fontSize": size}
        layers.append(_layer(figure, text=field | {"format": f".{digits}f"}, color=white))
    across = _category("x", tilt=-35)
    if ROW <= step < CELL:
        across["axis"] |= {"labelAngle": -60, "labelOverlap": False}
    spec = {"encoding": {"x": across, "y": _category("y")}, "layer": layers}
    height = 28 if len(_domain(values, "y")) <= ROWS else ROW
    return Chart(title, _spec(values, names, spec, {"step": step}, {"step": height}), note)


def _cell_font(values: list[Record], step: float, digits: int) -> int:
    """The size of figures that fit into cells of this width; 0 where none can be read."""
    known = [record["value"] for record in values if record["value"] is not None]
    letters = max((len(f"{value:.{digits}f}") for value in known), default=digits + 2)
    size = min(11, int((step - 4) / (0.6 * letters)))
    return size if size >= READABLE else 0


def _spec(
    values: list[Record], names: Mapping[str, str], spec: Spec, width: Any, height: Any
) -> Spec:
    """The whole specification; `usermeta` tells what the fields are called in the records.

    Inside, fields have names of their own: Vega takes dots, quotes and brackets for syntax.
    """
    axis = {"labelLimit": 240, "labelOverlap": "greedy", "labelSeparation": 8}
    config = {"range": {"category": list(PALETTE)}, "axis": axis}
    data = {"usermeta": {"fields": dict(names)}, "data": {"values": values}}
    size = {} if width is None else {"width": width, "height": height}
    return {"$schema": SCHEMA, **data, **size, **spec, "config": config}


def _panels(field: str, order: list[Any], shared: Spec, layers: list[Spec]) -> Spec:
    """Small panels of the same kind, one per value of the field, with axes in common."""
    header = {"title": None, "labelLimit": SMALL["width"] - 10, "labelAnchor": "start"}
    facet = {"field": field, "type": "nominal", "sort": order, "header": header}
    drawn = [layer | {"encoding": _small(layer["encoding"])} for layer in layers]
    panel = {**SMALL, "encoding": _small(shared), "layer": drawn}
    return {"facet": facet, "spec": panel, "columns": ACROSS}


def _small(encoding: Spec) -> Spec:
    """The encoding with few ticks on its axes, and no titles."""
    axis = {"tickCount": 3, "labelOverlap": "greedy"}
    axes = {"x": axis | {"grid": False}, "y": axis}
    few = {name: {"axis": own, "title": None} for name, own in axes.items()}
    return {name: channel | few.get(name, {}) for name, channel in encoding.items()}


def _axes_note(across: Spec, up: Spec) -> str:
    """What the axes of small panels are, which have no room to say so."""
    return f"Across: {across['title']}. Up: {up['title']}."


def _range_layer(values: list[Record], up: Spec) -> list[Spec]:
    """From the lowest to the highest value of all series, where all are known at the same x."""
    by_x: dict[Any, list[float]] = {}
    for record in values:
        if record["y"] is not None:
            by_x.setdefault(record["x"], []).append(record["y"])
    series = len(_domain(values, "series"))
    full = [(x, own) for x, own in by_x.items() if len(own) == series]
    around = [{"x": x, "low": min(own), "high": max(own)} for x, own in full]
    limits = {"y": up | {"field": "low"}, "y2": {"field": "high"}}
    area: Spec = {"type": "area", "opacity": 0.3, "color": "#8c8c8c"}
    return [_layer(area, **limits, color={"value": "#8c8c8c"}) | _data(around)] if around else []


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
