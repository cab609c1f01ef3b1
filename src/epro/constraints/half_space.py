"""One linear inequality, <a, x> <= b."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from epro.constraints.base import Constraint, InfeasibleConstraint, LinearSystem, Shape
from epro.constraints.linear import system
from epro.protocols import Array
from epro.validation import finite


class HalfSpaceRecord(NamedTuple):
    """c(x) = <a, x> - b, v = a; work is not needed."""

    a: Array
    b: float
    length2: float

    def cut(self, x: Array, work: Array) -> float:
        return (self.a * x).sum() - self.b

    def descend(self, work: Array, s: float, x: Array) -> None:
        x -= s * self.a

    def inner(self, work: Array, x: Array) -> float:
        return (self.a * x).sum()

    def cut_norm2(self, work: Array) -> float:
        return self.length2

    def project(self, x: Array) -> None:
        excess = (self.a * x).sum() - self.b
        if excess > 0.0:
            x -= (excess / self.length2) * self.a


class HalfSpace(Constraint):
    r"""{x : <a, x> <= b}, with c(x) = <a, x> - b.

    G2 = rho = ||a||: the distance to the half-space is [c(x)]_+ / ||a||.

    Parameters
    ----------
    a : array
        Not zero; of the shape of x.
    b : float

    Examples
    --------
    >>> import numpy as np
    >>> from epro.constraints import HalfSpace
    >>> HalfSpace([1.0, 1.0], 1.0).project(np.array([1.0, 1.0]))
    array([0.5, 0.5])
    """

    def __init__(self, a: Any, b: float) -> None:
        self.a = finite(a, "HalfSpace: a", copy=True).astype(float)
        self.b = float(finite(b, "HalfSpace: b", ndim=0))
        self.shape = self.a.shape

    def check_feasible(self) -> None:
        if not self.a.any() and self.b < 0:
            raise InfeasibleConstraint(f"HalfSpace: a is zero, and 0 <= b fails for b = {self.b:g}")

    @property
    def lipschitz(self) -> float:
        return float(np.linalg.norm(self.a))

    @property
    def rho(self) -> float | None:
        return self.lipschitz or None

    def record(self, shape: Shape, dtype: Any) -> HalfSpaceRecord:
        return HalfSpaceRecord(self.a.astype(dtype), self.b, float(np.vdot(self.a, self.a)) or math.inf)

    def work(self, shape: Shape) -> Array:
        return np.zeros(1)

    def linear_inequalities(self, d: int) -> LinearSystem:
        return system(d, self.a.reshape(1, -1), [self.b])

    def __repr__(self) -> str:
        return f"HalfSpace(..., {self.b:g})"
