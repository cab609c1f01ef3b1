"""What every constraint has, and how a constraint written in plain Python takes part in the kernels."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple, Self

import numpy as np

from epro.own_parts import ask
from epro.protocols import Array
from epro.validation import real_array

Shape = tuple[int, ...]


class InfeasibleConstraint(ValueError):
    """No point satisfies the constraint."""


class Constraint:
    """A closed convex set {x : c(x) <= 0}.

    A subclass either returns a compiled record (see ``protocols.Constraint``) from `record`, and everything else
    follows, or it writes `value`, `subgradient` and `project` in plain Python and is called back from the kernels.
    A record may lack ``project`` (where a projection takes a solver); the subclass then writes `project` itself.

    Attributes
    ----------
    shape : tuple of int or None
        The shape of x, once the constraint belongs to a problem (or was built with arrays that fix it).
    """

    shape: Shape | None = None

    @property
    def lipschitz(self) -> float | None:
        """G2: an upper bound on the norm of c's subgradients; None where unknown."""
        return None

    @property
    def rho(self) -> float | None:
        """A positive rho with ||x - P(x)|| <= [c(x)]_+ / rho for all x (Lemma 0); None where unknown."""
        return None

    @property
    def dear(self) -> bool:
        """Whether a cut costs more than a distance, so that leaving cuts out pays (see `epro.kernels.skipping`)."""
        return False

    @property
    def radius_bound(self) -> float | None:
        """The largest norm of a feasible point; None where unknown or infinite."""
        return None

    def bind(self, shape: Shape) -> Self:
        """The same constraint, knowing the shape of x; an error where the two do not fit."""
        if self.shape is not None and tuple(self.shape) != tuple(shape):
            raise ValueError(f"{type(self).__name__}: made for x of shape {self.shape}, but x has shape {shape}")
        self.check_shape(tuple(shape))
        bound = copy.copy(self)
        bound.shape = tuple(shape)
        return bound

    def check_shape(self, shape: Shape) -> None:
        """An error where no x of this shape can be meant."""

    def check_feasible(self) -> None:
        """Raises `InfeasibleConstraint`, saying why, where the set is empty."""

    # -- the record that kernels see, and the allocating verbs derived from it

    def record(self, shape: Shape, dtype: Any) -> Any:
        """The record of verbs for x of this shape and dtype."""
        return PythonConstraint(self)

    def work(self, shape: Shape) -> Array:
        """The array in which ``cut`` leaves an encoded subgradient."""
        return np.zeros(shape)

    def value(self, x: Array) -> float:
        """c(x); NaN where x is not finite."""
        x = self._point(x)
        if not np.isfinite(x).all():
            return float("nan")
        return float(self.record(x.shape, x.dtype).cut(x, self.work(x.shape)))

    def subgradient(self, x: Array) -> Array:
        """A subgradient of c at x."""
        x = self._point(x)
        record, work, v = self.record(x.shape, x.dtype), self.work(x.shape), np.zeros_like(x)
        record.cut(x, work)
        record.descend(work, -1.0, v)
        return v

    def project(self, x: Array) -> Array:
        """The nearest feasible point, as a new array of the same dtype (computed in double precision)."""
        self.check_feasible()
        x = self._finite_point(x)
        p = np.array(x, dtype=np.float64, order="C")
        self.record(p.shape, p.dtype).project(p)
        return p.astype(x.dtype, copy=False)

    def projection_error(self, z: Array, x: Array, multipliers: Any = None) -> float:
        """A bound on ||x - P(z)|| for a point x that `project` returned; here rounding, for closed forms."""
        unit = np.finfo(np.asarray(x).dtype).eps
        return float(16 * unit * (np.linalg.norm(z) + np.linalg.norm(x)))

    def linear_minimizer(self, direction: Array) -> Array:
        """A feasible point that minimises <direction, x>; an error where there is none or no cheap way to it."""
        raise NotImplementedError(f"{type(self).__name__} has no linear minimisation")

    # -- multipliers, active pieces, and the form that quadratic programs take

    def multipliers(self, x: Array, normal: Array) -> Any:
        """The multipliers lam with normal = sum_i lam_i v_i over the pieces active at x, where x = P(x + normal).

        ``normal`` is z - x for a projected z, or minus the gradient of the objective at an optimum. For a set with one
        smooth piece it is a number: the length of ``normal`` along the subgradient, in units of c.
        """
        v = self.subgradient(x)
        return max(0.0, float(np.vdot(v, normal)) / max(float(np.vdot(v, v)), 1e-300))

    def active(self, x: Array, tol: float = 1e-8) -> list[Any]:
        """The pieces that hold with equality at x, readable or as indices."""
        return [repr(self)] if self.value(x) >= -tol else []

    def linear_inequalities(self, d: int) -> LinearSystem | None:
        """The set as linear inequalities on x of length d; None where it is not a polyhedron of few rows."""
        return None

    def project_metric(self, H: Array, q: Array, warm: Any = None) -> tuple[Array, Any]:
        """The minimiser of x'Hx/2 + q'x over the set, and its multipliers; for sets of linear inequalities."""
        from epro.constraints.linear import project_metric

        return project_metric(self, H, q, warm)

    def _point(self, x: Array) -> Array:
        x = real_array(x, f"{type(self).__name__}: x")
        if self.shape is not None and x.shape != tuple(self.shape):
            raise ValueError(f"{type(self).__name__}: x has shape {x.shape}, expected {self.shape}")
        self.check_shape(x.shape)
        return x

    def _finite_point(self, x: Array) -> Array:
        x = self._point(x)
        if not np.isfinite(x).all():
            raise ValueError(f"{type(self).__name__}: cannot project x, it has a NaN or infinite entry")
        return x

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class LinearSystem(NamedTuple):
    """A_ub x <= b_ub, A_eq x = b_eq, lb <= x <= ub; matrices dense or CSR, with no rows where there are none."""

    A_ub: Any
    b_ub: Array
    A_eq: Any
    b_eq: Array
    lb: Array
    ub: Array


class PythonConstraint(NamedTuple):
    """The record of a constraint whose verbs are plain Python; Numba cannot type it, so kernels run interpreted."""

    constraint: Any

    def cut(self, x: Array, work: Array) -> float:
        work[...] = ask(self.constraint, "subgradient", x, shape=x.shape)
        return ask(self.constraint, "value", x)

    def descend(self, work: Array, s: float, x: Array) -> None:
        x -= s * work

    def inner(self, work: Array, x: Array) -> float:
        return float(np.vdot(work, x))

    def cut_norm2(self, work: Array) -> float:
        return float(np.vdot(work, work))

    def project(self, x: Array) -> None:
        x[...] = ask(self.constraint, "project", x, shape=x.shape)


class Counted(NamedTuple):
    """A constraint record that counts its own use: counts[0] cuts, counts[1] projections."""

    inner_record: Any
    counts: Array

    def cut(self, x: Array, work: Array) -> float:
        self.counts[0] += 1
        return self.inner_record.cut(x, work)

    def descend(self, work: Array, s: float, x: Array) -> None:
        self.inner_record.descend(work, s, x)

    def inner(self, work: Array, x: Array) -> float:
        return self.inner_record.inner(work, x)

    def cut_norm2(self, work: Array) -> float:
        return self.inner_record.cut_norm2(work)

    def above(self, x: Array, c: float, work: Array) -> float:
        return self.inner_record.above(x, c, work)

    def project(self, x: Array) -> None:
        self.counts[1] += 1
        self.inner_record.project(x)
