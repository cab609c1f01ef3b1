"""Quadratic models of the objective, minimised over the constraint."""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

from epro import conic
from epro.composite import composite_prox, separable, thresholds
from epro.constraints import Everywhere
from epro.constraints.linear import LinearMultipliers, as_linear, stack
from epro.constraints.qp import interior_point
from epro.duality import ridges
from epro.intercepts import core
from epro.momentum import following
from epro.oracles import Oracles
from epro.problem import Problem
from epro.protocols import Array
from epro.quadratic import steadied

INFEASIBLE = 1e-6  # relative to a point: a violation beyond rounding


def minimize_model(
    oracles: Oracles, H: Array, linear: Array, x: Array, warm: LinearMultipliers | None
) -> tuple[Array, LinearMultipliers | None]:
    """argmin over the set of <linear, z - x> + (z - x)'H(z - x)/2 + g(z), with the multipliers of a polyhedron.

    Linear inequalities make a quadratic program, sets that cones describe a conic one. Any other set is left to
    accelerated projected steps on the model, which cost d^2 each and no pass over the data. For a matrix x, whose H
    belongs to its entries row by row, the program is always conic. A `RuntimeError` where the model is too badly
    scaled for double precision.
    """
    problem, x = oracles.problem, np.asarray(x, np.float64)
    if x.ndim == 2:
        z = conic_model(oracles, H, linear, x)
        if z is None:
            raise RuntimeError("the conic program of this model was not solved")
        return z, None
    g, polyhedron = problem.regularizer, problem.constraint.linear_inequalities(x.size) is not None
    if g.smooth and polyhedron:
        tilt = 0.0 if g.tilt is None else g.tilt
        H = steadied(H)
        oracles.counts[1] += 1
        full = H + np.diag(ridges(problem))
        z, multipliers = problem.constraint.project_metric(full, linear + tilt - H @ x, warm)
        if not problem.constraint.value(z) <= INFEASIBLE * max(1.0, float(np.abs(z).max())):
            raise RuntimeError("the quadratic program is scaled too badly for double precision")
        return z, multipliers
    if polyhedron and not isinstance(core(problem)[0], Everywhere) and separable(g, x.shape):
        return lifted_model(oracles, H, linear, x)
    z = conic_model(oracles, H, linear, x) if separable(g, x.shape) else None
    return (accelerated_model(oracles, H, linear, x) if z is None else z), None


def conic_form(problem: Problem) -> bool:
    """Whether `conic_model` takes the problem's set and regularizer."""
    constraint, g = core(problem)
    shape = tuple(problem.shape)
    return separable(g, shape) and conic.describe(constraint, conic.Program(math.prod(shape)))


def conic_model(oracles: Oracles, H: Array, linear: Array, x: Array) -> Array | None:
    """The same minimiser by a conic program; an intercept, which is free, is eliminated from it."""
    problem = oracles.problem
    constraint, g = core(problem)
    q = linear + ridges(problem) * x + (0.0 if problem.regularizer.tilt is None else problem.regularizer.tilt)
    full = H + np.diag(ridges(problem).ravel())
    if not problem.loss.intercept:
        z = conic.minimize(constraint, full, q, x, thresholds(g, x.shape))
        return None if z is None else oracles.project(z)
    h, c = max(full[-1, -1], 1e-300), full[:-1, -1]
    w = conic.minimize(constraint, full[:-1, :-1] - np.outer(c, c) / h, q[:-1] - c * (q[-1] / h), x[:-1], g.l1)
    if w is None:
        return None
    z = oracles.project(np.append(w, x[-1]))
    z[-1] -= (q[-1] + float(c @ (z[:-1] - x[:-1]))) / h
    return z


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
    z = oracles.project(np.ascontiguousarray(found[:d]))
    m_eq = m + len(system.b_eq)
    return z, LinearMultipliers(lam[:m], lam[m:m_eq], lam[m_eq : m_eq + d])


def accelerated_model(
    oracles: Oracles, H: Array, linear: Array, x: Array, *, limit: int = 500, tol: float = 1e-9
) -> Array:
    """The same minimiser by FISTA with restarts, to a step of ``tol`` relative to the first one."""
    L = max(float(np.linalg.norm(H, 2)), 1e-300)
    z, y, momentum, first = x.astype(float), x.astype(float), 1.0, 0.0
    for _ in range(limit):
        gradient = linear + H @ (y - x)
        new = composite_prox(oracles.problem, y - gradient / L, 1.0 / L, oracles.project)
        after, weight = following(momentum)
        step = float(np.linalg.norm(new - y))
        first = max(first, step)
        if np.vdot(y - new, new - z) > 0.0:
            after, y = 1.0, new
        else:
            y = new + weight * (new - z)
        z, momentum = new, after
        if step <= tol * first:
            break
    return z
