"""Linear equalities, A x = b."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from epro.atoms import matrices
from epro.constraints.base import Constraint, InfeasibleConstraint, LinearSystem, Shape
from epro.constraints.linear import diagnose, system
from epro.protocols import Array
from epro.validation import finite


class AffineRecord(NamedTuple):
    """c(x) = ||A x - b||, v = A'(A x - b) / ||A x - b||; the rows of Q are an orthonormal basis of A's, Q x = t."""

    A: Array
    b: Array
    Q: Array
    t: Array

    def cut(self, x: Array, work: Array) -> float:
        residual = self.A @ x - self.b
        norm = np.sqrt((residual * residual).sum())
        work[:] = self.A.T @ (residual / (norm if norm > 0.0 else 1.0))
        return norm

    def descend(self, work: Array, s: float, x: Array) -> None:
        x -= s * work

    def inner(self, work: Array, x: Array) -> float:
        return (work * x).sum()

    def cut_norm2(self, work: Array) -> float:
        return (work * work).sum()

    def project(self, x: Array) -> None:
        for _ in range(2):  # the second round removes the rounding of the first
            x -= self.Q.T @ (self.Q @ x - self.t)


class Affine(Constraint):
    r"""{x : A x = b}, with c(x) = ||A x - b|| (the Euclidean norm of the residual).

    v = A'r / ||r|| for the residual r, which lies in the range of A where A x = b has a solution; so ||v|| lies between
    the smallest positive singular value of A and the largest: rho and G2. One pivoted QR factorisation of A' serves
    all projections.

    Parameters
    ----------
    A : array or sparse array of shape (m, d)
        Held as a dense array: there are as many rows as equalities.
    b : array of shape (m,)

    Examples
    --------
    >>> import numpy as np
    >>> from epro.constraints import Affine
    >>> Affine([[1.0, 1.0]], [1.0]).project(np.array([1.0, 1.0])).round(12)
    array([0.5, 0.5])
    """

    def __init__(self, A: Any, b: Any) -> None:
        A = matrices.dense(A)
        self.A = np.ascontiguousarray(finite(A, "Affine: A", ndim=2, copy=True), dtype=float)
        self.b = np.atleast_1d(finite(b, "Affine: b", copy=True)).astype(float)
        m = self.A.shape[0]
        if self.b.shape != (m,) or m == 0:
            raise ValueError(f"Affine: A has {m} rows but b has shape {self.b.shape}, expected one entry each")
        self.shape = (self.A.shape[1],)
        factors: Any = scipy.linalg.qr(self.A.T, mode="economic", pivoting=True)
        q, r, order = factors
        diagonal = np.abs(np.diag(r))
        rank = int((diagonal > 1e-12 * diagonal[0]).sum()) if len(diagonal) and diagonal[0] > 0 else 0
        # A'[:, order] = q r, so the first rank rows in this order are r[:rank, :rank]' (Q x) = b[order[:rank]]
        self._Q = np.ascontiguousarray(q[:, :rank].T)
        self._t = scipy.linalg.solve_triangular(r[:rank, :rank], self.b[order[:rank]], trans=1) if rank else np.zeros(0)
        self._singular = np.linalg.svd(r[:rank], compute_uv=False) if rank else np.zeros(1)

    def check_feasible(self) -> None:
        residual = np.abs(self.A @ (self._Q.T @ self._t) - self.b)
        if residual.max() > 1e-9 * (1.0 + np.abs(self.b).max()):
            linear = self.linear_inequalities(self.A.shape[1])
            diagnose(linear, "Affine", lambda kind, i: f"row {i} of A")
            raise InfeasibleConstraint(f"Affine: row {int(residual.argmax())} of A contradicts the rows before it")

    @property
    def lipschitz(self) -> float:
        return float(self._singular[0])

    @property
    def rho(self) -> float | None:
        return float(self._singular[-1]) or None

    def record(self, shape: Shape, dtype: Any) -> AffineRecord:
        return AffineRecord(*(np.ascontiguousarray(v, dtype=dtype) for v in (self.A, self.b, self._Q, self._t)))

    def multipliers(self, x: Array, normal: Array) -> Array:
        """One free multiplier per row: the shortest lam with A' lam = normal."""
        return np.linalg.lstsq(self.A.T, np.asarray(normal, dtype=float), rcond=None)[0]

    def active(self, x: Array, tol: float = 1e-8) -> list[int]:
        """The rows that hold, which at a feasible point are all."""
        return np.flatnonzero(np.abs(self.A @ np.asarray(x, dtype=float) - self.b) <= tol).tolist()

    def linear_inequalities(self, d: int) -> LinearSystem:
        return system(d, A_eq=self.A, b_eq=self.b)

    def __repr__(self) -> str:
        m, d = self.A.shape
        return f"Affine({m} equalities in {d} dimensions)"
