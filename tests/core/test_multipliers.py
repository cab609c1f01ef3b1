"""A result's multipliers and active pieces, against the optimality conditions and against CVXPY."""

from __future__ import annotations

import pickle

import cvxpy as cp
import numpy as np
import pytest
from tests.auto.problems import polyhedral, rows

import epro
from epro import constraints, losses, regularizers


@pytest.mark.parametrize("method", ["auto", "epro-newton", "epro-vr", "apg"])
def test_multipliers_balance_the_gradient(method):
    problem = polyhedral("Logistic", ridge=0.1)
    result = epro.minimize(problem, method, tol=1e-9, random_state=0)
    A, b = problem.constraint.A, problem.constraint.b
    lam = result.multipliers
    assert lam.shape == b.shape and lam.min() >= 0.0
    assert np.allclose(A.T @ lam, -problem.gradient(result.x), atol=1e-4)
    inactive = np.setdiff1d(np.arange(len(b)), result.active)
    assert np.all(lam[inactive] == 0.0) and len(inactive) < len(b)


@pytest.mark.parametrize("method", ["auto", "epro-newton", "epro-vr"])
def test_multipliers_at_a_kink_are_those_of_the_optimal_slopes(method):
    """There the gradient that a loss reports is only one of many."""
    X, y = rows("Absolute", 60, 4, 1)
    A = np.random.default_rng(2).standard_normal((8, 4))
    x = cp.Variable(4)
    limits = A @ x <= 0.3
    objective = cp.sum(cp.abs(X @ x - y)) / 60 + 0.05 * cp.sum_squares(x)
    cp.Problem(cp.Minimize(objective), [limits]).solve(solver="CLARABEL")
    problem = epro.Problem(losses.Absolute(X, y), regularizers.Ridge(0.1), constraints.Polyhedron(A, np.full(8, 0.3)))
    result = epro.minimize(problem, method, tol=1e-7)
    assert limits.dual_value is not None and result.success
    assert limits.dual_value.max() > 1e-2
    assert np.allclose(result.multipliers, limits.dual_value, atol=3e-3)


def test_the_price_of_a_ball_is_the_slope_of_the_optimal_value():
    X, y = rows("Logistic", 200, 6, 0)

    def best(radius):
        problem = epro.Problem(
            losses.Logistic(X, y, intercept=True), regularizers.Ridge(1e-2), constraints.L1Ball(radius)
        )
        return epro.minimize(problem, tol=1e-10)

    step = 1e-3
    slope = (best(1.0 + step).fun - best(1.0 - step).fun) / (2 * step)
    assert best(1.0).multipliers == pytest.approx(-slope, rel=1e-3)
    assert len(best(1.0).active) == 1 and best(100.0).active == []
    assert best(100.0).multipliers == pytest.approx(0.0, abs=1e-6)


def test_no_bound_no_multipliers():
    X, y = rows("Logistic", 200, 6, 0)
    stopped = epro.minimize(epro.Problem(losses.Logistic(X, y), None, constraints.NonNegative()), "sgd", max_steps=5)
    assert not stopped.success and stopped.normal is None and stopped.multipliers is None


def test_a_pickle_keeps_them_and_leaves_functions_behind():
    ball = constraints.Custom(
        lambda x: float(x @ x) - 0.01, lambda x: 2.0 * x, lambda x: x / max(1.0, 10.0 * float(np.linalg.norm(x)))
    )
    X, y = rows("Logistic", 50, 3, 0)
    result = epro.minimize(epro.Problem(losses.Logistic(X, y), regularizers.Ridge(0.1), ball), "apg", tol=1e-8)
    again = pickle.loads(pickle.dumps(result))
    assert again.multipliers == result.multipliers > 0.0
    assert again.active == result.active and np.array_equal(again.x, result.x)
