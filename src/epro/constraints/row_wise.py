"""One constraint for each row of a matrix."""

from __future__ import annotations

import copy

import numpy as np

from epro.constraints.base import Constraint, Shape
from epro.protocols import Array


class RowWise(Constraint):
    """{x of shape (K, d) : each row of x is in the inner set}, with c the largest of the rows'.

    G2 is the inner constraint's. So is rho over sqrt(K): the squared distances of the rows add up, and none of them
    is further out than the worst.

    Parameters
    ----------
    inner : Constraint

    Examples
    --------
    >>> import numpy as np
    >>> from epro.constraints import L1Ball
    >>> from epro.constraints.row_wise import RowWise
    >>> RowWise(L1Ball(1.0)).project(np.array([[3.0, 0.0], [0.0, 0.5]]))
    array([[1. , 0. ],
           [0. , 0.5]])
    """

    def __init__(self, inner: Constraint) -> None:
        self.inner = inner
        self.each: list[Constraint] = []  # one copy for each row: what a projection remembers is its row's

    def bind(self, shape: Shape) -> RowWise:
        bound = copy.copy(super().bind(shape))
        bound.inner = self.inner.bind(shape[1:])
        bound.each = [self.inner.bind(shape[1:]) for _ in range(shape[0])]
        return bound

    @property
    def lipschitz(self) -> float | None:
        return self.inner.lipschitz

    @property
    def rho(self) -> float | None:
        rho = self.inner.rho
        return None if rho is None or self.shape is None else rho / np.sqrt(self.shape[0])

    @property
    def radius_bound(self) -> float | None:
        radius = self.inner.radius_bound
        return None if radius is None or self.shape is None else radius * np.sqrt(self.shape[0])

    def check_feasible(self) -> None:
        self.inner.check_feasible()

    def value(self, x: Array) -> float:
        return max(self.inner.value(row) for row in x)

    def subgradient(self, x: Array) -> Array:
        v = np.zeros_like(x)
        k = int(np.argmax([self.inner.value(row) for row in x]))
        v[k] = self.inner.subgradient(x[k])
        return v

    def project(self, x: Array) -> Array:
        return np.stack([inner.project(row) for inner, row in zip(self._inners(x), x, strict=True)])

    def projection_error(self, z: Array, x: Array, multipliers: object = None) -> float:
        """The length of the rows' errors."""
        rows = zip(self._inners(x), z, x, strict=True)
        return float(np.linalg.norm([inner.projection_error(a, b) for inner, a, b in rows]))

    def linear_minimizer(self, direction: Array) -> Array:
        """Row by row."""
        return np.stack([self.inner.linear_minimizer(row) for row in direction])

    def _inners(self, x: Array) -> list[Constraint]:
        return self.each or [self.inner] * len(x)

    def __repr__(self) -> str:
        return f"RowWise({self.inner!r})"
