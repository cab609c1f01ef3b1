"""Constants found from the parts of a problem, and the paper's recipe for LMNN."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epro import theory
from epro.constraints import L1Ball
from epro.losses import Hinge, Huber, Logistic, Loss, Squared
from epro.regularizers import L1, Regularizer, Ridge
from epro.theory import Constants, constants_of

seeds = st.integers(0, 2**32 - 1)


def data(seed=0, n=30, d=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), np.sign(rng.normal(size=n)), rng.uniform(0.1, 3.0, size=n)


def bound(constraint):
    return constraint.bind((4,))


def test_logistic_with_a_ridge_on_a_guard_ball():
    X, y, w = data()
    known = constants_of(Logistic(X, y, sample_weight=w), Ridge(0.1), bound(L1Ball(2.0)), (4,), radius=2.0)
    assert known.G1 == pytest.approx((w * np.linalg.norm(X, axis=1)).max() + 0.1 * 2.0)
    assert (known.G2, known.rho, known.beta, known.missing) == (2.0, 1.0, 0.1, {})


@given(seeds, st.sampled_from([Logistic, Squared, Hinge, Huber]), st.floats(0.1, 10.0))
def test_G1_bounds_every_stochastic_gradient_on_the_ball(seed, kind, radius):
    X, y, w = data(seed)
    loss, g = kind(X, y, sample_weight=w), Ridge(0.3) + L1(0.2)
    known = constants_of(loss, g, None, (4,), radius=radius)
    rng = np.random.default_rng(seed)
    x = rng.normal(size=4)
    x *= radius / np.linalg.norm(x)
    slopes = np.array([loss.slope(p, t) for p, t in zip(X @ x, y, strict=True)])
    norms = np.linalg.norm((w * slopes)[:, None] * X + g.subgradient(x), axis=1)
    assert norms.max() <= known.G1 * (1 + 1e-12)


def test_unknown_constants_stay_unknown_and_say_why():
    X, y, _ = data()
    known = constants_of(Squared(X, y), None, None, (4,))
    assert (known.G1, known.G2, known.rho, known.beta) == (None, None, None, None)
    assert "slopes of Squared are not known to be bounded; give the radius" in known.missing["G1"]
    assert known.missing["rho"] == "there is no constraint"
    assert "no regularizer makes" in known.missing["beta"]
    with pytest.raises(ValueError, match=r"theorem1 needs G1, .*unknown: the slopes of Squared"):
        theory.theorem1(known, 1.0, 100)


def test_a_ridge_has_no_bounded_gradient_on_the_whole_space():
    X, y, _ = data()
    known = constants_of(Logistic(X, y), Ridge(0.1), bound(L1Ball(1.0)), (4,))
    assert known.G1 is None and "guard ball" in known.missing["G1"]
    lasso = constants_of(Logistic(X, y), L1(0.1), bound(L1Ball(1.0)), (4,))
    assert lasso.G1 == pytest.approx(np.linalg.norm(X, axis=1).max() + 0.2)
    assert lasso.beta is None


def test_an_unbound_constraint_does_not_know_its_dimension():
    X, y, _ = data()
    known = constants_of(Logistic(X, y), Ridge(0.1), L1Ball(1.0), (4,), radius=1.0)
    assert known.G2 is None
    assert known.missing["G2"] == "L1Ball does not know a bound on its subgradients"


def test_a_user_s_own_parts_are_not_guessed_at():
    class Fourth(Loss):
        def loss(self, p, y):
            return (p - y) ** 4

        def slope(self, p, y):
            return 4 * (p - y) ** 3

    class Own(Regularizer):
        def value(self, x):
            return float((x**4).sum())

    X, y, _ = data()
    loss = constants_of(Fourth(X, y), Ridge(1.0), None, (4,), radius=1.0)
    assert loss.G1 is None and "Fourth are not known to be bounded; it declares no bound" in loss.missing["G1"]
    own = constants_of(Logistic(X, y), Own(), None, (4,), radius=1.0)
    assert own.G1 is None and own.beta is None


def test_zero_data_have_no_constant():
    known = constants_of(Logistic(np.zeros((2, 4)), np.ones(2)), None, None, (4,))
    assert known.G1 is None and known.missing["G1"] == "every gradient is zero"


def test_constants_are_checked_and_compare_by_value():
    assert Constants(1, 2, 3, 4) == Constants(1.0, 2.0, 3.0, 4.0, {"rho": "whatever"})
    with pytest.raises(TypeError, match="Constants: rho must be a number, got 'x'"):
        Constants(1.0, 1.0, "x", 1.0)


@pytest.mark.parametrize(("G1", "rho", "lam"), [(1.0, 1.0, 2.0), (3.0, 0.5, 60.0)])
def test_mu(G1, rho, lam):
    assert theory.mu(Constants(G1, 1.0, rho, 1.0), lam) == pytest.approx(rho / (rho - G1 / lam))


# -- LMNN


@given(seeds)
def test_the_hinge_gradient_of_a_triplet(seed):
    """8 R^2 holds, and so do 4 sqrt(2) R^2; 4 R^2 is attained."""
    x = np.random.default_rng(seed).normal(size=(3, 4))
    x /= np.linalg.norm(x, axis=1).max()
    d1, d2 = x[0] - x[1], x[0] - x[2]
    assert np.linalg.norm(np.outer(d1, d1) - np.outer(d2, d2)) <= 4 * math.sqrt(2) < 8
    e = np.array([1.0, 0.0])
    assert np.linalg.norm(np.outer(2 * e, 2 * e) - 0.0) == pytest.approx(4.0)


def test_recipe_as_printed():
    L = np.diag([3.0, 4.0])
    known = theory.lmnn_constants(0.5, 2.0, L, ridge=1e-4, l1_off=1e-3, d=2)
    G1 = 8 * 0.5 * 4 + 0.5 * 5 + 1e-4 * math.sqrt(2 * 0.5 / 1e-4) + 1e-3 * 2
    assert (known.G1, known.G2, known.rho, known.beta) == (pytest.approx(G1), 1.0, 1.0, 1e-4)
    assert theory.lmnn_constants(0.5, 2.0, L, 1e-4, 1e-3, 2, proven=True).rho == pytest.approx(math.sqrt(0.5))


def test_the_printed_radius_misses_the_optimum_where_the_floor_is_large():
    """Every feasible A has ||A||_F >= floor sqrt(d)."""
    c, ridge, d, floor, L = 0.5, 1.0, 9, 1.0, np.eye(9)
    assert math.sqrt(2 * c / ridge) < floor * math.sqrt(d) <= theory.lmnn_radius(c, 1.0, L, ridge, floor)
    assert theory.lmnn_radius(c, 1.0, L, ridge) == pytest.approx(math.sqrt(2 * c / ridge))


@pytest.mark.parametrize("floor", [0.0, 0.3])
def test_the_radius_holds_the_optimum(floor):
    cp = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(0)
    c, ridge, d = 0.6, 0.05, 3
    for _ in range(5):
        x = rng.normal(size=(12, 3, d))
        x /= np.linalg.norm(x, axis=2).max()
        d1, d2 = x[:, 0] - x[:, 1], x[:, 0] - x[:, 2]
        rows, L = np.einsum("ti,tj->tij", d1, d1) - np.einsum("ti,tj->tij", d2, d2), np.diag(rng.uniform(0, 0.1, d))
        A = cp.Variable((d, d), symmetric=True)
        hinges = cp.pos(1 + cp.hstack([cp.trace(row @ A) for row in rows]))
        f = c * cp.sum(hinges) / 12 + (1 - c) * cp.trace(L @ A) + ridge / 2 * cp.sum_squares(A)
        cp.Problem(cp.Minimize(f), [A >> floor * np.eye(d)]).solve(solver="CLARABEL")
        assert 0.1 < np.linalg.norm(A.value) <= theory.lmnn_radius(c, 1.0, L, ridge, floor)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"trade_off": 1.0}, "trade_off must lie between 0 and 1, got 1"),
        ({"d": 3}, "L must have shape \\(3, 3\\), got \\(2, 2\\)"),
        ({"ridge": 0.0}, "ridge must be a finite number above zero"),
        ({"floor": -0.1}, "floor must be a finite number at least zero"),
    ],
)
def test_lmnn_refusals(change, words):
    good = {"trade_off": 0.5, "R": 1.0, "L": np.eye(2), "ridge": 0.1, "l1_off": 0.0, "d": 2, "proven": True}
    with pytest.raises(ValueError, match=words):
        theory.lmnn_constants(**(good | change))
