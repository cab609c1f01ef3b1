r"""Certificates: proven lower bounds on the optimal value, from one pass over the data and one projection.

Step 1, the loss. One pass gives an affine function below f (see `passes.tangent`), f(z) >= h + <v, z - x>, so that

    F* >= h + min over feasible z of <v, z - x> + g(z).

Step 2, the minimum. With g(z) = (a/2) ||z||^2 + <t, |z|> + <s, z> and a > 0, the minimiser is a thresholded
projection of -(v + s)/a; `composite` solves it and says by how much it may miss. Without a ridge, the best of:

- f itself is strongly convex: least squares, with the smallest eigenvalue of its Gram matrix (`curvature`);
- a linear minimisation over the set, for a compact one: the Frank-Wolfe gap, an l1 norm replaced by a tangent;
- every candidate has ||z|| <= R, because the set says so or because t ||z||_1 <= F(x) at an optimum. Then for any m > 0
  min <v, z> + g(z) >= min [<v, z> + g(z) + (m/2) ||z - x||^2] - (m/2) (R + ||x||)^2, again a thresholded projection;
- losses and g are nonnegative: F* >= 0.

Step 3, errors. p with ||p - P(z)|| <= e misses the least ||p - z||^2 / 2 by at most ||p - z|| e, and by at most e^2
where e was measured by duality (``Polyhedron.projection_error``: there ||p - z||^2/2 minus a dual value is e^2/2). A
projection that ends slightly outside of the set by rounding is exact for a larger set, so its bound stays valid.
Rounding in the sums over the data is allowed for by `ROUNDING`, relative to the largest terms.

A nonsmooth loss. At its kinks the optimal slopes lie strictly inside the subdifferentials, and a tangent cannot know
them. A proximal step of length mu on each row's loss reaches such slopes; the certificate tries several mu, and the
next one starts from the best.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from epro import composite, costs, passes
from epro.constraints import Affine, Intersection, Polyhedron
from epro.constraints.bounds import bounding_radius
from epro.curvature import least_curvature, row_scale
from epro.intercepts import balanced, core, predictions, shift
from epro.problem import Problem
from epro.protocols import Array
from epro.regularizers.partial import joined, without_last

ROUNDING = 32 * np.finfo(np.float64).eps

Project = Callable[[Array], Array]


class Certificate(NamedTuple):
    """What is proven at a feasible point x."""

    fun: float  # F(x), from sums in double precision
    lower_bound: float
    why: str  # which bound
    tangent: passes.Tangent
    p: Array | None = None  # the feasible point that minimises the bound's model
    normal: Array | None = None  # normal to the set at p, in the units of the gradient

    @property
    def gap(self) -> float:
        """F(x) - F* is at most this."""
        return self.fun - self.lower_bound


class Model(NamedTuple):
    """min over the set of <c, z - x> + (a/2) ||z - centre||^2 + <tau, |z|>, solved: its value from below."""

    value: float
    p: Array
    normal: Array
    error: float = 0.0  # what the value leaves for the rounding of a projection


Bound = tuple[float, str, Model | None]  # a lower bound, its name, and the model that it comes from


class Certifier:
    """Certificates of one problem, each a little better for knowing the ones before.

    Parameters
    ----------
    problem : Problem
    project : callable, optional
        Where projections are counted; the constraint's own by default.

    Examples
    --------
    >>> import numpy as np
    >>> import epro
    >>> X, y = np.eye(2), np.array([1.0, 3.0])
    >>> problem = epro.Problem(epro.losses.Squared(X, y), epro.regularizers.Ridge(0.5), epro.constraints.L1Ball(1.0))
    >>> from epro.certificate import Certifier
    >>> best = Certifier(problem).at(np.array([0.0, 1.0]))
    >>> best.fun, round(best.gap, 12)
    (1.5, 0.0)
    """

    def __init__(self, problem: Problem, project: Project | None = None) -> None:
        self.problem = problem
        self.constraint, self.g = core(problem)  # an intercept is minimised over first, and left out
        whole = problem.constraint.project if project is None else project
        self._kind = getattr(self.constraint, "inner", self.constraint)  # each row's, for several classes
        flat = problem.loss.intercept
        self._project = (lambda v: whole(joined(v, np.zeros_like(v[..., :1])))[..., :-1]) if flat else whole
        self._shape = without_last(problem.shape) if flat else problem.shape
        self._rounds = costs.rounds(problem.constraint, problem.shape)
        self.mu: float | None = None  # of the best smoothing so far, for a nonsmooth loss
        self.given_up = np.nan  # to a bounded set without a ridge
        self.u: Array | None = None  # of the last thresholded projection

    def at(self, x: Array) -> Certificate:
        """The certificate at x, which must be feasible."""
        x = np.asarray(x, dtype=np.float64)
        best = self.from_tangent(passes.tangent(self.problem.loss, x))
        if self.problem.loss.smoothness is None:
            for mu in self._smoothings(best.tangent):
                better = self.from_tangent(self._flat(x, mu))
                if better.lower_bound > best.lower_bound:
                    best, self.mu = better, mu
        return best

    def from_tangent(self, t: passes.Tangent) -> Certificate:
        """The certificate that an affine function below f gives; F(x) - bound is proven whatever function it is."""
        if self.problem.loss.intercept:
            return self._beside_intercept(t)
        return self._certified(t, t.fun + float(self.g.value(t.x)))

    def _beside_intercept(self, t: passes.Tangent) -> Certificate:
        """From an affine function that ignores the intercept, up to rounding: that of slopes with sum zero."""
        fun, b, flat = t.fun + float(self.g.value(t.x[..., :-1])), t.x[..., -1:], t
        if np.abs(t.slope[..., -1]).max() > ROUNDING * t.magnitude:
            flat = self._flat(t.x)
        if not np.abs(flat.slope[..., -1]).max() <= ROUNDING * flat.magnitude:
            return Certificate(fun, -np.inf, "no slopes with sum zero", t)
        found = self._certified(flat._replace(x=flat.x[..., :-1], slope=flat.slope[..., :-1]), fun)
        p = None if found.p is None else joined(found.p, b)
        normal = None if found.normal is None else joined(found.normal, np.zeros_like(b))
        return Certificate(fun, found.lower_bound, found.why, t, p, normal)

    def _flat(self, x: Array, mu: float = 0.0) -> passes.Tangent:
        """The affine function below f that touches it (or its envelope) at x, moved to the best intercept."""
        loss, x = self.problem.loss, x.copy()
        if loss.intercept:
            x[..., -1] += shift(loss, predictions(loss, x), mu)
        t, pieces = passes.tangent(loss, x, mu), loss.pieces()
        if pieces is None or mu == 0.0 or not loss.intercept:
            return t
        slopes, weights = np.empty(loss.n), loss.weights.astype(np.float64)
        passes.tangent(loss, x, mu, slopes)
        low, high, kink = (np.asarray(part, np.float64) for part in pieces)
        s = balanced(slopes / np.where(weights > 0, weights, 1.0), low, high, weights)
        height = float(weights @ (s * (predictions(loss, x) - kink))) / loss.n
        slope = np.asarray(loss.atoms.adjoint((weights * s).astype(loss.dtype)), np.float64) / loss.n
        return passes.Tangent(x, t.fun, height, slope, t.magnitude)

    def _certified(self, t: passes.Tangent, fun: float) -> Certificate:
        if not np.isfinite(fun) or not np.isfinite(t.slope).all():
            return Certificate(fun, -np.inf, "not finite", t)
        bound, why, model = self._bound(t, fun)
        if model is None:
            return Certificate(fun, bound, why, t)
        reach = float(np.linalg.norm(model.p - t.x))
        scale = t.magnitude * row_scale(self.problem.loss) + float(np.linalg.norm(t.slope))
        allowed = ROUNDING * (abs(t.height) + abs(float(self.g.value(model.p))) + scale * reach)
        return Certificate(fun, float(bound - allowed), why, t, model.p, model.normal)

    # -- step 2

    def _bound(self, t: passes.Tangent, fun: float) -> Bound:
        g = self.g
        if not composite.separable(g, t.x.shape):
            return self._bound_of_ones_own(t, fun)
        c = t.slope if g.tilt is None else t.slope + g.tilt
        start = t.height + (0.0 if g.tilt is None else float(np.vdot(g.tilt, t.x)))
        tau = composite.thresholds(g, t.x.shape)
        if g.ridge > 0.0:
            model = self._solve(c, g.ridge, np.zeros_like(t.x), tau, t.x, fun - start)
            found = start + model.value, "strong convexity of the ridge", model
            lost = max(model.error, ROUNDING * float(np.vdot(c, c)) / g.ridge)
            if lost <= max(0.1 * (fun - found[0]), 1e-14 * abs(fun)):
                return found
            # nearly no ridge: the projection is from so far that rounding tells. Then g from below by its tangent at x
            flat, start = c + g.ridge * t.x, start + 0.5 * g.ridge * float(np.vdot(t.x, t.x))
            return max(found, self._without_ridge(t, flat, start, tau, fun), key=lambda bound: bound[0])
        return self._without_ridge(t, c, start, tau, fun)

    def _without_ridge(self, t: passes.Tangent, c: Array, start: float, tau: Any, fun: float) -> Bound:
        found: list[Bound] = [(self._floor(), "nonnegative losses", None)]
        curvature = least_curvature(self.problem.loss)
        if curvature > 0.0 and t.height == t.fun:
            model = self._solve(c, curvature, t.x, tau, t.x, fun - start)
            found.append((start + model.value, "strong convexity of least squares", model))
        if not np.any(tau):
            found += self._linear(c, start, t.x)
        radius = self._radius(fun)
        if len(found) == 1 and np.isfinite(radius):
            value, model = self._bounded(c, tau, t.x, radius + float(np.linalg.norm(t.x)), fun - start)
            found.append((start + value, "bounded set", model))
            if np.any(tau):  # <tau, |z|> is at least <u, z> for |u| <= tau
                u = np.where(t.x != 0.0, tau * np.sign(t.x), np.clip(-c - model.normal, -tau, tau))
                found += self._linear(c + u, start + float(np.vdot(u, t.x)), t.x)
        return max(found, key=lambda bound: bound[0])

    def _linear(self, c: Array, start: float, x: Array) -> list[Bound]:
        """The second bound without a ridge, where it has a closed form."""
        vertex = self._vertex(c)
        if vertex is None:
            return []
        value = float(np.vdot(c, vertex - x))
        return [(start + value, "linear minimisation", Model(value, vertex, -c))]

    def _bounded(self, c: Array, tau: Any, x: Array, diameter: float, gap: float) -> tuple[float, Model]:
        """The third bound without a ridge; what it gives up, ``self.given_up``, falls as the gap does."""
        best: tuple[float, Model] | None = None
        if np.isnan(self.given_up):
            self.given_up = 1e-2 * max(abs(gap), 1e-3)
        for _ in range(6):
            model = self._solve(c, 2.0 * self.given_up / max(diameter, 1e-300) ** 2, x, tau, x, gap)
            value = model.value - self.given_up
            if best is not None and value <= best[0]:
                break
            best = value, model
            left = gap - best[0]
            if left > 10.0 * self.given_up or self.given_up <= 1e-12 * max(abs(gap), 1e-3):
                break
            self.given_up *= 0.1
        assert best is not None
        return best

    def _bound_of_ones_own(self, t: passes.Tangent, fun: float) -> Bound:
        """g in plain Python: its subgradient at x, with the strong convexity that it declares."""
        g = self.g
        c, start = t.slope + g.subgradient(t.x), t.height + float(g.value(t.x))
        if g.strong_convexity > 0.0:
            model = self._solve(c, float(g.strong_convexity), t.x, 0.0, t.x, fun - start)
            return start + model.value, "strong convexity", model
        return self._without_ridge(t, c, start, 0.0, fun)

    def _solve(self, c: Array, a: float, centre: Array, tau: Any, x: Array, gap: float) -> Model:
        """min over the set of <c, z - x> + (a/2) ||z - centre||^2 + <tau, |z|>, from below; ``gap`` where it is zero.

        A tenth of the gap that is left is as exact as the thresholded projection needs to be.
        """
        project, target, u, allowed = self._project, centre - c / a, self.u, 0.05 * max(gap, 1e-15) / a
        for _ in range(6):
            found = composite.thresholded_projection(project, target, np.asarray(tau) / a, u, allowed, self._rounds)
            move, u = found.p - centre, found.u
            value = float(np.vdot(c, found.p - x)) + 0.5 * a * float(np.vdot(move, move))
            value += float(np.sum(tau * np.abs(found.p))) - a * found.gap
            if not np.any(tau) or a * found.gap <= 0.1 * max(gap - value, 0.0) or found.gap > allowed:
                break  # exact enough, or as exact as so many projections make it
            allowed = 0.05 * max(gap - value, 1e-15) / a
        self.u, error = u if np.any(tau) else None, self._error(target - found.u, found.p)
        return Model(value - a * error, found.p, a * (target - found.u - found.p), a * error)

    def _error(self, z: Array, p: Array) -> float:
        """By how much ||p - z||^2 / 2 may exceed the least one over the set."""
        error, distance = float(self.constraint.projection_error(z, p)), float(np.linalg.norm(p - z))
        if isinstance(self._kind, (Polyhedron, Intersection)):
            # the measure is about the set moved by rounding, which is as large as a far z makes it
            unit = 4.0 * float(np.finfo(np.float64).eps)
            return error**2 + distance * unit * (float(np.linalg.norm(z)) + float(np.linalg.norm(p)))
        return distance * error

    def _vertex(self, c: Array) -> Array | None:
        """The linear minimum, where it has a closed form: a linear program's is only as good as its tolerances."""
        if isinstance(self._kind, (Affine, Intersection, Polyhedron)):
            return None
        try:
            return np.asarray(self.constraint.linear_minimizer(c), dtype=np.float64)
        except NotImplementedError:
            return None

    def _radius(self, fun: float) -> float:
        """||z|| is at most this for every candidate z."""
        g, radius = self.g, self._set_radius
        slope = g.l1 - (0.0 if g.tilt is None else float(np.abs(g.tilt).max(initial=0.0)))
        known = composite.separable(g, self._shape) and slope > 0.0 and self.problem.loss.nonnegative
        return min(radius, max(fun, 0.0) / slope) if known else radius

    @functools.cached_property
    def _set_radius(self) -> float:
        known = self.constraint.radius_bound
        return bounding_radius(self.constraint, self._shape) if known is None else float(known)

    def _floor(self) -> float:
        g = self.g
        simple = composite.separable(g, self._shape) and g.tilt is None
        return 0.0 if simple and self.problem.loss.nonnegative else -np.inf

    # -- step 1, for kinks

    def _smoothings(self, t: passes.Tangent) -> list[float]:
        if self.mu is None:
            size = max(abs(t.fun), 1e-3) / max(t.magnitude, 1e-3)
            return [size * 4.0**-k for k in range(1, 7)]
        return [2.0 * self.mu, 0.5 * self.mu]
