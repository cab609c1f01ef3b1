"""scikit-learn's own checks, with no expected failures."""

from __future__ import annotations

import warnings

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import epro

ESTIMATORS = [
    epro.ConstrainedRegressor(),
    epro.ConstrainedRegressor(loss="quantile", positive=True),
    epro.ConstrainedClassifier(),
    epro.ConstrainedClassifier(loss="hinge", constraint=epro.constraints.L1Ball(5.0)),
]


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)
