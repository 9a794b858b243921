"""BLEU, chrF and TER are sacreBLEU's to the ninth decimal, for the corpus and every segment."""

from itertools import product
from pathlib import Path

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import _get_tokenizer
from sacrebleu.utils import SACREBLEU_DIR

from assay import BLEU, CHRF, TER
from assay.text import NATIVE, tokenize
from tests.corpora import HOSTILE, REFERENCES, SHORT, Texts, hostile, texts, uneven

OFFLINE = ("13a", "intl", "char", "none", "zh", "ja-mecab", "ko-mecab")
DOWNLOADED = ("spm", "flores101", "flores200", "spBLEU-1K")
SMOOTHINGS = (
    ("exp", None),
    ("floor", None),
    ("floor", 0.0),
    ("floor", 0.37),
    ("add-k", None),
    ("add-k", 0.25),
    ("add-k", 3.0),
    ("none", None),
)
FEW = uneven(9)


def with_surrogates_left_out(lines):
    """MeCab takes UTF-8 only, in sacreBLEU as here."""
    return tuple(line.encode("utf-8", "replace").decode() for line in lines)


@pytest.mark.parametrize("references", REFERENCES)
@pytest.mark.parametrize("tokenizer", OFFLINE)
def test_bleu_is_sacrebleus_for_every_tokenizer(tokenizer, references, equal_scores):
    ours, theirs = BLEU(tokenize=tokenizer), sacrebleu.BLEU(tokenize=tokenizer)
    equal_scores(ours, theirs, REFERENCES[references])


@pytest.mark.parametrize(("method", "value"), SMOOTHINGS)
@pytest.mark.parametrize("tokenizer", OFFLINE)
def test_bleu_is_sacrebleus_for_every_smoothing_case_and_order(
    tokenizer, method, value, equal_scores
):
    for lowercase, effective, order in product((False, True), (False, True), range(1, 7)):
        options = {
            "tokenize": tokenizer,
            "smooth_method": method,
            "smooth_value": value,
            "lowercase": lowercase,
            "effective_order": effective,
            "max_ngram_order": order,
        }
        equal_scores(BLEU(**options), sacrebleu.BLEU(**options), FEW)


@pytest.mark.parametrize("tokenizer", DOWNLOADED)
def test_bleu_is_sacrebleus_for_downloaded_tokenizers(tokenizer, equal_scores):
    pytest.importorskip("sentencepiece", reason="the tokenizer's package is not installed")
    if not (Path(SACREBLEU_DIR) / "models").is_dir():
        pytest.skip(f"sacreBLEU would download the model of {tokenizer}; tests use no network")
    ours, theirs = BLEU(tokenize=tokenizer), sacrebleu.BLEU(tokenize=tokenizer)
    equal_scores(ours, theirs, REFERENCES["uneven"])


@pytest.mark.parametrize("effective", [False, True])
@pytest.mark.parametrize("tokenizer", OFFLINE)
def test_bleu_of_hostile_text_is_sacrebleus(tokenizer, effective, equal_scores):
    lines = tuple(HOSTILE.values()) if tokenizer in NATIVE else SHORT
    if "mecab" in tokenizer:
        lines = with_surrogates_left_out(lines)
    options = {"tokenize": tokenizer, "effective_order": effective}
    equal_scores(BLEU(**options), sacrebleu.BLEU(**options), hostile(lines))


@pytest.mark.parametrize("smoothing", [*SMOOTHINGS, ("floor", 1e-5)])
def test_smoothing_of_segments_without_matches_is_sacrebleus(smoothing, equal_scores):
    few = Texts(["a b c d", "a x b y", "q", "", "a b"], [["a b d c", "a b", "r", "s", "a b c d e"]])
    for effective in (False, True):
        options = {"effective_order": effective, "tokenize": "none"}
        options |= dict(zip(("smooth_method", "smooth_value"), smoothing, strict=True))
        equal_scores(BLEU(**options), sacrebleu.BLEU(**options), few)


@pytest.mark.parametrize("references", REFERENCES)
@pytest.mark.parametrize("word_order", range(4))
@pytest.mark.parametrize("eps_smoothing", [False, True])
def test_chrf_is_sacrebleus_for_any_number_of_references(
    word_order, eps_smoothing, references, equal_scores
):
    options = {"word_order": word_order, "eps_smoothing": eps_smoothing}
    equal_scores(CHRF(**options), sacrebleu.CHRF(**options), REFERENCES[references])


@pytest.mark.parametrize(
    ("char_order", "word_order"), [(c, w) for c in (0, 1, 2, 3, 6, 8) for w in range(4) if c + w]
)
def test_chrf_is_sacrebleus_for_every_setting(char_order, word_order, equal_scores):
    yes_or_no = (False, True)
    for beta, space, eps, lower in product((1, 2, 0.5, 3), yes_or_no, yes_or_no, yes_or_no):
        options = {
            "char_order": char_order,
            "word_order": word_order,
            "beta": beta,
            "whitespace": space,
            "eps_smoothing": eps,
            "lowercase": lower,
        }
        equal_scores(CHRF(**options), sacrebleu.CHRF(**options), FEW)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"word_order": 2},
        {"word_order": 2, "whitespace": True, "lowercase": True},
        {"word_order": 1, "eps_smoothing": True},
    ],
    ids=str,
)
def test_chrf_of_hostile_text_is_sacrebleus(options, equal_scores):
    equal_scores(CHRF(**options), sacrebleu.CHRF(**options), hostile())


SWITCHES = ("normalized", "no_punct", "asian_support", "case_sensitive")
COMBINATIONS = [dict(zip(SWITCHES, each, strict=True)) for each in product((False, True), repeat=4)]


def switched_on(options):
    return "+".join(name for name, on in options.items() if on) or "defaults"


@pytest.mark.parametrize("references", REFERENCES)
def test_ter_is_sacrebleus_for_any_number_of_references(references, equal_scores):
    whole = REFERENCES[references]
    part = Texts(whole.hypotheses[:20], [lines[:20] for lines in whole.references])
    equal_scores(TER(), sacrebleu.TER(), part)


@pytest.mark.parametrize("options", COMBINATIONS, ids=switched_on)
def test_ter_is_sacrebleus_for_every_switch(options, equal_scores):
    equal_scores(TER(**options), sacrebleu.TER(**options), FEW)
    equal_scores(TER(**options), sacrebleu.TER(**options), hostile(SHORT))


@pytest.mark.parametrize("system", ["birch", "cedar"])
def test_ter_of_weak_systems_is_sacrebleus(system, equal_scores):
    equal_scores(TER(), sacrebleu.TER(), texts(25, references=2, system=system))


def moved_block(count):
    """Words, and the same words with five of them moved behind the next fifteen."""
    words = [f"w{at}" for at in range(count)]
    return words, words[:40] + words[45:60] + words[40:45] + words[60:]


def test_ter_of_long_lines_is_sacrebleus(equal_scores):
    words, moved = map(" ".join, moved_block(1000))
    repeated = " ".join(["word"] * 300), " ".join(["word"] * 290 + ["end"])
    equal_scores(TER(), sacrebleu.TER(), Texts([moved, repeated[0]], [[words, repeated[1]]]))


def test_a_block_moved_within_10_000_words_is_one_edit():
    # sacreBLEU says so as well, after a minute and a half.
    words, moved = map(" ".join, moved_block(10_000))
    assert TER().sentence_score(moved, [words]).score == pytest.approx(0.01)


WILD = st.text(st.characters(exclude_categories=()), max_size=40)
DENSE = st.text("a1.2,-$;:'\"&<> \n\t½²٣٫।–€\u00a0\u2028\ud800", max_size=40)
MARKED = st.lists(
    st.sampled_from(
        [
            "&quot;",
            "&amp;",
            "&lt;",
            "&gt;",
            "<skipped>",
            "-\n",
            "\n",
            "&",
            "<",
            "amp;",
            "-",
            " ",
            "1.",
        ]
    ),
    max_size=12,
).map("".join)


@pytest.mark.parametrize("tokenizer", NATIVE)
@given(line=WILD | DENSE | MARKED)
@settings(max_examples=500, deadline=None)
def test_native_tokenizers_give_sacrebleus_tokens(tokenizer, line):
    expected = _get_tokenizer(tokenizer)()(line.rstrip()).split()
    assert tokenize([line], tokenizer) == [expected]


@pytest.mark.parametrize("tokenizer", OFFLINE)
def test_tokens_of_hostile_lines_are_sacrebleus(tokenizer):
    lines = list(HOSTILE.values())
    if "mecab" in tokenizer:
        lines = with_surrogates_left_out(lines)
    split = _get_tokenizer(tokenizer)()
    assert tokenize(lines, tokenizer) == [split(line.rstrip()).split() for line in lines]


def test_white_space_is_what_python_splits_at_for_every_code_point():
    every = "".join(f"a{chr(point)}" for point in range(0x110000))
    assert tokenize([every], "none") == [every.split()]
    assert len(every.split()) == 1 + sum(chr(point).isspace() for point in range(0x110000))


@pytest.mark.parametrize("tokenizer", ["13a", "intl"])
def test_code_points_between_letters_and_digits_are_tokenized_as_by_sacrebleu(tokenizer):
    split = _get_tokenizer(tokenizer)()
    # Planes 2 to 13 have letters only.
    for start in (*range(0, 0x20000, 0x1000), 0x2F000, 0xE0000, 0x10F000):
        block = map(chr, range(start, start + 0x1000))
        line = " ".join(f"x{c}y 1{c}2 3{c}{c}z" for c in block)
        assert tokenize([line], tokenizer) == [split(line.rstrip()).split()]


@given(
    hypothesis=WILD | DENSE,
    references=st.lists(WILD | DENSE, min_size=1, max_size=3),
    options=st.fixed_dictionaries(
        {
            "char_order": st.integers(1, 7),
            "word_order": st.integers(0, 3),
            "beta": st.floats(0.05, 20),
            "whitespace": st.booleans(),
            "eps_smoothing": st.booleans(),
            "lowercase": st.booleans(),
        }
    ),
)
@settings(max_examples=300, deadline=None)
def test_chrf_of_any_text_is_sacrebleus(hypothesis, references, options):
    expected = sacrebleu.CHRF(**options).sentence_score(hypothesis, references).score
    found = CHRF(**options).sentence_score(hypothesis, references).score
    assert found == pytest.approx(expected, abs=1e-9, rel=0)


@given(
    hypothesis=WILD | DENSE,
    references=st.lists(WILD | DENSE, min_size=1, max_size=3),
    options=st.fixed_dictionaries(
        {
            "tokenize": st.sampled_from(NATIVE),
            "max_ngram_order": st.integers(1, 6),
            "effective_order": st.booleans(),
            "lowercase": st.booleans(),
        }
    ),
    smoothing=st.fixed_dictionaries({"smooth_method": st.sampled_from(["exp", "none"])})
    | st.fixed_dictionaries(
        {"smooth_method": st.sampled_from(["floor", "add-k"]), "smooth_value": st.floats(0, 5)}
    ),
)
@settings(max_examples=300, deadline=None)
@pytest.mark.filterwarnings("ignore:BLEU without effective order")
def test_bleu_of_any_text_is_sacrebleus(hypothesis, references, options, smoothing):
    options = options | smoothing
    expected = sacrebleu.BLEU(**options).sentence_score(hypothesis, references).score
    found = BLEU(**options).sentence_score(hypothesis, references).score
    assert found == pytest.approx(expected, abs=1e-9, rel=0)
