r"""The proximal step of g on the set: argmin over feasible x of ||x - z||^2 / 2 + step * g(x), with a proof.

With a ridge a and a tilt s the step is a projection: ||x - z||^2/2 + step ((a/2) ||x||^2 + <s, x>) is, up to a
constant, (1 + step a)/2 ||x - (z - step s)/(1 + step a)||^2. What is left is min over D of ||x - a||^2/2 + <tau, |x|>
for thresholds tau >= 0. Since <tau, |x|> is the largest <u, x> over |u| <= tau, each such u gives a lower bound,

    D(u) = min over D of ||x - a||^2/2 + <u, x>,    attained at p = P_D(a - u),

and p misses the minimum by at most <tau, |p|> - <u, p>. D is concave with gradient p, Lipschitz with constant 1, so
accelerated projected ascent u <- clip(u + p, -tau, tau) closes that gap, one projection a step. Started at
u = clip(a, -tau, tau), its first p is the projection of the soft threshold of a, which is the answer wherever the two
maps compose (boxes, balls, simplices); at u = clip(P_D(a), -tau, tau) the other order, which is the answer for chains.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from epro.constraints import Constraint, Everywhere
from epro.intercepts import core
from epro.momentum import following
from epro.problem import Problem
from epro.protocols import Array
from epro.regularizers.base import Regularizer
from epro.regularizers.partial import OnFirstRecord, joined
from epro.regularizers.separable import Separable

Project = Callable[[Array], Array]


class Thresholded(NamedTuple):
    """A feasible point, the u that proves it, and by how much it may miss the minimum."""

    p: Array
    u: Array
    gap: float


def separable(g: Regularizer, shape: tuple[int, ...]) -> bool:
    """Whether g is a sum of built-in regularizers, an intercept apart."""
    record = g.record(shape, np.dtype(np.float64))
    return isinstance(record.first if isinstance(record, OnFirstRecord) else record, Separable)


def thresholds(g: Regularizer, shape: tuple[int, ...]) -> Array | float:
    """The weight of each |x_j| in g."""
    if not g.l1_off:
        return g.l1
    return g.l1 + g.l1_off * (1.0 - np.eye(shape[0]))


def thresholded_projection(
    project: Project, a: Array, tau: Array | float, u: Array | None = None, target: float = 0.0, rounds: int = 200
) -> Thresholded:
    """min over D of ||x - a||^2/2 + <tau, |x|>, to within ``target`` (or to rounding), started at u."""
    if not np.any(tau):
        return Thresholded(project(a), np.zeros_like(a), 0.0)
    starts = [np.clip(a, -tau, tau)] if u is None else [np.clip(u, -tau, tau), np.clip(a, -tau, tau)]
    best: Thresholded | None = None
    for start in starts:
        best = _better(best, _at(project, a, tau, start))
        if best.gap <= _floor(best, a, tau, target):
            return best
    if u is None:
        best = _better(best, _at(project, a, tau, np.clip(project(a), -tau, tau)))
    assert best is not None
    current, last, momentum = best, best.u, 1.0
    for _ in range(rounds):
        if best.gap <= _floor(best, a, tau, target):
            break
        after, weight = following(momentum)
        step = np.clip(current.u + current.p, -tau, tau)
        if np.vdot(current.u - step, step - last) > 0.0:  # uphill no more: restart
            after, weight = 1.0, 0.0
        y = np.clip(step + weight * (step - last), -tau, tau)
        last, momentum = step, after
        current = _at(project, a, tau, y)
        best = _better(best, current)
    return best


def _at(project: Project, a: Array, tau: Array | float, u: Array) -> Thresholded:
    p = project(a - u)
    return Thresholded(p, u, max(0.0, float(np.sum(tau * np.abs(p) - u * p))))


def _better(best: Thresholded | None, new: Thresholded) -> Thresholded:
    return new if best is None or new.gap < best.gap else best


def _floor(best: Thresholded, a: Array, tau: Array | float, target: float) -> float:
    """Where rounding ends the improvement."""
    return max(target, 4.0 * np.finfo(a.dtype).eps * float(np.sum(tau * np.abs(best.p))))


def composite_prox(problem: Problem, z: Array, step: float, project: Project, *, tol: float = 1e-16) -> Array:
    """The proximal step of g restricted to the constraint, ending with ``project`` (so the point is feasible).

    Its distance from the exact step, squared, is at most about ``tol`` ||a||^2.
    """
    if problem.loss.intercept:
        b = z[..., -1:]
        inner = lambda v: project(joined(v, b))[..., :-1]  # noqa: E731
        return joined(_prox(*core(problem), z[..., :-1], step, inner, tol), b)
    return _prox(problem.constraint, problem.regularizer, z, step, project, tol)


def _prox(constraint: Constraint, g: Regularizer, z: Array, step: float, project: Project, tol: float) -> Array:
    if isinstance(constraint, Everywhere):
        return g.prox(z, step)
    if not separable(g, z.shape):
        return _alternated(g, z, step, project)
    scale = 1.0 + step * g.ridge
    a = (z if g.tilt is None else z - z.dtype.type(step) * g.tilt) / z.dtype.type(scale)
    tau = np.asarray(step / scale * thresholds(g, z.shape), dtype=z.dtype)
    return thresholded_projection(project, a, tau, target=tol * float(np.vdot(a, a))).p


def _alternated(g: Regularizer, z: Array, step: float, project: Project, tol: float = 1e-12) -> Array:
    """Dykstra's method (Bauschke and Combettes 2008), which needs nothing of g but its proximal step."""
    x, p, q = z, np.zeros_like(z), np.zeros_like(z)
    for _ in range(1000):
        y = g.prox(x + p, step)
        p = x + p - y
        new = project(y + q)
        q = y + q - new
        settled = np.linalg.norm(new - x) <= tol * max(1.0, float(np.linalg.norm(new)))
        if settled and np.linalg.norm(new - y) <= np.sqrt(tol):
            return new
        x = new
    return x
