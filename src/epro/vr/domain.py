"""Which model of the constraint the inner steps of `EproVR` use, and what it costs a step."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from epro import costs
from epro.constraints import Everywhere
from epro.constraints.linear import stack
from epro.constraints.qp import with_bounds
from epro.kernels.vr import DenseSweep, HalfSpaces, SparseSweep
from epro.oracles import Oracles

DENSE_SHARE = 0.2  # of nonzeros: rows with more are swept as dense ones


def inner_domain(oracles: Oracles) -> tuple[Any, float]:
    """A record with ``project``, and its multiply-adds."""
    problem = oracles.problem
    constraint, d = problem.constraint, math.prod(problem.shape)
    if isinstance(constraint, Everywhere):
        return oracles.everywhere, 0.0
    record = oracles.constraint.inner_record
    if hasattr(record, "project") and len(problem.shape) == 1 and type(record).__name__ != "PythonConstraint":
        return oracles.constraint, costs.projection_cost(constraint, problem.shape)
    linear = constraint.linear_inequalities(d) if len(problem.shape) == 1 else None
    if linear is None:
        cost = costs.projection_cost(constraint, problem.shape) / 4.0
        return HalfSpaces(oracles.constraint, oracles.work), cost
    bounded = np.flatnonzero(np.isfinite(linear.lb) | np.isfinite(linear.ub))
    A = with_bounds(stack([linear.A_ub, linear.A_eq]), bounded, d)
    low = np.concatenate([np.full(len(linear.b_ub), -np.inf), linear.b_eq, linear.lb[bounded]])
    high = np.concatenate([linear.b_ub, linear.b_eq, linear.ub[bounded]])
    return _sweep(A, low, high, problem.dtype)


def _sweep(A: Any, low: Any, high: Any, dtype: Any) -> tuple[Any, float]:
    rows = sparse.csr_array(A)
    lengths2 = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    used = np.flatnonzero(lengths2 > 0)
    rows, low, high, lengths2 = rows[used], low[used].astype(dtype), high[used].astype(dtype), lengths2[used]
    cost = 3.0 * rows.nnz + 5.0 * rows.shape[0]
    if rows.nnz > DENSE_SHARE * rows.shape[0] * rows.shape[1]:
        return DenseSweep(np.ascontiguousarray(rows.toarray(), dtype=dtype), low, high, lengths2), cost
    index = rows.indptr.astype(np.int64), rows.indices.astype(np.int64)
    return SparseSweep(*index, rows.data.astype(dtype), low, high, lengths2), cost
