"""XMover: distances by linear programming, mappings by hand, likelihoods word by word."""

import numpy as np
import pytest

from assay.data import DataError, Segment
from assay.metrics.base import parse
from assay.metrics.neural import xmover as mover
from assay.metrics.neural.xmover import XMover, read_mapping
from tests.corpora import SHORT, demo
from tests.metrics.neural.test_transport import programme
from tests.metrics.neural.tiny import needs_models, save_tiny_bert

pytestmark = needs_models
COUNT = 8
OUTPUTS = demo("systems/cedar.txt", COUNT)
FIRST, SECOND = demo("ref.A.txt", COUNT), demo("ref.B.txt", COUNT)
SOURCES = demo("src.txt", COUNT)
SEGMENTS = list(map(Segment, OUTPUTS, zip(FIRST, SECOND, strict=True), SOURCES))


def scores(metric, segments=SEGMENTS):
    return metric.statistics(segments).segments()


def slow_distance(a, b, n):
    """Means of neighbours, lengths of one, and linear programming."""
    grams = []
    for states in (a, b):
        means = [np.mean(states[at : at + n], axis=0) for at in range(len(states) - n + 1)]
        grams.append([mean / np.linalg.norm(mean) for mean in np.array(means, float)])
    return programme(*grams)


@pytest.mark.parametrize("n", [1, 2])
def test_scores_equal_linear_programming_on_the_states(n):
    metric = XMover(ngram=n)
    states = metric.encoder().states
    slow = [
        1 - slow_distance(a, b, n) for a, b in zip(states(OUTPUTS), states(SOURCES), strict=True)
    ]
    assert scores(metric) == pytest.approx(slow, abs=1e-7)


def test_of_several_references_the_nearest_counts():
    metric = parse("xmover:against=reference")
    alone = [
        scores(
            metric, [Segment(each.hypothesis, each.references[at : at + 1]) for each in SEGMENTS]
        )
        for at in (0, 1)
    ]
    assert (np.argmax(alone, axis=0) == 0).any()
    assert (np.argmax(alone, axis=0) == 1).any()
    assert scores(metric) == pytest.approx(np.max(alone, axis=0), abs=1e-12)


def test_a_text_is_at_no_distance_from_itself_whatever_it_is():
    same = [Segment(line, (), line) for line in (*FIRST, *SHORT, "one")]
    assert scores(XMover(), same) == pytest.approx(np.ones(len(same)), abs=1e-6)


def test_blocks_of_any_size_give_the_same(monkeypatch):
    whole = scores(XMover())
    monkeypatch.setattr(mover, "BLOCK", 3)
    assert scores(XMover()) == pytest.approx(whole, abs=1e-12)


def test_no_segments_have_no_scores():
    assert XMover().rows([]).shape == (0, 2)


def test_without_sources_one_line_asks_for_them():
    with pytest.raises(DataError, match="pass sources=") as caught:
        XMover().statistics([Segment("a", ("b",))])
    assert "\n" not in str(caught.value)


def test_a_layer_is_that_of_the_model(tmp_path):
    folder = save_tiny_bert(tmp_path / "tiny")
    low, high = (scores(XMover(model=folder, layer=layer)) for layer in (1, 3))
    assert scores(XMover(model=folder)) == pytest.approx(high, abs=1e-12)
    assert np.abs(low - high).min() > 1e-6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("xmover:ngram=0", "from 1 to 9"),
        ("xmover:ngram=two", "takes a whole number"),
        ("xmover:against=reference,mapping=m.npy", "a mapping is for sources"),
    ],
)
def test_settings_that_make_no_sense_are_errors(text, message):
    with pytest.raises(DataError, match=message):
        parse(text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files that the tests write."""
    return tmp_path_factory.mktemp("mover")


def saved(folder, values):
    """The path of a file with these numbers."""
    path = folder / f"mapping-{np.asarray(values).ndim}.npy"
    np.save(path, values)
    return str(path)


def test_a_matrix_multiplies_the_vectors_of_the_source_alone(folder):
    matrix = np.random.default_rng(1).normal(size=(512, 512))
    metric = XMover(mapping=saved(folder, matrix), ngram=1)
    states = metric.encoder().states
    slow = [
        1 - slow_distance(a, b @ matrix, 1)
        for a, b in zip(states(OUTPUTS), states(SOURCES), strict=True)
    ]
    assert scores(metric) == pytest.approx(slow, abs=1e-6)


def test_a_direction_is_taken_out_of_the_vectors_of_the_source(folder):
    direction = np.random.default_rng(2).normal(size=512)
    direction /= np.linalg.norm(direction)
    metric = XMover(mapping=saved(folder, direction), ngram=2)
    states = metric.encoder().states
    slow = []
    for a, b in zip(states(OUTPUTS), states(SOURCES), strict=True):
        moved = [state - np.dot(state, direction) * direction for state in b]
        slow.append(1 - slow_distance(a, moved, 2))
    assert scores(metric) == pytest.approx(slow, abs=1e-6)


def test_the_first_of_several_directions_is_the_one(folder):
    rows = np.random.default_rng(3).normal(size=(3, 512))
    assert read_mapping(saved(folder, rows)).values.tolist() == rows[0].tolist()


def test_the_signature_names_the_hash_of_the_mapping(folder):
    from hashlib import sha256
    from pathlib import Path

    path = saved(folder, np.eye(512))
    metric = XMover(mapping=path)
    assert (
        f"mapping_sha256:{sha256(Path(path).read_bytes()).hexdigest()[:12]}" in metric.signature()
    )
    assert parse(f"XMover|{metric.signature()}") == metric


def test_mappings_that_do_not_fit_are_errors_that_say_so(folder, tmp_path):
    with pytest.raises(DataError, match=r"of 7 numbers, but the model's have 512"):
        scores(XMover(mapping=saved(folder, np.eye(7))))
    with pytest.raises(DataError, match=r"gone\.npy: the mapping cannot be read \(No such file"):
        read_mapping(str(tmp_path / "gone.npy"))
    text = tmp_path / "text.npy"
    text.write_text("1 0\n0 1\n")
    with pytest.raises(DataError, match=r"not a \.npy file of numbers.*loadtxt"):
        read_mapping(str(text))
    pickled = tmp_path / "pickled.npy"
    np.save(pickled, np.array([{"a": 1}], object), allow_pickle=True)
    with pytest.raises(DataError, match=r"not a \.npy file of numbers"):
        read_mapping(str(pickled))
    for number, values in enumerate((np.zeros((2, 2, 2)), np.zeros(0), np.array([1.0, np.inf]))):
        odd = tmp_path / f"odd-{number}.npy"
        np.save(odd, values)
        with pytest.raises(DataError, match="a square matrix or a direction, of finite numbers"):
            read_mapping(str(odd))


@pytest.fixture(scope="module")
def tiny_gpt(tmp_path_factory):
    """The folder of a random language model that reads words, with no mark before or after."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("gpt")
    words = Tokenizer(models.WordLevel(unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.train_from_iterator(
        OUTPUTS, trainers.WordLevelTrainer(special_tokens=["<unk>"], show_progress=False)
    )
    PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>").save_pretrained(folder)
    torch.manual_seed(3)
    config = GPT2Config(n_embd=16, n_layer=2, n_head=2, n_positions=64, vocab_size=400)
    GPT2LMHeadModel(config).save_pretrained(folder)
    return str(folder)


TERSE = [Segment(line, (), "ein Wort") for line in ("", "one", "one word")]


def slow_likelihood(folder, line):
    """The mean of the log-probabilities of the pieces, each from a reading of those before it."""
    import torch
    from transformers import AutoTokenizer, GPT2LMHeadModel

    model = GPT2LMHeadModel.from_pretrained(folder, local_files_only=True).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    ids = tokenizer(line)["input_ids"][:64]
    found = []
    with torch.inference_mode():
        for at in range(1, len(ids)):
            logits = model(torch.tensor([ids[:at]])).logits[0, -1].double()
            found.append(float(logits.log_softmax(-1)[ids[at]]))
    return np.mean(found)


def test_a_language_model_adds_the_mean_log_likelihood_of_the_output(tiny_gpt):
    lines = [*OUTPUTS[:3], "one word", "word " * 100]
    segments = [Segment(line, (), source) for line, source in zip(lines, SOURCES, strict=False)]
    slow = [slow_likelihood(tiny_gpt, line) for line in lines]
    plain = scores(XMover(), segments)
    assert scores(XMover(lm=tiny_gpt), segments) == pytest.approx(
        plain + 0.1 * np.array(slow), abs=1e-5
    )
    assert scores(XMover(lm=tiny_gpt, weight=2.0), segments) == pytest.approx(
        plain + 2 * np.array(slow), abs=1e-4
    )


def test_a_text_of_one_piece_has_no_likelihood_to_add(tiny_gpt):
    plain = scores(XMover(), TERSE)
    found = scores(XMover(lm=tiny_gpt), TERSE)
    assert found[:2].tolist() == plain[:2].tolist()
    assert found[2] < plain[2]


def test_the_signature_names_the_hash_of_the_language_model(tiny_gpt):
    from hashlib import sha256
    from pathlib import Path

    metric = XMover(lm=tiny_gpt)
    weights = (Path(tiny_gpt) / "model.safetensors").read_bytes()
    assert f"lm_sha256:{sha256(weights).hexdigest()[:12]}" in metric.signature()
    assert parse(f"XMover|{metric.signature()}") == metric


def test_a_language_model_that_is_not_here_is_an_error_with_the_command_that_fetches_it():
    with pytest.raises(DataError, match="To fetch it: hf download nobody/nothing"):
        scores(XMover(lm="nobody/nothing"))
