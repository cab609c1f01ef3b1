"""Lower bounds on the optimal value from slopes of the loss and multipliers of the constraint.

Let s_i be slopes of f at x, so that f(z) >= f(x) + <grad f(x), z - x> for all z. For any vector ``normal`` with support
sigma >= max over the set of <normal, z>, every feasible z satisfies

    F(z) >= f(x) - <grad f(x), x> - sigma + <grad f(x) + normal, z> + g(z),

and the minimum over all z of the last two terms is -g*(-(grad f(x) + normal)), separable and in closed form. It is
tight at the optimum with its normal vector: for a polyhedron {Az <= b}, normal = A'nu with the multipliers nu >= 0, and
sigma = <nu, b> by weak duality, however inexact nu is.

Without a ridge, g* is infinite wherever r = |grad f(x) + normal| exceeds the l1 threshold. Then either every candidate
has ||z|| <= R, because of the set or because t ||z||_1 <= F(x), and R ||r|| bounds the term; or r is within the
rounding of the sums that it comes from, and the bound is the exact one of data that differ by that rounding.
"""

from __future__ import annotations

import weakref

import numpy as np
import scipy.linalg

from epro.constraints.linear import LinearMultipliers, as_linear
from epro.intercepts import core
from epro.losses.base import Loss
from epro.passes import blocks
from epro.problem import Problem
from epro.protocols import Array

ROUNDING = 64 * np.finfo(np.float64).eps


def ridges(problem: Problem) -> Array:
    """The ridge on each coordinate: none on an intercept."""
    values = np.full(problem.shape, float(problem.regularizer.ridge))
    if problem.loss.intercept:
        values[-1] = 0.0
    return values


def quadratic_bound(
    M: Array, z: Array, fun: float, gradient: Array, normal: Array, support: float, l1: Array | float = 0.0
) -> float:
    """F is z'Mz/2 plus an affine function: over all y, F(y) >= F(z) + <normal, z> - sigma - r'M^-1 r / 2.

    F(y) = F(z) + <grad F(z), y - z> + |y - z|_M^2 / 2 >= F(z) + <r, y - z> + |y - z|_M^2 / 2 - <normal, y - z>, with
    r = grad F(z) + normal and <normal, y> <= sigma on the set. M singular: no bound. ``fun`` leaves the l1 norm out;
    r may take any u with |u| <= l1 from it.
    """
    u = np.clip(-(gradient + normal), -l1, l1)
    r = gradient + normal + u
    unit = 1.0 / np.sqrt(np.maximum(np.diag(M), 1e-300))  # the units of the columns do not matter
    try:
        factor = scipy.linalg.cho_factor(M * unit * unit[:, None])
    except (np.linalg.LinAlgError, ValueError):
        return -np.inf
    if np.diag(factor[0]).min() <= 1e-6:
        return -np.inf
    return fun + float((normal + u) @ z) - support - 0.5 * float(r @ (unit * scipy.linalg.cho_solve(factor, unit * r)))


def valid(problem: Problem, multipliers: LinearMultipliers) -> LinearMultipliers:
    """The same with what has the wrong sign, or belongs to no finite bound, set to zero."""
    linear = as_linear(problem.constraint, int(np.prod(problem.shape)))
    upper = np.where(np.isfinite(linear.ub), np.maximum(multipliers.bounds, 0.0), 0.0)
    lower = np.where(np.isfinite(linear.lb), np.maximum(-multipliers.bounds, 0.0), 0.0)
    return LinearMultipliers(np.maximum(multipliers.ub, 0.0), multipliers.eq, upper - lower)


def normal_vector(problem: Problem, multipliers: LinearMultipliers) -> tuple[Array, float]:
    """(A'nu, <nu, b>) of a polyhedron: a normal vector, and an upper bound of its support function."""
    linear = as_linear(problem.constraint, int(np.prod(problem.shape)))
    nu, eq, bounds = valid(problem, multipliers)
    normal = linear.A_ub.T @ nu + linear.A_eq.T @ eq + bounds
    reached = np.where(bounds > 0.0, linear.ub, np.where(bounds < 0.0, linear.lb, 0.0))
    return normal, float(nu @ linear.b_ub + eq @ linear.b_eq + bounds @ reached)


def lagrangian_bound(
    problem: Problem, x: Array, height: float, gradient: Array, normal: Array, support: float,
    fun: float = np.inf, slopes: float | None = None,
) -> float:  # fmt: skip
    """height - <gradient, x> - sigma - g*(-(gradient + normal)), where f(z) >= height + <gradient, z - x>.

    ``fun``, the objective at a feasible point, and ``slopes``, the length of the rows' over n, serve a g without a
    ridge: rounding counts relative to the sums of slopes times entries, and of entries times x behind each slope.
    """
    g = problem.regularizer
    u = gradient + normal + (0.0 if g.tilt is None else g.tilt)
    noise = ROUNDING * (np.abs(gradient) + np.abs(normal))
    if problem.loss.intercept:
        if abs(u[-1]) > ROUNDING * (1.0 + float(np.abs(gradient).max())):
            return -np.inf
        u, noise = u[:-1], noise[:-1]  # slopes that sum to zero up to rounding
    rest = np.maximum(np.abs(u) - g.l1, 0.0)
    start = height - float(np.vdot(gradient, x)) - support
    if g.ridge > 0.0:
        return start - float(rest @ rest) / (2.0 * g.ridge)
    radius = candidates_radius(problem, fun)
    if radius < np.inf:
        return start - radius * float(np.linalg.norm(rest))
    if slopes is not None and np.any(rest > noise):
        columns, curvature = column_norms(problem.loss), float(problem.loss.smoothness or 0.0) / problem.n
        size = slopes + curvature * float(columns @ np.abs(x)) * float(np.max(problem.loss.weights))
        noise = noise + ROUNDING * size * columns[: len(noise)]
    return start if np.all(rest <= noise) else -np.inf


def residual(problem: Problem, gradient: Array, normal: Array) -> Array:
    """gradient + normal, beyond what the l1 norm's subgradients can balance."""
    g = problem.regularizer
    u = gradient + normal + (0.0 if g.tilt is None else g.tilt)
    l1 = np.full(u.shape, float(g.l1))
    l1[-1] *= not problem.loss.intercept
    return u - np.clip(u, -l1, l1)


def candidates_radius(problem: Problem, fun: float) -> float:
    """||z|| is at most this for every z that could be better than ``fun`` (an intercept apart)."""
    constraint, g = core(problem)
    radius = constraint.radius_bound
    radius = np.inf if radius is None else float(radius)
    slope = g.l1 - (0.0 if g.tilt is None else float(np.abs(g.tilt).max(initial=0.0)))
    if slope > 0.0 and problem.loss.nonnegative:
        radius = min(radius, max(fun, 0.0) / slope)
    return radius


_columns: weakref.WeakKeyDictionary[Loss, Array] = weakref.WeakKeyDictionary()


def column_norms(loss: Loss) -> Array:
    """The length of each column of the data, computed once."""
    if loss not in _columns:
        total = np.zeros(loss.shape)
        for _, part in blocks(loss.atoms):
            matrix = part.matrix()[:]
            square = matrix.multiply(matrix) if hasattr(matrix, "multiply") else matrix * matrix
            total += np.asarray(square.sum(axis=0)).ravel()
        _columns[loss] = np.sqrt(total)
    return _columns[loss]
