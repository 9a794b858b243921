"""The command `assay suite collect`: the translations of a sample, ready to be checked."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.cli.commands import Command
from assay.cli.output import warn
from assay.data import DataError
from assay.suite.building.collecting import IDS, read_translations, write_collected
from assay.suite.building.key import read_key
from assay.suite.files.outputs import names_of

__all__ = ["COMMAND"]


def _configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("translations").add_argument
    add("--key", metavar="FILE", help="the key that assay suite sample wrote with the text")
    add(
        "-i",
        "--input",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="a file per system: plain, with a translation for every line of the text in order; "
        "or .tsv in any order, with a column translation and a column line or source that says "
        "what each row translates",
    )
    add(
        "--names",
        nargs="+",
        action="extend",
        metavar="NAME",
        help="names of the systems, in the order of -i (default: the names of the files)",
    )
    add = parser.add_argument_group("output").add_argument
    add(
        "--to",
        metavar="FOLDER",
        help=f"where {IDS} and a file per system go; nothing there is overwritten",
    )
    add("-q", "--quiet", action="store_true", help="no notes")


def _run(args: argparse.Namespace) -> int:
    for option, value in (("--key FILE", args.key), ("-i FILE", args.input), ("--to", args.to)):
        if not value:
            raise DataError(f"{option} is missing. See: assay suite collect --help")
    if [args.key, *args.input].count("-") > 1:
        raise DataError("standard input ('-') can be read only once: name files for the others.")
    key = read_key(args.key)
    names = names_of(args.input, args.names)
    paths = zip(names, args.input, strict=True)
    systems = {name: read_translations(path, key) for name, path in paths}
    written = write_collected(args.to, key, systems)
    if not args.quiet:
        _tell(args.to, written)
    warn(_notes(systems), quiet=args.quiet)
    return 0


def _tell(folder: str, written: Sequence[Path]) -> None:
    for path in written:
        print(f"wrote {path}", file=sys.stderr)
    ids = Path(folder) / IDS
    systems = shlex.join(str(path) for path in written if path != ids)
    line = f"assay suite run ITEMS -i {systems} --ids {shlex.quote(str(ids))}"
    print(f"now check them: {line}", file=sys.stderr)


def _notes(systems: Mapping[str, Sequence[str]]) -> list[str]:
    empty = {name: sum(not text.strip() for text in texts) for name, texts in systems.items()}
    return [
        f"{name}: {count} of {len(systems[name])} items have no translation and are not tested."
        for name, count in empty.items()
        if count
    ]


COMMAND = Command(
    name="suite collect",
    usage="--key KEY -i FILE [FILE ...] --to FOLDER [options]",
    description=(
        "Take the translations of a text back that assay suite sample wrote. The key finds the\n"
        "items again, whatever stands around them and in whatever order they come; the rest is\n"
        "left out. The folder then holds the ids of the items and a file per system, line by line\n"
        "beside each other, as assay suite run --ids takes them. All files are written, or none."
    ),
    examples="""
        assay suite collect --key key.tsv -i a.txt b.txt --to outputs
        assay suite collect --key key.tsv -i a.txt b.txt --names Atlas Birch --to named
        assay suite collect --key key.tsv -i c.txt --to outputs     another system, later""",
    configure=_configure,
    run=_run,
)
