"""Dense rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from epro.protocols import Array, Index


class DenseRows(NamedTuple):
    """A_i = X[i], a row of a C-contiguous matrix (which may be a memory map)."""

    X: Array

    def dot(self, i: int, x: Array) -> float:
        return np.dot(self.X[i], x)

    def axpy(self, i: int, s: float, x: Array) -> None:
        x += s * self.X[i]

    def norm2(self, i: int) -> float:
        return np.dot(self.X[i], self.X[i])

    def dots(self, rows: Index, x: Array, p: Array) -> None:
        if rows.size == 1:
            p[0] = np.dot(self.X[rows[0]], x)
        else:
            p[:] = np.dot(self.X[rows], x)

    def axpys(self, rows: Index, s: Array, x: Array) -> None:
        if rows.size == 1:
            x += s[0] * self.X[rows[0]]
        else:
            x += np.dot(s, self.X[rows])

    # -- the whole matrix at once, from Python

    @property
    def n(self) -> int:
        return self.X.shape[0]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.X.shape[1:]

    @property
    def dtype(self) -> np.dtype:
        return self.X.dtype

    @property
    def entries(self) -> int:
        """How many numbers the rows hold."""
        return self.X.size

    def predictions(self, x: Array) -> Array:
        """<A_i, x> for all i."""
        return self.X @ x

    def adjoint(self, s: Array) -> Array:
        """sum_i s_i A_i"""
        return s @ self.X

    def part(self, rows: slice) -> DenseRows:
        """Consecutive rows, not copied."""
        return DenseRows(self.X[rows])

    def take(self, rows: Index) -> DenseRows:
        """The atoms of some rows."""
        return DenseRows(np.ascontiguousarray(self.X[rows]))

    def matrix(self) -> Array:
        """The rows as one matrix."""
        return self.X
