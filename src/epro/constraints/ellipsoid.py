"""An ellipsoid, (x - center)' P (x - center) <= radius^2."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from epro.constraints.base import Constraint, Shape
from epro.kernels.records import kernel
from epro.protocols import Array
from epro.validation import finite, positive


@kernel
def shrinkage(y: Array, s: Array, radius: float) -> float:
    """The m >= 0 with sum_i s_i (y_i / (1 + m s_i))^2 = radius^2, for a y outside of the ellipsoid.

    The nearest point u to y in the axes of P satisfies y - u = m S u, so u_i = y_i / (1 + m s_i). With N(m) the
    root of the sum above, 1/N is concave and increasing in m, so Newton's method on 1/N(m) = 1/radius from m = 0
    climbs to the root without passing it: no safeguard is needed.
    """
    m = 0.0
    for _ in range(100):
        n2, slope = 0.0, 0.0
        for i in range(y.size):
            shrunk = 1.0 + m * s[i]
            term = s[i] * (y[i] / shrunk) ** 2
            n2 += term
            slope += term * s[i] / shrunk
        n = math.sqrt(n2)
        step = (n / radius - 1.0) * n2 / slope
        m += step
        if step <= 1e-15 * m:
            break
    return m


class EllipsoidRecord(NamedTuple):
    """c(x) = N(x - center) - radius with N(e) = sqrt(e' P e), v = P e / N(e); P = V diag(s) V'."""

    P: Array
    V: Array
    s: Array
    center: Array
    radius: float

    def cut(self, x: Array, work: Array) -> float:
        offset = x - self.center
        work[:] = self.P @ offset
        norm = math.sqrt(max((work * offset).sum(), 0.0))
        if norm > 0.0:
            work /= norm
        return norm - self.radius

    def descend(self, work: Array, s: float, x: Array) -> None:
        x -= s * work

    def inner(self, work: Array, x: Array) -> float:
        return (work * x).sum()

    def cut_norm2(self, work: Array) -> float:
        return (work * work).sum()

    def project(self, x: Array) -> None:
        y = self.V.T @ (x - self.center)
        if (self.s * y * y).sum() > self.radius**2:
            m = shrinkage(y, self.s, self.radius)
            y /= 1.0 + m * self.s  # in place, which keeps single precision
            x[:] = self.center + self.V @ y


class Ellipsoid(Constraint):
    r"""{x : N(x - center) <= radius} with N(e) = sqrt(e' P e) and c(x) = N(x - center) - radius.

    v = P e / N(e), so ||v||^2 = e'P^2 e / e'P e lies between the smallest positive and the largest eigenvalue of P:
    G2 = sqrt(largest), rho = sqrt(smallest positive).

    Parameters
    ----------
    P : array of shape (d, d), optional
        Symmetric positive semidefinite. Directions with eigenvalue zero are unconstrained.
    center : array, optional
        The origin by default.
    radius : float
        Positive.
    A : array of shape (m, d), optional
        In place of P: the set is {x : ||A (x - center)|| <= radius}, that is P = A'A.

    Examples
    --------
    >>> import numpy as np
    >>> from epro.constraints import Ellipsoid
    >>> Ellipsoid(np.diag([1.0, 4.0])).project(np.array([0.0, 2.0]))
    array([0. , 0.5])
    """

    def __init__(self, P: Any = None, center: Any = None, radius: float = 1.0, *, A: Any = None) -> None:
        if (P is None) == (A is None):
            raise ValueError("Ellipsoid: give either P or A")
        if A is not None:
            A = finite(A, "Ellipsoid: A", ndim=2).astype(float)
            P = A.T @ A
        P = finite(P, "Ellipsoid: P", ndim=2).astype(float)
        if P.shape[0] != P.shape[1] or not np.allclose(P, P.T, rtol=1e-10, atol=1e-12 * np.abs(P).max(initial=0.0)):
            raise ValueError(f"Ellipsoid: P must be a symmetric matrix, got one of shape {P.shape} that is not")
        s, V = np.linalg.eigh(0.5 * (P + P.T))
        tiny = 1e-12 * max(s[-1], 0.0)
        if s[0] < -tiny or s[-1] <= 0.0:
            found = f"got eigenvalues from {s[0]:g} to {s[-1]:g}"
            raise ValueError(f"Ellipsoid: P must be positive semidefinite and not zero, {found}")
        self.s, self.V = np.where(s > tiny, s, 0.0), np.ascontiguousarray(V)
        self.P = (self.V * self.s) @ self.V.T
        d = len(s)
        self.center = np.zeros(d) if center is None else finite(center, "Ellipsoid: center", ndim=1).astype(float)
        if self.center.shape != (d,):
            raise ValueError(f"Ellipsoid: center has shape {self.center.shape}, expected {(d,)}")
        self.radius = positive(radius, "Ellipsoid: radius")
        self.shape = (d,)

    @property
    def lipschitz(self) -> float:
        return math.sqrt(self.s[-1])

    @property
    def rho(self) -> float:
        return math.sqrt(self.s[self.s > 0].min())

    @property
    def radius_bound(self) -> float | None:
        if self.s[0] == 0.0:
            return None
        return float(np.linalg.norm(self.center)) + self.radius / math.sqrt(self.s[0])

    def record(self, shape: Shape, dtype: Any) -> EllipsoidRecord:
        P, V, s, center = (np.ascontiguousarray(v, dtype=dtype) for v in (self.P, self.V, self.s, self.center))
        return EllipsoidRecord(P, V, s, center, self.radius)

    def linear_minimizer(self, direction: Array) -> Array:
        """center - radius P^-1 a / sqrt(a' P^-1 a)."""
        a = self.V.T @ np.asarray(direction, dtype=float)
        if (a[self.s == 0.0] != 0.0).any():
            raise NotImplementedError("Ellipsoid: linear minimisation needs a positive definite P")
        scaled = np.divide(a, self.s, out=np.zeros_like(a), where=self.s > 0)
        norm = math.sqrt(float(a @ scaled))
        return (self.center - self.V @ scaled * (self.radius / norm if norm else 0.0)).astype(direction.dtype)

    def __repr__(self) -> str:
        return f"Ellipsoid(..., radius={self.radius:g})"
