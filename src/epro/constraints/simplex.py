"""The scaled simplex, x >= 0 and sum(x) = total."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from epro.constraints.base import Constraint, InfeasibleConstraint, LinearSystem, Shape
from epro.constraints.linear import system
from epro.kernels.records import kernel
from epro.protocols import Array
from epro.validation import finite


@kernel
def project_simplex(x: Array, total: float) -> None:
    """x = the nearest point with x >= 0 and sum(x) = total.

    The nearest point is [x - t]_+ for the one threshold t that makes it sum to ``total``. Michelot's fixed point:
    solve for t as if all coordinates stayed positive, drop those below t, and repeat. t only grows, so every round
    drops a coordinate or ends; it ends at the exact t, without sorting. Measured from the largest coordinate,
    those that stay positive are within ``total`` of zero: rounding is relative to ``total``, however large x is.
    """
    x[...] = np.maximum(x - x.max(), -total)
    threshold, active = -np.inf, x.size + 1
    while True:
        count, s = 0, 0.0
        for j in range(x.size):
            if x[j] > threshold:
                count += 1
                s += x[j]
        if count >= active or count == 0:  # more than before only by rounding; zero only where x is not finite
            break
        active = count
        threshold = (s - total) / count
    for j in range(x.size):
        x[j] = max(x[j] - threshold, 0.0)


class SimplexRecord(NamedTuple):
    """c(x) = max(|sum x - total| / sqrt(d), max_j -x_j), v = +-1/sqrt(d) everywhere or -e_j.

    work = (j, s): v = -e_j if j >= 0, else every entry is s.
    """

    total: float

    def cut(self, x: Array, work: Array) -> float:
        flat = x.reshape(-1)
        root = math.sqrt(flat.size)
        excess = (flat.sum() - self.total) / root
        j = np.argmin(flat)
        if -flat[j] >= abs(excess):
            work[0], work[1] = j, -1.0
            return -flat[j]
        work[0], work[1] = -1.0, math.copysign(1.0 / root, excess)
        return abs(excess)

    def descend(self, work: Array, s: float, x: Array) -> None:
        if work[0] >= 0:
            x.reshape(-1)[int(work[0])] += s
        else:
            x -= s * work[1]

    def inner(self, work: Array, x: Array) -> float:
        if work[0] >= 0:
            return -x.reshape(-1)[int(work[0])]
        return work[1] * x.sum()

    def cut_norm2(self, work: Array) -> float:
        return 1.0

    def project(self, x: Array) -> None:
        project_simplex(x.reshape(-1), self.total)


class Simplex(Constraint):
    r"""{x : x >= 0, sum(x) = total}, with c(x) = max(|sum(x) - total| / sqrt(d), max_j -x_j).

    G2 = 1: both kinds of rows have unit length. For rho take all x with c(x) <= e: a polytope, on which the
    distance to the simplex, being convex, is largest at a vertex: all coordinates but one equal to -e, the last equal
    to total + (d - 1) e +- sqrt(d) e. Its distance to the simplex's own vertex is at most
    e sqrt((d - 1 + sqrt(d))^2 + d - 1), and 1/rho is that root.

    Parameters
    ----------
    total : float
        Not negative.

    Examples
    --------
    >>> import numpy as np
    >>> from epro.constraints import Simplex
    >>> Simplex().project(np.array([0.5, 0.7, -2.0]))
    array([0.4, 0.6, 0. ])
    """

    @property
    def lipschitz(self) -> float:
        return 1.0

    def __init__(self, total: float = 1.0) -> None:
        self.total = float(finite(total, "Simplex: total", ndim=0))

    def check_feasible(self) -> None:
        if self.total < 0:
            raise InfeasibleConstraint(f"Simplex: nonnegative coordinates cannot sum to total = {self.total:g}")

    @property
    def rho(self) -> float | None:
        return None if self.shape is None else simplex_rho(math.prod(self.shape))

    @property
    def radius_bound(self) -> float:
        return self.total

    def record(self, shape: Shape, dtype: Any) -> SimplexRecord:
        return SimplexRecord(self.total)

    def work(self, shape: Shape) -> Array:
        return np.zeros(2)

    def linear_minimizer(self, direction: Array) -> Array:
        """The vertex total * e_j for the smallest direction_j."""
        vertex = np.zeros_like(direction)
        vertex.flat[np.argmin(direction)] = self.total
        return vertex

    def multipliers(self, x: Array, normal: Array) -> Array:
        """One multiplier per coordinate (of x_j >= 0) and, last, the free one of the sum, in the units of sum(x)."""
        x, normal = np.ravel(x), np.ravel(normal).astype(float)
        free = x > 0
        threshold = normal[free].mean() if free.any() else normal.max()
        return np.append(np.where(free, 0.0, np.maximum(threshold - normal, 0.0)), threshold)

    def active(self, x: Array, tol: float = 1e-8) -> list[int]:
        """The coordinates that are zero."""
        return np.flatnonzero(np.asarray(x) <= tol).tolist()

    def linear_inequalities(self, d: int) -> LinearSystem:
        return system(d, A_eq=np.ones((1, d)), b_eq=[self.total], lb=0.0)

    def __repr__(self) -> str:
        return f"Simplex({self.total:g})"


def simplex_rho(d: int) -> float:
    """1 / sqrt((d - 1 + sqrt(d))^2 + d - 1), derived at `Simplex`."""
    return 1.0 / math.sqrt((d - 1 + math.sqrt(d)) ** 2 + d - 1)
