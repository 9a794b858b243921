"""What Leiter et al. (2022) say of weights and powers, from the figures of every setting."""

import csv

import numpy as np
import pytest

from assay.explanation.boosted import PUBLISHED

NAMES = {
    "erasure": "ErasureExplainer",
    "lime": "LimeExplainer",
    "shap": "ShapExplainer",
    "marginal": "InputMarginalizationExplainer",
}
EXPLORED = ("wmt17", "eval4_nlp_21_test", "wmt_22_expl_train")


@pytest.fixture(scope="module")
def settings(shared):
    """The settings of the study: with both sides explained, and without random metrics."""
    with (shared / "published" / "bmx_summary.tsv").open() as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [
        row
        for row in rows
        if row["tokens"] == "ref+hyp"
        and row["metric"] != "RandomScore"
        and not row["metric"].startswith("Second_Iteration")
    ]


@pytest.mark.parametrize("explainer", PUBLISHED)
def test_the_recommended_weights_and_powers_are_medians_of_the_best(explainer, settings):
    own = [
        row
        for row in settings
        if row["explainer"] == NAMES[explainer] and row["dataset"] in EXPLORED
    ]
    assert len(own) == 272 / 4
    medians = [np.median([float(row[key]) for row in own]) for key in ("best_w", "best_p")]
    assert medians == pytest.approx(list(PUBLISHED[explainer]))


def test_lime_at_the_medians_improves_15_of_18_settings_of_an_unseen_data_set(settings):
    own = [
        float(row["pearson_at_w0.4_p-1.4"]) > float(row["orig_pearson(w=1)"])
        for row in settings
        if row["explainer"] == NAMES["lime"] and row["dataset"] == "wmt_22_test_sets"
    ]
    assert (sum(own), len(own)) == (15, 18)
