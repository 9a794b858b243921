"""The commands `assay meta correlate`, `sensitivity` and `retrieval`: how far to trust metrics."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from assay.agreement.coefficients import COEFFICIENTS
from assay.cli.commands import Command, list_names, several, whole_number
from assay.cli.options import (
    Inputs,
    add_cluster,
    add_given,
    add_human,
    add_humans,
    add_inputs,
    add_metrics,
    add_store,
    describe,
    read_given,
    read_human,
    read_inputs,
    read_metrics,
)
from assay.cli.output import add_output, check_output, show, warn
from assay.data import DataError, Dataset, Scores
from assay.io import read_dataset
from assay.io.files import bare_name
from assay.io.scores import human_by_name
from assay.metrics.base import Metric
from assay.progress import track
from assay.results import Record

if TYPE_CHECKING:
    from assay.agreement.panel import MetricChoice
    from assay.agreement.retrieval.collection import Collection
    from assay.agreement.tables import ScoreTable

__all__ = ["CORRELATE", "RETRIEVAL", "SENSITIVITY"]

DEFAULT_METRICS = ("bleu", "chrf")
DEFAULT_COEFFICIENTS = ("pearson", "kendall")
RETRIEVAL_METRICS = ("bleu", "macrof", "microf", "chrf")


def _configure_correlate(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    _let_be_several(parser, "--data", "several folders are several language pairs")
    _let_be_several(parser, "--languages", "several for a --data folder that holds several")
    add_metrics(parser, DEFAULT_METRICS)
    _add_scores(parser)
    add_human(parser)
    _add_tables(parser)
    _add_correlations(parser)
    _add_exclusions(parser)
    add_store(parser, runs=False)
    add_output(parser)
    add_cluster(parser)


def _let_be_several(parser: argparse.ArgumentParser, option: str, remark: str) -> None:
    action = parser._option_string_actions[option]
    action.nargs, action.help = "+", f"{action.help}; {remark}"


def _add_scores(parser: argparse.ArgumentParser) -> None:
    group = parser._action_groups[-1]
    add_given(group)
    group.add_argument(
        "--round",
        **several(),
        metavar="DIGITS",
        help="correlate scores as printed, with so many decimals; METRIC=DIGITS for one metric, "
        "as in --round 1 chrf1=0",
    )


def _add_tables(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("tables of scores, instead of texts").add_argument
    add(
        "--table",
        **several(),
        metavar="FILE",
        help="TSV or CSV with a header and a row for each system; -m chooses columns",
    )
    add(
        "--pair-column",
        nargs="+",
        default=[],
        metavar="NAME",
        help="what tells language pairs apart (default: Langs, pair or lp, if there)",
    )
    add("--system-column", metavar="NAME", help="the systems' names (default: System, if there)")


def _add_correlations(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to compare, and how")
    add = group.add_argument
    add(
        "--granularity",
        nargs="+",
        choices=("system", "document", "segment"),
        default=["system"],
        help="compare scores of systems, of documents or of segments (default: system)",
    )
    add(
        "--by",
        choices=("none", "item", "system"),
        default="none",
        help="compare documents or segments within each item, within each system, or all with all "
        "(default: none)",
    )
    coefficient = add(
        "--coefficient",
        nargs="+",
        default=list(DEFAULT_COEFFICIENTS),
        metavar="NAME",
        help="of {names}, with settings as in wmt:gap=25; kendall-c is kendall:variant=c "
        f"(default: {' '.join(DEFAULT_COEFFICIENTS)})",
    )
    list_names(coefficient, COEFFICIENTS)
    add("--compare", action="store_true", help="also test which metrics agree better than others")
    add(
        "--trials",
        type=whole_number(1),
        default=1000,
        metavar="N",
        help="random orders or swaps for the p of documents and segments, --compare and spa "
        "(default: 1000)",
    )
    _add_alpha(group)


def _add_alpha(group: argparse._ActionsContainer) -> None:
    group.add_argument(
        "--alpha",
        type=float,
        default=0.05,
        metavar="P",
        help="a p below this is significant (default: 0.05)",
    )


def _add_exclusions(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("which systems and pairs count")
    add = group.add_argument
    add(
        "--outliers",
        choices=("keep", "drop"),
        default="keep",
        help="drop systems whose human score is far from all others (default: keep)",
    )
    add_humans(group)
    add(
        "--leave-out",
        choices=("none", "paper"),
        default="none",
        help="pairs that do not count for means and medians: none, or as in the MacroF1 paper "
        "those where any metric is not significant (default: none)",
    )


class _Compared(NamedTuple):
    """What is correlated, and the files it was read from."""

    data: Sequence[Dataset | ScoreTable]
    metrics: MetricChoice
    human: Sequence[str] | None
    scores: Sequence[Scores]
    files: list[Record]


def _run_correlate(args: argparse.Namespace) -> int:
    from assay.agreement.correlate import correlate

    decimals, by_metric = _decimals(args.round)
    compared = _read_tables(args) if args.table else _read_datasets(args)
    check_output(args, compared.files)
    result = correlate(
        compared.data,
        compared.metrics,
        human=compared.human,
        granularity=args.granularity,
        by=args.by,
        coefficients=args.coefficient,
        compare=args.compare,
        trials=args.trials,
        alpha=args.alpha,
        scores=compared.scores,
        lower=args.lower,
        decimals=decimals,
        decimals_by_metric=by_metric,
        outliers=args.outliers,
        humans=args.humans,
        store=args.store,
        leave_out=args.leave_out,
        seed=args.seed,
        cluster=args.cluster,
        track=partial(track, label="Correlating", quiet=args.quiet),
    )
    show(result, args, inputs=compared.files)
    return 0


def _decimals(words: Sequence[str]) -> tuple[int | None, dict[str, int]]:
    """Decimals for all metrics and for single ones, from words such as `1` and `chrf1=0`."""
    decimals, by_metric = None, {}
    for word in words:
        name, equals, number = word.rpartition("=")
        try:
            value = int(number)
        except ValueError:
            raise DataError(
                f"--round {word}: give a number of decimals, or METRIC=DECIMALS as in chrf1=0."
            ) from None
        if equals:
            by_metric[name] = value
        else:
            decimals = value
    return decimals, by_metric


def _read_tables(args: argparse.Namespace) -> _Compared:
    from assay.agreement.tables import read_score_table

    if args.references or args.input or args.data or args.test_set or args.human or args.scores:
        raise DataError("--table brings all scores: leave REF, -i, --data, --human, --scores out.")
    if args.granularity != ["system"]:
        raise DataError("--table has scores of systems: leave --granularity out.")
    tables = [
        read_score_table(path, pair_columns=args.pair_column, system_column=args.system_column)
        for path in args.table
    ]
    files = [describe(path, 0) for path in args.table]
    return _Compared(tables, args.metric, args.human_column or None, (), files)


def _read_datasets(args: argparse.Namespace) -> _Compared:
    if args.pair_column or args.system_column:
        raise DataError("--pair-column and --system-column go with --table.")
    datasets: list[Dataset] = []
    files: list[Record] = []
    for call in _calls(args):
        inputs = read_inputs(call)
        human = read_human(call, inputs.dataset, "agree with: name a file")
        datasets.append(replace(inputs.dataset, human=human_by_name(human)))
        sources = dict.fromkeys(scores.source for scores in human)
        files += [*inputs.files, *(describe(path, len(inputs.dataset)) for path in sources)]
    scores = read_given(args, datasets[0])
    return _Compared(datasets, partial(read_metrics, args), None, scores, files)


def _calls(args: argparse.Namespace) -> list[argparse.Namespace]:
    """The options of each test set: a folder or several, each with its language pair."""
    languages = args.languages or [None]
    if not args.data and len(languages) > 1:
        raise DataError("several language pairs (-l) go with --data FOLDER.")
    pairs = [(folder, pair) for folder in args.data or [None] for pair in languages]
    if len(pairs) > 1 and (args.scores or any(Path(word).is_file() for word in args.human)):
        raise DataError(
            "--scores and --human FILE go with one language pair; with several, human scores lie "
            "in the folders, and --human NAME chooses among them."
        )
    return [
        argparse.Namespace(**vars(args) | {"data": folder, "languages": pair})
        for folder, pair in pairs
    ]


CORRELATE = Command(
    name="meta correlate",
    usage="REF ... -i SYS ... --human FILE ... [-m METRIC ...] [options]",
    description=(
        "How far metrics agree with people, and which agree better: correlations and pairwise\n"
        "accuracies of systems, documents or segments, for one language pair or many."
    ),
    examples="""
        assay meta correlate ref.txt -i systems/*.txt --human da.sys.tsv -m bleu chrf ter
        assay meta correlate ref.txt -i systems/*.txt --human da.seg.tsv --coefficient spa
        assay meta correlate --data folder -m chrf --granularity segment --by item --compare
        assay meta correlate --data wmt18/* --coefficient kendall --round 1 -o tau.html
        assay meta correlate --table scores.tsv --coefficient kendall --leave-out paper""",
    configure=_configure_correlate,
    run=_run_correlate,
)


def _configure_sensitivity(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    add_metrics(parser, DEFAULT_METRICS)
    add_given(parser.add_argument_group("metrics from elsewhere"))
    add_human(parser)
    _add_texts(parser)
    _add_stages(parser)
    add_store(parser, runs=False)
    add_output(parser)


def _add_texts(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("texts to compare within a system")
    group.add_argument(
        "--section",
        type=whole_number(1),
        metavar="N",
        help="sections of N segments instead of documents",
    )
    add_humans(group)


def _add_stages(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("what to find out").add_argument
    add(
        "--coefficient",
        default="pearson",
        metavar="NAME",
        help="for both stages: pearson, spearman, kendall or kendall-c (default: pearson)",
    )
    add(
        "--resamples",
        type=whole_number(1),
        default=1000,
        metavar="N",
        help="resamples of texts, for the intervals (default: 1000)",
    )
    add("--best", action="store_true", help="agreement among only the best k systems, for every k")
    add(
        "--sizes",
        nargs="*",
        type=whole_number(1),
        metavar="WORDS",
        help="agreement of a metric that sees only so many words (without numbers: a range)",
    )
    add(
        "--reach",
        type=float,
        default=0.8,
        metavar="R",
        help="with --sizes: an agreement of R counts as agreeing (default: 0.8)",
    )
    add(
        "--slope",
        metavar="SYSTEM",
        help="difficulty slope of every system against this one",
    )


def _run_sensitivity(args: argparse.Namespace) -> int:
    from assay.agreement.sensitivity.analysis import sensitivity

    inputs = read_inputs(args)
    dataset = inputs.dataset
    human = read_human(
        args, dataset, "compare with: name a file with scores of segments or documents"
    )
    files = [*inputs.files, *(describe(own.source, len(dataset)) for own in human)]
    check_output(args, files)
    result = sensitivity(
        dataset,
        partial(read_metrics, args),
        human=human,
        section=args.section,
        coefficient=args.coefficient,
        resamples=args.resamples,
        best=args.best,
        sizes=args.sizes,
        reach=args.reach,
        slope=args.slope,
        scores=read_given(args, dataset),
        lower=args.lower,
        humans=args.humans,
        store=args.store,
        seed=args.seed,
        track=partial(track, label="Resampling", quiet=args.quiet),
    )
    show(result, args, inputs=files)
    return 0


SENSITIVITY = Command(
    name="meta sensitivity",
    usage="REF ... -i SYS ... --docs FILE --human FILE [options]",
    description=(
        "Does a metric tell less where systems are better (Babych and Hartley, 2008)? First, for\n"
        "each system, how far its scores of texts follow people's: its sensitivity. Then, over\n"
        "systems, how far sensitivity follows quality: below 0 the metric tells less about good\n"
        "systems, around 0 it does not. Both with intervals."
    ),
    examples="""
        assay meta sensitivity ref.txt -i systems/*.txt --docs docs.tsv --human da.seg.tsv
        assay meta sensitivity --data folder --section 10 -m bleu chrf macrof entities
        assay meta sensitivity --data folder --section 10 --best --sizes -o sensitivity.html
        assay meta sensitivity --data folder --section 10 --slope atlas""",
    configure=_configure_sensitivity,
    run=_run_sensitivity,
)


def _configure_retrieval(parser: argparse.ArgumentParser) -> None:
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
        help="without --qrels: the first N documents are relevant (default: 10)",
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
        "rbo:p=0.98 (default: map ndcg aqwv rbo)",
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
    _add_predictors(parser)
    add_store(parser, runs=False)
    add_output(parser)


def _add_predictors(parser: argparse.ArgumentParser) -> None:
    add_metrics(parser, RETRIEVAL_METRICS)
    group = parser.add_argument_group("do metrics predict it?")
    add = group.add_argument
    add(
        "--scores",
        **several(),
        metavar="FILE",
        help="scores of the systems or their segments from elsewhere, treated like a metric; "
        "alone unless -m names metrics, too",
    )
    add(
        "--coefficient",
        nargs="+",
        default=["kendall"],
        metavar="NAME",
        help="kendall, pearson, spearman, accuracy ... (default: kendall)",
    )
    _add_alpha(group)


def _run_retrieval(args: argparse.Namespace) -> int:
    from assay.agreement.retrieval.analysis import retrieval
    from assay.agreement.retrieval.collection import read_judgements, read_queries

    if not args.queries:
        raise DataError("what is searched for? Give the queries with --queries FILE.")
    queries = read_queries(args.queries, numbered=args.number_queries)
    judgements = read_judgements(args.qrels) if args.qrels else None
    data, files = _read_collection(args)
    files.append(describe(args.queries, len(queries)))
    if judgements is not None:
        files.append(describe(args.qrels, sum(map(len, judgements.values()))))
    check_output(args, files)
    result = retrieval(
        data,
        partial(_metrics_of_machines, args),
        queries=queries,
        judgements=judgements,
        relevant=args.relevant,
        measures=args.measure,
        coefficients=args.coefficient,
        k1=args.k1,
        b=args.b,
        depth=args.depth,
        scores=read_given(args, data) if isinstance(data, Dataset) else [],
        alpha=args.alpha,
        store=args.store,
        track=partial(track, label="Searching", quiet=args.quiet),
    )
    show(result, args, inputs=files)
    warn(result.warnings, quiet=args.quiet)
    return 0


def _metrics_of_machines(args: argparse.Namespace, machines: Dataset) -> list[Metric]:
    """The metrics; without a reference only those that are named."""
    return read_metrics(args, machines) if args.metric or all(machines.references) else []


def _read_collection(
    args: argparse.Namespace,
) -> tuple[Dataset | dict[str, Collection], list[Record]]:
    """The collection in every translation, or as it is in TREC's XML; and the files."""
    from assay.agreement.retrieval.collection import is_trec, read_trec_documents

    if not args.docs or not is_trec(args.docs):
        inputs = _read_translations(args)
        return inputs.dataset, inputs.files
    if args.input or args.references or args.data or args.test_set:
        raise DataError(
            f"{args.docs} holds the documents themselves, so there is nothing to translate: leave "
            "REF, -i, --data and -t out, or give a table of each line's document."
        )
    documents = read_trec_documents(args.docs)
    name = bare_name(args.docs, (".xml", ".gz", ".xz"))
    return {name: documents}, [describe(args.docs, len(documents))]


def _read_translations(args: argparse.Namespace) -> Inputs:
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
    from assay.agreement.retrieval.collection import human_files

    humans = human_files(args.input)
    if args.names and len(args.names) == len(args.input):
        pairs = zip(args.names, args.input, strict=True)
        args.names = [name for name, path in pairs if path not in humans]
    args.references = humans
    args.input = [path for path in args.input if path not in humans]


RETRIEVAL = Command(
    name="meta retrieval",
    usage="--documents FILE --queries FILE [REF] -i SYS ... [options]",
    description=(
        "Search each system's translation of a collection with BM25, measure how well the\n"
        "relevant documents are found, and say how far MT metrics predict it (Gowda et al.,\n"
        "2021, Tables 4 and 5). Without judgements, the ranking on the human translation is\n"
        "the truth. Without REF, a file of -i that is called ref*.txt is the human translation."
    ),
    examples="""
        assay meta retrieval --documents docs.tsv --queries queries.tsv -i systems/*.txt ref.txt
        assay meta retrieval ref.txt -i a.txt b.txt c.txt --docs docs.tsv --queries queries.tsv
        assay meta retrieval --docs docs.tsv --queries queries.tsv --qrels qrels.txt -i a.txt
        assay meta retrieval --data mt-metrics-eval/wmt21 -l de-en --queries queries.tsv""",
    configure=_configure_retrieval,
    run=_run_retrieval,
)
