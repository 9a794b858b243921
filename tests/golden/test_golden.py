"""Figures of other programs, written down: they stay even if those programs change."""

import json
from pathlib import Path

import pytest

from assay.metrics.base import parse
from tests.corpora import demo

BLOCKS = [
    pytest.param(block, system, id=f"{block['metric']}-{len(block['references'])}-{system}")
    for path in sorted(Path(__file__).parent.glob("*.json"))
    for block in json.loads(path.read_text(encoding="utf-8"))
    for system in block["scores"]
]


@pytest.mark.parametrize(("block", "system"), BLOCKS)
def test_a_figure_is_what_the_named_program_gave(block, system):
    references = {name: demo(name) for name in block["references"]}
    ours = parse(block["metric"]).corpus_score(demo(f"systems/{system}.txt"), references)
    assert ours.score == pytest.approx(block["scores"][system], abs=1e-9), block["tool"]
