"""A convex set in a user's own words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from epro.constraints.base import Constraint
from epro.protocols import Array
from epro.validation import positive


class Custom(Constraint):
    """{x : value(x) <= 0} for a convex function in plain Python. `epro.constraints.check` tests it.

    Kernels call it back, so they run interpreted.

    Parameters
    ----------
    value : callable
        x -> c(x), a number.
    subgradient : callable
        x -> a subgradient of c at x, of the shape of x.
    project : callable
        x -> the nearest point with value at most zero, of the shape of x.
    lipschitz, rho, radius_bound : float, optional
        G2, the constant of Lemma 0 and the largest norm of a feasible point, where known.
    linear_minimizer : callable, optional
        a -> a feasible point that minimises <a, x>.
    name : str
        For messages.

    Examples
    --------
    >>> import numpy as np
    >>> from epro.constraints import Custom
    >>> top = Custom(lambda x: x.max() - 1, lambda x: np.eye(len(x))[x.argmax()], lambda x: np.minimum(x, 1))
    >>> top.project(np.array([3.0, 0.5]))
    array([1. , 0.5])
    """

    def __init__(
        self,
        value: Callable[[Array], float],
        subgradient: Callable[[Array], Array],
        project: Callable[[Array], Array],
        *,
        lipschitz: float | None = None,
        rho: float | None = None,
        radius_bound: float | None = None,
        linear_minimizer: Callable[[Array], Array] | None = None,
        name: str = "Custom",
    ) -> None:
        for argument, function in (("value", value), ("subgradient", subgradient), ("project", project)):
            if not callable(function):
                raise TypeError(f"{name}: {argument} must be a function of x, got {function!r}")
        self.name = name
        self._value, self._subgradient, self._project = value, subgradient, project
        self._linear_minimizer = linear_minimizer
        self._lipschitz = None if lipschitz is None else positive(lipschitz, f"{name}: lipschitz", zero=True)
        self._rho = None if rho is None else positive(rho, f"{name}: rho")
        self._radius = None if radius_bound is None else positive(radius_bound, f"{name}: radius_bound", zero=True)

    @property
    def lipschitz(self) -> float | None:
        return self._lipschitz

    @property
    def rho(self) -> float | None:
        return self._rho

    @property
    def radius_bound(self) -> float | None:
        return self._radius

    def value(self, x: Array) -> float:
        x = self._point(x)
        found = np.asarray(self._value(x.copy()))  # a copy: a user's function may write into its argument
        if found.size != 1 or found.dtype == object:
            raise ValueError(f"{self.name}: value(x) must be a number, got an array of shape {found.shape}")
        number = float(found.reshape(()))
        if np.isnan(number) and np.isfinite(x).all():
            raise ValueError(f"{self.name}: value(x) is NaN for a finite x")
        return number

    def subgradient(self, x: Array) -> Array:
        x = self._point(x)
        return self._checked(self._subgradient(x.copy()), x, "subgradient")

    def project(self, x: Array) -> Array:
        x = self._finite_point(x)
        return self._checked(self._project(x.copy()), x, "project")

    def linear_minimizer(self, direction: Array) -> Array:
        if self._linear_minimizer is None:
            return super().linear_minimizer(direction)
        return self._checked(self._linear_minimizer(direction.copy()), direction, "linear_minimizer")

    def _checked(self, found: Any, x: Array, verb: str) -> Array:
        found = np.asarray(found)
        if found.shape != x.shape:
            raise ValueError(f"{self.name}: {verb}(x) has shape {found.shape}, expected that of x, {x.shape}")
        if not np.isfinite(found).all() and np.isfinite(x).all():
            raise ValueError(f"{self.name}: {verb}(x) has a NaN or infinite entry for a finite x")
        return found.astype(x.dtype, copy=False)

    def __repr__(self) -> str:
        return self.name if self.name != "Custom" else "Custom(...)"
