"""The command `assay cache`: the cache of annotations."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.cli.commands import Command, whole_number
from assay.cli.output import add_output, check_output, show
from assay.data import DataError
from assay.features.cache import AnnotationCache, CacheEntry, default_path
from assay.results import Column, Record, Result, Table

__all__ = ["CACHE"]

_MEGABYTE = 1_000_000
_COLUMNS = ("pipeline", Column("annotations"), Column("MB"))


@dataclass(frozen=True)
class _Listing(Result):
    """Annotations by pipeline, under a title that says what became of them."""

    title: str
    kept: Sequence[CacheEntry]
    path: Path

    def tables(self) -> list[Table]:
        both = sum(each.annotations for each in self.kept), sum(each.bytes for each in self.kept)
        kept = [*self.kept, CacheEntry("all", *both)] if len(self.kept) > 1 else self.kept
        rows = [(each.identity, each.annotations, each.bytes / _MEGABYTE) for each in kept]
        return [Table(self.title, _COLUMNS, rows, f"in {self.path}")]

    def records(self) -> list[Record]:
        return [
            {
                "pipeline": each.identity,
                "annotations": each.annotations,
                "bytes": each.bytes,
                "path": str(self.path),
            }
            for each in self.kept
        ]


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        choices=["clear"],
        metavar="clear",
        help="remove annotations and list what was removed; without it nothing is removed",
    )
    parser.add_argument(
        "--older-than",
        type=whole_number(0),
        metavar="DAYS",
        help="with clear: only what was made more than so many days ago",
    )
    add_output(parser, charts=False)


def _run(args: argparse.Namespace) -> int:
    if args.older_than is not None and args.action != "clear":
        raise DataError("--older-than goes with clear: assay cache clear --older-than 30")
    check_output(args, [])
    cache = AnnotationCache(default_path())
    if args.action == "clear":
        listing = _Listing("Removed", cache.clear(older_than=args.older_than), cache.path)
    else:
        listing = _Listing("Annotations kept", cache.contents(), cache.path)
    show(listing, args, inputs=[])
    return 0


CACHE = Command(
    name="cache",
    usage="[clear [--older-than DAYS]] [options]",
    description=(
        "What a pipeline made of a text is kept, and never made twice. This shows how much there\n"
        "is and where: in the folder that the variable ASSAY_CACHE names, or else in your folder\n"
        "for caches. It may be cleared at any time; then texts are tagged anew.\n"
        "\n"
        "Vectors of neural metrics take more room and are kept only where ASSAY_CACHE names a\n"
        "folder: ASSAY_CACHE=kept assay score ... They lie in its folder vectors/, which you may\n"
        "remove."
    ),
    examples="""
        assay cache                                what there is, and where
        assay cache --format json                  the same for a program
        ASSAY_CACHE=kept assay cache clear         remove what is in a folder of your own""",
    configure=_configure,
    run=_run,
)
