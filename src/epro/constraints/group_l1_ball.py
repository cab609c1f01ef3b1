"""A ball of the group norm, sum over groups g of ||x_g|| <= radius."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from epro.constraints.base import Constraint, Shape
from epro.constraints.simplex import project_simplex
from epro.kernels.records import kernel
from epro.protocols import Array
from epro.validation import positive


@kernel
def group_norms(x: Array, members: Array, starts: Array, norms: Array) -> float:
    """norms[g] = ||x_g||; returns their sum."""
    total = 0.0
    for g in range(norms.size):
        s = 0.0
        for k in range(starts[g], starts[g + 1]):
            s += x[members[k]] ** 2
        norms[g] = math.sqrt(s)
        total += norms[g]
    return total


@kernel
def scale_groups(x: Array, members: Array, starts: Array, factors: Array) -> None:
    """x_g *= factors[g]"""
    for g in range(factors.size):
        for k in range(starts[g], starts[g + 1]):
            x[members[k]] *= factors[g]


@kernel
def unit_groups(x: Array, members: Array, starts: Array, norms: Array, work: Array) -> None:
    """work_g = x_g / ||x_g||, zero where x_g is zero or in no group"""
    work[:] = 0.0
    for g in range(norms.size):
        if norms[g] > 0.0:
            for k in range(starts[g], starts[g + 1]):
                work[members[k]] = x[members[k]] / norms[g]


class GroupL1BallRecord(NamedTuple):
    """c(x) = sum_g ||x_g|| - radius, v_g = x_g / ||x_g||; group g is members[starts[g]:starts[g + 1]]."""

    members: Array
    starts: Array
    radius: float

    def cut(self, x: Array, work: Array) -> float:
        norms = np.empty(self.starts.size - 1)
        total = group_norms(x.reshape(-1), self.members, self.starts, norms)
        unit_groups(x.reshape(-1), self.members, self.starts, norms, work)
        return total - self.radius

    def descend(self, work: Array, s: float, x: Array) -> None:
        x.reshape(-1)[:] -= s * work

    def inner(self, work: Array, x: Array) -> float:
        return (work * x.reshape(-1)).sum()

    def cut_norm2(self, work: Array) -> float:
        return (work * work).sum()

    def project(self, x: Array) -> None:
        norms = np.empty(self.starts.size - 1)
        if group_norms(x.reshape(-1), self.members, self.starts, norms) > self.radius:
            shrunk = norms.copy()
            project_simplex(shrunk, self.radius)
            scale_groups(x.reshape(-1), self.members, self.starts, shrunk / np.where(norms > 0.0, norms, 1.0))


class GroupL1Ball(Constraint):
    r"""{x : sum_g ||x_g|| <= radius}, with c(x) = sum_g ||x_g|| - radius.

    G2 = sqrt(number of groups), reached where no group is zero; rho = 1: on the sphere at least one group is not
    zero, and its part of every subgradient is a unit vector.

    Parameters
    ----------
    groups : sequence of index arrays
        Disjoint; coordinates in no group are unconstrained. With a matrix x, indices count the flattened matrix.
    radius : float
        Positive.

    Examples
    --------
    >>> import numpy as np
    >>> from epro.constraints import GroupL1Ball
    >>> GroupL1Ball([[0, 1], [2]], 5.0).project(np.array([6.0, 8.0, 1.0]))
    array([3., 4., 0.])
    """

    def __init__(self, groups: Sequence[Any], radius: float) -> None:
        self.members, self.starts = flatten_groups(groups, "GroupL1Ball: groups")
        if len(np.unique(self.members)) < len(self.members):
            twice = np.flatnonzero(np.bincount(self.members) > 1)[0]
            raise ValueError(f"GroupL1Ball: groups must be disjoint, but index {twice} appears more than once")
        self.radius = positive(radius, "GroupL1Ball: radius")

    def bind(self, shape: Shape) -> GroupL1Ball:
        size = math.prod(shape)
        if self.members.max() >= size:
            raise ValueError(f"GroupL1Ball: groups name index {self.members.max()}, but x has {size} entries")
        return super().bind(shape)

    @property
    def lipschitz(self) -> float:
        return math.sqrt(len(self.starts) - 1)

    @property
    def rho(self) -> float:
        return 1.0

    @property
    def radius_bound(self) -> float | None:
        covered = self.shape is not None and len(self.members) == math.prod(self.shape)
        return self.radius if covered else None

    def record(self, shape: Shape, dtype: Any) -> GroupL1BallRecord:
        return GroupL1BallRecord(self.members, self.starts, self.radius)

    def work(self, shape: Shape) -> Array:
        return np.zeros(math.prod(shape))

    def linear_minimizer(self, direction: Array) -> Array:
        """-radius times the unit direction of the group where the direction is longest."""
        if len(self.members) < direction.size:
            raise NotImplementedError("GroupL1Ball: linear minimisation needs every coordinate in a group")
        norms = np.empty(len(self.starts) - 1)
        group_norms(np.ravel(direction).astype(float), self.members, self.starts, norms)
        g = int(np.argmax(norms))
        vertex = np.zeros_like(direction)
        inside = self.members[self.starts[g] : self.starts[g + 1]]
        vertex.flat[inside] = -self.radius * direction.flat[inside] / max(norms[g], 1e-300)
        return vertex

    def __repr__(self) -> str:
        return f"GroupL1Ball({len(self.starts) - 1} groups, {self.radius:g})"


def flatten_groups(groups: Sequence[Any], name: str) -> tuple[Array, Array]:
    """Lists of indices as one array, and where each list starts in it."""
    arrays = [np.atleast_1d(np.asarray(group)) for group in groups]
    if not arrays or any(a.size == 0 or a.ndim != 1 for a in arrays):
        raise ValueError(f"{name} must be a nonempty list of nonempty index arrays")
    if not all(np.issubdtype(a.dtype, np.integer) for a in arrays):
        raise TypeError(f"{name} must hold integers")
    members = np.concatenate(arrays).astype(np.int64)
    if members.min() < 0:
        raise ValueError(f"{name} has the negative index {members.min()}")
    return members, np.concatenate([[0], np.cumsum([a.size for a in arrays])]).astype(np.int64)
