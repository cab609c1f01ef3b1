"""The squared hinge loss."""

from __future__ import annotations

from typing import Any, NamedTuple

from epro.losses.base import Loss


class SquaredHingeLink(NamedTuple):
    """[margin - y p]_+^2"""

    margin: float = 1.0

    def loss(self, p: float, y: float) -> float:
        return max(self.margin - y * p, 0.0) ** 2

    def slope(self, p: float, y: float) -> float:
        return -2.0 * y * max(self.margin - y * p, 0.0)

    def implicit(self, p: float, y: float, step: float) -> float:
        """s = -2 y m with the slack m = margin - y (p - step*s) it ends at, so m (1 + 2 step y^2) = margin - y p."""
        return -2.0 * y * max(self.margin - y * p, 0.0) / (1.0 + 2.0 * step * y * y)

    def curvature(self, p: float, y: float) -> float:
        return 2.0 * y * y if self.margin > y * p else 0.0


class SquaredHinge(Loss):
    """[1 - y p]_+^2 for labels y of -1 and 1.

    Parameters
    ----------
    X : array, sparse matrix or memory map of shape (n, d)
    y : array of shape (n,)
        Labels -1 and 1.
    sample_weight : array of shape (n,), optional
    """

    nonnegative = True
    smoothness = 2.0
    targets = "signs"
    link: Any = SquaredHingeLink()

    def slope_bound_on(self, p_max: float, y_max: float) -> float:
        return 2.0 * (1.0 + p_max)
