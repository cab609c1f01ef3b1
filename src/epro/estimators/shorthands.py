"""From the estimators' shorthands (signs, orders, sums, bounds, fairness) to constraints, with columns by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from epro.constraints import Affine, Box, Constraint, Intersection, Monotone, NonNegative, Polyhedron, as_constraint
from epro.constraints.covariance import covariance_bound
from epro.protocols import Array


class Named(NamedTuple):
    """A constraint and the argument that it comes from."""

    name: str
    constraint: Constraint


class Columns:
    """Finds columns by index or by name."""

    def __init__(self, count: int, names: Any = None) -> None:
        self.count = count
        self.places = {} if names is None else {name: j for j, name in enumerate(names)}

    def __call__(self, column: Any, argument: str) -> int:
        if isinstance(column, str):
            if column not in self.places:
                known = ", ".join(map(str, list(self.places)[:8])) or "none, as X was not a data frame"
                raise ValueError(f"{argument}: there is no column {column!r}; the columns are {known}")
            return self.places[column]
        if not isinstance(column, int | np.integer) or not 0 <= column < self.count:
            raise ValueError(f"{argument}: a column must be a name or an index below {self.count}, got {column!r}")
        return int(column)


def constraints_of(estimator: Any, X: Any, sensitive: Any) -> list[Named]:
    """Everything that an estimator's arguments ask of its coefficients."""
    columns = Columns(X.shape[1], getattr(estimator, "feature_names_in_", None))
    found = list(_shorthands(estimator, columns))
    if estimator.constraint is not None:
        found.append(Named("constraint", as_constraint(estimator.constraint)))
    if estimator.fairness is not None or sensitive is not None:
        found.append(Named("fairness", _fairness(estimator.fairness, X, sensitive, columns)))
    return found


def members(named: list[Named]) -> list[Named]:
    """The same, with intersections taken apart as `Intersection` does."""
    parts = [
        Named(name, member)
        for name, constraint in named
        for member in (constraint.members if isinstance(constraint, Intersection) else [constraint])
    ]
    return parts


def _shorthands(estimator: Any, columns: Columns) -> Iterator[Named]:
    positive = _positive(estimator.positive, columns)
    if positive is not None:
        yield Named("positive", positive)
    if estimator.monotonic is not None:
        yield from _monotonic(estimator.monotonic, columns)
    if estimator.sum_to is not None:
        yield Named("sum_to", Affine(np.ones((1, columns.count)), [float(estimator.sum_to)]))
    if estimator.bounds is not None:
        yield Named("bounds", _bounds(estimator.bounds, columns))
    if (estimator.A_ineq is None) != (estimator.b_ineq is None):
        raise ValueError("A_ineq and b_ineq must be given together, for A_ineq @ coef <= b_ineq")
    if estimator.A_ineq is not None:
        yield Named("A_ineq", Polyhedron(estimator.A_ineq, estimator.b_ineq))


def _positive(positive: Any, columns: Columns) -> NonNegative | None:
    if isinstance(positive, bool | np.bool_):
        return NonNegative() if positive else None
    mask = np.asarray(positive)
    if mask.dtype != bool or mask.shape != (columns.count,):
        raise ValueError(f"positive must be a boolean, or a boolean mask of {columns.count} columns, got {positive!r}")
    return NonNegative(mask=mask)


def _monotonic(monotonic: Any, columns: Columns) -> Iterator[Named]:
    """{column: 1 or -1} fixes signs; {(columns in order): 1 or -1} orders their coefficients."""
    if not isinstance(monotonic, dict):
        raise TypeError(f"monotonic must be a dict of column (or tuple of columns): 1 or -1, got {monotonic!r}")
    lower, upper = np.full(columns.count, -np.inf), np.full(columns.count, np.inf)
    chains: dict[int, list[list[int]]] = {1: [], -1: []}
    for key, sign in monotonic.items():
        if sign not in (1, -1):
            raise ValueError(f"monotonic[{key!r}] must be 1 or -1, got {sign!r}")
        if isinstance(key, tuple):
            chains[sign].append([columns(column, "monotonic") for column in key])
        else:
            (lower if sign == 1 else upper)[columns(key, "monotonic")] = 0.0
    if np.isfinite(lower).any() or np.isfinite(upper).any():
        yield Named("monotonic", Box(lower, upper))
    for sign, groups in chains.items():
        if groups:
            yield Named("monotonic", Monotone(increasing=sign == 1, chains=groups))


def _bounds(bounds: Any, columns: Columns) -> Box:
    if not isinstance(bounds, dict):
        raise TypeError(f"bounds must be a dict of column: (lower, upper), got {bounds!r}")
    lower, upper = np.full(columns.count, -np.inf), np.full(columns.count, np.inf)
    for column, pair in bounds.items():
        try:
            low, high = (None if end is None else float(end) for end in pair)
        except (TypeError, ValueError):
            raise ValueError(f"bounds[{column!r}] must be a pair (lower, upper), got {pair!r}") from None
        j = columns(column, "bounds")
        lower[j], upper[j] = -np.inf if low is None else low, np.inf if high is None else high
    return Box(lower, upper)


def _fairness(fairness: Any, X: Any, sensitive: Any, columns: Columns) -> Constraint:
    """At most t for columns given to `fit`, or (columns of X, t)."""
    if sensitive is not None:
        if isinstance(fairness, tuple | list) or fairness is None:
            raise ValueError("fairness must be a number, the largest covariance, where fit is given sensitive columns")
        return covariance_bound(X, sensitive, fairness)
    if not isinstance(fairness, tuple | list) or len(fairness) != 2:
        expected = "(columns, t), or a number where fit is given sensitive columns"
        raise ValueError(f"fairness must be {expected}, got {fairness!r}")
    names, at_most = fairness
    wanted = [columns(column, "fairness") for column in ([names] if isinstance(names, str | int) else names)]
    part = X[:, wanted]
    return covariance_bound(X, part.toarray() if hasattr(part, "toarray") else part, at_most)


def coefficient_names(estimator: Any, count: int) -> Array:
    """Names of the columns, for pictures."""
    names = getattr(estimator, "feature_names_in_", None)
    return np.array([f"x{j}" for j in range(count)]) if names is None else np.asarray(names)
