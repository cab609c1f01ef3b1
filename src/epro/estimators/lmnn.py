"""Metric learning for nearest neighbours."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.extmath import randomized_svd
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from epro import metric_rounds as rounds
from epro.atoms import matrices
from epro.constraints import PSD
from epro.constraints.psd import factor
from epro.estimators.mahalanobis import MahalanobisMixin
from epro.estimators.progress import CallbackSupport, begin, end, reporting, with_callbacks
from epro.protocols import Array
from epro.validation import positive, whole

DIRECTIONS = 100  # principal directions that a metric is learnt in, where it need not be one of all coordinates
IMPOSTORS = 10  # of each point, in one round
ROUNDS = 5


class LMNN(CallbackSupport, MahalanobisMixin, BaseEstimator):
    """A metric in which the nearest points of each point share its class (large-margin nearest neighbours).

    The metric is positive semidefinite exactly. Nothing depends on the units of X.

    Parameters
    ----------
    n_neighbors : int, default 3
        Neighbours of the same class that are pulled towards each point.
    trade_off : float, default 0.5
        Weight of pushing impostors out, against pulling neighbours in; from 0 to 1.
    ridge : float, default 3e-3
        ``(ridge / 2) ||M - I||^2`` draws the metric of the scaled data to the Euclidean one.
    l1_off : float, default 0.0
        Weight of the l1 norm of what is off the diagonal, for sparse metrics.
    floor : float, default 0.0
        The smallest eigenvalue allowed, of the scaled data's metric.
    n_components : int, optional
        At most so many rows of `components_`: those of the largest eigenvalues.
    init : {"identity", "auto", "pca", "lda", "random"} or array, default "identity"
        Where to start, as in metric-learn: the Euclidean metric, that of `n_components` principal, discriminant or
        random directions, or a matrix of shape (n_rows, n_features) to transform with. "auto" is "lda" or "pca" where
        `n_components` is small enough, else "identity".
    solver : "auto" or Solver, default "auto"
        Accelerated projected steps on the smoothed hinge, or a solver of `epro.solvers` on the hinge itself.
    max_iter : int, default 50
        Accelerated steps, over 5 rounds; each round looks for impostors anew.
    tol : float, default 1e-3
        Ends when a round improves the objective by less than this share, with few new impostors.
    random_state : int, RandomState or None, default 0
        Of the principal directions, of ``init="random"`` and of solvers that draw rows.
    verbose : bool, default False
        Show a line of progress on a terminal.
    n_jobs : int, optional
        Ignored, for compatibility: matrix products use the threads of BLAS.

    Attributes
    ----------
    components_ : array of shape (n_rows, n_features)
        `transform` multiplies by it.
    n_iter_ : int
        Rounds.
    n_triplets_ : int
        Triplets in the last round.
    n_projections_ : int
    result_ : Result
        What `epro.minimize` returned in the last round, in the coordinates in which the metric was learnt.
    n_features_in_ : int
    feature_names_in_ : array
        Where X was a data frame.

    See Also
    --------
    epro.losses.TripletHinge : The loss, for metrics built from parts.

    Notes
    -----
    With more than 100 columns the metric is learnt in the first 100 principal directions (unless ``l1_off`` or
    ``floor`` is positive): memory is that of the data and a matrix of 100 columns, and sparse data stay sparse.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from epro import LMNN
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LMNN().fit(X, y)
    >>> model.transform(X).shape[0]
    150
    >>> bool((model.pair_distance([[X[0], X[1]]]) < model.pair_distance([[X[0], X[100]]])).all())
    True
    """

    def __init__(
        self, n_neighbors: int = 3, *, trade_off: float = 0.5, ridge: float = 3e-3, l1_off: float = 0.0,
        floor: float = 0.0, n_components: int | None = None, init: Any = "identity", solver: Any = "auto",
        max_iter: int = 50, tol: float = 1e-3, random_state: Any = 0, verbose: bool = False, n_jobs: Any = None,
    ) -> None:  # fmt: skip
        self.n_neighbors = n_neighbors
        self.trade_off = trade_off
        self.ridge = ridge
        self.l1_off = l1_off
        self.floor = floor
        self.n_components = n_components
        self.init = init
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @with_callbacks
    def fit(self, X: Any, y: Any) -> LMNN:
        """Learn the metric from labels.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            One row per sample.
        y : array of shape (n_samples,)
            Classes.

        Returns
        -------
        LMNN
            The estimator itself.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
        self._check_parameters()
        check_classification_targets(y)
        y = np.unique(y, return_inverse=True)[1]
        begin(self, X, y)
        points, basis = self._coordinates(X)
        if y.max() == 0:
            self._finish(np.eye(points.shape[1], dtype=X.dtype), basis, 1.0)
            self.n_iter_, self.n_triplets_, self.n_projections_, self.result_ = 1, 0, 0, None
        else:
            self._learn(points, basis, y)
        end(self)
        return self

    @with_callbacks
    def fit_triplets(self, X: Any, triplets: Any) -> LMNN:
        """Learn the metric from triplets (point, similar point, other point) of rows of X.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            One row per sample.
        triplets : array of int, of shape (n_triplets, 3)
            Each names three rows of X.

        Returns
        -------
        LMNN
            The estimator itself.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
        self._check_parameters()
        begin(self, X)
        points, basis = self._coordinates(X)
        triplets = np.asarray(triplets)
        if triplets.ndim != 2 or triplets.shape[1] != 3 or not np.issubdtype(triplets.dtype, np.integer):
            raise ValueError(f"triplets must be integers of shape (N, 3), rows of X, got shape {triplets.shape}")
        if not len(triplets):
            raise ValueError("triplets must have at least one row, got none")
        pairs = np.unique(triplets[:, :2], axis=0)
        scale = rounds.mean_square(points, pairs) or 1.0
        points = points / points.dtype.type(np.sqrt(scale))
        M = self._start(points, None, basis, scale)
        result = self._round(points, triplets, rounds.spread(points, pairs), len(pairs), M, self.max_iter, None)
        self.n_iter_, self.n_triplets_, self.n_projections_ = 1, len(triplets), result.n_projections
        self.result_ = result
        self._finish(result.x, basis, scale)
        end(self)
        return self

    # -- fitting

    def _check_parameters(self) -> None:
        for name in ("n_neighbors", "max_iter", "n_components"):
            value = getattr(self, name)
            if value is not None or name != "n_components":
                whole(value, name)
        for name in ("trade_off", "ridge", "l1_off", "floor", "tol"):
            positive(getattr(self, name), name, zero=True)
        if self.trade_off > 1.0:
            raise ValueError(f"trade_off must lie between 0 and 1, got {self.trade_off!r}")

    def _coordinates(self, X: Any) -> tuple[Any, Array | None]:
        """The points in the coordinates that the metric is learnt in, and their basis."""
        if X.shape[1] <= DIRECTIONS or self.l1_off > 0 or self.floor > 0:
            return (X if self.l1_off > 0 or self.floor > 0 else matrices.dense(X)), None
        rank = min(DIRECTIONS, *X.shape)
        random = check_random_state(self.random_state)
        svd: Any = randomized_svd  # whose annotations forbid numbers of iterations
        basis = svd(X, rank, n_iter=3, random_state=random)[2].T.astype(X.dtype)
        return np.ascontiguousarray(X @ basis), basis

    def _start(self, points: Any, y: Array | None, basis: Array | None, scale: float) -> Array:
        d = points.shape[1]
        if isinstance(self.init, str):
            if self.init not in rounds.STARTS:
                names = ", ".join(map(repr, rounds.STARTS))
                raise ValueError(f"init must be one of {names}, or a matrix, got {self.init!r}")
            M = rounds.start(self.init, points, y, self.n_components or d, check_random_state(self.random_state))
        else:
            L = np.asarray(self.init, dtype=np.float64)
            if L.ndim != 2 or L.shape[1] != self.n_features_in_:
                raise ValueError(f"init must have {self.n_features_in_} columns, got shape {L.shape}")
            L = L if basis is None else L @ basis
            M = scale * (L.T @ L)
        return np.ascontiguousarray(PSD(self.floor).project(M), dtype=points.dtype)

    def _learn(self, points: Any, basis: Array | None, y: Array) -> None:
        pairs = rounds.pairs_within_classes(matrices.dense(points), y, self.n_neighbors)
        scale = rounds.mean_square(points, pairs) or 1.0
        points = points / points.dtype.type(np.sqrt(scale))
        pull, M = rounds.spread(points, pairs), self._start(points, y, basis, scale)
        triplets, smoothness, self.n_projections_, self.result_, before = None, None, 0, None, np.inf
        steps = max(1, self.max_iter // ROUNDS)
        for self.n_iter_ in range(1, ROUNDS + 1):
            new = rounds.impostors(points @ factor(M), y, pairs, IMPOSTORS)
            known = 0 if triplets is None else len(triplets)
            triplets = rounds.merged(triplets, new, len(y))
            if not len(triplets):
                break
            settled = before - (self.result_.fun if self.result_ is not None else np.inf)
            if known and len(triplets) <= 1.01 * known and settled <= self.tol * abs(before):
                break
            before = np.inf if self.result_ is None else self.result_.fun
            self.result_ = self._round(points, triplets, pull, len(pairs), M, steps, smoothness)
            M, smoothness = self.result_.x, 1.0 / float(self.result_.history["step_size"][-1])
            self.n_projections_ += self.result_.n_projections
        self.n_triplets_ = len(triplets) if triplets is not None else 0
        self._finish(M, basis, scale)

    def _round(self, points: Any, triplets: Any, pull: Array, pairs: int, M: Array, steps: int, L: Any) -> Any:
        metric = rounds.Metric(self.trade_off, self.ridge, self.l1_off, self.floor)
        with reporting(self, "round") as callbacks:
            result = rounds.step_rounds(
                points, triplets, pull, pairs, metric, M, steps, L if L is None or np.isfinite(L) else None,
                None if self.solver == "auto" else self.solver, tol=0.0, random_state=self.random_state,
                verbose=bool(self.verbose), callbacks=callbacks,
            )  # fmt: skip
        if result.status.name == "DIVERGED":
            warnings.warn(f"LMNN: {result.message}", ConvergenceWarning, stacklevel=4)
        return result

    def _finish(self, M: Array, basis: Array | None, scale: float) -> None:
        F = factor(M, self.n_components) / M.dtype.type(np.sqrt(scale))
        if not F.shape[1]:
            F = np.zeros((len(M), 1), M.dtype)
        self.components_ = np.ascontiguousarray((F if basis is None else basis @ F).T)
