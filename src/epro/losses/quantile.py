"""The quantile (pinball) loss."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from epro.losses.base import Loss
from epro.protocols import Array
from epro.validation import positive


class QuantileLink(NamedTuple):
    """q (y - p) below y, (1 - q) (p - y) above"""

    quantile: float

    def loss(self, p: float, y: float) -> float:
        return max(self.quantile * (y - p), (1.0 - self.quantile) * (p - y))

    def slope(self, p: float, y: float) -> float:
        if p > y:
            return 1.0 - self.quantile
        return -self.quantile if p < y else 0.0

    def implicit(self, p: float, y: float, step: float) -> float:
        """A full step, or the one that ends at y."""
        r = p - y
        if r >= (1.0 - self.quantile) * step or r <= -self.quantile * step:
            return self.slope(p, y)
        return r / step

    def curvature(self, p: float, y: float) -> float:
        return 0.0


class Quantile(Loss):
    """The pinball loss, whose minimiser is a quantile of y.

    Parameters
    ----------
    X : array, sparse matrix or memory map of shape (n, d)
    y : array of shape (n,)
    quantile : float, default 0.5
        Strictly between 0 and 1.
    sample_weight : array of shape (n,), optional
    """

    nonnegative = True
    smoothness = None

    def __init__(
        self, X: Any, y: Any, quantile: float = 0.5, *, sample_weight: Any = None, intercept: bool = False
    ) -> None:
        self.quantile = positive(quantile, "Quantile: quantile", zero=True)
        if not 0.0 < self.quantile < 1.0:
            raise ValueError(f"Quantile: quantile must lie strictly between 0 and 1, got {quantile}")
        self.slope_bound = max(self.quantile, 1.0 - self.quantile)
        super().__init__(X, y, sample_weight=sample_weight, intercept=intercept)

    @property
    def link(self) -> QuantileLink:
        return QuantileLink(self.quantile)

    def pieces(self) -> tuple[Array, Array, Array]:
        return np.full_like(self.y, -self.quantile), np.full_like(self.y, 1.0 - self.quantile), self.y
