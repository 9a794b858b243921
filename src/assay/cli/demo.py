"""The command `assay demo`: the report on small data that come with assay."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from assay.cli.commands import Command
from assay.cli.output import warn
from assay.data import DataError
from assay.demo import CAMPAIGNS, demo_suite_files, read_demo_suite, tagged_demo
from assay.extras import install_line
from assay.io.files import write_all
from assay.registry import SEED
from assay.rendering.charts import missing_charts
from assay.rendering.formats import render
from assay.rendering.text import text
from assay.reports.report import Report, report
from assay.results import CombinedResult, Header, Record, Result, Table
from assay.suites.evaluation import run_suite, suite_report
from assay.suites.report import RunResult
from assay.suites.tables import BY_PHENOMENON

__all__ = ["DEMO"]

METRICS = ("bleu", "chrf", "macrof")
SHOWN = 4
"""Findings that the terminal shows."""

STORY = """\
Three invented systems translate 120 German segments into English. Which is the best, at what, and
how sure is that?
"""
SUITE = """\
They also translate a test suite: 48 sentences for 8 phenomena, with rules for right and wrong.
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
    _check_folder(folder)
    suite = _suite_run()
    with tagged_demo() as (data, tags):
        found = report(data, metrics=METRICS, tags=tags, suite=suite, title="assay demo")
    header = Header(args.command, SEED, title="assay demo")
    page = render(found.with_header(header), "html")
    files = {f"suite/{name}": data for name, data in demo_suite_files().items()}
    write_all(folder, {**files, "report.html": page})
    print(_story(found, suite))
    print(f"The whole report, with all segments and charts: {folder / 'report.html'}\n")
    warn(missing_charts(CombinedResult(*(part.result for part in found.parts))), quiet=False)
    print(_next_steps(folder))
    return 0


def _suite_run() -> RunResult:
    suite, runs = read_demo_suite()
    latest = list(CAMPAIGNS)[-1]
    run = run_suite(suite, [run for run in runs if run.campaign == latest])
    about = f"The demonstration suite, in {latest}. Few items: the intervals are wide."
    return replace(run, about=about)


def _check_folder(folder: Path) -> None:
    """Raise a `DataError` where there is a file of that name, before anything is computed."""
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder}: this folder cannot be made (File exists).")


@dataclass(frozen=True)
class _Shown(Result):
    """One table as a result of its own."""

    table: Table

    def tables(self) -> list[Table]:
        return [self.table]

    def records(self) -> list[Record]:
        return []


def _story(found: Report, suite: RunResult) -> str:
    """What the report says, in two screens."""
    comparison = replace(found.comparison, shown=SHOWN)
    tables = suite_report(suite).tables()
    phenomena = next(table for table in tables if table.title == BY_PHENOMENON)
    return "\n".join([STORY, _text(comparison), SUITE, _text(_Shown(phenomena))])


def _text(result: Result) -> str:
    is_terminal = sys.stdout.isatty()
    width = os.get_terminal_size().columns if is_terminal else WIDTH
    return text(result, color=is_terminal, width=width)


WIDTH = 120
"""Of lines that go elsewhere than to a terminal."""


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
        "Compare three invented systems on a built-in test set and test suite. Writes a report to\n"
        "look at, and the files of the suite to go on with."
    ),
    examples="""
        assay demo                  writes assay-demo/report.html and assay-demo/suite
        assay demo look             writes look/report.html and look/suite""",
    configure=_configure,
    run=_run,
)
