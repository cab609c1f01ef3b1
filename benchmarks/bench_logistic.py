"""Logistic regression under many inequalities: `minimize` with its defaults against what one would use instead.

    python benchmarks/bench_logistic.py shape [--repeat 3] [--peers]
    python benchmarks/bench_logistic.py chain [--repeat 3] [--limit 60]
    python benchmarks/bench_logistic.py scaled | crowded | cheap

shape    n = 1e5, d = 100, monotone, sum and box as one polyhedron; CVXPY + Clarabel at n = 1e4, scaled linearly
chain    n = 2e4, p = 3000, monotone; glum's trust-constr, stopped after --limit seconds
scaled   n = 2e5, p = 300, columns over three decades, 300 dense random inequalities, ridge 1e-5; against apg
crowded  n = 2e4, p = 1000, 1,000 dense random inequalities, ridge 1e-3; against apg
cheap    the data of `crowded`, with sets that are projected on in no time; against the best single method
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import time
from typing import Any

from timing import best_of, interleaved, table

# isort: split
import numpy as np

import epro
from epro import constraints, losses, regularizers

COLUMNS = ("method", "seconds", "ratio", "gap", "gradients", "projections", "violation", "chosen")


def data(n: int, p: int, seed: int = 0, decades: float = 0.0, x0: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Normal rows, columns over so many decades, labels from a logistic model."""
    rng = np.random.default_rng(seed)
    units = 10.0 ** rng.uniform(-decades / 2, decades / 2, p)
    X = rng.standard_normal((n, p)) * units
    truth = (rng.standard_normal(p) / np.sqrt(p) if x0 is None else x0) / units
    y = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-X @ truth)), 1.0, -1.0)
    return X, y


def random_polyhedron(p: int, m: int, seed: int = 1) -> Any:
    """Dense random inequalities, of which many bind."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((m, p)) / np.sqrt(p)
    inside = 0.1 * rng.standard_normal(p)
    return constraints.Polyhedron(A, A @ inside + 0.02 * np.abs(rng.standard_normal(m)))


def row(name: str, seconds: float, result: Any, against: float, problem: epro.Problem) -> tuple[Any, ...]:
    projections = result.n_projections + result.n_certificate_projections
    gap = result.gap / max(1.0, abs(result.fun))
    chosen = (result.choice or "").split(":")[0]
    return name, seconds, against / seconds, gap, result.n_steps / problem.n, projections, result.violation, chosen


def shape(options: argparse.Namespace) -> None:
    d = 100
    X, y = data(100_000, d, x0=np.linspace(-0.3, 0.5, d))
    A, b = shape_rows(d)
    problem = epro.Problem(losses.Logistic(X, y), regularizers.Ridge(1e-3), constraints.Polyhedron(A, b))
    seconds, result = best_of(lambda: epro.minimize(problem, tol=1e-6), options.repeat)
    rows = []
    if options.peers and importlib.util.find_spec("cvxpy"):
        peer = 10.0 * by_cvxpy(X[:10_000], y[:10_000], A, b)
        rows.append(("CVXPY + Clarabel, n = 1e4, times 10", peer, 1.0, *[""] * 5))
    else:
        peer = 84.0
        rows.append(("CVXPY + Clarabel (anchor)", peer, 1.0, *[""] * 5))
    table(
        "logistic, n = 1e5, d = 100, monotone + sum + box",
        COLUMNS,
        [row("auto", seconds, result, peer, problem), *rows],
    )


def shape_rows(d: int) -> tuple[np.ndarray, np.ndarray]:
    """x nondecreasing, between -0.2 and 0.4, with a sum of at most d / 20."""
    order = np.eye(d)[:-1] - np.eye(d)[1:]
    A = np.vstack([order, np.eye(d), -np.eye(d), np.ones((1, d))])
    return A, np.r_[np.zeros(d - 1), np.full(d, 0.4), np.full(d, 0.2), d / 20]


def by_cvxpy(X: np.ndarray, y: np.ndarray, A: np.ndarray, b: np.ndarray) -> float:
    import cvxpy as cp

    x = cp.Variable(X.shape[1])
    objective = cp.sum(cp.logistic(-cp.multiply(y, X @ x))) / len(y) + 0.5e-3 * cp.sum_squares(x)
    started = time.perf_counter()
    cp.Problem(cp.Minimize(objective), [A @ x <= b]).solve(solver=cp.CLARABEL)
    return time.perf_counter() - started


def chain(options: argparse.Namespace) -> None:
    n, p = 20_000, 3000
    X, y = data(n, p, x0=np.linspace(-1, 1, p) / np.sqrt(p))
    problem = epro.Problem(losses.Logistic(X, y), regularizers.Ridge(1e-3), constraints.Monotone())
    seconds, result = best_of(lambda: epro.minimize(problem, tol=1e-6), options.repeat)
    rows = [row("auto", seconds, result, 283.0, problem), ("glum trust-constr (anchor)", 283.0, 1.0, *[""] * 5)]
    if importlib.util.find_spec("glum") and options.limit > 0:
        command = [sys.executable, __file__, "glum"]
        try:
            subprocess.run(command, timeout=options.limit, check=True)
        except subprocess.TimeoutExpired:
            rows.append((f"glum here: not ended after {options.limit:g} s", options.limit, "", *[""] * 5))
    table("logistic, n = 2e4, p = 3000, monotone chain", COLUMNS, rows)


def glum(options: argparse.Namespace) -> None:
    from glum import GeneralizedLinearRegressor

    p = 3000
    X, y = data(20_000, p, x0=np.linspace(-1, 1, p) / np.sqrt(p))
    A = np.eye(p)[:-1] - np.eye(p)[1:]
    model = GeneralizedLinearRegressor(
        family="binomial", alpha=1e-3, solver="trust-constr", fit_intercept=False, A_ineq=A, b_ineq=np.zeros(p - 1)
    )
    started = time.perf_counter()
    model.fit(X, (y + 1) / 2)
    seconds, violation = time.perf_counter() - started, float(np.max(A @ model.coef_))
    print(f"glum: {seconds:.1f} s, violation {violation:.2g}", flush=True)


def scaled(options: argparse.Namespace) -> None:
    n, p = 200_000, 300
    X, y = data(n, p, decades=3.0)
    problem = epro.Problem(losses.Logistic(X, y), regularizers.Ridge(1e-5), random_polyhedron(p, 300))
    against_apg("logistic, n = 2e5, p = 300, 300 inequalities, scaled columns, ridge 1e-5", problem, options)


def crowded(options: argparse.Namespace) -> None:
    problem = crowded_problem(random_polyhedron(1000, 1000))
    against_apg("logistic, n = 2e4, p = 1000, 1,000 inequalities, ridge 1e-3", problem, options)


def crowded_problem(constraint: Any) -> epro.Problem:
    return epro.Problem(losses.Logistic(*data(20_000, 1000)), regularizers.Ridge(1e-3), constraint)


def against_apg(title: str, problem: epro.Problem, options: argparse.Namespace) -> None:
    methods = {
        name: (lambda name=name: epro.minimize(problem, name, tol=1e-6, max_seconds=120)) for name in ("auto", "apg")
    }
    found = interleaved(methods, options.repeat)
    table(title, COLUMNS, [row(name, *found[name], found["apg"][0], problem) for name in methods])


def cheap(options: argparse.Namespace) -> None:
    sets = {
        "monotone": constraints.Monotone(), "box": constraints.Box(-0.02, 0.02), "simplex": constraints.Simplex(1.0),
        "l1 ball": constraints.L1Ball(1.0),
    }  # fmt: skip
    for name, constraint in sets.items():
        problem = crowded_problem(constraint)
        methods = ("auto", "apg", "epro-vr", "epro-newton")
        if options.methods:
            methods = tuple(options.methods)
        runs = {m: (lambda m=m, problem=problem: epro.minimize(problem, m, tol=1e-6, max_seconds=30)) for m in methods}
        found = interleaved(runs, options.repeat)
        best = min(seconds for m, (seconds, result) in found.items() if m != "auto" and result.success)
        table(f"n = 2e4, p = 1000, {name}", COLUMNS, [row(m, *found[m], best, problem) for m in methods])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    questions = {f.__name__: f for f in (shape, chain, scaled, crowded, cheap, glum)}
    parser.add_argument("question", choices=list(questions))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--methods", nargs="*")
    options = parser.parse_args()
    questions[options.question](options)


if __name__ == "__main__":
    main()
