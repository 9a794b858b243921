"""The commands `assay suite sample`, `collect`, `import` and `export`."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

from assay.cli.commands import Command, whole_number
from assay.cli.output import warn
from assay.cli.suite_inputs import add_db, open_db
from assay.data import DataError
from assay.io import read_lines
from assay.settings import SEED
from assay.suites.files import names_of, read_suite, write_suite
from assay.suites.sampling import (
    IDS,
    Per,
    SampledText,
    collect_suite,
    read_key,
    sample_suite,
    write_collected,
    write_sample,
)

__all__ = ["SUITE_COLLECT", "SUITE_EXPORT", "SUITE_IMPORT", "SUITE_SAMPLE"]


def _configure_suite_sample(parser: argparse.ArgumentParser) -> None:
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
        help="distractors per item, 2 to 10 (default: 2)",
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
        help=f"random seed (default: {SEED})",
    )
    add("-q", "--quiet", action="store_true", help="no notes")


def _run_suite_sample(args: argparse.Namespace) -> int:
    _check(args)
    text = sample_suite(
        read_suite(args.items),
        count=args.count,
        per=args.per,
        only=args.only,
        distractors=read_lines(args.distractors) if args.distractors else (),
        ratio=args.ratio or 2,
        seed=args.seed,
    )
    write_sample(text, args.output, args.key)
    if not args.quiet:
        for path in (args.key, *([] if args.output == "-" else [args.output])):
            print(f"wrote {path}", file=sys.stderr)
    warn(_notes_suite_sample(args, text), quiet=args.quiet)
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


def _notes_suite_sample(args: argparse.Namespace, text: SampledText) -> list[str]:
    kinds = {"category": "categories", "phenomenon": "phenomena"}[args.per]
    distracting = len(text.key) - text.items
    others = f" among {distracting} other sentences" if distracting else ""
    notes = [f"{text.items} items of {len(text.groups)} {kinds}{others}: {len(text.key)} lines."]
    few = [group for group in text.groups if args.count and group.drawn < args.count]
    if few:
        told = ", ".join(f"{group.name} ({group.items})" for group in few[:5])
        more = f" and {len(few) - 5} more" if len(few) > 5 else ""
        notes.append(f"fewer than {args.count} items, so all were taken: {told}{more}.")
    return notes


SUITE_SAMPLE = Command(
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
    configure=_configure_suite_sample,
    run=_run_suite_sample,
)


def _configure_suite_collect(parser: argparse.ArgumentParser) -> None:
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


def _run_suite_collect(args: argparse.Namespace) -> int:
    for option, value in (("--key FILE", args.key), ("-i FILE", args.input), ("--to", args.to)):
        if not value:
            raise DataError(f"{option} is missing. See: assay suite collect --help")
    if [args.key, *args.input].count("-") > 1:
        raise DataError("standard input ('-') can be read only once: name files for the others.")
    key = read_key(args.key)
    names = names_of(args.input, args.names)
    outputs = collect_suite(key, dict(zip(names, args.input, strict=True)))
    written = write_collected(args.to, outputs)
    if not args.quiet:
        _tell(args.to, written)
    warn(_notes_suite_collect(outputs), quiet=args.quiet)
    return 0


def _tell(folder: str, written: Sequence[Path]) -> None:
    for path in written:
        print(f"wrote {path}", file=sys.stderr)
    ids = Path(folder) / IDS
    systems = shlex.join(str(path) for path in written if path != ids)
    line = f"assay suite run ITEMS -i {systems} --ids {shlex.quote(str(ids))}"
    print(f"now check them: {line}", file=sys.stderr)


def _notes_suite_collect(outputs: Mapping[str, Mapping[str, str]]) -> list[str]:
    notes = []
    for system, texts in outputs.items():
        if empty := sum(not text.strip() for text in texts.values()):
            untested = f"{empty} of {len(texts)} items have no translation and are not tested."
            notes.append(f"{system}: {untested}")
    return notes


SUITE_COLLECT = Command(
    name="suite collect",
    usage="--key KEY -i FILE [FILE ...] --to FOLDER [options]",
    description=(
        "Take back the translations of a text that assay suite sample wrote. The key finds the\n"
        "items again, in whatever order they come; the other sentences are left out. The folder\n"
        "then holds the ids of the items and a file per system, line by line beside each other,\n"
        "as assay suite run --ids takes them. All files are written, or none."
    ),
    examples="""
        assay suite collect --key key.tsv -i a.txt b.txt --to outputs
        assay suite collect --key key.tsv -i a.txt b.txt --names Atlas Birch --to named
        assay suite collect --key key.tsv -i c.txt --to outputs     another system, later""",
    configure=_configure_suite_collect,
    run=_run_suite_collect,
)


def _configure_suite_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("items", metavar="ITEMS", help="the suite: a .json, .jsonl or .tsv file")
    add_db(parser, required=True)
    parser.add_argument("-q", "--quiet", action="store_true", help="no notes")


def _run_suite_import(args: argparse.Namespace) -> int:
    suite = read_suite(args.items)
    store = open_db(args, create=True)
    try:
        from assay.suites.store.suites import save_suite

        with store.write() as connection:
            saved = save_suite(connection, suite)
    finally:
        store.close()
    if not args.quiet:
        print(
            f"wrote {store.address}: {len(suite)} items ({saved.added} new, "
            f"{saved.changed} changed), {saved.rechecked} outputs judged anew",
            file=sys.stderr,
        )
    return 0


SUITE_IMPORT = Command(
    name="suite import",
    usage="ITEMS --db DB",
    description=(
        "Put a test suite into a database, where runs are kept, warnings resolved in the browser\n"
        "(assay suite serve) and reports made. A file that does not exist yet is made. A large\n"
        "team may use PostgreSQL instead: --db postgresql://ann:secret@localhost/suite\n\n"
        "Importing once more adds what is new and updates what has changed: outputs are judged\n"
        "anew where their rules have changed. What people decided stays, and so do the rules\n"
        "that they added and items that the file no longer has."
    ),
    examples="""
        assay suite import items.json --db suite.db""",
    configure=_configure_suite_import,
    run=_run_suite_import,
)


def _configure_suite_export(parser: argparse.ArgumentParser) -> None:
    add_db(parser, required=True)
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help="where to: a .json, .jsonl or .tsv file, written atomically",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no notes")


def _run_suite_export(args: argparse.Namespace) -> int:
    store = open_db(args)
    try:
        from assay.suites.store.suites import load_suite

        with store.read() as connection:
            suite = load_suite(connection)
        store.address.refuse(args.output)
    finally:
        store.close()
    write_suite(args.output, suite)
    if not args.quiet:
        print(f"wrote {args.output}: {len(suite)} items", file=sys.stderr)
    return 0


SUITE_EXPORT = Command(
    name="suite export",
    usage="--db DB -o FILE",
    description=(
        "Write the suite of a database to a file: all items, with the rules that people added in\n"
        "the browser, who added them and when. Rules that were taken back are left out."
    ),
    examples="""
        assay suite export --db suite.db -o items.json
        assay suite export --db suite.db -o rules.tsv            one line per rule, to look at""",
    configure=_configure_suite_export,
    run=_run_suite_export,
)
