r"""Quadratic programs with the set as constraint: min x'Hx/2 + q'x over l <= Ax <= u, lb <= x <= ub.

In coordinates y = L'x, where H = LL', the program is the projection of -L^-1 q, so one method
serves projections and Newton steps: pivoting (``pivoting.py``), with PIQP to find the active rows where pivoting does
not end. The answer is polished: it solves the equality-constrained problem of its active rows exactly.
"""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from scipy import sparse

from epro.atoms import matrices
from epro.constraints.base import InfeasibleConstraint
from epro.constraints.pivoting import DENSE_BLOCK, ROUNDS, Nearest, Rows, nearest
from epro.protocols import Array

FEASIBLE = 1e-8  # relative to x: beyond it an answer in the coordinates of a factor is not used


class QPSolution(NamedTuple):
    """A minimiser and its multipliers: Hx + q + A' rows + bounds = 0."""

    x: Array
    rows: Array  # one per row of A: positive at u, negative at l
    bounds: Array  # one per variable: positive at ub, negative at lb
    error: float  # a bound on the distance to the minimiser, in the norm of H (see `projection_error`)

    @property
    def warm(self) -> tuple[Array, Array]:
        """What the next, similar program starts from."""
        return self.rows, self.bounds


def solve_qp(
    H: Any,
    q: Array,
    A: Any,
    l: Array,
    u: Array,
    lb: Array | None = None,
    ub: Array | None = None,
    warm: tuple[Array, Array] | None = None,
    tol: float = 1e-12,
) -> QPSolution:
    """The minimiser of x'Hx/2 + q'x over l <= Ax <= u, lb <= x <= ub.

    Parameters
    ----------
    H : array of shape (d, d) or None
        Symmetric; None is the identity. Where H is only semidefinite, or not well enough conditioned to be
        factorised, an interior-point method answers alone.
    q : array of shape (d,)
    A : array or sparse array of shape (m, d)
    l, u, lb, ub : arrays
        Infinite where there is no bound.
    warm : pair of arrays, optional
        The ``warm`` of the solution of a similar program: only its signs count.
    tol : float
        How far a row may be violated, relative to the size of the minimiser without constraints.
    """
    d, m = len(q), A.shape[0]
    lb, ub = (np.full(d, s * np.inf) if v is None else np.broadcast_to(v, (d,)) for v, s in ((lb, -1), (ub, 1)))
    bounded = np.flatnonzero(np.isfinite(lb) | np.isfinite(ub))
    A_all = with_bounds(A, bounded, d)
    low, high = np.concatenate([l, lb[bounded]]), np.concatenate([u, ub[bounded]])
    state = None if warm is None else np.sign(np.concatenate([warm[0], warm[1][bounded]]))
    x, lam, error = _nearest(A_all, low, high, np.asarray(q, dtype=float), state, tol, H)
    return _solution(x, lam[:m], lam[m:], bounded, (lb, ub), error)


def _nearest(
    A: Any, low: Array, high: Array, q: Array, state: Array | None, tol: float, H: Any
) -> tuple[Array, Array, float]:
    """x, multipliers and error of the program with all bounds among the rows of A."""
    if H is None:
        rows = Rows.scaled(A, low, high)
        found = project_rows(rows, -q, state, tol)
        return found.x, found.lam / rows.lengths, projection_error(rows, -q, found.x, found.lam)
    H = np.asarray(H, dtype=float)
    try:
        L = np.linalg.cholesky(H)
        y = scipy.linalg.solve_triangular(L, np.column_stack([matrices.dense(A).T, -q]), lower=True, check_finite=False)
        rows, z = Rows.scaled(y[:, :-1].T, low, high), y[:, -1]
        found = project_rows(rows, z, state, tol)
        x = scipy.linalg.solve_triangular(L, found.x, lower=True, trans=1, check_finite=False)
        if Rows.scaled(A, low, high).violation(x) <= FEASIBLE * (1.0 + float(np.abs(x).max(initial=0.0))):
            return x, found.lam / rows.lengths, projection_error(rows, z, found.x, found.lam)
    except np.linalg.LinAlgError:
        pass
    # not factorised, or so flat that the tolerance, relative to the minimiser without constraints, is no small number
    x, lam = interior_point(H, q, A, low, high)
    return x, lam, float("nan")


def with_bounds(A: Any, bounded: Array, d: int) -> Any:
    """The rows of A, and below them the unit rows of the bounded variables."""
    if not len(bounded):
        return A
    unit = sparse.csr_array((np.ones(len(bounded)), (np.arange(len(bounded)), bounded)), shape=(len(bounded), d))
    return matrices.above([A, unit])


def _solution(x: Array, rows: Array, lam: Array, bounded: Array, box: tuple[Array, Array], error: float) -> QPSolution:
    """Variables end at their bounds to the last digit: a sign that must hold is not broken by rounding."""
    bounds = np.zeros(len(x))
    bounds[bounded] = lam
    lb, ub = box
    target = np.where(bounds > 0, ub, np.where(bounds < 0, lb, np.inf))
    near = np.abs(target - x) <= 1e-14 * (1.0 + np.max(np.abs(x), initial=0.0))
    return QPSolution(np.clip(np.where(near, target, x), lb, ub) + 0.0, rows, bounds, error)


def project_rows(rows: Rows, z: Array, state: Array | None = None, tol: float = 1e-12) -> Nearest:
    """The nearest point to z: pivoting, then PIQP and pivoting again, then PIQP's own answer.

    With sparse rows, or many more rows than columns, PIQP finds the active rows sooner than pivoting from nothing does
    (measured in ``benchmarks/bench_projections.py``); pivoting then only continues from the last active rows.
    """
    m, d = rows.A.shape
    crowded = (matrices.is_sparse(rows.A) and m > DENSE_BLOCK) or m > 4 * d
    starts: list[tuple[Array | None, int]] = [(state, 8 if crowded else ROUNDS)] if np.any(state) else []
    if not crowded or d <= 10:
        starts.append((None, ROUNDS))
    for start, rounds in starts:
        found = nearest(rows, z, start, tol, rounds)
        if found.solved:
            return found
    x, lam = interior_point(None, -z, rows.A, rows.lower, rows.upper)
    if not rows.violation(x) <= 1e-6 * (1.0 + np.abs(z).max()):
        x, lam = conic(-z, rows.A, rows.lower, rows.upper)
    slack = np.minimum(np.abs(rows.A @ x - rows.upper), np.abs(rows.A @ x - rows.lower))
    polished = nearest(rows, z, np.where(np.abs(lam) > slack, np.sign(lam), 0), tol)
    if polished.solved:
        return polished
    if not rows.violation(x) <= 1e-6 * (1.0 + np.abs(z).max()):
        raise RuntimeError(f"no solver found the projection: {rows.violation(x):.3g} from the set after all of them")
    # only here is the answer not polished: keep the interior point, and let `projection_error` say what it is worth
    return Nearest(x, lam, np.sign(lam).astype(np.int8), False, 0)


def interior_point(H: Any, q: Array, A: Any, low: Array, high: Array) -> tuple[Array, Array]:
    """(x, lam) by PIQP; an error that says so where the program has no feasible point."""
    import piqp

    d = len(q)
    dense = not matrices.is_sparse(A) and not matrices.is_sparse(H)
    solver: Any = piqp.DenseSolver() if dense else piqp.SparseSolver()
    solver.settings.eps_abs, solver.settings.eps_rel = 1e-11, 1e-11
    solver.settings.max_iter = 500
    if dense:
        solver.setup(np.asfortranarray(np.eye(d) if H is None else H), q, None, None, np.asfortranarray(A), low, high)
    else:
        H = sparse.csc_matrix(sparse.eye_array(d) if H is None else H)
        solver.setup(H, q, None, None, sparse.csc_matrix(A), low, high)
    status = solver.solve()
    if status == piqp.PIQP_PRIMAL_INFEASIBLE:
        raise InfeasibleConstraint("no point satisfies all the linear inequalities")
    lam = np.asarray(solver.result.z_u) - np.asarray(solver.result.z_l)
    return np.array(solver.result.x), lam


def conic(q: Array, A: Any, low: Array, high: Array) -> tuple[Array, Array]:
    """(x, lam) of min ||x||^2/2 + q'x by Clarabel, slower and harder to defeat than PIQP."""
    clarabel: Any = importlib.import_module("clarabel")  # its stubs lack the names used here

    equal, below, above = low == high, np.isfinite(low) & (low != high), np.isfinite(high) & (low != high)
    A = sparse.csr_array(A)
    stacked = sparse.csc_matrix(sparse.vstack([A[equal], A[above], -A[below]]))
    b = np.concatenate([high[equal], high[above], -low[below]])
    cones = [clarabel.ZeroConeT(int(equal.sum())), clarabel.NonnegativeConeT(int(above.sum() + below.sum()))]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    identity = sparse.csc_matrix(sparse.eye_array(len(q)))
    solution = clarabel.DefaultSolver(identity, q, stacked, b, cones, settings).solve()
    if solution.status == clarabel.SolverStatus.PrimalInfeasible:
        raise InfeasibleConstraint("no point satisfies all the linear inequalities")
    split, lam = np.cumsum([equal.sum(), above.sum()]), np.zeros(len(low))
    parts = np.split(np.asarray(solution.z), split)
    lam[equal] += parts[0]
    lam[above] += parts[1]
    lam[below] -= parts[2]
    return np.array(solution.x), lam


def dual_value(rows: Rows, z: Array, lam: Array) -> float:
    r"""A lower bound on ||x - z||^2 / 2 over the set, from any multipliers with the right signs.

    min_x ||x - z||^2/2 + <lam, Ax - t> = <A'lam, z> - <lam, t> - ||A'lam||^2/2, where t is the bound of lam's sign.
    """
    lam = admissible(rows, lam)
    pull = rows.A.T @ lam
    target = np.where(lam > 0, rows.upper, np.where(lam < 0, rows.lower, 0.0))
    return float(lam @ (rows.A @ z - target) - 0.5 * pull @ pull)


def admissible(rows: Rows, lam: Array) -> Array:
    """lam, without the entries whose bound is infinite."""
    return np.where(lam > 0, np.where(np.isfinite(rows.upper), lam, 0.0), np.where(np.isfinite(rows.lower), lam, 0.0))


def projection_error(rows: Rows, z: Array, x: Array, lam: Array) -> float:
    r"""A bound on ||x - P(z)||, from duality.

    Let w = z - A'lam and t the bounds of lam's signs. The Lagrangian ||y - z||^2/2 + <lam, Ay - t> is the dual value
    D plus ||y - w||^2/2. At y = P(z) the term of lam is at most zero, so ||P - z||^2/2 >= D + ||P - w||^2/2. For a
    feasible x, strong convexity gives ||x - z||^2/2 >= ||P - z||^2/2 + ||x - P||^2/2. Together, with the Lagrangian
    at x,

        ||x - P||^2/2 + ||P - w||^2/2 <= ||x - z||^2/2 - D = ||x - w||^2/2 + <lam, t - Ax>,

    whose right side is computed without cancellation. Where Ax lies outside of a bound, or within rounding of it, the
    statement is about the set with that bound moved to Ax: a square root would turn a rounding of 1e-15 into 1e-7.
    """
    lam = admissible(rows, lam)
    Ax = rows.A @ x
    unit = 64 * np.finfo(float).eps * (1.0 + float(np.max(np.abs(z), initial=0.0)))
    slack = np.where(lam > 0, rows.upper - Ax, np.where(lam < 0, Ax - rows.lower, 0.0))
    slack = np.where(slack > unit, slack, 0.0)
    offset = x - (z - rows.A.T @ lam)
    return float(np.sqrt(offset @ offset + 2.0 * np.abs(lam) @ slack))
