"""The hinge loss."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from epro.losses.base import Loss
from epro.protocols import Array


class HingeLink(NamedTuple):
    """[margin - y p]_+"""

    margin: float = 1.0

    def loss(self, p: float, y: float) -> float:
        return max(self.margin - y * p, 0.0)

    def slope(self, p: float, y: float) -> float:
        return -y if self.margin > y * p else 0.0

    def implicit(self, p: float, y: float, step: float) -> float:
        """s = -y r with r in [0, 1]: r = 1 unless that step crosses the kink, then the r that ends on it."""
        slack = self.margin - y * p
        if slack <= 0.0:
            return 0.0
        reach = step * y * y
        return -y if slack >= reach else -y * slack / reach

    def curvature(self, p: float, y: float) -> float:
        return 0.0


class Hinge(Loss):
    """[1 - y p]_+ for labels y of -1 and 1 (the support vector machine).

    Parameters
    ----------
    X : array, sparse matrix or memory map of shape (n, d)
    y : array of shape (n,)
        Labels -1 and 1.
    sample_weight : array of shape (n,), optional
    """

    nonnegative = True
    smoothness = None
    slope_bound = 1.0
    targets = "signs"
    link: Any = HingeLink()

    def pieces(self) -> tuple[Array, Array, Array]:
        return np.minimum(-self.y, 0.0), np.maximum(-self.y, 0.0), self.link.margin / self.y
