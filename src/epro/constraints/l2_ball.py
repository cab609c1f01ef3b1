"""The Euclidean ball, ||x - center|| <= radius."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from epro.constraints.base import Constraint, Shape
from epro.protocols import Array
from epro.validation import finite, positive


class L2BallRecord(NamedTuple):
    """c(x) = ||x - center|| - radius, v = (x - center) / ||x - center||, and 0 at the center."""

    radius: float
    center: Array

    def cut(self, x: Array, work: Array) -> float:
        work[...] = x - self.center
        distance = np.sqrt((work * work).sum())
        if distance > 0.0:
            work /= distance
        return distance - self.radius

    def descend(self, work: Array, s: float, x: Array) -> None:
        x -= s * work

    def inner(self, work: Array, x: Array) -> float:
        return (work * x).sum()

    def cut_norm2(self, work: Array) -> float:
        return (work * work).sum()

    def project(self, x: Array) -> None:
        offset = x - self.center
        distance = np.sqrt((offset * offset).sum())
        if distance > self.radius:
            x[...] = self.center + offset * (self.radius / distance)


class L2Ball(Constraint):
    r"""{x : ||x - center|| <= radius}, with c(x) = ||x - center|| - radius.

    G2 = rho = 1: outside the center every subgradient is a unit vector, and c is the distance to the ball.

    Parameters
    ----------
    radius : float
        Positive.
    center : array, optional
        The origin by default.

    Examples
    --------
    >>> import numpy as np
    >>> from epro.constraints import L2Ball
    >>> L2Ball(1.0).project(np.array([3.0, 4.0]))
    array([0.6, 0.8])
    """

    @property
    def lipschitz(self) -> float:
        return 1.0

    @property
    def rho(self) -> float:
        return 1.0

    def __init__(self, radius: float, center: Any = None) -> None:
        self.radius = positive(radius, "L2Ball: radius")
        self.center = None if center is None else finite(center, "L2Ball: center", copy=True).astype(float)
        if self.center is not None:
            self.shape = self.center.shape

    @property
    def radius_bound(self) -> float:
        return self.radius + (0.0 if self.center is None else float(np.linalg.norm(self.center)))

    def record(self, shape: Shape, dtype: Any) -> L2BallRecord:
        # a center of one entry per axis broadcasts, and costs nothing where the ball is centered at the origin
        center = np.zeros((1,) * len(shape)) if self.center is None else self.center
        return L2BallRecord(self.radius, center.astype(dtype))

    def linear_minimizer(self, direction: Array) -> Array:
        """center - radius * direction / ||direction||."""
        center = np.zeros_like(direction) if self.center is None else self.center
        norm = math.sqrt(float(np.vdot(direction, direction)))
        return (center - direction * (self.radius / norm if norm else 0.0)).astype(direction.dtype)

    def __repr__(self) -> str:
        return f"L2Ball({self.radius:g})" if self.center is None else f"L2Ball({self.radius:g}, center=...)"
