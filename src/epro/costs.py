"""What a row, a step's dense part, a cut and a projection cost, in multiply-adds.

Decisions that change a trajectory (the rows in a mini-batch, the method that finishes) rest on these counts and not on
a clock, so that the same seed gives the same bits. The factors were fitted to measured times once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from epro.constraints import PSD, Everywhere, Intersection, NuclearNormBall, Spectraplex
from epro.constraints.base import Constraint
from epro.losses.base import Loss
from epro.protocols import Array

CALL = 100.0  # multiply-adds in the time of one compiled step's overhead
DEAR = 3e10  # a tenth of a second: 1,000 x 1,000 matrices
EIGENVALUES = 30.0  # an eigendecomposition takes about this many d^3 multiply-adds' time


def row_cost(loss: Loss) -> float:
    """One row's prediction and its push."""
    if len(loss.shape) == 2:
        return 4.0 * loss.shape[0] ** 2
    data = getattr(loss.atoms, "data", None)
    return 2.0 * (loss.shape[0] if data is None else 3.0 * data.size / loss.n) + CALL


def gram_cost(loss: Loss) -> float:
    """One row's share of a weighted Gram matrix; a scattered update costs some ten multiply-adds of BLAS."""
    data = getattr(getattr(loss.atoms, "rows", loss.atoms), "data", None)
    dense = loss.shape[0] ** 2 / 2.0
    return dense if data is None else 10.0 * (data.size / loss.n) ** 2 / 2.0


def gradient_cost(loss: Loss) -> float:
    """One full gradient."""
    if len(loss.shape) == 2:
        points, d = getattr(loss.atoms, "X", None), loss.shape[0]
        count = loss.n if points is None else points.shape[0]
        return 2.0 * count * d * d + 4.0 * loss.n * d
    return loss.n * (row_cost(loss) - CALL)


def projection_cost(c: Constraint, shape: tuple[int, ...]) -> float:
    """One projection."""
    d = math.prod(shape)
    if isinstance(c, Everywhere):
        return 0.0
    if isinstance(c, (PSD, Spectraplex, NuclearNormBall)):
        return EIGENVALUES * float(max(shape)) ** 3
    if isinstance(c, Intersection):
        whole: Any = c
        return 20.0 * sum(projection_cost(member, shape) for member in whole.members)
    linear = None if _closed(c, shape) else c.linear_inequalities(d)
    if linear is None:
        return 10.0 * d + CALL
    rows = len(linear.b_ub) + len(linear.b_eq)
    return 1e5 + 10.0 * (stored(linear.A_ub) + stored(linear.A_eq)) + 2.0 * float(min(rows, d)) ** 3


def rounds(c: Constraint, shape: tuple[int, ...]) -> int:
    """Projections that a bound with an l1 term is worth, beside the first few."""
    return 3 if projection_cost(c, shape) > DEAR else 30


def _closed(c: Constraint, shape: tuple[int, ...]) -> bool:
    return hasattr(c.record(shape, np.dtype(np.float64)), "project")


def stored(A: Array) -> float:
    """Entries that a product with A touches."""
    return float(getattr(A, "nnz", A.size))
