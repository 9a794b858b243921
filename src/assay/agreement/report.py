"""Agreement with people as tables (metrics of one pair, or pairs by metrics) and as charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np
from numpy.typing import NDArray

from assay.agreement.agree import Agreement
from assay.agreement.coefficients import Coefficient
from assay.agreement.correlate import CorrelateOptions, LeaveOut, PanelCorrelation
from assay.agreement.panel import Candidate, Panel, as_printed
from assay.data import Array
from assay.metrics.base import Statistics
from assay.plots import heat_map, scatter
from assay.results import Cell, CellValue, Chart, Column, Record, Table
from assay.statistics.correlation import means
from assay.statistics.significance import confidence

__all__ = [
    "Summary",
    "agreement_tables",
    "charts",
    "findings_by_coefficient",
    "matrix",
    "summarise",
    "tables",
    "tests_note",
]


DIGITS = 3
INSIGNIFICANT = "×"

PRINTED = 3
"""Decimals in the tables of the paper, whose summaries are of what is printed."""

SLACK = 1e-12


def tables(findings: Sequence[PanelCorrelation], options: CorrelateOptions) -> list[Table]:
    """Per kind of human score: a table of metrics, or of pairs by metrics; then comparisons."""
    shown = []
    for same in _by_human(findings).values():
        shown += _agreements(same, options)
        shown += [_comparison(finding, options) for finding in same if finding.comparison]
        shown += [_williams(finding) for finding in same if finding.williams is not None]
    return shown


def agreement_tables(
    findings: Sequence[PanelCorrelation], options: CorrelateOptions
) -> list[Table]:
    """The same without the comparisons."""
    by_human = _by_human(findings).values()
    return [table for same in by_human for table in _agreements(same, options)]


def _agreements(findings: Sequence[PanelCorrelation], options: CorrelateOptions) -> list[Table]:
    if len({id(finding.panel) for finding in findings}) == 1:
        return [_metrics(findings, options)]
    return [_pairs(group, options) for group in findings_by_coefficient(findings)]


def findings_by_coefficient(findings: Sequence[PanelCorrelation]) -> list[list[PanelCorrelation]]:
    """The findings of each granularity, human score and coefficient, in order."""
    groups: dict[tuple[str, str, Coefficient], list[PanelCorrelation]] = {}
    for finding in findings:
        key = (finding.panel.granularity, finding.panel.human_name, finding.coefficient)
        groups.setdefault(key, []).append(finding)
    return list(groups.values())


def matrix(findings: Sequence[PanelCorrelation]) -> tuple[list[str], Array, Array]:
    """The titles of the metrics, and the values and p of pairs by metrics."""
    titles = list(dict.fromkeys(c.title for finding in findings for c in finding.panel.candidates))
    values = np.full((2, len(findings), len(titles)), np.nan)
    for row, finding in enumerate(findings):
        for candidate, agreement in zip(finding.panel.candidates, finding.agreements, strict=True):
            values[:, row, titles.index(candidate.title)] = agreement.value, agreement.p
    return titles, values[0], values[1]


def _by_human(
    findings: Sequence[PanelCorrelation],
) -> dict[tuple[str, str], list[PanelCorrelation]]:
    groups: dict[tuple[str, str], list[PanelCorrelation]] = {}
    for finding in findings:
        groups.setdefault((finding.panel.granularity, finding.panel.human_name), []).append(finding)
    return groups


def _metrics(findings: Sequence[PanelCorrelation], options: CorrelateOptions) -> Table:
    """One pair: metrics by coefficients."""
    panel = findings[0].panel
    columns: list[str | Column] = ["metric", Column("n")]
    for finding in findings:
        columns += [column for column, _ in _cells(finding, 0)]
    rows: list[list[CellValue]] = []
    for at, candidate in enumerate(panel.candidates):
        # Soft pairwise accuracy counts pairs of systems; most coefficients count scores.
        counting = [finding for finding in findings if finding.coefficient.needs == "scores"]
        row: list[CellValue] = [
            candidate.title,
            (counting or findings)[0].agreements[at].n,
        ]
        row += [cell for finding in findings for _, cell in _cells(finding, at)]
        rows.append(row)
    title = f"{panel.pair + ': ' if panel.pair else ''}agreement with {_human(panel.human_name)}"
    agreements = {finding.coefficient: finding.agreements for finding in findings}
    details = " ".join(tests_note(agreements))
    note = "\n".join(
        [
            *_values_note(findings, options),
            *_soft_note(findings, options),
            *_panel_notes(findings),
        ]
    )
    return Table(
        f"{title} at {panel.granularity} level", tuple(columns), rows, note, details=details
    )


def _cells(finding: PanelCorrelation, at: int) -> list[tuple[Column, CellValue]]:
    """A metric's cells and their columns: the value, and p and epsilon where there are any."""
    name, agreement = str(finding.coefficient), finding.agreements[at]
    value = Cell(agreement.value, p=agreement.p, n=agreement.n)
    cells: list[tuple[Column, CellValue]] = [(Column(name, digits=DIGITS, direction="high"), value)]
    if any(not isnan(agreement.p) for agreement in finding.agreements):
        cells.append((Column(f"p {name}", style="p", paper=False), agreement.p))
    if any(not isnan(agreement.epsilon) for agreement in finding.agreements):
        cells.append((Column("epsilon", digits=4), agreement.epsilon))
    return cells


def _pairs(findings: Sequence[PanelCorrelation], options: CorrelateOptions) -> Table:
    """Many pairs: pairs by metrics, as in Tables 9 to 11 of Gowda et al. (2021)."""
    titles, values, p = matrix(findings)
    summary = summarise(values, p, leave_out=options.leave_out, alpha=options.alpha)
    kept = [at for at in range(len(findings)) if summary.kept[at]]
    others = [at for at in range(len(findings)) if not summary.kept[at]]
    rows: list[list[CellValue]] = [_pair_row(findings[at], at, summary) for at in kept]
    for name, figures in (
        ("Median", summary.median),
        ("Mean", summary.mean),
        ("SD", summary.sd),
    ):
        rows.append([name, None, *(None if isnan(figure) else float(figure) for figure in figures)])
    rows += [_pair_row(findings[at], at, summary) for at in others]
    rows.append(["Wins", None, *map(int, summary.wins)])
    order = [*kept, None, None, None, *others, None]
    strong = {
        (row, 2 + int(column))
        for row, at in enumerate(order)
        if at is not None
        for column in np.flatnonzero(summary.best[at])
    }
    shaded = [len(kept), len(kept) + 1, len(kept) + 2, len(rows) - 1]
    panel, coefficient = findings[0].panel, findings[0].coefficient
    return Table(
        f"{coefficient.label} with {_human(panel.human_name)} at {panel.granularity} level",
        ("pair", Column("systems"), *(Column(title, digits=DIGITS) for title in titles)),
        rows,
        "\n".join([*_pairs_note(findings, options), *_values_note(findings, options)]),
        strong=frozenset(strong),
        shaded=frozenset(shaded),
    )


def _pair_row(finding: PanelCorrelation, at: int, summary: Summary) -> list[CellValue]:
    cells: list[CellValue] = [
        None if isnan(value) else Cell(float(value), mark="" if significant else INSIGNIFICANT)
        for value, significant in zip(summary.values[at], summary.significant[at], strict=True)
    ]
    return [finding.panel.pair, len(finding.panel.systems), *cells]


def _pairs_note(findings: Sequence[PanelCorrelation], options: CorrelateOptions) -> list[str]:
    rule = (
        "Median, mean and SD leave out, for all metrics, the pairs below: not every metric is "
        "significant there. Values are absolute and as printed; wins count significant values."
        if options.leave_out == "paper"
        else "Median, mean and SD are of all pairs in which every metric has a value; wins count "
        "the best value of each pair."
    )
    return [
        f"{INSIGNIFICANT}: not significant at {options.alpha:g}. {rule}",
        *_soft_note(findings, options),
        *_panel_notes(findings),
    ]


def _values_note(findings: Sequence[PanelCorrelation], options: CorrelateOptions) -> list[str]:
    """How the values came about, and why some are missing."""
    lines = []
    if options.by != "none":
        groups = _span([agreement.groups for f in findings for agreement in f.agreements], ",")
        lines.append(
            f"Compared within each {options.by}; {groups} of them have a value. Values are the "
            "means of theirs (wmt: of all their pairs together)."
        )
    lines += tests_note({finding.coefficient: finding.agreements for finding in findings})
    for name in dict.fromkeys(finding.coefficient for finding in findings):
        own = [agreement for f in findings if f.coefficient == name for agreement in f.agreements]
        if chances := [agreement.chance for agreement in own if agreement.chance]:
            lines.append(f"{name}: by chance {_span(chances, f'.{DIGITS}f')}.")
    turned = {
        candidate.title: None
        for f in findings
        for candidate in f.panel.candidates
        if candidate.lower
    }
    lines += [
        f"{title}: less is better; its sign is turned, so that agreement is positive."
        for title in turned
    ]
    return [*lines, *(line for finding in findings for line in _reasons(finding))]


def tests_note(agreements: Mapping[Coefficient, Sequence[Agreement]]) -> list[str]:
    """Where the p of each coefficient come from; nothing where there are none."""
    names: dict[str, list[str]] = {}
    for coefficient, values in agreements.items():
        for test in dict.fromkeys(agreement.test for agreement in values if agreement.test):
            names.setdefault(test, []).append(str(coefficient))
    told = "; ".join(
        f"{', '.join(coefficients)} from {test}" for test, coefficients in names.items()
    )
    return [f"Two-sided p: {told}."] if told else []


def _span(values: Sequence[float], form: str) -> str:
    """The least and the greatest, or the one that there is."""
    return "-".join(dict.fromkeys(f"{value:{form}}" for value in (min(values), max(values))))


def _reasons(finding: PanelCorrelation) -> list[str]:
    """Why metrics have no value; those of the same reason together."""
    titles: dict[str, list[str]] = {}
    for candidate, agreement in zip(finding.panel.candidates, finding.agreements, strict=True):
        if agreement.reason:
            titles.setdefault(agreement.reason, []).append(candidate.title)
    where = f"{finding.panel.pair}: " * bool(finding.panel.pair)
    return [
        f"{where}no {finding.coefficient} of {', '.join(names)}: {reason}."
        for reason, names in titles.items()
    ]


def _panel_notes(findings: Sequence[PanelCorrelation]) -> list[str]:
    """Where people's scores come from, and who was left out."""
    panels = list({id(finding.panel): finding.panel for finding in findings}.values())
    sources = "; ".join(dict.fromkeys(panel.source for panel in panels if panel.source))
    head = [f"Human scores: {sources}."] if sources else []
    several = len(panels) > 1
    notes = [
        f"{panel.pair}: {note}" if several and panel.pair else note[:1].upper() + note[1:]
        for panel in panels
        for note in panel.notes
    ]
    return [*head, *notes, *_signatures(findings)]


def _signatures(findings: Sequence[PanelCorrelation]) -> list[str]:
    """How the metrics were computed, each once."""
    candidates = [candidate for finding in findings for candidate in finding.panel.candidates]
    return list(
        dict.fromkeys(candidate.signature for candidate in candidates if candidate.signature)
    )


def _soft_note(findings: Sequence[PanelCorrelation], options: CorrelateOptions) -> list[str]:
    """What soft pairwise accuracy, and all that compares confidences, is of."""
    by_coefficient: dict[Coefficient, list[PanelCorrelation]] = {}
    for finding in findings:
        if finding.coefficient.needs == "segments":
            by_coefficient.setdefault(finding.coefficient, []).append(finding)
    notes = []
    for coefficient, own in by_coefficient.items():
        pairs = _span([agreement.n for finding in own for agreement in finding.agreements], ",")
        granularity = own[0].panel.granularity
        item = "segment" if granularity == "system" else granularity
        files = {finding.panel.ratings_source: None for finding in own if granularity == "system"}
        source = f" ({', '.join(filter(None, files))})" if any(files) else ""
        notes.append(
            f"{coefficient}: {pairs} pairs of systems, each over the {item}s that are rated for "
            f"both{source}, by {options.trials:,} random swaps."
        )
    return notes


def _comparison(finding: PanelCorrelation, options: CorrelateOptions) -> Table:
    comparison = finding.comparison
    note = (
        "Two-sided p of the row's and the column's metric agreeing differently with people, by "
        f"{options.trials:,} trials in which their standardised scores of {_unit(finding)} "
        f"change places at random; cluster: what cannot be told apart at {options.alpha:g} "
        "shares a rank."
    )
    return _against(finding, "", np.zeros((0, 0)) if comparison is None else comparison.p, note)


def _williams(finding: PanelCorrelation) -> Table:
    p = np.zeros((0, 0)) if finding.williams is None else finding.williams
    values = np.array([agreement.value for agreement in finding.agreements])
    # As in the other table: of two metrics, the better one against the other.
    ahead = np.where(values[:, None] >= values[None, :], p, np.nan)
    note = (
        "~: the same by Williams' test, only approximate: it supposes that scores are normal, and "
        "finds too much where there are few systems or outliers."
    )
    return _against(finding, " (Williams)", ahead, note)


def _unit(finding: PanelCorrelation) -> str:
    """What changes places as a whole in the test of two metrics."""
    granularity = finding.panel.granularity
    return "a system" if granularity == "system" else f"all systems on a {granularity}"


def _against(finding: PanelCorrelation, how: str, p: Array, note: str) -> Table:
    titles = [candidate.title for candidate in finding.panel.candidates]
    values = [agreement.value for agreement in finding.agreements]
    order = sorted(range(len(titles)), key=lambda at: (isnan(values[at]), -values[at]))
    note = "\n".join([note, *_signatures([finding])])
    rows: list[list[CellValue]] = []
    for at in order:
        row: list[CellValue] = [titles[at], values[at]]
        row += [_p(p[at, other], approximate=bool(how)) for other in order]
        if finding.comparison and not how:
            row.insert(1, finding.comparison.clusters[at])
        rows.append(row)
    clusters = [] if how else [Column("cluster")]
    panel = finding.panel
    title = f"{panel.pair + ', ' if panel.pair else ''}{_human(panel.human_name)}"
    return Table(
        f"Which metrics agree better? {finding.coefficient} with {title}, "
        f"{panel.granularity} level{how}",
        (
            "metric",
            *clusters,
            Column(str(finding.coefficient), digits=DIGITS),
            *(Column(f"> {titles[at]}", style="p") for at in order),
        ),
        rows,
        note,
    )


def _p(value: float, *, approximate: bool) -> Cell | None:
    return None if isnan(value) else Cell(float(value), approximate=approximate)


def _human(name: str) -> str:
    return name or "people"


@dataclass(frozen=True, eq=False)
class Summary:
    """What all pairs say together, one value per metric.

    `values` (pairs, metrics) are those that were summarised, `kept` the pairs that count for
    mean, median and standard deviation, `significant` and `best` mark cells; `wins` counts those
    that are best of their pair, ties for all that share it.
    """

    values: Array
    kept: NDArray[np.bool_]
    significant: NDArray[np.bool_]
    best: NDArray[np.bool_]
    mean: Array
    median: Array
    sd: Array
    wins: NDArray[np.int_]


def summarise(
    values: Array, p: Array, *, leave_out: LeaveOut = "none", alpha: float = 0.05
) -> Summary:
    """Summaries of (pairs, metrics) agreements and their p.

    With "none" all pairs count in which every metric has a value, whatever its p, and the best
    metric of each wins. With "paper" only pairs count in which every metric is significant, and
    only significant cells win; agreements are then taken as printed, without their sign and with
    three decimals. That favours metrics: what fails anywhere is not held against anybody.

    >>> values, p = np.array([[0.9, 0.8], [0.5, 0.1]]), np.array([[0.01, 0.01], [0.03, 0.4]])
    >>> summary = summarise(values, p)
    >>> summary.mean.round(3).tolist(), summary.wins.tolist()
    ([0.7, 0.45], [2, 0])
    """
    paper = leave_out == "paper"
    shown = as_printed(np.abs(values), PRINTED) if paper else values
    known = ~np.isnan(values)
    # Where a coefficient has no p, nothing speaks against it.
    significant = known & ~(p >= alpha)
    kept = np.asarray((significant if paper else known).all(axis=1))
    best = _best(shown, significant if paper else known)
    chosen = shown[kept]
    median = _of(chosen, np.median, 1)
    return Summary(
        values=shown,
        kept=kept,
        significant=significant,
        best=best,
        mean=_of(chosen, np.mean, 1),
        # Half-way between two printed figures there is one more decimal, and no rounding error.
        median=as_printed(median, PRINTED + 1) if paper else median,
        sd=_of(chosen, lambda values, axis: np.std(values, axis=axis, ddof=1), 2),
        wins=best.sum(axis=0),
    )


def _best(values: Array, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The highest of each row among those allowed; none of a single metric."""
    if values.shape[1] < 2:
        return np.zeros(values.shape, bool)
    among = np.where(allowed, values, -np.inf)
    return np.asarray(allowed & (among >= among.max(axis=1, keepdims=True) - SLACK))


def _of(chosen: Array, statistic: object, least: int) -> Array:
    if len(chosen) < least:
        return np.full(chosen.shape[1], np.nan)
    return np.asarray(statistic(chosen, axis=0))  # type: ignore[operator]


PANELS = 4
"""Of more panels than this there are maps only."""

RESAMPLES = 1000
DEVIATIONS = 1.96
"""So many standard errors on either side make an interval of 95%."""

ROUNDED = 0.1
"""A score that is so near to a mean, in half-widths of its interval, is that mean."""


def charts(findings: Sequence[PanelCorrelation], *, seed: int) -> list[Chart]:
    """A map of metrics by pairs where there are several, and each metric against people."""
    drawn = [_map(group) for group in findings_by_coefficient(findings) if len(group) > 1]
    panels = list({id(finding.panel): finding.panel for finding in findings}.values())
    if len(panels) <= PANELS:
        drawn += [
            _scatter(panel, candidate, seed)
            for panel in panels
            if len(panel.systems) > 1
            for candidate in panel.candidates
        ]
    return drawn


def _map(findings: Sequence[PanelCorrelation]) -> Chart:
    titles, values, _ = matrix(findings)
    name = findings[0].coefficient.label
    records = [
        {"pair": finding.panel.pair, "metric": title, name: values[row, column]}
        for column, title in enumerate(titles)
        for row, finding in enumerate(findings)
    ]
    panel = findings[0].panel
    title = f"{name} with {panel.human_name}, {panel.granularity} level: metrics by pairs"
    negative = bool((np.where(np.isnan(values), 0.0, values) < 0).any())
    return heat_map(title, records, "pair", "metric", name, diverging=negative)


def _scatter(panel: Panel, candidate: Candidate, seed: int) -> Chart:
    """Each system's score against people's, with intervals where segments are known."""
    human, own = panel.human_of_systems(), candidate.of_systems()
    records: list[Record] = [
        {"system": name, "human": human[at], "score": own[at]}
        for at, name in enumerate(panel.systems)
    ]
    bars: dict[str, Array] = {}
    ratings = panel.ratings if panel.granularity == "system" else panel.human
    limits = None if ratings is None else _human_limits(human, ratings)
    if limits is not None:
        bars["human low"], bars["human high"] = limits
    if candidate.statistics:
        bars["low"], bars["high"] = _metric_limits(candidate.statistics, seed)
    notes = ["One point per system."]
    if bars:
        apart = panel.granularity == "document" and limits is not None
        over = "segments, people's over documents" if apart else "segments"
        notes.append(f"Bars: 95% intervals over {over}.")
    if ratings is not None and limits is None:
        notes.append(
            f"None for {panel.human_name}: its scores of systems are not the means of those of "
            "segments."
        )
    where = f"{panel.pair}, " * bool(panel.pair)
    direction = ", less is better" * candidate.lower
    for at, record in enumerate(records):
        record |= {name: _finite(ends[at]) for name, ends in bars.items()}
    return scatter(
        f"{where}{panel.granularity} level: {candidate.title} against {panel.human_name}",
        records,
        "human",
        "score",
        "system",
        x_title=panel.human_name,
        y_title=f"{candidate.title}{direction}",
        x_limits=("human low", "human high") if "human low" in bars else None,
        y_limits=("low", "high") if "low" in bars else None,
        note=" ".join(notes),
    )


def _human_limits(human: Array, ratings: Array) -> Array | None:
    """Both ends of the intervals of people's scores, from the spread over rated segments.

    None where people's scores are not the means of these ratings, but on another scale, say: raw
    ratings tell nothing of how far z-scores can be trusted.
    """
    known = ~np.isnan(ratings)
    count = known.sum(axis=1)
    mean = means(ratings)
    squares = np.where(known, (ratings - mean[:, None]) ** 2, 0.0).sum(axis=1)
    error = np.sqrt(squares / np.maximum(count - 1, 1) / np.maximum(count, 1))
    reach = np.where(count > 1, DEVIATIONS * error, np.nan)
    # Scores of systems may be rounded.
    if (np.abs(human - mean) > ROUNDED * reach).any() or not (count > 1).any():
        return None
    return np.stack([human - reach, human + reach])


def _metric_limits(statistics: Sequence[Statistics], seed: int) -> Array:
    """Both ends of the intervals of the metric's scores."""
    rng = np.random.default_rng(seed)
    ends = [confidence(system, resamples=RESAMPLES, rng=rng)[:2] for system in statistics]
    return np.array(ends).T


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
