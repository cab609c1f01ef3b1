"""What may stand where a constraint is expected."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint

from epro.atoms import matrices
from epro.constraints.affine import Affine
from epro.constraints.base import Constraint, InfeasibleConstraint
from epro.constraints.box import Box
from epro.constraints.custom import Custom
from epro.constraints.everywhere import Everywhere
from epro.constraints.polyhedron import Polyhedron, checked_matrix
from epro.protocols import Array

VERBS = ("value", "subgradient", "project")  # an object with these is a constraint, whatever its class


def as_constraint(constraint: Any, name: str = "constraint") -> Constraint:
    """The constraint itself; SciPy's ``Bounds`` and ``LinearConstraint``, objects with the `VERBS`, lists, None as one.

    Examples
    --------
    >>> from scipy.optimize import Bounds
    >>> from epro.constraints import as_constraint
    >>> as_constraint(Bounds(0, 1))
    Box(0, 1)
    """
    if isinstance(constraint, Constraint):
        return constraint
    if constraint is None:
        return Everywhere()
    if isinstance(constraint, Bounds):
        return Box(*(v.item() if v.size == 1 else v for v in map(np.asarray, (constraint.lb, constraint.ub))))
    if isinstance(constraint, LinearConstraint):
        return _from_linear(constraint, name)
    if isinstance(constraint, list | tuple):
        return _from_list([as_constraint(item, f"{name}[{k}]") for k, item in enumerate(constraint)])
    if not isinstance(constraint, type) and all(callable(getattr(constraint, verb, None)) for verb in VERBS):
        known = {constant: getattr(constraint, constant, None) for constant in ("lipschitz", "rho", "radius_bound")}
        return Custom(*(getattr(constraint, verb) for verb in VERBS), **known, name=type(constraint).__name__)
    raise TypeError(
        f"{name} must be a constraint of epro, a scipy.optimize Bounds or LinearConstraint, a list of these, or None; "
        f"got {constraint!r}"
    )


def _from_list(members: list[Constraint]) -> Constraint:
    from epro.constraints.intersection import Intersection

    members = [member for member in members if not isinstance(member, Everywhere)]
    if len(members) > 1:
        return Intersection(members)
    return members[0] if members else Everywhere()


def _from_linear(constraint: LinearConstraint, name: str) -> Constraint:
    """lb <= A x <= ub: equal sides become an `Affine`, finite ones rows of a `Polyhedron`."""
    A = checked_matrix(matrices.matrix(constraint.A), f"{name}: A of the LinearConstraint")
    lb, ub = (np.array(np.broadcast_to(v, (A.shape[0],)), dtype=float) for v in (constraint.lb, constraint.ub))
    _sides(lb, ub, name)
    equal = lb == ub
    above, below = np.isfinite(ub) & ~equal, np.isfinite(lb) & ~equal
    members: list[Constraint] = []
    if equal.any():
        members.append(Affine(A[equal], ub[equal]))
    if above.any() or below.any():
        members.append(Polyhedron(matrices.above([A[above], -A[below]]), np.concatenate([ub[above], -lb[below]])))
    found = _from_list(members)
    return found.bind((A.shape[1],))


def _sides(lb: Array, ub: Array, name: str) -> None:
    """Errors for sides that are NaN, or crossed."""
    for side, values in (("lb", lb), ("ub", ub)):
        if np.isnan(values).any():
            row = int(np.isnan(values).argmax())
            raise ValueError(f"{name}: {side} of the LinearConstraint has a NaN entry at row {row}")
    crossed = (lb > ub) | (lb == np.inf) | (ub == -np.inf)
    if crossed.any():
        i = int(crossed.argmax())
        raise InfeasibleConstraint(f"{name}: row {i} of the LinearConstraint has lb = {lb[i]:g} above ub = {ub[i]:g}")
