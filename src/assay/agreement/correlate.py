"""What `assay meta correlate` gives back, as records, tables and charts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import nan

from assay.agreement.agree import Agreement
from assay.agreement.charts import charts
from assay.agreement.differences import MetricComparison
from assay.agreement.findings import CorrelateOptions, Finding, correlate_each, prepared
from assay.agreement.panel import Panel
from assay.agreement.report import agreement_tables, tables
from assay.results import Charts, Record, Result, Table
from assay.settings import SEED

__all__ = ["CorrelateResult", "correlate"]

NO_QUESTIONS = CorrelateOptions()


def correlate(
    panels: Sequence[Panel], questions: CorrelateOptions = NO_QUESTIONS, *, seed: int = SEED
) -> CorrelateResult:
    """How far the metrics of every panel agree with people."""
    ready = [prepared(panel, questions) for panel in panels]
    return CorrelateResult(tuple(correlate_each(ready, questions, seed=seed)), questions, seed)


@dataclass(frozen=True, eq=False)
class CorrelateResult(Result):
    """The agreement of metrics with people, for one language pair or many."""

    findings: tuple[Finding, ...]
    questions: CorrelateOptions
    seed: int

    def records(self) -> list[Record]:
        """One record per pair, granularity, human score, coefficient and metric.

        Where metrics were compared, further records set `metric` against `other`: `difference`
        of their values, and its two-sided `p_difference`.
        """
        return [record for finding in self.findings for record in self._records(finding)]

    def tables(self) -> list[Table]:
        """Agreement by metric, over pairs where there are several, and who is better."""
        return tables(self.findings, self.questions)

    def paper_tables(self) -> list[Table]:
        """Agreement by metric or by pair, without the comparisons of metrics."""
        return agreement_tables(self.findings, self.questions)

    def charts(self) -> Charts:
        """Maps of metrics by pairs, and metrics against people."""
        return Charts(charts(self.findings, seed=self.seed))

    def _records(self, finding: Finding) -> Iterator[Record]:
        comparison = finding.comparison
        for at, agreement in enumerate(finding.agreements):
            record = self._record(finding, at, agreement)
            if self.questions.compare:
                record |= {"cluster": comparison.clusters[at] if comparison else None}
                record |= dict.fromkeys(("other", "difference", "p_difference", "p_williams"))
            yield record
        if comparison is not None:
            yield from self._pairs(finding, comparison)

    def _record(self, finding: Finding, at: int, agreement: Agreement) -> Record:
        panel = finding.panel
        return {
            "pair": panel.pair or None,
            "granularity": panel.granularity,
            "metric": panel.candidates[at].name,
            "resolved": panel.candidates[at].resolved,
            "human": panel.human_name,
            "coefficient": str(finding.coefficient),
            "value": _known(agreement.value),
            "p": _known(agreement.p),
            "n": agreement.n,
            "by": self.questions.by,
            "groups": agreement.groups,
            "chance": _known(agreement.chance),
            "epsilon": _known(agreement.epsilon),
            "reason": agreement.reason or None,
            "signature": panel.candidates[at].signature or None,
            "test": agreement.test or None,
        }

    def _pairs(self, finding: Finding, found: MetricComparison) -> Iterator[Record]:
        """Each metric against the ones that it is ahead of."""
        sure = finding.williams
        for i, agreement in enumerate(finding.agreements):
            for j, other in enumerate(finding.panel.candidates):
                if _known(found.p[i, j]) is None:
                    continue
                compared = {
                    "cluster": None,
                    "other": other.name,
                    "difference": float(found.values[i] - found.values[j]),
                    "p_difference": float(found.p[i, j]),
                    "p_williams": _known(nan if sure is None else sure[i, j]),
                }
                yield self._record(finding, i, agreement) | compared


def _known(value: float) -> float | None:
    return None if value != value else float(value)
