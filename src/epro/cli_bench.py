"""``epro bench``: what this machine does in a second, in a few seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from epro import constraints, datasets, losses, regularizers
from epro.moves import Explicit
from epro.oracles import Oracles
from epro.penalties import Hinge
from epro.problem import Problem
from epro.schedules import Epoch

BUDGET = 0.4  # seconds for each measurement


def seconds_of(function: Callable[[], Any], budget: float = BUDGET) -> float:
    """The shortest of as many repetitions as fit into the budget (at least two), after one that compiles."""
    function()
    times: list[float] = []
    while len(times) < 2 or sum(times) < budget:
        started = time.perf_counter()
        function()
        times.append(time.perf_counter() - started)
    return min(times)


def problems() -> Iterator[tuple[str, Problem]]:
    """Rows of three kinds."""
    X, y = datasets.make_regression(20_000, 200)
    yield (
        "dense rows, 20,000 x 200, l1 ball",
        Problem(losses.Squared(X, y), regularizers.Ridge(0.01), constraints.L1Ball(1.0)),
    )
    X, y = datasets.load_example("algebra")
    yield "sparse rows, 20,000 x 100,000, no constraint", Problem(losses.Squared(X, y))
    X, labels = datasets.make_classification(1000, 50)
    triplets = datasets.make_triplets((labels > 0).astype(int), 1000)
    metric = Problem(losses.TripletHinge(X, triplets), regularizers.Ridge(0.01), constraints.PSD())
    yield "triplets, 50 x 50 semidefinite matrices", metric


def projections() -> Iterator[tuple[str, Any, Any]]:
    """A constraint and a point outside it."""
    rng = np.random.default_rng(0)
    yield "l1 ball, d = 1,000,000", constraints.L1Ball(10.0), rng.standard_normal(1_000_000)
    yield "simplex, d = 100,000", constraints.Simplex(), rng.standard_normal(100_000)
    yield "monotone, d = 100,000", constraints.Monotone(), rng.standard_normal(100_000)
    A, b = datasets.make_polyhedron(100, 50)
    yield "polyhedron, 100 dense inequalities, d = 50", constraints.Polyhedron(A, b), 3.0 * rng.standard_normal(50)
    M = rng.standard_normal((200, 200))
    yield "semidefinite matrices, 200 x 200", constraints.PSD(), M + M.T


def bench() -> list[dict[str, Any]]:
    """Measures and prints; one row for each operation."""
    from epro.datasets.progress import Bar
    from epro.report.machine import machine_info
    from epro.report.tables import print_table

    rows: list[dict[str, Any]] = []
    with Bar("Measuring", 11) as bar:
        for row in _measurements():
            rows.append(row)
            bar.to(len(rows))
    print_table(rows, "One thread unless NumPy's linear algebra uses more; the shortest of several runs")
    print("\n" + ", ".join(f"{name} {value}" for name, value in machine_info().items()))
    return rows


def _measurements() -> Iterator[dict[str, Any]]:
    for name, problem in problems():
        oracles, x = Oracles(problem, np.random.default_rng(0)), np.zeros(problem.shape)
        epoch = Epoch(max(50, 2_000_000 // x.size), 1e-3)
        one = seconds_of(lambda: oracles.epoch(x, epoch, Hinge(0.1), Explicit())) / epoch.steps  # noqa: B023
        yield _row("Epro-SGD step", name, one)
        yield _row("full gradient", name, seconds_of(lambda: problem.gradient(x)))  # noqa: B023
    for name, constraint, point in projections():
        bound = constraint.bind(point.shape)
        yield _row("projection", name, seconds_of(lambda: bound.project(point)))  # noqa: B023


def _row(operation: str, what: str, seconds: float) -> dict[str, Any]:
    return {"operation": operation, "on": what, "seconds": seconds, "per second": float(f"{1 / seconds:.3g}")}
