"""The command `assay suite sample`: a text to translate, with items hidden among other lines."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import numpy as np

from assay.cli.commands import Command, whole_number
from assay.cli.output import warn
from assay.data import DataError
from assay.io import read_lines, write_lines
from assay.scoring import SEED
from assay.suite.building.key import KeyLine, read_key, write_key
from assay.suite.building.sampling import Per, Sample, draw, mix
from assay.suite.files import read_suite

__all__ = ["COMMAND"]


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("items", metavar="ITEMS", help="the suite: .json, .jsonl or .tsv")
    add = parser.add_argument_group("what to draw").add_argument
    add(
        "-n",
        "--count",
        type=whole_number(1),
        metavar="N",
        help="how many items of each phenomenon (see --per); without it, all",
    )
    add(
        "--per",
        choices=get_args(Per),
        default="phenomenon",
        help="draw N of each of these (default: phenomenon)",
    )
    add(
        "--only",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME",
        help="draw only from these categories or phenomena",
    )
    _add_distractors(parser)
    _add_files(parser)


def _add_distractors(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("what to mix in").add_argument
    add(
        "--distractors",
        metavar="FILE",
        help="other sentences of the source language, one a line; the items are shuffled among "
        "them, so that nobody can tell what is tested",
    )
    add(
        "--ratio",
        type=whole_number(2, 10),
        metavar="N",
        help="so many distractors for every item, 2 to 10 (default: 2)",
    )


def _add_files(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("output").add_argument
    add("-o", "--output", metavar="FILE", default="-", help="the text to translate, one line each")
    add(
        "--key",
        metavar="FILE",
        help="a table (.tsv) that says which line is which item; keep it for assay suite collect",
    )
    add(
        "--seed",
        type=whole_number(0),
        default=SEED,
        metavar="N",
        help=f"where randomness starts: the same seed, the same text (default: {SEED})",
    )
    add("-q", "--quiet", action="store_true", help="no notes")


def _run(args: argparse.Namespace) -> int:
    _check(args)
    suite = read_suite(args.items)
    sentences = read_lines(args.distractors) if args.distractors else ()
    rng = np.random.default_rng(args.seed)
    sample = draw(suite, count=args.count, per=args.per, only=args.only, rng=rng)
    key = mix(sample.items, sentences, ratio=args.ratio or 2, rng=rng)
    _write(args, key)
    warn(_notes(args, sample, key), quiet=args.quiet)
    return 0


def _check(args: argparse.Namespace) -> None:
    if not args.key:
        raise DataError("--key FILE is needed: without it nobody can tell the translations apart.")
    if args.ratio and not args.distractors:
        raise DataError("--ratio says how many of --distractors FILE to mix in; name that file.")
    inputs = [args.items, *([args.distractors] if args.distractors else [])]
    taken = {Path(path).resolve() for path in inputs}
    for option, path in (("-o", args.output), ("--key", args.key)):
        if path != "-" and Path(path).resolve() in taken:
            raise DataError(f"{option} {path} is needed for something else; name another file.")
        taken.add(Path(path).resolve())
    if args.key == "-":
        raise DataError("--key - would mix the key into the text; name a file.")


def _write(args: argparse.Namespace, key: Sequence[KeyLine]) -> None:
    """Write key and text, both or none."""
    known = Path(args.key).exists()
    if known and not _same_key(args.key, key):
        raise DataError(
            f"{args.key} is there already, of another text, whose translations need it. Name "
            "another file, or remove it."
        )
    if not known:
        write_key(args.key, key)
    try:
        write_lines([each.source for each in key], args.output)
    except BaseException:
        if not known:
            Path(args.key).unlink(missing_ok=True)
        raise
    if not args.quiet:
        for path in (args.key, *([] if args.output == "-" else [args.output])):
            print(f"wrote {path}", file=sys.stderr)


def _same_key(path: str, key: Sequence[KeyLine]) -> bool:
    with contextlib.suppress(DataError):
        return read_key(path) == tuple(key)
    return False


def _notes(args: argparse.Namespace, sample: Sample, key: Sequence[KeyLine]) -> list[str]:
    items = len(sample.items)
    kinds = {"category": "categories", "phenomenon": "phenomena"}[args.per]
    others = f" among {len(key) - items} other sentences" if len(key) > items else ""
    notes = [f"{items} items of {len(sample.groups)} {kinds}{others}: {len(key)} lines."]
    few = [each for each in sample.groups if args.count and each.drawn < args.count]
    if few:
        told = ", ".join(f"{each.name} ({each.items})" for each in few[:5])
        more = f" and {len(few) - 5} more" if len(few) > 5 else ""
        notes.append(f"fewer than {args.count} items, so all were taken: {told}{more}.")
    return notes


COMMAND = Command(
    name="suite sample",
    usage="ITEMS [-n N] [--distractors FILE] --key KEY -o FILE [options]",
    description=(
        "Write a text for systems to translate: items of a test suite, hidden among ordinary\n"
        "sentences so that no system can be tuned to them. The text has one sentence a line. The\n"
        "key says which line is which item: keep it to yourself, assay suite collect needs it."
    ),
    examples="""
        assay suite sample items.json --key all.tsv -o all.txt              every item, in order
        assay suite sample items.json -n 9 --per category --key nine.tsv -o nine.txt
        assay suite sample items.json -n 1 --distractors src.txt --key mixed.tsv -o mixed.txt""",
    configure=_configure,
    run=_run,
)
