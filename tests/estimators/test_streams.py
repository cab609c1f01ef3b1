"""partial_fit: epochs that go on from call to call, feasible after each."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from epro import ConstrainedClassifier, ConstrainedRegressor, constraints


def test_a_stream_stays_feasible_and_learns(data):
    X, y = data
    model = ConstrainedRegressor(positive=True)
    scores = []
    for _ in range(30):
        model.partial_fit(X, y)
        assert model.coef_.min() >= 0.0
        scores.append(model.score(X, y))
    best = ConstrainedRegressor(positive=True).fit(X, y).score(X, y)
    assert scores[-1] > best - 0.05 and model.n_iter_ == 30


def test_rows_that_come_one_by_one(data):
    X, y = data
    model = ConstrainedRegressor(positive=True)
    for k in range(600):
        row = slice(k % 150, k % 150 + 1)
        model.partial_fit(X[row], y[row])
        assert model.coef_.min() >= 0.0
        if k == 300:
            model = pickle.loads(pickle.dumps(model))
    assert model.score(X, y) > ConstrainedRegressor(positive=True).fit(X, y).score(X, y) - 0.05


def test_fairness_is_that_of_all_rows_so_far(data):
    X, y = data
    group = (X[:, 4] > 1.0).astype(float)
    model = ConstrainedRegressor(fairness=0.02)
    for _ in range(10):
        for rows in np.array_split(np.arange(150), 5):
            model.partial_fit(X[rows], y[rows], sensitive=group[rows])
    assert abs(np.cov(group, model.predict(X), bias=True)[0, 1]) <= 0.02 + 1e-9
    assert model.score(X, y) > ConstrainedRegressor(fairness=0.02).fit(X, y, sensitive=group).score(X, y) - 0.05


def test_attributes_after_a_batch(data):
    X, y = data
    model = ConstrainedClassifier(constraint=constraints.L1Ball(0.5)).partial_fit(X, y > 3, classes=[False, True])
    assert set(model.multipliers_) == {"constraint"} == set(model.active_constraints_)
    assert model.gap_ == np.inf and model.result_ is None and model.n_projections_ == 1


def test_several_classes_at_once_are_refused(data):
    with pytest.raises(ValueError, match="multinomial"):
        ConstrainedClassifier(multi_class="multinomial").partial_fit(data[0], np.arange(150) % 3, classes=[0, 1, 2])
