"""A regularizer of all coordinates but the last one, the intercept; in matrices, the last one of each row."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from epro.protocols import Array
from epro.regularizers.base import PythonRegularizer, Regularizer, Shape


def without_last(shape: Shape) -> Shape:
    """The shape of the coordinates beside the intercept (beside one for each row, in matrices)."""
    return (*shape[:-1], shape[-1] - 1)


def joined(v: Array, b: Array) -> Array:
    """v and, as last coordinate, b."""
    return np.concatenate([v, b], axis=-1)


class OnFirstRecord(NamedTuple):
    """Another record, on x without its last coordinate."""

    first: Any

    def value(self, x: Array) -> float:
        return self.first.value(x[:-1])

    def forward(self, x: Array, step: float) -> None:
        self.first.forward(x[:-1], step)

    def prox(self, x: Array, step: float) -> None:
        self.first.prox(x[:-1], step)


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
        tilt = inner.tilt
        self.tilt = None if tilt is None else joined(tilt, np.zeros_like(tilt[..., -1:]))

    @property
    def strong_convexity(self) -> float:
        return 0.0

    @property
    def smooth(self) -> bool:
        return self.inner.smooth

    def lipschitz_on(self, radius: float, shape: Shape) -> float:
        return self.inner.lipschitz_on(radius, without_last(shape))

    def check(self, shape: Shape) -> None:
        self.inner.check(without_last(shape))

    def record(self, shape: Shape, dtype: Any) -> Any:
        if len(shape) > 1:
            return PythonRegularizer(self)
        return OnFirstRecord(self.inner.record(without_last(shape), dtype))

    def value(self, x: Array) -> float:
        return self.inner.value(np.asarray(x)[..., :-1])

    def subgradient(self, x: Array) -> Array:
        return joined(self.inner.subgradient(x[..., :-1]), np.zeros_like(x[..., -1:]))

    def prox(self, x: Array, step: float) -> Array:
        return joined(self.inner.prox(x[..., :-1], step), x[..., -1:])

    def __repr__(self) -> str:
        return f"OnFirst({self.inner!r})"
