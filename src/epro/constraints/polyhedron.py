"""Linear inequalities, A x <= b."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from epro.atoms import matrices
from epro.constraints.base import Constraint, InfeasibleConstraint, LinearSystem, Shape
from epro.constraints.linear import diagnose, linear_program, stack, system
from epro.constraints.pivoting import Rows
from epro.constraints.qp import dual_value, project_rows, projection_error, with_bounds
from epro.kernels.records import kernel
from epro.protocols import Array
from epro.validation import finite


class PolyhedronRecord(NamedTuple):
    """c(x) = max_i <a_i, x> - b_i, v = a_i of the largest; work = (i,)."""

    A: Array
    b: Array
    lengths2: Array

    def cut(self, x: Array, work: Array) -> float:
        excess = self.A @ x - self.b
        i = np.argmax(excess)
        work[0] = i
        return excess[i]

    def descend(self, work: Array, s: float, x: Array) -> None:
        x -= s * self.A[int(work[0])]

    def inner(self, work: Array, x: Array) -> float:
        return (self.A[int(work[0])] * x).sum()

    def cut_norm2(self, work: Array) -> float:
        return self.lengths2[int(work[0])]

    def above(self, x: Array, c: float, work: Array) -> float:
        return c


@kernel
def worst_row(x: Array, indptr: Array, indices: Array, data: Array, b: Array, work: Array) -> float:
    """max_i <a_i, x> - b_i over sparse rows; work = (i,)."""
    worst = -np.inf
    for i in range(b.size):
        excess = -b[i]
        for k in range(indptr[i], indptr[i + 1]):
            excess += data[k] * x[indices[k]]
        if excess > worst:
            worst = excess
            work[0] = i
    return worst


class SparsePolyhedronRecord(NamedTuple):
    """`PolyhedronRecord` with the rows of a CSR matrix."""

    indptr: Array
    indices: Array
    data: Array
    b: Array
    lengths2: Array

    def cut(self, x: Array, work: Array) -> float:
        return worst_row(x, self.indptr, self.indices, self.data, self.b, work)

    def descend(self, work: Array, s: float, x: Array) -> None:
        i = int(work[0])
        for k in range(self.indptr[i], self.indptr[i + 1]):
            x[self.indices[k]] -= s * self.data[k]

    def inner(self, work: Array, x: Array) -> float:
        i = int(work[0])
        total = 0.0
        for k in range(self.indptr[i], self.indptr[i + 1]):
            total += self.data[k] * x[self.indices[k]]
        return total

    def cut_norm2(self, work: Array) -> float:
        return self.lengths2[int(work[0])]

    def above(self, x: Array, c: float, work: Array) -> float:
        return c


class Polyhedron(Constraint):
    r"""{x : A x <= b}, with c(x) = max_i (<a_i, x> - b_i), in the user's units: rows are not rescaled in c.

    G2 is the longest row. rho is unknown (None): it exists, by Hoffman's bound, but has no closed form. Projections
    scale the rows to unit length inside, start from the active rows of the last one, and are polished (see ``qp.py``).

    Parameters
    ----------
    A : array or sparse array of shape (m, d)
        A sparse A is kept as CSR.
    b : array of shape (m,)

    Examples
    --------
    >>> import numpy as np
    >>> from epro.constraints import Polyhedron
    >>> wedge = Polyhedron([[1.0, 1.0], [1.0, -1.0]], [1.0, 0.0])
    >>> wedge.project(np.array([2.0, 0.0])).round(12)
    array([0.5, 0.5])
    >>> wedge.project_with_multipliers(np.array([2.0, 0.0]))[1].round(12)
    array([0.5, 1. ])
    """

    def __init__(self, A: Any, b: Any) -> None:
        self.A = checked_matrix(A, "Polyhedron: A")
        self.b = finite(b, "Polyhedron: b", ndim=1, copy=True).astype(float)
        m = self.A.shape[0]
        if len(self.b) != m or m == 0:
            raise ValueError(f"Polyhedron: A has {m} rows but b has {len(self.b)} entries, expected one each")
        self.shape = (self.A.shape[1],)
        self._rows = Rows.scaled(self.A, np.full(len(self.b), -np.inf), self.b)
        self._last = np.zeros(len(self.b))  # the signs of the last multipliers, where the next projection starts

    def check_feasible(self) -> None:
        try:  # the linear program of `diagnose` costs many projections
            found = project_rows(self._rows, np.zeros(self.A.shape[1]))
            if self._rows.violation(found.x) <= 1e-10 * (1.0 + np.abs(found.x).max()):
                self._last = found.lam
                return
        except (InfeasibleConstraint, RuntimeError):
            pass
        diagnose(self.linear_inequalities(self.A.shape[1]), "Polyhedron", lambda kind, i: f"row {i} of A")

    @property
    def lipschitz(self) -> float:
        return float(self._lengths.max())

    @property
    def dear(self) -> bool:
        return self.b.size >= 8

    @property
    def _lengths(self) -> Array:
        return np.sqrt(matrices.row_norms2(self.A))

    def record(self, shape: Shape, dtype: Any) -> PolyhedronRecord | SparsePolyhedronRecord:
        rest = (self.b.astype(dtype), self._lengths**2)
        if matrices.is_sparse(self.A):
            index = (self.A.indptr.astype(np.int64), self.A.indices.astype(np.int64))
            return SparsePolyhedronRecord(*index, self.A.data.astype(dtype), *rest)
        return PolyhedronRecord(np.ascontiguousarray(self.A, dtype=dtype), *rest)

    def work(self, shape: Shape) -> Array:
        return np.zeros(1)

    def project(self, x: Array) -> Array:
        return self.project_with_multipliers(x)[0]

    def project_with_multipliers(self, z: Array, warm: Array | None = None) -> tuple[Array, Array]:
        """(x, lam): the nearest point, and one multiplier per row with z - x = A' lam.

        ``warm``: the multipliers of a nearby projection; by default those of the last one.
        """
        z = self._finite_point(z)
        wide = z.astype(float)
        if self._rows.violation(wide) == 0.0:
            return z.copy(), np.zeros(len(self.b))
        try:
            found = project_rows(self._rows, wide, np.sign(self._last if warm is None else warm))
        except InfeasibleConstraint:
            self.check_feasible()
            raise
        self._last = found.lam
        return found.x.astype(z.dtype, copy=False), np.maximum(found.lam, 0.0) / self._rows.lengths

    def projection_error(self, z: Array, x: Array, multipliers: Any = None) -> float:
        """A bound on ||x - P(z)|| from duality, for any x and any multipliers (see ``qp.projection_error``)."""
        if multipliers is None:
            multipliers = self.multipliers(x, np.asarray(z, dtype=float) - x)
        z, x = np.asarray(z, dtype=float), np.asarray(x, dtype=float)
        return projection_error(self._rows, z, x, np.maximum(multipliers, 0.0) * self._rows.lengths)

    def projection_lower_bound(self, z: Array, multipliers: Array) -> float:
        """A lower bound on ||x - z||^2 / 2 over the set, from any nonnegative multipliers."""
        return dual_value(self._rows, np.asarray(z, dtype=float), np.maximum(multipliers, 0.0) * self._rows.lengths)

    def linear_minimizer(self, direction: Array) -> Array:
        """A vertex, by the simplex method of HiGHS; an error where the set is unbounded that way."""
        linear = self.linear_inequalities(direction.size)
        return linear_program(linear, direction, "Polyhedron").astype(direction.dtype)

    def multipliers(self, x: Array, normal: Array) -> Array:
        """One multiplier per row: those of the projection of x + normal."""
        x = np.asarray(x, dtype=float)
        tight = self.A @ x - self.b >= -1e-8 * self._rows.lengths * (1.0 + np.abs(x).max(initial=0.0))
        return self.project_with_multipliers(x + np.asarray(normal, dtype=float), warm=tight.astype(float))[1]

    def active(self, x: Array, tol: float = 1e-8) -> list[int]:
        """The rows that hold with equality."""
        return np.flatnonzero(self.A @ np.asarray(x, dtype=float) - self.b >= -tol).tolist()

    def linear_inequalities(self, d: int) -> LinearSystem:
        return system(d, self.A, self.b)

    def __repr__(self) -> str:
        m, d = self.A.shape
        return f"Polyhedron({m} inequalities in {d} dimensions)"


def checked_matrix(A: Any, name: str) -> Any:
    """A dense matrix, or a CSR one, of finite doubles."""
    if matrices.is_sparse(A):
        A = matrices.matrix(A)
        finite(A.data, name)
        return A
    return np.ascontiguousarray(finite(A, name, ndim=2, copy=True), dtype=float)


def stacked_rows(linear: LinearSystem) -> Rows:
    """All rows and bounds of a system, as unit rows to project on."""
    bounded = np.flatnonzero(np.isfinite(linear.lb) | np.isfinite(linear.ub))
    A = with_bounds(stack([linear.A_ub, linear.A_eq]), bounded, len(linear.lb))
    low = np.concatenate([np.full(len(linear.b_ub), -np.inf), linear.b_eq, linear.lb[bounded]])
    return Rows.scaled(A, low, np.concatenate([linear.b_ub, linear.b_eq, linear.ub[bounded]]))
