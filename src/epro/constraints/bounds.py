"""A box around a set of linear inequalities, by propagating bounds through its rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from epro.constraints.base import Constraint, Shape
from epro.protocols import Array

ROUNDS = 50


def bounding_radius(constraint: Constraint, shape: Shape) -> float:
    """The largest norm of a point of a box around the set; infinite where none is found, or there is no linear form."""
    linear = constraint.linear_inequalities(int(np.prod(shape)))
    if linear is None:
        return np.inf
    rows = [sparse.csr_array(linear.A_ub), sparse.csr_array(linear.A_eq), -sparse.csr_array(linear.A_eq)]
    A = sparse.csr_array(sparse.vstack(rows))
    lower, upper = bounding_box(A, np.concatenate([linear.b_ub, linear.b_eq, -linear.b_eq]), linear.lb, linear.ub)
    return float(np.linalg.norm(np.maximum(np.abs(lower), np.abs(upper))))


def bounding_box(A: Any, b: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """Bounds on each coordinate that follow from A x <= b and from given bounds, one row at a time.

    a_j x_j <= b - sum over k != j of a_k x_k, where each of the others is at its least possible value.
    """
    lower, upper = lower.astype(float), upper.astype(float)
    rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    columns, a = A.indices, A.data
    kept = a != 0.0
    rows, columns, a = rows[kept], columns[kept], a[kept]
    for _ in range(ROUNDS):
        least = np.where(a > 0, a * lower[columns], a * upper[columns])
        open_ended = np.bincount(rows, ~np.isfinite(least), A.shape[0])
        total = np.bincount(rows, np.where(np.isfinite(least), least, 0.0), A.shape[0])
        alone = np.where(np.isfinite(least), open_ended[rows] == 0, open_ended[rows] == 1)
        rest = np.where(np.isfinite(least), total[rows] - least, total[rows])
        limit = np.where(alone, (b[rows] - rest) / a, np.where(a > 0, np.inf, -np.inf))
        tighter_upper, tighter_lower = upper.copy(), lower.copy()
        np.minimum.at(tighter_upper, columns[a > 0], limit[a > 0])
        np.maximum.at(tighter_lower, columns[a < 0], limit[a < 0])
        done = np.array_equal(np.isfinite(tighter_upper), np.isfinite(upper))
        done &= np.array_equal(np.isfinite(tighter_lower), np.isfinite(lower))
        lower, upper = tighter_lower, tighter_upper
        if done:
            break
    slack = 1e-9 * (1.0 + np.maximum(np.abs(lower), np.abs(upper)))
    return lower - slack, upper + slack
