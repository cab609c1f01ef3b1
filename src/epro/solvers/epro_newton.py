"""epro-newton: few projections, in the metric of the curvature.

Each step minimises the quadratic model of the objective over the real constraint,

    z = argmin over the set of <grad f(x), z - x> + (z - x)' H (z - x) / 2 + g(z),

with H the loss's curvature on a sample of rows, and moves to x + t (z - x). With m sampled rows H errs by about
sqrt(d/m) relative to the true curvature, so that the gap shrinks by about d/m a step. The sample grows fourfold
whenever a step shrinks the predicted decrease by less than a factor of ten, up to all rows, where the steps are
Newton's and converge quadratically. One pass over the data at z gives its value, gradient and predictions; t = 1
where z lowers the objective as much as the model said, or nearly. Elsewhere a line search on the predictions, which
costs no pass, finds t, and one more pass follows there.

The certificate (see `duality`) takes the normal vector of the last model's minimiser. At the new point the residual is
grad F(x+) + normal = (true curvature - H)(x+ - x), small at once when the sample is good.

Losses with a kink take the path of `newton_kinked`. So does Huber's where most rows lie on its straight pieces, whose
curvature is zero: there the model says nothing, and steps along it come to a fraction of their length.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from epro import duality, intercepts, quadratic
from epro.certificate import Certifier
from epro.constraints.linear import LinearMultipliers
from epro.models import conic_form, minimize_model
from epro.oracles import Diverged, Oracles
from epro.passes import Tangent, tangent
from epro.problem import Problem
from epro.protocols import Array
from epro.solvers.base import Solver
from epro.solvers.newton_kinked import KinkedNewton
from epro.state import State

LARGEST = 5_000  # columns: a d x d matrix is formed and factorised
LARGEST_MATRIX, MATRIX_ENTRIES = 400, 20_000_000  # the same of a matrix x, and the entries of its rows
SAMPLE_ENTRIES = 16_000_000  # of the first sample, at most
SHORT = 3  # steps in a row of less than a tenth of their length
ENOUGH = 0.25  # of the predicted decrease; the model's own decrease is at least a half of it


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
        d, loss, matrix = math.prod(problem.shape), problem.loss, len(problem.shape) == 2
        if d > (LARGEST_MATRIX if matrix else LARGEST):
            shape = f"d up to {LARGEST} ({LARGEST_MATRIX} in a matrix), but x has shape {problem.shape}"
            raise ValueError(f"epro-newton forms d x d matrices, {shape}; use epro-vr")
        if loss.pieces() is None and (matrix or loss.smoothness is None):
            found = f"unlike {type(loss).__name__}"
            raise ValueError(f"epro-newton needs a loss that is smooth or has pieces(), {found}; use epro-vr")
        if matrix and not (problem.n * d <= MATRIX_ENTRIES and conic_form(problem)):
            raise ValueError("epro-newton takes few matrix rows, built-in sets and regularizers; use epro-vr")

    def states(self, oracles: Oracles, state: State, T: int) -> Iterator[State]:
        problem = oracles.problem
        kinked = problem.loss.smoothness is None or "s" in state.memory
        run: Any = KinkedNewton(oracles, state) if kinked else SmoothNewton(oracles, state, self.first_sample(problem))
        while state.steps + 2 * problem.n <= T:
            if not kinked and run.curveless:
                kinked, run = True, KinkedNewton(oracles, dataclasses.replace(state, memory={}))
            t = run.step()
            x = problem.point(run.x)
            bound, normal = run.bound()
            stuck = run.stuck and (kinked or not run.curveless)
            state = state.after(
                x, run.spent() * problem.n, step_size=t, fun=run.fun, lower_bound=bound, memory=run.memory(),
                normal=normal, violation=problem.violation(x), exact=np.array_equal(x, run.x),
                done="No step along the model lowers the objective." if stuck else "",
            )  # fmt: skip
            yield state
            if stuck:
                return

    def first_sample(self, problem: Problem) -> int:
        """At least ``rows_per_column`` a column; more, where its d^2 m flops take no longer than two passes do.

        Passes are bound by memory, at about a twentieth of the flops that a matrix product gets.
        """
        n, d = problem.n, problem.shape[0]
        return min(n, int(max(1000, self.rows_per_column * d, min(20 * n / d, SAMPLE_ENTRIES / d))))


class Look(NamedTuple):
    """What one pass over the data finds at x."""

    x: Array
    p: Array  # predictions
    slopes: Array  # of the rows, with their weights
    tangent: Tangent
    fun: float  # F(x)


class SmoothNewton:
    """The last look, the sample, the last model; all in double precision."""

    def __init__(self, oracles: Oracles, state: State, sample: int) -> None:
        self.oracles, self.problem = oracles, oracles.problem
        self.loss, self.g, memory = self.problem.loss, self.problem.regularizer, state.memory
        self.certifier = Certifier(self.problem, oracles.project)
        self.seed = int(memory.get("seed", -1))
        self.seed = int(oracles.rng.integers(2**31)) if self.seed < 0 else self.seed
        order = np.random.default_rng(self.seed).permutation(self.problem.n)
        self.size, self.predicted = int(memory.get("size", sample)), float(memory.get("predicted", np.inf))
        self.idle, self.short = int(memory.get("idle", 0)), int(memory.get("short", 0))
        self.warm = LinearMultipliers(*(memory[name] for name in ("ub", "eq", "bounds"))) if "ub" in memory else None
        self.hessian = quadratic.Hessian(self.loss, order)
        self.passes = 0
        self.here = self._look(memory.get("x", state.x))
        self.passes = 0 if memory else 1  # a resumed run paid for this look before

    def spent(self) -> int:
        """Passes since the last call."""
        passes, self.passes = self.passes, 0
        return passes

    def memory(self) -> dict[str, Any]:
        """What the next step needs."""
        warm: dict[str, Array] = {} if self.warm is None else self.warm._asdict()
        return {
            "x": self.x, "seed": self.seed, "size": self.size, "predicted": self.predicted, "idle": self.idle,
            "short": self.short, **warm,
        }  # fmt: skip

    @property
    def x(self) -> Array:
        """The iterate, in double precision."""
        return self.here.x

    @property
    def fun(self) -> float:
        """F(x)"""
        return self.here.fun

    @property
    def stuck(self) -> bool:
        """Whether steps on all rows lead nowhere any more."""
        return self.idle >= 3 and self.size >= self.problem.n

    @property
    def curveless(self) -> bool:
        """Whether the steps are short for want of curvature, in a loss whose straight pieces are known."""
        return self.loss.pieces() is not None and (self.stuck or self.short >= SHORT)

    def step(self) -> float:
        """One model, one or two passes; the step's t."""
        here, before = self.here, self.predicted
        H = self.hessian(here.p, self.size)
        try:
            z, self.warm = minimize_model(self.oracles, H, here.tangent.slope, here.x, self.warm)
        except (RuntimeError, np.linalg.LinAlgError):  # too flat for double precision: more rows, or another method
            self.size, self.idle = self.problem.n, self.idle + 1 if self.size < self.problem.n else 3
            return 0.0
        there = self._look(z)
        move = there.x - here.x
        self.predicted = self.g.value(here.x) - self.g.value(there.x) - float(np.vdot(here.tangent.slope, move))
        rounding = 8 * np.finfo(np.float64).eps * abs(here.fun)
        t = 1.0
        if here.fun - there.fun < ENOUGH * self.predicted - rounding:
            t = quadratic.line_search(self.loss, self.g, here.p, there.p - here.p, here.x, move, here.fun)
            there = self._look(here.x + t * move) if t > 0.0 else here
        lowered = here.fun - there.fun > rounding
        self.here, self.idle = there, 0 if lowered else self.idle + 1
        self.short = self.short + 1 if t < 0.1 else 0
        if self.predicted > 0.1 * before or not lowered:
            self.size = min(self.problem.n, 4 * self.size)
        return t

    def bound(self) -> tuple[float, Array | None]:
        """A lower bound on the optimal value, by the model's multipliers where there are some, else by a projection.

        And the vector normal to the set that it rests on.
        """
        t = self.here.tangent
        if self.warm is None:
            certificate = self.certifier.from_tangent(t)
            return certificate.lower_bound, certificate.normal
        normal, support = duality.normal_vector(self.problem, self.warm)
        slopes = float(np.linalg.norm(self.here.slopes)) / self.problem.n
        return duality.lagrangian_bound(self.problem, t.x, t.height, t.slope, normal, support, self.fun, slopes), normal

    def _look(self, x: Array) -> Look:
        self.passes += 1
        x = np.asarray(x, np.float64)
        if self.loss.intercept:
            x = x.copy()
            x[-1] += intercepts.shift(self.loss, intercepts.predictions(self.loss, x))
        p, slopes = np.empty(self.problem.n), np.empty(self.problem.n)
        found = tangent(self.loss, x, 0.0, slopes, p)
        if not np.isfinite(found.fun):
            raise Diverged(_not_finite(self.loss))
        return Look(x, p, slopes, found, found.fun + self.g.value(x))


def _not_finite(loss: Any) -> str:
    name = type(loss).__name__
    return f"the mean {name} loss is not finite (X may hold a NaN or infinite entry, or one too large to square)"
