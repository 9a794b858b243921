"""BERTScore gives the figures of the bert_score package on the same model."""

import warnings

import numpy as np
import pytest

from assay.data import DataError, Segment
from assay.metrics.base import parse
from assay.metrics.neural.bertscore import (
    Baseline,
    BERTScore,
    baseline_of,
    one_set,
    read_baseline,
    write_baselines,
)
from tests.corpora import demo, texts, uneven
from tests.metrics.neural.tiny import minilm_folder, needs_models, save_tiny_bert, save_tiny_roberta

COUNT = 24
CORPORA = {
    "one reference": texts(COUNT).segments(),
    "three references": texts(COUNT, references=3).segments(),
    "one to three references": uneven(COUNT).segments(),
}
every_corpus = pytest.mark.parametrize("segments", CORPORA.values(), ids=CORPORA)


def scorer(folder, **options):
    """bert_score's own, which warns of what it imports."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from bert_score import BERTScorer

        return BERTScorer(model_type=str(folder), lang="en", device="cpu", nthreads=0, **options)


def theirs(segments, folder=None, **options):
    """Precision, recall and F1 of bert_score, (n, 3)."""
    found = scorer(folder or minilm_folder(), **{"num_layers": 6, **options})
    if options.get("idf"):
        found.compute_idf([line for segment in segments for line in segment.references])
    hypotheses = [segment.hypothesis for segment in segments]
    references = [list(segment.references) for segment in segments]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = found.score(hypotheses, references)
    return np.array([each.numpy() for each in scores]).T


def close(values):
    return pytest.approx(values, abs=1e-5, rel=0)


@needs_models
@every_corpus
@pytest.mark.parametrize("idf", [False, True], ids=["plain", "idf"])
def test_the_figures_are_those_of_bert_score(segments, idf):
    ours = BERTScore(idf="yes" if idf else "no").measures(segments)
    assert ours == close(theirs(segments, idf=idf))


@needs_models
@pytest.mark.parametrize("layer", [0, 1, 4])
def test_other_layers_are_those_of_bert_score(layer):
    segments = CORPORA["one reference"]
    assert BERTScore(layer=layer).measures(segments) == close(theirs(segments, num_layers=layer))


@pytest.fixture
def baseline(tmp_path):
    """A file as bert_score has it."""
    path = tmp_path / "baseline.tsv"
    rows = [f"{layer},0.{layer}1,0.{layer}2,0.{layer}3" for layer in range(7)]
    path.write_text("\n".join(["LAYER,P,R,F", *rows, ""]))
    return str(path)


@needs_models
@every_corpus
@pytest.mark.parametrize("layer", [3, 6])
def test_rescaled_figures_are_those_of_bert_score(segments, baseline, layer):
    ours = BERTScore(layer=layer, rescale=baseline).measures(segments)
    options = {"num_layers": layer, "rescale_with_baseline": True, "baseline_path": baseline}
    assert ours == close(theirs(segments, **options))


@needs_models
def test_another_model_s_figures_are_those_of_bert_score(tmp_path):
    folder = save_tiny_bert(tmp_path)
    segments = CORPORA["one to three references"]
    ours = BERTScore(model=folder, idf="yes").measures(segments)
    assert ours == close(theirs(segments, folder, num_layers=3, idf=True))


@needs_models
def test_roberta_s_figures_are_those_of_bert_score_where_its_blank_still_works(
    tmp_path, monkeypatch
):
    from transformers import AutoTokenizer

    def prefixed(name, use_fast=False):
        # bert_score asks for a blank before the first word, which transformers 5 ignores.
        return AutoTokenizer.from_pretrained(name, add_prefix_space=True, local_files_only=True)

    folder = save_tiny_roberta(tmp_path, demo("ref.A.txt"))
    segments = CORPORA["one reference"]
    scorer(minilm_folder(), num_layers=1)
    monkeypatch.setattr("bert_score.scorer.get_tokenizer", prefixed)
    ours = BERTScore(model=folder, layer=2).measures(segments)
    assert ours == close(theirs(segments, folder, num_layers=2))


ARCHITECTURES = {
    "BertConfig": {"hidden_size": 16, "num_hidden_layers": 4, "intermediate_size": 32},
    "RobertaConfig": {"hidden_size": 16, "num_hidden_layers": 4, "intermediate_size": 32},
    "AlbertConfig": {"hidden_size": 16, "num_hidden_layers": 4, "embedding_size": 8},
    "ElectraConfig": {"hidden_size": 16, "num_hidden_layers": 4, "embedding_size": 8},
    "DebertaV2Config": {"hidden_size": 16, "num_hidden_layers": 4, "intermediate_size": 32},
    "DistilBertConfig": {"dim": 16, "n_layers": 4, "n_heads": 2, "hidden_dim": 32},
    "XLNetConfig": {"d_model": 16, "n_layer": 4, "n_head": 2, "d_inner": 32},
    "XLMConfig": {"emb_dim": 16, "n_layers": 4, "n_heads": 2},
    "BartConfig": {"d_model": 16, "encoder_layers": 4, "encoder_attention_heads": 2},
}


@needs_models
@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
@pytest.mark.parametrize("name", ARCHITECTURES)
@pytest.mark.parametrize("layer", [1, 4])
def test_layers_are_dropped_as_bert_score_drops_them(tmp_path, name, layer):
    import torch
    import transformers

    from assay.metrics.neural.base import Model, keep_layers
    from assay.metrics.neural.transformer import _load_module

    options = {"vocab_size": 200, **ARCHITECTURES[name]}
    if "hidden_size" in options:
        options["num_attention_heads"] = 2
    model = transformers.AutoModel.from_config(getattr(transformers, name)(**options))
    model.save_pretrained(tmp_path)
    scorer(minilm_folder(), num_layers=1)
    from bert_score.utils import get_model

    given = torch.randint(5, 200, (3, 7), generator=torch.Generator().manual_seed(0))
    ours = _load_module(Model("tiny", tmp_path, "")).eval()
    assert keep_layers(ours, layer, "tiny") == layer
    with torch.inference_mode():
        expected = get_model(str(tmp_path), layer)(given)[0]
        assert ours(given)[0].numpy() == pytest.approx(expected.numpy(), abs=1e-6)


@needs_models
def test_a_side_without_text_scores_0_as_in_bert_score():
    segments = [Segment("", ("A word.",)), Segment("A word.", ("",)), Segment("", ("", " "))]
    assert BERTScore().measures(segments).tolist() == [[0.0] * 3] * 3
    assert (
        BERTScore().measures([Segment("", ("",)), Segment(" ", (" ",))]).tolist() == [[0.0] * 3] * 2
    )


@needs_models
def test_words_that_all_weigh_nothing_score_0():
    assert BERTScore(idf="yes").measures([Segment("Same.", ("Same.",))]).tolist() == [[0.0] * 3]


@needs_models
@pytest.mark.parametrize("measure", ["precision", "recall", "f1"])
def test_the_measure_is_the_score_and_its_mean_the_corpus_score(measure):
    segments = CORPORA["one to three references"]
    metric = BERTScore(measure=measure)
    expected = metric.measures(segments)[:, ["precision", "recall", "f1"].index(measure)]
    statistics = metric.statistics(segments)
    assert statistics.segments().tolist() == expected.tolist()
    assert statistics.corpus() == pytest.approx(expected.mean())


@needs_models
@pytest.mark.parametrize("measure", ["precision", "recall", "f1"])
def test_the_winner_is_the_reference_that_gives_the_score(measure):
    segments = CORPORA["one to three references"]
    metric = BERTScore(measure=measure)
    winners = metric.winners(segments)
    assert len(set(winners.tolist())) > 1
    alone = [
        Segment(segment.hypothesis, (segment.references[at],))
        for segment, at in zip(segments, winners, strict=True)
    ]
    assert metric.statistics(alone).segments() == pytest.approx(
        metric.statistics(segments).segments(), abs=1e-12
    )


@needs_models
def test_the_first_of_equal_references_wins():
    assert BERTScore().winners([Segment("a b", ("a", "a b", "a b"))]).tolist() == [1]


@needs_models
def test_the_same_words_score_1_and_unrelated_ones_less():
    same, other = BERTScore().measures(
        [Segment("It rains.", ("It rains.",)), Segment("It rains.", ("Stocks fell by 3 %.",))]
    )
    assert same == pytest.approx([1, 1, 1], abs=1e-6)
    assert (other < 0.5).all()


@needs_models
def test_blocks_of_any_size_give_the_same(monkeypatch):
    segments = CORPORA["three references"]
    whole = BERTScore().measures(segments)
    monkeypatch.setattr("assay.metrics.neural.bertscore.BLOCK", 5)
    assert BERTScore().measures(segments).tolist() == whole.tolist()


@needs_models
def test_idf_does_not_depend_on_how_many_systems_are_scored():
    segments = CORPORA["one to three references"]
    other = [Segment(segment.hypothesis + " more", segment.references) for segment in segments]
    metric = BERTScore(idf="yes")
    together = metric.measures([*segments, *other])
    assert together[:COUNT].tolist() == metric.measures(segments).tolist()


def test_a_reference_that_is_there_twice_counts_twice():
    tuples = [("a", "b"), ("a", "b"), ("c",)]
    assert one_set(tuples) == one_set(tuples * 3) == {"a": 2, "b": 2, "c": 1}


@needs_models
def test_idf_of_a_file_is_that_of_its_lines(tmp_path):
    segments = CORPORA["one reference"]
    path = tmp_path / "ref.txt"
    path.write_text("".join(segment.references[0] + "\n" for segment in segments), "utf-8")
    from_file = BERTScore(idf=str(path)).measures(segments)
    assert from_file.tolist() == BERTScore(idf="yes").measures(segments).tolist()
    few = BERTScore(idf=str(path)).measures(segments[:3])
    assert few.tolist() == from_file[:3].tolist()


@needs_models
def test_a_file_for_idf_that_is_not_there_is_told():
    with pytest.raises(DataError, match=r"idf=maybe: .* cannot be read \(No such file"):
        parse("bertscore:idf=maybe").rows(CORPORA["one reference"])


@needs_models
def test_rescaling_is_built_in_for_the_default_model():
    segments = CORPORA["one reference"]
    shuffled = [
        Segment(segment.hypothesis, segments[at - 7].references)
        for at, segment in enumerate(segments)
    ]
    metric = BERTScore(rescale="yes")
    assert metric.statistics(shuffled).corpus() == pytest.approx(0, abs=0.1)
    assert metric.statistics([Segment("Same.", ("Same.",))]).corpus() == pytest.approx(1)


@needs_models
def test_rescaling_without_a_baseline_is_told():
    with pytest.raises(
        DataError, match=r"no baseline is known for layer 2 of minilm.*rescale=FILE"
    ):
        BERTScore(layer=2, rescale="yes").rows(CORPORA["one reference"])


def test_a_baseline_is_the_mean_of_pairs_of_different_texts():
    def score(one, other):
        assert all(a != b for a, b in zip(one, other, strict=True))
        return np.array([[len(a), len(b), 1] for a, b in zip(one, other, strict=True)], float) / 10

    lines = ["a", "bb", "ccc", "", "ccc"]
    found = baseline_of(score, lines, pairs=6000, rng=np.random.default_rng(0))
    assert found == pytest.approx((0.2, 0.2, 0.1), abs=0.01)
    with pytest.raises(DataError, match="at least two different texts"):
        baseline_of(score, ["a", "a", " "], rng=np.random.default_rng(0))


def test_baselines_that_are_written_are_read_back(tmp_path):
    baselines = {0: Baseline(0.1, 0.2, 0.3), 2: Baseline(-0.5, 0.25, 0.125)}
    write_baselines(tmp_path / "file", baselines)
    assert {layer: read_baseline(tmp_path / "file", layer) for layer in baselines} == baselines


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("LAYER,P,R,F\n0,1,2\n", "line 2 is not a layer and its baseline"),
        ("LAYER,P,R,F\n0,.1,.2,.3\n1,x,.2,.3\n", "line 3 is not a layer"),
        ("A,B\n1,2\n", "line 2 is not a layer"),
        ("LAYER,P,R,F\n0,.1,.1,.1\n", "no row for layer 1"),
        ("LAYER,P,R,F\n1,.1,1,.1\n", "line 2: a baseline is a number from -1 to below 1"),
        ("LAYER,P,R,F\n1,.1,nan,.1\n", "line 2: a baseline is a number"),
        ("", "no row for layer 1"),
    ],
)
def test_bad_baseline_files_are_told(tmp_path, text, message):
    path = tmp_path / "bad.tsv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_baseline(path, 1)


def test_a_baseline_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(DataError, match="none does not exist"):
        read_baseline(tmp_path / "none", 1)


def test_xbertscore_is_bertscore_against_the_source():
    metric = parse("xbertscore")
    assert metric == BERTScore(against="source")
    assert str(metric) == "bertscore:against=source"
    assert metric.title == "XBERTScore"
    assert (metric.model_name, metric.needs_references) == ("use", False)
    assert parse("xbertscore:model=some/model").model_name == "some/model"
    assert (BERTScore().model_name, BERTScore().needs_references) == ("minilm", True)


@needs_models
def test_against_the_source_references_do_not_matter():
    outputs, sources = demo("systems/atlas.txt", 8), demo("src.txt", 8)
    with_them = [Segment(a, ("some", "thing"), b) for a, b in zip(outputs, sources, strict=True)]
    without = [Segment(a, (), b) for a, b in zip(outputs, sources, strict=True)]
    turned = [Segment(a, (b,)) for a, b in zip(outputs, sources, strict=True)]
    metric = parse("xbertscore")
    assert metric.measures(with_them).tolist() == metric.measures(without).tolist()
    assert metric.measures(without).tolist() == BERTScore(model="use").measures(turned).tolist()


@needs_models
def test_a_translation_is_closer_to_its_own_source_than_to_others():
    outputs, sources = demo("ref.A.txt", 30), demo("src.txt", 30)
    pairs = [Segment(a, (), b) for a in outputs for b in sources]
    scores = parse("xbertscore").statistics(pairs).segments().reshape(30, 30)
    assert np.mean(scores.argmax(axis=1) == np.arange(30)) > 0.8


def test_sources_that_are_missing_are_told():
    with pytest.raises(DataError, match=r"against=source compares with the source: pass sources="):
        parse("xbertscore").statistics([Segment("a", ("b",))])


@pytest.mark.parametrize("option", ["model", "device", "idf", "rescale"])
@pytest.mark.parametrize("value", ["a,b", "a|b", " a", "a ", ""])
def test_what_a_specification_cannot_hold_is_told(option, value):
    with pytest.raises(DataError, match=f"bertscore:{option}={'.*'}cannot be written here"):
        BERTScore(**{option: value})


@needs_models
def test_the_signature_says_which_model_it_was_and_reads_back():
    metric = BERTScore(idf="yes")
    signature = metric.get_signature()
    assert signature == (
        "nrefs:1|against:reference|measure:f1|idf:yes|rescale:no|encoder:minilm@0.1.0|"
        "sha256:53aa51172d14|depth:6|version:assay-0.1.0"
    )
    assert parse(f"BERTScore|{signature}") == metric
    source = parse("xbertscore")
    assert parse(f"{source.title}|{source.get_signature()}") == source


@needs_models
def test_a_hub_model_takes_the_layer_that_bert_score_takes():
    scorer(minilm_folder(), num_layers=1)
    from bert_score.utils import model2layers

    from assay.metrics.neural.base import _USUAL

    assert {name: model2layers[name] for name in _USUAL} == _USUAL
    assert BERTScore(model="roberta-large").layer_wanted == 17
    assert BERTScore(model="roberta-large", layer=3).layer_wanted == 3
    assert BERTScore().layer_wanted is None


@needs_models
def test_it_cannot_be_masked_in_the_text():
    with pytest.raises(DataError, match="words cannot be masked for a model"):
        BERTScore().mask_policy  # noqa: B018
