"""COMET through its package: what it says without it, and the package's own scores with it."""

import subprocess
import sys
from importlib.util import find_spec

import pytest

from assay.data import DataError, Segment
from assay.metrics.base import parse
from assay.metrics.neural.comet import COMET
from tests.corpora import demo

PACKAGE = bool(find_spec("comet"))
needs_package = pytest.mark.skipif(not PACKAGE, reason="needs: pip install unbabel-comet")
COUNT = 6
FIRST, SECOND, SOURCES = (demo(name, COUNT) for name in ("ref.A.txt", "ref.B.txt", "src.txt"))
SEGMENTS = list(
    map(Segment, demo("systems/cedar.txt", COUNT), zip(FIRST, SECOND, strict=True), SOURCES)
)


@pytest.mark.skipif(PACKAGE, reason="the package is here")
@pytest.mark.parametrize("text", ["comet", "comet:against=source", "comet:model=some/folder"])
def test_without_the_package_one_line_says_how_to_install_it(text):
    with pytest.raises(DataError) as caught:
        parse(text).statistics(SEGMENTS)
    assert str(caught.value) == "comet needs its own package: pip install unbabel-comet"
    with pytest.raises(DataError, match="pip install unbabel-comet"):
        parse(text).signature()


def test_without_sources_one_line_asks_for_them():
    with pytest.raises(DataError) as caught:
        COMET().statistics([Segment("a", ("b",))])
    assert str(caught.value) == "comet compares with the source: pass sources=..."


def test_without_references_it_says_which_segment_lacks_one():
    with pytest.raises(DataError, match="compares with references, but segment 1 has none"):
        COMET().statistics([Segment("a", (), "b")])
    assert not parse("comet:against=source").needs_references


def test_the_usual_model_depends_on_what_it_reads():
    assert COMET().model_name == "Unbabel/wmt22-comet-da"
    assert COMET(against="source").model_name == "Unbabel/wmt22-cometkiwi-da"
    assert COMET(model="a/b").model_name == "a/b"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("comet:precision=float16", "runs in float32"),
        ("comet:batch=0", "at least one text"),
        ("comet:against=sauce", "did you mean 'source'"),
    ],
)
def test_settings_that_make_no_sense_are_errors(text, message):
    with pytest.raises(DataError, match=message):
        parse(text)


def test_naming_it_loads_nothing():
    code = "import sys, assay; assay.parse('comet'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"torch", "comet", "huggingface_hub"} & set(done.stdout.split())


@pytest.fixture(scope="module")
def xlmr(tmp_path_factory):
    """The folder of a random XLM-R whose tokenizer learned from the texts."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
    from transformers import XLMRobertaConfig, XLMRobertaModel, XLMRobertaTokenizerFast

    folder = tmp_path_factory.mktemp("xlmr")
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=500, special_tokens=special, unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator([*FIRST, *SOURCES], trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    XLMRobertaTokenizerFast(tokenizer_object=tokenizer).save_pretrained(folder)
    torch.manual_seed(4)
    config = XLMRobertaConfig(
        vocab_size=510,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        pad_token_id=1,
    )
    XLMRobertaModel(config).save_pretrained(folder)
    return folder


def checkpoint(folder, xlmr, kind, identifier):
    """A random model of COMET's as its files are on the hub."""
    import pytorch_lightning
    import yaml

    module = kind(
        encoder_model="XLM-RoBERTa",
        pretrained_model=str(xlmr),
        layer_transformation="softmax",
        hidden_sizes=[16],
        train_data=["none"],
        validation_data=["none"],
    )
    trainer = pytorch_lightning.Trainer(
        accelerator="cpu", logger=False, enable_checkpointing=False, barebones=True
    )
    trainer.strategy.connect(module)
    (folder / "checkpoints").mkdir()
    trainer.save_checkpoint(folder / "checkpoints" / "model.ckpt")
    settings = dict(module.hparams) | {"class_identifier": identifier}
    (folder / "hparams.yaml").write_text(yaml.dump(settings), "utf-8")
    return str(folder)


@pytest.fixture(scope="module")
def with_references(xlmr, tmp_path_factory):
    from comet.models import RegressionMetric

    folder = tmp_path_factory.mktemp("regression")
    return checkpoint(folder, xlmr, RegressionMetric, "regression_metric")


@pytest.fixture(scope="module")
def without_references(xlmr, tmp_path_factory):
    from comet.models import ReferencelessRegression

    folder = tmp_path_factory.mktemp("referenceless")
    return checkpoint(folder, xlmr, ReferencelessRegression, "referenceless_regression_metric")


def predicted(folder, samples):
    """What the package itself gives, one sample at a time."""
    from comet import load_from_checkpoint

    model = load_from_checkpoint(f"{folder}/checkpoints/model.ckpt")
    found = [model.predict([each], gpus=0, progress_bar=False).scores[0] for each in samples]
    assert len(set(found)) > 1
    return found


with_package = [needs_package, pytest.mark.filterwarnings("ignore")]


class TestWithThePackage:
    pytestmark = with_package

    def test_scores_are_the_package_s_and_the_best_of_the_references(self, with_references):
        slow = [
            predicted(
                with_references,
                [
                    {"src": each.source, "mt": each.hypothesis, "ref": each.references[at]}
                    for each in SEGMENTS
                ],
            )
            for at in (0, 1)
        ]
        metric = COMET(model=with_references)
        best = [max(pair) for pair in zip(*slow, strict=True)]
        assert metric.statistics(SEGMENTS).segments() == pytest.approx(best, abs=1e-5)
        assert metric.rows([]).shape == (0, 2)

    def test_a_model_without_references_reads_the_source_alone(self, without_references):
        slow = predicted(
            without_references, [{"src": each.source, "mt": each.hypothesis} for each in SEGMENTS]
        )
        metric = COMET(model=without_references, against="source")
        bare = [each._replace(references=()) for each in SEGMENTS]
        assert metric.statistics(bare).segments() == pytest.approx(slow, abs=1e-5)

    def test_the_signature_names_model_weights_and_package(self, with_references):
        from hashlib import sha256
        from pathlib import Path

        weights = (Path(with_references) / "checkpoints" / "model.ckpt").read_bytes()
        metric = COMET(model=with_references)
        said = metric.signature(2)
        assert f"sha256:{sha256(weights).hexdigest()[:12]}|package:unbabel-comet-" in said
        assert parse(f"COMET|{said}") == metric

    def test_a_model_that_wants_references_refuses_to_go_without(self, with_references):
        with pytest.raises(DataError, match="reads references; leave against out"):
            COMET(model=with_references, against="source").statistics(SEGMENTS)

    def test_models_that_are_not_here_are_errors_with_a_remedy(self, xlmr):
        with pytest.raises(DataError, match="To fetch it: hf download nobody/nothing"):
            COMET(model="nobody/nothing").statistics(SEGMENTS)
        with pytest.raises(DataError, match=r"no model of COMET's here.*hparams\.yaml"):
            COMET(model=str(xlmr)).statistics(SEGMENTS)
