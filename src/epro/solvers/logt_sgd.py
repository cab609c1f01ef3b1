"""LogT-SGD (Zhang, Yang, Jin and He 2013): mini-batches, extra-gradient steps, O(kappa log T) projections."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from epro.oracles import Oracles
from epro.problem import Problem
from epro.protocols import Array
from epro.solvers.base import Solver
from epro.solvers.plans import row_smoothness, strong_convexity
from epro.state import State


@dataclass(frozen=True)
class LogTSGD(Solver):
    """In epoch k, M pairs z_t = P[x_t - eta g(x_t)], x_{t+1} = P[x_t - eta g(z_t)] with mini-batches of B_k rows.

    The next epoch starts from the mean of the z_t, with B_{k+1} = 2 B_k. Smooth losses only. An epoch costs
    2 M B_k stochastic gradients and 2 M projections.

    Parameters
    ----------
    eta : float, optional
        1 / (sqrt(6) L) by default, L the largest curvature of a row's loss.
    inner : int, optional
        M; 4 / (eta beta) by default, at most so many that three epochs fit into T.
    batch : int, default 1
        B_1.
    """

    eta: float | None = None
    inner: int | None = None
    batch: int = 1
    name: ClassVar[str] = "logt-sgd"

    def check(self, problem: Problem) -> None:
        if problem.loss.smoothness is None:
            raise ValueError(f"logt-sgd needs a smooth loss, and {type(problem.loss).__name__} is not; use epro-sgd")

    def states(self, oracles: Oracles, state: State, T: int) -> Iterator[State]:
        eta, inner = self._constants(oracles.problem, T)
        while True:
            rows = self.batch * 2**state.epoch
            if state.steps + 2 * inner * rows > T:
                return
            x, mean = state.x, np.zeros_like(state.x)
            for _ in range(inner):
                z = oracles.project(x - eta * self._gradient(oracles, x, rows))
                x = oracles.project(x - eta * self._gradient(oracles, z, rows))
                mean += z / x.dtype.type(inner)
            violation = oracles.violation_seen(mean)  # an average of feasible points: rounding only
            state = state.after(mean, 2 * inner * rows, step_size=eta, violation=violation)
            yield state

    def _gradient(self, oracles: Oracles, x: Array, rows: int) -> Array:
        return oracles.batch_gradient(x, oracles.draw(rows)) + oracles.problem.regularizer.subgradient(x)

    def _constants(self, problem: Problem, T: int) -> tuple[float, int]:
        smoothness = row_smoothness(problem)
        assert smoothness is not None  # see check
        eta = self.eta or 1.0 / (math.sqrt(6.0) * smoothness)
        wanted = math.ceil(4.0 / (eta * strong_convexity(problem)[0]))
        return eta, self.inner or max(1, min(wanted, T // (2 * self.batch * 7)))

    def estimates(self, problem: Problem, x0: Array, T: int) -> tuple[str, ...]:
        eta, inner = self._constants(problem, T)
        return () if self.eta and self.inner else (f"eta = {eta:.3g} from the largest row curvature, M = {inner}",)
