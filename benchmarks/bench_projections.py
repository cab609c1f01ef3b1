"""One projection on {x : A x <= b}: pivoting, as the library does it, against QP solvers; cold, and after a small move.

    python benchmarks/bench_projections.py [--repeat 3] [--slow]

Each solver is asked for 1e-9. Setting up is part of the cold time. ``left`` is the violation, ``far`` the distance to
the library's answer, whose own bound on its error is printed. OSQP and ProxQP are optional; Clarabel starts anew.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from epro.constraints import Monotone, Polyhedron

Solver = Callable[[np.ndarray], np.ndarray]


def instances() -> dict[str, tuple[Any, np.ndarray, np.ndarray]]:
    """name -> (A, b, z)"""
    found = {}
    for d, m, far in ((1000, 1000, 1.0), (100, 300, 1.0), (100, 300, 5.0), (256, 100, 1.0), (50, 1000, 5.0)):
        rng = np.random.default_rng(0)
        A, x0 = rng.normal(size=(m, d)) / np.sqrt(d), rng.normal(size=d)
        found[f"dense {m} x {d}, far {far:g}"] = (
            A,
            A @ x0 + 0.3 * np.abs(rng.normal(size=m)),
            x0 + far * rng.normal(size=d),
        )
    d, rng = 3000, np.random.default_rng(0)
    chain, z = Monotone().linear_inequalities(d), np.linspace(0, 3, d) + rng.normal(size=d)
    found[f"chain {d}"] = (chain.A_ub, chain.b_ub, z)
    rows = sparse.vstack([chain.A_ub, sparse.eye_array(d), -sparse.eye_array(d), np.ones((1, d)) / d])
    found[f"chain {d}, bounds, sum"] = (sparse.csr_array(rows), np.r_[chain.b_ub, np.full(d, 2.5), np.zeros(d), 1.2], z)
    return found


def epro(A: Any, b: np.ndarray) -> Solver:
    return Polyhedron(A, b).project


def piqp(A: Any, b: np.ndarray) -> Solver:
    import piqp

    d, none = A.shape[1], np.full(len(b), -np.inf)
    solver = piqp.SparseSolver() if sparse.issparse(A) else piqp.DenseSolver()
    solver.settings.eps_abs, solver.settings.eps_rel = 1e-9, 0.0
    P, G = (sparse.csc_matrix(sparse.eye_array(d)), sparse.csc_matrix(A)) if sparse.issparse(A) else (np.eye(d), A)
    solver.setup(P, np.zeros(d), None, None, G, none, b)

    def solve(z: np.ndarray) -> np.ndarray:
        solver.update(c=-z)
        solver.solve()
        return np.array(solver.result.x)

    return solve


def osqp(A: Any, b: np.ndarray) -> Solver:
    import osqp

    d, solver = A.shape[1], osqp.OSQP()
    options = {"eps_abs": 1e-9, "eps_rel": 0.0, "polishing": True, "max_iter": 200_000, "verbose": False}
    solver.setup(sparse.csc_matrix(sparse.eye_array(d)), np.zeros(d), sparse.csc_matrix(A), None, b, **options)

    def solve(z: np.ndarray) -> np.ndarray:
        solver.update(q=-z)
        return np.array(solver.solve().x)

    return solve


def proxqp(A: Any, b: np.ndarray) -> Solver:
    import proxsuite

    (m, d), none = A.shape, np.full(len(b), -1e20)
    if sparse.issparse(A):
        solver, P, G = proxsuite.proxqp.sparse.QP(d, 0, m), sparse.csc_matrix(sparse.eye_array(d)), sparse.csc_matrix(A)
    else:
        solver, P, G = proxsuite.proxqp.dense.QP(d, 0, m), np.eye(d), A
    solver.settings.eps_abs, solver.settings.eps_rel = 1e-9, 0.0
    warm = proxsuite.proxqp.InitialGuess.WARM_START_WITH_PREVIOUS_RESULT
    solver.init(P, np.zeros(d), None, None, G, none, b)

    def solve(z: np.ndarray) -> np.ndarray:
        solver.update(g=-z)
        solver.solve()
        solver.settings.initial_guess = warm
        return np.array(solver.results.x)

    return solve


def clarabel(A: Any, b: np.ndarray) -> Solver:
    import clarabel

    P, G = sparse.csc_matrix(sparse.eye_array(A.shape[1])), sparse.csc_matrix(A)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-9
    cones = [clarabel.NonnegativeConeT(len(b))]
    return lambda z: np.array(clarabel.DefaultSolver(P, -z, G, b, cones, settings).solve().x)


SOLVERS = {"epro": epro, "piqp": piqp, "proxqp": proxqp, "osqp": osqp, "clarabel": clarabel}
MODULES = {"proxqp": "proxsuite", "epro": "epro"}


def measure(make: Callable[[Any, np.ndarray], Solver], A: Any, b: np.ndarray, z: np.ndarray, repeat: int) -> Any:
    """(cold, warm) seconds, best of ``repeat``, and the cold answer."""
    best, x = [np.inf, np.inf], z
    for _ in range(repeat):
        rng, start = np.random.default_rng(1), time.perf_counter()
        solve = make(A, b)
        x = solve(z)
        best[0] = min(best[0], time.perf_counter() - start)
        moved = z + 0.02 * rng.normal(size=len(z))
        start = time.perf_counter()
        solve(moved)
        best[1] = min(best[1], time.perf_counter() - start)
    return *best, x


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--slow", action="store_true", help="also Clarabel and OSQP where they take seconds")
    options = parser.parse_args()
    present = {k: v for k, v in SOLVERS.items() if importlib.util.find_spec(MODULES.get(k, k))}
    print(f"{'instance':28s} {'solver':9s} {'cold ms':>9s} {'warm ms':>9s} {'left':>9s} {'far':>9s}")
    for name, (A, b, z) in instances().items():
        ours = Polyhedron(A, b)
        nearest, lam = ours.project_with_multipliers(z)
        for solver, make in present.items():
            if A.shape == (1000, 1000) and solver in ("clarabel", "osqp") and not options.slow:
                continue
            cold, warm, x = measure(make, A, b, z, options.repeat)
            left, far = np.max(A @ x - b), np.linalg.norm(x - nearest)
            print(f"{name:28s} {solver:9s} {1e3 * cold:9.2f} {1e3 * warm:9.2f} {left:9.1e} {far:9.1e}", flush=True)
        print(f"{'':28s} active {int((lam > 0).sum())}, error at most {ours.projection_error(z, nearest, lam):.1e}")


if __name__ == "__main__":
    main()
