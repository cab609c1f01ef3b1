"""The one driver: loops over a solver's states; stopping, timing, tracing and callbacks wrap it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from epro.callbacks import Callback
from epro.certificate import lower_bound
from epro.oracles import Diverged, Oracles
from epro.problem import Problem
from epro.protocols import Array
from epro.result import History, Result, Status
from epro.solvers.base import Solver
from epro.state import State

CHEAP = 2e7  # multiply-adds: below it an objective costs less than one notices


@dataclass
class Budget:
    """When to stop."""

    tol: float
    max_steps: int
    seconds: float = np.inf


class Run:
    """One run of a solver on a problem, from a state."""

    def __init__(self, solver: Solver, oracles: Oracles, state: State, budget: Budget, callbacks: Sequence[Callback]) -> None:
        self.solver, self.oracles, self.problem, self.budget = solver, oracles, oracles.problem, budget
        self.callbacks, self.state, self.x0 = callbacks, state, state.x
        self.history = History()
        self.bound, self.certificate_projections = -np.inf, 0
        self._evaluated = self._certified = -self.problem.n

    def __call__(self) -> Result:
        status, detail = Status.MAX_STEPS, ""
        try:
            with np.errstate(all="ignore"):  # overflow is found by looking at x, and reported as a status
                for state in self.solver.states(self.oracles, self.state, self.budget.max_steps):
                    self.state = state
                    self._record(state)
                    ended = self._ended(state)
                    if ended is not None:
                        status = ended
                        break
            detail = self.state.done
            if detail and status is Status.MAX_STEPS:
                status = Status.STALLED
        except Diverged as why:
            status, detail = Status.DIVERGED, f"In epoch {self.state.epoch + 1} {why}; take a smaller step size, or robust=True."
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        finally:
            for callback in self.callbacks:
                getattr(callback, "close", lambda: None)()
        return self._result(status, detail)

    # -- after each epoch

    def _record(self, state: State) -> None:
        seconds = self.oracles.clock.seconds
        with self.oracles.clock.paused():
            fun = state.fun
            if np.isnan(fun) and self._affordable(state.steps, "_evaluated"):
                fun = self.problem.value(state.x)
            self.bound = max(self.bound, state.lower_bound)
            if self._wants_certificate(state):
                self.bound = max(self.bound, lower_bound(self.problem, state.x, self._certificate_project))
        self.history.append({
            "epoch": state.epoch, "steps": state.steps, "projections": self.oracles.n_projections, "seconds": seconds,
            "fun": fun, "gap": fun - self.bound, "violation": state.violation, "lam": state.lam, "step_size": state.step_size,
        })  # fmt: skip

    def _affordable(self, steps: int, last: str) -> bool:
        """Whether a pass over the data may be spent: it is cheap, or as many steps were taken since the last one."""
        atoms = self.problem.loss.atoms
        size = sum(getattr(field, "size", 1) for field in atoms)
        if size > CHEAP and steps - getattr(self, last) < self.problem.n:
            return False
        setattr(self, last, steps)
        return True

    def _wants_certificate(self, state: State) -> bool:
        """A certificate costs a gradient and a projection: at most one for every two passes of steps."""
        if self.budget.tol <= 0 or self.solver.certifies or state.steps - self._certified < 2 * self.problem.n:
            return False
        self._certified = state.steps
        return True

    def _certificate_project(self, x: Array) -> Array:
        self.certificate_projections += 1
        return self.problem.constraint.project(x)

    def _ended(self, state: State) -> Status | None:
        fun = self.history[-1]["fun"]
        if fun - self.bound <= self.budget.tol * max(1.0, abs(fun)):
            return Status.CONVERGED
        if any([callback(self.problem, state) for callback in self.callbacks]):
            return Status.STOPPED
        return Status.TIME_LIMIT if self.oracles.clock.seconds > self.budget.seconds else None

    # -- at the end

    def _result(self, status: Status, detail: str) -> Result:
        seconds, state, problem = self.oracles.clock.seconds, self.state, self.problem
        fun = problem.value(state.x)
        if status is not Status.CONVERGED and status is not Status.INTERRUPTED:
            self.bound = max(self.bound, lower_bound(problem, state.x, self._certificate_project))
        gap = fun - self.bound
        if gap <= self.budget.tol * max(1.0, abs(fun)) and status in (Status.MAX_STEPS, Status.STALLED):
            status = Status.CONVERGED
        estimates = self.solver.estimates(problem, self.x0, self.budget.max_steps)
        return Result(
            x=state.x, fun=fun, success=status is Status.CONVERGED, status=status,
            message=" ".join(part for part in (status.sentence, detail) if part), gap=gap, lower_bound=self.bound,
            violation=problem.violation(state.x), n_steps=state.steps, n_epochs=state.epoch,
            n_projections=self.oracles.n_projections, n_cuts=self.oracles.n_cuts,
            n_certificate_projections=self.certificate_projections, seconds=seconds, history=self.history,
            guarantee=self.solver.guarantee(problem, self.x0, self.budget.max_steps), method=self.solver.name,
            estimates=estimates,
        )  # fmt: skip


def feasible_start(problem: Problem, x0: Any) -> Array:
    """The given start, which must be feasible, or the feasible point nearest to zero."""
    if x0 is None:
        x = np.zeros(problem.shape, problem.dtype)
        return x if problem.violation(x) <= 0 else problem.point(problem.constraint.project(x))
    x = problem.point(x0, "x0").copy()
    if not np.isfinite(x).all():
        raise ValueError("x0 has a NaN or infinite entry")
    violation, scale = problem.violation(x), max(1.0, float(np.abs(x).max(initial=0.0)))
    if not violation <= 1e3 * np.finfo(x.dtype).eps * scale:
        raise ValueError(
            f"x0 is infeasible: c(x0) = {violation:.3g}, expected at most 0; start from constraint.project(x0) instead"
        )
    return x
