"""Accelerated projected gradient: FISTA with backtracking and adaptive restart, full gradients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from epro.composite import composite_prox
from epro.oracles import Oracles
from epro.problem import Problem
from epro.protocols import Array
from epro.solvers.base import Solver
from epro.state import State


@dataclass(frozen=True)
class APG(Solver):
    """x_{k+1} = prox of g on the set [y_k - grad f(y_k) / L], y extrapolated; one projection and one gradient a step.

    L is found by backtracking and may fall again; the momentum restarts where it points uphill (O'Donoghue and Candes).

    Parameters
    ----------
    smoothness : float, optional
        The first guess of L. A wrong guess costs a few projections.
    restart : bool, default True
    """

    smoothness: float | None = None
    restart: bool = True
    name: ClassVar[str] = "apg"
    passes: ClassVar[int] = 3000

    def check(self, problem: Problem) -> None:
        if problem.loss.smoothness is None:
            raise ValueError(f"apg needs a smooth loss, and {type(problem.loss).__name__} is not; use epro-sgd")

    def states(self, oracles: Oracles, state: State, T: int) -> Iterator[State]:
        n = oracles.problem.n
        y = state.memory.get("y", state.x)
        momentum = float(state.memory.get("momentum", 1.0))
        curve = float(state.memory.get("L", self.smoothness or self._first_guess(oracles, state.x)))
        while state.steps + 2 * n <= T:
            x, curve, evaluations = self._step(oracles, y, curve)
            following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
            if self.restart and np.vdot(y - x, x - state.x) > 0.0:
                following, y = 1.0, x
            else:
                y = x + x.dtype.type((momentum - 1.0) / following) * (x - state.x)
            momentum = following
            state = state.after(
                x, evaluations * n, step_size=1.0 / curve, memory={"y": y, "momentum": momentum, "L": 0.95 * curve},
                violation=oracles.problem.violation(x),
            )  # fmt: skip
            curve *= 0.95
            yield state

    def _step(self, oracles: Oracles, y: Array, curve: float) -> tuple[Array, float, int]:
        """One proximal step from y, with the smallest L (by doubling) whose quadratic model lies above f there."""
        loss = oracles.problem.loss
        p: Array = loss.atoms.predictions(y)
        value = loss.mean_loss(p)
        gradient: Array = loss.atoms.adjoint(loss.slopes(p))
        evaluations = 1
        while True:
            x: Array = composite_prox(
                oracles.problem, y - y.dtype.type(1.0 / curve) * gradient, 1.0 / curve, oracles.project
            )
            evaluations += 1
            move = x - y
            model = value + float(np.vdot(gradient, move)) + 0.5 * curve * float(np.vdot(move, move))
            if loss.value(x) <= model + 1e-12 * max(1.0, abs(value)) * (1e4 if x.dtype == np.float32 else 1.0):
                return x, curve, evaluations
            curve *= 2.0

    def _first_guess(self, oracles: Oracles, x: Array) -> float:
        """||grad f(x + h) - grad f(x)|| / ||h|| for one random h: a lower estimate of L, cheap and rarely far off."""
        loss = oracles.problem.loss
        h = np.random.default_rng(0).standard_normal(x.shape).astype(x.dtype)
        change = loss.subgradient(x + h) - loss.subgradient(x)
        return max(float(np.linalg.norm(change) / np.linalg.norm(h)), 1e-12)
