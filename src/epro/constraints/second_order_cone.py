"""The second-order cone, ||x[1:]|| <= x[0]."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from epro.constraints.base import Constraint, Shape
from epro.protocols import Array


class SecondOrderConeRecord(NamedTuple):
    """c(x) = ||x[1:]|| - x[0], v = (-1, x[1:] / ||x[1:]||)."""

    apex: float  # zero; a record needs a field

    def cut(self, x: Array, work: Array) -> float:
        work[:] = x
        length = math.sqrt((x[1:] * x[1:]).sum())
        if length > 0.0:
            work /= length
        work[0] = -1.0
        return length - x[0]

    def descend(self, work: Array, s: float, x: Array) -> None:
        x -= s * work

    def inner(self, work: Array, x: Array) -> float:
        return (work * x).sum()

    def cut_norm2(self, work: Array) -> float:
        return (work * work).sum()

    def project(self, x: Array) -> None:
        length, height = math.sqrt((x[1:] * x[1:]).sum()), x[0]
        if length <= -height:
            x[:] = self.apex
        elif length > height:
            x[1:] *= 0.5 * (length + height) / length
            x[0] = 0.5 * (length + height)


class SecondOrderCone(Constraint):
    r"""{x : ||x[1:]|| <= x[0]}, with c(x) = ||x[1:]|| - x[0].

    G2 = sqrt(2). rho = 1: away from the apex ||v|| = sqrt(2) and c is sqrt(2) times the distance; where P(x) = 0,
    c(x) = ||x[1:]|| + |x[0]| >= ||x||.

    Examples
    --------
    >>> import numpy as np
    >>> from epro.constraints import SecondOrderCone
    >>> SecondOrderCone().project(np.array([0.0, 3.0, 4.0]))
    array([2.5, 1.5, 2. ])
    """

    @property
    def lipschitz(self) -> float:
        return math.sqrt(2.0)

    @property
    def rho(self) -> float:
        return 1.0

    def bind(self, shape: Shape) -> SecondOrderCone:
        if len(shape) != 1:
            raise ValueError(f"SecondOrderCone: x must be a vector, but has shape {tuple(shape)}")
        return super().bind(shape)

    def record(self, shape: Shape, dtype: Any) -> SecondOrderConeRecord:
        return SecondOrderConeRecord(0.0)
