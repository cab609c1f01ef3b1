"""No constraint at all."""

from __future__ import annotations

from typing import Any, NamedTuple

from epro.constraints.base import Constraint, LinearSystem, Shape
from epro.constraints.linear import system
from epro.protocols import Array


class EverywhereRecord(NamedTuple):
    """c(x) = -1, v = 0."""

    level: float

    def cut(self, x: Array, work: Array) -> float:
        return self.level

    def descend(self, work: Array, s: float, x: Array) -> None:
        pass

    def inner(self, work: Array, x: Array) -> float:
        return 0.0

    def cut_norm2(self, work: Array) -> float:
        return 0.0

    def project(self, x: Array) -> None:
        pass


class Everywhere(Constraint):
    """All of space: c(x) = -1, never violated. ``constraint=None`` means this.

    Lemma 0 holds for every rho, since c is never positive; rho = 1 is as good as any.

    Examples
    --------
    >>> import numpy as np
    >>> from epro.constraints import Everywhere
    >>> Everywhere().project(np.array([1.0, 2.0]))
    array([1., 2.])
    """

    @property
    def lipschitz(self) -> float:
        return 0.0

    @property
    def rho(self) -> float:
        return 1.0

    def record(self, shape: Shape, dtype: Any) -> EverywhereRecord:
        return EverywhereRecord(-1.0)

    def linear_inequalities(self, d: int) -> LinearSystem:
        return system(d)
