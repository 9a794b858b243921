"""Box plots, which no other analysis draws."""

from __future__ import annotations

from collections.abc import Sequence

from assay.plots import PALETTE, SCHEMA, WIDTH
from assay.results import Chart, Record

__all__ = ["box_chart"]

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
