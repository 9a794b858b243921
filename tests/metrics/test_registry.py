"""What a specification may say, and what only a whole signature."""

import pytest

from assay.data import DataError
from assay.metrics.base import parse, registered, verify
from assay.metrics.bleu import BLEU
from tests.metrics.neural.tiny import needs_models

MINILM = "53aa51172d14"
SIGNATURE = "BERTScore|nrefs:1|against:reference|measure:f1|idf:no|rescale:no"


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("bleu:nrefs=3", "give as many references as there should be"),
        ("chrf:version=2", "install that version of the package"),
        ("bleu:tok=13a,seed=7", "pass seed=7"),
        ("bertscore:encoder=roberta-large", "set model=roberta-large"),
        ("bertscore:encoder=roberta-large@722cf37b1afa", "set model=roberta-large"),
        ("bertscore:depth=3", "set layer=3"),
        ("xmover:depth=3", "set layer=3"),
        ("xbertscore:sha256=53aa51172d14", "set model=NAME"),
        ("xmover:mapping_sha256=53aa51172d14", "set mapping=FILE"),
        ("entityf:tagger=en_core_web_sm-3.8.0", "set pipeline=NAME"),
        ("boost:base=none", "set metric=NAME"),
        ("bleu:seed=5", "pass seed=5"),
        ("bleu:lang=de-en", 'pass languages="de-en"'),
    ],
)
def test_what_belongs_to_a_signature_is_refused_with_the_right_setting(text, instead):
    with pytest.raises(DataError, match="is no setting, but part of a whole signature") as told:
        parse(text)
    assert str(told.value).endswith(f"(NAME|...); {instead}.")


@pytest.mark.parametrize("metric", registered(), ids=str)
def test_no_setting_is_a_claim(metric):
    assert not metric.claims().keys() & metric.by_name().keys()


def test_a_whole_signature_is_read_and_its_claims_are_kept():
    metric = parse("BLEU|nrefs:3|case:lc|eff:no|tok:13a|smooth:exp|version:2.6.0")
    assert metric == BLEU(lowercase=True)
    assert metric.request.claims == (("nrefs", "3"), ("version", "2.6.0"))
    assert "effective_order" in metric.request.settings


def test_a_metric_is_the_same_however_it_was_asked_for():
    asked = parse("chrf++")
    assert (asked.requested, str(asked)) == ("chrf++", "chrf:word_order=2")
    assert {asked} == {parse("chrf:nw=2")}
    assert repr(asked) == repr(parse("chrf:word_order=2"))
    assert BLEU(tokenize="zh").requested == "bleu:tok=zh"


def test_the_number_of_references_is_compared_where_it_is_known():
    metric = parse("BLEU|nrefs:3|eff:no")
    assert verify(metric) == verify(metric, references=3) == []
    assert verify(metric, references=2) == [
        "bleu: the signature says nrefs:3, but here it is nrefs:2; figures need not be the same."
    ]


@needs_models
@pytest.mark.parametrize(
    ("claims", "told"),
    [
        ("encoder:minilm@0.1.0|sha256:" + MINILM + "|depth:6", None),
        ("encoder:elsewhere|sha256:" + MINILM, None),
        ("encoder:minilm@0.1.0", None),
        ("encoder:minilm", None),
        ("encoder:minilm|sha256:000000000000", "sha256:000000000000, but here it is sha256:53aa"),
        ("sha256:53aa", "sha256:53aa, but here it is"),
        ("encoder:roberta-large", "gives other figures; set model=roberta-large."),
        ("depth:5", "says depth:5, but here it is depth:6, which gives other figures; set layer=5"),
    ],
)
def test_the_model_of_a_signature_is_compared_with_the_one_that_is_here(claims, told):
    metric = parse(f"{SIGNATURE}|{claims}|version:2.0")
    if told is None:
        assert verify(metric) == []
        return
    with pytest.raises(DataError, match=told):
        verify(metric)
