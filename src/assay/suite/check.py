"""Runs checked against a suite: every distinct output of an item is decided once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from assay.suite.decide import Finding, Hits, decide
from assay.suite.model import Item, Run, Suite
from assay.suite.patterns import LIMIT
from assay.suite.verdicts import Verdicts, code_of

__all__ = ["Checked", "Checker", "check"]


@dataclass(frozen=True)
class Checked:
    """The verdicts of the rules, and what could not be searched."""

    verdicts: Verdicts
    trouble: tuple[str, ...]


@dataclass
class Checker:
    """Decides outputs one by one; a pattern that ran out of time once is not tried again."""

    limit: float = LIMIT
    trouble: list[str] = field(default_factory=list)
    _slow: dict[str, list[str]] = field(default_factory=dict)

    def finding(self, item: Item, output: str) -> Finding:
        """What the item's rules say of an output; after trouble it is a warning."""
        known = self._slow.get(item.id)
        if known and output.strip():
            return Finding("warning", Hits.TROUBLE, trouble=tuple(known))
        finding = decide(output, item.rules, limit=self.limit)
        if finding.trouble:
            self._slow[item.id] = list(finding.trouble)
            self.trouble.extend(f"item {item.id}: {each}" for each in finding.trouble)
        return finding


def check(
    suite: Suite,
    runs: Sequence[Run],
    *,
    limit: float = LIMIT,
    steps: Iterable[Item] | None = None,
) -> Checked:
    """The verdict on every output of every run; `steps` is the suite's items, to watch progress.

    Items that no run has an output for are left out.
    """
    checker = Checker(limit)
    wanted = set().union(*(run.outputs for run in runs))
    items, columns = [], []
    for item in suite.items if steps is None else steps:
        if item.id in wanted:
            items.append(item)
            columns.append(list(_decided(checker, item, runs)))
    codes = [[code_of(finding.verdict) for finding in column] for column in columns]
    shape = (len(items), len(runs))
    verdicts = Verdicts(
        systems=tuple(run.system for run in runs),
        items=tuple(items),
        codes=np.array(codes, np.int8).reshape(shape).T,
        by=[[column[at].by for column in columns] for at in range(len(runs))],
        outputs=[[run.outputs.get(item.id, "") for item in items] for run in runs],
    )
    return Checked(verdicts, tuple(checker.trouble))


def _decided(checker: Checker, item: Item, runs: Sequence[Run]) -> Iterator[Finding]:
    known: dict[str, Finding] = {}
    for run in runs:
        output = run.outputs.get(item.id, "")
        if output not in known:
            known[output] = checker.finding(item, output)
        yield known[output]
