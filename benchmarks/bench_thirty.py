"""Thirty random problems over all losses and constraints, badly scaled columns included, by `minimize` as it comes.

    python benchmarks/bench_thirty.py [--tol 1e-4] [--seed 0]

Prints what was chosen, the certified gap relative to max(1, |F|), and seconds; then how many were certified.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import epro
from epro import constraints, losses, regularizers

VECTORS = ("Squared", "Logistic", "Hinge", "SquaredHinge", "Huber", "Absolute", "Quantile")
TERMS = ("ridge", "weak ridge", "ridge and l1", "l1", "tilt", "nothing")
SETS = (
    "nothing", "l1 ball", "l2 ball", "box", "nonnegative", "simplex", "half-space", "affine", "polyhedron", "monotone",
    "ellipsoid", "group ball", "second-order cone", "linear intersection", "curved intersection",
)  # fmt: skip


def vector_problem(index: int, seed: int) -> tuple[str, epro.Problem]:
    """Loss, regularizer and set walk at different paces; every second problem has columns over six decades."""
    rng = np.random.default_rng([seed, index])
    loss, kind, term = VECTORS[index % 7], SETS[index % len(SETS)], TERMS[(index // 2) % 6]
    n, d = int(rng.integers(50, 400)), int(rng.integers(4, 20))
    units = 10.0 ** rng.uniform(-3, 3, d) if index % 2 else np.ones(d)
    X = rng.standard_normal((n, d)) * units
    score = X @ (rng.standard_normal(d) / units) + rng.standard_normal(n)
    y = np.where(score > 0, 1.0, -1.0) if loss in ("Logistic", "Hinge", "SquaredHinge") else score
    weight = rng.uniform(0, 2, n) if index % 3 == 0 else None
    problem = epro.Problem(
        getattr(losses, loss)(X, y, sample_weight=weight), regularizer(term, d, rng), feasible(kind, d, rng)
    )
    scaled = ", bad units" if index % 2 else ""
    return f"{loss}, {term}, {kind}{scaled}", problem


def regularizer(term: str, d: int, rng: np.random.Generator) -> Any:
    ridge = regularizers.Ridge(1e-2)
    return {
        "ridge": ridge, "weak ridge": regularizers.Ridge(1e-6), "ridge and l1": ridge + regularizers.L1(1e-2),
        "l1": regularizers.L1(1e-2), "tilt": ridge + regularizers.Linear(0.1 * rng.standard_normal(d)), "nothing": None,
    }[term]  # fmt: skip


def feasible(kind: str, d: int, rng: np.random.Generator) -> Any:
    A, b = rng.standard_normal((3 * d, d)), rng.random(3 * d)
    groups = [list(range(0, d // 2)), list(range(d // 2, d))]
    c = constraints
    return {
        "nothing": lambda: None,
        "l1 ball": lambda: c.L1Ball(1.0),
        "l2 ball": lambda: c.L2Ball(1.0),
        "box": lambda: c.Box(-rng.random(d), rng.random(d)),
        "nonnegative": lambda: c.NonNegative(),
        "simplex": lambda: c.Simplex(1.0),
        "half-space": lambda: c.HalfSpace(rng.standard_normal(d), 0.1),
        "affine": lambda: c.Affine(rng.standard_normal((2, d)), [0.5, -0.5]),
        "polyhedron": lambda: c.Polyhedron(A, b),
        "monotone": lambda: c.Monotone(),
        "ellipsoid": lambda: c.Ellipsoid(A.T @ A / d, np.zeros(d), 1.0),
        "group ball": lambda: c.GroupL1Ball(groups, 1.0),
        "second-order cone": lambda: c.SecondOrderCone(),
        "linear intersection": lambda: c.Intersection([c.Monotone(), c.Box(-1.0, 1.0), c.HalfSpace(np.ones(d), 0.5)]),
        "curved intersection": lambda: c.Intersection([c.Monotone(), c.L2Ball(1.0)]),
    }[kind]()


def matrix_problem(index: int, seed: int) -> tuple[str, epro.Problem]:
    """Metric learning on cones and balls of matrices."""
    rng = np.random.default_rng([seed, 100 + index])
    n, d = 60, 6
    units = 10.0 ** rng.uniform(-1, 1, d) if index % 2 else np.ones(d)
    X = rng.standard_normal((n, d)) * units
    loss = losses.TripletHinge(X, np.array([rng.choice(n, 3, replace=False) for _ in range(200)]))
    kinds: dict[str, Any] = {
        "PSD": constraints.PSD(1e-3), "spectraplex": constraints.Spectraplex(1.0),
        "nuclear-norm ball": constraints.NuclearNormBall(1.0),
    }  # fmt: skip
    name = list(kinds)[index % 3]
    return f"TripletHinge, ridge, {name}", epro.Problem(loss, regularizers.Ridge(1e-2), kinds[name])


def problems(seed: int = 0) -> list[tuple[str, epro.Problem]]:
    """27 problems with vectors and 3 with matrices."""
    return [vector_problem(i, seed) for i in range(27)] + [matrix_problem(i, seed) for i in range(3)]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tol", type=float, default=1e-4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, nargs="*", default=None)
    options = parser.parse_args()
    certified, count = 0, 0
    for i, (name, problem) in enumerate(problems(options.seed)):
        if options.only is not None and i not in options.only:
            continue
        started = time.perf_counter()
        result = epro.minimize(problem, tol=options.tol)
        seconds = time.perf_counter() - started
        certified, count = certified + result.success, count + 1
        relative = result.gap / max(1.0, abs(result.fun))
        print(
            f"{i:2} {result.status.name:10} {relative:9.1e} {seconds:7.2f} s  {result.choice.split(':')[0]:24} {name}",
            flush=True,
        )
    print(f"certified {options.tol:g} on {certified} of {count}, with default arguments")


if __name__ == "__main__":
    main()
