"""Symmetric positive semidefinite matrices of a given trace."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from epro.constraints.base import Constraint, InfeasibleConstraint, Shape
from epro.constraints.psd import square
from epro.constraints.simplex import project_simplex, simplex_rho
from epro.protocols import Array
from epro.validation import finite


class SpectraplexRecord(NamedTuple):
    """c(X) = max(|tr X - total| / sqrt(d), -lambda_min(X)), v = +-I/sqrt(d) or -u u'.

    work = (u, s): v = s I where s is not zero, else -u u'.
    """

    total: float

    def cut(self, x: Array, work: Array) -> float:
        d = x.shape[0]
        w, u = np.linalg.eigh(0.5 * (x + x.T))
        excess = (np.trace(x) - self.total) / math.sqrt(d)
        work[:d], work[d] = u[:, 0], 0.0
        if -w[0] >= abs(excess):
            return -w[0]
        work[d] = math.copysign(1.0 / math.sqrt(d), excess)
        return abs(excess)

    def descend(self, work: Array, s: float, x: Array) -> None:
        d = x.shape[0]
        for i in range(d):
            if work[d] == 0.0:
                x[i] += (s * work[i]) * work[:d]
            else:
                x[i, i] -= s * work[d]

    def inner(self, work: Array, x: Array) -> float:
        d = x.shape[0]
        if work[d] != 0.0:
            return work[d] * np.trace(x)
        total = 0.0
        for i in range(d):
            total -= work[i] * (x[i] * work[:d]).sum()
        return total

    def cut_norm2(self, work: Array) -> float:
        return 1.0

    def project(self, x: Array) -> None:
        w, u = np.linalg.eigh(0.5 * (x + x.T))
        project_simplex(w, self.total)
        root = u * np.sqrt(w)
        x[...] = root @ root.T


class Spectraplex(Constraint):
    r"""{X symmetric (d, d) : X positive semidefinite, tr X = trace}.

    c(X) = max(|tr X - trace| / sqrt(d), -lambda_min(X)). Projection and c act on the eigenvalues of X as they do for
    `Simplex`, so G2 = 1 and rho is the simplex's (for symmetric X; of any other X, c sees the symmetric part).

    Parameters
    ----------
    trace : float
        Not negative.

    Examples
    --------
    >>> import numpy as np
    >>> from epro.constraints import Spectraplex
    >>> Spectraplex().project(np.diag([2.0, 0.5])).round(12)
    array([[1., 0.],
           [0., 0.]])
    """

    @property
    def lipschitz(self) -> float:
        return 1.0

    def __init__(self, trace: float = 1.0) -> None:
        self.trace = float(finite(trace, "Spectraplex: trace", ndim=0))

    def check_shape(self, shape: Shape) -> None:
        square(shape, "Spectraplex")

    def check_feasible(self) -> None:
        if self.trace < 0:
            raise InfeasibleConstraint(f"Spectraplex: nonnegative eigenvalues cannot sum to trace = {self.trace:g}")

    @property
    def rho(self) -> float | None:
        return None if self.shape is None else simplex_rho(self.shape[0])

    @property
    def radius_bound(self) -> float:
        return self.trace

    def record(self, shape: Shape, dtype: Any) -> SpectraplexRecord:
        return SpectraplexRecord(self.trace)

    def work(self, shape: Shape) -> Array:
        return np.zeros(shape[0] + 1)

    def linear_minimizer(self, direction: Array) -> Array:
        """trace * u u' for the smallest eigenvalue of the direction."""
        _, u = np.linalg.eigh(0.5 * (direction + direction.T))
        return self.trace * np.outer(u[:, 0], u[:, 0])

    def multipliers(self, x: Array, normal: Array) -> tuple[Array, float]:
        """(M, t) with normal = t I - M, M positive semidefinite and M x = 0."""
        x, n = (0.5 * (np.asarray(a, dtype=float) + np.asarray(a, dtype=float).T) for a in (x, normal))
        t = float(np.vdot(n, x)) / max(self.trace, 1e-300)  # <n, x> = t tr x - <M, x>, and <M, x> = 0
        w, u = np.linalg.eigh(t * np.eye(len(n)) - n)
        return (u * np.maximum(w, 0.0)) @ u.T, t

    def __repr__(self) -> str:
        return f"Spectraplex({self.trace:g})"
