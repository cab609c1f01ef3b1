"""Accelerated projected gradient: FISTA with backtracking and adaptive restart, full gradients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from epro.composite import composite_prox
from epro.momentum import following
from epro.oracles import Oracles
from epro.own_parts import ask
from epro.problem import Problem
from epro.protocols import Array
from epro.solvers.base import Solver
from epro.state import State


@dataclass(frozen=True)
class APG(Solver):
    """x_{k+1} = prox of g on the set [y_k - grad f(y_k) / L], y extrapolated; one projection and one gradient a step.

    L is found by backtracking and may fall again; the momentum restarts where it points uphill (O'Donoghue and Candes).
    Predictions are linear in x, so those at y come from those of the last two points: a step reads the data twice,
    once for the gradient at y and once for the predictions at the new point.

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
        problem, memory = oracles.problem, state.memory
        loss, n = problem.loss, problem.n
        last: Array = memory.get("last", state.x)
        weight, momentum = float(memory.get("weight", 0.0)), float(memory.get("momentum", 1.0))
        fresh = "L" not in memory and self.smoothness is None
        if state.steps + (3 if fresh else 1) * n > T:
            return
        curve = self._first_guess(oracles, state.x) if fresh else float(memory.get("L", self.smoothness))
        x, spent = state.x, 2 if fresh else 0
        p: Array = loss.atoms.predictions(x)
        before: Array = loss.atoms.predictions(last) if weight else p
        while state.steps + (1 + spent) * n <= T:
            beta = x.dtype.type(weight)
            y, q = x + beta * (x - last), p + beta * (p - before)
            found = self._step(oracles, y, q, curve, (T - state.steps) // n - spent)
            if found is None:
                return
            last, before, (x, p, curve, trials) = x, p, found
            after, weight = following(momentum)
            if self.restart and np.vdot(y - x, x - last) > 0.0:
                after, weight = 1.0, 0.0
            momentum = after
            state = state.after(
                x, (trials + spent) * n, step_size=1.0 / curve, violation=oracles.violation_seen(x),
                fun=loss.mean_loss(p) + ask(problem.regularizer, "value", x),
                memory={"last": last, "weight": weight, "momentum": momentum, "L": 0.95 * curve},
            )  # fmt: skip
            curve, spent = 0.95 * curve, 0
            yield state

    def _step(
        self, oracles: Oracles, y: Array, q: Array, curve: float, trials: int
    ) -> tuple[Array, Array, float, int] | None:
        """One proximal step from y, whose predictions are q, with an L (at least doubled) whose quadratic model
        lies above f there: the new point, its predictions, L, and what was tried; None after so many trials."""
        loss = oracles.problem.loss
        value = loss.mean_loss(q)
        allowed = (1e-7 if y.dtype == np.float32 else 1e-12) * max(1.0, abs(value))  # rounding of both values
        gradient: Array = loss.atoms.adjoint(loss.slopes(q))
        for trial in range(1, trials + 1):
            x: Array = composite_prox(
                oracles.problem, y - y.dtype.type(1.0 / curve) * gradient, 1.0 / curve, oracles.project
            )
            p: Array = loss.atoms.predictions(x)
            move = x - y
            tangent, length2 = value + float(np.vdot(gradient, move)), float(np.vdot(move, move))
            above = loss.mean_loss(p) - tangent
            if above <= 0.5 * curve * length2 + allowed or length2 == 0.0:
                return x, p, curve, trial
            curve = max(2.0 * curve, min(0.5 * above / length2, 1e6 * curve))  # a quarter of that met along the move
        return None

    def _first_guess(self, oracles: Oracles, x: Array) -> float:
        """||grad f(x + h) - grad f(x)|| / ||h|| for one random h: a lower estimate of L, cheap and rarely far off."""
        loss = oracles.problem.loss
        h = np.random.default_rng(0).standard_normal(x.shape).astype(x.dtype)
        change = loss.subgradient(x + h) - loss.subgradient(x)
        return max(float(np.linalg.norm(change) / np.linalg.norm(h)), 1e-12)
