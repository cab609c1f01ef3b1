"""Who competes, with which options."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

from epro.oracles import Oracles
from epro.problem import Problem
from epro.solvers import SGD, EproORDA, EproSGD, LogTSGD, OneProj, Solver
from epro.state import State


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
class Subgradient(Solver):
    """Projected full subgradients, x_{t+1} = P[x_t - eta / sqrt(t) g(x_t)]: what one would try first."""

    eta: float
    every: int = 4
    name = "subgradient"

    def states(self, oracles: Oracles, state: State, T: int) -> Iterator[State]:
        x, n = state.x, oracles.problem.n
        for t in range(1, T // n + 1):
            x = oracles.project(x - self.eta / np.sqrt(t) * oracles.gradient(x))
            if t % self.every == 0:
                state = state.after(x, self.every * n, step_size=self.eta / np.sqrt(t))
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


def tuned(steps: int, seconds: float, n: int, eta: float, lam: float, passes: int) -> tuple[Competitor, ...]:
    """Step sizes found by trying powers of ten on one seed, in units of ``eta``, and what needs no tuning.

    Epro-SGD and Epro-ORDA with the library's own choices stand beside them, and full subgradients.
    """
    return (
        Competitor("SGD", SGD(eta0=10 * eta), steps, seconds),
        Competitor("OneProj", OneProj(lam=lam, eta0=10 * eta, looks=True), steps),
        Competitor("LogT", LogTSubgradient(eta=eta / 4, inner=8), steps, seconds),
        Competitor("Epro-SGD", EproSGD(lam=lam, eta1=eta, proximal=True), steps),
        Competitor("Epro-SGD, defaults", EproSGD(), steps),
        Competitor("Epro-SGD, robust", EproSGD(eta1=eta, robust=True), steps),
        Competitor("Epro-ORDA", EproORDA(lam=lam, eta1=eta), steps),
        Competitor("Full subgradient", Subgradient(100 * eta), passes * n, seconds),
    )


__all__ = ["Competitor", "LogTSubgradient", "Subgradient", "as_stated", "tuned"]
