"""A regularizer of all coordinates but the last one, the intercept."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from epro.protocols import Array
from epro.regularizers.base import Regularizer, Shape


class OnFirstRecord(NamedTuple):
    """Another record, on x without its last coordinate."""

    first: Any

    def value(self, x: Array) -> float:
        return self.first.value(x[:-1])

    def forward(self, x: Array, step: float) -> None:
        self.first.forward(x[:-1], step)

    def prox(self, x: Array, step: float) -> None:
        self.first.prox(x[:-1], step)


class OnFirstColumns(Regularizer):
    """g of a matrix without its last column, called back from Python.

    Parameters
    ----------
    inner : Regularizer
    """

    def __init__(self, inner: Regularizer) -> None:
        self.inner = inner

    @property
    def smooth(self) -> bool:
        return self.inner.smooth

    def value(self, x: Array) -> float:
        return self.inner.value(x[:, :-1])

    def subgradient(self, x: Array) -> Array:
        return np.hstack([self.inner.subgradient(x[:, :-1]), np.zeros_like(x[:, -1:])])

    def prox(self, x: Array, step: float) -> Array:
        return np.hstack([self.inner.prox(x[:, :-1], step), x[:, -1:]])


class OnFirst(Regularizer):
    """g(w, b) = inner(w): not strongly convex, whatever inner is.

    Parameters
    ----------
    inner : Regularizer

    Examples
    --------
    >>> from epro.regularizers import Ridge
    >>> from epro.regularizers.partial import OnFirst
    >>> OnFirst(Ridge(2.0)).value([1.0, 7.0])
    1.0
    """

    def __init__(self, inner: Regularizer) -> None:
        self.inner = inner
        self.ridge, self.l1 = inner.ridge, inner.l1
        self.tilt = None if inner.tilt is None else np.append(inner.tilt, 0.0)

    @property
    def strong_convexity(self) -> float:
        return 0.0

    @property
    def smooth(self) -> bool:
        return self.inner.smooth

    def lipschitz_on(self, radius: float, shape: Shape) -> float:
        return self.inner.lipschitz_on(radius, (shape[0] - 1,))

    def check(self, shape: Shape) -> None:
        self.inner.check((shape[0] - 1,))

    def record(self, shape: Shape, dtype: Any) -> OnFirstRecord:
        return OnFirstRecord(self.inner.record((shape[0] - 1,), dtype))

    def __repr__(self) -> str:
        return f"OnFirst({self.inner!r})"
