"""Random small problems over all losses, regularizers and several constraints, with a reference optimum by CVXPY."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import epro
from epro import constraints, losses, regularizers

LOSSES = ("Squared", "Logistic", "Hinge", "SquaredHinge", "Huber", "Absolute", "Quantile")
SETS = ("none", "l1", "l2", "box", "monotone", "simplex", "polyhedron", "intersection", "nonnegative")
TERMS = ("ridge", "weak ridge", "ridge + l1", "ridge + tilt", "l1", "nothing")


def random_problem(seed: int) -> tuple[epro.Problem, str]:
    """A problem and its description; the seed walks over all combinations."""
    rng = np.random.default_rng(seed)
    name, kind, term = LOSSES[seed % 7], SETS[(seed // 7) % 9], TERMS[rng.integers(6)]
    n, d = int(rng.integers(5, 40)), int(rng.integers(2, 8))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-1, 1, d)
    y = X @ rng.standard_normal(d) + rng.standard_normal(n)
    if name in ("Logistic", "Hinge", "SquaredHinge"):
        y = np.where(y > 0, 1.0, -1.0)
    weight = rng.uniform(0, 2, n) if rng.random() < 0.3 else None
    loss = getattr(losses, name)(X, y, sample_weight=weight)
    return epro.Problem(loss, _regularizer(term, rng, d), _set(kind, rng, d)), f"{name}, {term}, {kind}, seed {seed}"


def _regularizer(term: str, rng: np.random.Generator, d: int) -> Any:
    ridge = regularizers.Ridge(10.0 ** rng.uniform(-2, 0))
    return {
        "ridge": ridge,
        "weak ridge": regularizers.Ridge(10.0 ** rng.uniform(-6, -4)),
        "ridge + l1": ridge + regularizers.L1(10.0 ** rng.uniform(-2, 0)),
        "ridge + tilt": ridge + regularizers.Linear(rng.standard_normal(d)),
        "l1": regularizers.L1(10.0 ** rng.uniform(-2, 0)),
        "nothing": None,
    }[term]


def _set(kind: str, rng: np.random.Generator, d: int) -> Any:
    radius = 10.0 ** rng.uniform(-1, 0.5)
    A = rng.standard_normal((2 * d, d))
    return {
        "none": None,
        "l1": constraints.L1Ball(radius),
        "l2": constraints.L2Ball(radius),
        "box": constraints.Box(-radius * rng.random(d), radius * rng.random(d)),
        "monotone": constraints.Monotone(),
        "simplex": constraints.Simplex(radius),
        "polyhedron": constraints.Polyhedron(A, radius * rng.random(2 * d)),
        "intersection": constraints.Intersection([constraints.Monotone(), constraints.L2Ball(radius)]),
        "nonnegative": constraints.NonNegative(),
    }[kind]


def reference(problem: epro.Problem) -> float:
    """The optimal value, by CVXPY and Clarabel."""
    import cvxpy as cp

    loss, g, d = problem.loss, problem.regularizer, problem.shape[0]
    x = cp.Variable(d)
    p, y, w = loss.atoms.X @ x, loss.y, loss.weights / loss.n
    terms = {
        "Squared": lambda: 0.5 * cp.sum_squares(cp.multiply(np.sqrt(w), p - y)),
        "Logistic": lambda: w @ cp.logistic(-cp.multiply(y, p)),
        "Hinge": lambda: w @ cp.pos(1 - cp.multiply(y, p)),
        "SquaredHinge": lambda: w @ cp.square(cp.pos(1 - cp.multiply(y, p))),
        "Huber": lambda: 0.5 * w @ cp.huber(p - y, 1.0),
        "Absolute": lambda: w @ cp.abs(p - y),
        "Quantile": lambda: w @ cp.maximum(0.5 * (y - p), 0.5 * (p - y)),
    }
    objective = terms[type(loss).__name__]() + 0.5 * g.ridge * cp.sum_squares(x) + g.l1 * cp.norm1(x)
    if g.tilt is not None:
        objective = objective + g.tilt @ x
    program = cp.Problem(cp.Minimize(objective), _inside(problem.constraint, x))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "inaccurate": beyond 1e-8, which is accurate enough
        program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    assert program.status in ("optimal", "optimal_inaccurate"), program.status
    return float(program.value)


def _inside(c: Any, x: Any) -> list[Any]:
    import cvxpy as cp

    one = {
        "Everywhere": lambda: [],
        "L1Ball": lambda: [cp.norm1(x) <= c.radius],
        "L2Ball": lambda: [cp.norm(x) <= c.radius],
        "Box": lambda: [x >= c.lower, x <= c.upper],
        "Monotone": lambda: [cp.diff(x) >= 0],
        "Simplex": lambda: [x >= 0, cp.sum(x) == c.total],
        "NonNegative": lambda: [x >= 0],
        "Polyhedron": lambda: [c.A @ x <= c.b],
    }
    if type(c).__name__ == "Intersection":
        return [piece for member in c.members for piece in _inside(member, x)]
    return one[type(c).__name__]()
