"""Epro-ORDA (Algorithms 2 and 3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from epro import theory
from epro.oracles import Oracles
from epro.problem import Problem
from epro.protocols import Array
from epro.schedules import epro_orda, within
from epro.solvers.base import Solver
from epro.solvers.plans import NoGuarantee, Plan, plan
from epro.state import State


@dataclass(frozen=True)
class EproORDA(Solver):
    """Epro-ORDA: optimal regularized dual averaging within an epoch, one projection at its end.

    g is taken by its proximal step, so that iterates under an l1 norm are sparse. With Theorem 3's constants, a ball
    that holds the feasible set counts as a part of g, since the gradients are bounded on it only.

    Parameters
    ----------
    lam, eta1 : float, optional
        Penalty weight and first step size; Theorem 3's where its constants are known, named estimates otherwise.
    t1 : int, default 16
        Steps of the first epoch.
    query : {"u", "x"}, default "u"
        Where Algorithm 2 asks for subgradients. The paper writes x_t; its analysis needs u_t (erratum 3).
    batch : int, default 1
        Rows per step.
    """

    lam: float | None = None
    eta1: float | None = None
    t1: int = 16
    query: Literal["u", "x"] = "u"
    batch: int = 1
    name: ClassVar[str] = "epro-orda"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.query not in ("u", "x"):
            raise ValueError(f"EproORDA: query must be 'u' or 'x', got {self.query!r}")

    def states(self, oracles: Oracles, state: State, T: int) -> Iterator[State]:
        memory = {"x0": state.memory.get("x0", state.x)}
        chosen = self.plan(oracles.problem, memory["x0"], T)
        domain = oracles.ball(chosen.guard)
        # fmt: off
        x = state.x                                                                            # line 2
        schedule = epro_orda(chosen.t1, chosen.eta1)                                           # line 6
        for k, epoch in enumerate(within(schedule, T // self.batch, overhead=1), start=1):     # line 3
            if k <= state.epoch:
                continue
            eta, steps = float(epoch.step_size), epoch.steps + 1  # Algorithm 2 runs t = 1 .. T + 1
            last = oracles.orda(x, steps, eta, chosen.lam, self.query == "u", self.batch, domain)  # line 4
            x = oracles.project(last)                                                          # line 5
            state = state.after(                                                               # line 7
                x, steps * self.batch, step_size=eta, lam=chosen.lam, violation=oracles.violation_seen(last),
                memory=memory,
            )
            # fmt: on
            yield state

    def plan(self, problem: Problem, x0: Array, T: int) -> Plan:
        """The constants of a run from x0 with T stochastic gradients."""
        return plan(
            problem, x0, T // self.batch, theory.theorem3, lam=self.lam, eta1=self.eta1, t1=self.t1, default_t1=16,
            guard=None,
        )  # fmt: skip

    def guarantee(self, problem: Problem, x0: Array, T: int) -> Any:
        if self.query == "x":
            return NoGuarantee("Lemma 4's analysis queries subgradients at u_t (erratum 3)")
        return self.plan(problem, x0, T).guarantee

    def estimates(self, problem: Problem, x0: Array, T: int) -> tuple[str, ...]:
        return self.plan(problem, x0, T).estimates
