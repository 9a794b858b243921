"""The contracts of metrics, explainers and coefficients, for the tests of people who write them.

Each function raises an `AssertionError` with one sentence that says what does not hold:

    from assay.testing import check_metric

    def test_my_metric():
        check_metric(MyMetric())
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from assay.agreement.coefficients import COEFFICIENTS, Coefficient
from assay.data import Array, Segment
from assay.explanation.explainers import EXPLAINERS, Explainer, Perturbed
from assay.metrics.base import METRICS, Metric
from assay.metrics.chrf import CHRF
from assay.registry import Registry, Settings, read_specification

__all__ = ["SEGMENTS", "check_coefficient", "check_explainer", "check_metric"]

SEGMENTS = (
    Segment("the cat sat on the mat", ("the cat sat on the mat",), "die Katze saß auf der Matte"),
    Segment("a dog was on the mat", ("the dog sat on a mat", "a dog sat there"), "ein Hund saß da"),
    Segment("Prices rose by 3.5 %.", ("Prices went up by 3.5%.",), "Die Preise stiegen um 3,5 %."),
    Segment("it is it is it is", ("it is raining, it is cold",), "es regnet, es ist kalt"),
    Segment("nothing matches here", ("alles ist ganz anders",), "everything else differs"),
    Segment("the cat sat on the mat", ("a cat is sitting on the mat",), "eine Katze sitzt da"),
    Segment("one", ("one word",), "ein Wort"),
    Segment("", ("the output is missing",), "die Ausgabe fehlt"),
)
"""The texts that metrics are checked on: repeated, empty, of one word, with two references."""

CLOSE = 1e-9
"""Figures that differ by less than this are the same, whatever the order of sums."""


def check_metric(metric: Metric, segments: Sequence[Segment] | None = None) -> None:
    """Raise an `AssertionError` where a metric does not do what every analysis relies on.

    Leaving a segment out equals scoring the rest; groups, single segments and repeated segments
    score as they would by themselves; neither order nor company matters; the specification and
    the signature read back; scores lie in the metric's bounds. `segments` are texts to try it on,
    `SEGMENTS` unless given.

    >>> from assay.metrics.bleu import BLEU
    >>> check_metric(BLEU())
    """
    texts = list(SEGMENTS if segments is None else segments)
    _check_settings(metric, METRICS)
    _check_signature(metric)
    _check_rows(metric, texts)
    _check_scores(metric, texts)
    _check_weights(metric, texts)
    _check_order(metric, texts)
    _check_bounds(metric, texts)
    _check_placeholders(metric)


def check_explainer(explainer: Explainer, metric: Metric | None = None) -> None:
    """Raise an `AssertionError` where an explainer does not do what explanations rely on.

    The full text is scored first; there is one finite importance per word, for texts of any
    length, also of none; the same seed gives the same texts; importances have the metric's scale,
    unless the explainer says otherwise. `metric` scores the texts, chrF unless given.

    >>> from assay.explanation.explainers import LIME
    >>> check_explainer(LIME(samples=20))
    """
    _check_settings(explainer, EXPLAINERS)
    for text in ("the cat sat on the mat , and the dog slept", "two words", "one", ""):
        _check_explanation(explainer, metric or CHRF(), tuple(text.split()))


def check_coefficient(coefficient: Coefficient) -> None:
    """Raise an `AssertionError` where a coefficient does not do what `correlate` relies on.

    Equal scores agree perfectly (1), and nothing agrees better; the order of members does not
    matter; an unknown member is as good as none; ties and unknown groups do not break it; many
    metrics at once have the values that they have one by one.

    >>> from assay.agreement.coefficients import Kendall
    >>> check_coefficient(Kendall())
    """
    _check_settings(coefficient, COEFFICIENTS)
    rng = np.random.default_rng(1)
    scale = 1.0 if coefficient.needs == "segments" else 100.0
    human = scale * rng.random((4, 9))
    metrics = np.clip(human + scale * rng.normal(0, 0.2, (3, 4, 9)), 0, scale)
    _check_values(coefficient, metrics, human)
    _check_unknown_members(coefficient, metrics[0], human)
    _check_ties(coefficient, metrics[0], human)
    _check_p(coefficient, metrics[0][0], human[0])


def _check_settings(thing: Settings, registry: Registry[Any]) -> None:
    """Settings are values: they compare, hash, pickle and read back."""
    kind, text = type(thing), str(thing)
    again = kind.from_options(read_specification(text, registry.kind).options.items())
    _demand(again == thing, f"{text!r} does not read back: it gives {again!r}.")
    _demand(hash(again) == hash(thing), f"{text}: equal settings need equal hashes.")
    _demand(copy.deepcopy(thing) == thing, f"{text} is not equal to a copy of itself.")
    _demand(kind.name == kind.name.lower(), f"the name {kind.name!r} is not in lower case.")
    if kind.name in registry and registry.get(kind.name) is kind:
        _demand(registry.parse(text) == thing, f"{registry.kind} {text!r} does not read back.")


def _check_signature(metric: Metric) -> None:
    if metric.name not in METRICS or METRICS.get(metric.name) is not type(metric):
        return
    signature = f"{metric.name}|{metric.signature(1)}"
    found = METRICS.parse(signature)
    _demand(found == metric, f"the signature {signature!r} does not read back: it gives {found}.")


def _check_rows(metric: Metric, segments: Sequence[Segment]) -> None:
    rows = metric.rows(segments)
    _demand(
        len(rows.shape) == 2 and rows.shape[0] == len(segments),
        f"{metric}: rows of {len(segments)} segments have the shape {rows.shape}, not (n, k).",
    )
    again = metric.rows(segments)
    same = np.array_equal(_dense(rows), _dense(again), equal_nan=True)
    _demand(same, f"{metric}: the same segments have other rows the second time.")
    scores = metric.aggregate(_dense(rows))
    _demand(
        np.shape(scores) == (len(segments),),
        f"{metric}: the aggregate of (b, k) sums has the shape {np.shape(scores)}, not (b,).",
    )


def _check_scores(metric: Metric, segments: Sequence[Segment]) -> None:
    statistics = metric.statistics(segments)
    alone = [_corpus(metric, [segment]) for segment in segments]
    _same(statistics.segments(), alone, f"{metric}: segment scores are not those of each alone")
    rest = [_corpus(metric, [*segments[:at], *segments[at + 1 :]]) for at in range(len(segments))]
    _same(statistics.without_each(), rest, f"{metric}: leaving one out is not scoring the rest")
    nothing = metric.statistics(segments[:1]).without_each()
    _same(nothing, [0.0], f"{metric}: a corpus without segments has not the score 0")
    gain = statistics.corpus() - statistics.without_each()
    turned = gain if metric.higher_is_better else -gain
    _same(statistics.benefit(), turned, f"{metric}: benefits do not follow higher_is_better")


def _check_weights(metric: Metric, segments: Sequence[Segment]) -> None:
    statistics = metric.statistics(segments)
    weights = np.random.default_rng(2).integers(0, 3, (5, len(segments))).astype(float)
    weights[0], weights[1] = 1, 0
    slow = []
    for row in weights.astype(int):
        slow.append(_corpus(metric, [segments[at] for at in np.repeat(range(len(row)), row)]))
    what = f"{metric}: groups of segments do not score as by themselves"
    _same(statistics.score(weights), slow, what)
    _same(statistics.score(csr_array(weights)), slow, f"{what} (sparse weights)")
    none = statistics.score(np.zeros((0, len(segments))))
    _demand(none.shape == (0,), f"{metric}: no weights give scores of the shape {none.shape}.")


def _check_order(metric: Metric, segments: Sequence[Segment]) -> None:
    order = np.random.default_rng(3).permutation(len(segments))
    straight = metric.statistics(segments)
    turned = metric.statistics([segments[at] for at in order])
    _same([turned.corpus()], [straight.corpus()], f"{metric}: the order of segments matters")
    _same(
        turned.segments(),
        straight.segments()[order],
        f"{metric}: a segment's score depends on where it stands",
    )
    half = len(segments) // 2
    _same(
        [straight[:half].corpus()],
        [_corpus(metric, segments[:half])],
        f"{metric}: a system scores differently together with others",
    )


def _check_bounds(metric: Metric, segments: Sequence[Segment]) -> None:
    statistics = metric.statistics(segments)
    scores = np.array([statistics.corpus(), *statistics.segments()])
    known = scores[~np.isnan(scores)]
    _demand(bool(np.isfinite(known).all()), f"{metric}: some scores are infinite.")
    low, high = metric.bounds
    inside = bool(((known >= low - CLOSE) & (known <= high + CLOSE)).all())
    _demand(
        inside,
        f"{metric}: scores from {known.min():g} to {known.max():g} do not lie in the bounds from "
        f"{low:g} to {high:g}; set `scale` or `bounds`.",
    )
    better = metric.oriented(np.array([1.0, 2.0]))
    _demand(
        bool(better[0] < better[1]) == metric.higher_is_better,
        f"{metric}: oriented scores do not follow higher_is_better.",
    )


def _check_placeholders(metric: Metric) -> None:
    words = [metric.placeholder(number) for number in range(1, 7)]
    _demand(len(set(words)) == len(words), f"{metric}: two placeholders are the same word.")
    _demand(
        all(len(word.split()) == 1 for word in words),
        f"{metric}: placeholders are single words without blanks.",
    )


def _check_explanation(explainer: Explainer, metric: Metric, tokens: tuple[str, ...]) -> None:
    where = f"{explainer}, a text of {len(tokens)} words"
    perturbed = explainer.perturb(tokens, np.random.default_rng(4))
    texts, design = perturbed
    _demand(
        bool(texts) and texts[0] == " ".join(tokens),
        f"{where}: the first text to score is not the full text.",
    )
    _demand(
        np.shape(design) == (len(texts), len(tokens)),
        f"{where}: the design has the shape {np.shape(design)}, not ({len(texts)}, {len(tokens)}).",
    )
    again = explainer.perturb(tokens, np.random.default_rng(4))
    _demand(
        again.texts == texts and np.array_equal(again.design, design),
        f"{where}: the same seed gives other texts to score.",
    )
    reference = "the cat sat on the mat , and the dog slept ."
    segments = [Segment(text, (reference,), reference) for text in texts]
    scores = metric.statistics(segments).segments()
    importances = _check_importances(explainer, perturbed, scores, where)
    if explainer.follows_metric:
        doubled = explainer.attribute(perturbed, 2 * scores)
        what = f"{where}: twice the scores do not make twice the importances (see follows_metric)"
        _same(doubled, 2 * importances, what)


def _check_importances(
    explainer: Explainer, perturbed: Perturbed, scores: Array, where: str
) -> Array:
    importances = explainer.attribute(perturbed, scores)
    words = perturbed.design.shape[1]
    _demand(
        np.shape(importances) == (words,),
        f"{where}: importances have the shape {np.shape(importances)}, not ({words},).",
    )
    _demand(bool(np.isfinite(importances).all()), f"{where}: some importances are no numbers.")
    again = explainer.attribute(perturbed, scores)
    _same(again, importances, f"{where}: the same scores give other importances")
    return importances


def _check_values(coefficient: Coefficient, metrics: Array, human: Array) -> None:
    before = metrics.copy(), human.copy()
    together = coefficient.each(metrics, human)
    _demand(
        np.array_equal(before[0], metrics) and np.array_equal(before[1], human),
        f"{coefficient} changes the scores that it is given.",
    )
    _demand(
        np.shape(together) == metrics.shape[:-1],
        f"{coefficient}: values of (..., groups, members) scores have the shape "
        f"{np.shape(together)}, not (..., groups).",
    )
    alone = [coefficient.each(metric, human) for metric in metrics]
    _same(together, alone, f"{coefficient}: metrics together have other values than alone")
    overall = [float(coefficient.overall(metric, human)) for metric in metrics]
    _same(
        coefficient.overall(metrics, human),
        overall,
        f"{coefficient}: metrics together have another value over all groups than alone",
    )
    largest = float(np.nanmax([*np.ravel(together), *overall]))
    _demand(largest <= 1 + CLOSE, f"{coefficient}: {largest:g} is more than perfect, which is 1.")
    perfect = coefficient.each(human, human)
    _same(perfect, np.ones(len(human)), f"{coefficient}: equal scores do not agree perfectly")
    order = np.random.default_rng(5).permutation(human.shape[-1])
    _same(
        coefficient.each(metrics[..., order], human[..., order]),
        together,
        f"{coefficient}: the order of members matters",
    )
    chance = coefficient.chance(metrics[0], human)
    _demand(-1 <= chance <= 1, f"{coefficient}: the value by chance is {chance:g}.")


def _check_unknown_members(coefficient: Coefficient, metric: Array, human: Array) -> None:
    partly, rated = metric.copy(), human.copy()
    partly[:, 2], rated[:, 5] = np.nan, np.nan
    kept = np.delete(np.arange(human.shape[-1]), [2, 5])
    _same(
        coefficient.each(partly, rated),
        coefficient.each(metric[:, kept], human[:, kept]),
        f"{coefficient}: an unknown score is not as good as none",
    )
    unknown = coefficient.each(np.full_like(metric, np.nan), human)
    _demand(
        bool(np.isnan(unknown).all()), f"{coefficient}: where nothing is known there is a value."
    )


def _check_ties(coefficient: Coefficient, metric: Array, human: Array) -> None:
    coarse = [np.round(scores / scores.max()) * scores.max() for scores in (metric, human)]
    equal = np.full_like(human, float(human.max()) / 2)
    for own, rated in ((coarse[0], coarse[1]), (equal, human), (metric, equal), (equal, equal)):
        values = coefficient.each(own, rated)
        known = values[~np.isnan(values)]
        _demand(
            bool((known <= 1 + CLOSE).all()),
            f"{coefficient}: with ties a value is {known.max(initial=0):g}, more than perfect.",
        )


def _check_p(coefficient: Coefficient, metric: Array, human: Array) -> None:
    p, test = coefficient.p(metric, human)
    _demand(np.isnan(p) or 0 <= p <= 1, f"{coefficient}: p is {p:g}.")
    _demand(np.isnan(p) or bool(test), f"{coefficient}: there is a p, but no word on its test.")


def _corpus(metric: Metric, segments: Sequence[Segment]) -> float:
    return metric.statistics(segments).corpus() if segments else 0.0


def _dense(rows: object) -> Array:
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, float)


def _same(found: object, wanted: object, what: str) -> None:
    ours, theirs = np.asarray(found, float), np.asarray(wanted, float)
    alike = ours.shape == theirs.shape and np.allclose(
        ours, theirs, rtol=0, atol=CLOSE, equal_nan=True
    )
    _demand(alike, f"{what}: {_short(ours)} instead of {_short(theirs)}.")


def _short(values: Array) -> str:
    return np.array2string(values, precision=4, threshold=6, separator=", ")


def _demand(condition: bool | np.bool_, sentence: str) -> None:
    if not condition:
        raise AssertionError(sentence)
