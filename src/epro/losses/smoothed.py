"""Any loss, smoothed: its Moreau envelope, whose slopes are slopes of the loss itself.

envelope(p) = min over q of loss(q) + (q - p)^2 / (2 mu). Its slope at p is the s in d loss(p - mu s), the link's
``implicit`` slope; it is at most mu s_p^2 / 2 below the loss, with s_p the loss's own slope at p, and has curvature at
most 1/mu. A proximal step of the envelope is one of the loss with mu more: s in d loss(p - step s - mu s).
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

from epro.losses.base import Loss
from epro.problem import Problem


class SmoothedLink(NamedTuple):
    """The envelope of another link."""

    kinked: Any
    mu: float

    def loss(self, p: float, y: float) -> float:
        s = self.kinked.implicit(p, y, self.mu)
        return self.kinked.loss(p - self.mu * s, y) + 0.5 * self.mu * s * s

    def slope(self, p: float, y: float) -> float:
        return self.kinked.implicit(p, y, self.mu)

    def implicit(self, p: float, y: float, step: float) -> float:
        return self.kinked.implicit(p, y, self.mu + step)

    def curvature(self, p: float, y: float) -> float:
        """1/mu where the proximal step ends at a kink, so that the slope differs from those on both sides."""
        h = 1e-3 * self.mu
        return max(0.0, (self.slope(p + h, y) - self.slope(p - h, y)) / (2.0 * h))


class Smoothed(Loss):
    """A loss on the same data with its link smoothed."""

    def __init__(self, loss: Loss, mu: float) -> None:
        self.atoms, self.y, self.weights = loss.atoms, loss.y, loss.weights
        self.kinked, self.mu, self.smoothness = loss, float(mu), 1.0 / mu
        self.slope_bound, self.nonnegative = loss.slope_bound, loss.nonnegative  # type: ignore[misc]

    @property
    def link(self) -> Any:
        return SmoothedLink(self.kinked.link, self.mu)


def smoothed(problem: Problem, mu: float) -> Problem:
    """The problem with its loss smoothed; mu = 0 leaves it as it is."""
    return problem if mu == 0.0 else dataclasses.replace(problem, loss=Smoothed(problem.loss, mu))
