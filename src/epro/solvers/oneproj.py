"""OneProj for strongly convex objectives (Mahdavi et al. 2012): one projection, after all steps."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from epro import theory
from epro.moves import Explicit
from epro.oracles import Oracles
from epro.penalties import Softplus
from epro.problem import Problem
from epro.protocols import Array
from epro.solvers.base import Solver
from epro.solvers.plans import Plan, plan, row_smoothness, strong_convexity
from epro.solvers.running import running_average
from epro.state import State


@dataclass(frozen=True)
class OneProj(Solver):
    """SGD on F = f + gamma ln(1 + exp(lam c / gamma)) (Eq. F), scaled at every step into a ball that holds the set.

    Its theory projects once, after T steps. The states before that are looks along the way: each projects the average
    so far, which is counted, and none of them feeds back into the iterates.

    Parameters
    ----------
    lam : float, optional
        Penalty weight; chosen as for Epro-SGD.
    gamma : float, optional
        Smoothing; ln T / T by default.
    eta0 : float, optional
        eta_t = eta0 / t; 1/(beta t) by default (see `SGD` for unbounded slopes).
    batch : int, default 1
        Rows per step.
    looks : bool, default False
        Also yield (and project) at 8, 24, 56, .. steps.
    """

    lam: float | None = None
    gamma: float | None = None
    eta0: float | None = None
    batch: int = 1
    looks: bool = False
    name: ClassVar[str] = "oneproj"

    def states(self, oracles: Oracles, state: State, T: int) -> Iterator[State]:
        problem, steps = oracles.problem, T // self.batch
        x0 = state.memory.get("x0", state.x)
        state = dataclasses.replace(state, memory=state.memory | {"x0": x0})
        gamma = self.gamma or math.log(max(steps, 3)) / max(steps, 3)
        penalty = Softplus(self._plan(problem, x0, T).lam, gamma)
        beta, offset = self._rate(problem)
        return running_average(
            oracles, state, steps, lambda t: 1.0 / (beta * t + offset), penalty, Explicit(),
            oracles.ball(problem.constraint.radius_bound), batch=self.batch,
            project=oracles.project if self.looks else None,
        )  # fmt: skip

    def finish(self, oracles: Oracles, state: State) -> State:
        return state if self.looks else projected_average(oracles, state)

    def _plan(self, problem: Problem, x0: Array, T: int) -> Plan:
        return plan(problem, x0, T, theory.theorem1, lam=self.lam, eta1=None, t1=8, default_t1=8, guard=True)

    def _rate(self, problem: Problem) -> tuple[float, float]:
        if self.eta0 is not None:
            return 1.0 / self.eta0, 0.0
        unbounded = problem.loss.slope_bound is None
        return strong_convexity(problem)[0], (row_smoothness(problem) or 0.0) if unbounded else 0.0

    def estimates(self, problem: Problem, x0: Array, T: int) -> tuple[str, ...]:
        return self._plan(problem, x0, T).estimates


def projected_average(oracles: Oracles, state: State) -> State:
    """The state with the projected average as its point (a run stopped early has one, too)."""
    if state.answer:
        return state
    average = state.memory["total"] / state.x.dtype.type(state.memory["taken"])
    return dataclasses.replace(state, x=oracles.project(average), answer=True)
