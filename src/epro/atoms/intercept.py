"""Rows with one more entry, a one: the last coordinate of x is an intercept."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from epro.protocols import Array, Index


class WithIntercept(NamedTuple):
    """A_i = (row i, 1); the rows themselves are not copied, so they may be a memory map."""

    rows: Any

    def dot(self, i: int, x: Array) -> float:
        return self.rows.dot(i, x[:-1]) + x[-1]

    def axpy(self, i: int, s: float, x: Array) -> None:
        self.rows.axpy(i, s, x[:-1])
        x[-1] += s

    def norm2(self, i: int) -> float:
        return self.rows.norm2(i) + 1.0

    def dots(self, rows: Index, x: Array, p: Array) -> None:
        self.rows.dots(rows, x[:-1], p)
        p += x[-1]

    def axpys(self, rows: Index, s: Array, x: Array) -> None:
        self.rows.axpys(rows, s, x[:-1])
        x[-1] += s.sum()

    # -- the whole matrix at once, from Python

    @property
    def n(self) -> int:
        return self.rows.n

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.rows.shape[0] + 1,)

    @property
    def dtype(self) -> np.dtype:
        return self.rows.dtype

    @property
    def entries(self) -> int:
        """How many numbers the rows hold."""
        return self.rows.entries

    def predictions(self, x: Array) -> Array:
        """<A_i, x> for all i."""
        return self.rows.predictions(x[:-1]) + x[-1]

    def adjoint(self, s: Array) -> Array:
        """sum_i s_i A_i"""
        return np.append(self.rows.adjoint(s), s.sum(dtype=np.float64).astype(s.dtype))

    def part(self, rows: slice) -> WithIntercept:
        """Consecutive rows, not copied."""
        return WithIntercept(self.rows.part(rows))

    def take(self, rows: Index) -> WithIntercept:
        """The atoms of some rows."""
        return WithIntercept(self.rows.take(rows))

    def matrix(self) -> Appended:
        """The rows as one matrix, of which parts are copied when asked for."""
        return Appended(self.rows.matrix())


class Appended:
    """A matrix with a column of ones on its right; rows taken from it are copies."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix
        self.shape = (matrix.shape[0], matrix.shape[1] + 1)

    def __getitem__(self, rows: Any) -> Any:
        part = self.matrix[rows]
        ones = np.ones((part.shape[0], 1), part.dtype)
        return sp.hstack([part, ones], format="csr") if sp.issparse(part) else np.hstack([part, ones])
