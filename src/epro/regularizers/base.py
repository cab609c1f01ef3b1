"""What every regularizer has, and sums of them."""

from __future__ import annotations

import math
from abc import ABC
from typing import Any, NamedTuple

import numpy as np

from epro.own_parts import ask
from epro.protocols import Array
from epro.regularizers.separable import Separable

Shape = tuple[int, ...]


class Regularizer(ABC):
    """A convex g, simple enough for a closed proximal step. Regularizers add: ``Ridge(a) + L1(t)``.

    The built-in ones set some of the four coefficients of `Separable`. One of your own, in plain Python, overrides
    `value`, `subgradient` and `prox` instead, and stands alone (it does not add).
    """

    ridge: float = 0.0
    l1: float = 0.0
    l1_off: float = 0.0
    tilt: Array | None = None

    @property
    def strong_convexity(self) -> float:
        """The largest beta with g - (beta/2) ||x||^2 convex."""
        return self.ridge

    @property
    def smooth(self) -> bool:
        """Whether g has a gradient everywhere."""
        return self.l1 == 0.0 and self.l1_off == 0.0

    def lipschitz_on(self, radius: float, shape: Shape) -> float:
        """A Lipschitz constant of g on the ball of that radius: the norm of a subgradient, term by term.

        Infinite where unknown: for a ridge on the whole space, and for a class of one's own that does not override it.
        """
        if type(self).value is not Regularizer.value:
            return math.inf
        d = math.prod(shape)
        off = d - shape[0] if self.l1_off else 0
        tilt = 0.0 if self.tilt is None else float(np.linalg.norm(self.tilt))
        ridge = self.ridge * radius if self.ridge else 0.0  # the radius may be infinite
        return ridge + self.l1 * math.sqrt(d) + self.l1_off * math.sqrt(off) + tilt

    def check(self, shape: Shape) -> None:
        """Raises where g cannot take x of this shape."""
        if self.l1_off and (len(shape) != 2 or shape[0] != shape[1]):
            raise ValueError(f"OffDiagonalL1 needs square matrices, but x has shape {shape}")
        if self.tilt is not None and self.tilt.shape != tuple(shape):
            raise ValueError(f"Linear: the tilt has shape {self.tilt.shape}, but x has shape {shape}")

    def record(self, shape: Shape, dtype: Any) -> Any:
        """The record of verbs for x of this shape and dtype."""
        if type(self).value is not Regularizer.value:
            return PythonRegularizer(self)
        empty = np.zeros((0,) * len(shape), dtype)
        tilt = empty if self.tilt is None else np.ascontiguousarray(self.tilt, dtype=dtype)
        return Separable(self.ridge, self.l1, self.l1_off, tilt)

    def value(self, x: Array) -> float:
        """g(x)"""
        x = np.ascontiguousarray(x)
        return float(self.record(x.shape, x.dtype).value(x))

    def subgradient(self, x: Array) -> Array:
        """A subgradient of g at x (zero from l1 where a coordinate is zero)."""
        x = np.ascontiguousarray(x)
        v = np.array(x)
        self.record(x.shape, x.dtype).forward(v, -1.0)
        return v - x

    def prox(self, x: Array, step: float) -> Array:
        """argmin_z ||z - x||^2 / 2 + step * g(z)"""
        z = np.array(x, order="C")
        self.record(z.shape, z.dtype).prox(z, step)
        return z

    def __add__(self, other: Regularizer) -> Regularizer:
        if not isinstance(other, Regularizer):
            return NotImplemented
        return Sum(self, other)


class Sum(Regularizer):
    """The sum of built-in regularizers, again one record."""

    def __init__(self, *parts: Regularizer) -> None:
        for part in parts:
            if type(part).value is not Regularizer.value:
                name = type(part).__name__
                raise TypeError(f"{name} is written in Python and cannot be added; write one class for the sum")
        self.parts = tuple(piece for part in parts for piece in (part.parts if isinstance(part, Sum) else (part,)))
        self.ridge = sum(part.ridge for part in self.parts)
        self.l1 = sum(part.l1 for part in self.parts)
        self.l1_off = sum(part.l1_off for part in self.parts)
        tilts = [part.tilt for part in self.parts if part.tilt is not None]
        self.tilt = np.sum(tilts, axis=0) if tilts else None

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.parts)) or "Zero()"


class PythonRegularizer(NamedTuple):
    """The record of a regularizer written in plain Python; kernels run interpreted."""

    owner: Any

    def value(self, x: Array) -> float:
        return ask(self.owner, "value", x)

    def forward(self, x: Array, step: float) -> None:
        x -= step * ask(self.owner, "subgradient", x, shape=x.shape)

    def prox(self, x: Array, step: float) -> None:
        x[...] = ask(self.owner, "prox", x, step, shape=x.shape)


def as_regularizer(part: Any) -> Regularizer:
    """None is no regularizer; anything else must be one."""
    if part is None:
        return Sum()
    if not isinstance(part, Regularizer):
        raise TypeError(f"regularizer must be an epro regularizer or None, got {type(part).__name__}")
    return part
