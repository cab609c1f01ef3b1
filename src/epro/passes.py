"""Full passes over the data in double precision: each block of rows is read once, for values and slopes alike.

Rows in single precision are widened block by block, so that sums are exact to double precision and no second copy of
the data is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from epro.atoms.dense import DenseRows
from epro.atoms.intercept import WithIntercept
from epro.atoms.sparse import CSRRows
from epro.kernels.batch import call
from epro.kernels.records import kernel
from epro.losses.base import Loss
from epro.protocols import Array

BLOCK_BYTES = 1 << 19  # a block stays in the cache between its two products


class Tangent(NamedTuple):
    """An affine function below f: f(z) >= height + <slope, z - x> for all z, touching f at x where mu = 0."""

    x: Array
    fun: float  # f(x)
    height: float
    slope: Array
    magnitude: float  # mean of w_i |s_i|: what rounding errors scale with


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


def blocks(atoms: Any) -> Iterator[tuple[slice, Any]]:
    """Consecutive rows, as atoms in double precision."""
    wide = atoms.dtype == np.float64
    if isinstance(atoms, DenseRows):
        size = max(64, BLOCK_BYTES // max(1, 8 * atoms.X.shape[1]))
        for start in range(0, atoms.n, size):
            yield slice(start, start + size), DenseRows(atoms.X[start : start + size].astype(np.float64, copy=False))
    elif isinstance(atoms, CSRRows):
        yield slice(0, atoms.n), atoms if wide else atoms._replace(data=atoms.data.astype(np.float64))
    elif isinstance(atoms, WithIntercept):
        for rows, part in blocks(atoms.rows):
            yield rows, WithIntercept(part)
    else:
        yield slice(0, atoms.n), atoms if wide else _widened(atoms)


def _widened(atoms: Any) -> Any:
    return type(atoms)(*(v.astype(np.float64) if getattr(v, "dtype", None) == np.float32 else v for v in atoms))


def tangent(
    loss: Loss, x: Array, mu: float = 0.0, slopes: Array | None = None, predictions: Array | None = None
) -> Tangent:
    r"""An affine function below f, from one pass.

    Any slopes s_i in the subdifferential of loss(., y_i) at any q_i give loss(p) >= loss(q_i) + s_i (p - q_i) for all
    p. With mu = 0, q_i is the prediction and the function is the tangent at x. With mu > 0, s_i is the slope where a
    proximal step of length mu from the prediction ends, the slope of the loss's Moreau envelope: beside a kink it takes
    the values in between, which an optimal set of slopes needs there.
    """
    x = np.asarray(x, dtype=np.float64)
    slope, totals = np.zeros(x.shape), np.zeros(3)
    for rows, part in blocks(loss.atoms):
        p = np.ascontiguousarray(part.predictions(x))
        s = np.empty_like(p)
        arguments = (loss.link, p, loss.y[rows], loss.weights[rows], float(mu), s)
        totals += call(moreau_rows, *arguments, records=(loss.link,))
        slope += part.adjoint(s)
        if slopes is not None:
            slopes[rows] = s
        if predictions is not None:
            predictions[rows] = p
    fun, height, magnitude = totals / loss.n
    return Tangent(x, float(fun), float(height), slope / loss.n, float(magnitude))


def adjoint(loss: Loss, s: Array) -> Array:
    """sum_i s_i A_i, summed in double precision."""
    total = np.zeros(loss.shape)
    for rows, part in blocks(loss.atoms):
        total += part.adjoint(s[rows])
    return total
