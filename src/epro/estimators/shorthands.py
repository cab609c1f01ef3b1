"""From the estimators' shorthands (signs, orders, sums, bounds, fairness) to constraints, with columns by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from epro.atoms import matrices
from epro.constraints import (
    Affine,
    Box,
    Constraint,
    Everywhere,
    Intersection,
    Monotone,
    NonNegative,
    Polyhedron,
    as_constraint,
)
from epro.constraints.covariance import Moments, moments
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
                known = ", ".join(map(str, list(self.places)[:8]))
                known = (
                    f"the columns are {known}"
                    if known
                    else (
                        "X came without names: fit on a data frame, in a Pipeline after .set_output(transform='pandas')"
                    )
                )
                raise ValueError(f"{argument}: there is no column {column!r}; {known}")
            return self.places[column]
        if not isinstance(column, int | np.integer) or not 0 <= column < self.count:
            raise ValueError(f"{argument}: a column must be a name or an index below {self.count}, got {column!r}")
        return int(column)


def constraints_of(estimator: Any, X: Any, covariance: Moments | None) -> list[Named]:
    """Everything that an estimator's arguments ask of its coefficients; each fits the columns of X."""
    columns = Columns(X.shape[1], getattr(estimator, "feature_names_in_", None))
    wanted = list(_shorthands(estimator, columns))
    if estimator.constraint is not None:
        wanted.append(("constraint", lambda: as_constraint(estimator.constraint)))
    if covariance is not None:
        fairness = estimator.fairness
        at_most = fairness[1] if isinstance(fairness, tuple | list) else fairness
        wanted.append(("fairness", lambda: covariance.bound(at_most)))
    found = [Named(name, _made(name, make, columns.count)) for name, make in wanted]
    return [named for named in found if not isinstance(named.constraint, Everywhere)]


def _made(name: str, make: Callable[[], Constraint], count: int) -> Constraint:
    """The constraint, for so many columns; an error says which argument it comes from."""
    try:
        return make().bind((count,))
    except ValueError as error:
        text = str(error)
        raise type(error)(text if text.startswith(name) else f"{name}: {text}") from None


def members(named: list[Named]) -> list[Named]:
    """The same, with intersections taken apart as `Intersection` does."""
    parts = [
        Named(name, member)
        for name, constraint in named
        for member in (constraint.members if isinstance(constraint, Intersection) else [constraint])
    ]
    return parts


def _shorthands(estimator: Any, columns: Columns) -> Iterator[tuple[str, Callable[[], Constraint]]]:
    if not isinstance(estimator.positive, bool | np.bool_) or estimator.positive:
        yield "positive", lambda: _positive(estimator.positive, columns)
    if estimator.monotonic is not None:
        for constraint in _monotonic(estimator.monotonic, columns):
            yield "monotonic", lambda constraint=constraint: constraint
    if estimator.sum_to is not None:
        yield "sum_to", lambda: Affine(np.ones((1, columns.count)), [float(estimator.sum_to)])
    if estimator.bounds is not None:
        yield "bounds", lambda: _bounds(estimator.bounds, columns)
    if (estimator.A_ineq is None) != (estimator.b_ineq is None):
        raise ValueError("A_ineq and b_ineq must be given together, for A_ineq @ coef <= b_ineq")
    if estimator.A_ineq is not None:
        A = estimator.A_ineq if hasattr(estimator.A_ineq, "tocsr") else np.atleast_2d(estimator.A_ineq)
        yield "A_ineq", lambda: Polyhedron(A, np.atleast_1d(estimator.b_ineq))


def _positive(positive: Any, columns: Columns) -> NonNegative:
    if isinstance(positive, bool | np.bool_):
        return NonNegative()
    if isinstance(positive, list | tuple) and positive and all(isinstance(name, str) for name in positive):
        return NonNegative(mask=np.isin(np.arange(columns.count), [columns(name, "positive") for name in positive]))
    mask = np.asarray(positive)
    if mask.dtype != bool or mask.shape != (columns.count,):
        expected = f"a boolean, a boolean mask of {columns.count} columns, or names of columns"
        raise ValueError(f"positive must be {expected}, got {positive!r}")
    return NonNegative(mask=mask)


def _monotonic(monotonic: Any, columns: Columns) -> Iterator[Constraint]:
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
        yield Box(lower, upper)
    for sign, groups in chains.items():
        if groups:
            yield Monotone(increasing=sign == 1, chains=groups)


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


def covariance(estimator: Any, X: Any, sensitive: Any, weights: Any) -> Moments | None:
    """Of the sensitive columns, given to `fit` or named in ``fairness``, with the columns of X."""
    fairness = estimator.fairness
    named = isinstance(fairness, tuple | list)
    if sensitive is not None:
        if named or fairness is None:
            raise ValueError("fairness must be a number, the largest covariance, where fit is given sensitive columns")
        if np.asarray(sensitive).dtype.kind in "OUST":
            example = "numbers, such as (group == 'a').astype(float), one column for each group"
            raise TypeError(f"fairness: sensitive must hold {example}, got {np.ravel(np.asarray(sensitive))[:3]!r}")
        return moments(X, sensitive, weights)
    if fairness is None:
        return None
    if not named or len(fairness) != 2:
        expected = "(columns, t), or a number where fit is given sensitive columns"
        raise ValueError(f"fairness must be {expected}, got {fairness!r}")
    columns, names = Columns(X.shape[1], getattr(estimator, "feature_names_in_", None)), fairness[0]
    wanted = [columns(column, "fairness") for column in ([names] if np.ndim(names) == 0 else names)]
    return moments(X, matrices.dense(X[:, wanted]), weights)


def coefficient_names(estimator: Any, count: int) -> Array:
    """Names of the columns, for pictures."""
    names = getattr(estimator, "feature_names_in_", None)
    return np.array([f"x{j}" for j in range(count)]) if names is None else np.asarray(names)
