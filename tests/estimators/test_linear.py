"""The constrained regressor and classifier against scikit-learn's, and what their arguments promise."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from epro import ConstrainedClassifier, ConstrainedRegressor, constraints


def test_positive_least_squares_as_linear_regression(data):
    X, y = data
    ours, theirs = ConstrainedRegressor(positive=True, alpha=0.0).fit(X, y), LinearRegression(positive=True).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-6)
    assert ours.gap_ < 1e-6


@pytest.mark.parametrize("positive", [True, False])
def test_lasso(data, positive):
    X, y = data
    ours = ConstrainedRegressor(positive=positive, alpha=0.1, l1_ratio=1.0, tol=1e-12).fit(X, y)
    theirs = Lasso(alpha=0.1, positive=positive, tol=1e-12, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_logistic_regression(data, convert):
    X, y = data
    labels, alpha = np.where(y > np.median(y), "b", "a"), 0.01
    ours = ConstrainedClassifier(alpha=alpha, tol=1e-13).fit(convert(X), labels)
    theirs = LogisticRegression(C=1.0 / (alpha * len(y)), tol=1e-10, max_iter=10_000).fit(X, labels)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)


def test_columns_by_name(data):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = ConstrainedRegressor(
        monotonic={"b": 1, ("a", "c"): -1},
        sum_to=1.0,
        bounds={"e": (None, 0.7)},
        A_ineq=[[0, 0, 0, 0, 1, 1]],
        b_ineq=[0.5],
    ).fit(frame, y)
    a, b, c, _, e, f = model.coef_
    assert b >= -1e-9 and a >= c - 1e-9 and model.coef_.sum() == pytest.approx(1.0)
    assert e <= 0.7 + 1e-9 and e + f <= 0.5 + 1e-9
    assert model.gap_ <= 1e-6 * max(1.0, model.result_.fun)
    assert set(model.active_constraints_) == {"monotonic", "sum_to", "bounds", "A_ineq"} == set(model.multipliers_)
    with pytest.raises(ValueError, match="no column 'z'"):
        clone(model).set_params(bounds={"z": (0, 1)}).fit(frame, y)


def test_scipy_constraints_in_a_list(data):
    X, y = data
    model = ConstrainedRegressor(constraint=[Bounds(0, 1), LinearConstraint(np.ones((1, 6)), -np.inf, 2.0)]).fit(X, y)
    assert model.coef_.min() >= -1e-9 and model.coef_.max() <= 1 + 1e-9 and model.coef_.sum() <= 2 + 1e-9


@pytest.mark.parametrize("given", ["column", "argument"])
def test_fairness_bounds_the_covariance(data, given):
    X, y = data
    labels, group = y > y.mean(), (X[:, 4] > 1.0).astype(float)
    wide = np.column_stack([X, group])
    if given == "column":
        model = ConstrainedClassifier(fairness=([6], 0.05)).fit(wide, labels)
        scores = wide @ model.coef_[0]
    else:
        model = ConstrainedClassifier(fairness=0.05).fit(X, labels, sensitive=group)
        scores = X @ model.coef_[0]
    assert abs(np.cov(group, scores, bias=True)[0, 1]) <= 0.05 + 1e-9


def test_several_classes_and_weights(data):
    X, y = data
    labels = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    model = ConstrainedClassifier(constraint=constraints.L1Ball(2.0), class_weight="balanced").fit(X, labels)
    assert model.coef_.shape == (3, 6) and np.abs(model.coef_).sum(axis=1).max() <= 2 + 1e-9
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert len(model.active_constraints_) == 3 and model.score(X, labels) > 0.6


def test_in_a_grid_and_a_pipeline(data):
    X, y = data
    grid = {"constrainedregressor__constraint": [constraints.L1Ball(r) for r in (0.5, 5.0)]}
    search = GridSearchCV(make_pipeline(StandardScaler(), ConstrainedRegressor()), grid, cv=3).fit(X, y)
    assert search.best_params_["constrainedregressor__constraint"].radius == 5.0
    assert pickle.loads(pickle.dumps(search.best_estimator_)).predict(X).shape == (150,)


def test_single_precision_is_kept_and_warm_starts(data):
    X, y = data
    model = ConstrainedRegressor(positive=True, warm_start=True).fit(X.astype(np.float32), y)
    assert model.coef_.dtype == np.float32
    assert model.fit(X.astype(np.float32), y).coef_.min() >= 0


def test_without_a_penalty(data):
    X, y = data
    ours, theirs = ConstrainedClassifier(alpha=0.0).fit(X, y > 3), LogisticRegression(C=1e10, tol=1e-10).fit(X, y > 3)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=2e-2)
    model = ConstrainedRegressor(loss="absolute_error", alpha=0.0).fit(X, y)
    assert model.gap_ <= 1e-6


@pytest.mark.parametrize(
    "constraint", [[Bounds(0, 1), constraints.L2Ball(1.0)], [constraints.L2Ball(1.0), constraints.L1Ball(1.5)], []]
)
def test_lists_of_curved_sets(data, constraint):
    X, y = data
    model = ConstrainedRegressor(constraint=constraint).fit(X, y)
    assert model.constraint_violation_ <= 1e-9 and model.gap_ <= 1e-6


def test_signs_and_bounds_hold_to_the_last_bit(data):
    X, y = data
    model = ConstrainedRegressor(positive=True, sum_to=1.0, bounds={4: (None, 0.3)}, monotonic={0: 1, (0, 1): 1}).fit(
        X, y
    )
    assert model.coef_.min() >= 0.0 and model.coef_[4] <= 0.3 and model.coef_.sum() == pytest.approx(1.0)


def test_integer_weights_count_rows_in_fairness_too(data):
    X, y = data
    w = np.random.default_rng(1).integers(0, 4, len(y))
    ours = ConstrainedRegressor(fairness=(0, 0.05)).fit(X, y, sample_weight=w)
    theirs = ConstrainedRegressor(fairness=(0, 0.05)).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-8)


def test_errors_name_the_argument(data):
    X, y = data
    narrow = constraints.L2Ball(1.0, np.ones(4))
    for name, bad in {"sum_to": "one", "positive": [True], "max_iter": 0, "tol": -1.0, "constraint": narrow}.items():
        with pytest.raises(ValueError, match=name):
            ConstrainedRegressor(**{name: bad}).fit(X, y)
    with pytest.raises(ValueError, match="A_ineq"):
        ConstrainedRegressor(A_ineq=np.ones((1, 7)), b_ineq=1.0).fit(X, y)


def test_one_inequality_and_signs_by_name(data):
    X, y = data
    model = ConstrainedRegressor(A_ineq=np.ones(6), b_ineq=1.0, positive=["a", "b"])
    model.fit(pd.DataFrame(X, columns=list("abcdef")), y)
    assert model.coef_.sum() <= 1.0 + 1e-9 and model.coef_[:2].min() >= 0.0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"alpha": None}, "alpha must be a number"),
        ({"tol": "x"}, "tol must be a number"),
        ({"max_iter": np.inf}, "max_iter must be a whole number"),
        ({"solver": "lbfgs"}, "solver must be one of"),
        ({"class_weight": {False: -1.0, True: 1.0}}, "class_weight must not be negative"),
        ({"bounds": {"a": (0, 1)}}, "set_output"),
        ({"positive": True, "sum_to": -1.0}, "no point satisfies sum_to = .*positive = "),
        ({"fairness": 0.1}, "sensitive must hold numbers"),
    ],
)
def test_errors_help(data, arguments, says):
    X, y = data
    sensitive = np.where(y > 3, "one", "other") if "fairness" in arguments else None
    with pytest.raises((ValueError, TypeError), match=says):
        ConstrainedClassifier(**arguments).fit(X, y > 3, sensitive=sensitive)


@pytest.mark.parametrize("constraint", [None, constraints.L1Ball(1.0)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_multinomial(data, constraint, fit_intercept):
    X, y = data
    labels, alpha = np.digitize(y, np.quantile(y, [0.3, 0.6])), 0.05
    options = {"multi_class": "multinomial", "alpha": alpha, "fit_intercept": fit_intercept}
    model = ConstrainedClassifier(constraint=constraint, tol=1e-13, **options).fit(X, labels)
    if constraint is None:
        reference = LogisticRegression(
            C=1.0 / (alpha * len(y)), tol=1e-10, max_iter=10_000, fit_intercept=fit_intercept
        )
        theirs = reference.fit(X, labels)
        np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-5)
        np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(X), atol=1e-5)
    else:
        assert np.abs(model.coef_).sum(axis=1).max() <= 1 + 1e-9 and model.score(X, labels) > 0.6
    assert model.gap_ <= 1e-13 * max(1.0, model.result_.fun)
    rough = ConstrainedClassifier(constraint=constraint, tol=1e-2, **options).fit(X, labels)
    assert rough.gap_ >= rough.result_.fun - model.result_.fun - 1e-12  # proven, and not too small
    passes = model.n_iter_
    assert model.set_params(warm_start=True).fit(X, labels).n_iter_ < passes


def test_multinomial_under_rows_of_constraints(data):
    X, y = data
    labels = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    model = ConstrainedClassifier(multi_class="multinomial", positive=True, sum_to=1.0, l1_ratio=0.5, alpha=1e-2)
    model.fit(X.astype(np.float32), labels, sample_weight=np.linspace(0.1, 2.0, len(y)))
    assert model.coef_.dtype == np.float32 and model.coef_.min() >= 0.0 and model.gap_ <= 1e-5
    np.testing.assert_allclose(model.coef_.sum(axis=1), 1.0, atol=1e-5)
    with pytest.raises(ValueError, match="solver='auto' or 'apg'"):
        model.set_params(solver="epro-sgd").fit(X, labels)


def test_sensitive_columns_are_routed(data):
    X, y = data
    group = (X[:, 4] > 1.0).astype(float)
    with config_context(enable_metadata_routing=True):
        model = make_pipeline(StandardScaler(), ConstrainedRegressor(fairness=0.02).set_fit_request(sensitive=True))
        options = {"params": {"sensitive": group}, "return_estimator": True, "error_score": "raise"}
        found = cross_validate(model, X, y, cv=2, **options)
        search = GridSearchCV(model, {"constrainedregressor__fairness": [0.01, 1.0]}, cv=2).fit(X, y, sensitive=group)
    rows = np.arange(75, 150)  # of the first fold's training set
    assert abs(np.cov(group[rows], found["estimator"][0].predict(X[rows]), bias=True)[0, 1]) <= 0.02 + 1e-9
    assert search.best_params_["constrainedregressor__fairness"] == 1.0
