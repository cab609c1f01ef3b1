"""A certificate never claims too much, and closes at the optimum."""

from __future__ import annotations

import numpy as np
import pytest
from tests.certificate.problems import random_problem, reference

import epro
from epro import constraints, losses, passes, regularizers
from epro.certificate import Certifier
from epro.constraints.bounds import bounding_radius


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("block", range(10))
def test_bounds_stay_below_the_optimum(block):
    """Random problems over all losses, sets and regularizers, at points near and far, with memory between them."""
    pytest.importorskip("cvxpy")
    for seed in range(20 * block, 20 * block + 20):
        problem, description = random_problem(seed)
        optimum = reference(problem)
        certifier, rng = Certifier(problem), np.random.default_rng(seed)
        for scale in (0.0, 0.1, 1.0, 10.0):
            x = problem.constraint.project(scale * rng.standard_normal(problem.shape))
            found = certifier.at(x)
            assert found.lower_bound <= optimum + 1e-7 * max(1.0, abs(optimum)), description
            assert found.fun == pytest.approx(problem.value(x), rel=1e-9), description


@pytest.mark.parametrize("term", [regularizers.Ridge(0.1), regularizers.Ridge(0.1) + regularizers.L1(0.05)])
@pytest.mark.parametrize(
    "constraint",
    [
        None,
        constraints.L1Ball(0.5),
        constraints.L2Ball(0.5),
        constraints.Box(-0.1, 0.2),
        constraints.Monotone(),
        constraints.Simplex(1.0),
        constraints.Polyhedron(np.tril(np.ones((5, 5))), np.full(5, 0.1)),
    ],
    ids=lambda c: type(c).__name__,
)
def test_the_gap_closes_at_the_optimum(term, constraint, rng):
    X = rng.standard_normal((60, 5))
    loss = losses.Logistic(X, np.where(X[:, 0] + rng.standard_normal(60) > 0, 1.0, -1.0))
    problem = epro.Problem(loss, term, constraint)
    x = epro.minimize(problem, "apg", tol=0.0, max_steps=60 * 400).x
    found = Certifier(problem).at(x)
    assert -1e-14 <= found.gap <= 1e-10
    assert found.why.startswith("strong convexity")


@pytest.mark.parametrize(
    ("constraint", "why"),
    [
        (constraints.L2Ball(0.5), "linear minimisation"),
        (constraints.Polyhedron(np.vstack([np.eye(5), -np.eye(5)]), np.full(10, 0.1)), "bounded set"),
    ],
)
def test_a_compact_set_needs_no_ridge(constraint, why, rng):
    X = rng.standard_normal((60, 5))
    loss = losses.Logistic(X, np.where(X[:, 0] + rng.standard_normal(60) > 0, 1.0, -1.0))
    problem = epro.Problem(loss, None, constraint)
    found = Certifier(problem).at(epro.minimize(problem, "apg", tol=0.0, max_steps=60 * 400).x)
    assert -1e-14 <= found.gap <= 1e-5 and found.why == why


@pytest.mark.parametrize(
    "constraint", [constraints.L2Ball(0.8, np.full(9, 0.2)), constraints.Ellipsoid(np.eye(9), radius=0.5)]
)
def test_an_l1_norm_over_a_ball_needs_no_ridge(constraint, rng):
    X = rng.standard_normal((14, 9)) * 10.0 ** rng.uniform(0, 1, 9)
    loss = losses.Huber(X, 30.0 * rng.standard_normal(14), 4.0)
    problem = epro.Problem(loss, regularizers.L1(0.5) + regularizers.Linear(0.1 * rng.standard_normal(9)), constraint)
    assert epro.minimize(problem, tol=1e-8).success


def test_copies_of_a_column_leave_no_gap_between_equations(rng):
    X = rng.standard_normal((10, 3)) * [300.0, 300.0, 0.3]
    X[:, 1] = X[:, 0]
    loss = losses.Squared(X, 1e5 * rng.standard_normal(10))
    problem = epro.Problem(loss, None, constraints.Affine(rng.standard_normal((1, 3)), [1.0]))
    for method in ("gram", "epro-newton"):
        assert epro.minimize(problem, method, tol=1e-8).success


def test_a_tiny_ridge_is_no_worse_than_none(rng):
    """Its projected point lies 1e8 away, where the rounding of a projection is not small."""
    X = 1e3 * rng.standard_normal((60, 5))
    loss = losses.Hinge(X, np.where(X[:, 0] > 0, 1.0, -1.0))
    problem = epro.Problem(loss, regularizers.Ridge(1e-8), constraints.L2Ball(1e-5))
    found = epro.minimize(problem, tol=1e-6)
    assert found.success, found


def test_without_ridge_or_bounds_least_squares_are_certified_by_their_own_curvature(rng):
    X = rng.standard_normal((60, 5))
    problem = epro.Problem(losses.Squared(X, rng.standard_normal(60)), None, constraints.NonNegative())
    found = Certifier(problem).at(epro.minimize(problem, "apg", tol=0.0, max_steps=60 * 400).x)
    assert found.gap <= 1e-10 and "least squares" in found.why


def test_nothing_is_claimed_where_nothing_is_known(rng):
    class Unknown(losses.Loss):
        def loss(self, p, y):
            return np.exp(-p * y) - 5.0

        def slope(self, p, y):
            return -y * np.exp(-p * y)

    problem = epro.Problem(Unknown(rng.standard_normal((10, 2)), np.sign(rng.standard_normal(10))))
    assert Certifier(problem).at(np.zeros(2)).lower_bound == -np.inf


def test_single_precision_data_are_certified_in_double_precision(rng):
    X = rng.standard_normal((500, 10)).astype(np.float32)
    y = (X @ np.ones(10) + rng.standard_normal(500)).astype(np.float32)
    narrow = epro.Problem(losses.Squared(X, y), regularizers.Ridge(0.1), constraints.L1Ball(3.0))
    wide = epro.Problem(losses.Squared(X.astype(float), y.astype(float)), narrow.regularizer, constraints.L1Ball(3.0))
    x = epro.minimize(narrow, "apg", tol=0.0, max_steps=500 * 100).x
    ours, exact = Certifier(narrow).at(x), Certifier(wide).at(x.astype(float))
    assert ours.fun == pytest.approx(exact.fun, rel=1e-13)
    assert ours.lower_bound == pytest.approx(exact.lower_bound, rel=1e-12)


def test_smoothed_slopes_close_the_gap_of_a_kinked_loss(rng):
    """At kinks the tangent's slopes leave a gap that no step removes; those of the envelope narrow it."""
    X = rng.standard_normal((40, 3))
    problem = epro.Problem(losses.Absolute(X, rng.standard_normal(40)), regularizers.Ridge(0.1))
    x = epro.minimize(problem, "epro-vr", tol=1e-3).x
    certifier = Certifier(problem)
    tangent_gap = certifier.from_tangent(passes.tangent(problem.loss, x)).gap
    found = min((certifier.at(x) for _ in range(8)), key=lambda c: c.gap)
    assert found.gap < 0.5 * tangent_gap


def test_bounds_propagate_through_rows():
    rows = [[1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]]
    chain = constraints.Polyhedron(rows, [0.0, 0.0, 2.0, 1.0])
    assert bounding_radius(chain, (3,)) == pytest.approx(np.sqrt(3 * 4.0), rel=1e-6)
    assert bounding_radius(constraints.Monotone(), (3,)) == np.inf


@pytest.mark.parametrize("constraint", [constraints.L1Ball(1.0), constraints.Box(-0.5, 0.5), constraints.Simplex()])
def test_a_ridge_that_is_nothing_beside_the_data_does_not_spoil_the_bound(rng, constraint):
    X = 1e6 * rng.standard_normal((60, 4))
    problem = epro.Problem(losses.Squared(X, X @ np.ones(4)), regularizers.Ridge(1e-2), constraint)
    assert epro.minimize(problem, "apg", tol=1e-6, max_steps=30_000).success
