"""The figures in the documentation are those that come out."""

from pathlib import Path

from assay.registry import parse
from assay.scoring import score
from tests.corpora import demo
from tests.neural.tiny import needs_models

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "metrics.md").read_text("utf-8")
COLUMNS = [
    "bertscore",
    "bertscore:idf=yes",
    "bertscore:rescale=yes",
    "bertscore:measure=recall",
]


@needs_models
def test_the_table_of_the_demonstration_set_is_what_comes_out():
    systems = {name: demo(f"systems/{name}.txt") for name in ("atlas", "birch", "cedar")}
    result = score(systems, [demo("ref.A.txt")], COLUMNS)
    for at, name in enumerate(systems):
        cells = [f"{entry.corpus[at]:.4f}" for entry in result.by_metric]
        assert f"| {name} | {' | '.join(cells)} |\n" in PAGE


@needs_models
def test_the_signature_on_the_page_is_the_metric_s_own():
    assert f"*Signature*: `{parse('bertscore').get_signature()}`" in PAGE
