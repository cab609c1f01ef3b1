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
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from epro import quadratic
from epro.certificate import lower_bound
from epro.oracles import Oracles
from epro.problem import Problem
from epro.protocols import Array
from epro.solvers.base import Solver
from epro.state import State

LARGEST = 5_000  # columns: a d x d matrix is formed and factorised


@dataclass(frozen=True)
class EproNewton(Solver):
    """Sub-sampled Newton steps under the real constraint; for smooth losses and up to a few thousand columns.

    Parameters
    ----------
    rows_per_column : float, default 10
        The first sample's size. It grows where progress asks for it.
    """

    rows_per_column: float = 10.0
    name: ClassVar[str] = "epro-newton"
    passes: ClassVar[int] = 400
    certifies: ClassVar[bool] = True

    def check(self, problem: Problem) -> None:
        if problem.loss.smoothness is None:
            raise ValueError(f"epro-newton needs a smooth loss, and {type(problem.loss).__name__} is not; use epro-vr")
        if len(problem.shape) != 1 or problem.shape[0] > LARGEST:
            raise ValueError(f"epro-newton forms d x d matrices, d up to {LARGEST}, but x has shape {problem.shape}; use epro-vr")

    def states(self, oracles: Oracles, state: State, T: int) -> Iterator[State]:
        problem, n = oracles.problem, oracles.problem.n
        loss, g = problem.loss, problem.regularizer
        x, p = state.x, state.memory.get("p", None)
        p = loss.atoms.predictions(x) if p is None else p
        order = state.memory.get("order", None)
        order = oracles.rng.permutation(n) if order is None else order
        hessian = quadratic.Hessian(loss, order)
        size = int(state.memory.get("sample", self._first_sample(n, x.size)))
        predicted, warm = float(state.memory.get("predicted", np.inf)), None
        gradient, loss_value = loss.atoms.adjoint(loss.slopes(p)), loss.mean_loss(p)
        while state.steps + 2 * n <= T:
            H = hessian(p, size)
            z, warm = quadratic.minimize_model(oracles, H, gradient, x, warm)
            move = z - x
            value = loss_value + g.value(x)
            before, predicted = predicted, g.value(x) - g.value(z) - float(np.vdot(gradient, move))
            change = loss.atoms.predictions(move)
            t = quadratic.line_search(loss, g, p, change, x, move, value)
            x, p = x + x.dtype.type(t) * move, p + p.dtype.type(t) * change
            stuck = t == 0.0 and size >= n
            if predicted > 0.1 * before or t == 0.0:
                size = min(n, 4 * size)
            gradient, loss_value = loss.atoms.adjoint(loss.slopes(p)), loss.mean_loss(p)
            state = state.after(
                x, 2 * n, step_size=t, fun=loss_value + g.value(x), violation=problem.violation(x),
                lower_bound=self._bound(oracles, x, loss_value, gradient, H, z, warm),
                done="No step along the model lowers the objective." if stuck else "",
                memory={"sample": size, "order": order, "predicted": predicted, "p": p},
            )  # fmt: skip
            yield state
            if stuck:
                return

    def _first_sample(self, n: int, d: int) -> int:
        """At least ``rows_per_column`` a column; more, where its d^2 m flops take no longer than the two passes over n rows.

        Passes are bound by memory, at about a twentieth of the flops that a matrix product gets.
        """
        return min(n, int(max(1000, self.rows_per_column * d, 20 * n / d)))

    def _bound(self, oracles: Oracles, x: Array, loss_value: float, gradient: Array, H: Array, z: Array, multipliers: Any) -> float:
        problem = oracles.problem
        if multipliers is not None:
            normal, support = quadratic.normal_vector(problem, multipliers)
            return quadratic.lagrangian_bound(problem, x, loss_value, gradient, normal, support)
        return lower_bound(problem, x, oracles.project)
