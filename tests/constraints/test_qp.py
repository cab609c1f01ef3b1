"""Quadratic programs, multipliers and the bounds that duality gives."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import epro
from epro import losses
from epro.constraints import Affine, Box, HalfSpace, Intersection, L1Ball, Monotone, Polyhedron, Simplex
from epro.constraints.qp import solve_qp

law = settings(max_examples=25, deadline=None, derandomize=True)


@given(seed=st.integers(0, 10**6), d=st.integers(1, 8), m=st.integers(1, 30), far=st.sampled_from([0.5, 3.0, 100.0]))
@law
def test_projection_on_a_polyhedron_is_certified(seed, d, m, far):
    """Karush-Kuhn-Tucker to rounding, also with repeated rows and many more rows than columns."""
    rng = np.random.default_rng(seed)
    A = np.round(rng.normal(size=(m, d)), 1)
    A = np.vstack([A, A[: m // 2]])
    b = A @ rng.normal(size=d) + np.abs(rng.normal(size=len(A))) * (rng.random(len(A)) < 0.7)
    c, z = Polyhedron(A, b), far * rng.normal(size=d)
    x, lam = c.project_with_multipliers(z)
    size = 1 + np.abs(z).max()
    assert (lam >= 0).all()
    assert np.max(A @ x - b) <= 1e-10 * size
    np.testing.assert_allclose(z - x, A.T @ lam, atol=1e-9 * size)
    assert lam @ (b - A @ x) <= 1e-9 * size * (1 + lam.sum())
    assert c.projection_error(z, x, lam) <= 1e-6 * size
    assert c.projection_lower_bound(z, lam) == pytest.approx(0.5 * np.sum((x - z) ** 2), rel=1e-9, abs=1e-9 * size)


@given(seed=st.integers(0, 10**6))
@law
def test_the_bounds_are_bounds(seed):
    """From any multipliers: the lower bound stays below, the error bound above the truth."""
    rng = np.random.default_rng(seed)
    A, b, z = rng.normal(size=(12, 4)), np.abs(rng.normal(size=12)), 3 * rng.normal(size=4)
    c, lam = Polyhedron(A, b), np.abs(rng.normal(size=12)) * rng.integers(0, 2, 12)
    p, feasible = c.project(z), c.project(rng.normal(size=4))
    assert c.projection_lower_bound(z, lam) <= 0.5 * np.sum((p - z) ** 2) + 1e-12
    assert np.linalg.norm(feasible - p) <= c.projection_error(z, feasible, lam) + 1e-9


METRIC = [
    (Polyhedron(np.random.default_rng(1).normal(size=(9, 4)), np.ones(9)), None),
    (Polyhedron(sparse.csr_array(np.random.default_rng(1).normal(size=(9, 4))), np.ones(9)), None),
    (Box(-0.3, 0.5), lambda x: [x >= -0.3, x <= 0.5]),
    (Simplex(2.0), lambda x: [x >= 0, cp.sum(x) == 2]),
    (Monotone(), lambda x: [cp.diff(x) >= 0]),
    (HalfSpace(np.ones(4), -1.0), lambda x: [cp.sum(x) <= -1]),
    (Affine(np.ones((1, 4)), [1.0]), lambda x: [cp.sum(x) == 1]),
    (L1Ball(0.7), lambda x: [cp.norm1(x) <= 0.7]),
    (Intersection([Monotone(), Box(0, 1)]), lambda x: [cp.diff(x) >= 0, x >= 0, x <= 1]),
]


@pytest.mark.parametrize(("constraint", "reference"), METRIC, ids=lambda v: type(v).__name__)
def test_projection_in_a_metric(constraint, reference):
    rng = np.random.default_rng(3)
    M, q, x = rng.normal(size=(4, 4)), 3 * rng.normal(size=4), cp.Variable(4)
    H = M @ M.T + 0.05 * np.eye(4)
    rules = [constraint.A @ x <= constraint.b] if reference is None else reference(x)
    cp.Problem(cp.Minimize(0.5 * cp.quad_form(x, H) + q @ x), rules).solve(solver=cp.CLARABEL, tol_gap_abs=1e-11)
    found, multipliers = constraint.project_metric(H, q)
    np.testing.assert_allclose(found, x.value, atol=2e-6)
    assert constraint.value(found) <= 1e-10
    again, _ = constraint.project_metric(H, q, multipliers)
    np.testing.assert_allclose(again, found, atol=1e-9)


def test_qp_multipliers_balance_the_gradient():
    rng = np.random.default_rng(0)
    H, q, A = np.diag([1.0, 2.0, 3.0]), rng.normal(size=3), rng.normal(size=(2, 3))
    s = solve_qp(H, q, A, np.full(2, -0.1), np.full(2, 0.1), lb=np.full(3, -0.2), ub=np.full(3, 0.2))
    np.testing.assert_allclose(H @ s.x + q + A.T @ s.rows + s.bounds, 0, atol=1e-12)
    assert s.error < 1e-12


def test_qp_with_a_singular_matrix():
    s = solve_qp(np.diag([1.0, 0.0]), np.array([-1.0, 1.0]), np.zeros((0, 2)), np.zeros(0), np.zeros(0), lb=np.zeros(2))
    np.testing.assert_allclose(s.x, [1.0, 0.0], atol=1e-7)


@pytest.mark.parametrize(
    ("constraint", "columns"),
    [
        (Polyhedron([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]], [0.5, 0.2]), [[1, 0], [1, 1], [0, 1]]),
        (Monotone(), [[1, 0], [-1, 1], [0, -1]]),
        (Monotone(increasing=False), [[-1, 0], [1, -1], [0, 1]]),
        (Monotone(edges=[[0, 1], [1, 2]]), [[1, 0], [-1, 1], [0, -1]]),
        (Simplex(), [[-1, 0, 0, 1], [0, -1, 0, 1], [0, 0, -1, 1]]),
        (Affine(np.ones((1, 3)), [1.0]), [[1], [1], [1]]),
        (HalfSpace(np.ones(3), 0.0), [[1], [1], [1]]),
    ],
)
def test_multipliers_add_up_to_the_normal(constraint, columns):
    z = np.array([2.0, 1.0, 0.4])
    x = constraint.project(z)
    lam = np.atleast_1d(constraint.multipliers(x, z - x))
    np.testing.assert_allclose(np.array(columns, dtype=float) @ lam, z - x, atol=1e-10)


def test_active_pieces():
    assert Polyhedron(np.eye(2), [1.0, 2.0]).active(np.array([1.0, 0.0])) == [0]
    assert Box(0, 1).active(np.array([0.0, 0.5, 1.0])) == [("lower", 0), ("upper", 2)]
    assert Monotone().active(np.array([1.0, 1.0, 2.0])) == [(0, 1)]


def test_a_long_chain_agrees_with_pooling():
    d = 1500
    z = np.linspace(0, 3, d) + np.random.default_rng(0).normal(size=d)
    chain = Monotone().linear_inequalities(d)
    np.testing.assert_allclose(Polyhedron(chain.A_ub, chain.b_ub).project(z), Monotone().project(z), atol=1e-11)


@pytest.mark.parametrize("seed", [0, 3, 5])
def test_nearly_flat_programs_stay_feasible(seed):
    """One row, steadied: the minimiser without constraints is 1e6 away, and a tolerance relative to it says nothing."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((1, 8))
    y = X @ rng.standard_normal(8) + rng.standard_normal(1)
    problem = epro.Problem(losses.Absolute(X, y), None, Simplex())
    assert epro.minimize(problem, tol=1e-6).success
