"""`assay demo`: the story it tells is the story of the figures."""

from pathlib import Path

import assay
from tests.corpora import demo


def test_the_demo_writes_a_report_and_tells_the_story(run):
    ran = run("demo")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.endswith("The whole report, with charts and examples: assay-demo/report.html\n")
    page = Path("assay-demo/report.html").read_text("utf-8")
    for title in ("Scores", "MacroF1: atlas or birch?", "Types by frequency"):
        assert title in page
    assert page.count("<svg") >= 3


def test_the_story_is_true():
    systems = {name: demo(f"systems/{name}.txt") for name in ("atlas", "birch", "cedar")}
    references = {"A": demo("ref.A.txt"), "B": demo("ref.B.txt")}
    records = assay.score(systems, references, ["bleu", "macrof"]).records()
    score = {(each["metric"], each["system"]): each["score"] for each in records}
    assert score["bleu", "birch"] > score["bleu", "atlas"] > score["bleu", "cedar"]
    assert score["macrof", "atlas"] > score["macrof", "birch"]


def test_the_demo_can_be_put_elsewhere_again_and_again(run):
    for _ in range(2):
        assert run("demo some/where").out.endswith(": some/where/report.html\n")
    assert Path("some/where/report.html").stat().st_size > 10_000
