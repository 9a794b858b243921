"""Every metric is held against figures that did not come from its own code."""

import json
from pathlib import Path

import pytest

from assay.metrics.base import METRICS

TESTS = Path(__file__).parents[1]

ORACLES = {
    "macrof": "metrics/test_typef.py",  # slow and obvious counting
    "microf": "metrics/test_typef.py",
    "entities": "metrics/tagged/test_entities.py",  # names counted by hand
    "entityf": "metrics/tagged/test_entityf.py",
    "relations": "metrics/tagged/test_relations.py",  # relations counted by hand
    "xscore": "metrics/tagged/test_relations.py",
    "boost": "explanation/test_boosted.py",  # the paper's formula, with SciPy's power mean
    "bertscore": "metrics/neural/test_bertscore.py",  # the package bert_score
    "embed": "metrics/neural/test_embed.py",  # the packages' own cosines
    "xmover": "metrics/neural/test_mover.py",  # linear programming
    "comet": "metrics/neural/test_comet.py",  # the package comet
    "fault": "metrics/test_faults.py",  # faults counted one by one, and planted ones
    "random": "metrics/neural/test_noise.py",  # the uniform distribution
}
"""The tests that work a metric out in another way, where no golden figures are written down."""


def ours():
    """The names of our metrics: not those of plug-ins, nor of other tests."""
    return [name for name in METRICS.names() if METRICS.get(name).__module__.startswith("assay.")]


def golden():
    """The metrics of which another program's figures are written down."""
    blocks = (json.loads(path.read_text("utf-8")) for path in (TESTS / "golden").glob("*.json"))
    return {block["metric"].partition(":")[0] for file in blocks for block in file}


def unproven(names):
    """Those of the metrics that are held against nothing."""
    return [name for name in names if name not in golden() and name not in ORACLES]


def test_every_metric_has_golden_figures_or_an_oracle():
    assert unproven(ours()) == [], "add a block to tests/golden/, or name the oracle in ORACLES"


def test_a_new_metric_with_neither_is_found():
    assert unproven([*ours(), "brandnew"]) == ["brandnew"]


@pytest.mark.parametrize("name", ORACLES)
def test_an_oracle_is_a_test_of_that_metric(name):
    text = (TESTS / ORACLES[name]).read_text("utf-8")
    assert "def test_" in text
    assert f'"{name}' in text or METRICS.get(name).__name__ in text


def test_no_oracle_is_named_for_a_metric_that_is_gone():
    assert set(ORACLES) <= set(ours())
