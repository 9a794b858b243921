"""The figures and signatures of neural metrics in the documentation are their own."""

from pathlib import Path

import pytest

from assay.metrics.base import parse
from assay.scoring import score
from tests.corpora import demo
from tests.metrics.neural.tiny import needs_models

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "metrics.md").read_text("utf-8")
TABLES = [
    ("bertscore", "bertscore:idf=yes", "bertscore:rescale=yes", "bertscore:measure=recall"),
    (
        "embed",
        "embed:against=source",
        "xmover",
        "xmover:ngram=1",
        "xmover:against=reference",
        "random",
    ),
]


@needs_models
@pytest.mark.parametrize("columns", TABLES, ids=["bertscore", "others"])
def test_the_table_of_the_demonstration_set_is_what_comes_out(columns):
    systems = {name: demo(f"systems/{name}.txt") for name in ("atlas", "birch", "cedar")}
    result = score(systems, [demo("ref.A.txt")], columns, sources=demo("src.txt"))
    for at, name in enumerate(systems):
        cells = [f"{entry.corpus[at]:.4f}" for entry in result.by_metric]
        assert f"| {name} | {' | '.join(cells)} |\n" in PAGE


@needs_models
@pytest.mark.parametrize("name", ["bertscore", "embed", "xmover", "random"])
def test_the_signature_on_the_page_is_the_metric_s_own(name):
    metric = parse(name)
    said = metric.signature(1 if metric.needs_references else None)
    assert f"*Signature*: `{said}`" in PAGE


@pytest.mark.parametrize("name", ["bertscore", "embed", "xmover", "comet", "random"])
def test_every_metric_has_its_section(name):
    assert f"\n### {parse(name).title}\n" in PAGE
