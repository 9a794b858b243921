"""What boosting gains on segments that people scored: the tables of docs/explain.md.

Per metric and explainer, on average over language pairs: the correlation with people (Pearson's r)
of the metric as it is; what is gained at the best weight and power of the grid, on the very
segments that chose them; at what was best on the other pairs; and at the weight and power that
Leiter et al. (2022) recommend.

The data are WMT17 (a table per pair with source, translation, reference and HUMAN_score) and
Eval4NLP21 (a folder per pair with src.txt, mt.txt and da.txt):

    python benchmarks/boosting.py DATA --keep results.jsonl -m chrf bertscore -e lime -n 60
"""

from __future__ import annotations

import argparse
import csv
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from assay.data import Segment
from assay.explanation.boosted import PUBLISHED
from assay.explanation.explainers import EXPLAINERS
from assay.explanation.tune import WEIGHTS, RatedSegments, correlations, gather
from assay.io import read_lines
from assay.metrics.base import Metric, parse
from assay.progress import track
from assay.statistics.correlation import pearson_rows

METRICS = ("bleu:smooth_method=add-k,smooth_value=1", "chrf", "macrof", "bertscore", "embed")
REFERENCE_FREE = ("xbertscore", "embed:against=source", "xmover")
DEFAULT_EXPLAINERS = ("erasure", "lime", "shap", "marginal", "random")
SEED = 12345

Record = dict[str, object]


def main() -> None:
    """Explain, boost and correlate, pair by pair, and print a table per data set."""
    args = _parse()
    done = [json.loads(line) for line in read_lines(args.keep)] if args.keep.exists() else []
    known = {(each["dataset"], each["pair"], each["metric"], each["explainer"]) for each in done}
    for judged, metric, explainer in _work(args):
        if (judged.dataset, judged.pair, str(metric), explainer) not in known:
            done.append(_study(judged, metric, explainer))
            with args.keep.open("a") as file:
                print(json.dumps(done[-1]), file=file)
    for dataset in dict.fromkeys(each["dataset"] for each in done):
        _print([each for each in done if each["dataset"] == dataset])


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("data", type=Path, help="a folder with wmt17-da560/ and eval4nlp21/")
    add("--keep", type=Path, required=True, help="where results are kept, to go on from")
    add("-m", "--metric", nargs="*", default=[*METRICS, *REFERENCE_FREE])
    add("-e", "--explainer", nargs="*", default=list(DEFAULT_EXPLAINERS))
    add("-p", "--pairs", nargs="*", help="language pairs (default: all)")
    add("-s", "--sources", action="store_true", help="WMT17 without its references")
    add("-n", "--segments", type=int, default=10**9, help="of each pair, drawn at random")
    return parser.parse_args()


def _work(args: argparse.Namespace) -> Iterator[tuple[RatedSegments, Metric, str]]:
    wmt17 = _wmt17(args.data / "wmt17-da560", without_references=args.sources)
    sets = [*wmt17, *_eval4nlp21(args.data / "eval4nlp21")]
    sets = [each for each in sets if not args.pairs or each.pair in args.pairs]
    for explainer in args.explainer:
        for metric in map(parse, args.metric):
            for judged in sets:
                with_references = bool(judged.segments[0].references)
                if metric.needs_references == with_references:
                    yield _drawn(judged, args.segments), metric, explainer


def _wmt17(folder: Path, *, without_references: bool) -> Iterator[RatedSegments]:
    name = "WMT17, source" if without_references else "WMT17"
    for path in sorted(folder.glob("*.tsv")):
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
        segments = [Segment(r["translation"], (r["reference"],), r["source"]) for r in rows]
        gold = np.array([float(row["HUMAN_score"]) for row in rows])
        if without_references:
            segments = [each._replace(references=()) for each in segments]
        yield RatedSegments(name, path.stem, segments, gold, np.arange(len(rows)))


def _eval4nlp21(folder: Path) -> Iterator[RatedSegments]:
    for path in sorted(folder.iterdir()):
        sources, outputs, scores = (read_lines(path / f"{n}.txt") for n in ("src", "mt", "da"))
        segments = [Segment(text, (), src) for text, src in zip(outputs, sources, strict=True)]
        gold = np.array(list(map(float, scores)))
        yield RatedSegments("Eval4NLP21", path.name, segments, gold, np.arange(len(gold)))


def _drawn(judged: RatedSegments, count: int) -> RatedSegments:
    chosen = np.sort(np.random.default_rng(SEED).permutation(len(judged.human))[:count])
    segments = [judged.segments[at] for at in chosen]
    gold, items = judged.human[chosen], np.arange(len(chosen))
    return RatedSegments(judged.dataset, judged.pair, segments, gold, items)


def _study(judged: RatedSegments, metric: Metric, explainer: str) -> Record:
    def shown(steps, /, *, total):
        return track(steps, total=total, label=f"{judged.pair} {metric} {explainer}")

    evidence = gather(judged, metric, EXPLAINERS.parse(explainer), seed=SEED, track=shown)
    found, gold = evidence.explained, evidence.human
    at = PUBLISHED.get(explainer.partition(":")[0])
    return {
        "dataset": judged.dataset,
        "pair": judged.pair,
        "metric": str(metric),
        "explainer": explainer,
        "n": len(gold),
        "base": float(pearson_rows(found.base, gold)),
        "grid": correlations(found, gold).round(6).tolist(),
        "paper": float(pearson_rows(found.boosted(at), gold)) if at else None,
        "collapsed": found.collapsed(-1.0),
    }


def _print(records: list[Record]) -> None:
    grouped = defaultdict(list)
    for each in records:
        grouped[each["metric"], each["explainer"]].append(each)
    print(f"\n{records[0]['dataset']}\n")
    print(
        "| metric | explainer | segments | base | best | other pairs' best | paper's | collapsed |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for (metric, explainer), own in grouped.items():
        count = sum(each["n"] for each in own)
        base = np.array([each["base"] for each in own])
        grids = np.array([each["grid"] for each in own])
        # The row of weight 1 is the metric as it is.
        gains = [grids.max(axis=(1, 2)), _elsewhere(grids), [each["paper"] for each in own]]
        collapsed = 100 * np.mean([each["collapsed"] for each in own])
        cells = [metric, explainer, f"{count:,}", f"{base.mean():.3f}"]
        cells += [_gain(each, base) for each in gains]
        print(f"| {' | '.join(cells)} | {collapsed:.0f} % |")


def _elsewhere(grids: np.ndarray) -> list[float]:
    """By pair, the correlation at the point that gains most on average over the other pairs."""
    gains = grids - grids[:, [WEIGHTS.index(1.0)], :1]
    others = [np.delete(gains, at, axis=0).mean(axis=0).argmax() for at in range(len(grids))]
    return [float(grid.flat[at]) for grid, at in zip(grids, others, strict=True)]


def _gain(after: list[float | None], base: np.ndarray) -> str:
    if None in after:
        return "–"
    gains = np.array(after) - base
    return f"{gains.mean():+.3f} ({(gains > 1e-6).sum()}/{len(gains)})"


if __name__ == "__main__":
    main()
