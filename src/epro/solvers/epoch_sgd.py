"""Epoch-SGD (Hazan and Kale)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from epro.moves import Explicit
from epro.oracles import Oracles
from epro.penalties import NoPenalty
from epro.problem import Problem
from epro.protocols import Array
from epro.schedules import doubling, within
from epro.solvers.base import Solver
from epro.solvers.plans import NoGuarantee, row_smoothness, strong_convexity
from epro.state import State


@dataclass(frozen=True)
class EpochSGD(Solver):
    """Epoch-SGD: a projection at every step, the epoch's average starts the next epoch, T doubles and eta halves.

    Parameters
    ----------
    eta1 : float, optional
        1/beta by default; at most one over the largest row curvature where the loss's slopes are unbounded.
    t1 : int, default 4
        Steps of the first epoch.
    batch : int, default 1
        Rows per step.
    """

    eta1: float | None = None
    t1: int = 4
    batch: int = 1
    name: ClassVar[str] = "epoch-sgd"

    def states(self, oracles: Oracles, state: State, T: int) -> Iterator[State]:
        t1, eta1, _ = self._start(oracles.problem, T)
        for k, epoch in enumerate(within(doubling(t1, eta1), T // self.batch), start=1):
            if k <= state.epoch:
                continue
            x = oracles.epoch(state.x, epoch, NoPenalty(), Explicit(), oracles.every_step(), self.batch)
            state = state.after(
                x, epoch.steps * self.batch, step_size=epoch.step_size, violation=oracles.violation_seen(x)
            )  # fmt: skip
            yield state

    def _start(self, problem: Problem, T: int) -> tuple[int, float, tuple[str, ...]]:
        if self.eta1 is not None:
            return self.t1, self.eta1, ()
        beta, sentence = strong_convexity(problem)
        sentences = (sentence,) if sentence else ()
        largest = row_smoothness(problem)
        if problem.loss.slope_bound is not None or largest is None or largest <= beta:
            return self.t1, 1.0 / beta, sentences
        t1 = min(self.t1 * int(largest / beta), max(self.t1, T // self.batch // 15))
        sentence = f"eta1 = {1 / largest:.3g}, one over the largest row curvature, and t1 = {t1}"
        return t1, 1.0 / largest, (*sentences, sentence)

    def guarantee(self, problem: Problem, x0: Array, T: int) -> Any:
        return NoGuarantee(
            "Epoch-SGD's bound 8 G1^2/(beta T) (see theory.epoch_sgd_bound) is not one of the paper's theorems"
        )

    def estimates(self, problem: Problem, x0: Array, T: int) -> tuple[str, ...]:
        return self._start(problem, T)[2]
