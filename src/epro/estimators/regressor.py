"""Linear regression under constraints."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from epro import losses
from epro.estimators.linear import ConstrainedLinear
from epro.estimators.progress import begin, end, with_callbacks
from epro.protocols import Array

LOSSES = ("squared_error", "huber", "absolute_error", "quantile")


class ConstrainedRegressor(RegressorMixin, ConstrainedLinear):
    """Linear regression under hard constraints on the coefficients.

    The constraints hold exactly, and ``gap_`` says how far from optimal the coefficients can be.

    Parameters
    ----------
    loss : {"squared_error", "huber", "absolute_error", "quantile"}, default "squared_error"
        Half the square, or as scikit-learn defines them.
    epsilon : float, default 1.35
        Where "huber" turns from a square to a line.
    quantile : float, default 0.5
        Of "quantile".
    alpha : float, default 1e-4
        The objective is the mean loss plus ``alpha * (l1_ratio ||w||_1 + (1 - l1_ratio)/2 ||w||^2)``, as in
        scikit-learn's SGD estimators.
    l1_ratio : float, default 0.0
        From 0 (ridge) to 1 (l1 norm).
    constraint : constraint or list, optional
        On the coefficients: a set of `epro.constraints`, SciPy's ``Bounds`` or ``LinearConstraint``, or a list of them.
    positive : bool, mask of columns, or list of their names, default False
        Which coefficients must not be negative.
    monotonic : dict, optional
        ``{column: 1}`` makes a coefficient nonnegative, ``{column: -1}`` nonpositive; ``{(a, b, c): 1}`` makes those of
        the columns grow in this order, -1 fall. Columns by index or, for data frames, by name.
    sum_to : float, optional
        The sum of the coefficients.
    bounds : dict, optional
        ``{column: (lower, upper)}``, with None where there is no bound.
    A_ineq, b_ineq : arrays of shape (m, n_features) and (m,), optional
        ``A_ineq @ coef <= b_ineq``.
    fairness : float or (columns, float), optional
        The largest covariance, in absolute value, of predictions with each sensitive column: columns of X, or
        those given to `fit` as ``sensitive``.
    fit_intercept : bool, default True
        The intercept is neither penalised nor constrained.
    solver : str or Solver, default "auto"
        A name in ``epro.solvers.METHODS``, or a solver object.
    max_iter : int, default 3000
        Passes over the data, at most.
    tol : float, default 1e-6
        Ends when the certified gap is at most ``tol * max(1, |objective|)``.
    random_state : int, RandomState or None, default 0
        Of methods that draw rows.
    warm_start : bool, default False
        Start from the last coefficients.
    verbose : bool, default False
        Show a line of progress on a terminal.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Feasible.
    intercept_ : float
    n_iter_ : int
        Passes over the data.
    gap_ : float
        The objective is proven to be at most this above the best possible.
    constraint_violation_ : float
        c at the coefficients, at least zero; rounding.
    n_projections_ : int
    active_constraints_, multipliers_ : dict
        By argument: the pieces that hold with equality, and the multipliers of all pieces.
    result_ : Result
        What `epro.minimize` returned.
    n_features_in_ : int
    feature_names_in_ : array
        Where X was a data frame.

    See Also
    --------
    ConstrainedClassifier : The same for classes.
    epro.minimize : Any problem of the library.

    Examples
    --------
    >>> import numpy as np
    >>> from epro import ConstrainedRegressor
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 3.0]]), np.array([1.0, 2.0, 3.0, 2.0])
    >>> model = ConstrainedRegressor(positive=True, alpha=0.0, tol=1e-12).fit(X, y)
    >>> model.coef_.round(6)
    array([0.4, 0. ])
    >>> round(model.intercept_, 6)
    1.4
    >>> model.active_constraints_
    {'positive': [('lower', 1)]}
    """

    def __init__(
        self, *, loss: str = "squared_error", epsilon: float = 1.35, quantile: float = 0.5, alpha: float = 1e-4,
        l1_ratio: float = 0.0, constraint: Any = None, positive: Any = False, monotonic: Any = None,
        sum_to: Any = None, bounds: Any = None, A_ineq: Any = None, b_ineq: Any = None, fairness: Any = None,
        fit_intercept: bool = True, solver: Any = "auto", max_iter: int = 3000, tol: float = 1e-6,
        random_state: Any = 0, warm_start: bool = False, verbose: bool = False,
    ) -> None:  # fmt: skip
        self.loss = loss
        self.epsilon = epsilon
        self.quantile = quantile
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.constraint = constraint
        self.positive = positive
        self.monotonic = monotonic
        self.sum_to = sum_to
        self.bounds = bounds
        self.A_ineq = A_ineq
        self.b_ineq = b_ineq
        self.fairness = fairness
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, sensitive: Any = None) -> ConstrainedRegressor:
        """Fit the coefficients.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            One row per sample.
        y : array of shape (n_samples,)
            Targets.
        sample_weight : array of shape (n_samples,), optional
            A row of weight k counts as k rows.
        sensitive : array of shape (n_samples,) or (n_samples, k), optional
            Columns that are not part of X, for ``fairness``.

        Returns
        -------
        ConstrainedRegressor
            The estimator itself.
        """
        X, y, weights = self._checked(X, y, sample_weight, True)
        begin(self, X, y, weights)
        self._end_stream()
        n, d = X.shape
        constraint, self._normals = self._constraint(X, sensitive, weights), []
        loss = self._loss(X, y, self._weights(weights, n))
        self._keep([self._solve(loss, constraint, self._start(0, d), "epoch")], n, d)
        self._single()
        end(self)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, sensitive: Any = None) -> ConstrainedRegressor:
        """One epoch over a batch of a stream, from where the last call ended; the coefficients stay feasible.

        Fewer than eight rows wait for those of the next calls.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            One row per sample.
        y : array of shape (n_samples,)
            Targets.
        sample_weight : array of shape (n_samples,), optional
            A row of weight k counts as k rows.
        sensitive : array of shape (n_samples,) or (n_samples, k), optional
            As in `fit`; the covariance is that of all rows so far.

        Returns
        -------
        ConstrainedRegressor
            The estimator itself.
        """
        X, y, weights = self._checked(X, y, sample_weight, not hasattr(self, "coef_"))
        self._begin_stream()
        constraint = self._constraint(X, sensitive, weights, streamed=True)
        self._stream([self._loss(*self._with_waiting(X, y, weights))], constraint, X.shape[1])
        self._single()
        return self

    def predict(self, X: Any) -> Array:
        """Predictions.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            One row per sample.

        Returns
        -------
        array of shape (n_samples,)
            One per row.
        """
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return X @ self.coef_ + self.intercept_

    def _checked(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[Any, Array, Any]:
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be one of {', '.join(LOSSES)}, got {self.loss!r}")
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", y_numeric=True, reset=reset
        )
        return X, y, self._checked_weights(sample_weight, X)

    def _loss(self, X: Any, y: Array, weights: Any) -> Any:
        options: dict[str, Any] = {"sample_weight": weights, "intercept": self.fit_intercept}
        if self.loss == "huber":
            return losses.Huber(X, y, self.epsilon, **options)
        if self.loss == "quantile":
            return losses.Quantile(X, y, self.quantile, **options)
        return (losses.Squared if self.loss == "squared_error" else losses.Absolute)(X, y, **options)

    def _single(self) -> None:
        self.coef_, self.intercept_ = self.coef_[0], float(self.intercept_[0])
