"""Options that say how to show a result, and showing it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from assay.cli.commands import whole_number
from assay.data import DataError
from assay.io import write_whole
from assay.io.files import suffix
from assay.rendering import Format, missing_charts, render
from assay.results import Record, Result
from assay.scoring import SEED
from assay.settings import nearest

__all__ = ["add_output", "check_output", "output_format", "show", "take_note", "warn", "write"]

_ENDINGS: dict[str, Format] = {
    ".txt": "text",
    ".md": "markdown",
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".tex": "latex",
    ".html": "html",
    ".htm": "html",
}


def add_output(parser: argparse.ArgumentParser, *, letter: bool = True) -> None:
    """The same for every command; without `letter`, -f is left to something else."""
    group = parser.add_argument_group("output")
    add = group.add_argument
    add(
        *(["-f"] if letter else []),
        "--format",
        choices=get_args(Format),
        metavar="FORMAT",
        help=f"{', '.join(get_args(Format))} (default: by the ending of -o, or text)",
    )
    add(
        "-o",
        "--output",
        metavar="FILE",
        default="-",
        help=f"write to FILE, whole or not at all; its ending chooses the format: "
        f"{' '.join(_ENDINGS)} (and .gz or .xz after it), or none for text",
    )
    add(
        "-w",
        "--width",
        type=whole_number(0, 20),
        default=2,
        metavar="DIGITS",
        help="decimals of scores in tables (default: 2; two more for scores of the size of 1); "
        "percentages and p have their own, and records (json, csv, tsv ...) always have all",
    )
    add("-q", "--quiet", action="store_true", help="no warnings, no progress")
    add(
        "--seed",
        type=whole_number(0),
        default=SEED,
        metavar="N",
        help=f"where randomness starts: the same seed, the same output (default: {SEED})",
    )


def check_output(args: argparse.Namespace, inputs: Sequence[Record]) -> None:
    """Raise a `DataError` where `-o` names one of the inputs, or an ending that says nothing."""
    target = Path(args.output)
    for path in (Path(each["path"]) for each in inputs):
        if target.is_file() and path.exists() and target.samefile(path):
            raise DataError(f"-o {args.output} is one of the inputs; name another file.")
    output_format(args)


def output_format(args: argparse.Namespace) -> Format:
    """The format that is asked for, or that the ending of the file says; a name without is text."""
    if args.format:
        chosen: Format = args.format
        return chosen
    ending = "" if Path(args.output).is_dir() else suffix(args.output)
    if ending and ending not in _ENDINGS:
        raise DataError(
            f"-o {args.output}: no format has the ending {ending}{nearest(ending, _ENDINGS)}. "
            f"Known are {', '.join(_ENDINGS)}; or name the format with --format."
        )
    return _ENDINGS.get(ending, "text")


def show(result: Result, args: argparse.Namespace, *, inputs: Sequence[Record]) -> None:
    """Render the result to standard output or to the file that `-o` names."""
    chosen = output_format(args)
    terminal = args.output == "-" and sys.stdout.isatty()
    header = {
        "command": args.command,
        "seed": args.seed,
        "inputs": list(inputs),
        "title": args.title,
    }
    rendered = render(
        result,
        chosen,
        digits=args.width,
        width=os.get_terminal_size().columns if terminal else None,
        color=terminal and "NO_COLOR" not in os.environ,
        header=header,
    )
    write(rendered, args)
    if chosen == "html":
        warn(missing_charts(result), quiet=args.quiet)


def write(text: str, args: argparse.Namespace) -> None:
    """Write text to standard output or to the file that `-o` names."""
    write_whole(args.output, text)
    if args.output != "-" and not args.quiet:
        print(f"wrote {args.output}", file=sys.stderr)
    taken = "; ".join(args.languages_taken)
    warn([*([f"{taken} (pass -l to choose)"] if taken else []), *args.notes], quiet=args.quiet)


def take_note(args: argparse.Namespace, note: str, *, languages: bool = False) -> None:
    """Have something said beside the result: an error stays one line. The same is said once.

    Which `languages` were taken is said in one note, however many parts of a command need them.
    """
    notes = args.languages_taken if languages else args.notes
    if note not in notes:
        notes.append(note)


def warn(notes: Sequence[str], *, quiet: bool) -> None:
    """Say on standard error what looks odd in the input."""
    if not quiet:
        for note in notes:
            print(f"assay: note: {note}", file=sys.stderr)
