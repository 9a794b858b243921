"""How far metrics agree with people: `assay.correlate`, its options and its result."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from assay.agreement.agree import (
    Agreement,
    MetricComparison,
    Shuffles,
    agree,
    compare_metrics,
    confidences,
    confidences_of_corpora,
    williams_of_all,
)
from assay.agreement.coefficients import COEFFICIENTS, Coefficient, Kendall, Pearson
from assay.agreement.panel import (
    Candidate,
    Humans,
    MetricChoice,
    Panel,
    Rounding,
    chosen_metrics,
    outliers,
    panels,
)
from assay.data import Array, DataError, Dataset, Granularity, Scores, is_human
from assay.io.files import FilePath
from assay.io.scores import HumanChoice, chosen_human
from assay.progress import Engine, Track, spread, untracked
from assay.registry import SEED
from assay.results import Charts, Record, Result, Table, known
from assay.statistics.correlation import By, Mask
from assay.store.results import use_store

if TYPE_CHECKING:
    from assay.agreement.tables import ScoreTable

__all__ = [
    "CorrelateOptions",
    "CorrelateResult",
    "LeaveOut",
    "PanelCorrelation",
    "correlate",
    "correlate_panels",
    "prepared",
]

LeaveOut = Literal["none", "paper"]
"""Every pair counts, or the rule of Gowda et al. (2021) for leaving pairs out."""

CorrelateData: TypeAlias = "Dataset | ScoreTable"

DEFAULT_COEFFICIENTS = (Pearson(), Kendall())


@spread
def correlate(
    data: CorrelateData | Sequence[CorrelateData],
    metrics: MetricChoice = None,
    *,
    human: HumanChoice = None,
    granularity: Granularity | Sequence[Granularity] = "system",
    by: By = "none",
    coefficients: str | Coefficient | Sequence[str | Coefficient] = DEFAULT_COEFFICIENTS,
    compare: bool = False,
    trials: int = 1000,
    alpha: float = 0.05,
    scores: Sequence[Scores] = (),
    lower: Sequence[str] = (),
    decimals: int | None = None,
    decimals_by_metric: Mapping[str, int] | None = None,
    outliers: Literal["keep", "drop"] = "keep",
    humans: Humans = "out",
    leave_out: LeaveOut = "none",
    store: FilePath | None = None,
    seed: int = SEED,
    cluster: Engine = None,
    track: Track = untracked,
) -> CorrelateResult:
    """How far metrics agree with people, and which agree better.

    - `data`: a test set or several, or tables of scores (`read_score_table`), which need no texts.
    - `metrics`: names or metrics (default: BLEU and chrF, or only `scores` where these are given;
      of a table all columns of numbers).
    - `human`: which human scores, by name, or the scores themselves (default: all of the data's);
      of a table the columns.
    - `granularity`: compare scores of each `"system"`, `"document"` or `"segment"`, or several.
    - `by`: compare documents or segments within each `"item"`, within each `"system"` or, with
      `"none"`, all with all.
    - `coefficients`: by name, as in `["pearson", "wmt:gap=25", "spa"]`, or coefficients.
    - `compare`: also test which metrics agree better than others.
    - `trials`: random orders or swaps, for the p of documents and segments, `compare` and `spa`.
    - `alpha`: a p below this is significant.
    - `scores`: scores of other metrics; `lower` names those, and human scores, where lower is
      better.
    - `decimals`: round the metrics' scores before they are correlated; `decimals_by_metric` is for
      single metrics.
    - `outliers`: `"drop"` systems whose human score is far from all others.
    - `humans`: leave human translations among the systems `"out"` or `"in"`.
    - `leave_out`: language pairs that do not count for means and medians: `"none"`, or as in the
      MacroF1 `"paper"` those where any metric is not significant.
    - `store`: a folder that keeps results, so that nothing is scored twice: see `score`.

    >>> from assay.demo import read_demo
    >>> result = correlate(read_demo(), "chrf", human="da", granularity="segment", trials=100)
    >>> [(record["coefficient"], round(record["value"], 3)) for record in result.records()]
    [('pearson', 0.603), ('kendall', 0.457)]
    """
    options = CorrelateOptions(
        coefficients=_coefficients(coefficients),
        by=by,
        compare=compare,
        trials=trials,
        alpha=alpha,
        leave_out=leave_out,
        outliers=outliers,
        humans=humans,
    )
    rounding = Rounding(decimals, decimals_by_metric or {})
    granularities = [granularity] if isinstance(granularity, str) else granularity
    parts = data if isinstance(data, Sequence) else [data]
    datasets = [part for part in parts if isinstance(part, Dataset)]
    names = iter(_pair_names(datasets))
    compared: list[Panel] = []
    for part in parts:
        if isinstance(part, Dataset):
            with use_store(store):
                compared += panels(
                    part,
                    chosen_metrics(metrics, part, scores),
                    human=chosen_human(part, human),
                    granularities=granularities,
                    scores=scores,
                    lower=lower,
                    rounding=rounding,
                    humans=humans,
                    pair=next(names),
                    track=track,
                )
        elif list(granularities) != ["system"]:
            raise DataError("a table has scores of systems: leave granularity out.")
        else:
            columns = _columns("human", human), _columns("metrics", metrics)
            compared += [
                replace(panel, candidates=rounding.apply(panel.candidates))
                for panel in part.panels(human=columns[0], metrics=columns[1], lower=lower)
            ]
    _check_distinct([f"{panel.pair} {panel.human_name} {panel.granularity}" for panel in compared])
    return correlate_panels(compared, options, seed=seed, track=track)


def _columns(name: str, choice: object) -> list[str]:
    """The columns of a table that are asked for; none named is the usual ones."""
    columns = [choice] if isinstance(choice, str) else [] if choice is None else choice
    if not isinstance(columns, Sequence) or not all(isinstance(column, str) for column in columns):
        raise DataError(f"{name}: name the columns of a table.")
    return list(columns)


def _coefficients(
    coefficients: str | Coefficient | Sequence[str | Coefficient],
) -> tuple[Coefficient, ...]:
    several = [coefficients] if isinstance(coefficients, str | Coefficient) else coefficients
    return tuple(COEFFICIENTS.parse_all(several))


def _pair_names(datasets: Sequence[Dataset]) -> list[str]:
    """The language pairs, with the test sets' names where they alone do not tell."""
    names = ["-".join(dataset.languages or ()) for dataset in datasets]
    if len(set(names)) < len(names):
        names = [f"{dataset.name}/{name}" for dataset, name in zip(datasets, names, strict=True)]
    _check_distinct(names)
    return names


def _check_distinct(names: Sequence[str]) -> None:
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise DataError(f"{twice} is given twice; leave one out.")


@dataclass(frozen=True)
class CorrelateOptions:
    """What is asked about the agreement of metrics with people: see `correlate`."""

    coefficients: tuple[Coefficient, ...] = DEFAULT_COEFFICIENTS
    by: By = "none"
    compare: bool = False
    trials: int = 1000
    alpha: float = 0.05
    leave_out: LeaveOut = "none"
    outliers: Literal["keep", "drop"] = "keep"
    humans: Humans = "out"

    def __post_init__(self) -> None:
        """The coefficients, which may be given by name, each once."""
        coefficients = tuple(COEFFICIENTS.parse_all(self.coefficients))
        object.__setattr__(self, "coefficients", coefficients)
        if not 0 < self.alpha < 1:
            raise DataError(f"alpha {self.alpha:g}: give a share between 0 and 1, such as 0.05.")


@dataclass(frozen=True, eq=False)
class PanelCorrelation:
    """What one coefficient says of all metrics of a panel.

    `comparison` is there where it was asked for; `williams[i, j]`, for Pearson's r over systems
    or of one system, is the two-sided p of metrics i and j by Williams' test.
    """

    panel: Panel
    coefficient: Coefficient
    agreements: tuple[Agreement, ...]
    comparison: MetricComparison | None = None
    williams: Array | None = None


DEFAULT = CorrelateOptions()


def correlate_panels(
    compared: Sequence[Panel],
    options: CorrelateOptions = DEFAULT,
    *,
    seed: int = SEED,
    track: Track = untracked,
) -> CorrelateResult:
    """How far the metrics of every panel agree with people."""
    ready = [prepared(panel, options) for panel in compared]
    total = len(ready) * len(options.coefficients)
    findings = tuple(track(_correlations(ready, options, seed), total=total))
    return CorrelateResult(findings, options, seed)


def prepared(panel: Panel, options: CorrelateOptions) -> Panel:
    """The panel without whom the options leave out, and without systems nobody rated."""
    if options.humans == "out":
        people = [name for name in panel.systems if is_human(name)]
        panel = panel.without(people, "human translations")
    rated = np.asarray(~np.isnan(panel.human).all(axis=1))
    unrated = [name for name, is_rated in zip(panel.systems, rated, strict=True) if not is_rated]
    panel = panel.without(unrated, "no human score")
    if options.outliers == "drop":
        far = outliers(panel.human_of_systems())
        names = [name for name, is_far in zip(panel.systems, far, strict=True) if is_far]
        panel = panel.without(names, "outliers: further than 2.5 robust deviations from the median")
    missing, size = int(np.isnan(panel.human).sum()), panel.human.size
    note = f"{missing:,} of {size:,} human scores are missing."
    return replace(panel, notes=(*panel.notes, note)) if missing else panel


def _correlations(
    compared: Sequence[Panel], options: CorrelateOptions, seed: int
) -> Iterator[PanelCorrelation]:
    """What every coefficient says of every panel, one after the other as they are ready."""
    for panel in compared:
        for coefficient in options.coefficients:
            agreements = tuple(
                _agreement(panel, candidate, coefficient, options, seed)
                for candidate in panel.candidates
            )
            finding = PanelCorrelation(panel, coefficient, agreements)
            several = sum(not math.isnan(agreement.value) for agreement in agreements) > 1
            tested = options.compare and coefficient.needs == "scores" and several
            yield _compared(finding, options, seed) if tested else finding


def _agreement(
    panel: Panel,
    candidate: Candidate,
    coefficient: Coefficient,
    options: CorrelateOptions,
    seed: int,
) -> Agreement:
    if coefficient.needs == "segments":
        return _from_segments(panel, candidate, coefficient, options.trials, seed)
    shuffles = Shuffles(options.trials, np.random.default_rng(seed))
    return agree(candidate.oriented, panel.human, coefficient, by=options.by, shuffles=shuffles)


def _from_segments(
    panel: Panel, candidate: Candidate, coefficient: Coefficient, trials: int, seed: int
) -> Agreement:
    """The agreement of confidences over the panel's items; at system level over its segments.

    People's confidences and the metric's are over the same items: those that people rated and
    the metric scored, for both systems of a pair.
    """
    if len(panel.systems) < 2:
        return _unknown("fewer than two systems")
    whole = panel.granularity == "system"
    human = panel.ratings if whole else panel.human
    if human is None:
        return _unknown(f"{coefficient.title} needs human scores of segments")
    if whole and not candidate.statistics:
        return _unknown(f"{coefficient.title} needs the metric's scores of segments")
    scored = candidate.known_segments() if whole else ~np.isnan(candidate.oriented)
    both = ~np.isnan(human) & scored
    # The same swaps for people and for the metric.
    rng = np.random.default_rng(seed)
    theirs = confidences(np.where(both, human, np.nan), trials=trials, rng=rng)
    own = _confidences(panel, candidate, both, trials, np.random.default_rng(seed))
    return agree(own[:, None], theirs[:, None], coefficient)


def _confidences(
    panel: Panel, candidate: Candidate, both: Mask, trials: int, rng: np.random.Generator
) -> Array:
    """How sure the metric is of every pair of systems, over what people and it have scored."""
    if panel.granularity == "system":
        systems = candidate.statistics
        return confidences_of_corpora(systems, both, lower=candidate.lower, trials=trials, rng=rng)
    return confidences(np.where(both, candidate.oriented, np.nan), trials=trials, rng=rng)


def _unknown(reason: str) -> Agreement:
    return Agreement(math.nan, math.nan, 0, 0, reason)


def _compared(finding: PanelCorrelation, options: CorrelateOptions, seed: int) -> PanelCorrelation:
    """The finding with every metric tested against every other."""
    panel, coefficient = finding.panel, finding.coefficient
    # What has no value is not compared: two scores would correlate perfectly.
    scores = {
        candidate.name: np.full_like(panel.human, np.nan)
        if agreement.reason
        else candidate.oriented
        for candidate, agreement in zip(panel.candidates, finding.agreements, strict=True)
    }
    comparison = compare_metrics(
        scores,
        panel.human,
        coefficient,
        by=options.by,
        trials=options.trials,
        alpha=options.alpha,
        rng=np.random.default_rng(seed),
    )
    # Williams' test is for scores that are independent of each other.
    if isinstance(coefficient, Pearson) and options.by == "none" and 1 in panel.human.shape:
        oriented = [candidate.oriented for candidate in panel.candidates]
        williams = williams_of_all(oriented, panel.human)
        return replace(finding, comparison=comparison, williams=williams)
    return replace(finding, comparison=comparison)


@dataclass(frozen=True, eq=False)
class CorrelateResult(Result):
    """The agreement of metrics with people, for one language pair or many."""

    findings: tuple[PanelCorrelation, ...]
    options: CorrelateOptions
    seed: int

    def records(self) -> list[Record]:
        """One record per pair, granularity, human score, coefficient and metric.

        Where metrics were compared, further records set `metric` against `other`: `difference`
        of their values, and its two-sided `p_difference`.
        """
        return [record for finding in self.findings for record in self._records(finding)]

    def tables(self) -> list[Table]:
        """Agreement by metric, over pairs where there are several, and who is better."""
        from assay.agreement.report import tables

        return tables(self.findings, self.options)

    def paper_tables(self) -> list[Table]:
        """Agreement by metric or by pair, without the comparisons of metrics."""
        from assay.agreement.report import agreement_tables

        return agreement_tables(self.findings, self.options)

    def charts(self) -> Charts:
        """Maps of metrics by pairs, and metrics against people."""
        from assay.agreement.report import charts

        return Charts(charts(self.findings, seed=self.seed))

    def _records(self, finding: PanelCorrelation) -> Iterator[Record]:
        comparison = finding.comparison
        for place, agreement in enumerate(finding.agreements):
            record = self._record(finding, place, agreement)
            if self.options.compare:
                record |= {"cluster": comparison.clusters[place] if comparison else None}
                record |= dict.fromkeys(("other", "difference", "p_difference", "p_williams"))
            yield record
        if comparison is not None:
            yield from self._pairs(finding, comparison)

    def _record(self, finding: PanelCorrelation, place: int, agreement: Agreement) -> Record:
        panel, candidate = finding.panel, finding.panel.candidates[place]
        return {
            "pair": panel.pair or None,
            "granularity": panel.granularity,
            "metric": candidate.name,
            "resolved": candidate.resolved,
            "human": panel.human_name,
            "coefficient": str(finding.coefficient),
            "value": known(agreement.value),
            "p": known(agreement.p),
            "n": agreement.n,
            "by": self.options.by,
            "groups": agreement.groups,
            "chance": known(agreement.chance),
            "epsilon": known(agreement.epsilon),
            "reason": agreement.reason or None,
            "signature": candidate.signature or None,
            "test": agreement.test or None,
        }

    def _pairs(self, finding: PanelCorrelation, comparison: MetricComparison) -> Iterator[Record]:
        """Each metric against the ones that it is ahead of."""
        williams = finding.williams
        for i, agreement in enumerate(finding.agreements):
            for j, other in enumerate(finding.panel.candidates):
                if math.isnan(comparison.p[i, j]):
                    continue
                compared = {
                    "cluster": None,
                    "other": other.name,
                    "difference": float(comparison.values[i] - comparison.values[j]),
                    "p_difference": float(comparison.p[i, j]),
                    "p_williams": None if williams is None else known(float(williams[i, j])),
                }
                yield self._record(finding, i, agreement) | compared
