"""Linear classification under constraints."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from epro import losses
from epro.constraints.row_wise import RowWise
from epro.estimators.linear import ConstrainedLinear
from epro.estimators.progress import begin, end, with_callbacks
from epro.estimators.scores import ScoresMixin
from epro.losses.multinomial import Multinomial
from epro.protocols import Array

LOSSES = {"log_loss": losses.Logistic, "hinge": losses.Hinge, "squared_hinge": losses.SquaredHinge}


class ConstrainedClassifier(ScoresMixin, ConstrainedLinear):
    """Linear classification under hard constraints on the coefficients.

    The constraints hold exactly, and ``gap_`` says how far from optimal the coefficients can be.

    Parameters
    ----------
    loss : {"log_loss", "hinge", "squared_hinge"}, default "log_loss"
    multi_class : {"ovr", "multinomial"}, default "ovr"
        More than two classes: one problem for each, or one softmax (for "log_loss"; by full gradients, that is
        ``solver="apg"``). A constraint applies to the coefficients of each class.
    class_weight : dict or "balanced", optional
        Weights by class, or inversely to their frequency.
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
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Feasible, each row of it.
    intercept_ : array of shape (1,) or (n_classes,)
    n_iter_ : int
        Passes over the data.
    gap_ : float
        The objective is proven to be at most this above the best possible, the largest of the classes'.
    constraint_violation_ : float
        c at the coefficients, at least zero; rounding.
    n_projections_ : int
    active_constraints_, multipliers_ : dict
        By argument: the pieces that hold with equality, and the multipliers of all pieces.
    result_ : Result
        What `epro.minimize` returned; a list for several classes.
    n_features_in_ : int
    feature_names_in_ : array
        Where X was a data frame.

    See Also
    --------
    ConstrainedRegressor : The same for numbers.
    epro.minimize : Any problem of the library.

    Examples
    --------
    >>> import numpy as np
    >>> from epro import ConstrainedClassifier
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 3.0]]), np.array(["no", "no", "yes", "yes"])
    >>> model = ConstrainedClassifier(bounds={0: (None, 0.5)}, alpha=0.1).fit(X, y)
    >>> model.coef_.round(3)
    array([[0.5  , 0.926]])
    >>> model.predict(X)
    array(['no', 'no', 'yes', 'yes'], dtype='<U3')
    """

    def __init__(
        self, *, loss: str = "log_loss", multi_class: str = "ovr", class_weight: Any = None, alpha: float = 1e-4,
        l1_ratio: float = 0.0, constraint: Any = None, positive: Any = False, monotonic: Any = None,
        sum_to: Any = None, bounds: Any = None, A_ineq: Any = None, b_ineq: Any = None, fairness: Any = None,
        fit_intercept: bool = True, solver: Any = "auto", max_iter: int = 3000, tol: float = 1e-6,
        random_state: Any = 0, warm_start: bool = False, verbose: bool = False,
    ) -> None:  # fmt: skip
        self.loss = loss
        self.multi_class = multi_class
        self.class_weight = class_weight
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
    def fit(self, X: Any, y: Any, sample_weight: Any = None, sensitive: Any = None) -> ConstrainedClassifier:
        """Fit the coefficients.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            One row per sample.
        y : array of shape (n_samples,)
            Classes.
        sample_weight : array of shape (n_samples,), optional
            A row of weight k counts as k rows.
        sensitive : array of shape (n_samples,) or (n_samples, k), optional
            Columns that are not part of X, for ``fairness``.

        Returns
        -------
        ConstrainedClassifier
            The estimator itself.
        """
        X, y, weights = self._checked(X, y, sample_weight, True)
        begin(self, X, y, weights)
        self._end_stream()
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError(f"y must have at least two classes, got one class: {self.classes_[0]!r}")
        n, d = X.shape
        constraint, self._normals = self._constraint(X, sensitive, weights), []
        weights = self._weights(self._class_weights(y, weights), n)
        if self.multi_class == "multinomial" and len(self.classes_) > 2:
            self._fit_multinomial(X, y, weights, constraint)
        else:
            results = []
            for k, target in enumerate(self._targets(y)):
                loss = LOSSES[self.loss](X, target, sample_weight=weights, intercept=self.fit_intercept)
                results.append(self._solve(loss, constraint, self._start(k, d), "epoch"))
            self._keep(results, n, d)
        end(self)
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, sensitive: Any = None
    ) -> ConstrainedClassifier:
        """One epoch over a batch of a stream, from where the last call ended; the coefficients stay feasible.

        Fewer than eight rows wait for those of the next calls.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            One row per sample.
        y : array of shape (n_samples,)
            Classes.
        classes : array, optional
            All classes; needed in the first call.
        sample_weight : array of shape (n_samples,), optional
            A row of weight k counts as k rows.
        sensitive : array of shape (n_samples,) or (n_samples, k), optional
            As in `fit`; the covariance is that of all rows so far.

        Returns
        -------
        ConstrainedClassifier
            The estimator itself.
        """
        first = not hasattr(self, "classes_")
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        X, y, weights = self._checked(X, y, sample_weight, first)
        known = np.unique(classes) if first else self.classes_
        if classes is not None and not np.array_equal(np.unique(classes), known):
            raise ValueError(f"classes {classes!r} is not the same as on the last call to partial_fit, {known!r}")
        unknown = np.setdiff1d(y, known)
        if len(unknown):
            raise ValueError(f"y has the class {unknown[0]}, which is not in classes")
        if self.class_weight == "balanced":
            raise ValueError("class_weight 'balanced' is not supported for partial_fit; pass a dict of weights")
        if self.multi_class == "multinomial" and len(known) > 2:
            raise ValueError("multi_class='multinomial' is not supported for partial_fit of several classes; use 'ovr'")
        self.classes_ = known
        self._begin_stream()
        constraint = self._constraint(X, sensitive, weights, streamed=True)
        X, y, weights = self._with_waiting(X, y, self._class_weights(y, weights))
        options = {"sample_weight": weights, "intercept": self.fit_intercept}
        self._stream([LOSSES[self.loss](X, target, **options) for target in self._targets(y)], constraint, X.shape[1])
        return self

    def _checked(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[Any, Array, Any]:
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be one of {', '.join(LOSSES)}, got {self.loss!r}")
        if self.multi_class not in ("ovr", "multinomial"):
            raise ValueError(f"multi_class must be 'ovr' or 'multinomial', got {self.multi_class!r}")
        if self.multi_class == "multinomial" and self.loss != "log_loss":
            raise ValueError(f"multi_class='multinomial' needs loss='log_loss', got {self.loss!r}")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", reset=reset)
        check_classification_targets(y)
        return X, y, self._checked_weights(sample_weight, X)

    def _class_weights(self, y: Array, weights: Any) -> Any:
        if self.class_weight is None:
            return weights
        options = {}
        if weights is not None and self.class_weight == "balanced":
            options["sample_weight"] = weights
        per_class = compute_class_weight(self.class_weight, classes=self.classes_, y=y, **options)
        if not np.min(per_class) >= 0:
            raise ValueError(f"class_weight must not be negative, got {self.class_weight!r}")
        mine = per_class[np.searchsorted(self.classes_, y)]
        return mine if weights is None else mine * weights

    def _targets(self, y: Array) -> list[Array]:
        """-1 and 1, for the second of two classes or for each of several."""
        wanted = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        return [np.where(y == name, 1.0, -1.0) for name in wanted]

    def _fit_multinomial(self, X: Any, y: Array, weights: Any, constraint: Any) -> None:
        codes, (n, d) = np.searchsorted(self.classes_, y), X.shape
        loss = Multinomial(X, codes, sample_weight=weights, intercept=self.fit_intercept)
        rows = None if constraint is None else RowWise(constraint)
        self._keep([self._solve(loss, rows, self._start_rows(len(self.classes_), d), "epoch")], n, d)
