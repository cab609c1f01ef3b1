"""How a learned Mahalanobis metric is used, under the names of metric-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from epro.protocols import Array


class MahalanobisMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Distances |L(u - v)| and coordinates Lx, with L the rows of ``components_``."""

    components_: Array
    n_features_in_: int

    def transform(self, X: Any) -> Array:
        """X in coordinates where the metric is the Euclidean one.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            One row per sample.

        Returns
        -------
        array of shape (n_samples, n_rows)
            One column per row of ``components_``.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return X @ self.components_.T

    def get_mahalanobis_matrix(self) -> Array:
        """The metric, ``components_.T @ components_``.

        Returns
        -------
        array of shape (n_features, n_features)
            Positive semidefinite.
        """
        check_is_fitted(self)
        return self.components_.T @ self.components_

    def pair_distance(self, pairs: Any) -> Array:
        """The distances of pairs of points.

        Parameters
        ----------
        pairs : array of shape (n_pairs, 2, n_features)
            Two points each.

        Returns
        -------
        array of shape (n_pairs,)
            One per pair.
        """
        check_is_fitted(self)
        pairs = np.asarray(pairs)
        if pairs.ndim != 3 or pairs.shape[1:] != (2, self.n_features_in_):
            raise ValueError(f"pairs must have shape (n_pairs, 2, {self.n_features_in_}), got {pairs.shape}")
        return np.linalg.norm((pairs[:, 0] - pairs[:, 1]) @ self.components_.T, axis=1)

    def pair_score(self, pairs: Any) -> Array:
        """Give minus the distances of pairs of points: larger is more similar.

        Parameters
        ----------
        pairs : array of shape (n_pairs, 2, n_features)
            Two points each.

        Returns
        -------
        array of shape (n_pairs,)
            One per pair.
        """
        return -self.pair_distance(pairs)

    def score_pairs(self, pairs: Any) -> Array:
        """The distances of pairs of points, under metric-learn's older name.

        Parameters
        ----------
        pairs : array of shape (n_pairs, 2, n_features)
            Two points each.

        Returns
        -------
        array of shape (n_pairs,)
            One per pair.
        """
        return self.pair_distance(pairs)

    def get_metric(self) -> Any:
        """The metric as a function of two points, as scikit-learn's neighbours accept it.

        Returns
        -------
        callable
            Called as ``metric(u, v, squared=False)``.
        """
        check_is_fitted(self)
        components = self.components_.copy()

        def metric(u: Any, v: Any, squared: bool = False) -> float:
            d = components @ (np.asarray(u) - np.asarray(v))
            return float(d @ d) if squared else float(np.sqrt(d @ d))

        return metric

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]
