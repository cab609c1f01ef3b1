r"""Accelerated projected steps on semidefinite matrices, in coordinates in which the data are white.

X >= floor I is S >= 0 in X = floor I + W S W, for any symmetric positive definite W: a congruence maps the cone onto
itself, so the projection in the new coordinates is again one of eigenvalues, and the steps are those of a projection in
the metric of W^-1 (x) W^-1. Rows d1 d1' - d2 d2' become (W d1)(W d1)' - (W d2)(W d2)'. With C the second moment of the
differences, eigenvalues c_i, and a loss of curvature about 1 (margins are 1), the objective's curvature along a pair of
eigenvectors (i, j) is about c_i c_j + a, and W^2 = (C + sqrt(a) I)^-1 divides it by (c_i + sqrt(a)) (c_j + sqrt(a)).

Predictions are linear in X, so those at the extrapolated point come from those of the last two points: a step costs one
product with the data for the new predictions, one for the gradient, and one eigendecomposition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from epro import composite
from epro.constraints import PSD
from epro.problem import Problem
from epro.protocols import Array


def applies(problem: Problem) -> bool:
    """Whether the problem is over semidefinite matrices, with dense triplets and a smooth g."""
    g = problem.regularizer
    simple = composite.separable(g, problem.shape) and g.smooth
    return isinstance(problem.constraint, PSD) and simple and hasattr(problem.loss.atoms, "triplets")


def whitening(problem: Problem) -> tuple[Array, Array]:
    """W and its inverse."""
    atoms, ones = problem.loss.atoms, np.ones(problem.n, problem.dtype)
    a, s, o = atoms.triplets.T
    # (a, s, a) is the atom d1 d1' alone
    moment: Any = sum(atoms._replace(triplets=np.column_stack([a, b, a])).adjoint(ones) for b in (s, o))
    values, vectors = np.linalg.eigh(moment.astype(np.float64) / problem.n)
    values = np.maximum(values, 0.0) + max(np.sqrt(problem.regularizer.ridge), 1e-6 * float(values[-1]))
    return (vectors * values**-0.5) @ vectors.T, (vectors * values**0.5) @ vectors.T


def white_steps(
    problem: Problem, project: Callable[[Array], Array], x: Array, W: Array, inverse: Array
) -> Iterator[Array]:
    """Feasible points of FISTA with backtracking and restarts in the coordinates S; starts at x, a feasible point."""
    loss, g, floor = problem.loss, problem.regularizer, problem.constraint.floor
    eye, W, inverse = floor * np.eye(len(x)), W.astype(x.dtype), inverse.astype(x.dtype)
    base = PSDShift(project, floor)
    S = Y = inverse @ (x - eye) @ inverse
    p = q = loss.atoms.predictions(x)
    momentum, L = 1.0, 0.0
    while True:
        M = eye + W @ Y @ W
        gradient = W @ (loss.atoms.adjoint(loss.slopes(q)) + g.subgradient(M)) @ W
        value = loss.mean_loss(q) + g.value(M)
        L = L or _first(loss, g, M, W, gradient, value)
        while True:
            new = base(Y - gradient / x.dtype.type(L))
            point = eye + W @ new @ W
            predictions = loss.atoms.predictions(point)
            move = new - Y
            model = value + float(np.vdot(gradient, move)) + 0.5 * L * float(np.vdot(move, move))
            if loss.mean_loss(predictions) + g.value(point) <= model + 1e-12 * max(1.0, abs(value)):
                break
            L *= 2.0
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        weight = x.dtype.type((momentum - 1.0) / following)
        if np.vdot(Y - new, new - S) > 0.0:
            following, weight = 1.0, x.dtype.type(0.0)
        Y, q = new + weight * (new - S), predictions + weight * (predictions - p)
        S, p, momentum, L = new, predictions, following, 0.9 * L
        yield point


class PSDShift:
    """The projection on S >= 0, from that on X >= floor I."""

    def __init__(self, project: Callable[[Array], Array], floor: float) -> None:
        self.project, self.floor = project, floor

    def __call__(self, S: Array) -> Array:
        if self.floor == 0.0:
            return self.project(S)
        shift = self.floor * np.eye(len(S), dtype=S.dtype)
        return self.project(S + shift) - shift


def _first(loss: Any, g: Any, M: Array, W: Array, gradient: Array, value: float) -> float:
    """A lower estimate of L: the curvature along the gradient."""
    size = max(float(np.linalg.norm(gradient)), 1e-300)
    step = W @ (gradient / size) @ W
    h = 1e-2 * max(1.0, float(np.linalg.norm(M))) / max(float(np.linalg.norm(step)), 1e-300)
    slopes = loss.slopes(loss.atoms.predictions(M - h * step))
    change = W @ (loss.atoms.adjoint(slopes) + g.subgradient(M - h * step)) @ W
    return max(float(np.linalg.norm(change - gradient)) / h, 1e-12)
