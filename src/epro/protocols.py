"""Every verb of the library, with its one signature.

A part (data, loss, regularizer, constraint, penalty) that takes part in a kernel is a *record*: a ``NamedTuple``
with plain methods named as below. The same text runs as Python and compiled by Numba (see ``kernels/records.py``).
A verb writes its array in place and returns its scalar. Every verb
has its own name, since Numba knows them all by name. Adding one needs a line in ``docs/decisions.md``.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Index = NDArray[np.int64]


class Atoms(Protocol):
    """The rows A_i of the data; predictions are <A_i, x>."""

    def dot(self, i: int, x: Array) -> float:
        """<A_i, x>"""
        ...

    def axpy(self, i: int, s: float, x: Array) -> None:
        """x += s * A_i"""

    def norm2(self, i: int) -> float:
        """||A_i||^2"""
        ...

    def dots(self, rows: Index, x: Array, p: Array) -> None:
        """p[b] = <A_rows[b], x>, one BLAS call where rows are dense"""

    def axpys(self, rows: Index, s: Array, x: Array) -> None:
        """x += sum_b s[b] * A_rows[b]"""


class Pairs(Protocol):
    """What atoms of metric learning can do besides."""

    def differences(self, i: int, near: Array, far: Array) -> None:
        """near = d1, far = d2 with A_i = d1 d1' - d2 d2', as dense vectors"""


class Link(Protocol):
    """The loss, a convex scalar function of one prediction p and its target y."""

    def loss(self, p: float, y: float) -> float: ...

    def slope(self, p: float, y: float) -> float:
        """A subgradient of loss(., y) at p."""
        ...

    def implicit(self, p: float, y: float, step: float) -> float:
        """The s with s in d loss(p - step*s, y): the slope where a proximal step of length ``step`` ends."""
        ...

    def curvature(self, p: float, y: float) -> float:
        """The second derivative (its almost-everywhere value where the loss is piecewise smooth)."""
        ...


class Regularizer(Protocol):
    """g, separable over coordinates."""

    def value(self, x: Array) -> float: ...

    def forward(self, x: Array, step: float) -> None:
        """x -= step * (a subgradient of g at x)"""

    def prox(self, x: Array, step: float) -> None:
        """x = argmin_z ||z - x||^2 / 2 + step * g(z)"""


class Constraint(Protocol):
    """The set {x : c(x) <= 0}."""

    def cut(self, x: Array, work: Array) -> float:
        """c(x); leaves a subgradient v of c at x, encoded, in ``work``."""
        ...

    def descend(self, work: Array, s: float, x: Array) -> None:
        """x -= s * v"""

    def inner(self, work: Array, x: Array) -> float:
        """<v, x>"""
        ...

    def cut_norm2(self, work: Array) -> float:
        """||v||^2"""
        ...

    def above(self, x: Array, c: float, work: Array) -> float:
        """An upper bound of c(x), where ``cut`` has just found c; for constraints whose cuts may be left out."""
        ...

    def project(self, x: Array) -> None:
        """x = the nearest point of the set"""


class Penalty(Protocol):
    """How a violated cut moves the iterate."""

    def anchor(self, constraint: Any, work: Array, x: Array) -> float:
        """What must be known of the cut at x_t before the loss moves x (zero where nothing must)."""
        ...

    def push(self, constraint: Any, work: Array, c: float, anchor: float, eta: float, x: Array) -> float:
        """Moves x against the cut v found at x_t, where c(x_t) = c; returns the weight that v got."""
        ...


class Move(Protocol):
    """How a row and the regularizer move the iterate: explicit (Algorithm 1), proximal (Eq. cb), implicit."""

    def rate(self, link: Any, atoms: Any, i: int, p: float, y: float, eta: float) -> float:
        """The slope with which row i, predicted as p, moves x; eta is the step size times the row's weight."""
        ...

    def before(self, g: Any, x: Array, eta: float) -> None:
        """The regularizer's part taken at x_t, before the row."""

    def after(self, g: Any, x: Array, eta: float) -> None:
        """The regularizer's part taken after the row and the cut."""
