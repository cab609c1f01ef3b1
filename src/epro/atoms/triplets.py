"""Triplets of metric learning: A_i = d1 d1' - d2 d2', where d1 = x_a - x_s and d2 = x_a - x_o.

a is an anchor, s a similar point, o a point of another class; <A_i, M> is the squared distance of a and s under the
metric M less that of a and o. Sums of many A_i are X' Lap X with a sparse weighted graph Laplacian Lap, because
(x_a - x_s)(x_a - x_s)' touches only the four products of x_a and x_s.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from epro.kernels.records import kernel
from epro.protocols import Array, Index


class DenseTriplets(NamedTuple):
    """Triplets of dense rows; ``triplets`` has the columns anchor, similar, other."""

    X: Array
    triplets: Index

    def dot(self, i: int, x: Array) -> float:
        a, s, o = self.triplets[i]
        near, far = self.X[a] - self.X[s], self.X[a] - self.X[o]
        return np.dot(near, np.dot(x, near)) - np.dot(far, np.dot(x, far))

    def axpy(self, i: int, s: float, x: Array) -> None:
        a, b, o = self.triplets[i]
        near, far = self.X[a] - self.X[b], self.X[a] - self.X[o]
        x += np.outer(s * near, near) - np.outer(s * far, far)

    def norm2(self, i: int) -> float:
        a, s, o = self.triplets[i]
        near, far = self.X[a] - self.X[s], self.X[a] - self.X[o]
        return np.dot(near, near) ** 2 + np.dot(far, far) ** 2 - 2.0 * np.dot(near, far) ** 2

    def differences(self, i: int, near: Array, far: Array) -> None:
        a, s, o = self.triplets[i]
        near[:] = self.X[a] - self.X[s]
        far[:] = self.X[a] - self.X[o]

    def dots(self, rows: Index, x: Array, p: Array) -> None:
        if rows.size == 1:
            p[0] = self.dot(rows[0], x)
        else:
            part = self.triplets[rows]
            anchor = self.X[part[:, 0]]
            near, far = anchor - self.X[part[:, 1]], anchor - self.X[part[:, 2]]
            p[:] = (np.dot(near, x) * near).sum(axis=1) - (np.dot(far, x) * far).sum(axis=1)

    def axpys(self, rows: Index, s: Array, x: Array) -> None:
        if rows.size == 1:
            self.axpy(rows[0], s[0], x)
        else:
            part = self.triplets[rows]
            anchor = self.X[part[:, 0]]
            near, far = anchor - self.X[part[:, 1]], anchor - self.X[part[:, 2]]
            weights = s.reshape(-1, 1)
            x += np.dot((weights * near).T, near) - np.dot((weights * far).T, far)

    @property
    def n(self) -> int:
        return self.triplets.shape[0]

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.X.shape[1], self.X.shape[1])

    @property
    def dtype(self) -> np.dtype:
        return self.X.dtype

    def predictions(self, x: Array) -> Array:
        """<A_i, x> for all i."""
        return pair_predictions(self.X @ x, self.X, self.triplets)

    def adjoint(self, s: Array) -> Array:
        """sum_i s_i A_i, as X' Lap X."""
        return self.X.T @ laplacian_times(self.X, self.triplets, s)

    def take(self, rows: Index) -> DenseTriplets:
        """The atoms of some rows."""
        return DenseTriplets(self.X, self.triplets[rows])


class CSRTriplets(NamedTuple):
    """Triplets of sparse rows: differences are kept as lists of indices, in which an index may stand twice."""

    indptr: Array
    indices: Array
    data: Array
    triplets: Index
    columns: int

    def dot(self, i: int, x: Array) -> float:
        a, s, o = self.triplets[i]
        at, near = sparse_difference(self.indptr, self.indices, self.data, a, s)
        near_square = sparse_quadratic(at, near, x)
        at, far = sparse_difference(self.indptr, self.indices, self.data, a, o)
        return near_square - sparse_quadratic(at, far, x)

    def axpy(self, i: int, s: float, x: Array) -> None:
        a, b, o = self.triplets[i]
        at, near = sparse_difference(self.indptr, self.indices, self.data, a, b)
        sparse_rank_one(at, near, s, x)
        at, far = sparse_difference(self.indptr, self.indices, self.data, a, o)
        sparse_rank_one(at, far, -s, x)

    def norm2(self, i: int) -> float:
        a, s, o = self.triplets[i]
        at_near, near = sparse_difference(self.indptr, self.indices, self.data, a, s)
        at_far, far = sparse_difference(self.indptr, self.indices, self.data, a, o)
        cross = sparse_inner(at_near, near, at_far, far)
        near2, far2 = sparse_inner(at_near, near, at_near, near), sparse_inner(at_far, far, at_far, far)
        return near2**2 + far2**2 - 2.0 * cross**2

    def differences(self, i: int, near: Array, far: Array) -> None:
        a, s, o = self.triplets[i]
        near[:], far[:] = 0.0, 0.0
        for k in range(self.indptr[a], self.indptr[a + 1]):
            near[self.indices[k]] += self.data[k]
            far[self.indices[k]] += self.data[k]
        for k in range(self.indptr[s], self.indptr[s + 1]):
            near[self.indices[k]] -= self.data[k]
        for k in range(self.indptr[o], self.indptr[o + 1]):
            far[self.indices[k]] -= self.data[k]

    def dots(self, rows: Index, x: Array, p: Array) -> None:
        for b in range(rows.size):
            p[b] = self.dot(rows[b], x)

    def axpys(self, rows: Index, s: Array, x: Array) -> None:
        for b in range(rows.size):
            self.axpy(rows[b], s[b], x)

    @property
    def n(self) -> int:
        return self.triplets.shape[0]

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.columns, self.columns)

    @property
    def dtype(self) -> np.dtype:
        return self.data.dtype

    def matrix(self) -> sp.csr_array:
        """The points, one a row."""
        return sp.csr_array((self.data, self.indices, self.indptr), shape=(self.indptr.size - 1, self.columns))

    def predictions(self, x: Array) -> Array:
        """<A_i, x> for all i."""
        points = self.matrix()
        return sparse_pair_predictions(points @ x, self.indptr, self.indices, self.data, self.triplets)

    def adjoint(self, s: Array) -> Array:
        """sum_i s_i A_i, as X' Lap X."""
        points = self.matrix()
        return (points.T @ (laplacian(self.indptr.size - 1, self.triplets, s) @ points)).toarray()

    def take(self, rows: Index) -> CSRTriplets:
        """The atoms of some rows."""
        return self._replace(triplets=self.triplets[rows])


def laplacian(points: int, triplets: Index, s: Array) -> sp.csr_array:
    """The Laplacian with weight s_i on each edge (anchor, similar) and -s_i on each edge (anchor, other)."""
    used = np.flatnonzero(s)
    if 2 * used.size < s.size:  # most hinges are flat
        triplets, s = triplets[used], s[used]
    a = np.concatenate([triplets[:, 0], triplets[:, 0]])
    b = np.concatenate([triplets[:, 1], triplets[:, 2]])
    w = np.concatenate([s, -s])
    ends = np.concatenate([a, b]), np.concatenate([b, a])
    adjacency = sp.coo_array((np.concatenate([w, w]), ends), (points, points)).tocsr()
    return sp.csr_array(sp.diags_array(np.asarray(adjacency.sum(axis=1)).ravel()) - adjacency)


@kernel(fastmath={"reassoc"})  # a sum in any order: twice as fast, and no step of two engines is compared through it
def squared_length(mapped: Array, X: Array, a: int, b: int) -> float:
    """||x_a - x_b||^2_M from X and X M."""
    at, other, mapped_at, mapped_other, total = X[a], X[b], mapped[a], mapped[b], 0.0
    for j in range(X.shape[1]):
        total += (mapped_at[j] - mapped_other[j]) * (at[j] - other[j])
    return total


@kernel
def pair_predictions(mapped: Array, X: Array, triplets: Index) -> Any:
    """||d1||^2_M - ||d2||^2_M of every triplet, from X and X M; neighbours that share a pair share its length."""
    p, near, last_a, last_s = np.empty(triplets.shape[0], X.dtype), 0.0, -1, -1
    for i in range(triplets.shape[0]):
        a, s, o = triplets[i, 0], triplets[i, 1], triplets[i, 2]
        if a != last_a or s != last_s:
            near, last_a, last_s = squared_length(mapped, X, a, s), a, s
        p[i] = near - squared_length(mapped, X, a, o)
    return p


@kernel
def laplacian_times(X: Array, triplets: Index, s: Array) -> Any:
    """Lap X, edge by edge: what `laplacian` would have to sort and add up first is added up here.

    Neighbours in the list that share a pair (a, b) add to one edge.
    """
    out, n, i = np.zeros_like(X), triplets.shape[0], 0
    while i < n:
        a, b, weight = triplets[i, 0], triplets[i, 1], 0.0
        while i < n and triplets[i, 0] == a and triplets[i, 1] == b:
            if s[i] != 0.0:
                add_edge(X, a, triplets[i, 2], -s[i], out)
                weight += s[i]
            i += 1
        if weight != 0.0:
            add_edge(X, a, b, weight, out)
    return out


@kernel
def add_edge(X: Array, a: int, b: int, weight: float, out: Array) -> None:
    """An edge's part of Lap X."""
    at, other, out_at, out_other = X[a], X[b], out[a], out[b]
    for j in range(X.shape[1]):
        flow = weight * (at[j] - other[j])
        out_at[j] += flow
        out_other[j] -= flow


@kernel
def sparse_pair_predictions(mapped: Array, indptr: Array, indices: Array, data: Array, triplets: Index) -> Any:
    """The same from a sparse X and the dense X M."""
    p = np.empty(triplets.shape[0], data.dtype)
    for i in range(triplets.shape[0]):
        a, s, o = triplets[i]
        total = 0.0
        for other, sign in ((s, 1.0), (o, -1.0)):
            for k in range(indptr[a], indptr[a + 1]):
                total += sign * data[k] * (mapped[a, indices[k]] - mapped[other, indices[k]])
            for k in range(indptr[other], indptr[other + 1]):
                total -= sign * data[k] * (mapped[a, indices[k]] - mapped[other, indices[k]])
        p[i] = total
    return p


@kernel
def sparse_difference(indptr: Array, indices: Array, data: Array, a: int, b: int) -> Any:
    """x_a - x_b as indices and values."""
    first, second = indptr[a + 1] - indptr[a], indptr[b + 1] - indptr[b]
    at, values = np.empty(first + second, np.int64), np.empty(first + second, data.dtype)
    at[:first], values[:first] = indices[indptr[a] : indptr[a + 1]], data[indptr[a] : indptr[a + 1]]
    at[first:], values[first:] = indices[indptr[b] : indptr[b + 1]], -data[indptr[b] : indptr[b + 1]]
    return at, values


@kernel
def sparse_quadratic(at: Index, v: Array, x: Array) -> float:
    """v' x v"""
    total = 0.0
    for k in range(at.size):
        row = 0.0
        for m in range(at.size):
            row += v[m] * x[at[k], at[m]]
        total += v[k] * row
    return total


@kernel
def sparse_rank_one(at: Index, v: Array, s: float, x: Array) -> None:
    """x += s v v'"""
    for k in range(at.size):
        weight = s * v[k]
        for m in range(at.size):
            x[at[k], at[m]] += weight * v[m]


@kernel
def sparse_inner(at: Index, v: Array, other_at: Index, other: Array) -> float:
    """<v, other>"""
    total = 0.0
    for k in range(at.size):
        for m in range(other_at.size):
            if at[k] == other_at[m]:
                total += v[k] * other[m]
    return total
