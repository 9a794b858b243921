"""Charts drawn without a browser and without a network, by the optional vl-convert."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, get_args
from xml.etree.ElementTree import Element, ParseError, SubElement, tostring

from assay.data import DataError
from assay.extras import install_line, is_installed, require
from assay.io.files import FilePath, write_all
from assay.rendering.exports import plain
from assay.rendering.text import visible
from assay.results import Chart, Record, Result

__all__ = [
    "HINT",
    "chart_data",
    "charts_hint",
    "drawing",
    "drawing_module",
    "missing_charts",
    "notebook_drawing",
    "required_drawing_module",
    "sanitised",
    "save_charts",
    "write_charts",
]

HINT = f"Charts need: {install_line('report')}"

ROOM = 80 * 2**30
"""Bytes of address space, not of memory: vl-convert's JavaScript engine reserves 64 GB of it."""

NO_ROOM = "Charts need 80 GB of address space (not of memory): ulimit -v unlimited"

Picture = Literal["svg", "pdf", "png"]
PICTURES = get_args(Picture)
"""What charts can be saved as."""

SHORT = 16
"""A label of so many letters is never shortened."""

# What Vega draws with; anything else, scripts and links above all, is left out.
_TAGS = {"svg", "g", "path", "line", "rect", "circle", "text", "tspan", "defs", "clipPath"}
_TAGS |= {"linearGradient", "radialGradient", "stop"}
_BANNED = re.compile(r"on|style$|href$|\{", re.IGNORECASE)
_LOADING = {"url", "href"}
_STOPPING = {"constructor", "toString", "toLocaleString", "valueOf", "hasOwnProperty"}
_STOPPING |= {"isPrototypeOf", "propertyIsEnumerable", "__proto__", "if"}
_STOPPING |= {f"__{verb}{what}__" for verb in ("define", "lookup") for what in ("Getter", "Setter")}
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


def drawing_module() -> ModuleType | None:
    """The module that draws, or None where it is not installed or has no room."""
    return None if charts_hint() else require("report", "vl_convert")


def required_drawing_module() -> ModuleType:
    """The module that draws; a `DataError` that says what to do where it cannot."""
    if has_room():
        module: ModuleType = require("report", "vl_convert", reason="Charts need")
        return module
    raise DataError(f"no charts can be drawn here. {NO_ROOM}")


def charts_hint() -> str:
    """Why charts cannot be drawn here and what to do, or nothing where they can."""
    if not is_installed("vl_convert"):
        return HINT
    return "" if has_room() else NO_ROOM


def has_room() -> bool:
    """Whether a limit (`ulimit -v`) leaves the address space that drawing needs.

    With less of it vl-convert does not fail, but ends the whole process.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return True
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return limit == resource.RLIM_INFINITY or limit >= ROOM


def missing_charts(result: Result) -> list[str]:
    """A remark where the page of a result lacks its charts, since nothing here draws them."""
    hint = charts_hint()
    return [f"the page is without its charts. {hint}"] if hint and result.charts() else []


def drawing(chart: Chart, vl_convert: ModuleType, *, prefix: str) -> str:
    """The chart as an SVG element for an HTML page, in the page's own text colour.

    `prefix` keeps the ids inside one drawing apart from those of the next; `prefix` + "title" is
    the id of its title on the page. What cannot be drawn is an empty text: a page full of tables
    is not lost for a picture.
    """
    spec, theme = _closed(chart.spec), _theme("currentColor", "transparent")
    try:
        drawn = vl_convert.vegalite_to_svg(spec, config=theme, allowed_base_urls=[])
        return sanitised(drawn, prefix, _texts(spec))
    except (ValueError, ParseError):
        return ""


def sanitised(svg: str, prefix: str, texts: Iterable[str] = ()) -> str:
    """The SVG with shapes and texts only: no scripts, links, styles or foreign parts.

    A label that was cut short tells those who point at it which of the `texts` it is.
    """
    from defusedxml.ElementTree import fromstring

    root = _clean(fromstring(svg), prefix)
    _tell_in_full(root, texts)
    root.set("role", "img")
    root.set("aria-labelledby", f"{prefix}title")
    return tostring(root, encoding="unicode")


def chart_data(chart: Chart) -> list[Record]:
    """The records inside the chart, for those who would rather read than look."""
    fields = chart.spec.get("usermeta", {}).get("fields", {})
    values = chart.spec.get("data", {}).get("values", ())
    return [{fields.get(key, key): each for key, each in record.items()} for record in values]


def notebook_drawing(chart: Chart) -> str | None:
    """The chart as an SVG picture, or None where nothing draws it."""
    vl_convert = drawing_module()
    return None if vl_convert is None else _drawn(chart, "svg", vl_convert).decode()


def save_charts(charts: Sequence[Chart], path: FilePath) -> list[Path]:
    """Write a chart to `path`, or several with -1, -2 ... before its ending; the paths come back.

    The ending chooses the format. All are drawn before any is written.
    """
    path = Path(path)
    kind = path.suffix.lower().removeprefix(".")
    if kind not in PICTURES:
        known = ", ".join(f".{each}" for each in PICTURES)
        raise DataError(f"{path}: charts are saved as {known}; name a file with such an ending.")
    if len(charts) == 1:
        return _write_charts(charts, [path])
    numbers = range(1, len(charts) + 1)
    return _write_charts(charts, [path.with_stem(f"{path.stem}-{at}") for at in numbers])


def write_charts(charts: Sequence[Chart], folder: Path, suffix: Picture = "svg") -> list[Path]:
    """Write each chart to `folder` as `01-its-title.svg`; the paths come back."""
    names = [f"{at:02d}-{_slug(chart.title)}.{suffix}" for at, chart in enumerate(charts, 1)]
    return _write_charts(charts, [folder / name for name in names])


def _write_charts(charts: Sequence[Chart], paths: Sequence[Path]) -> list[Path]:
    vl_convert = required_drawing_module()
    drawn = [
        _drawn(chart, path.suffix.lower()[1:], vl_convert)
        for chart, path in zip(charts, paths, strict=True)
    ]
    if not paths:
        return []
    return write_all(paths[0].parent, dict(zip((path.name for path in paths), drawn, strict=True)))


def _drawn(chart: Chart, kind: str, vl_convert: ModuleType) -> bytes:
    """The chart as a file of this kind, on white paper and under its title."""
    spec = _closed({**chart.spec, "title": chart.title})
    draw = getattr(vl_convert, f"vegalite_to_{kind}")
    drawn = draw(spec, config=_theme("#222222", "white"), allowed_base_urls=[])
    return drawn.encode() if isinstance(drawn, str) else bytes(drawn)


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower())[:60].strip("-") or "chart"


def _closed(spec: Mapping[str, Any]) -> Any:
    """The specification in plain types and visible text; refused where it would load anything."""
    if _loads(spec):
        raise DataError("a chart holds its data inside: its specification has no url and no href.")
    return _visible(plain(spec))


def _loads(part: Any) -> bool:
    if isinstance(part, Mapping):
        return not _LOADING.isdisjoint(part) or any(
            _loads(each) for key, each in part.items() if key != "values"
        )
    return isinstance(part, list | tuple) and any(map(_loads, part))


def _visible(part: Any) -> Any:
    if isinstance(part, dict):
        return {_drawable(key): _visible(each) for key, each in part.items()}
    if isinstance(part, list):
        return [_visible(each) for each in part]
    return _drawable(part) if isinstance(part, str) else part


def _drawable(text: str) -> str:
    """The text without what stops vl-convert: control characters, which abort the process.

    Vega shortens long labels by UTF-16 units, and a halved emoji stops it, too. So do a word that
    every JavaScript object has a member for and "if", which it takes for a signal; a space of no
    width makes it another word.
    """
    text = visible(text) + "\u200b" * (text in _STOPPING)
    if len(text.encode("utf-16-le")) <= 2 * SHORT:
        return text
    return _ASTRAL.sub(lambda match: f"\\U{ord(match[0]):08x}", text)


def _theme(ink: str, paper: str) -> dict[str, Any]:
    """Quiet axes in one ink, readable on light and dark paper."""
    sizes = {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"}
    words = {"labelColor": ink, "titleColor": ink, "labelLimit": 240, **sizes}
    lines = {"domainColor": "#888", "tickColor": "#888", "gridColor": "#888", "gridOpacity": 0.25}
    return {
        # The table below a chart says more to a screen reader than Vega's labels, in which
        # Vega moreover takes a backslash of the data for an escape.
        "aria": False,
        "background": paper,
        # Browsers' letters may be wider than those the labels were measured with.
        "padding": {"left": 16, "right": 8, "top": 4, "bottom": 4},
        "font": "system-ui, sans-serif",
        "view": {"stroke": None},
        "axis": words | lines,
        "legend": words,
        "header": words,
        "title": {"color": ink, "fontSize": 14, "anchor": "start"},
        "text": {"color": ink},
        "rule": {"color": ink},
    }


def _texts(spec: Mapping[str, Any]) -> list[str]:
    """The texts in the data of a chart."""
    values = spec.get("data", {}).get("values", ())
    texts = (text for record in values for text in record.values() if isinstance(text, str))
    return list(dict.fromkeys(texts))


def _tell_in_full(root: Element, texts: Iterable[str]) -> None:
    cut = [each for each in root.iter("text") if (each.text or "").endswith("…")]
    for element in cut:
        found = [text for text in texts if text.startswith((element.text or "")[:-1])]
        if len(found) == 1 and found[0] != element.text:
            SubElement(element, "title").text = found[0]


def _clean(element: Element, prefix: str) -> Element:
    copy = Element(_local(element.tag))
    copy.text, copy.tail = element.text, element.tail
    for name, value in element.items():
        if not _BANNED.match(name):
            copy.set(name, _own(name, value, prefix))
    copy.extend(_clean(each, prefix) for each in element if _local(each.tag) in _TAGS)
    return copy


def _own(name: str, value: str, prefix: str) -> str:
    if name == "id":
        return prefix + value
    return value if name.startswith("aria-") else value.replace("url(#", f"url(#{prefix}")


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]
