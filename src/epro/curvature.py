"""Curvatures of the loss, as certificates and step sizes need them: the least one, the largest one, typical ones."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

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
    return float(np.sqrt(np.mean([part.norm2(i) for i in range(len(rows))])))


def least_curvature(loss: Loss) -> float:
    """A proven m > 0 with f - (m/2) ||x||^2 convex, for least squares with few columns; zero where none is known."""
    from epro.losses import Squared

    if type(loss) is not Squared or len(loss.shape) != 1 or loss.shape[0] > min(COLUMNS, loss.n):
        return 0.0
    return _remembered(loss, "least_curvature", _least_eigenvalue)


def _least_eigenvalue(loss: Loss) -> float:
    from epro.passes import blocks

    d = loss.shape[0]
    gram = np.zeros((d, d))
    for rows, part in blocks(loss.atoms):
        matrix, weights = part.matrix(), loss.weights[rows][:, None]
        product = matrix.T @ (matrix.multiply(weights) if hasattr(matrix, "multiply") else matrix * weights)
        gram += product.toarray() if hasattr(product, "toarray") else product
    eigenvalues = np.linalg.eigvalsh(gram / loss.n)
    return max(0.0, float(eigenvalues[0] - 1e-13 * d * abs(eigenvalues[-1])))
