"""Quadratic models of the objective, their minimisers over the constraint, and the bounds that these give.

The bound. Let s_i be the slopes of f at x, so that f(z) >= f(x) + <grad f(x), z - x> for all z. For any vector ``normal``
with support sigma >= max over the set of <normal, z>, every feasible z satisfies

    F(z) >= f(x) - <grad f(x), x> - sigma + <grad f(x) + normal, z> + g(z),

and the minimum over all z of the last two terms is -g*(-(grad f(x) + normal)), separable and in closed form. It is tight at
the optimum with its normal vector: for a polyhedron {Az <= b}, normal = A'nu with the multipliers nu >= 0, and
sigma = <nu, b> by weak duality, however inexact nu is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from scipy import sparse

from epro.composite import composite_prox
from epro.constraints import Everywhere
from epro.constraints.linear import LinearMultipliers, as_linear, stack
from epro.constraints.qp import interior_point
from epro.oracles import Oracles
from epro.problem import Problem
from epro.protocols import Array, Index
from epro.regularizers import Regularizer

ROUNDING = 64 * np.finfo(np.float64).eps
BLOCK_BYTES = 1 << 25  # rows weighted at a time


class Hessian:
    """(1/m) sum over m sampled rows of w_i loss''(p_i, y_i) A_i A_i', in double precision.

    Where few rows are curved at all (a squared hinge, on its flat side), all of those are taken.
    The rows of the sample are copied once, in file order; where the sample is all rows, they are read in blocks.
    """

    def __init__(self, loss: Any, order: Index) -> None:
        self.loss, self.order = loss, order
        self._rows, self._sample = np.empty(0, np.int64), None

    def __call__(self, p: Array, size: int) -> Array:
        curvature = self.loss.curvatures(p)
        curved = np.flatnonzero(curvature)
        if len(curved) <= size < self.loss.n or len(curved) < 0.5 * self.loss.n <= size:
            return gram(self.loss.atoms.matrix()[curved], curvature[curved])  # the flat rows add nothing
        if size >= self.loss.n:
            return gram(self.loss.atoms.matrix(), curvature)
        if size != len(self._rows):
            self._rows = np.sort(self.order[:size])
            self._sample = self.loss.atoms.matrix()[self._rows]
        return gram(self._sample, curvature[self._rows]) * (self.loss.n / size)


def gram(matrix: Any, weights: Array) -> Array:
    """matrix' diag(weights) matrix, for weights >= 0, in blocks of rows and in double precision."""
    n, d = matrix.shape
    total, sparse = np.zeros((d, d), order="F"), False
    step = max(1, BLOCK_BYTES // (8 * d))
    for start in range(0, n, step):
        rows = weighted(matrix[start : start + step], np.sqrt(weights[start : start + step].astype(np.float64)))
        if hasattr(rows, "toarray"):
            total, sparse = total + (rows.T @ rows).toarray(), True
        else:
            total = scipy.linalg.blas.dsyrk(1.0, rows.T, beta=1.0, c=total, overwrite_c=1)
    if sparse:
        return total
    return np.triu(total) + np.triu(total, 1).T


def weighted(matrix: Any, weight: Array) -> Any:
    """diag(weight) @ matrix, in double precision; sparse stays sparse."""
    if hasattr(matrix, "multiply"):
        return matrix.multiply(weight[:, None]).tocsr()
    return matrix * weight[:, None]


def minimize_model(
    oracles: Oracles, H: Array, linear: Array, x: Array, warm: LinearMultipliers | None
) -> tuple[Array, LinearMultipliers | None]:
    """argmin over the set of <linear, z - x> + (z - x)'H(z - x)/2 + g(z), with the multipliers of a polyhedron.

    Linear inequalities make a quadratic program. Any other set, or an l1 norm in g, is left to accelerated
    projected steps on the model, which cost d^2 each and no pass over the data.
    """
    problem = oracles.problem
    g = problem.regularizer
    if g.smooth and problem.constraint.linear_inequalities(x.size) is not None:
        tilt = 0.0 if g.tilt is None else g.tilt
        full = H + np.diag(ridges(problem) + 1e-13 * np.trace(H) / x.size)  # where the data leave a flat direction
        oracles.counts[1] += 1
        z, multipliers = problem.constraint.project_metric(full, linear + tilt - H @ x, warm)
        return np.ascontiguousarray(z, dtype=x.dtype), multipliers
    if problem.constraint.linear_inequalities(x.size) is not None and not isinstance(problem.constraint, Everywhere) and g.l1 > 0.0:
        return lifted_model(oracles, H, linear, x)
    return accelerated_model(oracles, H, linear, x), None


def lifted_model(oracles: Oracles, H: Array, linear: Array, x: Array) -> tuple[Array, LinearMultipliers]:
    """The same minimiser for linear inequalities and an l1 norm: a quadratic program in (z, w) with -w <= z <= w.

    By an interior-point method, as its matrix is only semidefinite; one projection then makes the point feasible.
    """
    problem, d = oracles.problem, x.size
    g, system = problem.regularizer, as_linear(problem.constraint, d)
    k = d - int(problem.loss.intercept)  # coordinates with a threshold
    m, unit, first = len(system.b_ub), sparse.eye_array(d), sparse.eye_array(k, d)
    A = stack([system.A_ub, system.A_eq, unit])
    rows = sparse.bmat([[A, None], [first, -sparse.eye_array(k)], [-first, -sparse.eye_array(k)]], format="csc")
    low = np.concatenate([np.full(m, -np.inf), system.b_eq, system.lb, np.full(2 * k, -np.inf)])
    high = np.concatenate([system.b_ub, system.b_eq, system.ub, np.zeros(2 * k)])
    full = np.zeros((d + k, d + k))
    full[:d, :d] = H + np.diag(ridges(problem))
    tilt = 0.0 if g.tilt is None else g.tilt
    q = np.concatenate([linear + tilt - H @ x, np.full(k, g.l1)])
    bounded = np.flatnonzero(np.isfinite(low) | np.isfinite(high))
    lam = np.zeros(len(low))
    found, lam[bounded] = interior_point(full, q, rows.toarray()[bounded], low[bounded], high[bounded])
    lam = np.where(lam > 0, np.where(np.isfinite(high), lam, 0.0), np.where(np.isfinite(low), lam, 0.0))
    z = oracles.project(np.ascontiguousarray(found[:d], dtype=x.dtype))
    m_eq = m + len(system.b_eq)
    return z, LinearMultipliers(lam[:m], lam[m:m_eq], lam[m_eq : m_eq + d])


def ridges(problem: Problem) -> Array:
    """The ridge on each coordinate: none on an intercept."""
    values = np.full(problem.shape, float(problem.regularizer.ridge))
    if problem.loss.intercept:
        values[-1] = 0.0
    return values


def accelerated_model(oracles: Oracles, H: Array, linear: Array, x: Array, *, limit: int = 500, tol: float = 1e-9) -> Array:
    """The same minimiser by FISTA with restarts, to a step of ``tol`` relative to the first one."""
    L = max(float(np.linalg.norm(H, 2)), 1e-300)
    z, y, momentum, first = x.astype(float), x.astype(float), 1.0, 0.0
    for _ in range(limit):
        gradient = linear + H @ (y - x)
        new = composite_prox(oracles.problem, y - gradient / L, 1.0 / L, oracles.project)
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        step = float(np.linalg.norm(new - y))
        first = max(first, step)
        if np.vdot(y - new, new - z) > 0.0:
            following, y = 1.0, new
        else:
            y = new + ((momentum - 1.0) / following) * (new - z)
        z, momentum = new, following
        if step <= tol * first:
            break
    return z.astype(x.dtype)


def line_search(loss: Any, g: Regularizer, p: Array, change: Array, x: Array, move: Array, value: float) -> float:
    """t in [0, 1] that lowers mean_loss(p + t change) + g(x + t move), by halving a bracket of its derivative's root.

    The objective is convex along the move: 1 where it still falls at 1, else near the root; 0 where it does not fall.
    """
    p, change = p.astype(np.float64), change.astype(np.float64)

    def derivative(t: float) -> float:
        slopes = loss.slopes((p + t * change).astype(loss.dtype))
        return float(np.vdot(slopes, change)) + float(np.vdot(g.subgradient(x + loss.dtype.type(t) * move), move))

    low, high = 0.0, 1.0
    at_high = derivative(1.0)
    if at_high <= 0.0:
        low = 1.0
    at_low = derivative(0.0)
    while high - low > 1e-3 and at_low < 0.0:
        secant = low - at_low * (high - low) / (at_high - at_low)
        t = min(max(secant, low + 0.1 * (high - low)), high - 0.1 * (high - low))
        at_t = derivative(t)
        if abs(at_t) <= 1e-2 * abs(derivative(0.0)) and at_t <= 0.0:
            low = t
            break
        if at_t <= 0.0:
            low, at_low = t, at_t
        else:
            high, at_high = t, at_t
    while low > 1e-10:
        trial = loss.mean_loss((p + low * change).astype(loss.dtype)) + g.value(x + loss.dtype.type(low) * move)
        if trial <= value:
            return low
        low *= 0.5
    return 0.0


def quadratic_bound(
    M: Array, z: Array, fun: float, gradient: Array, normal: Array, support: float, l1: Array | float = 0.0
) -> float:
    """F is (z'Mz)/2 plus an affine function: over all y, F(y) >= F(z) + <normal, z> - sigma - r'M^-1 r / 2.

    F(y) = F(z) + <grad F(z), y - z> + |y - z|_M^2 / 2 >= F(z) + <r, y - z> + |y - z|_M^2 / 2 - <normal, y - z>, with
    r = grad F(z) + normal and <normal, y> <= sigma on the set. M singular: no bound. ``fun`` leaves the l1 norm out; r may take any u with
    |u| <= l1 from it.
    """
    u = np.clip(-(gradient + normal), -l1, l1)
    r = gradient + normal + u
    try:
        factor = scipy.linalg.cho_factor(M)
    except np.linalg.LinAlgError:
        return -np.inf
    if np.diag(factor[0]).min() <= 1e-7 * np.sqrt(np.diag(M).max()):
        return -np.inf
    return fun + float((normal + u) @ z) - support - 0.5 * float(r @ scipy.linalg.cho_solve(factor, r))


def normal_vector(problem: Problem, multipliers: LinearMultipliers) -> tuple[Array, float]:
    """(A'nu, <nu, b>) of a polyhedron: a normal vector, and an upper bound of its support function."""
    linear = as_linear(problem.constraint, int(np.prod(problem.shape)))
    nu, bounds = np.maximum(multipliers.ub, 0.0), multipliers.bounds
    upper, lower = np.maximum(bounds, 0.0), np.maximum(-bounds, 0.0)
    upper, lower = np.where(np.isfinite(linear.ub), upper, 0.0), np.where(np.isfinite(linear.lb), lower, 0.0)
    normal = linear.A_ub.T @ nu + linear.A_eq.T @ multipliers.eq + upper - lower
    finite_ub, finite_lb = np.where(upper > 0, linear.ub, 0.0), np.where(lower > 0, linear.lb, 0.0)
    support = nu @ linear.b_ub + multipliers.eq @ linear.b_eq + upper @ finite_ub - lower @ finite_lb
    return normal, float(support)


def lagrangian_bound(problem: Problem, x: Array, loss_value: float, gradient: Array, normal: Array, support: float) -> float:
    """The bound above: f(x) - <grad f(x), x> - sigma - g*(-(grad f(x) + normal))."""
    g = problem.regularizer
    u = np.asarray(gradient, np.float64) + normal + (0.0 if g.tilt is None else g.tilt)
    if problem.loss.intercept:
        if abs(u[-1]) > ROUNDING * (1.0 + float(np.abs(gradient).max())):
            return -np.inf
        u = u[:-1]  # slopes that sum to zero up to rounding; corrected by as little they would to the last bit
    rest = np.maximum(np.abs(u) - g.l1, 0.0)
    square = float(rest @ rest)
    if g.ridge <= 0.0 and square > 0.0:
        return -np.inf
    conjugate = square / (2.0 * g.ridge) if square > 0.0 else 0.0
    return loss_value - float(np.vdot(gradient, x)) - support - conjugate
