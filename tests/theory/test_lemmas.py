"""Lemma 0 and the bounds of single epochs, on sets and functions drawn at random."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epro import theory
from epro.theory import Constants

from . import problems, textbook

seeds = st.integers(0, 2**32 - 1)


@given(seeds)
def test_lemma_0_on_the_test_problems_own_sets(seed):
    rng = np.random.default_rng(seed)
    for make in problems.ALL.values():
        c = make().domain
        x = rng.normal(size=(20, make().x_star.size)) * 10 ** rng.uniform(-1, 1)
        for point, projected, violation in zip(x, c.project(x), c.violation(x), strict=True):
            assert np.linalg.norm(point - projected) <= theory.lemma0(violation, 1.0) + 1e-9


def norm_of_lowest(A):
    return max(-np.linalg.eigvalsh(A)[0], 0.0)


@given(seeds, st.integers(1, 6))
def test_lemma_0_for_semidefinite_matrices_needs_rho_of_one_over_root_d(seed, d):
    A = np.random.default_rng(seed).normal(size=(d, d))
    w, u = np.linalg.eigh(A + A.T)
    distance = np.linalg.norm(A + A.T - (u * np.maximum(w, 0.0)) @ u.T)
    assert distance <= theory.lemma0(norm_of_lowest(A + A.T), 1 / math.sqrt(d)) + 1e-9


def test_lemma_0_for_semidefinite_matrices_fails_with_rho_of_one():
    for d in (2, 5):
        assert np.linalg.norm(-np.eye(d) - 0.0) == pytest.approx(
            theory.lemma0(norm_of_lowest(-np.eye(d)), 1 / math.sqrt(d))
        )
        assert np.linalg.norm(-np.eye(d) - 0.0) > 1.4 * theory.lemma0(norm_of_lowest(-np.eye(d)), 1.0)


@given(seeds, st.sampled_from(sorted(problems.ALL)), st.floats(1.0, 10.0))
def test_the_penalised_objective_bounds_the_projected_point(seed, name, excess):
    """f(P(x)) <= F(x) as soon as lam >= sup ||grad f|| / rho: why mu is not needed."""
    problem = problems.ALL[name](sigma=0.0)  # the expected gradient alone
    x = textbook.into_ball(np.random.default_rng(seed).normal(size=(50, problem.x_star.size)) * 3, problem.guard)
    lam = excess * problem.constants.G1
    F = problem.value(x) + lam * np.maximum(problem.domain.violation(x), 0.0)
    assert (problem.value(problem.domain.project(x)) <= F + 1e-9).all()


def test_a_small_penalty_does_not_bound_the_projected_point():
    problem = problems.half_space(sigma=0.0)
    x = 2.0 * problem.x_star
    F = problem.value(x) + 0.01 * problem.domain.violation(x)
    assert problem.value(problem.domain.project(x)) > F


def test_first_gap_bounds_every_feasible_point():
    for make in problems.ALL.values():
        problem = make(sigma=0.0)
        rng = np.random.default_rng(0)
        x = problem.domain.project(textbook.into_ball(rng.normal(size=(500, problem.x_star.size)) * 3, problem.guard))
        gaps = problem.value(x) - problem.value(problem.x_star)
        assert -1e-12 <= gaps.min() and gaps.max() <= theory.first_gap(problem.constants)


# -- single epochs on the largest of random affine functions, with minimum 0 at 0 and slopes of at most 1


def polyhedral(rng, functions, pieces, d):
    A = rng.normal(size=(functions, pieces, d))
    A -= A.mean(axis=1, keepdims=True)  # 0 is in the convex hull of the slopes
    A /= np.linalg.norm(A, axis=2).max(axis=1)[:, None, None]

    def value(x):
        return np.einsum("fpd,fd->fp", A, x).max(axis=1)

    def subgradient(x):
        return A[np.arange(functions), np.einsum("fpd,fd->fp", A, x).argmax(axis=1)]

    start = rng.normal(size=(functions, d))
    return value, subgradient, start / np.linalg.norm(start, axis=1, keepdims=True)


@pytest.mark.parametrize(("pieces", "d"), [(2, 1), (3, 2), (8, 5)])
def test_lemma_4_after_every_step(pieces, d):
    """Deterministic (sigma = 0, so that M = 2 G1 stands for 3 G1), G1 = 1, from distance 1; near to what is proven."""
    rng = np.random.default_rng(0)
    value, subgradient, start = polyhedral(rng, 500, pieces, d)
    eta = 10 ** rng.uniform(-2, 2, size=(500, 1))
    ratios = []

    def watch(t, x):
        if t > 1:
            bound = [theory.lemma4(M_IS_TWO, 1.0, e, t - 1, 1.0, sharp=True) for e in eta[:, 0]]
            ratios.append((value(x) / bound).max())

    textbook.orda(subgradient, start, eta, 300, watch=watch)
    assert 0.5 < max(ratios) <= 1.0


M_IS_TWO = Constants(G1=2 / 3 - 1e-9, G2=1e-9, rho=1.0, beta=1.0)


@pytest.mark.parametrize(("pieces", "d"), [(2, 1), (3, 2), (8, 5)])
def test_lemma_1_after_an_epoch(pieces, d):
    """Deterministic, a half-space that holds the optimum and not much of the rest, lam = 1.5 > G1/rho."""
    rng, lam, T = np.random.default_rng(1), 1.5, 200
    value, subgradient, start = polyhedral(rng, 500, pieces, d)
    c = problems.HalfSpace(np.ones(d) / math.sqrt(d), 0.1)
    start = c.project(start)
    eta = 10 ** rng.uniform(-3, 1, size=500)
    x, total = start, np.zeros_like(start)
    for _ in range(T):
        total += x
        x = x - eta[:, None] * (subgradient(x) + lam * (c.violation(x) > 0)[:, None] * c.n)
    gaps, distance2 = value(c.project(total / T)), (start**2).sum(axis=1)
    known = Constants(G1=1.0, G2=1.0, rho=1.0, beta=1.0)
    sharp, stated = (
        np.array([theory.lemma1(known, lam, e, T, r, sharp=s) for e, r in zip(eta, distance2, strict=True)])
        for s in (True, False)
    )
    np.testing.assert_allclose(stated, 3 * sharp)
    assert 0.05 < (gaps / sharp).max() <= 1.0


def test_the_step_of_lemma_4_s_proof_that_sums_the_noise():
    """sum (sqrt(t) + 1/sqrt(t)) / (2 n (n+1)) <= 1/(2 sqrt(n-1)), and 2 sqrt(n+1)/n <= 2/sqrt(n-1), n = T + 1."""
    n = np.arange(2, 100_000)
    t = np.arange(1, n[-1] + 1)
    sums = np.cumsum(np.sqrt(t) + 1 / np.sqrt(t))[n - 1] / (2.0 * n * (n + 1))
    assert (sums <= 0.5 / np.sqrt(n - 1)).all()
    assert (np.sqrt(n + 1) / n <= 1 / np.sqrt(n - 1)).all()


# -- erratum: where Algorithm 2 takes its subgradients


def falls(query):
    """Mean suboptimality of sum |x_i - x*_i| with unit noise after 10^2, 10^3, 10^4 steps of ORDA."""
    rng = np.random.default_rng(3)
    target = rng.normal(size=(5, 20))
    seen = {}

    def watch(t, x):
        if t in (101, 1001, 10_001):
            seen[t] = np.abs(x - target).sum(axis=1).mean()

    def subgradient(q):
        noise = rng.normal(size=q.shape)
        return np.sign(q - target) + noise / np.linalg.norm(noise, axis=1, keepdims=True)

    textbook.orda(subgradient, np.zeros((5, 20)), 1.0, 10_000, query, watch=watch)
    known, R2 = Constants(G1=math.sqrt(20) + 1, G2=1e-9, rho=1.0, beta=1.0), (target**2).sum(axis=1).mean()
    bounds = [theory.lemma4(known, 1e6, 1.0, t, R2, sharp=True) for t in (100, 1000, 10_000)]
    return np.array(list(seen.values())), np.array(bounds)


def test_orda_asks_at_u():
    """At u_t the last iterate falls like 1/T and faster; at x_t about like 1/sqrt(T), hundreds of times above it."""
    (at_u, bounds), (at_x, _) = falls("u"), falls("x")
    assert (at_u <= bounds).all()
    assert math.log10(at_u[2] / at_u[1]) <= -0.9
    assert math.log10(at_x[2] / at_x[1]) >= -0.9
    assert at_x[2] > 20 * at_u[2]
