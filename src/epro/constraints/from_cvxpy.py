"""Constraints written in CVXPY (an optional extra)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from epro.constraints.base import Constraint, InfeasibleConstraint
from epro.protocols import Array


class FromCVXPY(Constraint):
    r"""{x : the CVXPY constraints hold}, with c(x) the largest violation of any of their entries.

    An inequality left <= right counts as max(left - right), an equality as max |left - right|, a matrix inequality
    X >> Y as lambda_max(Y - X), a second-order cone as ||X|| - t. G2 and rho are unknown. Clarabel
    projects, to about 1e-7 in distance.

    Parameters
    ----------
    constraints : list of CVXPY constraints
        All on one variable.
    variable : cvxpy.Variable, optional
        Stands for x; without attributes (write ``x >= 0`` in place of ``nonneg=True``). By default the one of the
        constraints.

    Examples
    --------
    >>> import cvxpy, numpy as np
    >>> from epro.constraints import FromCVXPY
    >>> v = cvxpy.Variable(2)
    >>> FromCVXPY([cvxpy.norm(v) <= 1, v >= 0]).project(np.array([3.0, -1.0])).round(6)
    array([1., 0.])
    """

    def __init__(self, constraints: Sequence[Any], variable: Any = None) -> None:
        import cvxpy

        constraints = list(constraints)
        if not constraints:
            raise ValueError("FromCVXPY: constraints must not be empty")
        variable = _only_variable(constraints) if variable is None else variable
        attributes = [name for name, value in variable.attributes.items() if value]
        if attributes:
            raise ValueError(f"FromCVXPY: variable has the attributes {attributes}; write them as constraints")
        for k, constraint in enumerate(constraints):
            others = [v.name() for v in constraint.variables() if v.id != variable.id]
            if others:
                raise ValueError(f"FromCVXPY: constraint {k} has the variables {others} beside {variable.name()}")
            if not constraint.is_dcp():
                raise ValueError(f"FromCVXPY: constraint {k}, {constraint}, is not convex by CVXPY's rules")
        self.constraints, self.variable, self.shape = constraints, variable, variable.shape
        self._pieces = [_piece(constraint, k) for k, constraint in enumerate(constraints)]
        self._target, self._unit = cvxpy.Parameter(variable.shape), cvxpy.Parameter(nonneg=True)
        pull = cvxpy.sum(cvxpy.multiply(self._target, variable))
        nearest = cvxpy.Minimize(0.5 * self._unit * cvxpy.sum_squares(variable) - pull)
        self._problem = cvxpy.Problem(nearest, constraints)

    def check_feasible(self) -> None:
        import cvxpy

        t, kept = cvxpy.Variable(), self.variable.value
        relaxed = [piece <= t for piece in self._pieces]
        cvxpy.Problem(cvxpy.Minimize(t), [*relaxed, t >= 0]).solve(solver=cvxpy.CLARABEL)
        self.variable.value = kept
        if t.value is not None and t.value > 1e-7:
            weights = [float(np.sum(np.abs(r.dual_value))) for r in relaxed]
            named = [f"{k} ({c})" for k, (c, w) in enumerate(zip(self.constraints, weights, strict=True)) if w > 1e-6]
            raise InfeasibleConstraint(f"FromCVXPY: no point satisfies the constraints {', '.join(named)} together")

    def value(self, x: Array) -> float:
        return max(self._values(self._point(x)))

    def _values(self, x: Array) -> list[float]:
        self.variable.value = np.asarray(x, dtype=float)
        return [float(np.max(piece.value)) for piece in self._pieces]

    def subgradient(self, x: Array) -> Array:
        x = self._point(x)
        piece = self._pieces[int(np.argmax(self._values(x)))]
        gradient = piece.grad.get(self.variable)  # (x.size, piece.size), both in column order
        if gradient is None:
            raise ValueError(f"FromCVXPY: {piece} has no subgradient at this x, where it is not defined")
        if np.ndim(gradient) == 2:
            worst = int(np.argmax(np.ravel(piece.value, order="F")))
            gradient = gradient[:, [worst]]
        gradient = gradient.toarray() if hasattr(gradient, "toarray") else np.asarray(gradient)
        return gradient.reshape(x.shape, order="F").astype(x.dtype)

    def project(self, x: Array) -> Array:
        x = self._finite_point(x)
        if self.value(x) <= 1e-10:
            return x.copy()
        return self._nearest(x)

    def multipliers(self, x: Array, normal: Array) -> list[Any]:
        """The dual values of the CVXPY constraints in the projection of x + normal."""
        self._nearest(np.asarray(x, float) + normal)
        unit: Any = self._unit.value
        return [_divided(constraint.dual_value, unit) for constraint in self.constraints]

    def _nearest(self, x: Array) -> Array:
        import cvxpy

        # ||x - z||^2 / 2 up to a constant, in units in which a far z is no large number
        self._unit.value = 1.0 / max(1.0, float(np.linalg.norm(x)))
        self._target.value = x.astype(float) * self._unit.value
        # a gap of 1e-14 is a distance of 1e-7: strong convexity turns the gap into the square of the distance
        tight = {"tol_gap_abs": 1e-14, "tol_gap_rel": 1e-14, "tol_feas": 1e-11}
        with warnings.catch_warnings():  # CVXPY warns where the last digits were not reached
            warnings.simplefilter("ignore", UserWarning)
            try:
                self._problem.solve(solver=cvxpy.CLARABEL, warm_start=False, **tight)
            except cvxpy.SolverError:  # so many digits are out of reach
                self._problem.solve(solver=cvxpy.CLARABEL, warm_start=False)
        if self._problem.status in (cvxpy.INFEASIBLE, cvxpy.INFEASIBLE_INACCURATE):
            self.check_feasible()
        if self.variable.value is None:
            raise RuntimeError(f"FromCVXPY: Clarabel found no projection, status {self._problem.status}")
        return np.array(self.variable.value, dtype=x.dtype).reshape(x.shape)

    def active(self, x: Array, tol: float = 1e-6) -> list[str]:
        """The constraints with an entry that holds with equality."""
        values = self._values(self._point(x))
        return [str(c) for c, value in zip(self.constraints, values, strict=True) if value >= -tol]

    def __repr__(self) -> str:
        return f"FromCVXPY({', '.join(map(str, self.constraints))})"


def _divided(dual: Any, unit: float) -> Any:
    """A dual value, or those of the parts of a cone, in the units of the projection."""
    return [part / unit for part in dual] if isinstance(dual, list) else dual / unit


def _only_variable(constraints: list[Any]) -> Any:
    found = {v.id: v for constraint in constraints for v in constraint.variables()}
    if len(found) != 1:
        names = ", ".join(v.name() for v in found.values()) or "none"
        raise ValueError(f"FromCVXPY: say which variable stands for x; the constraints have: {names}")
    return next(iter(found.values()))


def _piece(constraint: Any, k: int) -> Any:
    """A convex CVXPY expression that is at most zero where the constraint holds."""
    import cvxpy

    kind = type(constraint).__name__
    if kind in ("Inequality", "NonPos"):
        return constraint.expr
    if kind == "NonNeg":
        return -constraint.args[0]
    if kind in ("Equality", "Zero"):
        return cvxpy.abs(constraint.expr)
    if kind == "PSD":
        X = constraint.args[0]
        return cvxpy.lambda_max(-0.5 * (X + X.T))
    if kind == "SOC":
        t, X = constraint.args
        return cvxpy.norm(X, 2, axis=constraint.axis if X.ndim > 1 else None) - t
    raise TypeError(f"FromCVXPY: constraint {k} is of the kind {kind}, which is not supported")
