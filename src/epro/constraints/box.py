"""Bounds on every coordinate, lower <= x <= upper."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from epro.constraints.base import Constraint, InfeasibleConstraint, LinearSystem, Shape
from epro.constraints.linear import system
from epro.kernels.records import kernel
from epro.protocols import Array


@kernel
def worst_bound(x: Array, lower: Array, upper: Array, work: Array) -> float:
    """The largest violation of a bound; its coordinate and sign are left in work."""
    worst = -np.inf
    for j in range(x.size):
        if lower[j] - x[j] > worst:
            worst = lower[j] - x[j]
            work[0], work[1] = j, -1.0
        if x[j] - upper[j] > worst:
            worst = x[j] - upper[j]
            work[0], work[1] = j, 1.0
    return worst


class BoxRecord(NamedTuple):
    """c(x) = max_j max(lower_j - x_j, x_j - upper_j), v = -e_j or e_j; work = (j, sign)."""

    lower: Array  # flat
    upper: Array

    def cut(self, x: Array, work: Array) -> float:
        return worst_bound(x.reshape(-1), self.lower, self.upper, work)

    def descend(self, work: Array, s: float, x: Array) -> None:
        x.reshape(-1)[int(work[0])] -= s * work[1]

    def inner(self, work: Array, x: Array) -> float:
        return x.reshape(-1)[int(work[0])] * work[1]

    def cut_norm2(self, work: Array) -> float:
        return abs(work[1])

    def project(self, x: Array) -> None:
        flat = x.reshape(-1)
        flat[:] = np.minimum(np.maximum(flat, self.lower), self.upper)


class Box(Constraint):
    r"""{x : lower <= x <= upper}, with c(x) = max_j max(lower_j - x_j, x_j - upper_j).

    G2 = 1, the norm of a unit vector. rho = 1/sqrt(m) with m bounded coordinates: each of them moves by at most
    [c(x)]_+ in the projection, so ||x - P(x)|| <= sqrt(m) [c(x)]_+.

    Parameters
    ----------
    lower, upper : float or array
        One number for all coordinates or one for each; infinite where there is no bound.

    Examples
    --------
    >>> import numpy as np
    >>> from epro.constraints import Box
    >>> Box(0.0, [1.0, 2.0, np.inf]).project(np.array([3.0, -1.0, 7.0]))
    array([1., 0., 7.])
    """

    def __init__(self, lower: Any = -np.inf, upper: Any = np.inf) -> None:
        self.lower, self.upper = (_bound(v, f"Box: {n}") for v, n in ((lower, "lower"), (upper, "upper")))
        try:
            shape = np.broadcast_shapes(self.lower.shape, self.upper.shape)
        except ValueError:
            text = f"Box: lower has shape {self.lower.shape} but upper has shape {self.upper.shape}"
            raise ValueError(text) from None
        if shape:
            self.shape = shape

    def bounds(self, shape: Shape | None = None) -> tuple[Array, Array]:
        """Both bounds as arrays of the shape of x."""
        shape = self.shape if shape is None else shape
        if shape is None:
            shape = ()
        return tuple(np.ascontiguousarray(np.broadcast_to(b, shape)) for b in (self.lower, self.upper))  # type: ignore

    def check_feasible(self) -> None:
        lower, upper = self.bounds()
        crossed = np.argwhere((lower > upper) | (lower == np.inf) | (upper == -np.inf))
        if len(crossed):
            j = tuple(crossed[0].tolist())
            where = f" of column {j[0] if len(j) == 1 else j}" if j else ""
            more = f" ({len(crossed)} such columns)" if len(crossed) > 1 else ""
            raise InfeasibleConstraint(
                f"Box: the lower bound {lower[j]:g}{where} lies above its upper bound {upper[j]:g}{more}"
            )

    @property
    def lipschitz(self) -> float:
        return 1.0

    @property
    def rho(self) -> float | None:
        if self.shape is None:
            return None
        lower, upper = self.bounds()
        return 1.0 / math.sqrt(max(1, int((np.isfinite(lower) | np.isfinite(upper)).sum())))

    @property
    def radius_bound(self) -> float | None:
        if self.shape is None:
            return None
        lower, upper = self.bounds()
        radius = float(np.linalg.norm(np.maximum(np.abs(lower), np.abs(upper))))
        return radius if math.isfinite(radius) else None

    def record(self, shape: Shape, dtype: Any) -> BoxRecord:
        lower, upper = self.bounds(shape)
        return BoxRecord(lower.reshape(-1).astype(dtype), upper.reshape(-1).astype(dtype))

    def work(self, shape: Shape) -> Array:
        return np.zeros(2)

    def linear_minimizer(self, direction: Array) -> Array:
        """Each coordinate at the bound against its direction (at the nearest point to 0 where the direction is 0)."""
        lower, upper = self.bounds(direction.shape)
        x = np.where(direction > 0, lower, np.where(direction < 0, upper, np.clip(0.0, lower, upper)))
        if not np.isfinite(x).all():
            raise NotImplementedError("Box: linear minimisation needs a bound on every coordinate with a direction")
        return x.astype(direction.dtype)

    def multipliers(self, x: Array, normal: Array) -> Array:
        """One multiplier per bound: row 0 for the lower bounds, row 1 for the upper ones."""
        normal = np.asarray(normal, dtype=float)
        return np.stack([np.maximum(-normal, 0.0), np.maximum(normal, 0.0)])

    def active(self, x: Array, tol: float = 1e-8) -> list[tuple[str, int]]:
        """Pairs ("lower", j) and ("upper", j), with j counted in the flattened x."""
        lower, upper = self.bounds(np.shape(x))
        low = np.flatnonzero(np.asarray(x) - lower <= tol)
        high = np.flatnonzero(upper - np.asarray(x) <= tol)
        return [("lower", int(j)) for j in low] + [("upper", int(j)) for j in high]

    def linear_inequalities(self, d: int) -> LinearSystem:
        lower, upper = self.bounds(self.shape if self.shape is not None else (d,))
        return system(d, lb=lower.reshape(-1), ub=upper.reshape(-1))

    def __repr__(self) -> str:
        parts = [f"{b.item():g}" if b.size == 1 else "..." for b in (self.lower, self.upper)]
        return f"Box({', '.join(parts)})"


def _bound(value: Any, name: str) -> Array:
    try:
        bound = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number or an array of numbers, got {value!r}") from None
    if np.isnan(bound).any():
        if bound.ndim == 0:
            raise ValueError(f"{name} must be a number, infinite where there is no bound, got {value!r}")
        raise ValueError(f"{name} has a NaN entry, first at {np.argwhere(np.isnan(bound))[0].tolist()}")
    return bound
