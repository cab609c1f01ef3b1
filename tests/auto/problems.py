"""Random problems in bad units, and the same problem in other units."""

from __future__ import annotations

import numpy as np

import epro
from epro import constraints, losses, regularizers

CLASSES = ("Logistic", "Hinge", "SquaredHinge")


def rows(loss: str, n: int, d: int, seed: int, units: np.ndarray | float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Data that a linear model explains in part."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    score = X @ rng.standard_normal(d) + rng.standard_normal(n)
    return X * units, np.where(score > 0, 1.0, -1.0) if loss in CLASSES else score


def polyhedral(loss: str, n: int = 300, d: int = 6, seed: int = 0, ridge: float = 1e-3, **options) -> epro.Problem:
    """A problem with a few inequalities, some of which bind."""
    X, y = rows(loss, n, d, seed)
    A = np.random.default_rng(seed + 1).standard_normal((2 * d, d))
    dtype = options.pop("dtype", np.float64)
    built = getattr(losses, loss)(X.astype(dtype), y, **options)
    return epro.Problem(built, regularizers.Ridge(ridge), constraints.Polyhedron(A, np.full(2 * d, 0.3)))


def in_units(loss: str, units: np.ndarray, target: float = 1.0, seed: int = 0) -> epro.Problem:
    """No regularizer: the columns of X and of A measured in ``units``, the target multiplied by ``target``."""
    d = len(units)
    X, y = rows(loss, 300, d, seed)
    A = np.random.default_rng(seed + 1).standard_normal((2 * d, d))
    y = y if loss in CLASSES else y * target
    return epro.Problem(
        getattr(losses, loss)(X * units, y), None, constraints.Polyhedron(A * units, np.full(2 * d, 0.3 * target))
    )
