"""The figures in the documentation are those that come out."""

from pathlib import Path

import pytest

from assay.metrics.base import parse
from assay.scoring import score
from tests.contract.varied import METRICS, is_tagged, needs_tagger
from tests.corpora import demo
from tests.metrics.tagged.conftest import SYSTEMS

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "metrics.md").read_text("utf-8")
COLUMNS = {
    "entities": "g",
    "entities:types=all": "g",
    "entityf": ".1f",
    "relations": ".1f",
    "relations:match=word": ".1f",
    "xscore": "g",
}


@needs_tagger
def test_the_table_of_the_demonstration_set_is_what_comes_out():
    systems = {name: demo(f"systems/{name}.txt") for name in SYSTEMS}
    result = score(systems, [demo("ref.A.txt")], list(COLUMNS))
    for at, name in enumerate(systems):
        scores = zip(result.by_metric, COLUMNS.values(), strict=True)
        cells = [f"{entry.corpus[at]:{form}}" for entry, form in scores]
        assert f"| {name} | {' | '.join(cells)} |\n" in PAGE


@needs_tagger
@pytest.mark.parametrize("name", ["entities", "entityf", "relations", "xscore"])
def test_the_signature_on_the_page_is_the_metric_s_own(name):
    metric = parse(name)
    signature = metric.signature(1 if metric.needs_references else None)
    kept = [part for part in signature.split("|") if part.split(":")[0] not in ("tagger", "spacy")]
    shown = "|".join([*kept[:-1], "tagger:...", "spacy:...", kept[-1]])
    assert f"*Signature*: `{shown}`" in PAGE


@pytest.mark.parametrize("metric", [m for m in METRICS if is_tagged(m)], ids=str)
def test_every_metric_has_its_section(metric):
    assert f"\n### {metric.title}\n" in PAGE
