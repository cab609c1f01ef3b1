"""The one driver: loops over a solver's states; stopping, timing, tracing and callbacks wrap it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from epro.callbacks import Callback
from epro.certificate import Certifier
from epro.oracles import Diverged, Oracles
from epro.own_parts import estimates
from epro.problem import Problem
from epro.protocols import Array
from epro.result import History, Result, Status
from epro.solvers.base import Solver
from epro.solvers.plans import NoGuarantee
from epro.state import State

CHEAP = 2e7  # multiply-adds: below it an objective costs less than one notices


@dataclass
class Budget:
    """When to stop."""

    tol: float
    max_steps: int
    seconds: float = np.inf


class Run:
    """One run of a solver on a problem, from a state.

    A callback may have, beside the call itself, two methods: ``attach(run)`` is called before the first epoch, and
    ``close()`` after the last one.
    """

    def __init__(
        self, solver: Solver, oracles: Oracles, state: State, budget: Budget, callbacks: Sequence[Callback] = ()
    ) -> None:
        self.solver, self.oracles, self.problem, self.budget = solver, oracles, oracles.problem, budget
        oracles.target = budget.tol
        self.callbacks, self.state, self.x0 = callbacks, state, state.x
        self.history = History()
        self.bound, self.normal, self.certificate_projections = -np.inf, None, 0
        self.certifier = Certifier(self.problem, self._certificate_project)
        self.evaluated = self.certified = -self.problem.n  # steps at which the last full pass was spent

    def __call__(self) -> Result:
        status, detail = Status.MAX_STEPS, ""
        try:
            for callback in self.callbacks:
                getattr(callback, "attach", lambda run: None)(self)
            # overflow is found by looking at x, and reported as a status
            with np.errstate(all="ignore"), self.oracles.clock.without_compilation():
                status, detail = self._loop()
                self._finish()
        except Diverged as why:
            status = Status.DIVERGED
            detail = f"In epoch {self.state.epoch + 1} {why}; take a smaller step size, or EproSGD(robust=True)."
        except KeyboardInterrupt:
            status = self._interrupted()
        finally:
            for callback in self.callbacks:
                getattr(callback, "close", lambda: None)()
        with np.errstate(all="ignore"):
            try:
                return self._result(status, detail)
            except KeyboardInterrupt:  # in the last certificate: the result without it
                return self._result(Status.INTERRUPTED, "")

    def _loop(self) -> tuple[Status, str]:
        for state in self.solver.states(self.oracles, self.state, self.budget.max_steps):
            self._record(state)
            self.state = state
            ended = self._ended(state)
            if ended is not None:
                return ended, ""
        return (Status.STALLED if self.state.done else Status.MAX_STEPS), self.state.done

    def _finish(self) -> None:
        """What the method does once at the end goes into the last row of the history."""
        before = self.state
        self.state = self.solver.finish(self.oracles, before)
        if self.state is not before and self.history:
            self.history[-1] |= {"projections": self.oracles.n_projections, "seconds": self.oracles.clock.seconds}

    def _interrupted(self) -> Status:
        try:  # one more projection, where the method projects only at its end
            with np.errstate(all="ignore"):
                self._finish()
        except (KeyboardInterrupt, Diverged):
            pass
        return Status.INTERRUPTED

    # -- after each epoch

    def _record(self, state: State) -> None:
        seconds, fun = self.oracles.clock.seconds, np.nan
        if state.answer:
            with self.oracles.clock.paused():
                fun = state.fun
                if np.isnan(fun) and self._affordable(state.steps):
                    fun = self.problem.value(state.x)
                    if not np.isfinite(fun):
                        raise Diverged(f"a step size of {np.max(state.step_size):.3g} made the objective {fun}")
                self._bounded(state.lower_bound, state.normal)
                if self._wants_certificate(state):
                    self._certify(state.x)
        self.history.append({
            "epoch": state.epoch, "steps": state.steps, "projections": self.oracles.n_projections, "seconds": seconds,
            "fun": fun, "gap": gap_of(fun, self.bound), "violation": state.violation, "lam": state.lam,
            "step_size": state.step_size,
        })  # fmt: skip

    def _affordable(self, steps: int) -> bool:
        """Whether a pass over the data may be spent: it is cheap, or as many steps were taken since the last one."""
        size = sum(getattr(field, "size", 1) for field in self.problem.loss.atoms)
        if size > CHEAP and steps - self.evaluated < self.problem.n:
            return False
        self.evaluated = steps
        return True

    def _wants_certificate(self, state: State) -> bool:
        """A certificate costs a gradient and a projection: at most one for every two passes of steps."""
        if self.budget.tol <= 0 or self.solver.certifies or state.steps - self.certified < 2 * self.problem.n:
            return False
        self.certified = state.steps
        return True

    def _certify(self, x: Array) -> None:
        certificate = self.certifier.at(x)
        self._bounded(certificate.lower_bound, certificate.normal)

    def _bounded(self, lower_bound: float, normal: Array | None) -> None:
        """The best bound so far, and the normal vector that proves it."""
        if lower_bound > self.bound:
            self.bound, self.normal = lower_bound, normal

    def _certificate_project(self, x: Array) -> Array:
        self.certificate_projections += 1
        return self.problem.constraint.project(x)

    def _ended(self, state: State) -> Status | None:
        if self._proven(self.history[-1]["fun"]):
            return Status.CONVERGED
        if any([callback(self.problem, state) for callback in self.callbacks]):
            return Status.STOPPED
        return Status.TIME_LIMIT if self.oracles.clock.seconds > self.budget.seconds else None

    def _proven(self, fun: float) -> bool:
        small = gap_of(fun, self.bound) <= self.budget.tol * max(1.0, abs(fun))
        return bool(small and np.isfinite(fun) and self.budget.tol > 0)

    # -- at the end

    def _result(self, status: Status, detail: str) -> Result:
        seconds, problem, T = self.oracles.clock.seconds, self.problem, self.budget.max_steps
        self._make_feasible()
        state = self.state
        fun = state.fun if state.exact and np.isfinite(state.fun) else problem.value(state.x)
        if status not in (Status.CONVERGED, Status.INTERRUPTED) and np.isfinite(fun):
            self._certify(state.x)
        if not np.isfinite(fun):
            status, detail = Status.DIVERGED, f"The objective is {fun}."
        if self._proven(fun) and status in (Status.MAX_STEPS, Status.STALLED):
            status = Status.CONVERGED
        if status is Status.CONVERGED and not self._proven(fun):
            status, detail = (
                Status.STALLED,
                f"Rounding x to {problem.dtype} leaves a gap of {gap_of(fun, self.bound):.3g}.",
            )
        violation = problem.violation(state.x)
        if status is Status.CONVERGED and not violation <= feasible_up_to(state.x):
            status, detail = Status.STALLED, f"The projection leaves a violation of {violation:.3g}."
        gap = gap_of(fun, self.bound)
        if self.history:
            self.history[-1] |= {"fun": fun, "gap": gap}
        found = Result(
            x=state.x, fun=fun, success=status is Status.CONVERGED, status=status,
            message=" ".join(part for part in (status.sentence, detail) if part), gap=gap,
            lower_bound=min(self.bound, fun), violation=violation, n_steps=state.steps, n_epochs=state.epoch,
            n_projections=self.oracles.n_projections, n_cuts=self.oracles.n_cuts,
            n_cuts_skipped=self.oracles.n_cuts_skipped,
            n_certificate_projections=self.certificate_projections, seconds=seconds, history=self.history,
            guarantee=self._guarantee(T), method=self.solver.name,
            estimates=(*self.solver.estimates(problem, self.x0, T), *estimates(problem.loss)),
            choice=self.oracles.choice, normal=self.normal,
        )  # fmt: skip
        found.belongs_to(problem.constraint)
        return found

    def _guarantee(self, T: int) -> Any:
        """Of the steps that were taken, where the run ended before all epochs that fit into T."""
        found, state = self.solver.guarantee(self.problem, self.x0, T), self.state
        if getattr(found, "epochs", 0) <= state.epoch:
            return found
        if state.epoch == 0:
            return NoGuarantee(f"no epoch was completed (of {found.epochs} within {T} stochastic gradients)")
        return self.solver.guarantee(self.problem, self.x0, state.steps)

    def _make_feasible(self) -> None:
        """Averages of feasible points, or a projection in single precision, may leave rounding: project once more."""
        x = self.state.x
        if self.problem.violation(x) > feasible_up_to(x):
            again = self.problem.point(self._certificate_project(x))
            if self.problem.violation(again) < self.problem.violation(x):
                self.state = dataclasses.replace(self.state, x=again, fun=np.nan)


def gap_of(fun: float, bound: float) -> float:
    """fun - bound; never negative, since a bound above fun is rounding."""
    return max(fun - bound, 0.0) if fun > -np.inf else np.nan


def feasible_up_to(x: Array) -> float:
    """The violation that rounding explains: 1e-9 relative to x in double precision."""
    unit = 1e-9 if x.dtype == np.float64 else 1e3 * float(np.finfo(x.dtype).eps)
    return unit * max(1.0, float(np.abs(x).max(initial=0.0)))


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
