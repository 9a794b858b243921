"""Masks stand on tokens: the right ones, and nothing else changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data import Segment
from assay.decomposition.mask import (
    FeatureText,
    always,
    line_of,
    mask,
    mask_best,
    mask_extremes,
    mask_side,
    masks_of,
    plain_text,
    side_of,
)
from assay.features.annotation import Annotation, Feature, Finder, TokenSpan
from assay.metrics.base import parse
from assay.text import tokenize
from tests.contract.varied import STRINGS

ORACLE, ANTI, PLAIN = always("oracle"), always("anti"), always("plain")
REFERENCE = FeatureText(
    tuple(["John", "likes", "apples", "and", "oranges", "."]), ((2, 3), (4, 5)), (2, 4)
)
OUTPUT = FeatureText(("John", "loves", "bananas", "and", "apples", "."), ((2, 3), (4, 5)), (2, 4))
SPANS = FeatureText(
    tuple(["the", "New", "York", "Times", "was", "in", "New", "York"]),
    ((1, 4), (6, 8)),
    (1, 2, 3, 6, 7),
)

FAMILIES = ("bleu", "ter", "wer", "chrf", "rouge", "bleu:tok=char", "cer", "microf:unit=char")
TYPES = ("macrof", "microf")


def of(metric):
    return masks_of(parse(metric))


def names(text, masks):
    """The text with the placeholders as people write them: M, R, S."""
    for placeholder, name in zip(masks[1:], "MRS", strict=True):
        text = text.replace(placeholder, name)
    return text


def test_word_metrics_get_one_word_per_token_as_in_the_paper():
    masks = of("bleu")
    best, worst = (mask(OUTPUT, [REFERENCE], masks, treat) for treat in (ORACLE, ANTI))
    assert names(best.hypothesis, masks) == "John loves M and M ."
    assert names(best.references[0], masks) == "John likes M and M ."
    assert names(worst.hypothesis, masks) == "John loves S and S ."
    assert names(worst.references[0], masks) == "John likes R and R ."


def test_metrics_of_letters_get_one_letter_per_letter():
    masks = of("chrf")
    best, worst = (mask(OUTPUT, [REFERENCE], masks, treat) for treat in (ORACLE, ANTI))
    assert names(best.hypothesis, masks) == "John loves MMMMMMM and MMMMMM ."
    assert names(best.references[0], masks) == "John likes MMMMMM and MMMMMMM ."
    assert names(worst.hypothesis, masks) == "John loves SSSSSSS and SSSSSS ."
    assert names(worst.references[0], masks) == "John likes RRRRRR and RRRRRRR ."


def test_for_metrics_of_types_the_wrong_words_become_the_missing_ones():
    best = mask(OUTPUT, [REFERENCE], of("macrof"), ORACLE)
    assert best.hypothesis == "John loves oranges and apples ."
    assert best.references == ("John likes apples and oranges .",)


def test_for_metrics_of_types_what_is_said_too_often_stays():
    output = FeatureText(("a", "b", "c"), ((0, 1), (1, 2), (2, 3)), (0, 1, 2))
    wanted = FeatureText(("x", "c"), ((0, 1), (1, 2)), (0, 1))
    assert mask(output, [wanted], of("macrof"), ORACLE).hypothesis == "x b c"


def test_for_metrics_of_types_the_same_word_is_right_only_as_often_as_wanted():
    output = FeatureText(("a", "a"), ((0, 1), (1, 2)), (0, 1))
    wanted = FeatureText(("a", "b"), ((0, 1), (1, 2)), (0, 1))
    assert mask(output, [wanted], of("macrof"), ORACLE).hypothesis == "a b"


def test_for_metrics_of_types_the_words_wanted_are_those_of_the_first_reference_that_has_some():
    without = FeatureText(("none", "here"))
    best = mask(OUTPUT, [without, REFERENCE], of("macrof"), ORACLE)
    assert best.hypothesis == "John loves oranges and apples ."
    assert best.references == ("none here", "John likes apples and oranges .")


@pytest.mark.parametrize("word", ["apples", ".", "U.S.", "1,000", "'s", "&quot;", "3/4", "日本"])
def test_for_metrics_of_types_a_spoilt_word_is_one_type_that_no_text_has(word):
    side = FeatureText((word, "x"), ((0, 1),), (0,))
    worst = mask(side, [side], of("macrof"), ANTI)
    spoilt, rest = tokenize([worst.hypothesis])[0]
    assert rest == "x"
    assert len(spoilt) == len(word)
    assert not set(spoilt) & set(word)
    assert worst.references == (f"{word} x",)


def test_for_metrics_of_types_two_words_are_spoilt_into_two_types():
    worst = mask(OUTPUT, [REFERENCE], of("macrof"), ANTI).hypothesis.split()
    assert len(set(worst)) == 6


def test_spans_of_several_words_get_one_mask_per_token():
    masks = of("bleu")
    assert names(mask_side(SPANS, masks, "R", ORACLE), masks) == "the M M M was in M M"
    assert mask_side(SPANS, masks, "R", ANTI) == "the R R R was in R R"


def test_spans_of_several_words_get_one_mask_per_span_where_asked():
    masks = of("bleu")
    assert names(mask_side(SPANS, masks, "R", ORACLE, "span"), masks) == "the M was in M"
    assert mask_side(SPANS, masks, "R", ANTI, "span") == "the R was in R"


def test_a_span_left_plain_keeps_all_its_words():
    masks = of("bleu")
    assert mask_side(SPANS, masks, "R", PLAIN, "span") == " ".join(SPANS.tokens)
    only_times = mask_side(
        SPANS, masks, "R", lambda word: "plain" if word == "New" else "anti", "span"
    )
    assert only_times == " ".join(SPANS.tokens)


def test_each_word_is_treated_by_itself():
    masks = of("bleu")

    def treat(word):
        return {"apples": "oracle", "oranges": "anti"}.get(word, "plain")

    assert names(mask_side(REFERENCE, masks, masks.reference, treat), masks) == (
        "John likes M and R ."
    )


def test_tokens_in_several_spans_are_masked_once():
    annotation = Annotation(("a", "b", "c", "d"))
    side = side_of(annotation, [TokenSpan(1, 3, "X"), TokenSpan(2, 4, "X"), TokenSpan(1, 3, "X")])
    assert side.positions == (1, 2, 3)
    assert len(side.spans) == 3
    masks = of("bleu")
    assert names(mask_side(side, masks, "R", ORACLE), masks) == "a M M M"
    assert names(mask_side(side, masks, "R", ORACLE, "span"), masks) == "a M"


def test_the_article_of_a_name_is_left_out():
    tokens = ("The", "Hague", "and", "the", "United", "Nations", "and", "the")
    spans = (TokenSpan(0, 2, "GPE"), TokenSpan(3, 6, "ORG"), TokenSpan(7, 8, "ORG"))
    annotation = Annotation(tokens, {"ner": spans, "tags": spans})
    assert side_of(annotation, Feature("ner", "GPE").spans(annotation)).positions == (1,)
    assert side_of(annotation, Feature("ner", "ORG").spans(annotation)).positions == (4, 5, 7)
    assert side_of(annotation, Feature("tags", "ORG").spans(annotation)).positions == (3, 4, 5, 7)


def test_a_feature_of_words_is_found_by_value_and_by_name():
    spans = (
        TokenSpan(0, 1, "Case=Nom"),
        TokenSpan(0, 1, "Gender=Fem"),
        TokenSpan(2, 3, "Gender=Masc"),
    )
    annotation = Annotation(("she", "saw", "him"), {"morph": spans})
    gender, feminine = Feature("morph", "Gender"), Feature("morph", "Gender=Fem")
    found = Finder([gender, feminine])(annotation)
    assert found == {gender: list(spans[1:]), feminine: [spans[1]]}


def test_the_spans_of_a_feature_without_a_value_are_in_order_and_each_there_once():
    spans = (
        TokenSpan(0, 1, "Gender=Fem"),
        TokenSpan(1, 2, "Gender=Masc"),
        TokenSpan(2, 3, "Gender=Fem"),
        TokenSpan(2, 3, "Foreign"),
    )
    annotation = Annotation(("she", "he", "elle"), {"morph": spans})
    assert Feature("morph", "Gender").spans(annotation) == list(spans[:3])
    assert Feature("morph", "Foreign").spans(annotation) == [spans[3]]


def test_an_empty_text_stays_empty():
    masks = of("bleu")
    assert mask(FeatureText(()), [FeatureText(())], masks, ORACLE) == ("", ("",))
    assert mask(FeatureText(()), [FeatureText(())], of("macrof"), ANTI) == ("", ("",))
    assert side_of(Annotation(()), []) == FeatureText(())


@pytest.mark.parametrize("metric", STRINGS, ids=str)
def test_placeholders_are_none_of_the_words_of_the_texts(metric):
    usual = masks_of(metric)
    hostile = Segment(f"a {usual.shared} b", (f"{usual.reference}", f"x{usual.hypothesis}y"))
    masks = masks_of(metric, [hostile])
    assert not {*usual[1:]} & {*masks[1:]}
    assert not any(word in text for word in masks[1:] for text in (hostile[0], *hostile[1]))


@pytest.mark.parametrize("metric", ["bleu", "bleu:tok=intl", "bleu:lowercase=yes", "ter", "chrf"])
def test_placeholders_pass_tokenizers_as_letters_do(metric):
    masks = of(metric)
    for tokenizer in ("13a", "intl", "none", "zh"):
        line = " ".join(masks[1:])
        assert tokenize([line.lower()], tokenizer) == [list(masks[1:])]


@pytest.mark.parametrize("stem", ["yes", "no"])
def test_placeholders_of_rouge_are_words_that_never_match_each_other(stem):
    metric = parse(f"rouge:stem={stem}")
    masks = masks_of(metric)
    assert metric.sentence_score(masks.shared, [masks.shared]).score == 100
    assert metric.sentence_score(masks.hypothesis, [masks.reference]).score == 0
    assert metric.sentence_score(masks.hypothesis, [masks.shared]).score == 0


WORD = st.text("abcé.,'1日", min_size=1, max_size=4)


@st.composite
def annotations(draw):
    """A text with spans of one label, some of them overlapping."""
    tokens = tuple(draw(st.lists(WORD, max_size=8)))
    starts = draw(st.lists(st.integers(0, max(0, len(tokens) - 1)), max_size=4)) if tokens else []
    spans = [
        TokenSpan(start, draw(st.integers(start + 1, len(tokens))), "X") for start in sorted(starts)
    ]
    return Annotation(tokens, {"tags": tuple(spans)})


@given(annotations(), st.sampled_from(FAMILIES), st.sampled_from(["oracle", "anti"]))
def test_masking_changes_all_tokens_of_the_feature_and_no_other(annotation, metric, treatment):
    masks = of(metric)
    side = side_of(annotation, Feature("tags", "X").spans(annotation))
    found = mask_side(side, masks, masks.hypothesis, always(treatment)).split(" ")
    placeholder = masks.shared if treatment == "oracle" else masks.hypothesis
    expected = [
        placeholder * (len(token) if masks.policy == "length" else 1)
        if at in side.positions
        else token
        for at, token in enumerate(annotation.tokens)
    ]
    assert found == (expected or [""])


@given(annotations(), annotations(), st.sampled_from(TYPES), st.sampled_from(["oracle", "anti"]))
def test_metrics_of_types_keep_the_number_of_tokens_and_the_words_without_the_feature(
    output, reference, metric, treatment
):
    sides = [side_of(each, Feature("tags", "X").spans(each)) for each in (output, reference)]
    found = mask(sides[0], [sides[1]], of(metric), always(treatment))
    words = found.hypothesis.split(" ") if output.tokens else []
    assert len(words) == len(output.tokens)
    rest = [at for at in range(len(words)) if at not in sides[0].positions]
    assert [words[at] for at in rest] == [output.tokens[at] for at in rest]
    assert found.references == (plain_text(reference),)


@given(annotations(), st.sampled_from(FAMILIES))
def test_leaving_all_words_plain_changes_nothing(annotation, metric):
    side = side_of(annotation, Feature("tags", "X").spans(annotation))
    assert mask_side(side, of(metric), "R", PLAIN) == plain_text(annotation)


@given(st.lists(annotations(), max_size=3), st.sampled_from(FAMILIES))
def test_masking_many_texts_at_once_equals_masking_each(texts, metric):
    masks, feature = of(metric), Feature("tags", "X")
    spans = [feature.spans(text) for text in texts]
    lines = [line_of(text) for text in texts]
    sides = [side_of(each, own) for each, own in zip(texts, spans, strict=True)]
    best, worst = mask_extremes(lines, spans, masks)
    assert best == [mask_side(side, masks, masks.hypothesis, ORACLE) for side in sides]
    assert worst == [mask_side(side, masks, masks.hypothesis, ANTI) for side in sides]
    pairs = zip(lines, spans, strict=True)
    assert [mask_best(*each, masks) for each in pairs] == best


@pytest.mark.parametrize("in_hypothesis", [True, False])
def test_placeholders_are_words_that_no_text_has(in_hypothesis):
    usual = masks_of(parse("bleu"))
    texts = [f"a {usual.shared} word", "another text"]
    hypothesis, reference = texts if in_hypothesis else reversed(texts)
    found = masks_of(parse("bleu"), [Segment(hypothesis, (reference,))])
    assert usual.shared not in (found.shared, found.reference, found.hypothesis)
    assert found.shared not in " ".join(texts)
