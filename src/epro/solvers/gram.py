"""The Gram shortcut: least squares with few columns is one pass over the data and a small quadratic program.

f(x) = (1/2n) sum_i w_i (<A_i, x> - y_i)^2 = x'Gx/2 - b'x + c with G = A'WA/n, b = A'Wy/n, c = y'Wy/(2n). Once G, b
and c are known, values, gradients and certificates cost d^2 and no pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from epro import duality, quadratic
from epro.certificate import Certifier
from epro.constraints.linear import LinearMultipliers
from epro.losses import Squared
from epro.models import minimize_model
from epro.oracles import Oracles
from epro.passes import Tangent
from epro.problem import Problem
from epro.protocols import Array
from epro.solvers.base import Solver
from epro.solvers.epro_newton import LARGEST
from epro.state import State

Equations = tuple[Array, Array, float]  # G, b and c
DIGITS = 16 * np.finfo(np.float64).eps  # of f's largest term, lost at most in its sum


@dataclass(frozen=True)
class Gram(Solver):
    """Least squares with few columns: X'X in one pass, in double precision and in blocks, then a quadratic program."""

    name: ClassVar[str] = "gram"
    passes: ClassVar[int] = 400
    certifies: ClassVar[bool] = True

    def check(self, problem: Problem) -> None:
        if type(problem.loss) is not Squared:
            raise ValueError(f"gram is for the squared loss, not for {type(problem.loss).__name__}; use epro-newton")
        if len(problem.shape) != 1 or problem.shape[0] > LARGEST:
            raise ValueError(f"gram forms a d x d matrix, d up to {LARGEST}, but x has shape {problem.shape}; use apg")

    def states(self, oracles: Oracles, state: State, T: int) -> Iterator[State]:
        problem = oracles.problem
        equations = normal_equations(problem)
        x, warm, certifier = state.x.astype(np.float64), None, Certifier(problem, oracles.project)
        for _ in range(50):  # one is exact for linear inequalities; other sets refine
            G, b, c = equations
            z, warm = minimize_model(oracles, G, G @ x - b, x, warm)
            if problem.loss.intercept:
                z[-1] -= (G[-1] @ z - b[-1]) / G[-1, -1]
            answer = problem.point(z)  # rounded where the data are in single precision; the bound is that of z
            bound, normal = _certified(problem, certifier, equations, z, warm)
            fun = _value(problem, equations, answer.astype(np.float64))
            moved, x = float(np.linalg.norm(z - x)), z
            exact = DIGITS * c <= 1e-3 * oracles.target * max(1.0, abs(fun))
            state = state.after(
                answer, problem.n if state.epoch == 0 else 0, lower_bound=bound, fun=fun, exact=exact,
                violation=problem.violation(answer), normal=normal,
            )  # fmt: skip
            yield state
            if moved <= 1e-14 * max(1.0, float(np.linalg.norm(z))):
                return


def _certified(
    problem: Problem, certifier: Certifier, equations: Equations, z: Array, warm: LinearMultipliers | None
) -> tuple[float, Array | None]:
    """A lower bound, less what cancellation between the terms of f may cost, and the normal vector behind it."""
    G, b, c = equations
    value, gradient = float(0.5 * z @ G @ z - b @ z) + c, G @ z - b
    if warm is None:
        tangent = Tangent(z, value, value, gradient, float(np.abs(G).max()) ** 0.5)
        certificate = certifier.from_tangent(tangent)
        bound, normal = certificate.lower_bound, certificate.normal
    else:
        normal, support = duality.normal_vector(problem, warm)
        bound = _bound(problem, G, z, value, gradient, normal, support)
    return bound - DIGITS * c, normal


def _value(problem: Problem, equations: Equations, z: Array) -> float:
    G, b, c = equations
    return float(0.5 * z @ G @ z - b @ z) + c + problem.regularizer.value(z)


def _bound(problem: Problem, G: Array, z: Array, value: float, gradient: Array, normal: Array, support: float) -> float:
    """The better of two: by the ridge alone, and by the whole quadratic, which needs no ridge."""
    ridge = duality.ridges(problem)
    tilt = 0.0 if problem.regularizer.tilt is None else problem.regularizer.tilt
    fun = value + float(0.5 * z @ (ridge * z) + np.sum(tilt * z))
    l1 = np.full(z.size, problem.regularizer.l1)
    l1[-1] *= not problem.loss.intercept
    whole = duality.quadratic_bound(G + np.diag(ridge), z, fun, gradient + ridge * z + tilt, normal, support, l1)
    objective = fun + float(l1 @ np.abs(z))
    slopes = np.sqrt(2.0 * max(value, 0.0) * float(np.max(problem.loss.weights)) / problem.n)  # at most
    alone = duality.lagrangian_bound(problem, z, value, gradient, normal, support, objective, float(slopes))
    return max(whole, alone)


def normal_equations(problem: Problem) -> Equations:
    """G, b and c, in one pass over blocks of rows, accumulated in double precision."""
    loss, d = problem.loss, problem.shape[0]
    square, b, c = np.zeros((d, d)), np.zeros(d), 0.0
    step, matrix = max(1, quadratic.BLOCK_BYTES // (8 * d)), loss.atoms.matrix()
    for start in range(0, loss.n, step):
        rows, y = matrix[start : start + step], loss.y[start : start + step].astype(np.float64)
        weights = loss.weights[start : start + step].astype(np.float64)
        square += quadratic.gram(rows, weights)
        b += rows.T @ (weights * y)
        c += float(weights @ (y * y))
    if not np.isfinite(square).all():
        raise ValueError("X has a NaN or infinite entry, or one too large to square")
    return square / loss.n, b / loss.n, c / (2 * loss.n)
