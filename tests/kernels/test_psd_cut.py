"""Cuts of semidefinite constraints from a few products."""

import numpy as np
import pytest

from epro.constraints import PSD
from epro.kernels.psd_cut import packed_product, symmetric_product


def symmetric(d, seed, bottom=None):
    """A symmetric matrix; with ``bottom`` eigenvalues 1 but one, which is ``bottom``."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((d, d))
    if bottom is None:
        return A + A.T
    q = np.linalg.qr(A)[0][:, 0]
    return np.eye(d) - (1 - bottom) * np.outer(q, q)


def cut(constraint, A, times=1):
    """c_u and u after some cuts of the same matrix."""
    record, work = constraint.record(A.shape, A.dtype), constraint.work(A.shape)
    for _ in range(times):
        c = record.cut(A, work)
    return c, work[: len(A)].copy(), record, work


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("budget", [2, 5, 12, None, "exact"])
@pytest.mark.parametrize("seed", range(5))
def test_every_cut_is_a_lower_model(dtype, budget, seed):
    constraint, rng = PSD(0.1, budget), np.random.default_rng(seed)
    A = symmetric(50, seed).astype(dtype)
    c, u, record, work = cut(constraint, A)
    tol = 1e-12 if dtype is np.float64 else 1e-4
    assert np.linalg.norm(u) == pytest.approx(1, abs=tol)
    assert c == pytest.approx(0.1 - u @ A @ u, abs=100 * tol)
    assert c <= constraint.value(A) + 100 * tol
    for _ in range(10):  # the subgradient inequality, at other points
        B = rng.standard_normal((50, 50))
        B = (B + B.T).astype(dtype)
        v = np.zeros_like(A)
        record.descend(work, -1.0, v)
        assert constraint.value(B) >= c + np.vdot(v, B - A) - 1e3 * tol
    assert record.inner(work, A) == pytest.approx(np.vdot(v, A), abs=100 * tol)
    assert record.cut_norm2(work) == pytest.approx(np.vdot(v, v), abs=tol)


@pytest.mark.parametrize("budget, share", [(4, 0.5), (8, 0.8), (12, 0.9), (None, 0.9)])
def test_random_violations_are_found(budget, share):
    """Depth of the cut, as a share of c: of the very first, and once warm."""
    first, warm = [], []
    for seed in range(40):
        A = symmetric(60, seed)
        c = PSD(0.0).value(A)
        first.append(cut(PSD(0.0, budget), A)[0] / c)
        warm.append(cut(PSD(0.0, budget), A, times=4)[0] / c)
    assert min(first) > 0.1 and np.mean(first) > share
    assert min(warm) > share and np.mean(warm) > 0.9


@pytest.mark.parametrize("bottom", [-1.0, -0.01, -1e-4])
def test_a_single_violated_direction_is_found(bottom):
    for seed in range(10):
        c, *_ = cut(PSD(0.0), symmetric(80, seed, bottom))
        assert c >= 0.9 * -bottom


def test_an_invariant_subspace_is_left():
    """The warm start lies in the first block; then the second block becomes the violated one."""
    A = np.diag(np.r_[-1.0, np.linspace(1, 2, 39), np.linspace(1, 2, 40)])
    constraint = PSD(0.0)
    record, work = constraint.record(A.shape, A.dtype), constraint.work(A.shape)
    assert record.cut(A, work) == pytest.approx(1)
    A[0, 0], A[79, 79] = 1.0, -1.0
    assert record.cut(A, work) == pytest.approx(1, abs=0.1)


def test_feasible_matrices_are_not_cut():
    for seed in range(10):
        assert cut(PSD(0.5), symmetric(60, seed, bottom=0.6))[0] < 0
        assert cut(PSD(0.5, budget=2), symmetric(60, seed, bottom=0.6))[0] < 0


def test_multiples_of_the_identity():
    assert cut(PSD(0.5), 0.2 * np.eye(50))[0] == pytest.approx(0.3)
    assert cut(PSD(0.5), 0.5 * np.eye(50))[0] == pytest.approx(0, abs=1e-15)
    assert cut(PSD(0.5), np.zeros((50, 50)))[0] == pytest.approx(0.5)


def test_small_matrices_and_exact_cuts_are_exact():
    for constraint, d in ((PSD(), 20), (PSD(budget="exact"), 60)):
        A = symmetric(d, 3)
        assert cut(constraint, A)[0] == pytest.approx(constraint.value(A), abs=1e-12)


def test_value_is_exact_whatever_the_budget():
    A = symmetric(60, 0)
    assert PSD(0.3, budget=2).value(A) == pytest.approx(0.3 - np.linalg.eigvalsh(A)[0], abs=1e-12)
    assert PSD(0.3, budget=2).bind(A.shape).value(A) == PSD(0.3, budget="exact").value(A)


def test_only_the_symmetric_part_counts():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((50, 50))
    c, u, *_ = cut(PSD(0.0), A)
    assert c == pytest.approx(-u @ A @ u) and c > 0.9 * PSD(0.0).value(A)


def test_products_of_packed_and_full_matrices_agree():
    A, q = symmetric(30, 1), np.random.default_rng(2).standard_normal(30)
    packed, full = np.empty(30), np.empty(30)
    packed_product(A[np.triu_indices(30)], q, packed)
    symmetric_product(A, q, full)
    np.testing.assert_allclose(packed, A @ q, atol=1e-12)
    np.testing.assert_allclose(full, A @ q, atol=1e-12)


def test_the_same_calls_give_the_same_bits():
    A = symmetric(50, 4)
    assert np.array_equal(cut(PSD(), A, 3)[1], cut(PSD(), A, 3)[1])


@pytest.mark.parametrize("budget", [1, 0, -3, 2.5, "some", True])
def test_a_wrong_budget_is_refused(budget):
    with pytest.raises(ValueError, match="budget must be"):
        PSD(0.0, budget)


@pytest.mark.parametrize("below", [3, 30, 57])
def test_projection_with_few_and_many_eigenvalues_below(below):
    w = np.where(np.arange(60) < below, -1.0, 2.0) * (1 + np.arange(60) / 60)
    q = np.linalg.qr(np.random.default_rng(0).standard_normal((60, 60)))[0]
    P = PSD(0.25).project((q * w) @ q.T)
    np.testing.assert_allclose(P, (q * np.maximum(w, 0.25)) @ q.T, atol=1e-12)
    assert np.array_equal(P, P.T)
