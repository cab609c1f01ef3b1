"""What the constrained regressor and classifier share: parameters, problems, attributes."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_sample_weight

from epro import streams
from epro._minimize import minimize
from epro.atoms import matrices
from epro.constraints import Box, InfeasibleConstraint, Intersection, NonNegative
from epro.estimators.progress import CallbackSupport, reporting
from epro.estimators.shorthands import constraints_of, covariance, members
from epro.problem import Problem
from epro.protocols import Array
from epro.regularizers import L1, Ridge
from epro.run import feasible_start
from epro.solvers import APG, METHODS, Solver
from epro.validation import positive, whole

FINEST = 50.0  # of machine precision: no certificate of the data's precision is finer


def method_of(solver: Any, problem: Problem) -> Any:
    """The method for a problem; one softmax knows accelerated steps only."""
    if not isinstance(solver, Solver) and solver not in METHODS:
        raise ValueError(f"solver must be one of {', '.join(sorted(METHODS))}, or a solver object, got {solver!r}")
    if len(problem.shape) == 1:
        return solver
    method = "apg" if solver == "auto" else solver
    if method != "apg" and not isinstance(method, APG):
        raise ValueError(f"multi_class='multinomial' needs solver='auto' or 'apg', got {solver!r}")
    return method


class ConstrainedLinear(CallbackSupport, BaseEstimator):
    """The shared base; ``loss`` and what depends on it are the subclasses'."""

    _normals: Any
    coef_: Any
    intercept_: Any
    result_: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _regularizer(self) -> Any:
        alpha, share = (positive(getattr(self, name), name, zero=True) for name in ("alpha", "l1_ratio"))
        if share > 1.0:
            raise ValueError(f"l1_ratio must lie between 0 and 1, got {share!r}")
        parts = [kind(weight) for kind, weight in ((Ridge, alpha * (1.0 - share)), (L1, alpha * share)) if weight > 0]
        return sum(parts[1:], parts[0]) if parts else None

    def _constraint(self, X: Any, sensitive: Any, weights: Any, streamed: bool = False) -> Any:
        found = covariance(self, X, sensitive, weights)
        if streamed and found is not None:  # of all rows so far
            found = self._covariance = found if self._covariance is None else found.plus(self._covariance)
        named = constraints_of(self, X, found)
        found = Intersection([part.constraint for part in named]) if len(named) > 1 else None
        self._members = members(named)
        return found if found is not None else (named[0].constraint if named else None)

    def _solve(self, loss: Any, constraint: Any, start: Array | None, task: str) -> Any:
        """One problem solved; a feasible point near ``start`` begins it."""
        problem = Problem(loss, self._regularizer(), constraint)
        tol = positive(self.tol, "tol", zero=True)  # type: ignore[attr-defined]
        several = (
            len(loss.shape) == 1 and len(getattr(self, "classes_", ())) > 2
        )  # the others of them are not known yet
        with reporting(self, task, None if several else self._so_far) as callbacks, self._naming_arguments():
            result = minimize(
                problem, method_of(self.solver, problem), tol=tol,  # type: ignore[attr-defined]
                max_steps=whole(self.max_iter, "max_iter") * problem.n,  # type: ignore[attr-defined]
                x0=None if start is None else _feasible(problem, start), random_state=self.random_state,  # type: ignore[attr-defined]
                verbose=bool(self.verbose), callbacks=callbacks,  # type: ignore[attr-defined]
            )  # fmt: skip
        fine = max(tol, FINEST * float(np.finfo(problem.dtype).eps)) * max(1.0, abs(result.fun))
        if not result.success and tol > 0 and not result.gap <= fine:
            text = f"{type(self).__name__}: {result.message} The gap is {result.gap:.3g}; raise max_iter or tol."
            warnings.warn(text, ConvergenceWarning, stacklevel=4)
        normal = -problem.gradient(result.x) if result.normal is None else result.normal
        self._normals += list(np.atleast_2d(normal))
        return result

    @contextmanager
    def _naming_arguments(self) -> Iterator[None]:
        """An error about an empty intersection names the arguments that its members come from."""
        try:
            yield
        except InfeasibleConstraint as error:
            names = [part.name for part in self._members]
            text = re.sub(r"member (\d+), ", lambda found: f"{names[int(found[1])]} = ", str(error))
            raise InfeasibleConstraint(text.replace("Intersection: ", "The constraints exclude each other: ")) from None

    def _checked_weights(self, sample_weight: Any, X: Any) -> Any:
        if sample_weight is None:
            return None
        weights = _check_sample_weight(sample_weight, X, dtype=X.dtype, ensure_non_negative=True)
        if not weights.any():
            raise ValueError("sample_weight must not be zero for all rows")
        return weights

    def _weights(self, sample_weight: Any, n: int) -> Any:
        """Weights with mean one, so that a weight counts as so many rows."""
        if sample_weight is None:
            return None
        total = float(np.sum(sample_weight))
        if total <= 0:
            raise ValueError("sample_weight and class_weight must not be zero for all rows together")
        return np.asarray(sample_weight) * (n / total)

    def _start(self, k: int, width: int) -> Array | None:
        """The last coefficients of output k, for a warm start."""
        if not self.warm_start or not hasattr(self, "coef_"):  # type: ignore[attr-defined]
            return None
        coef = np.atleast_2d(self.coef_)
        if k >= len(coef) or coef.shape[1] != width:
            return None
        b: Any = np.atleast_1d(np.asarray(self.intercept_))
        return np.append(coef[k], b[k]) if self.fit_intercept else coef[k]  # type: ignore[attr-defined]

    def _keep(self, results: list[Any], n: int, d: int) -> None:
        """Attributes from one result per output."""
        self._split(np.vstack([result.x for result in results]), d)
        self.n_iter_ = max(1, *(math.ceil(result.n_steps / n) for result in results)) if results else 1
        self.gap_ = float(max(result.gap for result in results))
        self.constraint_violation_ = float(max(0.0, *(result.violation for result in results), 0.0))
        self.n_projections_ = int(sum(result.n_projections for result in results))
        self.result_ = results[0] if len(results) == 1 else results

    def _so_far(self, x: Array) -> dict[str, Any]:
        """What `predict` needs, from the point of an epoch."""
        x = np.atleast_2d(x)
        coef, b = (x[:, :-1], x[:, -1]) if self.fit_intercept else (x, np.zeros(len(x), x.dtype))  # type: ignore[attr-defined]
        return {"coef_": coef, "intercept_": b} if hasattr(self, "classes_") else {"coef_": coef[0], "intercept_": b[0]}

    def _split(self, x: Array, d: int) -> None:
        """Coefficients, within their signs and bounds to the last bit, and intercepts."""
        self.coef_, self.intercept_ = x[:, :d].copy(), x[:, d].copy() if x.shape[1] > d else np.zeros(len(x), x.dtype)
        for _, constraint in self._members:
            if isinstance(constraint, Box | NonNegative):
                self.coef_ = np.stack([constraint.project(w) for w in self.coef_])

    def _start_rows(self, classes: int, width: int) -> Array | None:
        """The last coefficients of all classes, for a warm start."""
        starts = [self._start(k, width) for k in range(classes)]
        return None if any(start is None for start in starts) else np.stack(starts)  # type: ignore[arg-type]

    def _each(self, verb: str, *extra: Any) -> Any:
        outputs = []
        normals = getattr(self, "_normals", [None] * len(np.atleast_2d(self.coef_)))
        for w, normal in zip(np.atleast_2d(self.coef_), normals, strict=True):
            arguments = () if normal is None or verb == "active" else (normal[: len(w)],)
            found: dict[str, Any] = {}
            parts = [member.constraint.bind((len(w),)) for member in self._members]
            if verb == "active" or len(parts) == 1:
                values = [getattr(part, verb)(w, *arguments) for part in parts]
            else:
                values = Intersection(parts).multipliers(w, *arguments) if parts else []
            for member, value in zip(self._members, values, strict=True):
                found.setdefault(member.name, []).append(value)
            outputs.append({name: v[0] if len(v) == 1 else v for name, v in found.items()})
        return outputs[0] if len(outputs) == 1 else outputs

    @property
    def active_constraints_(self) -> Any:
        """For each argument that constrains, its pieces that hold with equality (one dict per class for several)."""
        self._check_is_fitted()
        return self._each("active")

    @property
    def multipliers_(self) -> Any:
        """For each argument that constrains, the multipliers of its pieces (one dict per class for several)."""
        self._check_is_fitted()
        return self._each("multipliers")

    def _check_is_fitted(self) -> None:
        from sklearn.utils.validation import check_is_fitted

        try:
            check_is_fitted(self, "coef_")
        except Exception as error:
            raise AttributeError(str(error)) from None

    def _stream(self, batches: list[Any], constraint: Any, d: int) -> None:
        """One epoch for each output, from where the last one ended, over its loss of all rows that wait for one."""
        ended, normals = [], []
        for k, loss in enumerate(batches):
            problem = Problem(loss, self._regularizer(), constraint)
            start = _feasible(problem, self._streamed[k]) if self._streamed else feasible_start(problem, None)
            if problem.n >= streams.LEAST:
                start = streams.next_epoch(problem, start, self._seen, random_state=self.random_state)  # type: ignore[attr-defined]
            ended.append(start)
            normals.append(-problem.gradient(start))
        self._streamed, self._normals, n = ended, normals, batches[0].n
        self._streamed_attributes(n if n >= streams.LEAST else 0, d)

    def _with_waiting(self, X: Any, y: Array, weights: Any) -> tuple[Any, Array, Array]:
        """The rows of a batch, below those of earlier ones that were too few for an epoch."""
        batch = (X, y, np.ones(X.shape[0], X.dtype) if weights is None else np.asarray(weights))
        above = [*self._waiting, batch]
        X, y, weights = matrices.above([b[0] for b in above]), *(np.concatenate([b[k] for b in above]) for k in (1, 2))  # type: ignore[assignment]
        self._waiting = [(X, y, weights)] if len(y) < streams.LEAST else []
        return X, y, weights

    def _begin_stream(self) -> None:
        """From the coefficients of `fit`, where there are some."""
        if hasattr(self, "_streamed"):
            return
        self._streamed, self._waiting, self._covariance, self._seen = [], [], None, 0
        if hasattr(self, "coef_"):
            coef = np.atleast_2d(self.coef_)
            b = np.reshape(self.intercept_, (-1, 1)).astype(coef.dtype)
            self._streamed = list(np.hstack([coef, b]) if self.fit_intercept else coef)  # type: ignore[attr-defined]

    def _end_stream(self) -> None:
        self.__dict__.pop("_streamed", None)

    def _streamed_attributes(self, steps: int, d: int) -> None:
        """Attributes after a batch: nothing is certified of a stream."""
        self._split(np.stack(self._streamed), d)
        self._seen += steps
        self.n_iter_ = getattr(self, "n_iter_", 0) + 1
        self.gap_, self.constraint_violation_, self.result_ = math.inf, 0.0, None
        self.n_projections_ = getattr(self, "n_projections_", 0) + len(self._streamed) * (steps > 0)


def _feasible(problem: Problem, x: Array) -> Array:
    x = problem.point(x)
    return x if problem.violation(x) <= 0 else problem.point(problem.constraint.project(x))
