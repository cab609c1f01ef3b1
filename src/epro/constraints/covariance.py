"""Fairness: a bounded covariance of predictions with sensitive columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from epro.constraints.polyhedron import Polyhedron
from epro.validation import finite, positive


def covariance_bound(X: Any, sensitive: Any, at_most: float) -> Polyhedron:
    """{w : |cov(s, Xw)| <= t for each sensitive column s}: two linear inequalities each.

    cov(s, Xw) = <a, w> with a = X'(s - mean s)/n; an intercept does not change it.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
    sensitive : array of shape (n,) or (n, k)
    at_most : float
        t, at least zero.

    Examples
    --------
    >>> import numpy as np
    >>> from epro.constraints.covariance import covariance_bound
    >>> round(float(covariance_bound(np.eye(2), [0.0, 1.0], 0.1).value(np.ones(2))), 12)
    -0.1
    """
    S = finite(sensitive, "fairness: sensitive").astype(float)
    S = S.reshape(len(S), -1)
    if len(S) != X.shape[0]:
        raise ValueError(f"fairness: sensitive has {len(S)} rows, but X has {X.shape[0]}")
    t = positive(at_most, "fairness: the largest covariance", zero=True)
    centred = S - S.mean(axis=0)
    rows = np.asarray(X.T @ centred, dtype=float).T / len(S)
    return Polyhedron(np.vstack([rows, -rows]), np.full(2 * len(rows), t))
