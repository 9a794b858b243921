"""Paired tests give the figures of sacreBLEU, but for ties."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import sacrebleu
from sacrebleu.significance import PairedTest

from assay.data import Segment
from assay.metrics.base import Metric
from assay.statistics.significance import against_first, paired_bootstrap, paired_randomisation

SEED = 12345
SACREBLEUS = {"bleu": sacrebleu.BLEU(), "chrf": sacrebleu.CHRF()}


@dataclass(frozen=True)
class Sacre(Metric):
    """A metric of sacreBLEU: its own statistics, its own score."""

    name: ClassVar[str] = "sacre"
    which: str = "bleu"

    def rows(self, segments):
        hypotheses = [segment.hypothesis for segment in segments]
        references = [[segment.references[0] for segment in segments]]
        return np.array(
            SACREBLEUS[self.which]._extract_corpus_statistics(hypotheses, references), float
        )

    def aggregate(self, sums):
        oracle = SACREBLEUS[self.which]
        return np.array([oracle._compute_score_from_stats(each).score for each in sums])


def noisy(lines, rate, rng):
    """The lines with some words replaced and some lost."""
    words = sorted({word for line in lines for word in line.split()})
    return [
        " ".join(
            str(rng.choice(words)) if chance < rate else word
            for word, chance in zip(line.split(), rng.random(99), strict=False)
            if chance < 1 - rate / 5
        )
        for line in lines
    ]


@pytest.fixture(scope="module")
def references():
    rng = np.random.default_rng(1)
    words = [f"{a}{b}{c}" for a in "bdfk" for b in "aeiou" for c in "nst"]
    return [" ".join(rng.choice(words, rng.integers(4, 15))) for _ in range(71)]


@pytest.fixture(scope="module")
def outputs(references):
    rng = np.random.default_rng(2)
    return [noisy(references, rate, rng) for rate in (0.30, 0.33, 0.30, 0.40)]


def sacre(which, outputs, references):
    segments = [
        Segment(line, (reference,))
        for lines in outputs
        for line, reference in zip(lines, references, strict=True)
    ]
    together = Sacre(which).statistics(segments)
    size = len(references)
    return [together[at : at + size] for at in range(0, len(together), size)]


def sacrebleu_p(which, outputs, references, kind, count):
    named = [(f"system {number}", lines) for number, lines in enumerate(outputs)]
    metrics = {"metric": SACREBLEUS[which]}
    _, scores = PairedTest(named, metrics, [references], test_type=kind, n_samples=count)()
    (column,) = [column for name, column in scores.items() if name != "System"]
    return [result.p_value for result in column[1:]]


def rng():
    return np.random.default_rng(SEED)


@pytest.mark.parametrize("which", SACREBLEUS)
def test_paired_bootstrap_gives_the_figures_of_sacrebleu(which, outputs, references):
    statistics = sacre(which, outputs, references)
    found = paired_bootstrap(
        statistics, pairs=against_first(4), resamples=300, statistic="sacrebleu", rng=rng()
    )
    theirs = sacrebleu_p(which, outputs, references, "bs", 300)
    assert [comparison.p for comparison in found] == theirs
    assert len(set(theirs)) == 3


@pytest.mark.parametrize("which", SACREBLEUS)
def test_paired_randomisation_gives_the_figures_of_sacrebleu(which, outputs, references):
    statistics = sacre(which, outputs, references)
    found = paired_randomisation(
        statistics, pairs=against_first(4), trials=300, resamples=0, rng=rng()
    )
    theirs = sacrebleu_p(which, outputs, references, "ar", 300)
    assert [comparison.p for comparison in found] == theirs
    assert len(set(theirs)) == 3


def test_identical_systems_have_a_p_of_one_where_sacrebleu_is_certain(outputs, references):
    twice = [outputs[0], outputs[0]]
    statistics = sacre("bleu", twice, references)
    pairs = against_first(2)
    ours = [
        paired_bootstrap(statistics, pairs=pairs, resamples=50, rng=rng()),
        paired_randomisation(statistics, pairs=pairs, trials=50, resamples=50, rng=rng()),
    ]
    assert [each.p for (each,) in ours] == [1, 1]
    theirs = [sacrebleu_p("bleu", twice, references, kind, 50) for kind in ("bs", "ar")]
    assert theirs == [[1 / 51], [1 / 51]]
    (faithful,) = paired_bootstrap(
        statistics, pairs=pairs, resamples=50, statistic="sacrebleu", rng=rng()
    )
    assert faithful.p == 1 / 51


def test_randomisation_counts_the_ties_that_sacrebleu_leaves_out(outputs, references):
    few = [*outputs[1][:3], *outputs[0][3:]]
    statistics = sacre("bleu", [outputs[0], few], references)
    (found,) = paired_randomisation(statistics, pairs=[(1, 0)], trials=200, resamples=0, rng=rng())
    keep = rng().integers(2, size=(200, len(references)), dtype=bool)
    base, other = statistics
    sizes = [
        abs(
            base.metric.aggregate((row @ base.rows + ~row @ other.rows)[None])[0]
            - base.metric.aggregate((row @ other.rows + ~row @ base.rows)[None])[0]
        )
        for row in keep
    ]
    ties = np.isclose(sizes, abs(found.difference), rtol=1e-9).sum()
    assert ties > 10
    (theirs,) = sacrebleu_p("bleu", [outputs[0], few], references, "ar", 200)
    assert found.p == pytest.approx(theirs + ties / 201)
