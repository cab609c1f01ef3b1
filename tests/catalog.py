"""One line per part subscribes it to every law of its kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import epro
from epro import atoms, losses, solvers
from epro.regularizers import L1, Linear, OffDiagonalL1, Regularizer, Ridge


class Expectile(losses.Loss):
    """A user's own loss in plain Python."""

    def loss(self, p: float, y: float) -> float:
        return (0.9 if p < y else 0.1) * (p - y) ** 2

    def slope(self, p: float, y: float) -> float:
        return 2 * (0.9 if p < y else 0.1) * (p - y)


class Pull(Regularizer):
    """A user's own regularizer in plain Python: (1/2) ||x - 1||^2."""

    strong_convexity = 1.0
    smooth = True

    def value(self, x: np.ndarray) -> float:
        return 0.5 * float(((x - 1) ** 2).sum())

    def subgradient(self, x: np.ndarray) -> np.ndarray:
        return x - 1

    def prox(self, x: np.ndarray, step: float) -> np.ndarray:
        return (x + step) / (1 + step)


def signs(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.where(rng.random(n) < 0.5, -1.0, 1.0)


def numbers(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.standard_normal(n)


class LossLine(NamedTuple):
    """How to build a loss on given rows, which targets it takes, and where its slope jumps (in p, given y)."""

    build: Callable[..., losses.Loss]
    targets: Callable[[np.random.Generator, int], np.ndarray]
    kinks: Callable[[float], list[float]] = lambda y: []


LOSSES: dict[str, LossLine] = {
    "squared": LossLine(losses.Squared, numbers),
    "logistic": LossLine(losses.Logistic, signs),
    "hinge": LossLine(losses.Hinge, signs, lambda y: [y]),
    "squared-hinge": LossLine(losses.SquaredHinge, signs, lambda y: [y]),
    "huber": LossLine(lambda X, y, **k: losses.Huber(X, y, 0.7, **k), numbers, lambda y: [y - 0.7, y + 0.7]),
    "absolute": LossLine(losses.Absolute, numbers, lambda y: [y]),
    "quantile": LossLine(lambda X, y, **k: losses.Quantile(X, y, 0.8, **k), numbers, lambda y: [y]),
    "expectile (own)": LossLine(Expectile, numbers, lambda y: [y]),
}
"""Losses of one prediction per row. `TripletHinge` has the link of `Hinge`, and atoms of its own."""


def tilt(shape: tuple[int, ...]) -> Linear:
    return Linear(np.linspace(-1.0, 1.0, int(np.prod(shape))).reshape(shape))


REGULARIZERS: dict[str, Callable[[tuple[int, ...]], Regularizer]] = {
    "ridge": lambda shape: Ridge(0.7),
    "l1": lambda shape: L1(0.4),
    "off-diagonal l1": lambda shape: OffDiagonalL1(0.4),
    "linear": tilt,
    "ridge + l1": lambda shape: Ridge(0.7) + L1(0.4),
    "ridge + off-diagonal l1 + linear": lambda shape: Ridge(0.7) + OffDiagonalL1(0.4) + tilt(shape),
    "everything": lambda shape: Ridge(0.7) + L1(0.2) + OffDiagonalL1(0.4) + tilt(shape),
    "pull (own)": lambda shape: Pull(),
}


def sparse(X: np.ndarray, index: type = np.int32) -> sp.csr_array:
    found = sp.csr_array(X)
    found.indptr, found.indices = found.indptr.astype(index), found.indices.astype(index)
    return found


def some_triplets(n: int, count: int = 12) -> np.ndarray:
    rng = np.random.default_rng(1)
    return np.array([rng.choice(n, 3, replace=False) for _ in range(count)])


def difference_matrices(X: np.ndarray) -> np.ndarray:
    """A_i = d1 d1' - d2 d2' by its definition."""
    a, s, o = some_triplets(len(X)).T
    near, far = X[a] - X[s], X[a] - X[o]
    return np.einsum("ni,nj->nij", near, near) - np.einsum("ni,nj->nij", far, far)


class AtomsLine(NamedTuple):
    """How to build atoms from a dense matrix, and the naive array of all A_i."""

    build: Callable[[np.ndarray], Any]
    naive: Callable[[np.ndarray], np.ndarray] = lambda X: X


ATOMS: dict[str, AtomsLine] = {
    "dense": AtomsLine(atoms.rows),
    "dense, Fortran order": AtomsLine(lambda X: atoms.rows(np.asfortranarray(X))),
    "dense, strided": AtomsLine(lambda X: atoms.rows(np.repeat(X, 2, axis=1)[:, ::2])),
    "csr": AtomsLine(lambda X: atoms.rows(sparse(X))),
    "csr, int64": AtomsLine(lambda X: atoms.rows(sparse(X, np.int64))),
    "coo": AtomsLine(lambda X: atoms.rows(sp.coo_array(X))),
    "csc matrix": AtomsLine(lambda X: atoms.rows(sp.csc_matrix(X))),
    "triplets": AtomsLine(lambda X: atoms.triplets(X, some_triplets(len(X))), difference_matrices),
    "sparse triplets": AtomsLine(lambda X: atoms.triplets(sparse(X), some_triplets(len(X))), difference_matrices),
}


class SolverLine(NamedTuple):
    """A solver with options for small problems, and how near to the optimum 60,000 stochastic gradients bring it."""

    solver: solvers.Solver
    reaches: float  # suboptimality over max(1, |f*|)
    smooth: bool = False  # needs a smooth loss
    vertices: bool = False  # needs a linear minimisation over the constraint, and a smooth regularizer


SOLVERS: dict[str, SolverLine] = {
    "epro-sgd": SolverLine(solvers.EproSGD(lam=2.0), 2e-2),
    "epro-sgd, proximal": SolverLine(solvers.EproSGD(lam=2.0, proximal=True), 2e-2),
    "epro-sgd, robust": SolverLine(solvers.EproSGD(robust=True), 1e-2),
    "epro-orda": SolverLine(solvers.EproORDA(lam=2.0), 2e-2),
    "sgd": SolverLine(solvers.SGD(), 2e-2),
    "epoch-sgd": SolverLine(solvers.EpochSGD(), 2e-2),
    "oneproj": SolverLine(solvers.OneProj(lam=2.0), 2e-2),
    "oneproj-general": SolverLine(solvers.OneProjGeneral(), 5e-2),
    "logt-sgd": SolverLine(solvers.LogTSGD(), 2e-2, smooth=True),
    "frank-wolfe": SolverLine(solvers.FrankWolfe(), 1e-3, smooth=True, vertices=True),
    "apg": SolverLine(solvers.APG(), 1e-6, smooth=True),
}


def small_problem(
    loss: str = "squared", constraint: Any = None, *, n: int = 60, d: int = 5, seed: int = 0, g: Any = None
):
    """A small problem with a known shape: rows from a normal distribution, a ridge of 0.1."""
    rng = np.random.default_rng(seed)
    line = LOSSES[loss]
    X = rng.standard_normal((n, d))
    y = line.targets(rng, n)
    return epro.Problem(line.build(X, y), Ridge(0.1) if g is None else g, constraint)
