"""The logistic loss."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from epro.losses.base import Loss


class LogisticLink(NamedTuple):
    """log(1 + exp(-y p))"""

    scale: float = 1.0

    def loss(self, p: float, y: float) -> float:
        m = y * p
        if m > 0.0:
            return self.scale * math.log1p(math.exp(-m))
        return self.scale * (math.log1p(math.exp(m)) - m)

    def slope(self, p: float, y: float) -> float:
        m = y * p
        if m > 0.0:
            e = math.exp(-m)
            return -self.scale * y * e / (1.0 + e)
        return -self.scale * y / (1.0 + math.exp(m))

    def implicit(self, p: float, y: float, step: float) -> float:
        """Newton on h(s) = slope(p - step*s) - s, kept inside a bracket; h falls, with h' <= -1."""
        low, high = min(-self.scale * y, 0.0), max(-self.scale * y, 0.0)
        s = self.slope(p, y) / (1.0 + step * self.curvature(p, y))
        for _ in range(50):
            q = p - step * s
            h = self.slope(q, y) - s
            if h > 0.0:
                low = s
            else:
                high = s
            change = h / (1.0 + step * self.curvature(q, y))
            if abs(change) <= 1e-15 * (1.0 + abs(s)):
                break
            s += change
            if s <= low or s >= high:
                s = 0.5 * (low + high)
        return s

    def curvature(self, p: float, y: float) -> float:
        e = math.exp(-abs(p))
        return self.scale * e / (1.0 + e) ** 2


class Logistic(Loss):
    """log(1 + exp(-y p)) for labels y of -1 and 1.

    Parameters
    ----------
    X : array, sparse matrix or memory map of shape (n, d)
    y : array of shape (n,)
        Labels -1 and 1.
    sample_weight : array of shape (n,), optional
    """

    nonnegative = True
    smoothness = 0.25
    slope_bound = 1.0
    targets = "signs"
    link: Any = LogisticLink()
