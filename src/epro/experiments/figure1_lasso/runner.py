"""Runs every method in both settings. The clock excludes compilation and the evaluation of objectives."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from epro import datasets
from epro.datasets.progress import Bar
from epro.experiments.figure1_lasso.engines import LazyOracles, Scripted, restrict
from epro.experiments.figure1_lasso.settings import Competitor, Setting, settings
from epro.experiments.whole import result_of
from epro.kernels.active import SparseVector
from epro.oracles import Oracles
from epro.problem import Problem
from epro.protocols import Array, Index
from epro.report.machine import PeakMemory
from epro.result import Result
from epro.run import Budget, Run
from epro.solvers import OneProj
from epro.state import State

TITLE = "Figure 1: l1-constrained least squares on algebra-shaped data"
NOTES = (
    "An iteration is a stochastic gradient; a full gradient (APG, Epro-VR) counts as many as there are rows.",
    "LogT and Epro-ORDA end with the last whole epoch within the budget; Epro-SGD and OneProj use it up.",
    "Epro-SGD's cut is explicit in the paper's setting unless it says clipped, and clipped in the realistic one.",
    "Seconds exclude compilation and the evaluation of objectives; they include finding the active columns.",
    "All but Epro-VR, APG and the realistic setting's Epro-SGD run on the columns of the rows that they will draw, "
    "which changes nothing else.",
    "Projections are the method's own: OneProj's look at the curve along the way is not counted.",
    "Gap: the objective minus the best lower bound that a run on all rows certified in the same setting.",
    "Memory is the growth of the peak resident set while the method runs, beyond the data.",
)

Curve = dict[str, Any]


def run(
    scale: str = "small", out: Any = None, data: Any = None, seed: int = 0, progress: bool | None = None
) -> tuple[list[Curve], list[dict[str, Any]]]:
    """The curves of all methods in both settings, and the table of their ends.

    Parameters
    ----------
    scale : {"small", "full"}
        20,000 x 100,000 generated; or the size of the paper, 8,407,752 x 20,216,830: the published file where the
        data directory has it, generated otherwise.
    out : path, optional
        Unused here; the report writes there.
    data : path, optional
        The data directory, see `epro.datasets.data_dir`.
    seed : int
        Of the order in which rows are drawn.
    progress : bool, optional
        Shows or hides progress bars; by default they are shown on a terminal, after two seconds.
    """
    X, y = load(scale, data, progress)
    found = []
    for setting in settings(X.shape[0], scale):
        problem = setting.problem(X, y)
        curves = []
        with Bar(f"Setting {setting.name}", len(setting.competitors), progress) as bar:
            for done, competitor in enumerate(setting.competitors):
                bar.to(done, f"{competitor.name}, setting {setting.name}")
                curves.append(curve(problem, setting, competitor, seed))
        bound = max(each.pop("lower_bound") for each in curves)
        for each in curves:
            each["final"]["gap"] = max(each["final"]["objective"] - bound, 0.0)  # less than zero is rounding
        found += curves
    return found, [each["final"] for each in found]


def load(scale: str, data: Any, progress: bool | None) -> tuple[Any, Array]:
    """The data: the published file where it has been parsed or downloaded before, else generated."""
    if scale == "small":
        X, y = datasets.load_example("algebra")
        return X, y
    if scale != "full":
        raise ValueError(f"scale must be 'small' or 'full', got {scale!r}")
    if _published(data):
        return datasets.fetch_algebra(data, progress=progress)
    return datasets.make_algebra(progress=progress)


def source(scale: str, data: Any) -> str:
    """A sentence on the data that `load` takes."""
    if scale == "small":
        return "Data: generated, 20,000 rows in 100,000 columns, of the kind of KDD Cup 2010 algebra."
    if _published(data):
        return f"Data: KDD Cup 2010 algebra as published ({datasets.data_dir(data)})."
    return f"Data: generated in the shape of KDD Cup 2010 algebra, since there is no kdda in {datasets.data_dir(data)}."


def _published(data: Any) -> bool:
    return any(datasets.data_dir(data).glob("kdda*"))


def curve(problem: Problem, setting: Setting, competitor: Competitor, seed: int) -> Curve:
    """Runs one method, then evaluates the points that it went through."""
    scripted = competitor.steps if competitor.engine != "full" else 2000  # which draws for itself, if at all
    draws = np.random.default_rng(seed).integers(problem.n, size=scripted)
    warm_up(problem, competitor, draws[:2000])
    memory = PeakMemory()
    with memory.watched():
        result, points, extra = method(problem, competitor, draws)
    history = result.history
    x = np.zeros(problem.shape, problem.dtype)
    objective, violation = [], []
    for point in points:
        x[point.columns] = point.values
        objective.append(problem.value(x))
        violation.append(max(problem.violation(x), 0.0))
        x[point.columns] = 0.0
    seconds = [float(s) + extra for s in history["seconds"]]
    once = isinstance(competitor.solver, OneProj)
    projections = [1 if once else int(p) for p in history["projections"]]
    steps = [int(s) for s in history["steps"]]
    whole = competitor.engine in ("lazy", "full")
    final = {
        "setting": setting.name, "method": competitor.name, "iterations": steps[-1], "projections": projections[-1],
        "seconds": seconds[-1], "objective": objective[-1], "violation": violation[-1], "memory_mb": memory.megabytes,
        "nonzeros": int(np.count_nonzero(points[-1].values)), "norm1": float(np.abs(points[-1].values).sum()),
    }  # fmt: skip
    return {
        "method": competitor.name, "setting": setting.name, "iterations": steps, "seconds": seconds,
        "objective": objective, "projections": projections, "violation": violation, "final": final,
        "options": competitor.options, "lower_bound": result.lower_bound if whole else -np.inf,
    }  # fmt: skip


class Points:
    """A callback that keeps the nonzeros of every state, under the names of the whole problem's columns."""

    def __init__(self, columns: Array | None, size: int) -> None:
        self.columns, self.size = columns, size
        self.kept: list[SparseVector] = []

    def __call__(self, problem: Problem, state: State) -> None:
        where = np.flatnonzero(state.x)
        names = where.astype(np.int32) if self.columns is None else self.columns[where]
        self.kept.append(SparseVector(names, state.x[where], self.size))


def method(problem: Problem, competitor: Competitor, draws: Index) -> tuple[Result, list[SparseVector], float]:
    """The result, its points in the whole space, and the seconds spent before the method's clock started."""
    started = time.perf_counter()
    columns, small = None, problem
    if competitor.engine in ("active", "clipped"):
        small, columns, draws = restrict(problem, draws)
    oracles = make_oracles(small, competitor, draws)
    extra = time.perf_counter() - started
    points = Points(columns, problem.shape[0])
    result = _run(small, competitor, oracles, points, competitor.steps)
    return result, points.kept, extra


def warm_up(problem: Problem, competitor: Competitor, draws: Index) -> None:
    """A short run on a problem of the same types compiles what the method needs."""
    small, columns, draws = restrict(problem, draws)
    oracles = make_oracles(small, competitor, draws)
    steps = 2 * small.n if competitor.engine == "full" else draws.size
    _run(small, competitor, oracles, Points(columns, problem.shape[0]), steps)


def make_oracles(problem: Problem, competitor: Competitor, draws: Index) -> Oracles:
    """What the method asks, with its rows already drawn."""
    if competitor.engine in ("lazy", "clipped"):
        return LazyOracles(problem, draws)
    if competitor.engine == "full":
        return Oracles(problem, np.random.default_rng(int(draws[0])))
    return Oracles(problem, Scripted(draws))  # type: ignore[arg-type]


def _run(problem: Problem, competitor: Competitor, oracles: Oracles, points: Points, steps: int) -> Result:
    start = State(np.zeros(problem.shape, problem.dtype))
    return result_of(Run(competitor.solver, oracles, start, Budget(0.0, steps), (points,)))
