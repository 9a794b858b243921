"""Correlations of many rows at once against SciPy."""

import numpy as np
import pytest
from scipy import stats

from assay.statistics.correlation import pearson_rows


def test_correlations_are_those_of_scipy_and_unknown_where_nothing_varies():
    rng = np.random.default_rng(4)
    rows, human = rng.normal(size=(5, 30)) + 1e6, rng.normal(size=30)
    assert pearson_rows(rows, human) == pytest.approx([stats.pearsonr(r, human)[0] for r in rows])
    assert np.isnan(pearson_rows(np.full((2, 30), 0.1), human)).all()
    assert np.isnan(pearson_rows(rows, np.full(30, 0.1))).all()
