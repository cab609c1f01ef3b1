"""Sets of linear inequalities in one form: built, merged, diagnosed, handed to the quadratic programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from epro.atoms import matrices
from epro.constraints.base import Constraint, InfeasibleConstraint, LinearSystem
from epro.protocols import Array


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
    return matrices.above(rows)


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


# -- the quadratic program and the linear programs over a system


class LinearMultipliers(NamedTuple):
    """The multipliers of a `LinearSystem`: one per row; per variable, positive at ub and negative at lb."""

    ub: Array
    eq: Array
    bounds: Array


def project_metric(
    constraint: Constraint, H: Array | None, q: Array, warm: LinearMultipliers | None = None
) -> tuple[Array, LinearMultipliers]:
    """The minimiser of x'Hx/2 + q'x over a set of linear inequalities, and its multipliers."""
    from epro.constraints.qp import solve_qp

    shape, q = np.shape(q), np.ravel(q)
    linear = as_linear(constraint, q.size)
    m = len(linear.b_ub)
    low = np.concatenate([np.full(m, -np.inf), linear.b_eq])
    start = None if warm is None else (np.concatenate([warm.ub, warm.eq]), warm.bounds)
    try:
        found = solve_qp(
            H, q, stack([linear.A_ub, linear.A_eq]), low, np.concatenate([linear.b_ub, linear.b_eq]),
            linear.lb, linear.ub, start,
        )  # fmt: skip
    except InfeasibleConstraint:
        constraint.check_feasible()
        raise
    return found.x.reshape(shape), LinearMultipliers(found.rows[:m], found.rows[m:], found.bounds)


def linear_program(linear: LinearSystem, direction: Array, name: str) -> Array:
    """A minimiser of <direction, x> over the system, by HiGHS."""
    from scipy.optimize import linprog

    bounds = np.column_stack([linear.lb, linear.ub])
    rows = {}
    if len(linear.b_ub):
        rows.update(A_ub=linear.A_ub, b_ub=linear.b_ub)
    if len(linear.b_eq):
        rows.update(A_eq=linear.A_eq, b_eq=linear.b_eq)
    found = linprog(np.ravel(direction).astype(float), bounds=bounds, method="highs", **rows)
    if found.status == 3:
        raise NotImplementedError(f"{name}: linear minimisation needs a set that is bounded in that direction")
    if found.status == 2:
        raise InfeasibleConstraint(f"{name}: no point satisfies the constraint")
    if found.x is None:
        raise RuntimeError(f"{name}: the linear program was not solved: {found.message}")
    return found.x.reshape(np.shape(direction))


def diagnose(linear: LinearSystem, name: str, describe: Callable[[str, int], str]) -> None:
    """Raises `InfeasibleConstraint` with the pieces that cannot hold together, where no point satisfies the system.

    The linear program min t subject to all rows and bounds relaxed by t (rows scaled to unit length) always has a
    solution. If its t is positive, its multipliers are nonnegative weights under which the pieces add up to a
    contradiction; a basic solution has at most d + 1 of them, and those are named.
    ``describe(kind, index)`` puts a piece into words; kinds are "ub", "eq", "lower", "upper".
    """
    from scipy.optimize import linprog

    pieces, A, b = relaxable(linear)
    if not len(b):
        return
    d = A.shape[1]
    relaxed = sparse.hstack([sparse.csr_array(A), -np.ones((len(b), 1))], format="csr")
    free = [(None, None)] * d + [(0.0, None)]
    found = linprog(np.append(np.zeros(d), 1.0), A_ub=relaxed, b_ub=b, bounds=free, method="highs-ds")
    if found.x is None or found.fun <= 1e-9 * (1.0 + np.abs(b).max()):
        return
    weights = -found.ineqlin.marginals
    named = sorted(set(np.flatnonzero(weights > 1e-9 * weights.max()).tolist()))
    words = list(dict.fromkeys(describe(*pieces[i]) for i in named))
    text = ", ".join(words[:8]) + (f" and {len(words) - 8} more" if len(words) > 8 else "")
    gap = f"every point misses one of them by {found.fun:.3g} or more"
    raise InfeasibleConstraint(f"{name}: no point satisfies {text} together ({gap})")


def relaxable(linear: LinearSystem) -> tuple[list[tuple[str, int]], Any, Array]:
    """All pieces of a system as inequalities A x <= b with unit rows, and what each one is."""
    d = len(linear.lb)
    unit: Any = sparse.eye_array(d, format="csr")
    low, high = np.flatnonzero(np.isfinite(linear.lb)), np.flatnonzero(np.isfinite(linear.ub))
    ub, eq = sparse.csr_array(linear.A_ub), sparse.csr_array(linear.A_eq)
    A = sparse.csr_array(sparse.vstack([ub, eq, -eq, -unit[low], unit[high]]))
    b = np.concatenate([linear.b_ub, linear.b_eq, -linear.b_eq, -linear.lb[low], linear.ub[high]])
    pieces = [("ub", i) for i in range(len(linear.b_ub))]
    pieces += 2 * [("eq", i) for i in range(len(linear.b_eq))]
    pieces += [("lower", int(j)) for j in low] + [("upper", int(j)) for j in high]
    lengths = np.sqrt(np.asarray(A.multiply(A).sum(axis=1)).ravel())
    lengths = np.where(lengths > 0, lengths, 1.0)
    return pieces, sparse.diags_array(1.0 / lengths) @ A, b / lengths
