"""What every loss has: data atoms, targets, weights, and a link (a scalar function of one prediction)."""

from __future__ import annotations

import functools
from typing import Any, ClassVar, NamedTuple

import numpy as np

from epro import atoms as atoms_of
from epro.atoms.intercept import WithIntercept
from epro.kernels import batch
from epro.own_parts import ask, steepest_slope
from epro.protocols import Array
from epro.validation import finite, real_array


class Loss:
    """f(x) = (1/n) sum_i w_i loss(<A_i, x>, y_i).

    A loss of one's own is a subclass with two scalar functions of one prediction, convex in ``p``::

        class Expectile(epro.losses.Loss):
            def loss(self, p, y):
                return (0.9 if p < y else 0.1) * (p - y) ** 2

            def slope(self, p, y):
                return 2 * (0.9 if p < y else 0.1) * (p - y)

    Parameters
    ----------
    X : array, sparse matrix or memory map of shape (n, d)
        float32 and float64 are kept, anything else becomes float64; sparse rows stay sparse.
    y : array of shape (n,)
    sample_weight : array of shape (n,), optional
        Non-negative; the sum is divided by n whatever the weights.
    intercept : bool, default False
        Whether x has one more entry, the last, which is added to every prediction. A problem neither penalises nor
        constrains it.
    """

    smoothness: float | None = functools.cached_property(steepest_slope)  # type: ignore[assignment]
    """The largest second derivative of loss(., y); None where there is none. An estimate where it is not declared."""
    slope_bound: float | None = None
    """The largest slope in absolute value; None where slopes are unbounded."""
    rounding: ClassVar[float] = 0.0  # of the kink, see `pieces`
    nonnegative: ClassVar[bool] = False  # whether loss(p, y) >= 0 is known for all p and y
    targets: ClassVar[str] = "any"  # or "signs": only -1 and 1

    def __init__(self, X: Any, y: Any, *, sample_weight: Any = None, intercept: bool = False) -> None:
        self.atoms: Any = WithIntercept(atoms_of.rows(X)) if intercept else atoms_of.rows(X)
        self.y = self._targets(y)
        self.weights = self._weights(sample_weight)

    # -- the scalar function; built-in losses return a compiled record as their link

    @property
    def link(self) -> Any:
        """The record of scalar verbs; a user's own class is called back through this one."""
        return PythonLink(self)

    def loss(self, p: float, y: float) -> float:
        """loss(p, y)"""
        return self.link.loss(p, y)

    def slope(self, p: float, y: float) -> float:
        """A subgradient of loss(., y) at p."""
        return self.link.slope(p, y)

    def slope_bound_on(self, p_max: float, y_max: float) -> float | None:
        """The largest slope over predictions in [-p_max, p_max] and targets in [-y_max, y_max]."""
        return self.slope_bound

    def pieces(self) -> tuple[Array, Array, Array] | None:
        """(low, high, kink) per row, where the loss is max over s in [low, high] of s (p - kink); None elsewhere.

        Less kappa s^2 / 2 with kappa the class's ``rounding``: the kink is then a parabola of that width.
        """
        return None

    # -- sums over the data

    @property
    def intercept(self) -> bool:
        """Whether the last entry of x is an intercept."""
        return isinstance(self.atoms, WithIntercept)

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.atoms.n

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of x."""
        return self.atoms.shape

    @property
    def dtype(self) -> np.dtype:
        """The dtype of x."""
        return self.atoms.dtype

    def value(self, x: Array) -> float:
        """f(x)"""
        return self.mean_loss(self.atoms.predictions(self._point(x)))

    def subgradient(self, x: Array) -> Array:
        """A subgradient of f at x (the gradient where f is smooth)."""
        return self.atoms.adjoint(self.slopes(self.atoms.predictions(self._point(x))))

    def mean_loss(self, p: Array) -> float:
        """(1/n) sum_i w_i loss(p_i, y_i)"""
        total = batch.call(batch.loss_sum, self.link, p, self.y, self.weights, records=(self.link,))
        return float(total) / self.n

    def slopes(self, p: Array) -> Array:
        """w_i loss'(p_i, y_i) / n"""
        out = batch.call(batch.slopes, self.link, p, self.y, self.weights, records=(self.link,))
        return out / self.dtype.type(self.n)

    def curvatures(self, p: Array) -> Array:
        """w_i loss''(p_i, y_i) / n"""
        out = batch.call(batch.curvatures, self.link, p, self.y, self.weights, records=(self.link,))
        return out / self.dtype.type(self.n)

    @functools.cached_property
    def row_norms2(self) -> Array:
        """||A_i||^2"""
        return batch.norms2(self.atoms, self.n)

    def max_row_norm(self) -> float:
        """max_i w_i ||A_i||: times the largest slope it bounds every stochastic gradient."""
        return float(np.sqrt((self.row_norms2 * np.asarray(self.weights, float) ** 2).max()))

    # -- checks

    def _point(self, x: Any) -> Array:
        x = real_array(x, f"{type(self).__name__}: x", self.dtype)
        if x.shape != self.shape:
            raise ValueError(f"{type(self).__name__}: x has shape {x.shape}, expected {self.shape}")
        return x

    def _targets(self, y: Any) -> Array:
        name = type(self).__name__
        y = finite(y, f"{name}: y", ndim=1)
        if y.size != self.n:
            raise ValueError(f"{name}: y has {y.size} entries, but X has {self.n} rows")
        if self.targets == "signs" and not np.isin(y, (-1.0, 1.0)).all():
            found = np.unique(y)[:5].tolist()
            raise ValueError(f"{name}: y must hold -1 and 1 only, found {found}; map the classes, e.g. 2 * y - 1")
        return np.ascontiguousarray(y, dtype=self.dtype)

    def _weights(self, sample_weight: Any) -> Array:
        if sample_weight is None:
            return np.ones(self.n, self.dtype)
        name = f"{type(self).__name__}: sample_weight"
        weights = finite(sample_weight, name, ndim=1)
        if weights.size != self.n:
            raise ValueError(f"{name} has {weights.size} entries, but X has {self.n} rows")
        if weights.min() < 0 or weights.max() == 0:
            raise ValueError(f"{name} must be non-negative and not all zero, smallest is {weights.min():g}")
        return np.ascontiguousarray(weights, dtype=self.dtype)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n={self.n}, shape={self.shape})"


class PythonLink(NamedTuple):
    """The link of a loss written in plain Python; Numba cannot type it, so kernels run interpreted."""

    owner: Any

    def loss(self, p: float, y: float) -> float:
        return ask(self.owner, "loss", p, y)

    def slope(self, p: float, y: float) -> float:
        return ask(self.owner, "slope", p, y)

    def implicit(self, p: float, y: float, step: float) -> float:
        """Bisection on s -> slope(p - step*s) - s, which falls; s lies between the slope at p and zero."""
        if hasattr(self.owner, "implicit"):
            return ask(self.owner, "implicit", p, y, step)
        explicit = self.slope(p, y)
        low, high = min(explicit, self.slope(p - step * explicit, y)), max(explicit, self.slope(p - step * explicit, y))
        for _ in range(60):
            middle = 0.5 * (low + high)
            if self.slope(p - step * middle, y) > middle:
                low = middle
            else:
                high = middle
        return 0.5 * (low + high)

    def curvature(self, p: float, y: float) -> float:
        if hasattr(self.owner, "curvature"):
            return ask(self.owner, "curvature", p, y)
        h = 1e-5 * max(1.0, abs(p))
        return max(0.0, (self.slope(p + h, y) - self.slope(p - h, y)) / (2 * h))
