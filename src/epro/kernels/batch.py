"""Sums over all rows at once: what a full gradient, an objective or a Hessian needs of the losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from epro.kernels.records import compilable, kernel
from epro.protocols import Array


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
def norms2(atoms: Any, n: int) -> Array:
    """||A_i||^2 for all rows"""
    out = np.empty(n, np.float64)
    for i in range(n):
        out[i] = atoms.norm2(i)
    return out
