"""Sets of linear inequalities in one form: built, merged, diagnosed, handed to the quadratic programs."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from epro.constraints.base import Constraint, LinearSystem


def system(
    d: int,
    A_ub: Any = None,
    b_ub: Any = None,
    A_eq: Any = None,
    b_eq: Any = None,
    lb: Any = -np.inf,
    ub: Any = np.inf,
) -> LinearSystem:
    """A `LinearSystem` on d variables, with what is left out filled in."""
    none = sparse.csr_array((0, d))
    bounds = [np.array(np.broadcast_to(np.asarray(v, dtype=float), (d,))) for v in (lb, ub)]
    return LinearSystem(
        none if A_ub is None else A_ub,
        np.zeros(0) if b_ub is None else np.atleast_1d(np.asarray(b_ub, dtype=float)),
        none if A_eq is None else A_eq,
        np.zeros(0) if b_eq is None else np.atleast_1d(np.asarray(b_eq, dtype=float)),
        *bounds,
    )


def stack(blocks: list[Any]) -> Any:
    """Matrices one above the other: dense if any block with rows is dense, else CSR."""
    rows = [block for block in blocks if block.shape[0]]
    if not rows:
        return blocks[0]
    if len(rows) == 1:
        return rows[0]
    if all(sparse.issparse(block) for block in rows):
        return sparse.csr_array(sparse.vstack(rows))
    return np.vstack([block.toarray() if sparse.issparse(block) else block for block in rows])


def merge(systems: list[LinearSystem]) -> LinearSystem:
    """The intersection of several systems on the same variables."""
    return LinearSystem(
        stack([s.A_ub for s in systems]),
        np.concatenate([s.b_ub for s in systems]),
        stack([s.A_eq for s in systems]),
        np.concatenate([s.b_eq for s in systems]),
        np.max([s.lb for s in systems], axis=0),
        np.min([s.ub for s in systems], axis=0),
    )


def as_linear(constraint: Constraint, d: int) -> LinearSystem:
    """The constraint's linear form; an error where it has none."""
    linear = constraint.linear_inequalities(d)
    if linear is None:
        raise NotImplementedError(f"{constraint!r} is not a set of linear inequalities")
    return linear
