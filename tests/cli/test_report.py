"""`assay report`: the page and the Markdown, from options and from a study."""

import json
from pathlib import Path

import pytest


@pytest.fixture
def texts(here):
    from tests.corpora import demo

    names = {"ref": "ref.A", "a": "systems/atlas", "b": "systems/birch", "c": "systems/cedar"}
    for name, of in {**names, "src": "src"}.items():
        Path(f"{name}.txt").write_text("\n".join(demo(f"{of}.txt")) + "\n", "utf-8")


def test_the_page_opens_with_the_verdict_and_holds_everything(run, texts):
    ran = run("report ref.txt -i a.txt b.txt c.txt -s src.txt -F none -l de-en -o report.html")
    assert (ran.status, ran.out) == (0, "")
    page = Path("report.html").read_text("utf-8")
    verdict = page.index("a leads by chrF2 (67.1)")
    assert verdict < page.index("Scoreboard</h2>")
    for part in ("Segments that decide", "Words that help and hurt", "assay report ref.txt"):
        assert part in page
    payload = page.split('<script type="application/json"')[1].split(">", 1)[1]
    data = json.loads(payload.split("</script>")[0])
    assert data["systems"] == ["a", "b", "c"]
    assert len(data["segments"]["outputs"]["c"]) == 120


def test_markdown_is_for_a_pull_request(run, texts):
    ran = run("report ref.txt -i a.txt b.txt -s src.txt -F none -l de-en --format markdown")
    assert ran.status == 0
    assert ran.out.startswith("b is worse than a by chrF2")
    for heading in ("### Scoreboard", "### Where they differ", "### An example of each"):
        assert heading in ran.out


def test_a_study_takes_the_place_of_options(run, texts):
    Path("study.toml").write_text(
        'title = "Spring"\nfeatures = []\n[data]\nreferences = ["ref.txt"]\n'
        'systems = ["a.txt", "b.txt"]\nlanguages = "de-en"\n[limits]\nchrf = { min = 99 }\n',
        "utf-8",
    )
    ran = run("report study.toml -o report.html")
    assert ran.status == 0
    page = Path("report.html").read_text("utf-8")
    assert "<title>Spring</title>" in page
    assert "breaks 1 of 1 limits: chrf" in page


def test_a_study_and_options_for_texts_do_not_go_together(run, texts):
    Path("study.toml").write_text('[data]\nreferences = ["ref.txt"]\n', "utf-8")
    ran = run("report study.toml -i a.txt b.txt")
    assert ran.status == 2
    assert ran.err == "assay: study.toml names all texts: leave -i, -s and --data out.\n"
