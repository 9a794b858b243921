"""Systems on a suite: which outputs pass, how accurate systems are, and what has changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.data import DataError, MissingInput
from assay.io.files import FilePath
from assay.progress import Track, untracked
from assay.registry import did_you_mean
from assay.store.packing import lines_digest
from assay.store.results import ResultStore
from assay.store.runs import Observation
from assay.suites.accuracy import Correction, Policy, Test, accuracies
from assay.suites.check import LIMIT, check
from assay.suites.compare_report import CompareResult
from assay.suites.model import Item, Run, Suite
from assay.suites.report import ReportResult, RunResult
from assay.suites.tables import SystemScores
from assay.suites.versions import Average, Paired, as_versions, compare_versions

__all__ = ["Outputs", "add_suite_run", "run_suite", "suite_compare", "suite_report"]

Outputs = Mapping[str, Sequence[str] | Mapping[str, str]] | Sequence[Run]
"""What systems made of a suite: by system, lines in the order of the items or outputs by the ids
of the items; or runs."""


def run_suite(
    suite: Suite,
    outputs: Outputs,
    *,
    ids: Sequence[str] | None = None,
    examples: int = 1,
    limit: float = LIMIT,
    store: FilePath | None = None,
    run_name: str = "",
    track: Track = untracked,
) -> RunResult:
    """Check the outputs of systems against the rules of a suite.

    Where only positive rules match, an output passes; where only negative ones do, it fails; where
    both or neither do, it is a warning, for people to resolve.

    - `suite`: the items and their rules, as from `read_suite`.
    - `outputs`: by system, lines, one per item in the order of the suite or of `ids`; or
      outputs by the ids of the items, of which some may be missing; or runs.
    - `ids`: the items that the lines are of (default: all items of the suite).
    - `examples`: how many failing items per category the tables show.
    - `limit`: seconds that a regular expression may search one output; one that takes longer
      makes the output a warning, and `trouble` of the result says so.
    - `store`: a folder that keeps results: the share of each phenomenon that passes is written
      down as the run `run_name`, for `history`.
    - `track`: shows progress over the items.

    >>> from assay.demo import read_demo_suite
    >>> suite, runs = read_demo_suite()
    >>> result = run_suite(suite, {run.system: run.outputs for run in runs[:2]})
    >>> result.verdicts.systems, result.records()[0]["verdict"]
    (('atlas', 'birch'), 'pass')
    """
    runs = _runs(suite, outputs, ids)
    checked = check(suite, runs, limit=limit, track=track)
    result = RunResult(checked.verdicts, examples, checked.trouble)
    if store is not None:
        add_suite_run(store, "suite run", suite_report(result, policy="each"), run_name, suite.name)
    return result


def suite_report(
    run: RunResult,
    *,
    policy: Policy = "fair",
    test: Test = "midp",
    correct: Correction = "row",
    level: float = 0.95,
    scores: Sequence[SystemScores] = (),
    examples: int = 1,
    store: FilePath | None = None,
    run_name: str = "",
) -> ReportResult:
    """How many items each system gets right, by phenomenon, by category and on average.

    - `run`: the verdicts, as from `run_suite`, or from a database
      (`assay.suites.store.runs`).
    - `policy`: what counts: "fair", the items that are decided for every system; "each", for
      each system those that are decided for it; "fail" or "pass", all, a warning being one of
      these.
    - `test`: who is worse than the best of a row: McNemar's test on the shared items, "midp" or
      exact ("mcnemar"), or the paper's one-tailed Z-test of two proportions ("z").
    - `correct`: for the number of comparisons: Holm's over all pairs of systems in the row
      ("row"), "none", or "holm" or "bh" (Benjamini and Hochberg) over all rows of a kind.
    - `level`: the confidence of intervals and tests.
    - `scores`: rows of other scores to show below, such as BLEU.
    - `examples`: how many failing items per category the tables show.
    - `store`: a folder that keeps results: all rows are written down as the run `run_name`, for
      `history`.

    >>> from assay.demo import read_demo_suite
    >>> suite, runs = read_demo_suite()
    >>> run = run_suite(suite, [run for run in runs if run.campaign == "autumn"])
    >>> micro = suite_report(run).accuracies.row("micro")
    >>> [round(accuracy, 1) for accuracy in micro.accuracy], micro.first_cluster
    ([67.6, 76.5, 32.4], (True, True, False))
    """
    found = accuracies(run.verdicts, policy=policy, test=test, correct=correct, level=level)
    result = ReportResult(run.verdicts, found, tuple(scores), examples, run.about)
    if store is not None:
        add_suite_run(store, "suite report", result, run_name)
    return result


def suite_compare(
    runs: Mapping[str, RunResult] | RunResult,
    *,
    policy: Policy = "fair",
    test: Paired = "midp",
    correct: Correction = "none",
    level: float = 0.95,
    best_by: Average = "category macro",
    examples: int = 3,
) -> CompareResult:
    """What became better and worse from one campaign to the next, on their common items.

    - `runs`: the campaigns by name, the oldest first; or one run, whose systems are versions of
      one system, the oldest first.
    - `policy`: what counts, as in `suite_report`.
    - `test`: mcNemar's test on the common items, "midp" or exact ("mcnemar").
    - `correct`: for the number of rows of a kind: "none", "holm" or "bh".
    - `level`: the confidence of tests and first clusters.
    - `best_by`: the average that makes a system the best of its campaign.
    - `examples`: how many items that were lost, and that were gained, the tables show per step.

    >>> from assay.demo import read_demo_suite
    >>> suite, runs = read_demo_suite()
    >>> campaigns = {
    ...     name: run_suite(suite, [run for run in runs if run.campaign == name])
    ...     for name in ("spring", "autumn")
    ... }
    >>> step = suite_compare(campaigns).versions.steps[1]
    >>> step.after.system, [flip.item.id for flip in step.flips if not flip.gained]
    ('birch', ['neg1', 'neg5', 'neg6'])
    """
    if isinstance(runs, RunResult):
        campaigns = as_versions(runs.verdicts)
    else:
        campaigns = {name: run.verdicts for name, run in runs.items()}
    found = compare_versions(
        campaigns, policy=policy, test=test, correct=correct, level=level, best_by=best_by
    )
    return CompareResult(found, examples)


def add_suite_run(
    store: FilePath, command: str, result: ReportResult, run_name: str, name: str = ""
) -> None:
    """Write the accuracies of systems down as a run in a store."""
    found = result.accuracies
    observations = [
        Observation(
            system=system,
            kind="phenomenon",
            name=f"{row.category}: {row.name}" if row.level == "phenomenon" else row.name,
            metric="accuracy",
            signature=f"accuracy|policy:{found.counted.policy}",
            value=row.accuracy[at],
            low=row.low[at],
            high=row.high[at],
            n=row.items[at],
            level=found.level,
            unit="%",
        )
        for row in found.rows
        if row.level != "phenomenon" or row.name != row.category
        for at, system in enumerate(found.systems)
    ]
    items = result.verdicts.items
    texts = [
        text for item in items for text in (item.id, item.category, item.source, *_rules(item))
    ]
    ResultStore(store).add_run(
        command,
        observations,
        name=run_name,
        test_set=name,
        test_set_sha256=lines_digest(texts),
        segments=len(items),
    )


def _rules(item: Item) -> list[str]:
    return [f"{rule.polarity} {rule.kind} {rule.text}" for rule in item.rules]


def _runs(suite: Suite, outputs: Outputs, ids: Sequence[str] | None) -> list[Run]:
    if not outputs:
        raise MissingInput("outputs", "a suite is run on what systems made of it")
    if not isinstance(outputs, Mapping):
        return list(outputs)
    order = [item.id for item in suite.items] if ids is None else list(ids)
    for name in order:
        _check_id(suite, name, "ids")
    return [Run(system, _by_id(suite, system, given, order)) for system, given in outputs.items()]


def _by_id(
    suite: Suite, system: str, given: Sequence[str] | Mapping[str, str], order: Sequence[str]
) -> Mapping[str, str]:
    if isinstance(given, Mapping):
        for name in given:
            _check_id(suite, name, system)
        return given
    if isinstance(given, str) or len(given) != len(order):
        number = "one text" if isinstance(given, str) else f"{len(given)} outputs"
        raise DataError(
            f"{system}: {number}, but there are {len(order)} items. Give one output per item, in "
            "their order, or pass ids=... to say which items they are of."
        )
    return dict(zip(order, given, strict=True))


def _check_id(suite: Suite, name: str, where: str) -> None:
    if name not in suite.by_id:
        hint = did_you_mean(name, suite.by_id)
        raise DataError(f"{where}: no item of the suite has the id {name!r}{hint}.")
