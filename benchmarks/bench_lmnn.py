"""Metric learning at Cora's size: one Epro step beside one eigendecomposition, a whole run, and how both scale.

    python benchmarks/bench_lmnn.py            # EPRO_DATA names the directory with cora.npz; generated without it
    python benchmarks/bench_lmnn.py --scaling out/lmnn_scaling.png

One BLAS thread. Each figure is the smallest of a few repetitions; eigendecompositions and steps alternate, so that a
busy machine slows both.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import epro
from epro import constraints, datasets, losses
from epro.experiments.figure2_lmnn.problem import FLOOR, load, make_problem
from epro.moves import Explicit
from epro.oracles import Oracles
from epro.penalties import Hinge
from epro.regularizers import Linear, OffDiagonalL1, Ridge
from epro.solvers import EproSGD

STEPS = ((0.1, 1e-5), (5.0, 1e-4))  # lam and eta1: the paper's, and tuned ones


def timed(function: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds that a call takes."""
    started = clock()
    function()
    return clock() - started


def walker(problem: Any, lam: float, eta: float) -> Callable[[int], None]:
    """Steps on one iterate, which goes on from call to call."""
    oracles = Oracles(problem, np.random.default_rng(0))
    x = FLOOR * np.eye(problem.shape[0])
    total = np.zeros_like(x)

    def walk(steps: int) -> None:
        oracles.steps(x, total, np.full(steps, eta), Hinge(lam), Explicit())

    walk(64)  # compiled, and away from the start
    walk.x = x  # type: ignore[attr-defined]
    return walk


def cora(repeat: int) -> None:
    """One step, one eigendecomposition, one projection; and the whole run of 1,024 iterations."""
    data = load("full", None, unit_norm=False)
    triplets = datasets.make_triplets(data.y)
    problem = make_problem(data, triplets, trade_off=0.5, ridge=1e-4, l1_off=1e-3, pull="pairs")
    d = problem.shape[0]
    for lam, eta in STEPS:
        walk, steps, eighs, projections, runs = walker(problem, lam, eta), [], [], [], []
        solver = EproSGD(lam=lam, eta1=eta)
        for _ in range(repeat):
            x = walk.x  # type: ignore[attr-defined]
            eighs.append(timed(lambda x=x: np.linalg.eigh(x)))
            steps.append(timed(lambda walk=walk: walk(100)) / 100)
            projections.append(timed(lambda x=x: problem.constraint.project(x)))
            start = FLOOR * np.eye(d)
            result = epro.minimize(problem, solver, max_steps=1024, tol=0, x0=start)
            runs.append(result.seconds)
        eigh, step, run = min(eighs), min(steps), min(runs)
        print(
            f"lam {lam:g}, eta1 {eta:g}: eigendecomposition of {d} x {d} {eigh * 1e3:.0f} ms, "
            f"projection {min(projections) * 1e3:.0f} ms, step {step * 1e3:.2f} ms = 1/{eigh / step:.0f}; "
            f"{result.n_steps} iterations, {result.n_projections} projections {run:.2f} s, "
            f"{run / result.n_steps * 1e3:.2f} ms an iteration = 1/{eigh * result.n_steps / run:.0f}; "
            f"{result.n_cuts} cuts, {result.n_cuts_skipped} skipped; objective {result.fun:.6f}"
        )


def scaling(path: Path, sizes: tuple[int, ...], repeat: int) -> None:
    """Seconds of a step and of a projection against d."""
    rows = []
    for d in sizes:
        X, y = datasets.make_cora_like(0, d=d, sizes=(100, 100, 100), words=18)
        tilt = (X.T @ X).toarray() / X.shape[0]
        g = Ridge(1e-4) + OffDiagonalL1(1e-3) + Linear(0.5 * tilt)
        loss = losses.TripletHinge(X, datasets.make_triplets(y, 1000))
        problem = epro.Problem(loss, g, constraints.PSD(FLOOR))
        walk = walker(problem, 5.0, 1e-4)
        count = max(10, min(200, 10_000_000 // d**2))
        step, project = np.inf, np.inf
        for _ in range(repeat):
            step = min(step, timed(lambda walk=walk, count=count: walk(count)) / count)
            x = walk.x  # type: ignore[attr-defined]
            project = min(project, timed(lambda x=x, of=problem: of.constraint.project(x)))
        rows.append((d, step, project))
        print(f"d = {d:5d}: step {step * 1e3:9.3f} ms, projection {project * 1e3:9.2f} ms, ratio {project / step:6.1f}")
    plot(np.array(rows), path)


def plot(rows: np.ndarray, path: Path) -> None:
    """Both against d, on logarithmic axes."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    axes.loglog(rows[:, 0], rows[:, 2], "s-", label="one projection")
    axes.loglog(rows[:, 0], rows[:, 1], "o-", label="one iteration of Epro-SGD")
    axes.set(xlabel="d, columns", ylabel="seconds", title="Metric learning in d x d matrices")
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    print(f"Plot: {path}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scaling", type=Path, metavar="PNG")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 200, 400, 800, 1433, 2000, 3000])
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    with threadpool_limits(1):
        if options.scaling:
            scaling(options.scaling, tuple(options.sizes), options.repeat)
        else:
            cora(options.repeat)
