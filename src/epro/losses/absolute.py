"""The absolute loss."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from epro.losses.base import Loss
from epro.protocols import Array


class AbsoluteLink(NamedTuple):
    """scale |p - y|"""

    scale: float = 1.0

    def loss(self, p: float, y: float) -> float:
        return self.scale * abs(p - y)

    def slope(self, p: float, y: float) -> float:
        if p > y:
            return self.scale
        return -self.scale if p < y else 0.0

    def implicit(self, p: float, y: float, step: float) -> float:
        """A full step, or the one that ends at y."""
        r = p - y
        if abs(r) >= self.scale * step:
            return self.slope(p, y)
        return r / step

    def curvature(self, p: float, y: float) -> float:
        return 0.0


class Absolute(Loss):
    """|p - y| (the median regression).

    Parameters
    ----------
    X : array, sparse matrix or memory map of shape (n, d)
    y : array of shape (n,)
    sample_weight : array of shape (n,), optional
    """

    nonnegative = True
    smoothness = None
    slope_bound = 1.0
    link: Any = AbsoluteLink()

    def pieces(self) -> tuple[Array, Array, Array]:
        return np.full_like(self.y, -1.0), np.full_like(self.y, 1.0), self.y
