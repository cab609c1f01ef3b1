"""Full passes over the data in double precision: each block of rows is read once, for values and slopes alike.

Rows in single precision are widened block by block, so that sums are exact to double precision and no second copy of
the data is made.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from epro.atoms.classes import ClassRows
from epro.atoms.dense import DenseRows
from epro.atoms.intercept import WithIntercept
from epro.cores import cuts, each
from epro.kernels.batch import call, dense_sums, moreau_rows
from epro.kernels.records import compilable
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


def blocks(atoms: Any) -> Iterator[tuple[slice, Any]]:
    """Consecutive rows, as atoms in double precision."""
    size = max(64, BLOCK_BYTES // (8 * math.prod(atoms.shape))) if isinstance(plain(atoms), DenseRows) else atoms.n
    for start in range(0, atoms.n, size):
        rows = slice(start, min(start + size, atoms.n))
        yield rows, wide(atoms.part(rows) if size < atoms.n else atoms)


def plain(atoms: Any) -> Any:
    """The rows beside an intercept, or the atoms themselves."""
    return plain(atoms.rows) if isinstance(atoms, WithIntercept | ClassRows) else atoms


def wide(atoms: Any) -> Any:
    """The atoms in double precision."""
    if isinstance(atoms, WithIntercept | ClassRows):
        return atoms._replace(rows=wide(atoms.rows))
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
    threads = None if compilable(loss.link) else 1  # a loss in plain Python is called from this thread only
    for share in each(_sums, [(loss, rows, atoms, x, float(mu)) for rows, atoms in shares(loss)], threads):
        slope += share.slope
        totals += share.totals
        if slopes is not None:
            slopes[share.rows] = share.slopes
        if predictions is not None:
            predictions[share.rows] = share.predictions
    fun, height, magnitude = totals / loss.n
    return Tangent(x, float(fun), float(height), slope / loss.n, float(magnitude))


def shares(loss: Loss) -> list[tuple[slice, Any]]:
    """Rows that one core takes at a time, and their atoms."""
    atoms = loss.atoms
    if not hasattr(atoms, "part"):
        return [(slice(0, atoms.n), atoms)]
    return [(rows, atoms.part(rows)) for rows in cuts(atoms.n, atoms.entries, math.prod(atoms.shape))]


class _Sums(NamedTuple):
    rows: slice
    predictions: Array
    slopes: Array
    slope: Array  # sum of slopes_i A_i
    totals: Array  # those of `moreau_rows`


def _sums(loss: Loss, rows: slice, atoms: Any, x: Array, mu: float) -> _Sums:
    s, rest, core = np.empty(atoms.n), (loss.y[rows], loss.weights[rows], mu), plain(atoms)
    if isinstance(atoms, ClassRows):
        part = wide(atoms)
        p = part.predictions(x)
        s = np.empty_like(p)
        totals = loss.sums(p, rows, s)  # type: ignore[attr-defined]
        return _Sums(rows, p, s, part.adjoint(s), np.asarray(totals))
    if isinstance(core, DenseRows) and compilable(loss.link):
        p, b = np.empty(atoms.n), 0.0 if core is atoms else float(x[-1])
        slope, *totals = dense_sums(loss.link, core.X, x[: core.X.shape[1]], b, *rest, p, s)
        slope = slope if core is atoms else np.append(slope, s.sum())
    else:
        part = wide(atoms)
        p = np.ascontiguousarray(part.predictions(x))
        totals = call(moreau_rows, loss.link, p, *rest, s, records=(loss.link,))
        slope = part.adjoint(s)
    return _Sums(rows, p, s, slope, np.asarray(totals))


def adjoint(loss: Loss, s: Array) -> Array:
    """sum_i s_i A_i, summed in double precision."""
    total = np.zeros(loss.shape)
    for rows, part in blocks(loss.atoms):
        total += part.adjoint(s[rows])
    return total
