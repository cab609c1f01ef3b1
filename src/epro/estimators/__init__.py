"""Estimators in the manner of scikit-learn."""

from epro.estimators.classifier import ConstrainedClassifier
from epro.estimators.lmnn import LMNN
from epro.estimators.regressor import ConstrainedRegressor

__all__ = ["LMNN", "ConstrainedClassifier", "ConstrainedRegressor"]
