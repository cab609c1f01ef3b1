"""epro-vr: what it needs for a certified gap, beside accelerated projected gradient and projected mini-batch SGD.

    python benchmarks/bench_vr.py polyhedron        # logistic, n = 1e5, d = 100, monotone + sum + box as one polyhedron
    python benchmarks/bench_vr.py centring          # the same, with and without the multipliers
    python benchmarks/bench_vr.py psd               # metric learning, 20,000 triplets, d = 500, badly conditioned
    python benchmarks/bench_vr.py psd --d 200

Run with OMP_NUM_THREADS=1. Best of ``--repeat`` runs; compilation happens in a first, short run.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import epro
from epro import constraints, losses, regularizers
from epro.losses.smoothed import smoothed
from epro.solvers import APG, SGD, EproVR


def polyhedron_problem(n: int = 100_000, d: int = 100) -> epro.Problem:
    """Coefficients in order, with a sum of at most 1 and between -0.3 and 0.3: 299 + 1 inequalities."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = np.where(X @ (0.2 * np.sort(rng.standard_normal(d))) + rng.logistic(size=n) > 0, 1.0, -1.0)
    A = np.vstack([-np.diff(np.eye(d), axis=0), np.ones((1, d)), np.eye(d), -np.eye(d)])
    b = np.concatenate([np.zeros(d - 1), [1.0], np.full(2 * d, 0.3)])
    return epro.Problem(losses.Logistic(X, y), regularizers.Ridge(1e-3), constraints.Polyhedron(A, b))


def psd_problem(d: int = 500, ridge: float = 1e-4, triplets: int = 20_000, points: int = 2000) -> epro.Problem:
    """Ten classes in rotated features whose scales spread over two decades."""
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 10, points)
    X = rng.standard_normal((10, d))[classes] + rng.standard_normal((points, d))
    X = X * np.logspace(0, -2, d) @ np.linalg.qr(rng.standard_normal((d, d)))[0]
    X /= np.sqrt((X**2).sum(axis=1).mean())
    anchors = rng.integers(points, size=triplets)
    same = [rng.choice(np.flatnonzero(classes == classes[a])) for a in anchors]
    other = [rng.choice(np.flatnonzero(classes != classes[a])) for a in anchors]
    loss = losses.TripletHinge(X, np.column_stack([anchors, same, other]))
    return epro.Problem(loss, regularizers.Ridge(ridge), constraints.PSD())


def report(name: str, problem: epro.Problem, method: Any, repeat: int, **options: Any) -> None:
    """One line: the best of several runs."""
    epro.minimize(problem, method, tol=1e-1, max_seconds=1.0)
    best = min((epro.minimize(problem, method, **options) for _ in range(repeat)), key=lambda r: r.seconds)
    projections = best.n_projections + best.n_certificate_projections
    passes = best.n_steps / problem.n
    print(
        f"{name:<36} {best.status.name:<10} gap {best.gap:.1e}  {best.seconds:7.2f} s  {best.n_epochs:4d} epochs"
        f"  {projections:5d} projections  {passes:7.1f} passes", flush=True,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("which", choices=("polyhedron", "centring", "psd"))
    parser.add_argument("--d", type=int, default=500)
    parser.add_argument("--ridge", type=float, default=1e-4)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--max-seconds", type=float, default=120.0)
    a = parser.parse_args()
    limit: dict[str, Any] = {"max_seconds": a.max_seconds, "max_steps": 10**12}
    if a.which == "polyhedron":
        problem = polyhedron_problem()
        report("epro-vr", problem, EproVR(), a.repeat, tol=1e-6, **limit)
        report("apg", problem, APG(), a.repeat, tol=1e-6, **limit)
    elif a.which == "centring":
        problem = polyhedron_problem()
        for share in (0.0, 0.5, 0.9, 1.0):
            report(f"epro-vr, centring {share:g}", problem, EproVR(centring=share), a.repeat, tol=1e-9, **limit)
    else:
        problem = psd_problem(a.d, a.ridge)
        report("epro-vr", problem, EproVR(), a.repeat, tol=1e-4, **limit)
        # apg needs a smooth loss: the largest smoothing that leaves half of the tolerance
        report("apg on the smoothed loss, mu = 1e-4", smoothed(problem, 1e-4), APG(), 1, tol=0.5e-4, **limit)
        report("sgd, batch 200, projected", problem, SGD(batch=200), 1, tol=1e-4, **limit)


if __name__ == "__main__":
    main()
