"""Options that say how to show a result, and showing it."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from assay.io import write_whole
from assay.report import Format, render
from assay.results import Record, Result
from assay.scoring import SEED

__all__ = ["add_output", "command_line", "show", "warn"]

_SUFFIXES: dict[str, Format] = {
    ".json": "json",
    ".tsv": "tsv",
    ".tex": "latex",
    ".html": "html",
    ".htm": "html",
}


def add_output(parser: argparse.ArgumentParser) -> None:
    """The same for every command."""
    group = parser.add_argument_group("output")
    add = group.add_argument
    add(
        "-f",
        "--format",
        choices=get_args(Format),
        help="how to show it (default: by the name of -o, or text)",
    )
    add("-o", "--output", metavar="FILE", help="write to a file, whole or not at all")
    add(
        "-w",
        "--width",
        type=int,
        default=2,
        metavar="DIGITS",
        help="decimals in tables (default: 2); json and tsv always have all",
    )
    add("-q", "--quiet", action="store_true", help="no warnings, no progress")
    add(
        "--seed",
        type=int,
        default=SEED,
        metavar="N",
        help=f"of all that is random (default: {SEED}, as in sacreBLEU)",
    )


def show(
    result: Result, args: argparse.Namespace, *, inputs: Sequence[Record], command: str
) -> None:
    """Render the result to standard output or to the file that `-o` names."""
    chosen: Format = args.format or _SUFFIXES.get(Path(args.output or "").suffix.lower(), "text")
    terminal = not args.output and sys.stdout.isatty()
    header = {
        "command": f"assay {command}",
        "seed": args.seed,
        "inputs": list(inputs),
        "title": f"assay {command.split()[0]}",
    }
    rendered = render(
        result,
        chosen,
        digits=args.width,
        width=os.get_terminal_size().columns if terminal else None,
        color=terminal and "NO_COLOR" not in os.environ,
        header=header,
    )
    write_whole(args.output or "-", rendered)
    if args.output and not args.quiet:
        print(f"wrote {args.output}", file=sys.stderr)


def warn(notes: Sequence[str], *, quiet: bool) -> None:
    """Say on standard error what looks odd in the input."""
    if not quiet:
        for note in notes:
            print(f"assay: note: {note}", file=sys.stderr)


def command_line(name: str) -> str:
    """What the user typed, for the record."""
    return shlex.join([name, *sys.argv[2:]])
