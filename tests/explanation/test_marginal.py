"""Input marginalisation against the formula, with pair counts and with a small real model."""

import numpy as np
import pytest

from assay.data import DataError, Segment
from assay.explanation.explainers import EXPLAINERS
from assay.explanation.importances import explain_segments
from assay.explanation.marginal import Marginal, packaged_bigrams
from assay.metrics.base import parse
from tests.corpora import texts

CHRF = parse("chrf")
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PLAIN = ["the", "cat", "sat", "on", "mat", "a", "dog", "ran", "##s", "big", ".", ","]
VOCABULARY = SPECIAL + PLAIN


def formula(text, reference, candidates, *, softmax=False):
    """phi_i = S(input) - sum of S(input with a word) * p(word), word by word."""
    words = text.split()
    full = CHRF.sentence_score(text, [reference]).score
    found = []
    for at, likely in enumerate(candidates):
        weights = np.array([each.probability for each in likely])
        if softmax:
            weights = np.exp(weights) / np.exp(weights).sum()
        effect = 0.0
        for each, weight in zip(likely, weights, strict=True):
            replaced = " ".join([*words[:at], each.word, *words[at + 1 :]])
            effect += weight * CHRF.sentence_score(replaced, [reference]).score
        found.append(full - effect)
    return np.array(found)


@pytest.mark.parametrize("softmax", [False, True])
def test_pair_counts_by_the_formula(softmax):
    segments = texts(8).segments()
    explainer = Marginal(softmax=softmax)
    for found in explain_segments(CHRF, segments, explainer, seed=0, sides=["hypothesis"]):
        segment = segments[found.segment]
        candidates = packaged_bigrams().candidates(found.tokens, 0.05)
        slow = formula(segment.hypothesis, segment.references[0], candidates, softmax=softmax)
        assert found.importances == pytest.approx(slow, abs=1e-9)


def test_a_word_that_nothing_can_replace_has_the_full_score_for_its_importance():
    [found] = explain_segments(
        CHRF, [Segment("the -- cat", ("the cat",))], Marginal(), seed=0, sides=["hypothesis"]
    )
    assert found.importances[1] == pytest.approx(found.score)


def test_the_output_says_that_pair_counts_are_no_masked_model():
    assert "no masked language model" in Marginal().label
    assert "bigram counts of symspellpy" in Marginal().label


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A tiny BERT with random weights, saved as `transformers` saves any model."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    path = tmp_path_factory.mktemp("bert")
    (path / "vocab.txt").write_text("\n".join(VOCABULARY), "utf-8")
    torch.manual_seed(3)
    config = transformers.BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=20,
        initializer_range=0.3,
    )
    transformers.BertForMaskedLM(config).save_pretrained(path)
    vocabulary = {word: at for at, word in enumerate(VOCABULARY)}
    transformers.BertTokenizer(vocab=vocabulary, do_lower_case=False).save_pretrained(path)
    return path


def likely(folder, tokens, threshold):
    """Candidates by one plain call of the model per masked text."""
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForMaskedLM.from_pretrained(folder).eval()
    for at in range(len(tokens)):
        text = " ".join([*tokens[:at], "[MASK]", *tokens[at + 1 :]])
        encoded = tokenizer(text, return_tensors="pt")
        [place] = (encoded["input_ids"][0] == tokenizer.mask_token_id).nonzero()[0].tolist()
        with torch.inference_mode():
            chances = model(**encoded).logits[0, place].double().softmax(dim=-1).numpy()
        yield {
            word.removeprefix("##"): chance
            for word, chance in zip(VOCABULARY, chances, strict=True)
            if chance > threshold and word not in SPECIAL
        }


def test_a_masked_model_gives_the_words_and_probabilities_of_plain_calls(folder):
    from assay.explanation.marginal import masked_model

    for text in ("the cat sat on the mat .", "a big dog ran , the cat sat", "cat", "unseen cat"):
        tokens = tuple(text.split())
        found = masked_model(str(folder)).candidates(tokens, 0.02)
        slow = list(likely(folder, tokens, 0.02))
        assert [{each.word for each in row} for row in found] == [set(row) for row in slow]
        for row, expected in zip(found, slow, strict=True):
            chances = [each.probability for each in row]
            assert chances == pytest.approx([expected[each.word] for each in row], abs=1e-5)
            assert chances == sorted(chances, reverse=True)
        assert any(found)


def test_a_masked_model_by_the_formula(folder):
    from assay.explanation.marginal import masked_model

    text, reference = "the cat sat on a mat .", "the dog sat on the mat ."
    explainer = EXPLAINERS.parse(f"marginal:model={folder},threshold=0.03")
    segment = Segment(text, (reference,))
    [found] = explain_segments(CHRF, [segment], explainer, seed=0, sides=["hypothesis"])
    candidates = masked_model(str(folder)).candidates(found.tokens, 0.03)
    assert found.importances == pytest.approx(formula(text, reference, candidates), abs=1e-9)
    assert str(folder) in explainer.label
    assert "#" in explainer.label


def test_a_text_longer_than_the_model_is_read_around_the_mask(folder):
    from assay.explanation.marginal import masked_model

    tokens = ("the", "cat", "sat") * 15
    found = masked_model(str(folder)).candidates(tokens, 0.01)
    assert len(found) == 45
    assert all(found)


def test_a_text_that_says_mask_itself_and_an_empty_one_are_fine(folder):
    from assay.explanation.marginal import masked_model

    model = masked_model(str(folder))
    assert len(model.candidates(("the", "[MASK]", "x[MASK]", "\ud800"), 0.05)) == 4
    assert model.candidates((), 0.05) == []


def test_a_model_that_is_not_here_is_an_error_with_the_command_that_fetches_it():
    pytest.importorskip("transformers")
    explainer = Marginal(model="bert-base-multilingual-cased")
    with pytest.raises(DataError, match=r"hf download bert-base-multilingual-cased"):
        explainer.perturb(("a", "b"), np.random.default_rng(0))


def test_a_model_without_a_mask_is_an_error(tmp_path):
    pytest.importorskip("transformers")
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}', "utf-8")
    with pytest.raises(DataError, match="no masked language model here"):
        Marginal(model=str(tmp_path)).perturb(("a",), np.random.default_rng(0))


@pytest.mark.parametrize("settings", [{"threshold": 0.0}, {"threshold": 1.0}, {"model": "a,b"}])
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(DataError, match="marginal:"):
        Marginal(**settings)
