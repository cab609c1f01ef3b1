"""Sums over all rows at once: what a full gradient, an objective or a Hessian needs of the losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from epro.kernels.records import compilable, kernel
from epro.protocols import Array

BLOCK = 1 << 15  # numbers that stay in the cache between two products


def call(function: Any, *arguments: Any, records: tuple[Any, ...] = ()) -> Any:
    """Calls a kernel compiled where its records can be typed, and as plain Python where a user's object is inside."""
    if all(compilable(record) for record in records):
        return function(*arguments)
    return getattr(function, "py_func", function)(*arguments)


@kernel
def loss_sum(link: Any, p: Array, y: Array, weights: Array) -> float:
    """sum_i w_i loss(p_i, y_i)"""
    total = 0.0
    for i in range(p.size):
        total += weights[i] * link.loss(p[i], y[i])
    return total


@kernel
def slopes(link: Any, p: Array, y: Array, weights: Array) -> Array:
    """w_i loss'(p_i, y_i)"""
    out = np.empty_like(p)
    for i in range(p.size):
        out[i] = weights[i] * link.slope(p[i], y[i])
    return out


@kernel
def curvatures(link: Any, p: Array, y: Array, weights: Array) -> Array:
    """w_i loss''(p_i, y_i)"""
    out = np.empty_like(p)
    for i in range(p.size):
        out[i] = weights[i] * link.curvature(p[i], y[i])
    return out


@kernel
def slope_sums(link: Any, p: Array, b: float, y: Array, weights: Array) -> Any:
    """Sums of w loss'(p + b), of its size, and of w loss''(p + b); the first without what rounding loses (Kahan)."""
    total, lost, magnitude, curvature = 0.0, 0.0, 0.0, 0.0
    for i in range(p.size):
        s = weights[i] * link.slope(p[i] + b, y[i])
        term = s - lost
        longer = total + term
        lost = (longer - total) - term
        total = longer
        magnitude += abs(s)
        curvature += weights[i] * link.curvature(p[i] + b, y[i])
    return total, magnitude, curvature


@kernel
def moreau_rows(link: Any, p: Array, y: Array, weights: Array, mu: float, slopes: Array) -> Any:
    """Sums of w loss(p) and of w (loss(q) + s (p - q)), s in d loss(q), q = p - mu s; slopes[i] = w_i s_i."""
    total, touching, magnitude = 0.0, 0.0, 0.0
    for i in range(p.size):
        value = link.loss(p[i], y[i])
        total += weights[i] * value
        if mu > 0.0:
            s = link.implicit(p[i], y[i], mu)
            value = link.loss(p[i] - mu * s, y[i]) + mu * s * s
        else:
            s = link.slope(p[i], y[i])
        touching += weights[i] * value
        slopes[i] = weights[i] * s
        magnitude += weights[i] * abs(s)
    return total, touching, magnitude


@kernel
def dense_sums(
    link: Any, X: Array, x: Array, b: float, y: Array, weights: Array, mu: float, p: Array, slopes: Array
) -> Any:
    """X' slopes and the sums of `moreau_rows` at the predictions p = X x + b; each block of rows is read once."""
    n, d = X.shape
    size = max(1, min(n, BLOCK // max(1, d)))
    block, slope = np.empty((size, d)), np.zeros(d)
    total, touching, magnitude = 0.0, 0.0, 0.0
    for start in range(0, n, size):
        stop = min(start + size, n)
        block[: stop - start] = X[start:stop]
        p[start:stop] = np.dot(block[: stop - start], x) + b
        at = slice(start, stop)
        sums = moreau_rows(link, p[at], y[at], weights[at], mu, slopes[at])
        total += sums[0]
        touching += sums[1]
        magnitude += sums[2]
        slope += np.dot(slopes[at], block[: stop - start])
    return slope, total, touching, magnitude


@kernel
def norms2(atoms: Any, n: int) -> Array:
    """||A_i||^2 for all rows"""
    out = np.empty(n, np.float64)
    for i in range(n):
        out[i] = atoms.norm2(i)
    return out


@kernel
def sparse_gram(indptr: Array, indices: Array, data: Array, weights: Array, d: int) -> Array:
    """sum_i w_i A_i A_i' of sparse rows, pair by pair; rows may hold an index twice."""
    half = np.zeros((d, d))
    for i in range(weights.size):
        if weights[i] != 0.0:
            for k in range(indptr[i], indptr[i + 1]):
                value = np.float64(weights[i]) * data[k]
                half[indices[k], indices[k]] += 0.5 * value * data[k]
                for m in range(k + 1, indptr[i + 1]):
                    half[indices[k], indices[m]] += value * data[m]
    return half + half.T
