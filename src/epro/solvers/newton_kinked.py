r"""Newton's method for losses with a kink: a primal-dual interior-point path under the real constraint.

Hinge, absolute and quantile loss are max over s in [low, high] of s (p - kink), and Huber's is the same less s^2 / 2:
kappa below is one for it, and zero for the others. With slacks a, b >= 0 for the two ends of the interval, a minimiser
of f + g over the set satisfies, for every row i and its slope s_i,

    p_i - kink_i - kappa s_i = a_i - b_i,     a_i (high_i - s_i) = tau,     b_i (s_i - low_i) = tau,     tau = 0.

The path follows tau to zero. Linearised at the current point, with v = high - s and u = s - low, the second and third
equation give the slacks' steps, and the first then

    ds = D (dp + q),     D = 1 / (kappa + a/v + b/u),     q = p - kink - kappa s - tau/v + tau/u,

so that x's step is one quadratic model over the set, with gradient A'(s + D q) and curvature A'DA (weights and 1/n
apart). Slopes stay inside their intervals, hence are dual feasible: each iterate brings a certificate for the loss.
The model's minimiser has A'(s + ds) + normal = 0 (g apart), so after a step t the residual A's + normal shrinks to
1 - t of what it was, if the multipliers take the same step towards the model's: convex combinations, both.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from epro import duality, quadratic
from epro.certificate import Certifier
from epro.constraints.linear import LinearMultipliers, as_linear, stack
from epro.intercepts import balanced, predictions
from epro.models import minimize_model
from epro.oracles import Oracles
from epro.passes import Tangent, adjoint
from epro.protocols import Array
from epro.state import State

TO_BOUNDARY = 0.99  # of the way, at most
MULTIPLIERS = LinearMultipliers._fields
PATIENCE = 25  # steps without a smaller gap: the end of double precision
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
        self.kappa, self.rows = self.loss.rounding, quadratic.rows_of(self.loss.atoms)
        self.weights = self.loss.weights.astype(np.float64) / self.loss.n
        self.x: Array = np.array(memory.get("x", state.x), np.float64)
        self.p: Array = memory["p"] if "p" in memory else predictions(self.loss, self.x)
        self.s: Array = np.array(memory.get("s", 0.5 * (self.low + self.high)))
        residual = self.p - self.kink - self.kappa * self.s
        size = max(float(np.abs(residual).mean()), 1e-8)
        self.a: Array = np.array(memory.get("a", np.maximum(residual, 0.0) + size))
        self.b: Array = np.array(memory.get("b", np.maximum(-residual, 0.0) + size))
        self.length, self.gap = float(memory.get("length", 0.0)), float(memory.get("gap", np.inf))
        self.idle = int(memory.get("idle", 0))  # steps since the gap last shrank
        self.multipliers = LinearMultipliers(*(memory[name] for name in MULTIPLIERS)) if "ub" in memory else None

    def spent(self) -> int:
        """Passes of a step: two for its model, one for its certificate."""
        return 3

    def memory(self) -> dict[str, Any]:
        """What the next step needs."""
        multipliers = {} if self.multipliers is None else self.multipliers._asdict()
        return {name: getattr(self, name) for name in ("x", "p", "s", "a", "b", "length", "gap", "idle")} | multipliers

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
        D: Array = 1.0 / (self.kappa + self.a / v + self.b / u)
        q: Array = self.p - self.kink - self.kappa * self.s - tau / v + tau / u
        linear = adjoint(self.loss, self.weights * (self.s + D * q))
        H = quadratic.gram(self.rows, self.weights * D)
        try:
            z, towards = minimize_model(self.oracles, H, linear, self.x, None)
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
        if towards is not None:
            towards = duality.valid(self.problem, towards)
            before = LinearMultipliers(*map(np.zeros_like, towards)) if self.multipliers is None else self.multipliers
            steps = (now + t * (to - now) for now, to in zip(before, towards, strict=True))
            self.multipliers = LinearMultipliers(*steps)
        self.stuck, self.length = t < 1e-10, t
        return t

    def bound(self) -> tuple[float, Array | None]:
        """A lower bound on the optimal value, from the slopes and the models' multipliers, and their normal vector."""
        found, normal = self._bound()
        shrank = self.fun - found < 0.99 * self.gap
        self.gap, self.idle = (self.fun - found, 0) if shrank else (self.gap, self.idle + 1)
        self.stuck = self.stuck or self.idle >= PATIENCE
        return found, normal

    def _bound(self) -> tuple[float, Array | None]:
        s = balanced(self.s, self.low, self.high, self.weights) if self.loss.intercept else self.s
        slopes, multipliers = self.weights * s, self.multipliers
        if multipliers is None:
            height, gradient = self._height(slopes), adjoint(self.loss, slopes)
            tangent = Tangent(self.x, self.loss.mean_loss(self.p), height, gradient, float(np.abs(slopes).sum()))
            certificate = self.certifier.from_tangent(tangent)
            return certificate.lower_bound, certificate.normal
        found, normal = self._lagrangian(slopes, multipliers)
        if found == -np.inf or self.idle > 0 or self.fun - found > 0.99 * self.gap:
            repaired = self._lagrangian(*self._repaired(slopes, multipliers))
            return repaired if repaired[0] > found else (found, normal)
        return found, normal

    def _height(self, slopes: Array) -> float:
        """At x, of the affine function below f that has these slopes (weights and 1/n included)."""
        counted = np.where(self.weights > 0.0, self.weights, 1.0)
        return float(slopes @ (self.p - self.kink - 0.5 * self.kappa * slopes / counted))

    def _lagrangian(self, slopes: Array, multipliers: LinearMultipliers) -> tuple[float, Array]:
        normal, support = duality.normal_vector(self.problem, multipliers)
        height, gradient = self._height(slopes), adjoint(self.loss, slopes)
        size = float(np.linalg.norm(slopes))
        bound = duality.lagrangian_bound(self.problem, self.x, height, gradient, normal, support, self.fun, size)
        return bound, normal

    def _repaired(self, slopes: Array, multipliers: LinearMultipliers) -> tuple[Array, LinearMultipliers]:
        """Slopes and multipliers near these that leave no residual, which nothing else would bound.

        The least move in units of their room, by least squares. Near a vertex both are needed: the rows whose slopes
        lie inside their intervals and the constraints that bind span the space only together.
        """
        room = np.minimum(self.weights * self.high - slopes, slopes - self.weights * self.low)
        linear, m = as_linear(self.problem.constraint, self.x.size), len(multipliers.ub)
        N, nu, bounds = stack([linear.A_ub, linear.A_eq]), np.concatenate(multipliers[:2]), multipliers.bounds
        nu_room, bounds_room = np.abs(nu), np.abs(bounds)
        nu_room[m:] = max(1.0, nu_room.max(initial=0.0))  # an equation's multiplier may take either sign
        G = quadratic.gram(self.rows, room**2) + quadratic.gram(N, nu_room**2) + np.diag(bounds_room**2)
        unit = 1.0 / np.sqrt(np.maximum(np.diag(G), 1e-300))
        s, found, at_bounds = slopes, nu, bounds
        for _ in range(3):
            left = duality.residual(self.problem, adjoint(self.loss, s), N.T @ found + at_bounds)
            move = unit * np.linalg.lstsq(G * unit * unit[:, None], unit * left, rcond=1e-14)[0]
            s = s - room**2 * predictions(self.loss, move)
            found, at_bounds = found - nu_room**2 * (N @ move), at_bounds - bounds_room**2 * move
        kept = [
            np.abs(s - slopes) <= room,
            np.abs(found - nu)[:m] <= nu_room[:m],
            np.abs(at_bounds - bounds) <= bounds_room,
        ]
        if not all(map(np.all, kept)):
            return slopes, multipliers
        return s, LinearMultipliers(found[:m], found[m:], at_bounds)


def _room(now: Array, change: Array) -> float:
    """The step to `TO_BOUNDARY` of the way to where now + t * change first reaches zero."""
    falling = change < 0.0
    if not falling.any():
        return 1.0
    return TO_BOUNDARY * float(np.min(-now[falling] / change[falling]))
