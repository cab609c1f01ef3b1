"""Penalties do what they say."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epro.constraints import PSD, Ellipsoid, L1Ball
from epro.penalties import Hinge, PrimalDual, ProxLinear, Softplus

seeds = st.integers(0, 10**6)
CONSTRAINTS = {
    "l1 ball": (L1Ball(1.0), (4,)),
    "psd": (PSD(0.5), (3, 3)),
    "ellipsoid": (Ellipsoid(np.eye(4)), (4,)),
}


def pushed(penalty, constraint, x, y, eta):
    """Where the penalty moves y, after a cut at x; its weight; c(x) and v."""
    record, work = constraint.record(x.shape, x.dtype), constraint.work(x.shape)
    c = record.cut(x, work)
    anchor = penalty.anchor(record, work, x)
    z = y.copy()
    weight = penalty.push(record, work, c, anchor, eta, z)
    return z, weight, c, constraint.subgradient(x)


@pytest.mark.parametrize("name", CONSTRAINTS)
@given(seed=seeds, lam=st.sampled_from([0.01, 1.0, 100.0, math.inf]), eta=st.floats(1e-3, 10))
def test_prox_linear_minimises_its_model(name, seed, lam, eta):
    constraint, shape = CONSTRAINTS[name]
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((2, *shape))
    if len(shape) == 2:
        x, y = x + x.T, y + y.T
    z, weight, c, v = pushed(ProxLinear(lam), constraint, x, y, eta)
    assert 0 <= weight <= lam
    assert z == pytest.approx(y - eta * weight * v, abs=1e-9)
    model = c + np.vdot(v, z - x)
    assert weight == 0 or model >= -1e-9, "no step overshoots the model's boundary"
    assert weight in (0.0, lam) or abs(model) <= 1e-9
    assert weight > 0 or model <= 1e-9


@given(seed=seeds, eta=st.floats(1e-3, 10))
def test_hinge_and_softplus_push_along_the_cut(seed, eta):
    x, y = np.random.default_rng(seed).standard_normal((2, 4))
    z, weight, c, v = pushed(Hinge(2.0), L1Ball(1.0), x, y, eta)
    assert weight == (2.0 if c > 0 else 0.0)
    assert z == pytest.approx(y - eta * weight * v)
    z, weight, c, v = pushed(Softplus(2.0, 0.3), L1Ball(1.0), x, y, eta)
    assert weight == pytest.approx(2.0 / (1.0 + math.exp(-2.0 * c / 0.3)))
    assert z == pytest.approx(y - eta * weight * v)


@pytest.mark.parametrize("c", [-1e6, -1.0, 0.0, 1.0, 1e6])
def test_softplus_does_not_overflow(c):
    class Flat:
        def descend(self, work, s, x):
            x -= s * work

    weight = Softplus(2.0, 1e-3).push(Flat(), np.zeros(2), c, 0.0, 0.1, np.zeros(2))
    assert 0.0 <= weight <= 2.0


def test_the_multiplier_climbs_and_stays_nonnegative():
    multiplier = np.array([0.5])
    x = np.array([3.0, 0.0, 0.0, 0.0])
    _, weight, c, _ = pushed(PrimalDual(multiplier, 0.1), L1Ball(1.0), x, x, 0.2)
    assert weight == 0.5
    assert multiplier[0] == pytest.approx((1 - 0.2 * 0.1) * 0.5 + 0.2 * c)
    pushed(PrimalDual(multiplier, 0.1), L1Ball(1.0), 0 * x, x, 100.0)
    assert multiplier[0] == 0.0
