r"""Newton's method for losses with a kink: a primal-dual interior-point path under the real constraint.

Hinge, absolute and quantile loss are max over s in [low, high] of s (p - kink). With slacks a, b >= 0 for the two ends of
the interval, a minimiser of f + g over the set satisfies, for every row i and its slope s_i,

    p_i - kink_i = a_i - b_i,     a_i (high_i - s_i) = tau,     b_i (s_i - low_i) = tau      with tau = 0.

The path follows tau to zero. Linearised at the current point, with v = high - s and u = s - low, the second and third equation
give the slacks' steps, and the first then

    ds = D (dp + q),     D = 1 / (a/v + b/u),     q = p - kink - tau/v + tau/u,

so that x's step is one quadratic model over the set, with gradient A'(s + D q) and curvature A'DA (weights and 1/n apart).
Slopes stay inside their intervals, hence are dual feasible: each iterate brings a certificate for the loss itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from epro import quadratic
from epro.certificate import Certifier
from epro.intercepts import balanced
from epro.oracles import Oracles
from epro.passes import Tangent
from epro.protocols import Array
from epro.state import State

TO_BOUNDARY = 0.99  # of the way, at most


class KinkedNewton:
    """The iterate: x and its predictions p, slopes s between their ends, slacks a and b."""

    stuck = False

    def __init__(self, oracles: Oracles, state: State) -> None:
        self.oracles, self.problem, memory = oracles, oracles.problem, state.memory
        self.loss, self.g = self.problem.loss, self.problem.regularizer
        self.certifier = Certifier(self.problem, oracles.project)
        pieces = self.loss.pieces()
        assert pieces is not None  # see EproNewton.check
        self.low, self.high, self.kink = (np.asarray(part, np.float64) for part in pieces)
        self.weights = self.loss.weights.astype(np.float64) / self.loss.n
        self.x, self.warm = state.x.astype(np.float64), None
        self.p = self._predict(self.x)
        distance = np.abs(self.p - self.kink)
        size = max(float(distance.mean()), 1e-8)
        self.s = np.array(memory.get("s", 0.5 * (self.low + self.high)))
        self.a = np.array(memory.get("a", np.maximum(self.p - self.kink, 0.0) + size))
        self.b = np.array(memory.get("b", np.maximum(self.kink - self.p, 0.0) + size))
        self.length = float(memory.get("length", 0.0))

    def memory(self) -> dict[str, Any]:
        """What the next step needs beyond x."""
        return {"s": self.s, "a": self.a, "b": self.b, "length": self.length}

    @property
    def fun(self) -> float:
        """F(x)"""
        return self.loss.mean_loss(self.p.astype(self.loss.dtype)) + self.g.value(self.x)

    def step(self) -> float:
        """One model, one step; its length."""
        v, u = self.high - self.s, self.s - self.low
        products = 0.5 * float(np.mean(self.a * v + self.b * u))
        tau = products * (0.05 if self.length > 0.8 else 0.2 if self.length > 0.3 else 0.7)
        D = 1.0 / (self.a / v + self.b / u)
        q = self.p - self.kink - tau / v + tau / u
        linear = self._adjoint(self.weights * (self.s + D * q))
        H = quadratic.gram(self.loss.atoms.matrix(), self.weights * D)
        z, self.warm = quadratic.minimize_model(self.oracles, H, linear, self.x, self.warm)
        dp = self._predict(z - self.x)
        ds = D * (dp + q)
        da, db = (tau + self.a * ds) / v - self.a, (tau - self.b * ds) / u - self.b
        self.length = t = min(1.0, *(_room(now, change) for now, change in ((v, -ds), (u, ds), (self.a, da), (self.b, db))))
        self.x, self.p = self.x + t * (z - self.x), self.p + t * dp
        self.s, self.a, self.b = self.s + t * ds, self.a + t * da, self.b + t * db
        self.stuck = t < 1e-10
        return t

    def bound(self) -> float:
        """A lower bound on the optimal value, from the slopes and the last model's normal vector."""
        s = balanced(self.s, self.low, self.high, self.weights) if self.loss.intercept else self.s
        height = float(self.weights @ (s * (self.p - self.kink)))
        gradient = self._adjoint(self.weights * s)
        if self.warm is not None:
            normal, support = quadratic.normal_vector(self.problem, self.warm)
            return quadratic.lagrangian_bound(self.problem, self.x, height, gradient, normal, support)
        fun = self.loss.mean_loss(self.p.astype(self.loss.dtype))
        magnitude = float(self.weights @ np.abs(s))
        return self.certifier.from_tangent(Tangent(self.x, fun, height, gradient, magnitude)).lower_bound

    def _predict(self, x: Array) -> Array:
        return np.asarray(self.loss.atoms.predictions(x.astype(self.loss.dtype)), np.float64)

    def _adjoint(self, s: Array) -> Array:
        return np.asarray(self.loss.atoms.adjoint(s.astype(self.loss.dtype)), np.float64)


def _room(now: Array, change: Array) -> float:
    """The step to `TO_BOUNDARY` of the way to where now + t * change first reaches zero."""
    falling = change < 0.0
    if not falling.any():
        return 1.0
    return TO_BOUNDARY * float(np.min(-now[falling] / change[falling]))
