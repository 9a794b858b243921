"""The plug-in keeps the contracts of `assay`."""

import pytest
from assay_plugin_example import LengthMatch, Reading, Somers

from assay.testing import check_coefficient, check_explainer, check_metric


@pytest.mark.parametrize("metric", [LengthMatch(), LengthMatch("char")], ids=str)
def test_the_metric_keeps_the_contract(metric):
    check_metric(metric)


def test_the_explainer_keeps_the_contract():
    check_explainer(Reading())


def test_the_coefficient_keeps_the_contract():
    check_coefficient(Somers())


def test_half_of_the_words_are_half_of_the_score():
    assert LengthMatch().sentence_score("a b", ["a b c d"]).score == 50
