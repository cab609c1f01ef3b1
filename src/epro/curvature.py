"""Curvatures of the loss, as certificates and step sizes need them: the least one, the largest one, typical ones."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from epro.kernels.batch import norms2
from epro.losses.base import Loss

COLUMNS = 1000  # up to here a Gram matrix is formed where only its eigenvalues can answer
_known: weakref.WeakKeyDictionary[Loss, dict[str, float]] = weakref.WeakKeyDictionary()


def _remembered(loss: Loss, name: str, compute: Any) -> float:
    values = _known.setdefault(loss, {})
    if name not in values:
        values[name] = float(compute(loss))
    return values[name]


def row_scale(loss: Loss) -> float:
    """The root mean square length of a row, from at most 1,000 of them: for rounding errors, not for proofs."""
    return _remembered(loss, "row_scale", _row_scale)


def _row_scale(loss: Loss) -> float:
    rows = np.unique(np.linspace(0, loss.n - 1, 1000).astype(np.int64))
    part = loss.atoms.take(rows)
    return float(np.sqrt(np.mean(norms2(part, len(rows)))))


def least_curvature(loss: Loss) -> float:
    """A proven m > 0 with f - (m/2) ||x||^2 convex, for least squares with few columns; zero where none is known."""
    from epro.losses import Squared

    if type(loss) is not Squared or len(loss.shape) != 1 or loss.shape[0] > min(COLUMNS, loss.n):
        return 0.0
    return _remembered(loss, "least_curvature", _least_eigenvalue)


def _least_eigenvalue(loss: Loss) -> float:
    from epro import quadratic
    from epro.passes import blocks

    d = loss.shape[0]
    gram = np.zeros((d, d))
    for rows, part in blocks(loss.atoms):
        gram += quadratic.gram(part.matrix(), loss.weights[rows])
    if loss.intercept:  # f minimised over the intercept has the Schur complement as its curvature
        gram = gram[:-1, :-1] - np.outer(gram[:-1, -1], gram[-1, :-1]) / gram[-1, -1]
    eigenvalues = np.linalg.eigvalsh(gram / loss.n)
    return max(0.0, float(eigenvalues[0] - 1e-13 * d * abs(eigenvalues[-1])))


def row_smoothness(loss: Loss) -> float:
    """The largest curvature of one row's loss, w_i loss'' ||A_i||^2."""
    if loss.smoothness is None:
        return np.inf
    return float(loss.smoothness) * _remembered(loss, "row_norm", lambda f: np.max(f.row_norms2 * f.weights))


def mean_smoothness(loss: Loss) -> float:
    """An estimate of the largest curvature of f: that of a sample of rows, by power iteration, with a tenth added."""
    if loss.smoothness is None:
        return np.inf
    return float(loss.smoothness) * 1.1 * _remembered(loss, "spectral", _spectral)


def _spectral(loss: Loss) -> float:
    rng = np.random.default_rng(0)
    size = min(loss.n, 4000)
    rows = np.sort(rng.choice(loss.n, size, replace=False)) if size < loss.n else np.arange(loss.n)
    part, weights = loss.atoms.take(rows), loss.weights[rows]
    v = rng.standard_normal(loss.shape).astype(loss.dtype)
    value = 0.0
    for _ in range(15):
        v /= max(float(np.linalg.norm(v)), 1e-300)
        v = part.adjoint(weights * part.predictions(v)) / loss.dtype.type(size)
        value = float(np.linalg.norm(v))
    return value
