"""Fairness: a bounded covariance of predictions with sensitive columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from epro.constraints.polyhedron import Polyhedron
from epro.protocols import Array
from epro.validation import finite, positive


class Moments(NamedTuple):
    """What a covariance is made of, over weighted rows; those of two batches make those of both."""

    total: float  # of the weights
    s: Array  # means of the sensitive columns
    x: Array  # means of the columns of X
    products: Array  # sums of (s - its mean) (x - its mean)

    def plus(self, other: Moments) -> Moments:
        """Of the rows of both."""
        total = self.total + other.total
        share, s, x = other.total / total, other.s - self.s, other.x - self.x
        products = self.products + other.products + self.total * share * np.outer(s, x)
        return Moments(total, self.s + share * s, self.x + share * x, products)

    def bound(self, at_most: float) -> Polyhedron:
        """{w : |cov(s, Xw)| <= t for each sensitive column s}."""
        t = positive(at_most, "fairness: the largest covariance", zero=True)
        rows = self.products / self.total
        return Polyhedron(np.vstack([rows, -rows]), np.full(2 * len(rows), t))


def moments(X: Any, sensitive: Any, weights: Any = None) -> Moments:
    """Those of the rows of X and of the sensitive columns."""
    S = finite(sensitive, "fairness: sensitive").astype(float)
    S = S.reshape(len(S), -1)
    if len(S) != X.shape[0]:
        raise ValueError(f"fairness: sensitive has {len(S)} rows, but X has {X.shape[0]}")
    w = np.ones(len(S)) if weights is None else np.asarray(weights, dtype=float)
    total, s = float(w.sum()), (w @ S) / w.sum()
    x, products = (np.asarray(X.T @ v, dtype=float).T for v in (w, (S - s) * w[:, None]))
    return Moments(total, s, x / total, products)


def covariance_bound(X: Any, sensitive: Any, at_most: float, weights: Any = None) -> Polyhedron:
    """{w : |cov(s, Xw)| <= t for each sensitive column s}: two linear inequalities each.

    cov(s, Xw) = <a, w> with a = X'(s - mean s)/n; an intercept does not change it.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
    sensitive : array of shape (n,) or (n, k)
    at_most : float
        t, at least zero.
    weights : array of shape (n,), optional
        A row of weight k counts as k rows.

    Examples
    --------
    >>> import numpy as np
    >>> from epro.constraints.covariance import covariance_bound
    >>> round(float(covariance_bound(np.eye(2), [0.0, 1.0], 0.1).value(np.ones(2))), 12)
    -0.1
    """
    return moments(X, sensitive, weights).bound(at_most)
