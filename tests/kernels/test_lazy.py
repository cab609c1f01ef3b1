"""The lazy iterate is the textbook loop in its clipped form: last point, average, and every decision of the cut."""

from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from epro.kernels import lazy, lazy_queue, lazy_state, lazy_steps
from epro.kernels.active import SparseVector
from epro.kernels.lazy import LazyIterate
from epro.kernels.lazy_state import L1_CUT, L2_CUT, LIVE, NO_CUT, OFFSET, SCALE, LazyModel
from epro.losses.logistic import LogisticLink
from epro.losses.squared import SquaredLink

N, D = 40, 60


class Case(NamedTuple):
    """A problem, a start, and the draws."""

    model: LazyModel
    start: np.ndarray
    draws: np.ndarray
    etas: np.ndarray


def case(seed=0, kind=L1_CUT, steps=300, batch=1, eta=0.3, ridge=1e-3, l1=0.0, lam=0.2, radius=0.5, weighted=False):
    rng = np.random.default_rng(seed)
    A = sp.random_array((N, D), density=0.1, random_state=rng, format="csr")
    A.data -= 0.3
    y, weights = 2 * rng.standard_normal(N), rng.uniform(0.5, 2, N) if weighted else np.empty(0)
    model = LazyModel(A.indptr, A.indices, A.data, y, weights, SquaredLink(), ridge, l1, kind, lam, radius)
    start = np.where(rng.random(D) < 0.3, rng.standard_normal(D), 0.0)
    etas = eta / (1 + np.arange(steps)) if eta > 1 else np.full(steps, eta)
    return Case(model, start, rng.integers(N, size=(steps, batch)), etas)


def dense(c: Case, clipped=True):
    """x_{T+1}, the average of x_1 .. x_T, and how often c(x_t) > 0, from the definition."""
    m, x, total, fired = c.model, c.start.copy(), np.zeros(D), 0
    A = sp.csr_array((m.data, m.indices, m.indptr), shape=(N, D)).toarray()
    weights = m.weights if m.weights.size else np.ones(N)
    for rows, eta in zip(c.draws, c.etas, strict=True):
        total += x
        gradient = sum(weights[i] * m.link.slope(A[i] @ x, m.y[i]) * A[i] for i in rows) / len(rows)
        factor, threshold = 1 - eta * m.ridge, eta * m.l1
        if m.kind == L1_CUT and np.abs(x).sum() > m.radius:
            threshold, fired = threshold + eta * m.lam, fired + 1
        if m.kind == L2_CUT and np.linalg.norm(x) > m.radius:
            factor, fired = max(factor - eta * m.lam / np.linalg.norm(x), min(factor, 0)), fired + 1
        moved = factor * x - eta * gradient
        x = np.sign(moved) * np.maximum(np.abs(moved) - threshold, 0) if clipped else moved - threshold * np.sign(x)
    return x, total / len(c.draws), fired


def lazily(c: Case, parts=1, entries=1 << 10):
    iterate = LazyIterate(D, entries)
    iterate.begin(SparseVector.of(c.start))
    for some, etas in zip(np.array_split(c.draws, parts), np.array_split(c.etas, parts), strict=True):
        iterate.run(c.model, some, etas)
    result = iterate.finish()
    return result.last.dense(), result.average.dense(), iterate.cuts_fired


def assert_same(found, expected):
    assert found[2] == expected[2]
    assert found[0] == pytest.approx(expected[0], abs=1e-10)
    assert found[1] == pytest.approx(expected[1], abs=1e-10)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from([NO_CUT, L1_CUT, L1_CUT, L2_CUT]),
    batch=st.integers(1, 3),
    eta=st.sampled_from([1e-3, 0.1, 0.7, 2.0]),
    ridge=st.sampled_from([0.0, 1e-3, 0.5, 1.0]),
    l1=st.sampled_from([0.0, 0.0, 0.05]),
    lam=st.floats(0.01, 2.0),
    radius=st.floats(0.1, 3.0),
    weighted=st.booleans(),
)
def test_equals_the_textbook_loop(seed, kind, batch, eta, ridge, l1, lam, radius, weighted):
    c = case(seed, kind, 200, batch, eta, ridge, l1, lam, radius, weighted)
    assert_same(lazily(c), dense(c))


def test_cuts_fire_and_coordinates_die_and_revive():
    """The cases above are not empty: some steps fire, some do not, and coordinates come to zero."""
    c = case(steps=2000, radius=3.0)
    last, _, fired = lazily(c)
    assert 100 < fired < 1900
    assert 0 < np.count_nonzero(last) < D


def test_parts_of_an_epoch_are_the_epoch():
    c = case(steps=500)
    whole, parted = lazily(c), lazily(c, parts=7)
    assert np.array_equal(whole[0], parted[0])
    assert np.array_equal(whole[1], parted[1])


def test_a_queue_that_is_too_small_grows():
    c = case(steps=500, radius=5.0, lam=0.05)
    assert_same(lazily(c, entries=1), dense(c))


def test_scales_that_vanish_or_change_sign():
    for ridge, eta in [(1.0, 1.0), (1.5, 1.0), (0.9, 0.9), (3.0, 0.33)]:
        c = case(ridge=ridge, eta=eta, steps=60, radius=0.1, lam=0.05)
        assert_same(lazily(c), dense(c))


def test_another_epoch_forgets_the_first():
    first, second = case(1), case(2, kind=L2_CUT)
    iterate = LazyIterate(D)
    for c in (first, second):
        iterate.begin(SparseVector.of(c.start))
        iterate.run(c.model, c.draws, c.etas)
    result = iterate.finish()
    assert_same((result.last.dense(), result.average.dense(), iterate.cuts_fired), dense(second))


def test_interpreted_is_compiled(monkeypatch):
    c = case(steps=120, batch=2, l1=0.01)
    compiled = lazily(c)
    for module in (lazy_queue, lazy_steps, lazy):
        for name, value in list(vars(module).items()):
            if hasattr(value, "py_func"):
                monkeypatch.setattr(module, name, value.py_func)
    plain = lazily(c)
    assert np.array_equal(plain[0], compiled[0])
    assert np.array_equal(plain[1], compiled[1])


def test_a_loss_in_plain_python():
    class Link:
        def slope(self, p, y):
            return p - y

    c = case(steps=60, batch=2, weighted=True)
    own = c._replace(model=c.model._replace(link=Link()))
    found, expected = lazily(own), lazily(c)
    assert_same(found, expected)


def test_the_sums_are_those_of_the_cells():
    """||x||_1 and the number of nonzeros, kept up to date step by step, against the cells themselves."""
    c = case(steps=5000, eta=0.05)
    iterate = LazyIterate(D)
    iterate.begin(SparseVector.of(c.start))
    for t in range(0, 5000, 500):
        iterate.run(c.model, c.draws[t : t + 500], c.etas[t : t + 500])
        scalars, x = iterate.state.scalars, iterate.finish().last.values
        assert scalars[SCALE] * scalars[lazy_state.NORM] == pytest.approx(np.abs(x).sum(), abs=1e-12)
        assert iterate.state.counts[LIVE] == np.count_nonzero(x)
    assert scalars[OFFSET] > 0


def test_clipped_and_explicit_reach_the_same_bound():
    """Epro-SGD's epochs on logistic regression: both forms come within the bound of Theorem 1, and of each other."""
    rng = np.random.default_rng(3)
    A = sp.random_array((N, D), density=0.1, random_state=rng, format="csr")
    A = sp.csr_array(A / np.maximum(sp.linalg.norm(A, axis=1), 1e-9)[:, None])
    y, radius, beta = np.where(rng.random(N) < 0.5, -1.0, 1.0), 0.5, 0.1
    lam = 2 * (1 + beta * radius)  # twice G1/rho on the ball: mu = 2
    model = LazyModel(A.indptr, A.indices, A.data, y, np.empty(0), LogisticLink(), beta, 0.0, L1_CUT, lam, radius)

    def value(x):
        return np.logaddexp(0, -y * (A @ x)).mean() + beta / 2 * x @ x

    def project(x):
        low, high = 0.0, np.abs(x).max()
        for _ in range(60):
            middle = (low + high) / 2
            above = np.maximum(np.abs(x) - middle, 0).sum() > radius
            low, high = (middle, high) if above else (low, middle)
        return np.sign(x) * np.maximum(np.abs(x) - high, 0) if np.abs(x).sum() > radius else x

    best = np.zeros(D)
    for _ in range(3000):
        best = project(best - (-y / (1 + np.exp(y * (A @ best))) @ A / N + beta * best))
    gaps = []
    for form in (lazily, lambda c: dense(c, clipped=False)):
        x, steps, eta, draws = np.zeros(D), 8, 2 / beta / 64, np.random.default_rng(4)
        while steps <= 2048:
            x = project(form(Case(model, x, draws.integers(N, size=(steps, 1)), np.full(steps, eta)))[1])
            steps, eta = 2 * steps, eta / 2
        gaps.append(value(x) - value(best))
    bound = 32 * 4 * (1 + beta * radius + lam * np.sqrt(D)) ** 2 / (beta * 4096)
    assert 0 <= gaps[0] < bound
    assert 0 <= gaps[1] < bound
    assert gaps[0] < 1.5 * gaps[1] + 1e-6


def test_too_many_columns():
    with pytest.raises(ValueError, match="at most 2\\*\\*31 - 1 columns"):
        lazy_state.new_state(2**31, 1)
