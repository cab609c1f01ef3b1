"""The one record behind every regularizer: a sum over coordinates of (a/2) x^2 + t |x| + s x."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from epro.kernels.records import kernel
from epro.protocols import Array


class Separable(NamedTuple):
    """g(x) = (ridge/2) ||x||^2 + l1 ||x||_1 + l1_off sum_{i != j} |x_ij| + <tilt, x>.

    One pass over x serves any sum of regularizers. ``tilt`` is an array of x's shape, or an empty one of as many
    dimensions where there is no linear term.
    """

    ridge: float
    l1: float
    l1_off: float
    tilt: Array

    def value(self, x: Array) -> float:
        return separable_value(self.ridge, self.l1, self.l1_off, self.tilt.reshape(-1), x.reshape(-1), x.shape[0])

    def forward(self, x: Array, step: float) -> None:
        separable_forward(self.ridge, self.l1, self.l1_off, self.tilt.reshape(-1), x.reshape(-1), x.shape[0], step)

    def prox(self, x: Array, step: float) -> None:
        separable_prox(self.ridge, self.l1, self.l1_off, self.tilt.reshape(-1), x.reshape(-1), x.shape[0], step)


@kernel
def separable_value(ridge: float, l1: float, l1_off: float, tilt: Array, x: Array, width: int) -> float:
    """g(x); off-diagonal entries are those of a matrix with ``width`` rows."""
    square, total, off, linear = 0.0, 0.0, 0.0, 0.0
    for j in range(x.size):
        square += x[j] * x[j]
        total += abs(x[j])
    if l1_off > 0.0:
        off = total
        for j in range(width):
            off -= abs(x[j * (width + 1)])
    for j in range(tilt.size):
        linear += tilt[j] * x[j]
    return 0.5 * ridge * square + l1 * total + l1_off * off + linear


@kernel
def separable_forward(ridge: float, l1: float, l1_off: float, tilt: Array, x: Array, width: int, step: float) -> None:
    """x -= step * (ridge x + (l1 + l1_off off the diagonal) sign(x) + tilt)"""
    shrink = 1.0 - step * ridge
    diagonal = np.empty(width if l1_off > 0.0 else 0, x.dtype)
    for j in range(diagonal.size):
        diagonal[j] = x[j * (width + 1)]
    for j in range(x.size):
        x[j] = shrink * x[j] - step * (l1 + l1_off) * np.sign(x[j])
    for j in range(diagonal.size):
        x[j * (width + 1)] = shrink * diagonal[j] - step * l1 * np.sign(diagonal[j])
    for j in range(tilt.size):
        x[j] -= step * tilt[j]


@kernel
def separable_prox(ridge: float, l1: float, l1_off: float, tilt: Array, x: Array, width: int, step: float) -> None:
    """Soft threshold of x - step * tilt, then the ridge's shrinkage."""
    shrink = 1.0 / (1.0 + step * ridge)
    threshold = step * (l1 + l1_off)
    diagonal = np.empty(width if l1_off > 0.0 else 0, x.dtype)
    for j in range(diagonal.size):
        diagonal[j] = x[j * (width + 1)]
    if tilt.size > 0:
        for j in range(x.size):
            x[j] -= step * tilt[j]
    if threshold > 0.0:
        for j in range(x.size):
            x[j] = shrink * (max(x[j] - threshold, 0.0) + min(x[j] + threshold, 0.0))
    else:
        for j in range(x.size):
            x[j] *= shrink
    for j in range(diagonal.size):
        k = j * (width + 1)
        entry = diagonal[j] - step * tilt[k] if tilt.size > 0 else diagonal[j]
        x[k] = shrink * (max(entry - step * l1, 0.0) + min(entry + step * l1, 0.0))
