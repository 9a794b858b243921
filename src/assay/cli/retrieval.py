"""The command `assay meta retrieval`: what is found in translation, and who foretells it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from assay.agreement.coefficients import COEFFICIENTS
from assay.agreement.panel import Candidate, computed, given
from assay.agreement.retrieval.analysis import (
    RetrievalResult,
    correlations,
    evaluate_each,
    mismatches,
    truth_of,
)
from assay.agreement.retrieval.collection import (
    Judgements,
    Queries,
    Translations,
    human_files,
    is_trec,
    read_judgements,
    read_queries,
    read_trec_documents,
    translations,
)
from assay.agreement.retrieval.measures import MEASURES
from assay.agreement.retrieval.report import Setup
from assay.agreement.retrieval.search import BM25
from assay.cli.commands import Command, whole_number
from assay.cli.inputs import Inputs, add_inputs, add_metrics, describe, read_inputs, read_metrics
from assay.cli.output import add_output, check_output, show, warn
from assay.data import DataError, Dataset
from assay.io import read_dataset, read_scores
from assay.io.files import bare_name
from assay.progress import track
from assay.results import Record

__all__ = ["RETRIEVAL"]

_MEASURES = ("map", "ndcg", "aqwv", "rbo")


def _configure(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    group = parser.add_argument_group("retrieval")
    add = group.add_argument
    add(
        "--documents",
        dest="docs",
        metavar="FILE",
        help="the document of each line, as --docs; or the documents themselves as TREC's XML, "
        "to search them without any translation",
    )
    add("--queries", metavar="FILE", help="id<TAB>words a line, or TREC's topics")
    add(
        "--qrels",
        metavar="FILE",
        help="TREC's judgements: query, 0, document, relevance (default: the ranking on the "
        "human translation is the truth)",
    )
    add(
        "--relevant",
        type=whole_number(1),
        default=10,
        metavar="N",
        help="without --qrels: so many of the first documents are relevant (default: 10)",
    )
    add(
        "--number-queries",
        action="store_true",
        help="call the queries 1, 2, 3 ... in their file's order, as Cranfield's judgements do",
    )
    add(
        "--measure",
        nargs="+",
        action="extend",
        metavar="NAME",
        help="map, ndcg, ndcg@10, p@10, r@100, mrr, aqwv:beta=40,returned=10, aqwv:threshold=5, "
        f"rbo:p=0.98 (default: {' '.join(_MEASURES)})",
    )
    add("--k1", type=float, default=1.5, metavar="X", help="of BM25 (default: 1.5)")
    add("--b", type=float, default=0.75, metavar="X", help="of BM25 (default: 0.75)")
    add(
        "--depth",
        type=whole_number(1),
        default=1000,
        metavar="N",
        help="documents to find for each query (default: 1000)",
    )
    _add_agreement(parser)
    add_output(parser)


def _add_agreement(parser: argparse.ArgumentParser) -> None:
    add_metrics(parser, ["bleu", "macrof", "microf", "chrf"])
    add = parser.add_argument_group("agreement").add_argument
    add(
        "--scores",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="scores of the systems or their segments from elsewhere, treated like a metric; "
        "alone unless -m names metrics, too",
    )
    add(
        "--coefficient",
        nargs="+",
        action="extend",
        metavar="NAME",
        help="kendall, pearson, spearman, accuracy ... (default: kendall)",
    )
    add("--alpha", type=float, default=0.05, metavar="P", help="of significance (default: 0.05)")


def _run(args: argparse.Namespace) -> int:
    bm25 = BM25(args.k1, args.b, args.depth)
    coefficients = [COEFFICIENTS.parse(name) for name in args.coefficient or ["kendall"]]
    if not args.queries:
        raise DataError("what is searched for? Give the queries with --queries FILE.")
    queries = read_queries(args.queries, numbered=args.number_queries)
    judgements = read_judgements(args.qrels) if args.qrels else None
    found, files = _read_translations(args)
    check_output(args, files := [*files, *_asked(args, queries, judgements)])
    setup = _setup(args, found, queries, judgements, bm25)
    candidates = _candidates(args, found)
    steps = evaluate_each(
        found.collections, queries, setup.truth, setup.measures, bm25=bm25, humans=found.humans
    )
    total = len(found.collections)
    rows = tuple(track(steps, total=total, label="Searching", quiet=args.quiet))
    related = correlations(rows, setup.measures, candidates, coefficients)
    show(RetrievalResult(setup, rows, tuple(candidates), tuple(related)), args, inputs=files)
    if judgements is not None:
        warn([*mismatches(queries, judgements, setup.truth.documents)], quiet=args.quiet)
    return 0


def _read_translations(args: argparse.Namespace) -> tuple[Translations, list[Record]]:
    """The collection in every translation, or as it is in TREC's XML; and the files."""
    if not args.docs or not is_trec(args.docs):
        inputs = _read_inputs(args)
        return translations(inputs.dataset), inputs.files
    if args.input or args.references or args.data or args.test_set:
        raise DataError(
            f"{args.docs} holds the documents themselves, so there is nothing to translate: leave "
            "REF, -i, --data and -t out, or give a table of each line's document."
        )
    documents = read_trec_documents(args.docs)
    alone = Translations(
        {bare_name(args.docs, (".xml", ".gz", ".xz")): documents}, (), None, Dataset({}, ())
    )
    return alone, [describe(args.docs, len(documents))]


def _read_inputs(args: argparse.Namespace) -> Inputs:
    """The texts; without a REF, files of -i that are called ref are the human translation."""
    if not (args.references or args.data or args.test_set):
        _set_humans_apart(args)
    if args.references or args.data or args.test_set:
        return read_inputs(args)
    if not args.input:
        raise DataError("no translation to search in: name the systems' files with -i.")
    dataset = read_dataset(
        [], args.input, documents=args.docs, names=args.names, languages=args.languages
    )
    paths = [path for path in (*args.input, args.docs, *args.scores) if path]
    return Inputs(dataset, [describe(path, len(dataset)) for path in paths])


def _set_humans_apart(args: argparse.Namespace) -> None:
    humans = human_files(args.input)
    if args.names and len(args.names) == len(args.input):
        pairs = zip(args.names, args.input, strict=True)
        args.names = [name for name, path in pairs if path not in humans]
    args.references = humans
    args.input = [path for path in args.input if path not in humans]


def _asked(
    args: argparse.Namespace, queries: Queries, judgements: Judgements | None
) -> list[Record]:
    files = [describe(args.queries, len(queries))]
    if judgements is not None:
        files.append(describe(args.qrels, sum(map(len, judgements.values()))))
    return files


def _setup(
    args: argparse.Namespace,
    found: Translations,
    queries: Queries,
    judgements: Judgements | None,
    bm25: BM25,
) -> Setup:
    """The measures, and what they measure against."""
    human = bm25.search(found.collections[found.truth], queries) if found.truth else None
    measures = MEASURES.parse_all(args.measure or _MEASURES)
    if human is None and args.measure and any(each.needs_human for each in measures):
        raise DataError("rbo compares with the human translation: name it as REF, before -i.")
    documents = list(next(iter(found.collections.values())))
    truth = truth_of(documents, queries, judgements=judgements, human=human, most=args.relevant)
    return Setup(
        bm25,
        tuple(each for each in measures if human is not None or not each.needs_human),
        truth,
        tuple(_notes(args, found)),
        args.alpha,
    )


def _notes(args: argparse.Namespace, found: Translations) -> Iterator[str]:
    """Where the truth comes from."""
    if args.qrels:
        yield f"relevant: what {Path(args.qrels).name} says."
    else:
        yield f"relevant: the first {args.relevant} documents of the ranking on {found.truth}."
    if not found.truth and found.machines.systems:
        yield "no human translation (REF): no RBO, and no metric that needs a reference."


def _candidates(args: argparse.Namespace, found: Translations) -> list[Candidate]:
    """The metrics' scores of the machines; without a reference only what was asked for."""
    dataset = found.machines
    if not dataset.systems:
        return []
    metrics = read_metrics(args, dataset) if found.truth or args.metric else []
    imported = [
        read_scores(path, list(dataset.systems), length=len(dataset), documents=dataset.documents)
        for path in args.scores
    ]
    return [
        *computed(dataset, metrics, granularity="system"),
        *(given(scores, dataset, granularity="system") for scores in imported),
    ]


RETRIEVAL = Command(
    name="meta retrieval",
    usage="--documents FILE --queries FILE [REF] -i SYS ... [options]",
    description=(
        "Search each system's translation of a collection with BM25, measure how well the\n"
        "relevant documents are found, and say how far MT metrics foretell it (Gowda et al.,\n"
        "2021, Tables 4 and 5). Without judgements, the ranking on the human translation is\n"
        "the truth. Without REF, a file of -i that is called ref*.txt is the human translation."
    ),
    examples="""
        assay meta retrieval --documents docs.tsv --queries queries.tsv -i systems/*.txt ref.txt
        assay meta retrieval ref.txt -i a.txt b.txt c.txt --docs docs.tsv --queries queries.tsv
        assay meta retrieval --docs docs.tsv --queries queries.tsv --qrels qrels.txt -i a.txt
        assay meta retrieval --data mt-metrics-eval/wmt21 -l de-en --queries queries.tsv""",
    configure=_configure,
    run=_run,
)
