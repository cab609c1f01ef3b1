"""The demonstration: one small problem of each kind, solved by every method that can take it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from epro import constraints, datasets, losses, regularizers, solvers
from epro._minimize import minimize
from epro.datasets.progress import Bar
from epro.problem import Problem
from epro.report.tables import print_table
from epro.result import Result

STEPS = 5_000
ONCE = (solvers.OneProj, solvers.OneProjGeneral)  # their points before the end are not solutions


@dataclass(frozen=True)
class Case:
    """A problem, a proven lower bound on its optimal value, and the engine that suits it."""

    name: str
    problem: Problem
    lower_bound: float
    engine: Any = "auto"


@dataclass(frozen=True)
class Outcome:
    """What one method did on one problem."""

    case: Case
    method: str
    solver: solvers.Solver
    result: Result

    @property
    def suboptimality(self) -> float:
        """At most this far from optimal."""
        return self.result.fun - self.case.lower_bound

    def row(self) -> dict[str, Any]:
        """A line of the table."""
        r = self.result
        return {
            "problem": self.case.name, "method": self.method, "suboptimality": self.suboptimality,
            "projections": r.n_projections, "cuts": r.n_cuts, "violation": max(r.violation, 0.0), "steps": r.n_steps,
            "seconds": r.seconds,
        }  # fmt: skip


def demo(out: Path, steps: int = STEPS) -> list[Outcome]:
    """Solves, prints the table and one sentence about it, and draws ``demo.png`` in the directory ``out``."""
    started = time.perf_counter()
    out.mkdir(parents=True, exist_ok=True)
    outcomes: list[Outcome] = []
    with Bar("Solving", 3 * len(methods())) as bar:
        for outcome in (outcome for case in cases() for outcome in outcomes_of(case, steps)):
            outcomes.append(outcome)
            bar.to(len(outcomes), f"Solving, {outcome.case.name}")
    print_table([outcome.row() for outcome in outcomes], f"Every method, at most {steps:,} stochastic gradients")
    path = out / "demo.png"
    _draw(outcomes, path)
    print(f"\nPicture: {path.resolve()}\nTime, with compilation: {time.perf_counter() - started:.0f} s")
    print(f"\n{seen(outcomes)}")
    return outcomes


# -- the problems


def cases() -> Iterator[Case]:
    """Sparse regression in an l1 ball, classification in a polyhedron, a metric in the semidefinite cone."""
    X, y = datasets.make_regression(500, 50, informative=8, noise=0.5)
    lasso = Problem(losses.Squared(X, y), regularizers.Ridge(0.05), constraints.L1Ball(1.0))
    yield Case("l1 ball", lasso, certified(lasso))

    X, y = datasets.make_classification(500, 20)
    A, b = datasets.make_polyhedron(40, 20, slack=0.2)
    A, b = np.vstack([A, np.eye(20), -np.eye(20)]), np.concatenate([b, np.ones(40)])
    classes = Problem(losses.Logistic(X, y), regularizers.Ridge(0.02), constraints.Polyhedron(A, b))
    # here and below projections and eigenvectors take the time: interpreted steps save more than compiled ones would
    yield Case("polyhedron", classes, certified(classes), engine="python")

    X, y = datasets.make_classification(300, 8)
    triplets = datasets.make_triplets((y > 0).astype(int), 300, 1)
    metric = Problem(losses.TripletHinge(X, triplets), regularizers.Ridge(1.0), constraints.PSD())
    yield Case("PSD metric", metric, certified_hinge(metric), engine="python")


def certified(problem: Problem) -> float:
    """A lower bound within 1e-9 of the optimal value, by accelerated projected gradient and its certificate."""
    result = minimize(problem, "apg", tol=1e-9)
    if not result.success:
        raise RuntimeError(f"the reference solution was not certified: {result.message}")
    return result.lower_bound


def certified_hinge(problem: Problem) -> float:
    """A lower bound for the hinge loss (label -1) with a ridge, by its dual.

    As max(0, 1 + p) >= a (1 + p) for every a in [0, 1], any a in [0, 1]^n gives the bound
    min over M of (1/n) sum_i a_i (1 + <A_i, M>) + (ridge/2) ||M||^2 over the set, attained at P(-G / ridge) with
    G = (1/n) sum_i a_i A_i. It is smooth and concave in a; the best a is found by L-BFGS.
    """
    from scipy.optimize import minimize as lbfgs

    atoms, ridge, n = problem.loss.atoms, problem.regularizer.ridge, problem.n

    def minus_bound(a: Any) -> tuple[float, Any]:
        G = atoms.adjoint(a / n)
        M = problem.constraint.project(-G / ridge)
        value = a.mean() + np.vdot(G, M) + 0.5 * ridge * np.vdot(M, M)
        return -float(value), -(1.0 + atoms.predictions(M)) / n

    options: dict[str, Any] = {"maxiter": 2000, "maxfun": 5000, "ftol": 1e-14, "gtol": 1e-9}
    found = lbfgs(minus_bound, np.full(n, 0.5), jac=True, method="L-BFGS-B", bounds=[(0.0, 1.0)] * n, options=options)
    return -float(found.fun)


# -- the runs


def methods() -> dict[str, solvers.Solver]:
    """Every method with nothing tuned, and the robust form of Epro-SGD."""
    table = {name: solvers.solver_of(name) for name in solvers.METHODS}
    return {"epro-sgd (robust)": solvers.EproSGD(robust=True)} | table


def outcomes_of(case: Case, steps: int) -> Iterator[Outcome]:
    """One outcome for each method that can take the problem; a short run first keeps compilation off its clock."""
    for name, solver in methods().items():
        try:
            solver.check(case.problem)
            minimize(case.problem, solver, tol=0, max_steps=200, engine=case.engine)
        except (ValueError, NotImplementedError):
            continue
        yield Outcome(case, name, solver, minimize(case.problem, solver, tol=0, max_steps=steps, engine=case.engine))


# -- what was seen


def seen(outcomes: list[Outcome]) -> str:
    """One sentence, from the numbers alone."""
    parts = []
    for case in dict.fromkeys(outcome.case.name for outcome in outcomes):
        here = [outcome for outcome in outcomes if outcome.case.name == case]
        sgd = next(outcome for outcome in here if outcome.method == "sgd")
        epro = min((o for o in here if o.method.startswith("epro-sgd")), key=lambda o: o.suboptimality)
        ratio = epro.suboptimality / sgd.suboptimality
        closer = f"{1 / ratio:.2g} times closer to" if ratio < 1 else f"{ratio:.2g} times farther from"
        few, many = epro.result.n_projections, sgd.result.n_projections
        parts.append(f"with {few} projections in place of {many:,} {epro.method} ended {closer} the optimum ({case})")
    worst = max(max(outcome.result.violation, 0.0) for outcome in outcomes)
    feasible = "every answer is feasible" if worst < 1e-9 else "not every answer is feasible"
    return f"Seen: compared with sgd, {'; '.join(parts)}; {feasible} (largest violation {worst:.1g})."


def _draw(outcomes: list[Outcome], path: Path) -> None:
    """Suboptimality against stochastic gradients (above) and projections (below), a column for each problem."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(outcome.case.name for outcome in outcomes))
    labels, colours = list(methods()), colormaps["tab20"]
    figure = Figure(figsize=(4.2 * len(names), 7.5), layout="constrained")
    grid = figure.subplots(2, len(names), squeeze=False)
    for outcome in outcomes:
        history, column = outcome.result.history, names.index(outcome.case.name)
        last = len(history) - 1 if isinstance(outcome.solver, ONCE) else 0
        place = labels.index(outcome.method)
        style: dict[str, Any] = {
            "color": colours(place % 20), "marker": "os^vD*"[place % 6], "markersize": 4, "linewidth": 1.2,
        }  # fmt: skip
        above = np.maximum(history["fun"] - outcome.case.lower_bound, 1e-9)[last:]
        for axes, against in zip(grid[:, column], ("steps", "projections"), strict=True):
            axes.plot(np.maximum(history[against][last:], 0.5), above, label=outcome.method, **style)
            axes.set(xscale="log", yscale="log", xlabel="stochastic gradients" if against == "steps" else against)
            axes.set_title(outcome.case.name if against == "steps" else "")
            axes.grid(alpha=0.3)
    grid[1, 0].set_xlabel("projections (none: at 0.5)")
    for axes in grid[:, 0]:
        axes.set_ylabel("suboptimality")
    drawn = {label: handle for axes in grid[0] for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(drawn.values(), drawn.keys(), loc="outside lower center", ncols=5, fontsize="small", frameon=False)
    figure.savefig(path, dpi=120)
