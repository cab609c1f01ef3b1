"""Huber's loss."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from epro.losses.base import Loss
from epro.protocols import Array
from epro.validation import positive


class HuberLink(NamedTuple):
    """r^2 / 2 where |r| <= delta, and delta (|r| - delta / 2) beyond, with r = p - y"""

    delta: float

    def loss(self, p: float, y: float) -> float:
        r = abs(p - y)
        return 0.5 * r * r if r <= self.delta else self.delta * (r - 0.5 * self.delta)

    def slope(self, p: float, y: float) -> float:
        return min(max(p - y, -self.delta), self.delta)

    def implicit(self, p: float, y: float, step: float) -> float:
        """The quadratic piece's s = r / (1 + step), or the end of the linear one."""
        return min(max((p - y) / (1.0 + step), -self.delta), self.delta)

    def curvature(self, p: float, y: float) -> float:
        return 1.0 if abs(p - y) <= self.delta else 0.0


class Huber(Loss):
    """Huber's loss: half the squared error up to ``delta``, linear beyond.

    Parameters
    ----------
    X : array, sparse matrix or memory map of shape (n, d)
    y : array of shape (n,)
    delta : float, default 1.0
        Where the loss becomes linear.
    sample_weight : array of shape (n,), optional
    """

    nonnegative = True
    smoothness = 1.0
    rounding = 1.0

    def __init__(
        self, X: Any, y: Any, delta: float = 1.0, *, sample_weight: Any = None, intercept: bool = False
    ) -> None:
        self.delta = self.slope_bound = positive(delta, "Huber: delta")
        super().__init__(X, y, sample_weight=sample_weight, intercept=intercept)

    @property
    def link(self) -> HuberLink:
        return HuberLink(self.delta)

    def pieces(self) -> tuple[Array, Array, Array]:
        return np.full_like(self.y, -self.delta), np.full_like(self.y, self.delta), self.y
