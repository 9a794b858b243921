"""The command `assay mbr`: the best of several candidates for each segment."""

from __future__ import annotations

import argparse
from functools import partial

from assay.cli.commands import Command, whole_number
from assay.cli.options import add_metrics, asked_metrics, describe
from assay.cli.output import add_output, check_output, output_format, show, write
from assay.data import DataError
from assay.io.files import read_lines
from assay.io.nbest import read_nbest
from assay.progress import track
from assay.scoring.pairwise import mbr

__all__ = ["MBR"]


def _configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("candidates").add_argument
    add(
        "candidates",
        nargs="+",
        metavar="FILE",
        help="several files: one candidate per line, a file for each system. One file: N-best "
        "lists as Moses writes them (0 ||| candidate ||| ...), as segment<TAB>candidate"
        "[<TAB>weight], with a blank line after each segment, or with -n; - is standard input",
    )
    add(
        "-n",
        "--candidates-per-segment",
        type=whole_number(1),
        metavar="N",
        help="a file that is neither Moses's list nor a table has N lines for each segment, as "
        "those of comet-mbr and mbrs have; blank lines count",
    )
    add(
        "--refs",
        nargs="+",
        metavar="FILE",
        help="compare with these texts, in any of the same layouts (default: the candidates "
        "themselves); weights are taken from here then",
    )
    add("-s", "--source", metavar="FILE", help="the source, for metrics that read it")
    add(
        "-l",
        "--languages",
        metavar="PAIR",
        help="as in de-zh: chooses the tokenizer of Chinese, Japanese and Korean",
    )
    add_metrics(parser, ["chrf"])
    add_output(parser, charts=False)


def _run(args: argparse.Namespace) -> int:
    metrics = asked_metrics(args)
    if len(metrics) != 1:
        raise DataError("mbr needs one metric: -m chrf, say.")
    candidates = read_nbest(args.candidates, per_segment=_per_segment(args))
    length = len(candidates.candidates)
    paths = [*args.candidates, *(args.refs or []), *([args.source] if args.source else [])]
    inputs = [describe(path, length) for path in paths]
    check_output(args, inputs)
    others = candidates
    if args.refs:
        alone = len(args.refs) == 1
        others = read_nbest(args.refs, per_segment=args.candidates_per_segment if alone else None)
    result = mbr(
        candidates.candidates,
        others.candidates if args.refs else None,
        metrics[0],
        weights=others.weights or None,
        sources=read_lines(args.source) if args.source else (),
        languages=args.languages,
        track=partial(track, label="Comparing", quiet=args.quiet),
    )
    if output_format(args).name == "text":
        write("".join(f"{line}\n" for line in result.lines), args)
    else:
        show(result, args, inputs=inputs)
    return 0


def _per_segment(args: argparse.Namespace) -> int | None:
    """-n, which may be meant for the one file of --refs where candidates are in several."""
    several = len(args.candidates) > 1 and args.refs and len(args.refs) == 1
    return None if several else args.candidates_per_segment


MBR = Command(
    name="mbr",
    usage="FILE [FILE ...] [-n N] [-m METRIC] [--refs FILE ...] [options]",
    description=(
        "Minimum Bayes risk decoding: picks for each segment the candidate that is most like all\n"
        "others, that is with the highest expected score against them. Prints the picked lines;\n"
        "other formats tell which candidate it was and its expected utility. Of candidates that\n"
        "are as good the first is picked."
    ),
    examples="""
        assay mbr a.txt b.txt c.txt -o best.txt      a candidate from each system, by chrF
        assay mbr samples.txt -n 4 -m bleu           4 lines for each segment
        assay mbr nbest.tsv --format json            weighted candidates; all figures
        assay mbr nbest.txt --refs samples.txt -n 4  a Moses list against other samples""",
    configure=_configure,
    run=_run,
)
