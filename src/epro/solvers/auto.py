"""method="auto": chooses by measured costs, watches, and changes its mind once.

What can solve the problem is decided by its parts. Which of it goes first is decided by costs measured on this problem and
this machine: a full gradient, a projection, the flops of a matrix product.

- Least squares with few columns: the Gram matrix, where forming it costs less than a few dozen gradients.
- A loss that is smooth, and a projection that costs less than a few gradients: accelerated projected gradient, on trial. Two
  of its certificates give the rate of convergence; where what remains at that rate takes longer than a whole run
  of epro-newton would (`NEWTON_STEPS` steps of two passes, one matrix product and one quadratic program), the latter takes over.
- A vector with up to a few thousand columns: epro-newton.
- Anything else (matrices, millions of columns): epro-vr, which alternates with accelerated steps by itself.

Times decide which method runs, never what a method does: ``result.choice`` names it, and running that method by name
gives the same bits again.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from epro.certificate import Certifier
from epro.losses import Squared
from epro.oracles import Oracles
from epro.problem import Problem
from epro.protocols import Array
from epro.solvers.apg import APG
from epro.solvers.base import Solver
from epro.solvers.epro_newton import EproNewton
from epro.solvers.epro_vr import EproVR
from epro.solvers.gram import Gram
from epro.state import State

NEWTON_STEPS = 10
GRAM_COLUMNS = 2_000
NEWTON_COLUMNS = 3_000


@dataclass(frozen=True)
class Costs:
    """Seconds, measured: a full gradient, a projection, and one multiply-add of a matrix product."""

    gradient: float
    projection: float
    flop: float

    def newton(self, problem: Problem) -> float:
        """One step of epro-newton: its passes, its sample's product, its quadratic program."""
        n, d = problem.n, problem.shape[0]
        sample = min(n, max(10 * d, 20 * n / d, 1000)) if problem.loss.smoothness else n
        return 1.5 * self.gradient + self.flop * (sample * d**2 + 3 * d**3)

    def gram(self, problem: Problem) -> float:
        """Forming X'X, and one quadratic program."""
        n, d = problem.n, problem.shape[0]
        return self.gradient + self.flop * (n * d**2 / 2 + 3 * d**3)


@dataclass(frozen=True)
class Auto(Solver):
    """Nothing to choose: epro-newton, epro-vr, accelerated projected gradient or the Gram shortcut, by measured costs."""

    name: ClassVar[str] = "auto"
    passes: ClassVar[int] = 3000
    certifies: ClassVar[bool] = True

    def states(self, oracles: Oracles, state: State, T: int) -> Iterator[State]:
        queue = [str(state.memory["method"])] if "method" in state.memory else self._queue(oracles, state)
        while queue:
            name = queue.pop(0)
            states = _accelerated(oracles, state, T, queue) if name == "apg" else _SOLVERS[name]().states(oracles, state, T)
            for state in states:
                yield dataclasses.replace(state, memory=state.memory | {"method": name}, done="" if queue else state.done)
            if queue:
                state = dataclasses.replace(state, memory={}, done="")

    def _queue(self, oracles: Oracles, state: State) -> list[str]:
        """Names of methods: each goes on from where the one before gave up."""
        problem = oracles.problem
        costs = measure(oracles, state.x)
        vector = len(problem.shape) == 1
        can_newton = vector and problem.shape[0] <= NEWTON_COLUMNS and _solvable(EproNewton(), problem)
        seen = f"a gradient takes {_seconds(costs.gradient)}, a projection {_seconds(costs.projection)}"
        if vector and problem.shape[0] <= GRAM_COLUMNS and _solvable(Gram(), problem) and costs.gram(problem) < 60 * costs.gradient:
            oracles.choice = f"gram: least squares with {problem.shape[0]} columns, X'X once; {seen}"
            return ["gram", "apg", "epro-vr"]
        if can_newton:
            whole = NEWTON_STEPS * costs.newton(problem)
            if problem.loss.smoothness is None or costs.gradient + costs.projection > 0.1 * whole:
                oracles.choice = f"epro-newton: about {_seconds(whole)} for {NEWTON_STEPS} steps; {seen}"
                return ["epro-newton", "epro-vr"]
            oracles.choice = f"apg, then epro-newton if {_seconds(whole)} of that is less than what remains; {seen}"
            return ["apg", "epro-newton", "epro-vr"]
        oracles.choice = f"epro-vr: x has shape {problem.shape}; {seen}"
        return ["epro-vr"]


_SOLVERS: dict[str, type[Solver]] = {solver.name: solver for solver in (APG, EproNewton, EproVR, Gram)}


def measure(oracles: Oracles, x: Array) -> Costs:
    """Runs each operation once or twice; the first call may compile and does not count."""
    problem = oracles.problem
    with oracles.clock.paused():
        problem.gradient(x[...] * 0)  # compiles
    started = time.perf_counter()
    gradient = problem.gradient(x)
    gradient_seconds = time.perf_counter() - started
    step = x - gradient * x.dtype.type(max(float(np.linalg.norm(x)), 1.0) / max(float(np.linalg.norm(gradient)), 1e-300))
    oracles.problem.constraint.project(step)
    started = time.perf_counter()
    oracles.project(step)
    projection = time.perf_counter() - started
    square = np.ones((256, 256))
    square @ square
    started = time.perf_counter()
    square @ square
    return Costs(gradient_seconds, projection, (time.perf_counter() - started) / 256**3)


def _accelerated(oracles: Oracles, state: State, T: int, queue: list[str]) -> Iterator[State]:
    """Accelerated projected steps with certificates in between, while they promise to end before the next method would."""
    problem, clock = oracles.problem, oracles.clock
    certifier = Certifier(problem, oracles.project)
    patience = NEWTON_STEPS * measure(oracles, state.x).newton(problem) if queue[:1] == ["epro-newton"] else math.inf
    marks: list[tuple[float, float]] = []
    due, count, started = 6, 0, clock.seconds
    for state in APG().states(oracles, state, T):
        count += 1
        if count < due:
            yield state
            continue
        due = count + max(4, count // 4)
        certificate = certifier.at(state.x)
        yield dataclasses.replace(state, steps=state.steps + problem.n, lower_bound=certificate.lower_bound)
        marks.append((clock.seconds, max(certificate.gap, 1e-300)))
        if _remaining(marks, oracles.target * max(1.0, abs(certificate.fun))) > patience + 0.2 * (clock.seconds - started):
            return


def _remaining(marks: list[tuple[float, float]], target: float) -> float:
    """Seconds until the gap reaches the target, at the rate of the last two certificates."""
    if len(marks) < 2:
        return 0.0
    (t0, gap0), (t1, gap1) = marks[-2:]
    if gap1 <= target:
        return 0.0
    rate = math.log(gap0 / gap1) / max(t1 - t0, 1e-9)
    return math.log(gap1 / target) / rate if rate > 0 else math.inf


def _solvable(solver: Solver, problem: Problem) -> bool:
    try:
        solver.check(problem)
    except ValueError:
        return False
    return not isinstance(solver, Gram) or isinstance(problem.loss, Squared)


def _seconds(value: float) -> str:
    return f"{value:.2g} s" if value >= 1 else f"{1e3 * value:.2g} ms"


__all__ = ["Auto", "Costs", "measure"]
