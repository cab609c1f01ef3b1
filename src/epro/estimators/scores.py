"""From the scores of a linear classifier to classes and probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from epro.protocols import Array


def _has_probabilities(estimator: Any) -> bool:
    if estimator.loss != "log_loss":
        raise AttributeError(f"probabilities need loss='log_loss', got {estimator.loss!r}")
    return True


class ScoresMixin(ClassifierMixin):
    """Classes and probabilities from ``coef_`` and ``intercept_``."""

    classes_: Array
    coef_: Array
    intercept_: Array
    multi_class: str

    def decision_function(self, X: Any) -> Array:
        """Signed scores; positive for the second of two classes.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            One row per sample.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
            One column per class where there are more than two.
        """
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        scores = X @ self.coef_.T + self.intercept_
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> Array:
        """Classes.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            One row per sample.

        Returns
        -------
        array of shape (n_samples,)
            One per row.
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Give the probabilities of the classes, for "log_loss"; one-vs-rest ones are divided by their sum.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            One row per sample.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        if self.multi_class == "multinomial":
            return softmax(scores, axis=1)
        found = expit(scores)
        return found / np.maximum(found.sum(axis=1, keepdims=True), np.finfo(found.dtype).tiny)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> Array:
        """Give the logarithms of the probabilities.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            One row per sample.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return np.log(self.predict_proba(X))
