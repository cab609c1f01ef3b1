"""The ball of the nuclear norm, sum of singular values <= radius."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from epro.constraints.base import Constraint, Shape
from epro.constraints.simplex import project_simplex
from epro.protocols import Array
from epro.validation import positive


class NuclearNormBallRecord(NamedTuple):
    """c(X) = sum of singular values - radius, v = U V' over the positive ones."""

    radius: float

    def cut(self, x: Array, work: Array) -> float:
        u, s, vt = np.linalg.svd(x, full_matrices=False)
        rank = (s > 4 * max(x.shape) * np.finfo(x.dtype).eps * s[0]).sum()  # the rest is rounding, in any direction
        work[...] = np.ascontiguousarray(u[:, :rank]) @ np.ascontiguousarray(vt[:rank])
        return s.sum() - self.radius

    def descend(self, work: Array, s: float, x: Array) -> None:
        x -= s * work

    def inner(self, work: Array, x: Array) -> float:
        return (work * x).sum()

    def cut_norm2(self, work: Array) -> float:
        return (work * work).sum()

    def project(self, x: Array) -> None:
        u, s, vt = np.linalg.svd(x, full_matrices=False)
        if s.sum() > self.radius:
            project_simplex(s, self.radius)
            x[...] = (u * s) @ vt


class NuclearNormBall(Constraint):
    r"""{X : ||X||_* <= radius} for matrices, with c(X) = ||X||_* - radius.

    G2 = sqrt(min(X.shape)), the norm of U V'; rho = 1, its norm for a matrix of rank one.

    Parameters
    ----------
    radius : float
        Positive.

    Examples
    --------
    >>> import numpy as np
    >>> from epro.constraints import NuclearNormBall
    >>> NuclearNormBall(2.0).project(np.diag([3.0, 1.0])).round(12)
    array([[2., 0.],
           [0., 0.]])
    """

    def __init__(self, radius: float) -> None:
        self.radius = positive(radius, "NuclearNormBall: radius")

    def check_shape(self, shape: Shape) -> None:
        if len(shape) != 2:
            raise ValueError(f"NuclearNormBall: x must be a matrix, but has shape {tuple(shape)}")

    @property
    def lipschitz(self) -> float | None:
        return None if self.shape is None else math.sqrt(min(self.shape))

    @property
    def rho(self) -> float:
        return 1.0

    @property
    def radius_bound(self) -> float:
        return self.radius

    def record(self, shape: Shape, dtype: Any) -> NuclearNormBallRecord:
        return NuclearNormBallRecord(self.radius)

    def linear_minimizer(self, direction: Array) -> Array:
        """-radius u v' for the largest singular value of the direction."""
        u, _, vt = np.linalg.svd(direction, full_matrices=False)
        return -self.radius * np.outer(u[:, 0], vt[0])

    def __repr__(self) -> str:
        return f"NuclearNormBall({self.radius:g})"
