r"""Newton's method for losses with a kink: a primal-dual interior-point path under the real constraint.

Hinge, absolute and quantile loss are max over s in [low, high] of s (p - kink). With slacks a, b >= 0 for the two ends
of the interval, a minimiser of f + g over the set satisfies, for every row i and its slope s_i,

    p_i - kink_i = a_i - b_i,     a_i (high_i - s_i) = tau,     b_i (s_i - low_i) = tau      with tau = 0.

The path follows tau to zero. Linearised at the current point, with v = high - s and u = s - low, the second and third
equation give the slacks' steps, and the first then

    ds = D (dp + q),     D = 1 / (a/v + b/u),     q = p - kink - tau/v + tau/u,

so that x's step is one quadratic model over the set, with gradient A'(s + D q) and curvature A'DA (weights and 1/n
apart). Slopes stay inside their intervals, hence are dual feasible: each iterate brings a certificate for the loss.
The model's minimiser has A'(s + ds) + normal = 0 (g apart), so after a step t the residual A's + normal shrinks to
1 - t of what it was, if ``normal`` takes the same step towards the model's normal vector: convex combinations, both.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from epro import duality, quadratic
from epro.certificate import Certifier
from epro.intercepts import balanced, predictions
from epro.models import minimize_model
from epro.oracles import Oracles
from epro.passes import Tangent, adjoint
from epro.protocols import Array
from epro.state import State

TO_BOUNDARY = 0.99  # of the way, at most
LEAST = 1e-15  # of the interval of slopes: a slope's distance from its ends


class KinkedNewton:
    """The iterate: x and its predictions p, slopes s between their ends, slacks a and b; all in double precision."""

    stuck = False

    def __init__(self, oracles: Oracles, state: State) -> None:
        self.oracles, self.problem = oracles, oracles.problem
        self.loss, self.g, memory = self.problem.loss, self.problem.regularizer, state.memory
        self.certifier = Certifier(self.problem, oracles.project)
        pieces = self.loss.pieces()
        assert pieces is not None  # see EproNewton.check
        self.low, self.high, self.kink = (np.asarray(part, np.float64) for part in pieces)
        self.weights = self.loss.weights.astype(np.float64) / self.loss.n
        self.x: Array = np.array(memory.get("x", state.x), np.float64)
        self.p: Array = memory["p"] if "p" in memory else predictions(self.loss, self.x)
        residual = self.p - self.kink
        size = max(float(np.abs(residual).mean()), 1e-8)
        self.s: Array = np.array(memory.get("s", 0.5 * (self.low + self.high)))
        self.a: Array = np.array(memory.get("a", np.maximum(residual, 0.0) + size))
        self.b: Array = np.array(memory.get("b", np.maximum(-residual, 0.0) + size))
        self.normal: Array = np.array(memory.get("normal", np.zeros_like(self.x)))
        self.support, self.length = float(memory.get("support", 0.0)), float(memory.get("length", 0.0))
        self.warm: Any = None

    def spent(self) -> int:
        """Passes of a step: two for its model, one for its certificate."""
        return 3

    def memory(self) -> dict[str, Any]:
        """What the next step needs."""
        names = ("x", "p", "s", "a", "b", "normal", "support", "length")
        return {name: getattr(self, name) for name in names}

    @property
    def fun(self) -> float:
        """F(x)"""
        return self.loss.mean_loss(self.p) + self.g.value(self.x)

    def step(self) -> float:
        """One model, one step; its length."""
        least = LEAST * (self.high - self.low)
        v, u = np.maximum(self.high - self.s, least), np.maximum(self.s - self.low, least)
        products = 0.5 * float(np.mean(self.a * v + self.b * u))
        tau = products * (0.05 if self.length > 0.8 else 0.2 if self.length > 0.3 else 0.7)
        D: Array = 1.0 / (self.a / v + self.b / u)
        q: Array = self.p - self.kink - tau / v + tau / u
        linear = adjoint(self.loss, self.weights * (self.s + D * q))
        H = quadratic.gram(self.loss.atoms.matrix(), self.weights * D)
        try:
            z, self.warm = minimize_model(self.oracles, H, linear, self.x, None)
        except (RuntimeError, np.linalg.LinAlgError):  # the end of double precision
            self.stuck = True
            return 0.0
        dp: Array = predictions(self.loss, z - self.x)
        ds: Array = D * (dp + q)
        da: Array = (tau + self.a * ds) / v - self.a
        db: Array = (tau - self.b * ds) / u - self.b
        t = min(1.0, _room(v, -ds), _room(u, ds), _room(self.a, da), _room(self.b, db))
        self.x, self.p = self.x + t * (z - self.x), self.p + t * dp
        self.s, self.a, self.b = self.s + t * ds, self.a + t * da, self.b + t * db
        if self.warm is not None:
            normal, support = duality.normal_vector(self.problem, self.warm)
            self.normal = self.normal + t * (normal - self.normal)
            self.support += t * (support - self.support)
        self.stuck, self.length = t < 1e-10, t
        return t

    def bound(self) -> float:
        """A lower bound on the optimal value, from the slopes and the models' normal vectors."""
        s = balanced(self.s, self.low, self.high, self.weights) if self.loss.intercept else self.s
        slopes = self.weights * s
        if (
            self.warm is not None
            and self.g.ridge <= 0.0
            and duality.candidates_radius(self.problem, self.fun) == np.inf
        ):
            slopes = self._repaired(slopes)
        height, gradient = float(slopes @ (self.p - self.kink)), adjoint(self.loss, slopes)
        if self.warm is not None:
            return duality.lagrangian_bound(
                self.problem, self.x, height, gradient, self.normal, self.support, self.fun, slopes
            )
        magnitude = float(np.abs(slopes).sum())
        tangent = Tangent(self.x, self.loss.mean_loss(self.p), height, gradient, magnitude)
        return self.certifier.from_tangent(tangent).lower_bound

    def _repaired(self, slopes: Array) -> Array:
        """Slopes near these that leave no residual, which nothing else would bound; least in units of their room."""
        room = np.minimum(self.weights * self.high - slopes, slopes - self.weights * self.low)
        G = quadratic.gram(self.loss.atoms.matrix(), room**2)
        unit = 1.0 / np.sqrt(np.maximum(np.diag(G), 1e-300))
        found = slopes
        for _ in range(3):
            residual = duality.residual(self.problem, adjoint(self.loss, found), self.normal)
            move = unit * np.linalg.lstsq(G * unit * unit[:, None], unit * residual, rcond=1e-14)[0]
            found = found - room**2 * predictions(self.loss, move)
        return found if np.all(np.abs(found - slopes) <= room) else slopes


def _room(now: Array, change: Array) -> float:
    """The step to `TO_BOUNDARY` of the way to where now + t * change first reaches zero."""
    falling = change < 0.0
    if not falling.any():
        return 1.0
    return TO_BOUNDARY * float(np.min(-now[falling] / change[falling]))
