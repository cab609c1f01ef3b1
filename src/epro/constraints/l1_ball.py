"""The l1 ball, ||x||_1 <= radius."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from epro.constraints.base import Constraint, Shape
from epro.constraints.simplex import project_simplex
from epro.protocols import Array
from epro.validation import positive


class L1BallRecord(NamedTuple):
    """c(x) = ||x||_1 - radius, v = sign(x)."""

    radius: float

    def cut(self, x: Array, work: Array) -> float:
        work[...] = np.sign(x)
        return np.abs(x).sum() - self.radius

    def descend(self, work: Array, s: float, x: Array) -> None:
        x -= s * work

    def inner(self, work: Array, x: Array) -> float:
        return (work * x).sum()

    def cut_norm2(self, work: Array) -> float:
        return (work * work).sum()

    def project(self, x: Array) -> None:
        magnitude = np.abs(x)
        if magnitude.sum() > self.radius:
            project_simplex(magnitude.reshape(-1), self.radius)
            x[...] = np.sign(x) * magnitude + 0.0  # which turns -0 into 0


class L1Ball(Constraint):
    r"""{x : ||x||_1 <= radius}, with c(x) = ||x||_1 - radius.

    G2 = sqrt(d), the norm of a sign vector without zeros; rho = 1, its norm at a vertex (erratum 6).

    Parameters
    ----------
    radius : float
        Positive.

    Examples
    --------
    >>> import numpy as np
    >>> from epro.constraints import L1Ball
    >>> L1Ball(3.0).project(np.array([4.0, -1.0, 0.5]))
    array([3., 0., 0.])
    """

    def __init__(self, radius: float) -> None:
        self.radius = positive(radius, "L1Ball: radius")

    @property
    def lipschitz(self) -> float | None:
        return None if self.shape is None else math.sqrt(math.prod(self.shape))

    @property
    def rho(self) -> float:
        return 1.0

    @property
    def radius_bound(self) -> float:
        return self.radius

    def record(self, shape: Shape, dtype: Any) -> L1BallRecord:
        return L1BallRecord(self.radius)

    def linear_minimizer(self, direction: Array) -> Array:
        """-radius * sign(a_j) e_j for the largest |a_j|."""
        vertex = np.zeros_like(direction)
        j = np.argmax(np.abs(direction))
        vertex.flat[j] = -self.radius * np.sign(direction.flat[j])
        return vertex

    def multipliers(self, x: Array, normal: Array) -> float:
        """The one multiplier: normal_j = lam sign(x_j) where x_j is not zero, |normal_j| <= lam elsewhere."""
        return float(np.max(np.abs(normal), initial=0.0))

    def project_metric(self, H: Array, q: Array, warm: Any = None) -> tuple[Array, float]:
        """The minimiser of x'Hx/2 + q'x over the ball, in the lifted form -t <= x <= t, sum(t) <= radius."""
        from epro.constraints.qp import interior_point

        d = q.size
        eye, ones = np.eye(d), np.ones((1, d))
        A = np.block([[eye, -eye], [-eye, -eye], [0 * ones, ones]])
        high = np.append(np.zeros(2 * d), self.radius)
        wide = np.block([[H, 0 * eye], [0 * eye, 0 * eye]])
        xt, _ = interior_point(wide, np.append(q, np.zeros(d)), A, np.full(2 * d + 1, -np.inf), high)
        x = self.project(xt[:d])  # the solver's tolerance, removed
        return x, self.multipliers(x, -(H @ x + q)) if np.abs(x).sum() >= self.radius * (1 - 1e-9) else 0.0

    def __repr__(self) -> str:
        return f"L1Ball({self.radius:g})"
