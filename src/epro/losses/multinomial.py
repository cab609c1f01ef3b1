"""The multinomial logistic loss, of K predictions a row."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp, softmax

from epro import atoms as atoms_of
from epro.atoms.intercept import WithIntercept
from epro.losses.base import Loss
from epro.protocols import Array


class ClassRows(NamedTuple):
    """Rows seen by K vectors of coefficients at once: x has shape (K, d), and a prediction is a row of K numbers."""

    rows: Any
    classes: int

    @property
    def n(self) -> int:
        return self.rows.n

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.classes, *self.rows.shape)

    @property
    def dtype(self) -> np.dtype:
        return self.rows.dtype

    def predictions(self, x: Array) -> Array:
        """<A_i, x_k> for all i and k."""
        return np.stack([self.rows.predictions(row) for row in x], axis=1)

    def adjoint(self, s: Array) -> Array:
        """For each k, sum_i s_ik A_i"""
        return np.stack([self.rows.adjoint(np.ascontiguousarray(column)) for column in s.T])


class Multinomial(Loss):
    """log sum_k exp p_ik - p_iy, for methods that take full gradients (``method="apg"``); without a certificate.

    Parameters
    ----------
    X : array, sparse matrix or memory map of shape (n, d)
    y : integer array of shape (n,)
        Classes, from 0.
    sample_weight : array of shape (n,), optional
    intercept : bool, default False
        Whether each row of x has one more entry, which is added to its predictions.

    Examples
    --------
    >>> import numpy as np
    >>> from epro.losses.multinomial import Multinomial
    >>> round(Multinomial(np.eye(3), [0, 1, 2]).value(np.zeros((3, 3))), 6)
    1.098612
    """

    nonnegative = True
    smoothness = 0.5
    certifiable = False

    def __init__(self, X: Any, y: Any, *, sample_weight: Any = None, intercept: bool = False) -> None:
        rows = atoms_of.rows(X)
        self.codes = np.asarray(y)
        if self.codes.shape != (rows.n,) or not np.issubdtype(self.codes.dtype, np.integer) or self.codes.min() < 0:
            raise ValueError(f"Multinomial: y must hold {rows.n} whole numbers from 0, got shape {self.codes.shape}")
        self.atoms = ClassRows(WithIntercept(rows) if intercept else rows, int(self.codes.max()) + 1)
        self.y = self.codes.astype(rows.dtype)
        self.weights = self._weights(sample_weight)

    def mean_loss(self, p: Array) -> float:
        mine = np.take_along_axis(p, self.codes[:, None], axis=1)[:, 0]
        return float(self.weights @ (logsumexp(p, axis=1) - mine)) / self.n

    def slopes(self, p: Array) -> Array:
        s = softmax(p, axis=1)
        s[np.arange(self.n), self.codes] -= 1.0
        return s * (self.weights / self.dtype.type(self.n))[:, None]
