r"""Accelerated projected steps on semidefinite matrices, in coordinates in which the data are white.

X >= floor I is S >= 0 in X = floor I + W S W, for any symmetric positive definite W: a congruence maps the cone onto
itself, so the projection in the new coordinates is again one of eigenvalues, and the steps are those of a projection in
the metric of W^-1 (x) W^-1. Rows d1 d1' - d2 d2' become (W d1)(W d1)' - (W d2)(W d2)'. With C the second moment of the
differences, eigenvalues c_i, and a loss of curvature about 1 (margins are 1), the objective's curvature along a pair of
eigenvectors (i, j) is about c_i c_j + a, and W^2 = (C + sqrt(a) I)^-1 divides it by (c_i + sqrt(a)) (c_j + sqrt(a)).

Nothing needs W at every step: the points are mapped once, X' = X W, and with K = W^2, T the tilt and a the ridge

    <A_i, floor I + W S W> = floor <A_i, I> + <A'_i, S>,
    W grad g W = a K S K + C,    g = const + (a/2) <S, K S K> + <C, S>,    C = a floor K + W T W.

Predictions and K S K are linear in S, so those at the extrapolated point come from those of the last two points: a step
costs one eigendecomposition, one pass for the gradient, and at S = F F', found with it, products with the columns of F.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from epro import composite
from epro.atoms.triplets import DenseTriplets, pair_predictions
from epro.constraints import PSD
from epro.constraints.psd import factor
from epro.momentum import following
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


class WhiteSteps:
    """FISTA with backtracking and restarts in the coordinates S, from a feasible x or from where it was.

    Projections are added to ``counts[1]``.
    """

    def __init__(
        self, problem: Problem, x: Array, W: Array, inverse: Array, counts: Array, memory: dict[str, Any]
    ) -> None:
        g, d, dtype = problem.regularizer, len(x), x.dtype
        self.loss, self.ridge, self.floor = problem.loss, g.ridge, problem.constraint.floor
        self.W, eye = W.astype(dtype), np.eye(d, dtype=dtype)
        self.K = self.W @ self.W
        self.C = self.ridge * self.floor * self.K + (0.0 if g.tilt is None else self.W @ g.tilt @ self.W)
        self.atoms = mapped(problem.loss.atoms, self.W)
        self.offset = self.floor * problem.loss.atoms.predictions(eye) if self.floor else 0.0
        inverse = inverse.astype(dtype)
        self.counts, self.momentum, self.L = counts, float(memory.get("momentum", 1.0)), float(memory.get("L", 0.0))
        if memory:
            self.y, self.last = White(*memory["y"]), White(*memory["last"])
        else:
            self.y = self.last = self._nearest(inverse @ (x - dtype.type(self.floor) * eye) @ inverse)

    def memory(self) -> dict[str, Any]:
        """What a resumed run needs."""
        return {"y": list(self.y), "last": list(self.last), "momentum": self.momentum, "L": self.L}

    def _nearest(self, S: Array) -> White:
        """The projection of S, with its predictions and K S K by way of its factor."""
        self.counts[1] += 1
        F = factor(S)
        Z, KF = self.atoms.X @ F, self.K @ F
        return White(F @ F.T, self.offset + pair_predictions(Z, Z, self.atoms.triplets), KF @ KF.T)

    def _value(self, at: White) -> float:
        """The objective, up to a constant."""
        linear = float(np.vdot(self.C, at.S))
        return self.loss.mean_loss(at.p) + 0.5 * self.ridge * float(np.vdot(at.S, at.KSK)) + linear

    def _gradient(self, at: White) -> Array:
        return self.atoms.adjoint(self.loss.slopes(at.p)) + self.ridge * at.KSK + self.C

    def step(self) -> None:
        """One step, with an L (found by doubling) whose quadratic model lies above the objective at the new point."""
        y, last = self.y, self.last
        gradient, value = self._gradient(y), self._value(y)
        self.L = self.L or self._first(y, gradient)
        rounding = (1e-7 if y.S.dtype == np.float32 else 1e-12) * max(1.0, abs(value))
        while True:
            new = self._nearest(y.S - gradient / y.S.dtype.type(self.L))
            move = new.S - y.S
            model = value + float(np.vdot(gradient, move)) + 0.5 * self.L * float(np.vdot(move, move))
            if self._value(new) <= model + rounding:
                break
            self.L *= 2.0
        after, weight = following(self.momentum)
        if np.vdot(y.S - new.S, new.S - last.S) > 0.0:
            after, weight = 1.0, 0.0
        beta = new.S.dtype.type(weight)
        self.y = White(*(now + beta * (now - before) for now, before in zip(new, last, strict=True)))
        self.last, self.momentum, self.L = new, after, 0.95 * self.L

    def point(self) -> Array:
        """The last point in the coordinates of X, feasible."""
        x = self.W @ self.last.S @ self.W
        x[np.diag_indices(len(x))] += self.floor
        return 0.5 * (x + x.T)

    def _first(self, at: White, gradient: Array) -> float:
        """A lower estimate of L: the curvature along the gradient."""
        size = max(float(np.linalg.norm(gradient)), 1e-300)
        h = 1e-2 * max(1.0, float(np.linalg.norm(at.S)))
        t = at.S.dtype.type(h / size)
        p = at.p - t * self.atoms.predictions(gradient)
        there = White(at.S - t * gradient, p, at.KSK - t * (self.K @ gradient @ self.K))
        return max(float(np.linalg.norm(self._gradient(there) - gradient)) / h, 1e-12)


class White(NamedTuple):
    """A point, its predictions and K S K."""

    S: Array
    p: Array
    KSK: Array


def mapped(atoms: Any, W: Array) -> DenseTriplets:
    """The triplets of the points times W."""
    points = atoms.X if isinstance(atoms, DenseTriplets) else atoms.matrix()
    return DenseTriplets(np.ascontiguousarray(points @ W), atoms.triplets)
