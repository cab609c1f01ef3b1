"""Runs every method in every setting. The clock excludes compilation and the evaluation of objectives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from epro import datasets
from epro.datasets.progress import Bar
from epro.experiments.figure2_lmnn.competitors import BATCH, Competitor, as_stated, tuned
from epro.experiments.figure2_lmnn.problem import FLOOR, Data, Pull, accuracy, load, make_problem
from epro.experiments.whole import result_of
from epro.oracles import Oracles
from epro.problem import Problem
from epro.protocols import Array, Index
from epro.report.machine import PeakMemory
from epro.result import Result, Status
from epro.run import Budget, Run
from epro.state import State

TITLE = "Figure 2: sparse large-margin nearest neighbours"
NOTES = (
    "An iteration is the stochastic gradient of one triplet; a full subgradient counts as many as there are triplets.",
    "L is the mean over the pairs of the triplets, except in the settings that name another of its three forms.",
    "Seconds exclude compilation and the evaluation of objectives. All methods start at A = floor I, floor = 1e-3.",
    "Ended, steps: the next epoch would pass 4,000 steps (500 at small scale), or 24 passes with full subgradients; "
    "settled: the objective changed by less than 1e-8 of itself between two looks; time: a method that projects at "
    "every step had its 60 seconds (3 at small scale).",
    "Projections are the method's own: OneProj's looks along the way are not counted.",
    "LogT needs a smooth loss; it is run with subgradients of the hinge, as in the paper.",
    "Accuracy: 3 nearest neighbours on held-out rows, under the metric A; before: the Euclidean distance.",
    "Skipped: cuts left out, since c is Lipschitz and was negative enough nearby.",
    "Memory is the growth of the peak resident set while the method runs.",
)
TRADE_OFF, RIDGE, L1_OFF = 0.5, 1e-4, 1e-3  # c, mu_1, mu_2
CHANGE = 1e-8
ENDED = {Status.STOPPED: "settled", Status.MAX_STEPS: "steps", Status.TIME_LIMIT: "time"}
QUICK = (f"Epro-SGD, {BATCH} triplets", "Epro-ORDA", "APG")  # in the settings of L

Curve = dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """A scaling of the features, a choice of triplets, and the competitors."""

    name: str
    unit_norm: bool
    neighbors: bool
    competitors: tuple[Competitor, ...]
    pull: Pull = "pairs"


def settings(scale: str, n: int) -> Iterator[Setting]:
    """Both feature scalings with the paper's steps, and with tuned ones; n triplets; then the other forms of L."""
    steps, seconds, passes = (4000, 60.0, 24) if scale == "full" else (500, 3.0, 24)
    for unit_norm, rows in ((True, "unit rows"), (False, "0-1 rows")):
        yield Setting(f"{rows}, steps of the paper", unit_norm, False, as_stated(steps, seconds))
        yield Setting(f"{rows}, tuned steps", unit_norm, False, tuned(steps, seconds, n, passes, unit_norm))
    methods = tuned(steps, seconds, n, passes, False)
    yield Setting("0-1 rows, neighbours, tuned steps", False, True, methods)
    few = tuple(method for method in methods if method.name in QUICK)
    yield Setting("0-1 rows, L of weighted pairs, tuned steps", False, False, few, "weighted")
    yield Setting("0-1 rows, L the covariance within classes, tuned steps", False, False, few, "covariance")


def run(
    scale: str = "small", out: Any = None, data: Any = None, seed: int = 0, progress: bool | None = None
) -> tuple[list[Curve], list[dict[str, Any]]]:
    """The curves of all methods in all settings, and the table of their ends.

    Parameters
    ----------
    scale : {"small", "full"}
        410 generated points in 150 columns; or Cora (generated in its shape where the data directory has none).
    out : path, optional
        Unused here; the report writes there.
    data : path, optional
        The data directory, see `epro.datasets.data_dir`.
    seed : int
        Of the triplets, the held-out rows and the order in which triplets are drawn.
    progress : bool, optional
        Shows or hides progress bars; by default they are shown on a terminal, after two seconds.
    """
    if scale not in ("small", "full"):
        raise ValueError(f"scale must be 'small' or 'full', got {scale!r}")
    pairs = 5416 if scale == "full" else 500
    curves = []
    for setting in settings(scale, 3 * pairs):
        with Bar(setting.name, len(setting.competitors), progress) as bar:
            points = load(scale, data, setting.unit_norm, seed)
            problem = problem_of(points, triplets_of(points, setting.neighbors, pairs, seed), setting.pull)
            for done, competitor in enumerate(setting.competitors):
                bar.to(done, f"{competitor.name}, {setting.name}")
                warm_up(points, competitor)
                curves.append(curve(problem, points, setting, competitor, seed))
    return curves, [each["final"] for each in curves]


def problem_of(points: Data, triplets: Index, pull: Pull) -> Problem:
    """With the paper's constants."""
    return make_problem(points, triplets, trade_off=TRADE_OFF, ridge=RIDGE, l1_off=L1_OFF, pull=pull)


def warm_up(points: Data, competitor: Competitor, d: int = 40, triplets: int = 20) -> None:
    """A short run on a few columns and triplets compiles what the method needs, off its clock."""
    few = replace(points, X=points.X[:, :d], X_test=points.X_test[:, :d])
    problem = problem_of(few, datasets.make_triplets(points.y, triplets, 1), "pairs")
    steps = 4 * triplets * (getattr(competitor.solver, "batch", None) or 1)
    _run(problem, replace(competitor, steps=steps), Settled(), 0)


def triplets_of(points: Data, neighbors: bool, pairs: int, seed: int) -> Index:
    """The paper's random triplets, or as many of the nearest neighbours and their impostors."""
    if not neighbors:
        return datasets.make_triplets(points.y, pairs, 3, seed)
    found = datasets.neighbor_triplets(points.X, points.y)
    return found[np.random.default_rng(seed).permutation(len(found))[: 3 * pairs]]


class Settled:
    """A callback that keeps the points, and stops once the objective hardly changes between two of them."""

    def __init__(self) -> None:
        self.points: list[Array] = []
        self.last = np.inf

    def __call__(self, problem: Problem, state: State) -> bool:
        self.points.append(state.x.copy())
        value = problem.value(state.x)
        last, self.last = self.last, value
        return len(self.points) > 3 and abs(last - value) < CHANGE * abs(value)


def curve(problem: Problem, points: Data, setting: Setting, competitor: Competitor, seed: int) -> Curve:
    """Runs one method, then evaluates the points that it went through."""
    settled, memory = Settled(), PeakMemory()
    with memory.watched():
        result = _run(problem, competitor, settled, seed)
    history, once = result.history, competitor.name == "OneProj"
    final = {
        "setting": setting.name, "method": competitor.name, "iterations": result.n_steps,
        "projections": 1 if once else result.n_projections, "seconds": result.seconds, "objective": result.fun,
        "violation": max(result.violation, 0.0), "accuracy": accuracy(points, result.x),
        "accuracy_before": accuracy(points, np.eye(problem.shape[0])), "cuts": result.n_cuts,
        "skipped": result.n_cuts_skipped, "memory_mb": memory.megabytes,
        "ended": ENDED.get(result.status, result.status.name.lower()),
    }  # fmt: skip
    return {
        "method": competitor.name, "setting": setting.name, "iterations": [int(s) for s in history["steps"]],
        "seconds": [float(s) for s in history["seconds"]], "objective": [float(f) for f in history["fun"]],
        "projections": [1 if once else int(p) for p in history["projections"]],
        "violation": [max(problem.violation(x), 0.0) for x in settled.points], "final": final,
        "options": competitor.options,
    }  # fmt: skip


def _run(problem: Problem, competitor: Competitor, settled: Settled, seed: int) -> Result:
    """From floor I; the objective's pass for the stopping rule is made while the clock stands still."""
    oracles = Oracles(problem, np.random.default_rng(seed))
    start = State(FLOOR * np.eye(problem.shape[0], dtype=problem.dtype))

    def callback(of: Problem, state: State) -> bool:
        with oracles.clock.paused():
            return settled(of, state)

    budget = Budget(0.0, competitor.steps, competitor.seconds)
    return result_of(Uncertified(competitor.solver, oracles, start, budget, (callback,)))


class Uncertified(Run):
    """A run without a certificate at its end, which would take some two hundred projections here and is not shown."""

    def _certify(self, x: Array) -> None:
        pass
