"""The curvature of the loss as a matrix, and the search along a line."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import get_blas_funcs

from epro.atoms.intercept import Appended
from epro.kernels.batch import sparse_gram
from epro.protocols import Array, Index
from epro.regularizers import Regularizer

BLOCK_BYTES = 1 << 24  # rows weighted at a time


class Hessian:
    """(1/m) sum over m sampled rows of w_i loss''(p_i, y_i) A_i A_i', in double precision.

    Where few rows are curved at all (a squared hinge, on its flat side), all of those are taken.
    The rows of the sample are copied once, in file order; where the sample is all rows, they are read in blocks.
    """

    def __init__(self, loss: Any, order: Index) -> None:
        self.loss, self.order = loss, order
        self._rows, self._sample = np.empty(0, np.int64), None
        self._last: tuple[Array, Array] | None = None  # curvatures and the matrix that they gave

    def __call__(self, p: Array, size: int) -> Array:
        curvature = self.loss.curvatures(p)
        curved = np.flatnonzero(curvature)
        if len(curved) <= size < self.loss.n or len(curved) < 0.5 * self.loss.n <= size:
            return gram(self.loss.atoms.matrix()[curved], curvature[curved])  # the flat rows add nothing
        if size >= self.loss.n:
            return self._remembered(self.loss.atoms.matrix(), curvature)
        if size != len(self._rows):
            self._rows = np.sort(self.order[:size])
            self._sample = self.loss.atoms.matrix()[self._rows]
        return self._remembered(self._sample, curvature[self._rows]) * (self.loss.n / size)

    def _remembered(self, matrix: Any, curvature: Array) -> Array:
        """Least squares have the same curvatures at every point."""
        if self._last is None or not np.array_equal(self._last[0], curvature):
            self._last = curvature, gram(matrix, curvature)
        return self._last[1]


def rows_of(atoms: Any) -> Any:
    """The rows as one matrix; those of triplets, matrices themselves, entry by entry."""
    if not hasattr(atoms, "triplets"):
        return atoms.matrix()
    points = np.asarray(atoms.X if hasattr(atoms, "X") else atoms.matrix().toarray(), np.float64)
    anchor, similar, other = points[atoms.triplets.T]
    near, far = anchor - similar, anchor - other
    return (near[:, :, None] * near[:, None, :] - far[:, :, None] * far[:, None, :]).reshape(len(near), -1)


def gram(matrix: Any, weights: Array) -> Array:
    """matrix' diag(weights) matrix, for weights >= 0, in double precision; dense rows in blocks."""
    if isinstance(matrix, Appended):  # a column of ones adds a border
        border = np.asarray(matrix.matrix.T @ weights, np.float64)
        inner = gram(matrix.matrix, weights)
        return np.block([[inner, border[:, None]], [border, weights.sum(dtype=np.float64)]])
    n, d = matrix.shape
    if hasattr(matrix, "indptr"):
        return sparse_gram(matrix.indptr, matrix.indices, matrix.data, weights, d)
    total = np.zeros((d, d), order="F")
    syrk: Any = get_blas_funcs("syrk", dtype=np.dtype(np.float64))
    step = max(1, BLOCK_BYTES // (8 * d))
    for start in range(0, n, step):
        rows = weighted(matrix[start : start + step], np.sqrt(weights[start : start + step].astype(np.float64)))
        total = syrk(1.0, rows.T, beta=1.0, c=total, overwrite_c=1)
    return np.triu(total) + np.triu(total, 1).T


def steadied(H: Array) -> Array:
    """H, positive definite also where the data leave a flat direction, or a column of zeros."""
    diagonal = np.diag(H)
    least = np.min(diagonal, where=diagonal > 0.0, initial=np.inf)
    return H + np.diag(1e-13 * np.where(diagonal > 0.0, diagonal, least if least < np.inf else 1.0))


def weighted(matrix: Array, weight: Array) -> Array:
    """diag(weight) @ matrix, in double precision."""
    if np.all(weight == 1.0):
        return np.ascontiguousarray(matrix, np.float64)
    return matrix * weight[:, None]


def line_search(loss: Any, g: Regularizer, p: Array, change: Array, x: Array, move: Array, value: float) -> float:
    """t in (0, 1) near the minimum of the objective along the move, by a bracket of its derivative's root.

    0 where nothing lowers the objective.
    """

    def derivative(t: float) -> float:
        slopes = np.asarray(loss.slopes(p + t * change), np.float64)
        return float(np.vdot(slopes, change)) + float(np.vdot(g.subgradient(x + t * move), move))

    low, high, at_low, at_high = 0.0, 1.0, derivative(0.0), derivative(1.0)
    enough = 1e-2 * abs(at_low)
    while high - low > 1e-3 and at_low < -enough and at_high > 0.0:
        secant = low - at_low * (high - low) / (at_high - at_low)
        t = min(max(secant, low + 0.1 * (high - low)), high - 0.1 * (high - low))
        at_t = derivative(t)
        if at_t <= 0.0:
            low, at_low = t, at_t
        else:
            high, at_high = t, at_t
    t = low if low > 0.0 else high
    while t > 1e-10:
        if loss.mean_loss(p + t * change) + g.value(x + t * move) <= value:
            return t
        t *= 0.5
    return 0.0
