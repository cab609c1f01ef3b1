"""A constraint on all coordinates but the last one, the intercept; in matrices, the last one of each row."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np

from epro.atoms import matrices
from epro.constraints.base import Constraint, LinearSystem, Shape
from epro.protocols import Array
from epro.regularizers.partial import joined, without_last


class OnFirstRecord(NamedTuple):
    """Another record, on x without its last coordinate."""

    first: Any

    def cut(self, x: Array, work: Array) -> float:
        return self.first.cut(x[:-1], work)

    def descend(self, work: Array, s: float, x: Array) -> None:
        self.first.descend(work, s, x[:-1])

    def inner(self, work: Array, x: Array) -> float:
        return self.first.inner(work, x[:-1])

    def cut_norm2(self, work: Array) -> float:
        return self.first.cut_norm2(work)


class OnFirstClosedRecord(NamedTuple):
    """`OnFirstRecord` where the other record can project."""

    first: Any

    def cut(self, x: Array, work: Array) -> float:
        return self.first.cut(x[:-1], work)

    def descend(self, work: Array, s: float, x: Array) -> None:
        self.first.descend(work, s, x[:-1])

    def inner(self, work: Array, x: Array) -> float:
        return self.first.inner(work, x[:-1])

    def cut_norm2(self, work: Array) -> float:
        return self.first.cut_norm2(work)

    def project(self, x: Array) -> None:
        self.first.project(x[:-1])


class OnFirst(Constraint):
    """{(w, b) : w in the inner set}, with its c and constants; b is free.

    Parameters
    ----------
    inner : Constraint

    Examples
    --------
    >>> import numpy as np
    >>> from epro.constraints import L1Ball
    >>> from epro.constraints.partial import OnFirst
    >>> OnFirst(L1Ball(1.0)).project(np.array([3.0, 0.0, 7.0]))
    array([1., 0., 7.])
    """

    def __init__(self, inner: Constraint) -> None:
        self.inner = inner
        if inner.shape is not None:
            self.shape = (*inner.shape[:-1], inner.shape[-1] + 1)

    def bind(self, shape: Shape) -> OnFirst:
        bound = copy.copy(super().bind(shape))
        bound.inner = self.inner.bind(without_last(shape))
        return bound

    @property
    def lipschitz(self) -> float | None:
        return self.inner.lipschitz

    @property
    def rho(self) -> float | None:
        return self.inner.rho

    def check_feasible(self) -> None:
        self.inner.check_feasible()

    def record(self, shape: Shape, dtype: Any) -> Any:
        if len(shape) > 1:
            return super().record(shape, dtype)
        first = self.inner.record(without_last(shape), dtype)
        return OnFirstClosedRecord(first) if hasattr(first, "project") else OnFirstRecord(first)

    def work(self, shape: Shape) -> Array:
        return super().work(shape) if len(shape) > 1 else self.inner.work(without_last(shape))

    def value(self, x: Array) -> float:
        return self.inner.value(x[..., :-1])

    def subgradient(self, x: Array) -> Array:
        return joined(self.inner.subgradient(x[..., :-1]), np.zeros_like(x[..., -1:]))

    def project(self, x: Array) -> Array:
        return joined(self.inner.project(x[..., :-1]), x[..., -1:])

    def projection_error(self, z: Array, x: Array, multipliers: Any = None) -> float:
        return self.inner.projection_error(z[..., :-1], x[..., :-1], multipliers)

    def multipliers(self, x: Array, normal: Array) -> Any:
        """Those of the inner constraint."""
        return self.inner.multipliers(x[:-1], normal[:-1])

    def active(self, x: Array, tol: float = 1e-8) -> list[Any]:
        """Those of the inner constraint."""
        return self.inner.active(x[:-1], tol)

    def linear_inequalities(self, d: int) -> LinearSystem | None:
        linear = self.inner.linear_inequalities(d - 1)
        if linear is None:
            return None
        A_ub, A_eq = (_with_zero_column(A) for A in (linear.A_ub, linear.A_eq))
        return LinearSystem(
            A_ub, linear.b_ub, A_eq, linear.b_eq, np.append(linear.lb, -np.inf), np.append(linear.ub, np.inf)
        )

    def __repr__(self) -> str:
        return f"OnFirst({self.inner!r})"


def _with_zero_column(A: Any) -> Any:
    zero = np.zeros((A.shape[0], 1))
    return matrices.beside([A, zero])
