"""The contracts that plug-ins are held to hold for all that is built in, and tell what does not."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from assay.agreement.coefficients import COEFFICIENTS, Coefficient
from assay.data import Segment
from assay.explanation.explainers import EXPLAINERS, Explainer, Perturbed
from assay.extras import install_line, is_installed
from assay.metrics.base import Metric
from assay.metrics.bleu import BLEU
from assay.testing import check_coefficient, check_explainer, check_metric
from tests.contract.varied import METRICS, parameters
from tests.corpora import demo


@pytest.mark.parametrize("metric", parameters(METRICS), ids=str)
def test_every_metric_keeps_the_contract(metric):
    check_metric(metric)


@pytest.mark.parametrize("name", [*EXPLAINERS.names(), "lime:samples=30", "shap:exact=2"])
def test_every_explainer_keeps_the_contract(name):
    if name == "marginal" and not is_installed("symspellpy"):
        pytest.skip(f"needs: {install_line('explain')}")
    check_explainer(EXPLAINERS.parse(name))


@pytest.mark.parametrize("name", [*COEFFICIENTS.names(), "kendall-c", "wmt:gap=25"])
def test_every_coefficient_keeps_the_contract(name):
    check_coefficient(COEFFICIENTS.parse(name))


def test_texts_of_ones_own_can_be_used():
    lines = demo("systems/birch.txt", 6)
    check_metric(BLEU(), [Segment(line, (line,)) for line in lines])


@dataclass(frozen=True)
class Words(Metric):
    """Words per reference word; the tests below spoil it in turn."""

    name: ClassVar[str] = "words"
    scale: ClassVar[str] = "0-1"

    def rows(self, segments):
        return np.array(
            [[len(s.hypothesis.split()), len(s.references[0].split())] for s in segments], float
        ).reshape(-1, 2)

    def aggregate(self, sums):
        return np.divide(sums[:, 0], sums[:, 1], out=np.zeros(len(sums)), where=sums[:, 1] > 0)


class Shouting(Words):
    def __str__(self):
        return "words:loud=yes"


class Percent(Words):
    scale: ClassVar[str] = "0-100"

    def aggregate(self, sums):
        return -super().aggregate(sums)


class Positional(Words):
    def rows(self, segments):
        return super().rows(segments) * np.arange(1, len(segments) + 1)[:, None]


class Forgetful(Words):
    def without_each(self, rows):
        return np.zeros(len(rows)) + 7


class Flat(Words):
    def rows(self, segments):
        return super().rows(segments)[:, 0]


class Same(Words):
    def placeholder(self, number):
        return "x"


class Startless(Words):
    def aggregate(self, sums):
        return super().aggregate(sums) + 1


@pytest.mark.parametrize(
    ("metric", "sentence"),
    [
        (Shouting(), "has no setting 'loud'"),
        (Percent(), "do not lie in the bounds from 0 to 100; set `scale` or `bounds`"),
        (Positional(), "leaving one out is not scoring the rest"),
        (Forgetful(), "leaving one out is not scoring the rest"),
        (Flat(), "rows of 8 segments have the shape (8,), not (n, k)"),
        (Same(), "two placeholders are the same word"),
        (Startless(), "a corpus without segments has not the score 0"),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, Metric) else "",
)
def test_a_broken_metric_is_told_what_is_wrong(metric, sentence):
    check_metric(Words())
    with pytest.raises((AssertionError, ValueError)) as told:
        check_metric(metric)
    assert sentence in str(told.value)


@dataclass(frozen=True)
class Lengths(Explainer):
    """Longer words are more important: it does not look at scores."""

    name: ClassVar[str] = "lengths"

    def perturb(self, tokens, rng):
        return Perturbed([" ".join(tokens)], np.array([[len(token) for token in tokens]], float))

    def attribute(self, perturbed, scores):
        return perturbed.design[0]


class Restless(Lengths):
    follows_metric: ClassVar[bool] = False
    count: ClassVar[list[int]] = []

    def perturb(self, tokens, rng):
        self.count.append(1)
        return (
            super()
            .perturb(tokens, rng)
            ._replace(design=np.full((1, len(tokens)), len(self.count), float))
        )


class Unknown(Lengths):
    def attribute(self, perturbed, scores):
        return perturbed.design[0] * np.nan


class Partial(Lengths):
    def attribute(self, perturbed, scores):
        return perturbed.design[0][:1]


class Hidden(Lengths):
    def perturb(self, tokens, rng):
        return Perturbed(["something else"], np.ones((1, len(tokens))))


@pytest.mark.parametrize(
    ("explainer", "sentence"),
    [
        (Lengths(), "twice the scores do not make twice the importances"),
        (Restless(), "the same seed gives other texts to score"),
        (Unknown(), "some importances are no numbers"),
        (Partial(), "importances have the shape (1,), not (11,)"),
        (Hidden(), "the first text to score is not the full text"),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, Explainer) else "",
)
def test_a_broken_explainer_is_told_what_is_wrong(explainer, sentence):
    with pytest.raises(AssertionError) as told:
        check_explainer(explainer)
    assert sentence in str(told.value)


@dataclass(frozen=True)
class Near(Coefficient):
    """One less the mean distance in percent."""

    name: ClassVar[str] = "near"
    title: ClassVar[str] = "nearness"

    def each(self, metric, human):
        gaps = np.abs(metric - human)
        known = ~np.isnan(gaps)
        total = np.where(known, gaps, 0).sum(axis=-1) / 100
        count = known.sum(axis=-1)
        return np.where(count > 0, 1 - total / np.maximum(count, 1), np.nan)


class Blind(Near):
    def each(self, metric, human):
        return np.nan_to_num(super().each(metric, human))


class Careless(Near):
    def each(self, metric, human):
        return 1 - np.abs(np.nan_to_num(metric) - np.nan_to_num(human)).mean(axis=-1) / 100


class Generous(Near):
    def each(self, metric, human):
        return super().each(metric, human) + 1


class Harsh(Near):
    def each(self, metric, human):
        return super().each(metric, human) - 1


class Ordered(Near):
    def each(self, metric, human):
        return super().each(metric[..., :3], human[..., :3])


@pytest.mark.parametrize(
    ("coefficient", "sentence"),
    [
        (Blind(), "where nothing is known there is a value"),
        (Careless(), "an unknown score is not as good as none"),
        (Generous(), "is more than perfect, which is 1"),
        (Harsh(), "equal scores do not agree perfectly"),
        (Ordered(), "the order of members matters"),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, Coefficient) else "",
)
def test_a_broken_coefficient_is_told_what_is_wrong(coefficient, sentence):
    check_coefficient(Near())
    with pytest.raises(AssertionError) as told:
        check_coefficient(coefficient)
    assert sentence in str(told.value)
