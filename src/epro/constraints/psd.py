"""Symmetric matrices whose eigenvalues are at least a floor."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np

from epro.constraints.base import Constraint, Shape
from epro.kernels.psd_cut import budgeted_cut, exact_cut, work_size
from epro.protocols import Array
from epro.validation import finite

SMALL = 32  # up to this size the cut is a full eigendecomposition
PRODUCTS = 32  # by default at most so many matrix-vector products in a cut


class PSDRecord(NamedTuple):
    """c(X) = floor - lambda_min(X), v = -u u' for a unit eigenvector u of the smallest eigenvalue.

    ``work`` starts with u. With a budget of zero u comes from a full eigendecomposition, otherwise from at most that
    many products (see `kernels.psd_cut`).
    """

    floor: float
    budget: int

    def cut(self, x: Array, work: Array) -> float:
        if self.budget == 0:
            return exact_cut(x, self.floor, work)
        return budgeted_cut(x, x.shape[0], self.floor, self.budget, work, False)

    def descend(self, work: Array, s: float, x: Array) -> None:
        u = work[: x.shape[0]]
        for i in range(u.size):
            x[i] += (s * u[i]) * u

    def inner(self, work: Array, x: Array) -> float:
        u = work[: x.shape[0]]
        total = 0.0
        for i in range(u.size):
            total -= u[i] * (x[i] * u).sum()
        return total

    def cut_norm2(self, work: Array) -> float:
        return 1.0

    def above(self, x: Array, c: float, work: Array) -> float:
        return c if self.budget == 0 else self.floor - np.linalg.eigvalsh(0.5 * (x + x.T))[0]

    def project(self, x: Array) -> None:
        w, u = np.linalg.eigh(0.5 * (x + x.T))
        raised = u * np.sqrt(np.maximum(w - self.floor, 0.0))
        x[...] = raised @ raised.T
        for i in range(x.shape[0]):
            x[i, i] += self.floor


class PSD(Constraint):
    r"""{X symmetric (d, d) : lambda_min(X) >= floor}, with c(X) = floor - lambda_min(X).

    G2 = 1: v = -u u' has norm 1. rho = 1/sqrt(d): the distance is the norm of what d eigenvalues lack, each at most
    c(X); -I, which violates floor 0 by 1 at distance sqrt(d), attains it. (The norm of v suggests rho = 1, but where
    the smallest eigenvalue is multiple, v may be -I/d. Lemma 0 for symmetric X; of others c sees the symmetric part.)
    The projection raises the eigenvalues below the floor to it. `value`, `subgradient` and `project` are exact. The
    cuts inside the kernels take a few products with X instead of its eigenvectors: see ``budget``.

    Parameters
    ----------
    floor : float
        The smallest eigenvalue allowed.
    budget : int or "exact", optional
        The most matrix-vector products in one cut, at least 2. A cut is a valid lower model of c whatever the budget.
        By default up to 32 products are taken, until an estimate says that the cut is at least 0.9 times as deep as c
        (then lam counts for 0.9 lam in Lemma 0, see `epro.kernels.psd_cut`); matrices of at most 32 columns,
        and all with "exact", get the exact eigenvector.

    Examples
    --------
    >>> import numpy as np
    >>> from epro.constraints import PSD
    >>> PSD().project(np.diag([2.0, -1.0]))
    array([[2., 0.],
           [0., 0.]])
    """

    @property
    def lipschitz(self) -> float:
        return 1.0

    def __init__(self, floor: float = 0.0, budget: int | Literal["exact"] | None = None) -> None:
        self.floor = float(finite(floor, "PSD: floor", ndim=0))
        if not (budget in (None, "exact") or (isinstance(budget, int) and budget >= 2)):
            raise ValueError(f"PSD: budget must be None, 'exact' or a whole number of at least 2, got {budget!r}")
        self.budget = budget

    @property
    def rho(self) -> float | None:
        return None if self.shape is None else 1.0 / math.sqrt(self.shape[0])

    @property
    def dear(self) -> bool:
        return True

    def check_shape(self, shape: Shape) -> None:
        square(shape, "PSD")

    def products(self, d: int) -> int:
        """The most products in one cut of a (d, d) matrix; zero for the exact eigenvector."""
        if self.budget == "exact" or (self.budget is None and d <= SMALL):
            return 0
        return min(d, int(self.budget or PRODUCTS))

    def record(self, shape: Shape, dtype: Any) -> PSDRecord:
        return PSDRecord(self.floor, self.products(shape[0]))

    def work(self, shape: Shape) -> Array:
        return np.zeros(work_size(shape[0], self.products(shape[0])))

    def value(self, x: Array) -> float:
        """floor - lambda_min; NaN where x is not finite."""
        x = self._point(x)
        if not np.isfinite(x).all():
            return float("nan")
        return self.floor - float(np.linalg.eigvalsh(0.5 * (x + x.T))[0])

    def subgradient(self, x: Array) -> Array:
        """-u u' with an eigenvector u of the smallest eigenvalue."""
        x = self._point(x)
        u = np.linalg.eigh(0.5 * (x + x.T))[1][:, 0]
        return -np.outer(u, u)

    def project(self, x: Array) -> Array:
        """The nearest feasible matrix: eigenvalues below the floor are raised to it."""
        x = self._finite_point(x)
        symmetric = 0.5 * (x + x.T).astype(np.float64)
        w, u = np.linalg.eigh(symmetric)
        below = int(np.searchsorted(w, self.floor))
        if 2 * below < w.size:  # the sum with fewer eigenvectors
            part = u[:, :below] * np.sqrt(self.floor - w[:below])
            symmetric += part @ part.T
        else:
            part = u[:, below:] * np.sqrt(w[below:] - self.floor)
            symmetric = part @ part.T
            symmetric[np.diag_indices(w.size)] += self.floor
        return symmetric.astype(x.dtype, copy=False)

    def multipliers(self, x: Array, normal: Array) -> Array:
        """The positive semidefinite matrix M with normal = -M, on the eigenvectors of x at the floor."""
        w, u = np.linalg.eigh(-0.5 * (np.asarray(normal, dtype=float) + np.asarray(normal, dtype=float).T))
        return (u * np.maximum(w, 0.0)) @ u.T

    def active(self, x: Array, tol: float = 1e-8) -> list[Array]:
        """The eigenvectors whose eigenvalue is at the floor."""
        w, u = np.linalg.eigh(0.5 * (np.asarray(x) + np.asarray(x).T))
        return list(u.T[w <= self.floor + tol])

    def __repr__(self) -> str:
        return f"PSD({self.floor:g})" if self.budget is None else f"PSD({self.floor:g}, budget={self.budget!r})"


def factor(M: Array, rank: int | None = None) -> Array:
    """F with FF' the nearest positive semidefinite matrix to M; columns from the largest eigenvalue down.

    Those of zero are left out; at most ``rank`` columns are kept.
    """
    w, u = np.linalg.eigh(0.5 * (M + M.T).astype(np.float64))
    kept = np.flatnonzero(w > 1e-12 * max(w[-1], 1e-300))[::-1][:rank]
    return (u[:, kept] * np.sqrt(w[kept])).astype(M.dtype)


def square(shape: Shape, name: str) -> None:
    """An error where x is not a square matrix."""
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"{name}: x must be a square matrix, but has shape {tuple(shape)}")
