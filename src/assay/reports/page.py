"""The page of a report: one file that holds all texts and scores, and needs no network.

Verdict, scoreboard, further tables and how it was made are plain HTML and can be read without
script. The script draws plots, the list of findings and the browser of segments from the data,
which the page holds as JSON.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.rendering.text import visible
from assay.version import __version__

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["report_page"]

TOP = 5
"""So many findings are listed below the verdict."""

FINER = 1
"""Scores of segments are kept with so many decimals more than they are shown with."""

SCRIPTS = (
    "base",
    "address",
    "scoreboard",
    "findings",
    "words",
    "effects",
    "segments",
    "controls",
    "listing",
    "export",
    "keys",
)
"""The parts of the script, which the page holds as one."""

CLUSTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class ScoreboardCell(NamedTuple):
    """What the scoreboard says of a system by a metric, ready to print."""

    value: float | None = None
    score: str = "–"
    interval: str = ""
    ranks: str = ""
    rank: int | None = None
    cluster: str = ""
    best: bool = False
    difference: str = ""
    difference_interval: str = ""
    p: str = ""


class ScoreboardRow(NamedTuple):
    """A system and its cells, one for each metric."""

    system: str
    cells: list[ScoreboardCell]


def report_page(payload: Mapping[str, Any]) -> str:
    """The page as HTML. The texts of the payload may hold anything; `sections` are trusted HTML."""
    style = _resource("assay.rendering", "page.css") + _resource("assay.reports", "report.css")
    script = _resource("assay.rendering", "page.js") + "".join(
        _resource("assay.reports", f"script/{name}.js") for name in SCRIPTS
    )
    shown = _shown({key: value for key, value in payload.items() if key != "sections"})
    return _template().render(
        title=shown["title"],
        verdict=shown["verdict"],
        top=_top(shown["findings"]),
        metrics=shown["metrics"],
        systems=shown["systems"],
        baseline=shown["baseline"],
        scoreboard=_scoreboard(shown),
        clusters=any(entry.get("cluster") is not None for entry in shown["scoreboard"]),
        sections=payload["sections"],
        how=shown["how"],
        data=_embedded(_data(shown)),
        version=__version__,
        policy=_policy(style, script),
        style=style,
        script=script,
    )


def _shown(value: Any) -> Any:
    """The same with all texts made visible; numbers that JSON does not know become None."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {visible(str(key)): _shown(entry) for key, entry in value.items()}
    if isinstance(value, Sequence):
        return [_shown(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _top(findings: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The first findings that are established and stand on their own."""
    own = [entry for entry in findings if entry["established"] and entry.get("under") is None]
    return sorted(own, key=lambda entry: entry["rank"])[:TOP]


def _scoreboard(shown: Mapping[str, Any]) -> list[ScoreboardRow]:
    """The systems, from the best by the first metric on; those without a score are last."""
    metrics, systems = shown["metrics"], shown["systems"]
    entries = {(entry["system"], entry["metric"]): entry for entry in shown["scoreboard"]}
    columns = [
        _column([entries.get((system, metric["id"])) for system in systems], metric)
        for metric in metrics
    ]
    rows = [
        ScoreboardRow(system, [column[at] for column in columns])
        for at, system in enumerate(systems)
    ]
    return sorted(rows, key=lambda row: _from_the_best(row, metrics))


def _from_the_best(row: ScoreboardRow, metrics: Sequence[Mapping[str, Any]]) -> tuple[bool, float]:
    value = row.cells[0].value if row.cells else None
    if value is None:
        return True, 0
    return False, -value if metrics[0]["higher"] else value


def _column(
    entries: Sequence[Mapping[str, Any] | None], metric: Mapping[str, Any]
) -> list[ScoreboardCell]:
    """What a metric says of each system; the best, as they are printed, are set off."""
    known = [entry["score"] for entry in entries if entry and entry["score"] is not None]
    best = (max if metric["higher"] else min)(known, default=0)
    digits = metric["digits"]
    cells = [_cell(entry, digits) if entry else ScoreboardCell() for entry in entries]
    several = len({cell.score for cell in cells if cell.value is not None}) > 1
    return [cell._replace(best=several and cell.score == f"{best:z.{digits}f}") for cell in cells]


def _cell(entry: Mapping[str, Any], digits: int) -> ScoreboardCell:
    if entry["score"] is None:
        return ScoreboardCell()
    first, last = entry.get("rank_low"), entry.get("rank_high")
    cluster = entry.get("cluster")
    return ScoreboardCell(
        value=entry["score"],
        score=f"{entry['score']:z.{digits}f}",
        interval=_interval(entry.get("low"), entry.get("high"), digits),
        ranks="" if first is None else str(first) if first == last else f"{first}–{last}",
        rank=first,
        cluster="" if cluster is None else _letter(cluster),
        difference=_signed(entry.get("difference"), digits),
        difference_interval=_interval(
            entry.get("difference_low"), entry.get("difference_high"), digits
        ),
        p=_p(entry.get("p")),
    )


def _letter(cluster: int) -> str:
    return CLUSTERS[cluster - 1] if 1 <= cluster <= len(CLUSTERS) else str(cluster)


def _interval(low: float | None, high: float | None, digits: int) -> str:
    if low is None or high is None:
        return ""
    return f"[{low:z.{digits}f}, {high:z.{digits}f}]".replace("-", "−")


def _signed(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:+z.{digits}f}".replace("-", "−")


def _p(value: float | None) -> str:
    if value is None:
        return ""
    return "<0.0001" if value < 0.00005 else f"{value:.4f}"


def _data(shown: Mapping[str, Any]) -> dict[str, Any]:
    """What the script needs, with scores of segments rounded."""
    digits = {metric["id"]: metric["digits"] + FINER for metric in shown["metrics"]}
    segments = dict(shown["segments"])
    segments["scores"] = {
        metric: {
            system: [None if score is None else round(score, digits[metric]) for score in scores]
            for system, scores in by_system.items()
        }
        for metric, by_system in segments["scores"].items()
        if metric in digits
    }
    names = ("systems", "baseline", "metrics", "scoreboard", "kinds", "findings", "slices")
    return {**{name: shown[name] for name in names}, "segments": segments}


def _embedded(data: Mapping[str, Any]) -> str:
    """JSON that may stand within an element: nothing in it ends the element or a line."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _policy(style: str, script: str) -> str:
    """A content security policy: this very style and script may run, and nothing else."""
    import hashlib
    from base64 import b64encode

    hashes = [
        b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)
    ]
    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{hashes[0]}'; "
        f"script-src 'sha256-{hashes[1]}'; base-uri 'none'; form-action 'none'"
    )


def _resource(package: str, name: str) -> str:
    from importlib import resources

    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.from_string(_resource("assay.reports", "report.html.j2"))
