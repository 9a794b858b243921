"""Names in the output, counted by hand."""

import re

import numpy as np
import pytest

from assay.data import DataError, Segment
from assay.metrics.base import parse
from assay.scoring import score
from tests.contract.varied import needs_tagger
from tests.corpora import demo
from tests.metrics.tagged import obvious

pytestmark = needs_tagger

TYPES = {"entities": ["ORG"], "entities:types=PERSON+GPE": ["PERSON", "GPE"]}


@pytest.mark.parametrize("name", [*TYPES, "entities:types=all"])
def test_the_number_of_names_is_what_spacy_finds(docs, outputs, name):
    counts = [len(obvious.names(docs[line], TYPES.get(name))) for line in outputs]
    statistics = parse(name).statistics([Segment(line, ()) for line in outputs])
    assert statistics.segments().tolist() == counts
    assert statistics.corpus() == sum(counts)
    assert name != "entities:types=all" or sum(counts) > 20


@pytest.mark.parametrize("types", ["ORG", "DATE+ORG"])
def test_names_per_hundred_words_are_those_of_the_whole_text(docs, outputs, types):
    names = sum(len(obvious.names(docs[line], types.split("+"))) for line in outputs)
    words = sum(len(obvious.words(docs[line])) for line in outputs)
    metric = parse(f"entities:types={types},per=100words")
    found = metric.statistics([Segment(line, ()) for line in outputs])
    assert found.corpus() == pytest.approx(100 * names / words)


def test_real_translations_have_the_names_that_spacy_finds(docs, shared):
    lines = (shared / "wmt21/de-en/systems/Online-A.txt").read_text("utf-8").splitlines()[200:260]
    counts = [len(obvious.names(docs[line], ["ORG"])) for line in lines]
    found = parse("entities").statistics([Segment(line, ()) for line in lines])
    assert found.segments().tolist() == counts
    assert sum(counts) > 5


def test_a_text_has_the_names_of_the_example():
    line = "The European Commission and IBM met Angela Merkel in Berlin on Monday."
    counts = {
        types: parse(f"entities:types={types}").sentence_score(line, ["x"]).score
        for types in ("ORG", "PERSON", "GPE", "DATE", "ORG+PERSON", "all")
    }
    assert counts == {"ORG": 2, "PERSON": 1, "GPE": 1, "DATE": 1, "ORG+PERSON": 3, "all": 5}


def test_documents_and_resamples_are_sums_of_segments(docs):
    systems = {name: demo(f"systems/{name}.txt", 40) for name in ("atlas", "cedar")}
    documents = ["one"] * 25 + ["two"] * 15
    options = {"by_document": True, "confidence": True, "test": "bootstrap", "resamples": 99}
    result = score(
        systems, [demo("ref.A.txt", 40)], ["entities:types=all"],
        documents=documents, **options,
    )  # fmt: skip
    (entry,) = result.by_metric
    for at, lines in enumerate(systems.values()):
        counts = np.array([len(obvious.names(docs[line])) for line in lines])
        found = [document.scores[at] for document in entry.documents]
        assert found == [counts[:25].sum(), counts[25:].sum()]
        assert entry.intervals[at].low < counts.sum() < entry.intervals[at].high
    (pair,) = entry.comparisons
    assert pair.difference == entry.corpus[1] - entry.corpus[0]


def test_references_play_no_part():
    metric = parse("entities:types=all")
    with_, without = Segment("Berlin and Paris", ("London",)), Segment("Berlin and Paris", ())
    assert metric.statistics([with_]).corpus() == metric.statistics([without]).corpus() == 2
    assert "nrefs" not in score({"a": ["x"]}, [["y"]], ["entities"]).by_metric[0].signature


@pytest.mark.parametrize("line", ["", " \u2003 ", "...", "\ud800", "a\udc80b"])
def test_a_text_without_words_or_with_half_a_character_has_no_names(line):
    for name in ("entities:types=all", "entities:types=all,per=100words"):
        assert parse(name).sentence_score(line, ["x"]).score == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("entities:types=ORGS", "has no 'ORGS' (did you mean 'ORG'?)"),
        ("entities:types=org", "(did you mean 'ORG'?). It has CARDINAL, DATE"),
        ("entities:types=nsubj", "has no 'nsubj'"),
        ("entityf:types=ORG+PER", "has no 'PER'"),
    ],
)
def test_a_type_that_the_pipeline_lacks_is_an_error_that_names_those_it_has(text, message):
    with pytest.raises(DataError, match=re.escape(message)):
        parse(text).sentence_score("a", ["b"])


@pytest.mark.parametrize("types", ["", "ORG+", "+", "ORG PERSON", "ORG|GPE", "ORG*2"])
def test_types_that_cannot_be_read_are_errors(types):
    with pytest.raises(DataError, match=r"write labels with \+ between them"):
        type(parse("entities"))(types=types)
