"""method="auto": chooses by measured costs, watches, and changes its mind.

What can solve the problem is decided by its parts. Which of it goes first is decided by costs measured on this problem
and this machine: a pass over the data, a projection, the flops of a matrix product.

- Least squares with few columns: the Gram matrix, where forming it costs less than epro-newton would.
- A smooth loss, and epro-newton's steps dearer than those of accelerated projected gradient: the latter, on trial.
  Its certificates give the rate of convergence; where what remains at that rate takes longer than a whole run of
  epro-newton would (`NEWTON_STEPS` steps: a pass, a sample's matrix product, a quadratic program), that takes over.
- A vector with up to a few thousand columns, a kinked loss of a small matrix: epro-newton.
- Anything else (larger matrices, millions of columns): epro-vr, which alternates with accelerated steps by itself.

A method that gives up before the gap is proven is followed by the next one. Times decide which method runs, never what
a method does: ``result.choice`` names it, and running that method by name gives the same bits again.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from epro.certificate import Certifier
from epro.costs import gram_cost, projection_cost
from epro.losses import Squared
from epro.oracles import Oracles
from epro.passes import tangent
from epro.problem import Problem
from epro.protocols import Array
from epro.solvers.apg import APG
from epro.solvers.base import Solver
from epro.solvers.epro_newton import EproNewton
from epro.solvers.epro_vr import EproVR
from epro.solvers.gram import Gram
from epro.state import State

NEWTON_STEPS = 7
APG_STEPS, APG_PASSES = 20, 1.7  # an easy problem takes so many accelerated steps, and each so many passes
LEAST_SQUARES_STEPS = 4  # of epro-newton, whose line searches and curvatures are then exact
GRAM_COLUMNS = 2_000
NEWTON_COLUMNS = 3_000
PROBED = 4_000_000  # entries of the data that are enough to time a pass

SOLVERS: tuple[type[Solver], ...] = (APG, EproNewton, EproVR, Gram)
NAMES = tuple(solver.name for solver in SOLVERS)


@dataclass(frozen=True)
class Costs:
    """Seconds: a full gradient, a projection, and one multiply-add of a matrix product."""

    gradient: float
    projection: float
    flop: float

    def newton(self, problem: Problem) -> float:
        """One step of epro-newton: its passes, its sample's product, its quadratic program."""
        n, d = problem.n, math.prod(problem.shape)
        sample = EproNewton().first_sample(problem) if problem.loss.smoothness else n
        return 1.2 * self.gradient + self.flop * (2 * sample * gram_cost(problem.loss) + 3 * d**3)

    def gram(self, problem: Problem) -> float:
        """Forming X'X, and one quadratic program."""
        n, d = problem.n, problem.shape[0]
        return self.gradient + self.flop * (n * gram_cost(problem.loss) + 3 * d**3)


@dataclass(frozen=True)
class Auto(Solver):
    """Nothing to choose: epro-newton, epro-vr, apg or the Gram shortcut, by measured costs."""

    name: ClassVar[str] = "auto"
    passes: ClassVar[int] = 3000
    certifies: ClassVar[bool] = True

    def states(self, oracles: Oracles, state: State, T: int) -> Iterator[State]:
        costs = measure(oracles, state.x)
        queue, why = plan(oracles.problem, costs)
        if "auto" in state.memory:  # resumed: the methods that were left
            queue = [NAMES[int(i)] for i in state.memory["auto"]]
        tried: list[str] = []
        last = state
        while queue:
            name, rest = queue[0], queue[1:]
            tried.append(name)
            oracles.choice = f"{', then '.join(tried)}: {why}"
            left = np.array([NAMES.index(method) for method in queue])
            if name == APG.name:
                states = _accelerated(oracles, last, T, costs, EproNewton.name in rest)
            else:
                states = SOLVERS[NAMES.index(name)]().states(oracles, last, T)
            for now in states:
                last = dataclasses.replace(now, memory=now.memory | {"auto": left}, done="" if rest else now.done)
                yield last
            queue, last = rest, dataclasses.replace(last, memory={}, done="")


def plan(problem: Problem, costs: Costs) -> tuple[list[str], str]:
    """Names of methods, each to go on from where the one before gave up, and why."""
    seen = f"a gradient takes {_seconds(costs.gradient)}, a projection {_seconds(costs.projection)}"
    vector, d = len(problem.shape) == 1, problem.shape[0]
    rest = ["epro-vr"]
    if d <= NEWTON_COLUMNS and _solvable(EproNewton(), problem):
        rest = ["epro-newton", *rest]
    if vector and d <= GRAM_COLUMNS and _solvable(Gram(), problem):
        gram, steps = costs.gram(problem), LEAST_SQUARES_STEPS * costs.newton(problem)
        if gram <= steps:
            return ["gram", *rest], f"least squares, X'X takes about {_seconds(gram)}; {seen}"
        return rest, f"least squares, {_seconds(steps)} against {_seconds(gram)} for X'X; {seen}"
    if rest[0] == "epro-vr":
        return rest, f"x has shape {problem.shape}; {seen}"
    whole = NEWTON_STEPS * costs.newton(problem)
    easy = APG_STEPS * (APG_PASSES * costs.gradient + costs.projection)
    if problem.loss.smoothness is None or whole <= easy:
        return rest, f"about {_seconds(whole)} for {NEWTON_STEPS} steps; {seen}"
    return ["apg", *rest], f"epro-newton would take about {_seconds(whole)}; {seen}"


class _Part(NamedTuple):
    """Some rows of a loss, as passes see them."""

    atoms: Any
    y: Array
    weights: Array
    link: Any
    n: int


def measure(oracles: Oracles, x: Array) -> Costs:
    """Seconds of each operation; compilation does not count, and large data are timed on some of their rows."""
    problem, loss = oracles.problem, oracles.problem.loss
    size = max(1, min(loss.n, PROBED // max(1, math.prod(problem.shape))))
    atoms = loss.atoms if size == loss.n else loss.atoms.take(np.arange(size))
    part: Any = _Part(atoms, loss.y[:size], loss.weights[:size], loss.link, size)
    with oracles.clock.paused():
        tangent(part._replace(atoms=part.atoms.take(np.arange(1)), y=loss.y[:1], weights=loss.weights[:1], n=1), x)
    gradient = _timed(lambda: tangent(part, x)) * loss.n / size
    square = np.ones((128, 128))
    square.dot(square)
    flop = _timed(lambda: square.dot(square)) / 128**3
    guess = flop * projection_cost(problem.constraint, problem.shape)
    if guess > 0.2 * gradient and guess > 1e-3:
        return Costs(gradient, guess, flop)  # dear: not tried out
    step = x + np.ones_like(x) * x.dtype.type(max(float(np.linalg.norm(x)), 1.0))
    problem.constraint.project(step)
    return Costs(gradient, _timed(lambda: oracles.project(step)), flop)


def _timed(operation: Callable[[], Any]) -> float:
    started = time.perf_counter()
    operation()
    return time.perf_counter() - started


def _accelerated(oracles: Oracles, state: State, T: int, costs: Costs, newton: bool) -> Iterator[State]:
    """Accelerated projected steps and certificates, while they promise to end before the next method would."""
    problem, clock = oracles.problem, oracles.clock
    certifier = Certifier(problem, oracles.project)
    patience = NEWTON_STEPS * costs.newton(problem) if newton else math.inf
    marks: list[tuple[float, float]] = []
    due, count, extra, started = 6, 0, 0, clock.seconds
    for accelerated in APG().states(oracles, state, T):
        count += 1
        now = dataclasses.replace(accelerated, steps=accelerated.steps + extra)
        if count < due:
            yield now
            continue
        due, extra = count + max(4, count // 4), extra + problem.n
        certificate = certifier.at(now.x)
        proven = {"lower_bound": certificate.lower_bound, "normal": certificate.normal}
        proven |= {"fun": certificate.fun, "exact": True}
        yield dataclasses.replace(now, steps=now.steps + problem.n, **proven)
        marks.append((clock.seconds, max(certificate.gap, 1e-300)))
        left = _remaining(marks, oracles.target * max(1.0, abs(certificate.fun)))
        if left > patience + 0.2 * (clock.seconds - started):
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
    return f"{value:.3g} s" if value >= 1 else f"{1e3 * value:.3g} ms"


__all__ = ["Auto", "Costs", "measure", "plan"]
