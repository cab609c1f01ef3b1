"""SGD in the manner of Pegasos: a projection at every step, the average of the iterates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from epro.moves import Explicit
from epro.oracles import Oracles
from epro.penalties import NoPenalty
from epro.problem import Problem
from epro.protocols import Array
from epro.solvers.base import Solver
from epro.solvers.plans import row_smoothness, strong_convexity
from epro.solvers.running import running_average
from epro.state import State


@dataclass(frozen=True)
class SGD(Solver):
    """SGD: x_{t+1} = P[x_t - eta_t g(x_t)] with eta_t = 1/(beta t), or eta0/t; T projections (Eq. sgd).

    Where the slopes of the loss are unbounded, eta_t = 1/(beta t) would overflow first: the default is then
    1/(beta t + L), L the largest curvature of a row's loss, an estimate that the result names.

    Parameters
    ----------
    eta0 : float, optional
        eta_t = eta0 / t.
    batch : int, default 1
        Rows per step.
    """

    eta0: float | None = None
    batch: int = 1
    name: ClassVar[str] = "sgd"

    def states(self, oracles: Oracles, state: State, T: int) -> Iterator[State]:
        beta, offset, _ = self._steps(oracles.problem)
        return running_average(
            oracles, state, T // self.batch, lambda t: 1.0 / (beta * t + offset), NoPenalty(), Explicit(),
            oracles.every_step(), batch=self.batch, project=lambda average: average,  # an average of feasible points
        )  # fmt: skip

    def _steps(self, problem: Problem) -> tuple[float, float, tuple[str, ...]]:
        """beta and offset of eta_t = 1/(beta t + offset), with the estimates among them."""
        if self.eta0 is not None:
            return 1.0 / self.eta0, 0.0, ()
        beta, sentence = strong_convexity(problem)
        sentences = (sentence,) if sentence else ()
        if problem.loss.slope_bound is not None:
            return beta, 0.0, sentences
        offset = row_smoothness(problem) or 0.0
        sentence = f"eta_t = 1/(beta t + {offset:.3g}), the largest row curvature added, as slopes are unbounded"
        return beta, offset, (*sentences, sentence)

    def estimates(self, problem: Problem, x0: Array, T: int) -> tuple[str, ...]:
        return self._steps(problem)[2]
