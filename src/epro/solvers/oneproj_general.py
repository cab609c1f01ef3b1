"""OneProj for general convex objectives (Mahdavi et al. 2012): primal-dual, one projection after all steps."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from epro.moves import Explicit
from epro.oracles import Oracles
from epro.penalties import PrimalDual
from epro.solvers.base import Solver
from epro.solvers.oneproj import projected_average
from epro.solvers.plans import row_smoothness
from epro.solvers.running import running_average
from epro.state import State


@dataclass(frozen=True)
class OneProjGeneral(Solver):
    """SGD on f + l c - (gamma/2) l^2 in x, ascent in l >= 0; the average, projected once. Needs no strong convexity.

    Parameters
    ----------
    gamma : float, optional
        Damping of the multiplier; 1/sqrt(T) by default, scaled to the problem by G2.
    eta : float, optional
        Step size of both; gamma / (2 G2^2) by default, at most one over the largest row curvature.
    batch : int, default 1
        Rows per step.
    looks : bool, default False
        Also yield (and project) at 8, 24, 56, .. steps.
    """

    gamma: float | None = None
    eta: float | None = None
    batch: int = 1
    looks: bool = False
    name: ClassVar[str] = "oneproj-general"

    def states(self, oracles: Oracles, state: State, T: int) -> Iterator[State]:
        steps, G2 = T // self.batch, oracles.problem.constraint.lipschitz or 1.0
        gamma = self.gamma or G2**2 / math.sqrt(max(steps, 1))  # eta is then 1/(2 sqrt(T)), in x's units
        eta = self.eta or min(gamma / (2 * G2**2), 1.0 / (row_smoothness(oracles.problem) or 1.0))
        multiplier = np.array(state.memory.get("multiplier", np.zeros(1)))
        state = dataclasses.replace(state, memory=state.memory | {"multiplier": multiplier})
        return running_average(
            oracles, state, steps, lambda t: np.full(t.size, eta), PrimalDual(multiplier, gamma), Explicit(),
            oracles.ball(oracles.problem.constraint.radius_bound), batch=self.batch,
            project=oracles.project if self.looks else None,
        )  # fmt: skip

    def finish(self, oracles: Oracles, state: State) -> State:
        return state if self.looks else projected_average(oracles, state)
