"""Who competes, with which options."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

from epro.momentum import following
from epro.oracles import Oracles
from epro.problem import Problem
from epro.solvers import SGD, EproORDA, EproSGD, LogTSGD, OneProj, Solver
from epro.state import State

BATCH = 32


@dataclass(frozen=True)
class LogTSubgradient(LogTSGD):
    """LogT with subgradients. Its theory needs a smooth loss, which the hinge is not; the paper runs it anyway."""

    def check(self, problem: Problem) -> None:
        if self.eta is None or self.inner is None:
            raise ValueError("LogT on the hinge has no smoothness to take its step from: give eta and inner")

    def _constants(self, problem: Problem, T: int) -> tuple[float, int]:
        assert self.eta is not None and self.inner is not None
        return self.eta, self.inner


@dataclass(frozen=True)
class Accelerated(Solver):
    """Accelerated projected steps with restarts: the hinge by full subgradients, g by its proximal step.

    The proximal step of g and the projection follow each other, which is not the proximal step of both (`solvers.APG`
    has that one, at dozens of projections a step).
    """

    eta: float
    every: int = 4
    name = "apg"

    def states(self, oracles: Oracles, state: State, T: int) -> Iterator[State]:
        problem, n, x = oracles.problem, oracles.problem.n, state.x
        last, momentum = state.memory.get("last", x), float(state.memory.get("momentum", 1.0))
        for t in range(1, T // n + 1):
            after, weight = following(momentum)
            y = x + weight * (x - last)
            v = problem.regularizer.prox(y - self.eta * problem.loss.subgradient(y), self.eta)
            last, x = x, oracles.project(v)
            momentum = after if np.vdot(y - x, x - last) <= 0.0 else 1.0
            if t % self.every == 0:
                memory = {"last": last, "momentum": momentum}
                state = state.after(x, self.every * n, step_size=self.eta, memory=memory)
                yield state


@dataclass(frozen=True)
class Competitor:
    """A method with its options, its budget of stochastic gradients, and of seconds where it projects at every step."""

    name: str
    solver: Solver
    steps: int
    seconds: float = np.inf

    @property
    def options(self) -> str:
        """What differs from the method's defaults, in words."""
        given = [f for f in fields(self.solver) if getattr(self.solver, f.name) != f.default]  # type: ignore[arg-type]
        said = ", ".join(f"{f.name}={getattr(self.solver, f.name)!r}" for f in given)
        return f"{type(self.solver).__name__}({said}), at most {self.steps:,} gradients"


def as_stated(steps: int, seconds: float) -> tuple[Competitor, ...]:
    """The paper's step sizes and lambda. Not stated: OneProj's weight (Epro's here), LogT's batches and inner steps."""
    return (
        Competitor("SGD", SGD(eta0=4e-8), steps, seconds),
        Competitor("OneProj", OneProj(lam=0.1, eta0=5e-7, looks=True), steps),
        Competitor("LogT", LogTSubgradient(eta=1e-6, inner=8), steps, seconds),
        Competitor("Epro-SGD", EproSGD(lam=0.1, eta1=1e-5), steps),
        Competitor("Epro-ORDA", EproORDA(lam=0.1, eta1=1e-5), steps),
    )


def tuned(steps: int, seconds: float, n: int, passes: int, unit_norm: bool) -> tuple[Competitor, ...]:
    """Step sizes found by trying powers of ten, for either scaling of the rows.

    With single triplets smaller steps always end lower, down to those that do not move and end where they began; so
    the largest step is taken that ends within two percent of that. Beside the paper's methods: Epro-SGD with 32
    triplets a step (`BATCH`), with the constants of Theorem 1, its robust form, and accelerated full subgradients.
    """
    epro, dual, always, mini, full = (1e-3, 1e-2, 1e-3, 1e-3, 30.0) if unit_norm else (1e-3, 1e-2, 1e-4, 2.5e-5, 0.3)
    lam = 1.0
    return (
        Competitor("SGD", SGD(eta0=always), steps, seconds),
        Competitor("OneProj", OneProj(lam=lam, eta0=always, looks=True), steps),
        Competitor("LogT", LogTSubgradient(eta=mini, inner=8), steps, seconds),
        Competitor("Epro-SGD", EproSGD(lam=lam, eta1=epro, proximal=True), steps),
        batched(steps, lam, unit_norm),
        Competitor("Epro-SGD, Theorem 1", EproSGD(), steps),
        Competitor("Epro-SGD, robust", EproSGD(eta1=epro, robust=True), steps),
        Competitor("Epro-ORDA", EproORDA(lam=lam if unit_norm else 5 * lam, eta1=dual), steps),
        Competitor("APG", Accelerated(full), passes * n, seconds),
    )


def batched(steps: int, lam: float, unit_norm: bool) -> Competitor:
    """Epro-SGD with as many steps, each with the mean of `BATCH` triplets."""
    solver = EproSGD(lam=lam, eta1=3e-3 if unit_norm else 3e-2, proximal=True, batch=BATCH)
    return Competitor(f"Epro-SGD, {BATCH} triplets", solver, BATCH * steps)


__all__ = ["BATCH", "Accelerated", "Competitor", "LogTSubgradient", "as_stated", "batched", "tuned"]
