"""MuLER on BERTScore: words of a feature are taken for right or wrong in the similarities."""

import json

import numpy as np
import pytest

from assay.cli import main
from assay.data import DataError, Segment
from assay.decomposition.decompose import Annotated, decompose
from assay.features.annotation import Annotation, Feature, TokenSpan
from assay.metrics.base import parse
from assay.metrics.neural.bertscore import BERTScore, Places
from tests.contract.varied import needs_tagger
from tests.corpora import demo
from tests.metrics.neural.tiny import minilm_folder, needs_models

pytestmark = needs_models
LONG = Feature("tags", "long")


def annotated_text(line):
    """Words of more than five letters have the feature, two in a row as one span."""
    tokens = tuple(line.split())
    spans, at = [], 0
    while at < len(tokens):
        end = at
        while end < len(tokens) and len(tokens[end]) > 5 and end - at < 2:
            end += 1
        if end > at:
            spans.append(TokenSpan(at, end, "long"))
        at = max(end, at + 1)
    return Annotation(tokens, {"tags": tuple(spans)})


def annotated(count=10):
    systems = {name: demo(f"systems/{name}.txt", count) for name in ("atlas", "cedar")}
    references = zip(demo("ref.A.txt", count), demo("ref.B.txt", count), strict=True)
    return Annotated(
        {name: [*map(annotated_text, lines)] for name, lines in systems.items()},
        [tuple(map(annotated_text, lines)) for lines in references],
    )


class Slow:
    """Appendix C of the paper, word by word, with the model asked for each text alone."""

    def __init__(self):
        from transformers import AutoModel, AutoTokenizer

        self.tokenizer = AutoTokenizer.from_pretrained(minilm_folder(), local_files_only=True)
        self.model = AutoModel.from_pretrained(minilm_folder(), local_files_only=True).eval()

    def read(self, tokens):
        """Vectors of length 1, and the word of each piece, none for special ones."""
        import torch

        given = self.tokenizer(list(tokens), is_split_into_words=True, return_tensors="pt")
        with torch.inference_mode():
            states = self.model(
                input_ids=given["input_ids"], attention_mask=given["attention_mask"]
            )[0][0]
        return torch.nn.functional.normalize(states, dim=1).numpy(), given.word_ids()

    def f1(self, output, reference, how):
        (own, own_words), (other, other_words) = (
            self.read(output.tokens),
            self.read(reference.tokens),
        )
        cosines = own @ other.T
        marked, wanted = marked_words(output), marked_words(reference)
        for i, j in np.ndindex(cosines.shape):
            left, right = own_words[i] in marked, other_words[j] in wanted
            if how == "best" and left and right:
                cosines[i, j] = 1
            if how == "worst" and (left or right):
                cosines[i, j] = 0
        inner = cosines.max(axis=1)[1:-1].mean(), cosines.max(axis=0)[1:-1].mean()
        return 2 * inner[0] * inner[1] / sum(inner)


def marked_words(text):
    return {at for start, end, _ in text.layers["tags"] for at in range(start, end)}


def test_oracle_and_anti_oracle_are_those_of_appendix_c():
    texts, slow = annotated(6), Slow()
    found = decompose(texts, BERTScore(), [LONG])
    for name, outputs in texts.systems.items():
        parts = found.parts[LONG, name]
        assert len(parts.chosen)
        for how, statistics in zip(("plain", "best", "worst"), parts[1:], strict=True):
            expected = [
                max(slow.f1(outputs[at], each, how) for each in texts.references[at])
                for at in parts.chosen
            ]
            assert statistics.segments() == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("spec", ["bertscore", "bertscore:idf=yes,measure=recall,rescale=yes"])
def test_the_oracle_gains_and_the_anti_oracle_loses(spec):
    found = decompose(annotated(), parse(spec), [LONG])
    for parts in found.parts.values():
        plain, oracle, anti = (each.segments() for each in parts[1:])
        assert (oracle >= plain - 1e-12).all()
        assert (plain > anti).all()


def test_places_without_a_word_change_nothing():
    segments = [Segment("One two three.", ("Two, three.", "One."))]
    metric = BERTScore()
    best, worst = metric.masked_rows(segments, [Places(0, [], [[], []]), Places(0, [], [[], []])])
    assert best.tolist() == worst.tolist() == metric.rows(segments).tolist() * 2


def test_all_words_right_is_1_and_all_wrong_nearly_nothing():
    segment = Segment("One two three.", ("Something else.",))
    everything = Places(0, [(0, 14)], [[(0, 15)]])
    best, worst = BERTScore().masked_rows([segment], [everything])
    assert best.tolist() == [[1, 1]]
    assert worst.tolist() == [[0, 1]]


def test_a_word_in_several_pieces_is_masked_in_all_of_them():
    segment = Segment("The unbelievableness", ("A house",))
    word = Places(0, [(4, 20)], [[(2, 7)]])
    encoder = BERTScore().encoder()
    pieces = encoder.pieces([segment.hypothesis])[0]
    assert pieces.spans[2:4].tolist() == [[4, 16], [16, 20]]
    precision = BERTScore(measure="precision")
    rest = precision.masked_rows([segment], [word])[1][0, 0] * 3
    states = encoder.states([segment.hypothesis, *segment.references])
    own, other = (each / np.linalg.norm(each, axis=1, keepdims=True) for each in states)
    assert rest == pytest.approx((own[1] @ other[[0, 1, 3]].T).max(), abs=1e-5)


def test_no_places_give_no_rows():
    best, worst = BERTScore().masked_rows([Segment("a", ("b",))], [])
    assert best.shape == worst.shape == (0, 2)


def test_muler_needs_references():
    with pytest.raises(DataError, match="does not compare with references, which MuLER needs"):
        decompose(annotated(3), parse("xbertscore"), [LONG])


@needs_tagger
def test_the_command_takes_bertscore_apart(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, file in (("ref.txt", "ref.A.txt"), ("sys.txt", "systems/cedar.txt")):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in demo(file, 15)), "utf-8")
    line = "muler ref.txt -i sys.txt -m bertscore -F upos --resamples 0 --format json"
    assert main(line.split()) == 0
    records = json.loads(capsys.readouterr().out)
    records = records["records"] if isinstance(records, dict) else records
    (noun,) = [each for each in records if each["feature"] == "NOUN"]
    assert noun["metric"] == "bertscore"
    assert noun["anti"] < noun["plain"] < noun["oracle"] <= 1
    assert 0 < noun["muler"] < 1
