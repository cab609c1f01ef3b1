"""Stochastic Frank-Wolfe: growing mini-batches, one linear minimisation per step, no projection."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from epro.oracles import Oracles
from epro.own_parts import of_ones_own
from epro.problem import Problem
from epro.protocols import Array
from epro.solvers.base import Solver
from epro.state import State

FAR = 1e6  # radii: from there a projection is a linear minimisation to six digits


@dataclass(frozen=True)
class FrankWolfe(Solver):
    """x_{t+1} = x_t + gamma_t (s_t - x_t), s_t a feasible minimiser of <g_t, s>, gamma_t = 2/(t + 2).

    The mini-batch grows as (t + 1)^2, so that the gradient's error falls with gamma_t; from n rows on, the full
    gradient is used. Needs a smooth objective and a bounded set with a linear minimisation. For a constraint of your
    own without one, a projection from far away takes its place (and is counted): with p = P(-s g) and any feasible v,
    <g, p - v> <= <p, v - p>/s, which is nothing where s is large.

    Parameters
    ----------
    batch : int, default 1
        Rows of the first step's mini-batch.
    """

    batch: int = 1
    name: ClassVar[str] = "frank-wolfe"
    passes: ClassVar[int] = 500

    def check(self, problem: Problem) -> None:
        if problem.loss.smoothness is None or not problem.regularizer.smooth:
            raise ValueError("frank-wolfe needs a smooth loss and a smooth regularizer")
        try:
            problem.constraint.linear_minimizer(np.zeros(problem.shape, problem.dtype))
        except NotImplementedError as missing:
            if not of_ones_own(problem.constraint):
                raise ValueError(f"frank-wolfe needs a linear minimisation over the constraint: {missing}") from None

    def states(self, oracles: Oracles, state: State, T: int) -> Iterator[State]:
        t, x = int(state.memory.get("t", 0)), state.x.copy()
        steps = 0
        while True:
            rows = min(self.batch * (t + 1) ** 2, oracles.problem.n)
            if state.steps + steps + rows > T:
                break
            vertex = self._vertex(oracles, x, self._gradient(oracles, x, rows))
            gamma = 2.0 / (t + 2.0)
            x = x + x.dtype.type(gamma) * (vertex - x)
            t, steps = t + 1, steps + rows
            if steps >= max(8 * 2**state.epoch, rows):
                state = self._state(oracles, state, x, steps, gamma, t)
                steps = 0
                yield state
        if steps:
            yield self._state(oracles, state, x, steps, gamma, t)  # pyright: ignore[reportPossiblyUnboundVariable]

    def _vertex(self, oracles: Oracles, x: Array, gradient: Array) -> Array:
        constraint = oracles.problem.constraint
        try:
            return constraint.linear_minimizer(gradient)
        except NotImplementedError as missing:
            if not of_ones_own(constraint):
                raise ValueError(f"frank-wolfe needs a linear minimisation over the constraint: {missing}") from None
        size = float(np.linalg.norm(gradient))
        far = FAR * max(1.0, float(np.linalg.norm(x)), constraint.radius_bound or 0.0)
        vertex = oracles.project(x.dtype.type(-far / max(size, 1e-300)) * gradient)
        if np.linalg.norm(vertex) > 1e-2 * far and size > 0.0:
            raise ValueError(f"frank-wolfe needs a bounded set, but {constraint!r} seems to have no end; use epro-sgd")
        return vertex

    def _state(self, oracles: Oracles, state: State, x: Array, steps: int, gamma: float, t: int) -> State:
        return state.after(x.copy(), steps, step_size=gamma, violation=oracles.violation_seen(x), memory={"t": t})

    def _gradient(self, oracles: Oracles, x: Array, rows: int) -> Array:
        if rows >= oracles.problem.n:
            return oracles.gradient(x)
        return oracles.batch_gradient(x, oracles.draw(rows)) + oracles.problem.regularizer.subgradient(x)
