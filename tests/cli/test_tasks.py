"""Task-based metrics on the command line: whatever works for BLEU works for them."""

import json

import pytest

from assay.data import Segment
from assay.metrics.base import parse
from tests.contract.varied import needs_tagger
from tests.corpora import demo

pytestmark = needs_tagger

TASKS = "entities entityf relations xscore"


def records(ran):
    assert (ran.status, ran.err) == (0, "")
    return json.loads(ran.out)["records"]


def test_scores_are_those_of_the_library(run):
    found = records(run(f"score ref.txt -i a.txt b.txt -m {TASKS} --format json -q"))
    assert len(found) == 8
    references = [(line,) for line in demo("ref.A.txt")]
    for record in found:
        lines = demo(f"systems/{ {'a': 'atlas', 'b': 'birch'}[record['system']] }.txt")
        statistics = parse(record["metric"]).statistics(list(map(Segment, lines, references)))
        assert record["score"] == statistics.corpus()
        assert parse(record["signature"]) == parse(record["metric"])


def test_intervals_pairs_documents_and_segments_work(run):
    line = f"score ref.txt -i a.txt b.txt -m {TASKS} --docs docs.tsv --documents -sl -q"
    found = records(run(f"{line} --confidence --paired-bs --paired-bs-n 200 --format json"))
    whole = [each for each in found if each["document"] is each["segment"] is None]
    assert all(each["low"] <= each["score"] <= each["high"] for each in whole)
    compared = [each for each in whole if each["system"] == "b"]
    assert all(0 < each["p"] <= 1 and each["baseline"] == "a" for each in compared)
    for metric in ("entities", "xscore"):
        for system in "ab":
            mine = [e for e in found if (e["metric"], e["system"]) == (metric, system)]
            (total,) = [e["score"] for e in mine if e["document"] is e["segment"] is None]
            assert total == sum(e["score"] for e in mine if e["segment"] is not None)
            assert total == sum(e["score"] for e in mine if e["document"] is not None)


@pytest.mark.parametrize("form", ["text", "tsv", "latex", "html"])
def test_every_format_shows_them(run, form):
    ran = run(f"score ref.txt -i a.txt b.txt -m {TASKS} --paired-ar --all-pairs -q --format {form}")
    assert (ran.status, ran.err) == (0, "")
    assert "tagger:en" in ran.out.replace("\\_", "_")


def test_case_is_ignored_on_request_where_names_are_compared(run):
    (found,) = records(run("score ref.txt -i a.txt -m entityf -lc --format json -q"))
    assert found["resolved"] == "entityf:lowercase=yes"


def test_favoritism_works(run):
    found = records(run("favor ref.txt -i a.txt b.txt -m entities relations -n 3 --format json -q"))
    assert [each["metric"] for each in found] == ["entities"] * 120 + ["relations"] * 120


def test_muler_refuses_what_cannot_be_masked(refusal):
    said = refusal("muler ref.txt -i a.txt -F gender -m entities")
    assert said.startswith("entities looks at tagged text, in which masked words")


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("entities:pipeline=de", "python -m spacy download de_core_news_sm"),
        ("entities:types=ORGS", "did you mean 'ORG'"),
        ("relations:weights=nsubj*-2", "weights below 0 go with xscore"),
        ("xscore:types=nope", "It has acl, acomp"),
    ],
)
def test_mistakes_are_told_in_one_line(refusal, metric, message):
    assert message in refusal(f"score ref.txt -i a.txt -m {metric}")


def test_types_looks_at_words_only(refusal):
    assert "one of macrof and microf" in refusal("types ref.txt -i a.txt -m entities")
