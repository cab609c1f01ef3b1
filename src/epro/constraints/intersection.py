"""Several constraints at once.

Members that are linear inequalities are projected on together, by one quadratic program; where others remain, by
Dykstra's method (``dykstra.py``).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from epro.constraints.base import Constraint, InfeasibleConstraint, LinearSystem, Shape
from epro.constraints.dykstra import dykstra
from epro.constraints.linear import diagnose, linear_program, merge
from epro.constraints.pivoting import Rows
from epro.constraints.polyhedron import stacked_rows
from epro.constraints.qp import project_rows
from epro.protocols import Array


class PairRecord(NamedTuple):
    """The larger of two cuts; work = (which, work of the first, work of the second)."""

    first: Any
    second: Any
    split: int

    def cut(self, x: Array, work: Array) -> float:
        a = self.first.cut(x, work[1 : self.split])
        b = self.second.cut(x, work[self.split :])
        work[0] = 0.0 if a >= b else 1.0
        return max(a, b)

    def descend(self, work: Array, s: float, x: Array) -> None:
        if work[0] == 0.0:
            self.first.descend(work[1 : self.split], s, x)
        else:
            self.second.descend(work[self.split :], s, x)

    def inner(self, work: Array, x: Array) -> float:
        if work[0] == 0.0:
            return self.first.inner(work[1 : self.split], x)
        return self.second.inner(work[self.split :], x)

    def cut_norm2(self, work: Array) -> float:
        if work[0] == 0.0:
            return self.first.cut_norm2(work[1 : self.split])
        return self.second.cut_norm2(work[self.split :])


class Intersection(Constraint):
    r"""The points that are in every member, with c(x) = max over members of their c(x).

    G2 is the largest of the members'; rho is unknown (None), since two sets can meet at any angle.

    Parameters
    ----------
    members : sequence of constraints

    Examples
    --------
    >>> import numpy as np
    >>> from epro.constraints import HalfSpace, Intersection, NonNegative
    >>> Intersection([NonNegative(), HalfSpace([1.0, 1.0], 1.0)]).project(np.array([2.0, -1.0])).round(12)
    array([1., 0.])
    """

    def __init__(self, members: Sequence[Any]) -> None:
        from epro.constraints.convert import as_constraint

        self.members = list(_flat([as_constraint(member) for member in members]))
        if not self.members:
            raise ValueError("Intersection: members must not be empty")
        self._rows: Rows | None = None
        self._state: Array | None = None
        for shape in {member.shape for member in self.members if member.shape is not None}:
            self._bind_members(shape)
            self.shape = shape

    def _bind_members(self, shape: Shape) -> None:
        self.members = [member.bind(shape) for member in self.members]

    def bind(self, shape: Shape) -> Intersection:
        bound = copy.copy(super().bind(shape))
        bound._bind_members(tuple(shape))
        bound._rows = bound._state = None
        return bound

    @property
    def lipschitz(self) -> float | None:
        known = [member.lipschitz for member in self.members]
        return None if None in known else max(known)  # type: ignore[type-var]

    @property
    def radius_bound(self) -> float | None:
        return min((m.radius_bound for m in self.members if m.radius_bound is not None), default=None)

    def record(self, shape: Shape, dtype: Any) -> Any:
        if len(shape) != 1:
            return super().record(shape, dtype)
        record, size = self.members[-1].record(shape, dtype), self.members[-1].work(shape).size
        for member in self.members[-2::-1]:
            split = 1 + member.work(shape).size
            record, size = PairRecord(member.record(shape, dtype), record, split), split + size
        return record

    def work(self, shape: Shape) -> Array:
        if len(shape) != 1:
            return super().work(shape)
        return np.zeros(sum(member.work(shape).size for member in self.members) + len(self.members) - 1)

    def value(self, x: Array) -> float:
        x = self._point(x)
        return max(member.value(x) for member in self.members)

    def subgradient(self, x: Array) -> Array:
        x = self._point(x)
        return max(self.members, key=lambda member: member.value(x)).subgradient(x)

    # -- projection

    def linear_inequalities(self, d: int) -> LinearSystem | None:
        parts = [member.linear_inequalities(d) for member in self.members]
        return None if any(part is None for part in parts) else merge(parts)  # type: ignore[arg-type]

    def project(self, x: Array) -> Array:
        x = self._finite_point(x)
        p = self._nearest(x.astype(float))[0]
        return p.astype(x.dtype, copy=False)

    def projection_error(self, z: Array, x: Array, multipliers: Any = None) -> float:
        """The measured bound on ||x - P(z)|| of the projection of z (which is done again)."""
        p, error = self._nearest(np.asarray(z, dtype=float))
        return error + float(np.linalg.norm(p - x))

    def _nearest(self, z: Array) -> tuple[Array, float]:
        linear = [member for member in self.members if member.linear_inequalities(z.size) is not None]
        curved = [member for member in self.members if member.linear_inequalities(z.size) is None]
        if len(linear) > 1:
            together = _Linear(self, merge([m.linear_inequalities(z.size) for m in linear]))  # type: ignore[misc]
            blocks = [together.project] + [member.project for member in curved]
        else:
            blocks = [member.project for member in linear + curved]
        if len(blocks) == 1:
            return blocks[0](z), float(np.finfo(float).eps * np.linalg.norm(z))
        end = dykstra(blocks, z)
        size = 1.0 + float(np.linalg.norm(end.x))
        if not end.apart <= 1e-7 * size:
            names = ", ".join(f"member {k}, {m!r}" for k, m in enumerate(self.members))
            text = f"Intersection: no common point found of {names}; they stay {end.apart:.3g} apart"
            raise InfeasibleConstraint(text)
        return end.x.reshape(z.shape), end.error

    def check_feasible(self) -> None:
        for k, member in enumerate(self.members):
            try:
                member.check_feasible()
            except InfeasibleConstraint as error:
                raise InfeasibleConstraint(f"Intersection: member {k}, {member!r}, is empty: {error}") from None
        if self.shape is None:
            return
        linear = [k for k, m in enumerate(self.members) if m.linear_inequalities(math.prod(self.shape)) is not None]
        self._check_linear(linear, math.prod(self.shape))
        if len(linear) < len(self.members):
            self._nearest(np.zeros(self.shape))

    def _check_linear(self, linear: list[int], d: int) -> None:
        parts = [self.members[k].linear_inequalities(d) for k in linear]
        if len(parts) < 2:
            return
        owners = {
            "ub": np.repeat(linear, [len(p.b_ub) for p in parts]),  # type: ignore[union-attr]
            "eq": np.repeat(linear, [len(p.b_eq) for p in parts]),  # type: ignore[union-attr]
            "lower": np.array(linear)[np.argmax([p.lb for p in parts], axis=0)],  # type: ignore[union-attr]
            "upper": np.array(linear)[np.argmin([p.ub for p in parts], axis=0)],  # type: ignore[union-attr]
        }

        def describe(kind: str, i: int) -> str:
            k = int(owners[kind][i])
            return f"member {k}, {self.members[k]!r}"

        diagnose(merge(parts), "Intersection", describe)  # type: ignore[arg-type]

    def linear_minimizer(self, direction: Array) -> Array:
        """A vertex, by the simplex method of HiGHS, where all members are linear inequalities."""
        linear = self.linear_inequalities(direction.size)
        if linear is None:
            return super().linear_minimizer(direction)
        return linear_program(linear, direction, "Intersection").astype(direction.dtype)

    def multipliers(self, x: Array, normal: Array) -> list[Any]:
        """One entry per member: its own multipliers for its share of ``normal``."""
        x, normal = np.asarray(x, dtype=float), np.asarray(normal, dtype=float)
        shares = dykstra([member.project for member in self.members], x + normal).shares
        parts = zip(self.members, shares, strict=True)
        return [member.multipliers(x, share.reshape(x.shape)) for member, share in parts]

    def active(self, x: Array, tol: float = 1e-8) -> list[tuple[int, Any]]:
        """Pairs (member, active piece of the member)."""
        return [(k, piece) for k, member in enumerate(self.members) for piece in member.active(x, tol)]

    def __repr__(self) -> str:
        return f"Intersection([{', '.join(map(repr, self.members))}])"


class _Linear:
    """The linear members of an intersection as one set to project on."""

    def __init__(self, owner: Intersection, linear: LinearSystem) -> None:
        if owner._rows is None:
            owner._rows = stacked_rows(linear)
        self.owner, self.rows = owner, owner._rows

    def project(self, z: Array) -> Array:
        try:
            found = project_rows(self.rows, z.ravel(), self.owner._state)
        except InfeasibleConstraint:
            self.owner.bind(z.shape).check_feasible()
            raise
        self.owner._state = found.state
        return found.x.reshape(z.shape)


def _flat(members: Sequence[Constraint]) -> Iterator[Constraint]:
    for member in members:
        if isinstance(member, Intersection):
            yield from member.members
        else:
            yield member
