"""What several references promise, metric by metric."""

from dataclasses import replace

import numpy as np
import pytest

from assay.data import Segment
from assay.metrics.bleu import BLEU
from assay.metrics.chrf import CHRF
from assay.metrics.entities import EntityF, Relations
from assay.metrics.rouge import ROUGE
from assay.metrics.ter import TER, WER
from assay.metrics.typef import MacroF, MicroF
from tests.contract.varied import METRICS, parameters
from tests.corpora import texts


def close(values):
    return pytest.approx(values, abs=1e-9, rel=0)


def joined(count):
    """Segments with all their references, and the same with each reference alone."""
    full = texts(count, references=3, system="cedar").segments()
    alone = [[Segment(each.hypothesis, (each.references[at],)) for each in full] for at in range(3)]
    return full, alone


@pytest.mark.parametrize("metric", [m for m in METRICS if isinstance(m, BLEU)], ids=str)
def test_more_references_never_take_away_ngram_matches_of_bleu(metric):
    full, alone = joined(20)
    order = metric.max_ngram_order
    matches = metric.rows(full)[:, 2 : 2 + order]
    for each in alone:
        assert (matches >= metric.rows(each)[:, 2 : 2 + order]).all()


@pytest.mark.parametrize(
    "metric",
    [m for m in METRICS if (isinstance(m, CHRF) and not m.legacy) or isinstance(m, ROUGE)],
    ids=str,
)
def test_a_segment_has_the_best_reference_of_chrf_and_rouge(metric):
    # ROUGE chooses by F, so only F is the best; precision and recall are those of that choice.
    full, alone = joined(20)
    if isinstance(metric, ROUGE):
        metric = ROUGE(type=metric.type, stem=metric.stem)
    best = np.max([metric.statistics(each).segments() for each in alone], axis=0)
    assert metric.statistics(full).segments() == close(best)


@pytest.mark.parametrize(
    "metric", parameters(m for m in METRICS if isinstance(m, (EntityF, Relations))), ids=str
)
def test_a_segment_has_the_best_reference_of_names_and_relations(metric):
    full, alone = joined(20)
    metric = replace(metric, measure="f1")  # the choice is by F1, whatever is shown of it
    best = np.max([metric.statistics(each).segments() for each in alone], axis=0)
    assert metric.statistics(full).segments() == close(best)


@pytest.mark.parametrize("metric", [m for m in METRICS if isinstance(m, (TER, WER))], ids=str)
def test_edits_are_those_to_the_nearest_reference(metric):
    full, alone = joined(20)
    nearest = np.min([metric.rows(each)[:, 0] for each in alone], axis=0)
    lengths = np.mean([metric.rows(each)[:, 1] for each in alone], axis=0)
    assert metric.rows(full) == close(np.column_stack([nearest, lengths]))


@pytest.mark.parametrize("metric", [m for m in METRICS if isinstance(m, (MacroF, MicroF))], ids=str)
def test_more_references_never_take_away_matched_types(metric):
    full, alone = joined(20)

    def matched(segments):
        counts, types = metric.count(segments)
        return dict(zip(types, counts.sum(axis=0)[2::3].tolist(), strict=True))

    together = matched(full)
    for each in alone:
        assert all(together[name] >= count for name, count in matched(each).items())


@pytest.mark.parametrize(
    "metric",
    parameters(m for m in METRICS if not (isinstance(m, CHRF) and m.legacy)),
    ids=str,
)
def test_the_order_of_references_does_not_matter(metric):
    full, _ = joined(12)
    turned = [Segment(each.hypothesis, each.references[::-1]) for each in full]
    if isinstance(metric, ROUGE):  # of two references with the same F the first one is taken
        metric = ROUGE(type=metric.type, stem=metric.stem)
    assert metric.statistics(turned).segments() == close(metric.statistics(full).segments())
