"""The multinomial logistic loss, of K predictions a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from epro import atoms as atoms_of
from epro.atoms.classes import ClassRows
from epro.atoms.intercept import WithIntercept
from epro.losses.base import Loss
from epro.protocols import Array


class Multinomial(Loss):
    """log sum_k exp p_ik - p_iy, for methods that take full gradients (``method="apg"``).

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

    def __init__(self, X: Any, y: Any, *, sample_weight: Any = None, intercept: bool = False) -> None:
        rows = atoms_of.rows(X)
        self.codes = np.asarray(y)
        if self.codes.shape != (rows.n,) or not np.issubdtype(self.codes.dtype, np.integer) or self.codes.min() < 0:
            raise ValueError(f"Multinomial: y must hold {rows.n} whole numbers from 0, got shape {self.codes.shape}")
        self.atoms = ClassRows(WithIntercept(rows) if intercept else rows, int(self.codes.max()) + 1)
        self.y = self.codes.astype(rows.dtype)
        self.weights = self._weights(sample_weight)

    @property
    def intercept(self) -> bool:
        return isinstance(self.atoms.rows, WithIntercept)

    def mean_loss(self, p: Array) -> float:
        return float(np.sum(self.weights * (soft(p)[0] - self._own(p)), dtype=np.float64)) / self.n

    def slopes(self, p: Array) -> Array:
        return self._row_slopes(soft(p)[1], self.weights) / p.dtype.type(self.n)

    def sums(self, p: Array, rows: slice, slopes: Array) -> tuple[float, float, float]:
        """As `passes.moreau_rows` with mu = 0: the sum of the losses, twice, and of the slopes' absolute values."""
        log, q = soft(p)
        total = float(self.weights[rows] @ (log - self._own(p, rows)))
        slopes[...] = self._row_slopes(q, self.weights[rows], rows)
        return total, total, float(np.abs(slopes).sum())

    def shift(self, p: Array) -> Array:
        """The intercepts, one per class, that minimise the mean loss of p + b: Newton's steps, halved uphill."""
        weights, b, last = self.weights.astype(np.float64), np.zeros(p.shape[1]), np.inf
        for _ in range(50):
            q = soft(p + b)[1]
            gradient = self._row_slopes(q.copy(), weights).sum(axis=0)
            size = float(np.abs(gradient).max())
            if size <= 4 * np.finfo(float).eps or size >= 0.5 * last:
                break
            hessian = np.diag(weights @ q) - (q * weights[:, None]).T @ q
            step, length = np.linalg.lstsq(hessian, gradient, rcond=1e-12)[0], 1.0
            value = self.mean_loss(p + b)
            while length > 1e-6 and self.mean_loss(p + b - length * step) > value + 1e-14 * abs(value):
                length *= 0.5
            b, last = b - length * step, size if length == 1.0 else np.inf
        return b

    def _own(self, p: Array, rows: slice = slice(None)) -> Array:
        """The prediction of each row's own class."""
        return p[np.arange(len(p)), self.codes[rows]]

    def _row_slopes(self, q: Array, weights: Array, rows: slice = slice(None)) -> Array:
        """From probabilities, in place, to slopes times weights."""
        q[np.arange(len(q)), self.codes[rows]] -= 1.0
        q *= weights[:, None]
        return q


def soft(p: Array) -> tuple[Array, Array]:
    """log sum_k exp p_ik and exp p_ik over that sum."""
    top = p.max(axis=1)
    q = np.exp(p - top[:, None])
    total = q.sum(axis=1)
    q /= total[:, None]
    return np.log(total) + top, q
