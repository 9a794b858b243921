"""The output of commands: its options, and how results and notes are shown."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.cli.commands import in_options, list_names, whole_number
from assay.data import DataError, shortened
from assay.io import write_whole
from assay.io.files import check_place
from assay.registry import SEED
from assay.rendering.formats import FORMATS, OutputFormat, endings, format_of
from assay.rendering.text import text as render_text
from assay.results import Charts, Header, Record, Result

__all__ = [
    "add_output",
    "check_output",
    "output_format",
    "show",
    "take_note",
    "warn",
    "write",
]


def add_output(parser: argparse.ArgumentParser, *, charts: bool = True) -> None:
    """The same for every command; `charts` where it has charts to write."""
    group = parser.add_argument_group("output")
    add = group.add_argument
    chosen = add(
        "-f",
        "--format",
        metavar="FORMAT",
        help="{names} (default: by the ending of -o, or text)",
    )
    list_names(chosen, FORMATS)
    output = add(
        "-o",
        "--output",
        metavar="FILE",
        default="-",
        help="write to FILE (atomically); its ending chooses the format: {names} (text files may "
        "have .gz or .xz after it), or none for text",
    )
    list_names(output, _Endings())
    add(
        "-w",
        "--width",
        type=whole_number(0, 20),
        default=2,
        metavar="DIGITS",
        help="digits after the point in tables (default: 2; neural metrics: two more); "
        "percentages and p have their own, and records (json, csv, tsv ...) always have all",
    )
    if charts:
        add(
            "--charts",
            metavar="FOLDER",
            help="also write each chart to FOLDER as .svg, or to a file in .svg, .pdf or .png "
            "(several charts: NAME-1.svg, NAME-2.svg ...)",
        )
    parser.set_defaults(charts=None)
    add("-q", "--quiet", action="store_true", help="no warnings, no progress")
    add(
        "--seed",
        type=whole_number(0),
        default=SEED,
        metavar="N",
        help=f"random seed: the same seed gives the same output (default: {SEED})",
    )


class _Endings:
    """The endings of files, for whoever reads the help."""

    def __str__(self) -> str:
        return " ".join(endings())


def check_output(args: argparse.Namespace, inputs: Sequence[Record]) -> None:
    """Raise a `DataError` where the output cannot be written, before anything is computed.

    That is where `-o` names one of the inputs, has an ending that says nothing or is in a folder
    that is not there, where a format
    is no text and goes to a terminal, and where charts are asked for and nothing draws them.
    """
    target = Path(args.output)
    for path in (Path(each["path"]) for each in inputs):
        if target.is_file() and path.exists() and target.samefile(path):
            raise DataError(f"-o {args.output} is one of the inputs; name another file.")
    check_place(args.output)
    chosen = output_format(args)
    if chosen.binary and args.output == "-" and sys.stdout.isatty():
        raise DataError(f"{chosen.name} is no text that a terminal shows: name a file with -o.")
    if args.charts:
        from assay.rendering.charts import required_drawing_module

        required_drawing_module()


def output_format(args: argparse.Namespace) -> OutputFormat:
    """The format that is asked for, or that the ending of the file says; a name without is text."""
    if args.format:
        return FORMATS.parse(args.format)
    if args.output == "-" or Path(args.output).is_dir():
        return FORMATS.parse("text")
    try:
        return format_of(args.output)
    except DataError as error:
        message = str(error).removesuffix(".")
        raise DataError(f"-o {message}; or name the format with --format.") from None


def show(result: Result, args: argparse.Namespace, *, inputs: Sequence[Record]) -> None:
    """Render the result to standard output or to the file that `-o` names."""
    chosen = output_format(args)
    headed = result.with_header(Header(args.command, args.seed, inputs, args.title))
    if chosen.name == "text" and args.output == "-" and sys.stdout.isatty():
        width, color = os.get_terminal_size().columns, "NO_COLOR" not in os.environ
        write(render_text(headed, digits=args.width, width=width, color=color), args)
    else:
        write(chosen.render(headed, digits=args.width), args)
    if args.charts:
        _write_charts(result.charts(), args)
    if chosen.name == "html":
        from assay.rendering.charts import missing_charts

        warn(missing_charts(result), quiet=args.quiet)


def write(content: str | bytes, args: argparse.Namespace) -> None:
    """Write to standard output or to the file that `-o` names."""
    write_whole(args.output, content)
    if args.output != "-" and not args.quiet:
        print(f"wrote {args.output}", file=sys.stderr)
    taken = "; ".join(args.languages_taken)
    warn([*([f"{taken} (pass -l to choose)"] if taken else []), *args.notes], quiet=args.quiet)


def _write_charts(charts: Charts, args: argparse.Namespace) -> None:
    from assay.rendering.charts import PICTURES, write_charts

    target = Path(args.charts)
    is_file = target.suffix.lower().removeprefix(".") in PICTURES and not target.is_dir()
    paths = charts.save(target) if is_file else write_charts(charts, target)
    if not args.quiet:
        for path in paths:
            print(f"wrote {path}", file=sys.stderr)
    if not charts:
        warn(["this result has no charts."], quiet=args.quiet)


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
            print(f"assay: note: {shortened(in_options(note))}", file=sys.stderr)
