"""Coordinates in order: increasing, decreasing, in several chains, or in a partial order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from epro.constraints.base import Constraint, LinearSystem, Shape
from epro.constraints.group_l1_ball import flatten_groups
from epro.constraints.linear import system
from epro.kernels.records import kernel
from epro.protocols import Array


@kernel
def worst_edge(x: Array, tails: Array, heads: Array, work: Array) -> float:
    """max over edges of x[tail] - x[head]; work = (tail, head)."""
    worst = -np.inf
    for e in range(tails.size):
        fall = x[tails[e]] - x[heads[e]]
        if fall > worst:
            worst = fall
            work[0], work[1] = tails[e], heads[e]
    return float(worst)


@kernel
def pool_adjacent(x: Array, order: Array, starts: Array) -> None:
    """Each chain x[order[starts[k]:starts[k + 1]]] becomes its nearest nondecreasing sequence.

    Pool adjacent violators: blocks of equal value, merged backwards while a block's mean lies below the one before.
    """
    means = np.empty(order.size)
    sizes = np.empty(order.size, np.int64)
    for k in range(starts.size - 1):
        top = -1
        for i in range(starts[k], starts[k + 1]):
            top += 1
            means[top], sizes[top] = x[order[i]], 1
            while top > 0 and means[top - 1] >= means[top]:
                total = sizes[top - 1] + sizes[top]
                means[top - 1] += (means[top] - means[top - 1]) * (sizes[top] / total)
                sizes[top - 1] = total
                top -= 1
        i = starts[k]
        for block in range(top + 1):
            for _ in range(sizes[block]):
                x[order[i]] = means[block]
                i += 1


class OrderRecord(NamedTuple):
    """c(x) = max over edges (i, j) of x_i - x_j, v = e_i - e_j; work = (i, j)."""

    tails: Array
    heads: Array

    def cut(self, x: Array, work: Array) -> float:
        return worst_edge(x, self.tails, self.heads, work)

    def descend(self, work: Array, s: float, x: Array) -> None:
        x[int(work[0])] -= s
        x[int(work[1])] += s

    def inner(self, work: Array, x: Array) -> float:
        return x[int(work[0])] - x[int(work[1])]

    def cut_norm2(self, work: Array) -> float:
        return 2.0


class ChainsRecord(NamedTuple):
    """An `OrderRecord` of disjoint chains, which can also be projected."""

    tails: Array
    heads: Array
    order: Array
    starts: Array

    def cut(self, x: Array, work: Array) -> float:
        return worst_edge(x, self.tails, self.heads, work)

    def descend(self, work: Array, s: float, x: Array) -> None:
        x[int(work[0])] -= s
        x[int(work[1])] += s

    def inner(self, work: Array, x: Array) -> float:
        return x[int(work[0])] - x[int(work[1])]

    def cut_norm2(self, work: Array) -> float:
        return 2.0

    def project(self, x: Array) -> None:
        pool_adjacent(x, self.order, self.starts)


class Monotone(Constraint):
    r"""{x : x_i <= x_j for every edge (i, j)}, with c(x) = max over edges of x_i - x_j.

    G2 = sqrt(2). For rho: let level(j) be the length of the longest path that ends in j. If c(x) = e > 0, then
    x + e (level - mean level) is in order, since levels grow by at least 1 along an edge; so
    ||x - P(x)|| <= e ||level - mean level|| = c(x) / rho, the mean being that of a connected part. For one chain of
    length d this gives rho = sqrt(12 / (d (d^2 - 1))), and no larger rho is valid (take x = -e level).

    Parameters
    ----------
    increasing : bool
        False reverses every inequality.
    chains : sequence of index arrays, optional
        The coordinates of each chain, in order; one chain of all coordinates by default. Chains may share coordinates.
    edges : array of shape (m, 2), optional
        In place of chains: pairs (i, j) with x_i <= x_j.

    Examples
    --------
    >>> import numpy as np
    >>> from epro.constraints import Monotone
    >>> Monotone().project(np.array([1.0, 3.0, 2.0, 4.0]))
    array([1. , 2.5, 2.5, 4. ])
    """

    @property
    def lipschitz(self) -> float:
        return math.sqrt(2.0)

    def __init__(self, increasing: bool = True, chains: Sequence[Any] | None = None, edges: Any = None) -> None:
        if chains is not None and edges is not None:
            raise ValueError("Monotone: give either chains or edges")
        self.increasing = bool(increasing)
        self.chains = None if chains is None else flatten_groups(chains, "Monotone: chains")
        self.edges = None if edges is None else _pairs(edges)

    def _chains(self, d: int) -> tuple[Array, Array] | None:
        """(order, starts) of disjoint increasing chains; None for a partial order."""
        if self.edges is not None:
            return None
        order, starts = self.chains or (np.arange(d), np.array([0, d]))
        if len(np.unique(order)) < len(order):
            return None
        if not self.increasing:
            order, starts = order[::-1].copy(), (len(order) - starts)[::-1].copy()
        return order, starts

    def _edges(self, d: int) -> tuple[Array, Array]:
        """(tails, heads), with x[tail] <= x[head]."""
        if self.edges is not None:
            tails, heads = self.edges
        else:
            order, starts = self.chains or (np.arange(d), np.array([0, d]))
            inside = np.setdiff1d(np.arange(len(order) - 1), starts[1:] - 1)
            tails, heads = order[inside], order[inside + 1]
        return (tails, heads) if self.increasing else (heads, tails)

    def bind(self, shape: Shape) -> Monotone:
        if len(shape) != 1:
            raise ValueError(f"Monotone: x must be a vector, but has shape {tuple(shape)}")
        top = max((int(v.max(initial=-1)) for v in self._edges(shape[0])), default=-1)
        if top >= shape[0]:
            raise ValueError(f"Monotone: an index is {top}, but x has {shape[0]} entries")
        return super().bind(shape)

    @property
    def rho(self) -> float | None:
        if self.shape is None:
            return None
        (d,) = self.shape
        tails, heads = self._edges(d)
        level = _levels(tails, heads, d)
        if level is None:  # a cycle: its coordinates are equal
            return None
        graph = sparse.coo_array((np.ones(len(tails)), (tails, heads)), shape=(d, d))
        _, part = sparse.csgraph.connected_components(graph, directed=False)
        mean = np.bincount(part, level) / np.bincount(part)
        spread = float(np.linalg.norm(level - mean[part]))
        return 1.0 / spread if spread else 1.0

    def record(self, shape: Shape, dtype: Any) -> OrderRecord | ChainsRecord:
        edges, chains = self._edges(shape[0]), self._chains(shape[0])
        return OrderRecord(*edges) if chains is None else ChainsRecord(*edges, *chains)

    def work(self, shape: Shape) -> Array:
        return np.zeros(2)

    def project(self, x: Array) -> Array:
        if self._chains(np.size(x)) is not None:
            return super().project(x)
        return self._polyhedron(np.size(x)).project(self._finite_point(x))

    def _polyhedron(self, d: int) -> Any:
        from epro.constraints.polyhedron import Polyhedron

        linear = self.linear_inequalities(d)
        return Polyhedron(linear.A_ub, linear.b_ub)

    def multipliers(self, x: Array, normal: Array) -> Array:
        """One multiplier per edge."""
        d = np.size(x)
        chains = self._chains(d)
        if chains is None:
            return self._polyhedron(d).multipliers(x, normal)
        # normal = sum over a chain's edges of lam_k (e_k - e_{k+1}): the lam are running sums along the chain
        order, starts = chains
        sums = np.cumsum(np.asarray(normal, dtype=float)[order])
        before = np.concatenate([[0.0], sums])[starts[:-1]]
        running = sums - np.repeat(before, np.diff(starts))
        last = np.zeros(len(order), dtype=bool)
        last[starts[1:] - 1] = True
        along = np.maximum(running[~last], 0.0)
        return along if self.increasing else along[::-1].copy()

    def active(self, x: Array, tol: float = 1e-8) -> list[tuple[int, int]]:
        """The edges (i, j) with x_i = x_j."""
        tails, heads = self._edges(np.size(x))
        tight = np.asarray(x)[tails] - np.asarray(x)[heads] >= -tol
        return list(zip(tails[tight].tolist(), heads[tight].tolist(), strict=True))

    def linear_inequalities(self, d: int) -> LinearSystem:
        tails, heads = self._edges(d)
        m = len(tails)
        data, rows = np.repeat([1.0, -1.0], m), np.tile(np.arange(m), 2)
        A = sparse.csr_array((data, (rows, np.concatenate([tails, heads]))), shape=(m, d))
        return system(d, A, np.zeros(m))

    def __repr__(self) -> str:
        parts = [] if self.increasing else ["increasing=False"]
        parts += ["chains=..."] * (self.chains is not None) + ["edges=..."] * (self.edges is not None)
        return f"Monotone({', '.join(parts)})"


def _pairs(edges: Any) -> tuple[Array, Array]:
    pairs = np.asarray(edges)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
        raise ValueError(f"Monotone: edges must be integer pairs, an array of shape (m, 2), got shape {pairs.shape}")
    if pairs.size and pairs.min() < 0:
        raise ValueError(f"Monotone: edges has the negative index {pairs.min()}")
    return pairs[:, 0].astype(np.int64), pairs[:, 1].astype(np.int64)


@kernel
def _relax(tails: Array, heads: Array, level: Array) -> bool:
    changed = False
    for e in range(tails.size):
        if level[heads[e]] < level[tails[e]] + 1.0:
            level[heads[e]] = level[tails[e]] + 1.0
            changed = True
    return changed


def _levels(tails: Array, heads: Array, d: int) -> Array | None:
    """The length of the longest path that ends in each coordinate; None where there is a cycle."""
    level = np.zeros(d)
    for _ in range(d + 1):
        if not _relax(tails, heads, level):
            return level
    return None
