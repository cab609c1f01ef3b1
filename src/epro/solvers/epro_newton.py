"""epro-newton: few projections, in the metric of the curvature.

Each step minimises the quadratic model of the objective over the real constraint,

    z = argmin over the set of <grad f(x), z - x> + (z - x)' H (z - x) / 2 + g(z),

with H the loss's curvature on a sample of rows, and moves to x + t (z - x), t found on the exact objective. With m sampled
rows H errs by about sqrt(d/m) relative to the true curvature, so that the gap shrinks by about d/m a step. The sample
grows fourfold whenever a step shrinks the predicted decrease by less than a factor of ten, up to all rows, where the
steps are Newton's and converge quadratically. Predictions are updated, not recomputed: a step costs two passes over
the data, one for A(z - x) and one for the next gradient; the line search costs none.

The certificate (see `quadratic`) takes the normal vector of the last model's minimiser. At the new point the residual is
grad F(x+) + normal = (true curvature - H)(x+ - x), small at once when the sample is good.

Losses with a kink take the path of `newton_kinked`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from epro import quadratic
from epro.certificate import Certifier
from epro.intercepts import shift
from epro.solvers.newton_kinked import KinkedNewton
from epro.oracles import Oracles
from epro.passes import Tangent
from epro.problem import Problem
from epro.protocols import Array
from epro.solvers.base import Solver
from epro.state import State

LARGEST = 5_000  # columns: a d x d matrix is formed and factorised


@dataclass(frozen=True)
class EproNewton(Solver):
    """Sub-sampled Newton steps under the real constraint, for up to a few thousand columns.

    Parameters
    ----------
    rows_per_column : float, default 10
        The first sample's size, at least. It grows where progress asks for it.
    """

    rows_per_column: float = 10.0
    name: ClassVar[str] = "epro-newton"
    passes: ClassVar[int] = 600
    certifies: ClassVar[bool] = True

    def check(self, problem: Problem) -> None:
        if len(problem.shape) != 1 or problem.shape[0] > LARGEST:
            raise ValueError(f"epro-newton forms d x d matrices, d up to {LARGEST}, but x has shape {problem.shape}; use epro-vr")
        if problem.loss.smoothness is None and problem.loss.pieces() is None:
            raise ValueError(f"epro-newton needs a loss that is smooth or has pieces(), unlike {type(problem.loss).__name__}; use epro-vr")

    def states(self, oracles: Oracles, state: State, T: int) -> Iterator[State]:
        kinked = oracles.problem.loss.smoothness is None
        run = KinkedNewton(oracles, state) if kinked else SmoothNewton(oracles, state, self._first_sample(oracles.problem))
        while state.steps + 2 * oracles.problem.n <= T:
            t = run.step()
            state = state.after(
                oracles.problem.point(run.x), 2 * oracles.problem.n, step_size=t, fun=run.fun, lower_bound=run.bound(), memory=run.memory(),
                violation=oracles.problem.violation(run.x),
                done="No step along the model lowers the objective." if run.stuck else "",
            )  # fmt: skip
            yield state
            if run.stuck:
                return

    def _first_sample(self, problem: Problem) -> int:
        """At least ``rows_per_column`` a column; more, where its d^2 m flops take no longer than the two passes over n rows.

        Passes are bound by memory, at about a twentieth of the flops that a matrix product gets.
        """
        n, d = problem.n, problem.shape[0]
        return min(n, int(max(1000, self.rows_per_column * d, 20 * n / d)))


class SmoothNewton:
    """The iterate: x, its predictions p, value and gradient of the loss there, the sample, the last model."""

    def __init__(self, oracles: Oracles, state: State, sample: int) -> None:
        self.oracles, self.problem, memory = oracles, oracles.problem, state.memory
        self.loss, self.g = self.problem.loss, self.problem.regularizer
        self.certifier = Certifier(self.problem, oracles.project)
        self.x, self.p, order = state.x, memory.get("p", None), memory.get("order", None)
        self.p = self.loss.atoms.predictions(self.x) if self.p is None else self.p
        self.order = oracles.rng.permutation(self.problem.n) if order is None else order
        self.size, self.predicted = int(memory.get("size", sample)), float(memory.get("predicted", np.inf))
        self.warm, self.stuck = None, False
        self.hessian = quadratic.Hessian(self.loss, self.order)
        self._differentiate()

    def memory(self) -> dict[str, Any]:
        """What the next step needs beyond x."""
        return {"p": self.p, "order": self.order, "size": self.size, "predicted": self.predicted}

    @property
    def fun(self) -> float:
        """F(x)"""
        return self.value + self.g.value(self.x)

    def step(self) -> float:
        """One model, one line search; its t."""
        H = self.hessian(self.p, self.size)
        z, self.warm = quadratic.minimize_model(self.oracles, H, self.gradient, self.x, self.warm)
        move, before = z - self.x, self.predicted
        self.predicted = self.g.value(self.x) - self.g.value(z) - float(np.vdot(self.gradient, move))
        change = self.loss.atoms.predictions(move)
        t = quadratic.line_search(self.loss, self.g, self.p, change, self.x, move, self.fun)
        self.x = self.x + self.x.dtype.type(t) * move
        self.p = self.p + self.p.dtype.type(t) * change
        self.stuck = t == 0.0 and self.size >= self.problem.n
        if self.predicted > 0.1 * before or t == 0.0:
            self.size = min(self.problem.n, 4 * self.size)
        self._differentiate()
        return t

    def bound(self) -> float:
        """A lower bound on the optimal value: by the model's multipliers where there are some, else by a projection."""
        if self.warm is not None:
            normal, support = quadratic.normal_vector(self.problem, self.warm)
            return quadratic.lagrangian_bound(self.problem, self.x, self.value, self.gradient, normal, support)
        magnitude = float(np.abs(self.slopes).sum())
        x, gradient = self.x.astype(np.float64), self.gradient.astype(np.float64)
        return self.certifier.from_tangent(Tangent(x, self.value, self.value, gradient, magnitude)).lower_bound

    def _differentiate(self) -> None:
        if self.loss.intercept:
            b = self.x.dtype.type(shift(self.loss, self.p))
            self.x, self.p = np.append(self.x[:-1], self.x[-1] + b), self.p + b
        self.slopes = self.loss.slopes(self.p)
        self.gradient, self.value = self.loss.atoms.adjoint(self.slopes), self.loss.mean_loss(self.p)
