"""An epoch on its active columns only.

Between the start and the end of an epoch on sparse rows, a coordinate of x can leave zero only where a drawn row has an
entry, as long as every other part of the step (shrinking, a cut's sign, a proximal step, a projection) keeps zeros at
zero. So the support of the start and the columns of the drawn rows are all there is: relabelled 0, 1, ..., m - 1 in
their order, they make a small dense problem that any epoch function runs unchanged. The rows' products and the
sequential sums of the kernels skip nothing but exact zeros, so the trajectory is the same bit for bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from epro.kernels.records import kernel
from epro.protocols import Array, Index


class SparseVector(NamedTuple):
    """A vector of length ``size`` which is zero outside ``columns``; these are distinct, in any order."""

    columns: Array
    values: Array
    size: int

    @classmethod
    def zero(cls, size: int, dtype: type = np.float64) -> SparseVector:
        """The origin."""
        return cls(np.empty(0, np.int64), np.empty(0, dtype), size)

    @classmethod
    def of(cls, x: Array) -> SparseVector:
        """The nonzeros of a dense vector."""
        columns = np.flatnonzero(x)
        return cls(columns, x[columns], x.size)

    def dense(self) -> Array:
        """The whole vector."""
        x = np.zeros(self.size, self.values.dtype)
        x[self.columns] = self.values
        return x


class Active(NamedTuple):
    """The rows and columns that one epoch touches, relabelled in their order.

    ``columns[j]`` and ``rows[i]`` are the names that compact column j and compact row i have in the whole problem.
    """

    columns: Array
    rows: Array
    draws: Index
    indptr: Array
    indices: Array
    data: Array
    x: Array


def active_columns(indptr: Array, indices: Array, draws: Index, support: Array) -> Array:
    """The columns of the drawn rows and of ``support``, sorted, once each."""
    return np.unique(np.concatenate((row_entries(indptr, indices, np.unique(draws)), support)))


def compact(indptr: Array, indices: Array, data: Array, draws: Index, start: SparseVector) -> Active:
    """The problem that an epoch with these draws, from this start, is about.

    Parameters
    ----------
    indptr, indices, data : ndarray
        The rows, compressed.
    draws : ndarray of int
        The rows that the epoch draws, of any shape (steps, or steps x batch).
    start : SparseVector
        Where the epoch starts.
    """
    rows, row_of_draw = np.unique(draws, return_inverse=True)
    named = row_entries(indptr, indices, rows)
    columns, label = np.unique(np.concatenate((named, start.columns.astype(named.dtype))), return_inverse=True)
    x = np.zeros(columns.size, start.values.dtype)
    x[label[named.size :]] = start.values
    ends = np.cumsum(indptr[rows + 1] - indptr[rows])
    small_indptr = np.concatenate((np.zeros(1, np.int64), ends))
    small_data = row_entries(indptr, data, rows)
    draws = row_of_draw.reshape(draws.shape).astype(np.int64)
    return Active(columns, rows, draws, small_indptr, label[: named.size].astype(indices.dtype), small_data, x)


def spread(active: Active, values: Array, size: int) -> SparseVector:
    """A compact vector under its own names; zeros are left out."""
    kept = np.flatnonzero(values)
    return SparseVector(active.columns[kept], values[kept], size)


@kernel
def row_entries(indptr: Array, entries: Array, rows: Index) -> Array:
    """What ``entries`` (column indices or values) has for these rows, one after the other."""
    count = 0
    for i in rows:
        count += indptr[i + 1] - indptr[i]
    out = np.empty(count, entries.dtype)
    at = 0
    for i in rows:
        for k in range(indptr[i], indptr[i + 1]):
            out[at] = entries[k]
            at += 1
    return out
