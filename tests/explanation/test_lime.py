"""LIME against the `lime` package: same samples, same weights."""

import numpy as np
import pytest
from lime.lime_text import LimeTextExplainer

from assay.data import DataError, Segment
from assay.explanation.explainers import LIME, Perturbed
from assay.metrics.base import parse
from tests.corpora import texts

BLEU = parse("bleu:effective_order=yes")


class Recorder:
    """Scores texts for the `lime` package, and keeps what it asked for."""

    def __init__(self, reference):
        self.reference, self.texts, self.scores = reference, [], np.zeros(0)

    def __call__(self, asked):
        segments = [Segment(text, (self.reference,)) for text in asked]
        self.texts, self.scores = list(asked), BLEU.statistics(segments).segments()
        return self.scores[:, None]


def package(text, recorder, explainer, seed):
    """The weights of the `lime` package, as the published program calls it."""
    words = len(text.split())
    lime = LimeTextExplainer(
        kernel_width=explainer.width,
        split_expression=" ",
        bow=False,
        mask_string=explainer.mask,
        random_state=seed,
    )
    found = lime.explain_instance(
        text, recorder, labels=(0,), num_features=words, num_samples=explainer.samples
    )
    return np.array([weight for _, weight in sorted(found.local_exp[0])])


def sampled(recorder, mask):
    """What the package drew, as our explainer would have it."""
    kept = [[word != mask for word in text.split(" ")] for text in recorder.texts]
    return Perturbed(recorder.texts, np.array(kept, float))


@pytest.mark.parametrize(
    "explainer", [LIME(), LIME(samples=30, mask="_"), LIME(width=3.5, samples=250)], ids=str
)
def test_the_samples_of_the_lime_package_give_its_weights(explainer):
    for seed, segment in enumerate(texts(12).segments()):
        text = " ".join(segment.hypothesis.split())
        recorder = Recorder(segment.references[0])
        expected = package(text, recorder, explainer, seed)
        found = explainer.attribute(sampled(recorder, explainer.mask), recorder.scores)
        assert found == pytest.approx(expected, abs=1e-6)
        assert np.abs(expected).max() > 1e-3


@pytest.mark.parametrize("text", ["word", "two words", "a b c d e f"])
def test_short_texts_too(text):
    recorder = Recorder("a word or two words b c d")
    expected = package(text, recorder, LIME(), 5)
    found = LIME().attribute(sampled(recorder, "UNKWORDZ"), recorder.scores)
    assert found == pytest.approx(expected, abs=1e-6)


def test_samples_are_drawn_as_the_package_draws_them():
    """One to all words are hidden, each number equally often, and each word equally often."""
    tokens = tuple(["a", "b", "c", "d", "e", "f", "g", "h"])
    recorder = Recorder("a b")
    package(" ".join(tokens), recorder, LIME(samples=8001), 1)
    theirs = sampled(recorder, "UNKWORDZ").design
    ours = LIME(samples=8001).perturb(tokens, np.random.default_rng(2)).design
    for design in (ours, theirs):
        hidden = len(tokens) - design[1:].sum(axis=1)
        assert design[0].all()
        assert np.bincount(hidden.astype(int), minlength=9)[1:] == pytest.approx(
            [1000] * 8, abs=150
        )
        assert design[1:].mean(axis=0) == pytest.approx([3.5 / 8] * 8, abs=0.03)


def test_hidden_words_are_masked_in_their_places():
    perturbed = LIME(samples=20, mask="[MASK]").perturb(("a", "b", "c"), np.random.default_rng(0))
    assert perturbed.texts[0] == "a b c"
    for text, kept in zip(perturbed.texts, perturbed.design, strict=True):
        assert text.split() == [w if k else "[MASK]" for w, k in zip("abc", kept, strict=True)]


@pytest.mark.parametrize("settings", [{"samples": 1}, {"mask": "two words"}, {"width": 0.0}])
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(DataError, match="lime:"):
        LIME(**settings)
