"""The squared loss."""

from __future__ import annotations

from typing import Any, NamedTuple

from epro.losses.base import Loss


class SquaredLink(NamedTuple):
    """(p - y)^2 / 2"""

    scale: float = 1.0

    def loss(self, p: float, y: float) -> float:
        return 0.5 * self.scale * (p - y) ** 2

    def slope(self, p: float, y: float) -> float:
        return self.scale * (p - y)

    def implicit(self, p: float, y: float, step: float) -> float:
        """s = scale * (p - step*s - y)"""
        return self.scale * (p - y) / (1.0 + self.scale * step)

    def curvature(self, p: float, y: float) -> float:
        return self.scale


class Squared(Loss):
    """Half the squared error, (p - y)^2 / 2.

    Parameters
    ----------
    X : array, sparse matrix or memory map of shape (n, d)
    y : array of shape (n,)
    sample_weight : array of shape (n,), optional

    Examples
    --------
    >>> import numpy as np
    >>> from epro.losses import Squared
    >>> Squared(np.eye(2), np.array([1.0, 3.0])).value(np.zeros(2))
    2.5
    """

    nonnegative = True
    smoothness = 1.0
    link: Any = SquaredLink()

    def slope_bound_on(self, p_max: float, y_max: float) -> float:
        return p_max + y_max
