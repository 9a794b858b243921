"""The command `assay demo`: everything once, on small data that come with assay."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.cli.commands import Command
from assay.cli.options import warn
from assay.comparison.favoritism import favor
from assay.comparison.types import types
from assay.data import DataError, Dataset
from assay.demo import CAMPAIGNS, demo_suite_files, read_demo, read_demo_suite
from assay.explanation.explain import ExplainResult, explain
from assay.extras import install_line
from assay.io import write_whole
from assay.registry import SEED
from assay.rendering.charts import missing_charts
from assay.rendering.text import text
from assay.results import Chart, Charts, CombinedResult, Header, Record, Result, Table
from assay.scoring import score
from assay.suites.evaluation import run_suite, suite_report
from assay.suites.report import ReportResult
from assay.suites.tables import BY_PHENOMENON

__all__ = ["DEMO"]

SCORED = ("bleu", "chrf", "ter", "macrof", "microf")
WORST = 5
"""Segments that are explained word by word."""

SCORES = """\
Three invented systems translate 120 German segments. BLEU likes birch: it is fluent. MacroF1,
where every word counts alike, prefers atlas: birch loses names, numbers and rare words, as the
second table shows. `assay favor` finds the sentences.
"""
SUITE = """\
Then they translate a test suite: 48 sentences for 8 phenomena, with rules for right and wrong.
atlas takes idioms and false friends word by word; birch drops negations and tenses; cedar does
not know which meaning a word has, nor how English writes quotation marks.
"""


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder",
        metavar="FOLDER",
        nargs="?",
        default="assay-demo",
        help="where to put the report and the test suite (default: assay-demo)",
    )


def _run(args: argparse.Namespace) -> int:
    folder = Path(args.folder)
    _make_folder(folder)
    _write(folder, {f"suite/{name}": data for name, data in demo_suite_files().items()})
    dataset = read_demo()
    scores = score(dataset, SCORED, confidence=True, test="bootstrap", all_pairs=True)
    favored, by_type, words = favor(dataset), types(dataset), _explanations(dataset)
    suite = _suite_report()
    everything = CombinedResult(scores, favored, by_type, words, _titled(suite))
    header = Header(args.command, SEED, title="assay demo")
    everything.with_header(header).save(folder / "report.html")
    print(_story(scores, by_type, suite))
    print(f"The whole report, with charts and examples: {folder / 'report.html'}\n")
    warn(missing_charts(everything), quiet=False)
    print(_next_steps(folder))
    return 0


def _explanations(dataset: Dataset) -> ExplainResult:
    """Two systems side by side, in the segments that are worst on average."""
    first, second, *_ = dataset.systems.items()
    pair = replace(dataset, systems=dict((first, second)))
    return explain(pair, "chrf", "lime", worst=WORST)


def _suite_report() -> ReportResult:
    suite, runs = read_demo_suite()
    latest = list(CAMPAIGNS)[-1]
    run = run_suite(suite, [run for run in runs if run.campaign == latest])
    about = f"The demonstration suite, in {latest}. Few items: the intervals are wide."
    return suite_report(replace(run, about=about))


def _write(folder: Path, contents: dict[str, bytes]) -> None:
    for name, content in contents.items():
        _make_folder((folder / name).parent)
        write_whole(folder / name, content)


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{path}: this folder cannot be made ({error.strerror}).") from None


@dataclass(frozen=True)
class _Shown(Result):
    """Tables and charts as a result of their own."""

    shown: Sequence[Table]
    drawn: Sequence[Chart] = ()

    def tables(self) -> list[Table]:
        return list(self.shown)

    def charts(self) -> Charts:
        return Charts(self.drawn)

    def records(self) -> list[Record]:
        return []


def _titled(result: Result) -> _Shown:
    """The report on the suite, under titles that tell it from the scores."""
    return _Shown(
        [replace(table, title=_title(table.title)) for table in result.tables()],
        [
            replace(chart, title=_title(chart.title), after=_title(chart.after))
            for chart in result.charts()
        ],
    )


def _title(of: str) -> str:
    return f"Test suite: {of[:1].lower()}{of[1:]}"


def _story(scores: Result, by_type: Result, suite: Result) -> str:
    """What the demo shows, in two screens."""
    overview, *_ = scores.tables()
    _, buckets, *_ = by_type.tables()
    phenomena = next(table for table in suite.tables() if table.title == BY_PHENOMENON)
    return "\n".join([SCORES, _text(overview, buckets), SUITE, _text(phenomena)])


def _text(*tables: Table) -> str:
    color = sys.stdout.isatty()
    return text(_Shown(tables), color=color, width=100)


def _next_steps(folder: Path) -> str:
    """The commands that go on from here, as they can be pasted."""
    runs = [
        f"assay suite run --db suite.db -i suite/{name}/*.txt --ids suite/item_ids.txt "
        f"--campaign {name} --date {date}"
        for name, date in CAMPAIGNS.items()
    ]
    commands = [
        f"cd {shlex.quote(str(folder))}",
        "assay suite import suite/items.json --db suite.db",
        *runs,
        "assay suite serve --db suite.db",
    ]
    return "\n  ".join(
        [f"To resolve the suite's warnings in a web page ({install_line('web')}):", *commands]
    )


DEMO = Command(
    name="demo",
    usage="[FOLDER]",
    description=(
        "Run the main jobs on a built-in test set and test suite. Writes a report to look at, and\n"
        "the files of the suite to go on with."
    ),
    examples="""
        assay demo                  writes assay-demo/report.html and assay-demo/suite
        assay demo look             writes look/report.html and look/suite""",
    configure=_configure,
    run=_run,
)
