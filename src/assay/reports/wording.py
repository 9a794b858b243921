"""The verdict and the findings in words, never more certain than the figures."""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.metrics.faults import FAULTS
from assay.reports.findings import Finding
from assay.reports.scoreboard import Difference, Scoreboard, Standing

__all__ = ["describe", "subject", "verdict"]

TOLD = 4
"""At most so many findings of each direction are told in the verdict."""


def subject(finding: Finding) -> str:
    """What a finding is about, as it stands in a list: `numbers lost or made up`."""
    name = finding.slice
    match finding.kind:
        case "text":
            return f"segments {name}"
        case "difficulty":
            return f"segments: {name}"
        case "fault":
            return FAULTS[name].description if name in FAULTS else name
        case "frequency":
            return f"words {name}"
        case "phrases" if finding.metric == "uses":
            return f"how often {name} is written"
        case "human":
            return f"errors marked as {name}"
        case _:
            return name


def describe(finding: Finding) -> str:
    """A finding as a sentence."""
    about, values = subject(finding), _values(finding)
    sure = "" if finding.established else " (not established)"
    if finding.kind == "phrases" and finding.metric == "uses":
        return (
            f"{finding.system} writes {finding.slice} {finding.value:.0f} times, "
            f"{finding.other} {finding.value_other:.0f} times{sure}."
        )
    if not finding.difference:
        return f"{finding.system} and {finding.other} are equal on {about}: {values}{sure}."
    word = "better" if finding.better else "worse"
    return f"{finding.system} is {word} than {finding.other} on {about}: {values}{sure}."


def _values(finding: Finding) -> str:
    digits = 1 if finding.unit == "%" else 4 if finding.finer else 2
    unit = f" {finding.unit}" if finding.unit else ""
    value, other = (
        "unknown" if math.isnan(x) else f"{x:.{digits}f}{unit}"
        for x in (finding.value, finding.value_other)
    )
    match finding.metric:
        case "segments":
            return f"{value} of the segments against {other}"
        case "accuracy":
            return f"{value} right against {other}"
        case _:
            return f"{finding.metric} {value} against {other}"


def verdict(
    board: Scoreboard,
    findings: Sequence[Finding],
    pairs: Sequence[tuple[int, int]],
    *,
    level: float,
) -> list[str]:
    """What was found, in a few sentences: who is better, at what, and how sure that is."""
    if len(board.systems) == 2:
        first, second = pairs[0]
        sentences = _two(board, first, second, level)
    else:
        sentences = _many(board, level)
    leading = [finding for finding in findings if finding.under is None]
    told = [finding for finding in leading if finding.established]
    sentences += _strengths(told)
    sentences += _place(told)
    if not told:
        count = sum(not math.isnan(finding.p) for finding in findings)
        sentences.append(
            f"None of the {count} slices and words looked at shows a difference that is "
            "established after correction for all of them."
        )
    return sentences


def _two(board: Scoreboard, first: int, second: int, level: float) -> list[str]:
    """Two systems: what each metric says, and where metrics disagree."""
    names = board.systems[first], board.systems[second]
    up: list[str] = []
    down: list[str] = []
    open_: list[str] = []
    for standing in board.standings:
        difference = standing.difference(first, second)
        if math.isnan(difference.value):
            continue
        told = f"{standing.label} {_difference(standing, difference, level)}"
        if not difference.p < 0.05:
            open_.append(told)
        elif (difference.value > 0) == standing.metric.higher_is_better:
            up.append(told)
        else:
            down.append(told)
    if up and down:
        found = (
            f"The metrics disagree: {names[0]} is better than {names[1]} by {_join(up)}, but worse "
            f"by {_join(down)}"
        )
    elif up or down:
        word = "better" if up else "worse"
        found = f"{names[0]} is {word} than {names[1]} by {_join(up or down)}"
    else:
        return [f"No metric tells {names[0]} and {names[1]} apart: {_join(open_)}."]
    more = f"; not established by {_join(open_)}" if open_ else ""
    return [f"{found}{more}."]


def _difference(standing: Standing, difference: Difference, level: float) -> str:
    digits = 4 if standing.metric.is_small else 1
    low, high = difference.low, difference.high
    return f"({difference.value:+.{digits}f}, {level:.0%} CI {low:.{digits}f} to {high:.{digits}f})"


def _many(board: Scoreboard, level: float) -> list[str]:
    """Many systems: who leads by each metric, and who cannot be told from the leader."""
    found = []
    for standing in board.standings:
        best = [at for at, (low, _) in enumerate(standing.ranks) if low == 1]
        goodness = standing.metric.oriented(standing.scores)
        best.sort(key=lambda at: -float(goodness[at]))
        names = [board.systems[at] for at in best]
        digits = 4 if standing.metric.is_small else 1
        score = f"{standing.scores[best[0]]:.{digits}f}"
        if len(names) == 1:
            found.append(f"{names[0]} is the best by {standing.label} ({score})")
        else:
            others = _join(names[1:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
            word = "is" if len(names) == 2 else "are"
            found.append(
                f"{names[0]} leads by {standing.label} ({score}), but {others} {word} not "
                "significantly worse"
            )
    return [f"{sentence}." for sentence in found]


def _strengths(told: Sequence[Finding]) -> list[str]:
    """What each system is worse and better at than the other, the strongest first."""
    sentences = []
    pairs = dict.fromkeys((finding.system, finding.other) for finding in told)
    for system, other in list(pairs)[:3]:
        own = [finding for finding in told if (finding.system, finding.other) == (system, other)]
        parts = []
        for better, word in ((False, "worse"), (True, "better")):
            found = [finding for finding in own if finding.better is better][:TOLD]
            if found:
                items = [f"{subject(finding)} ({_values(finding)})" for finding in found]
                parts.append(f"{word} on {_join(items)}")
        if parts:
            sentences.append(f"{system} is {', and '.join(parts)}, compared with {other}.")
    return sentences


def _place(told: Sequence[Finding]) -> list[str]:
    """A document or label in which most of the difference sits."""
    for finding in told:
        if finding.kind == "label" and finding.share >= 0.5:
            share = f"{min(finding.share, 1):.0%}" if finding.share <= 1 else "all"
            return [
                f"{share.capitalize()} of the difference between {finding.system} and "
                f"{finding.other} sits in {finding.slice} ({finding.n} segments)."
            ]
    return []


def _join(items: Sequence[str]) -> str:
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"
