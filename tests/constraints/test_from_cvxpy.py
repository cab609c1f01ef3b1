"""Constraints written in CVXPY: which variable stands for x, prices, active constraints."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import epro
from epro import constraints, losses, regularizers
from epro.constraints import FromCVXPY


def test_the_only_variable_needs_no_name():
    v = cp.Variable(3)
    given, found = FromCVXPY([cp.norm(v) <= 1], v), FromCVXPY([cp.norm(v) <= 1])
    z = np.array([3.0, -1.0, 0.5])
    assert np.allclose(given.project(z), found.project(z), atol=1e-7)


@pytest.mark.parametrize("written", [[cp.Variable(2) >= 0, cp.Variable(2) <= 1], [cp.Constant(1) >= 0]])
def test_no_variable_or_several_are_refused(written):
    with pytest.raises(ValueError, match="say which variable"):
        FromCVXPY(written)


def test_prices_and_active_constraints_are_those_of_the_same_polyhedron():
    rng = np.random.default_rng(0)
    X, A = rng.standard_normal((200, 4)), rng.standard_normal((3, 4))
    y = np.sign(X @ rng.standard_normal(4) + 0.3 * rng.standard_normal(200))
    v, b = cp.Variable(4), np.full(3, 0.1)
    loss, g = losses.Logistic(X, y), regularizers.Ridge(0.1)
    written = epro.minimize(epro.Problem(loss, g, FromCVXPY([A @ v <= b, v[0] <= 0.2, v[1] >= -0.1])), tol=1e-7)
    polyhedron = constraints.Polyhedron(np.vstack([A, np.eye(4)[:1], -np.eye(4)[1:2]]), np.append(b, [0.2, 0.1]))
    plain = epro.minimize(epro.Problem(loss, g, polyhedron), tol=1e-9)
    assert written.success and written.violation < 1e-9
    prices = np.concatenate([np.atleast_1d(price) for price in written.multipliers])
    assert prices.max() > 1e-2 and np.allclose(prices, plain.multipliers, atol=1e-3)
    assert len(written.active) == np.count_nonzero(prices > 1e-6)


def test_far_points_are_projected():
    """Certificates over bounded sets project points that lie 1e6 times as far away as the set is large."""
    variable = cp.Variable(5)
    ball = FromCVXPY([cp.norm(variable) <= 2.0])
    for far in (10.0, 1e6, 1e9):
        z = far * np.arange(1.0, 6.0)
        p = ball.project(z)
        assert np.allclose(p, 2.0 * z / np.linalg.norm(z), atol=1e-6)
        assert ball.multipliers(p, z - p)[0] == pytest.approx(np.linalg.norm(z) - 2.0, rel=1e-6)
