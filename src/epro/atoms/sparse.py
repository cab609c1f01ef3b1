"""Sparse rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from epro.cores import cuts, each
from epro.protocols import Array, Index


class CSRRows(NamedTuple):
    """A_i = row i of a matrix in compressed sparse rows; the arrays may be read-only memory maps."""

    indptr: Array
    indices: Array
    data: Array
    columns: int

    def dot(self, i: int, x: Array) -> float:
        s = 0.0
        for k in range(self.indptr[i], self.indptr[i + 1]):
            s += self.data[k] * x[self.indices[k]]
        return s

    def axpy(self, i: int, s: float, x: Array) -> None:
        for k in range(self.indptr[i], self.indptr[i + 1]):
            x[self.indices[k]] += s * self.data[k]

    def norm2(self, i: int) -> float:
        s = 0.0
        for k in range(self.indptr[i], self.indptr[i + 1]):
            s += self.data[k] * self.data[k]
        return s

    def dots(self, rows: Index, x: Array, p: Array) -> None:
        for b in range(rows.size):
            p[b] = self.dot(rows[b], x)

    def axpys(self, rows: Index, s: Array, x: Array) -> None:
        for b in range(rows.size):
            self.axpy(rows[b], s[b], x)

    # -- the whole matrix at once, from Python

    @property
    def n(self) -> int:
        return self.indptr.size - 1

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.columns,)

    @property
    def dtype(self) -> np.dtype:
        return self.data.dtype

    def matrix(self) -> sp.csr_array:
        """The rows as one matrix, without a copy of the entries."""
        matrix = sp.csr_array((self.n, self.columns), dtype=self.data.dtype)
        indptr = self.indptr
        if self.data.size <= np.iinfo(self.indices.dtype).max:
            indptr = indptr.astype(
                self.indices.dtype, copy=False
            )  # of another dtype, SciPy would copy the indices instead
        matrix.data, matrix.indices, matrix.indptr = self.data, self.indices, indptr
        return matrix

    @property
    def entries(self) -> int:
        """How many numbers the rows hold."""
        return self.data.size

    def predictions(self, x: Array) -> Array:
        """<A_i, x> for all i."""
        shares = [(self.part(rows).matrix(),) for rows in cuts(self.n, self.entries, 0)]
        found = list(each(lambda matrix: matrix @ x, shares))
        return found[0] if len(found) == 1 else np.concatenate(found)

    def adjoint(self, s: Array) -> Array:
        """sum_i s_i A_i"""
        shares = [(self.part(rows).matrix(), s[rows]) for rows in cuts(self.n, self.entries, self.columns)]
        first, *others = each(lambda matrix, slopes: matrix.T @ slopes, shares)
        for other in others:
            first += other
        return first

    def part(self, rows: slice) -> CSRRows:
        """Consecutive rows, of which only the pointers are copied."""
        indptr = self.indptr[rows.start : rows.stop + 1]
        if indptr[0] == 0 and rows.stop == self.n:
            return self
        entries = slice(indptr[0], indptr[-1])
        return CSRRows(indptr - indptr[0], self.indices[entries], self.data[entries], self.columns)

    def take(self, rows: Index) -> CSRRows:
        """The atoms of some rows."""
        part = self.matrix()[rows]
        return CSRRows(part.indptr, part.indices, part.data, self.columns)
