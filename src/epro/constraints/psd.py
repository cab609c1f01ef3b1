"""Symmetric matrices whose eigenvalues are at least a floor."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from epro.constraints.base import Constraint, Shape
from epro.protocols import Array
from epro.validation import finite


class PSDRecord(NamedTuple):
    """c(X) = floor - lambda_min(X), v = -u u' for a unit eigenvector u of the smallest eigenvalue; work = u."""

    floor: float

    def cut(self, x: Array, work: Array) -> float:
        w, u = np.linalg.eigh(0.5 * (x + x.T))
        work[:] = u[:, 0]
        return self.floor - w[0]

    def descend(self, work: Array, s: float, x: Array) -> None:
        for i in range(work.size):
            x[i] += (s * work[i]) * work

    def inner(self, work: Array, x: Array) -> float:
        total = 0.0
        for i in range(work.size):
            total -= work[i] * (x[i] * work).sum()
        return total

    def cut_norm2(self, work: Array) -> float:
        return (work * work).sum() ** 2

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
    The projection raises the eigenvalues below the floor to it.

    Parameters
    ----------
    floor : float
        The smallest eigenvalue allowed.

    Examples
    --------
    >>> import numpy as np
    >>> from epro.constraints import PSD
    >>> PSD().project(np.diag([2.0, -1.0]))
    array([[2., 0.],
           [0., 0.]])
    """

    lipschitz = 1.0

    def __init__(self, floor: float = 0.0) -> None:
        self.floor = float(finite(floor, "PSD: floor", ndim=0))

    @property
    def rho(self) -> float | None:
        return None if self.shape is None else 1.0 / math.sqrt(self.shape[0])

    def bind(self, shape: Shape) -> PSD:
        square(shape, "PSD")
        return super().bind(shape)

    def record(self, shape: Shape, dtype: Any) -> PSDRecord:
        return PSDRecord(self.floor)

    def work(self, shape: Shape) -> Array:
        return np.zeros(shape[0])

    def multipliers(self, x: Array, normal: Array) -> Array:
        """The positive semidefinite matrix M with normal = -M, on the eigenvectors of x at the floor."""
        w, u = np.linalg.eigh(-0.5 * (np.asarray(normal, dtype=float) + np.asarray(normal, dtype=float).T))
        return (u * np.maximum(w, 0.0)) @ u.T

    def active(self, x: Array, tol: float = 1e-8) -> list[Array]:
        """The eigenvectors whose eigenvalue is at the floor."""
        w, u = np.linalg.eigh(0.5 * (np.asarray(x) + np.asarray(x).T))
        return list(u.T[w <= self.floor + tol])

    def __repr__(self) -> str:
        return f"PSD({self.floor:g})"


def square(shape: Shape, name: str) -> None:
    """An error where x is not a square matrix."""
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"{name}: x must be a square matrix, but has shape {tuple(shape)}")
