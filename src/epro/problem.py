"""The problem: min f(x) + g(x) subject to c(x) <= 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from epro import intercepts
from epro.constraints import as_constraint
from epro.losses.base import Loss
from epro.own_parts import ask
from epro.protocols import Array
from epro.regularizers import as_regularizer
from epro.validation import real_array


@dataclass(frozen=True, eq=False)
class Problem:
    """min over x of f(x) + g(x) subject to c(x) <= 0.

    Parameters
    ----------
    loss : Loss
        f, an average over rows; see `epro.losses`.
    regularizer : Regularizer, optional
        g; see `epro.regularizers`. Sums such as ``Ridge(1e-3) + L1(0.1)`` are regularizers.
    constraint : Constraint, optional
        c; see `epro.constraints`. SciPy's ``Bounds`` and ``LinearConstraint`` are accepted, and lists of constraints
        stand for their intersection. None: unconstrained.

    Examples
    --------
    >>> import numpy as np
    >>> import epro
    >>> X, y = np.eye(2), np.array([1.0, 3.0])
    >>> problem = epro.Problem(epro.losses.Squared(X, y), epro.regularizers.Ridge(1.0), epro.constraints.L1Ball(1.0))
    >>> problem.value(np.array([0.0, 1.0]))
    1.75
    >>> problem.violation(np.array([0.5, 1.0]))
    0.5
    """

    loss: Loss
    regularizer: Any = None
    constraint: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.loss, Loss):  # pyright: ignore[reportUnnecessaryIsInstance]  # users are not typed
            raise TypeError(
                "Problem: loss must be an epro loss such as losses.Squared(X, y), or of a subclass of losses.Loss of "
                f"your own, got {type(self.loss).__name__}"
            )
        regularizer = as_regularizer(self.regularizer)
        constraint = as_constraint(self.constraint)
        if self.loss.intercept:
            constraint, regularizer = intercepts.beside(constraint, regularizer)
        regularizer.check(self.shape)
        object.__setattr__(self, "regularizer", regularizer)
        object.__setattr__(self, "constraint", constraint.bind(self.shape))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of x."""
        return self.loss.shape

    @property
    def dtype(self) -> np.dtype:
        """The dtype of x: the data's."""
        return self.loss.dtype

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.loss.n

    @property
    def strong_convexity(self) -> float:
        """The known strong convexity of f + g, from g; zero where none is known."""
        return float(self.regularizer.strong_convexity)

    def value(self, x: Array) -> float:
        """f(x) + g(x)"""
        x = self.point(x)
        return self.loss.value(x) + ask(self.regularizer, "value", x)

    def gradient(self, x: Array) -> Array:
        """A subgradient of f + g at x (the gradient where they are smooth)."""
        x = self.point(x)
        return self.loss.subgradient(x) + ask(self.regularizer, "subgradient", x, shape=self.shape)

    def violation(self, x: Array) -> float:
        """c(x): at most zero where x is feasible."""
        return ask(self.constraint, "value", self.point(x))

    def point(self, x: Any, name: str = "x") -> Array:
        """x as a contiguous array of the problem's shape and dtype; an error where it cannot be one."""
        x = np.ascontiguousarray(real_array(x, name, self.dtype))
        if x.shape != self.shape:
            raise ValueError(f"{name} has shape {x.shape}, expected {self.shape}")
        return x
