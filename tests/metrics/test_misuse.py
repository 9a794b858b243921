"""What goes wrong at the door is explained: what, where, and what to do."""

import re

import pytest

from assay import BLEU, CHRF, ROUGE, WER, DataError, MacroF, MicroF, parse
from assay.data import Segment
from assay.metrics.base import METRICS, registered
from tests.contract.varied import parameters
from tests.corpora import demo

LINES = demo("ref.A.txt", 3)
DOOR = pytest.mark.parametrize(
    "metric", parameters(m for m in registered() if m.needs_references), ids=str
)


@DOOR
def test_transposed_references_are_an_error_that_says_how_to_turn_them(metric):
    with pytest.raises(DataError, match=re.escape("look transposed") + ".*" + re.escape("zip(*")):
        metric.corpus_score(LINES, [[line, line] for line in LINES])


@DOOR
def test_references_that_can_be_read_both_ways_are_an_error_that_names_the_way_out(metric):
    square = [LINES, LINES, LINES]
    with pytest.raises(DataError, match=r"can be read both ways\..*Name the sets"):
        metric.corpus_score(LINES, square)
    named = metric.corpus_score(LINES, dict(zip("ABC", square, strict=True)))
    perfect = metric.statistics([Segment(line, (line, line, line)) for line in LINES]).corpus()
    assert named.score == pytest.approx(perfect)


@DOOR
def test_a_flat_list_of_references_is_an_error_that_shows_the_brackets(metric):
    with pytest.raises(DataError, match=re.escape("pass [reference_lines]")):
        metric.corpus_score(LINES, LINES)


@DOOR
def test_missing_and_uneven_references_are_errors(metric):
    with pytest.raises(DataError, match="no references given"):
        metric.corpus_score(LINES, [])
    with pytest.raises(DataError, match="has 2 lines, but the system has 3"):
        metric.corpus_score(LINES, [LINES[:2]])
    with pytest.raises(DataError, match="segment 2 has no reference"):
        metric.corpus_score(LINES, [["a", None, "c"]])
    with pytest.raises(DataError, match="segment 1 has none"):
        metric.statistics([Segment("a", ())])


@DOOR
def test_strings_and_lists_of_lines_are_not_mistaken_for_each_other(metric):
    with pytest.raises(DataError, match="sentence_score takes one string"):
        metric.corpus_score("a line", [["a line"]])
    with pytest.raises(DataError, match="one string and a list"):
        metric.sentence_score(["a line"], ["a line"])
    with pytest.raises(DataError, match="one string and a list"):
        metric.sentence_score("a line", "a line")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("blue", "unknown metric 'blue' (did you mean 'bleu'?)"),
        ("chr", "unknown metric 'chr' (did you mean 'chrf'?)"),
        ("macro-f", "(did you mean 'macrof'?)"),
        ("bleu:tk=13a", "bleu has no setting 'tk' (did you mean 'tok'?)"),
        ("chrf:word=2", "(did you mean 'word_order'?)"),
        ("bleu:tok=13", "unknown tokenizer '13' (did you mean '13a'?)"),
        ("macrof:tok=flores", "(did you mean 'flores"),
        ("bleu:smooth=addk", "(did you mean 'add-k'?)"),
        ("rouge:value=f1", "(did you mean 'f'?)"),
        ("wer:unit=chars", "(did you mean 'char'?)"),
        ("bleu:lowercase=maybe", "takes yes or no"),
        ("bleu:max_ngram_order=four", "takes a whole number"),
        ("chrf:beta=two", "takes a number"),
        ("chrf:beta=nan", "takes a number"),
        ("microf:k=inf", "takes a number"),
        ("bleu:smooth=floor[x]", "takes a number"),
        ("bleu:tok", "'tok' is not key=value"),
        ("BLEU|tok", "'tok' is not key:value"),
    ],
)
def test_what_is_misspelt_is_an_error_that_suggests_the_nearest_name(text, message):
    with pytest.raises(DataError, match=re.escape(message)):
        parse(text)


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (BLEU, {"max_ngram_order": 0}, "from 1 to 100"),
        (BLEU, {"max_ngram_order": 2**61}, "from 1 to 100"),
        (BLEU, {"max_ngram_order": "4"}, "takes a whole number"),
        (BLEU, {"smooth_method": "laplace"}, "is not a choice"),
        (BLEU, {"smooth_method": "floor", "smooth_value": -1}, "cannot be negative"),
        (BLEU, {"smooth_method": "floor", "smooth_value": float("nan")}, "finite"),
        (BLEU, {"smooth_method": "exp", "smooth_value": 0.5}, "takes no smooth_value"),
        (BLEU, {"lowercase": "no"}, "takes yes or no"),
        (BLEU, {"tokenize": "moses"}, "unknown tokenizer 'moses'"),
        (CHRF, {"char_order": 0}, "at least 1"),
        (CHRF, {"word_order": -1}, "neither negative"),
        (CHRF, {"char_order": 2**63}, "at most 100"),
        (CHRF, {"beta": 0}, "above 0"),
        (CHRF, {"beta": float("inf")}, "finite"),
        (MacroF, {"min_order": 2}, "min_order <= max_order"),
        (MacroF, {"max_order": 2**61}, "min_order <= max_order"),
        (MacroF, {"beta": -1.0}, "above 0"),
        (MicroF, {"k": -0.1}, "cannot be negative"),
        (ROUGE, {"type": "0"}, "is not a choice"),
        (ROUGE, {"type": 1}, "did you mean '1'"),
        (WER, {"unit": "byte"}, "is not a choice"),
        (WER, {"tokenize": "13b"}, "did you mean '13a'"),
    ],
)
def test_settings_out_of_range_are_errors_that_say_the_range(make, options, message):
    with pytest.raises(DataError, match=re.escape(message)):
        make(**options)


def test_one_metric_twice_is_an_error():
    with pytest.raises(DataError, match="given twice"):
        METRICS.parse_all(["bleu", "chrf", "bleu:tok=13a"])
    with pytest.raises(DataError, match=re.escape("pass ['bleu']")):
        METRICS.parse_all("bleu")
