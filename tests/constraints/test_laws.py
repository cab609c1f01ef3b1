"""Laws that hold for every constraint of the catalogue, at random points."""

from __future__ import annotations

import functools
import pickle
import warnings

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalog import CASES, Case
from epro import constraints
from epro.constraints import L1Ball, Simplex, check
from epro.kernels.records import compilable, kernel

every = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
law = settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
seeds = st.integers(0, 10**6)
scales = st.sampled_from([0.0, 0.1, 1.0, 10.0, 100.0])


def bound(case: Case):
    return case.constraint.bind(case.shape)


def draw(case: Case, seed: int, scale: float = 3.0) -> np.ndarray:
    x = scale * np.random.default_rng(seed).normal(size=case.shape)
    square = len(case.shape) == 2 and case.shape[0] == case.shape[1]
    return 0.5 * (x + x.T) if square else x


@functools.cache
def feasible_points(name: str) -> list[np.ndarray]:
    case = next(case for case in CASES if case.name == name)
    return [bound(case).project(draw(case, seed)) for seed in range(5)]


@every
@given(seed=seeds, scale=scales)
@law
def test_projection(case, seed, scale):
    """Feasible, idempotent, and no feasible point lies in the direction of x (the variational inequality)."""
    c, x = bound(case), draw(case, seed, scale)
    given_x = x.copy()
    p = c.project(x)
    size = 1 + np.linalg.norm(x)
    assert np.array_equal(x, given_x)
    assert p.shape == x.shape and p.dtype == x.dtype
    assert c.value(p) <= 1e-9 * size
    slack = 1e-6 if case.name == "cvxpy" else 1e-9
    assert np.linalg.norm(c.project(p) - p) <= slack * size
    for q in feasible_points(case.name):
        assert np.vdot(x - p, q - p) <= slack * size * (size + np.linalg.norm(q))


@every
@given(seed=seeds, scale=scales)
@law
def test_subgradient(case, seed, scale):
    """c(y) >= c(x) + <v, y - x>, and ||v|| <= G2."""
    c, x, y = bound(case), draw(case, seed, scale), draw(case, seed + 1)
    v = c.subgradient(x)
    line = c.value(x) + np.vdot(v, y - x)
    assert c.value(y) >= line - 1e-9 * (1 + abs(line) + abs(c.value(x)))
    if c.lipschitz is not None:
        assert np.linalg.norm(v) <= c.lipschitz * (1 + 1e-12)


@every
@given(seed=seeds, scale=scales)
@law
def test_lemma_0(case, seed, scale):
    """||x - P(x)|| <= [c(x)]_+ / rho."""
    c, x = bound(case), draw(case, seed, scale)
    if c.rho is not None:
        distance = np.linalg.norm(x - c.project(x))
        assert distance <= max(c.value(x), 0.0) / c.rho + 1e-9 * (1 + np.linalg.norm(x))


@every
def test_projection_agrees_with_clarabel(case):
    for seed in range(3):
        x, y = draw(case, seed), cp.Variable(case.shape)
        nearest = cp.Problem(cp.Minimize(cp.sum_squares(y - x)), case.reference(y))
        with warnings.catch_warnings():  # CVXPY's, where the last digits are not reached
            warnings.simplefilter("ignore")
            nearest.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
        np.testing.assert_allclose(bound(case).project(x), y.value, atol=3e-5)
        assert np.sum((bound(case).project(x) - x) ** 2) <= nearest.value * (1 + 1e-7) + 1e-7


@every
def test_cut_record_says_the_same(case):
    """The verbs of the record agree with value and subgradient."""
    c, x, y = bound(case), draw(case, 0), draw(case, 1)
    record, work = c.record(x.shape, x.dtype), c.work(x.shape)
    v = c.subgradient(x)
    assert record.cut(x, work) == pytest.approx(c.value(x), rel=1e-12, abs=1e-12)
    assert record.inner(work, y) == pytest.approx(np.vdot(v, y), rel=1e-10, abs=1e-12)
    assert record.cut_norm2(work) == pytest.approx(np.vdot(v, v), rel=1e-10, abs=1e-12)
    z = y.copy()
    record.descend(work, 0.3, z)
    np.testing.assert_allclose(z, y - 0.3 * v, atol=1e-12)


@kernel
def use(record, x, work, y):
    c = record.cut(x, work)
    record.descend(work, 0.3, y)
    return c, record.inner(work, x), record.cut_norm2(work)


@kernel
def place(record, x):
    record.project(x)


@pytest.mark.parametrize("case", [case for case in CASES if case.compiled], ids=lambda case: case.name)
def test_compiled_records_project_in_single_precision(case):
    c, x = bound(case), draw(case, 3).astype(np.float32)
    record = c.record(x.shape, x.dtype)
    if hasattr(record, "project"):
        p = x.copy()
        place(record, p)
        np.testing.assert_allclose(p, c.project(x), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", [constraints.L1Ball, constraints.Simplex])
def test_ties_at_the_threshold_end_the_search(kind):
    """0.1 is the threshold up to rounding, which puts it on the one side in one round and on the other in the next."""
    total, x = 0.1 + 0.2, np.array([1e-17, 0.2, 0.0, 0.0, 1e-17, 0.1, 0.3])
    np.testing.assert_allclose(kind(total).project(x), [0, 0.1, 0, 0, 0, 0, 0.2], atol=1e-15)


@pytest.mark.parametrize("case", [case for case in CASES if case.compiled], ids=lambda case: case.name)
def test_compiled_record_equals_interpreted(case):
    c, x = bound(case), draw(case, 3)
    record = c.record(x.shape, x.dtype)
    assert compilable(record)
    outcomes = []
    for run in (use, getattr(use, "py_func", use)):
        y = draw(case, 4)
        outcomes.append((*run(record, x, c.work(x.shape), y), *y.ravel()))
    np.testing.assert_allclose(*outcomes, rtol=1e-12, atol=1e-12)
    if hasattr(record, "project"):
        p = x.copy()
        place(record, p)
        np.testing.assert_allclose(p, c.project(x), rtol=1e-10, atol=1e-10)


@every
def test_single_precision_is_kept(case):
    c, x = bound(case), draw(case, 5).astype(np.float32)
    p = c.project(x)
    assert p.dtype == np.float32 and c.subgradient(x).dtype == np.float32
    assert c.value(p.astype(float)) <= 3e-6 * (1 + np.linalg.norm(x))


@every
def test_linear_minimizer(case):
    """No worse than any feasible point, and feasible; an error where there is none."""
    c, a = bound(case), draw(case, 6)
    if not case.minimizer:
        with pytest.raises(NotImplementedError):  # unbounded one way at least
            c.linear_minimizer(a)
            c.linear_minimizer(-a)
        return
    best = c.linear_minimizer(a)
    assert best.shape == a.shape
    assert c.value(best) <= 1e-9
    for q in feasible_points(case.name):
        assert np.vdot(a, best) <= np.vdot(a, q) + 1e-9
    if c.radius_bound is not None:
        assert np.linalg.norm(best) <= c.radius_bound * (1 + 1e-9)


@every
def test_projection_error_covers_the_error(case):
    c, z = bound(case), draw(case, 8)
    p = c.project(z)
    assert 0.0 <= c.projection_error(z, p) <= (1e-4 if case.name.startswith("meet") else 1e-10)


@every
def test_it_passes_its_own_self_test(case):
    check(case.constraint, shape=case.shape, trials=8)


@every
def test_bind_refuses_another_shape(case):
    with pytest.raises(ValueError, match=r"shape|square|matrix|vector|entries"):
        bound(case).value(np.zeros((2, 3, 4)))


@pytest.mark.parametrize("case", [c for c in CASES if c.name not in ("cvxpy", "custom")], ids=lambda case: case.name)
def test_pickles(case):
    x = draw(case, 9)
    again = pickle.loads(pickle.dumps(bound(case)))
    np.testing.assert_array_equal(again.project(x), bound(case).project(x))


@pytest.mark.parametrize("far", [1e3, 1e17, 1e300])
def test_from_far_away_the_nearest_point_of_a_simplex_is_as_exact(far):
    assert np.allclose(Simplex(2.0).project(np.array([far, far, 1.0, -far])), [1, 1, 0, 0], atol=1e-12)
    assert np.allclose(L1Ball(2.0).project(np.array([far, -far, 1.0, 0.0])), [1, -1, 0, 0], atol=1e-12)
