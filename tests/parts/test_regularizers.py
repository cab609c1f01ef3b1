"""Laws of every regularizer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.catalog import REGULARIZERS

from epro.regularizers import L1, Linear, OffDiagonalL1, Ridge

SHAPE = (3, 3)
every_regularizer = pytest.mark.parametrize("name", REGULARIZERS)
seeds = st.integers(0, 10**6)
steps = st.floats(1e-3, 1e2)


def points(seed, count=2):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        x = rng.standard_normal(SHAPE) * 10.0 ** rng.integers(-2, 2)
        yield np.where(rng.random(SHAPE) < 0.2, 0.0, x)


@every_regularizer
@given(seed=seeds, step=steps)
def test_prox_beats_competitors(name, seed, step):
    g = REGULARIZERS[name](SHAPE)
    (x,) = points(seed, 1)
    z = g.prox(x, step)

    def model(u):
        return 0.5 * ((u - x) ** 2).sum() + step * g.value(u)

    rng = np.random.default_rng(seed + 1)
    best = model(z)
    around = [z + 10.0 ** rng.integers(-6, 1) * rng.standard_normal(SHAPE) for _ in range(20)]
    for u in [np.zeros(SHAPE), x, *around]:  # the model is 1-strongly convex
        assert model(u) >= best + 0.5 * ((u - z) ** 2).sum() - 1e-10 * (1 + abs(best))


@every_regularizer
@given(seed=seeds, step=steps)
def test_prox_is_firmly_nonexpansive(name, seed, step):
    g = REGULARIZERS[name](SHAPE)
    x, y = points(seed)
    u, v = g.prox(x, step), g.prox(y, step)
    assert ((u - v) ** 2).sum() <= np.vdot(u - v, x - y) + 1e-10 * (1 + ((x - y) ** 2).sum())


@every_regularizer
@given(seed=seeds)
def test_subgradient_and_strong_convexity(name, seed):
    g = REGULARIZERS[name](SHAPE)
    x, y = points(seed)
    line = g.value(x) + np.vdot(g.subgradient(x), y - x) + 0.5 * g.strong_convexity * ((y - x) ** 2).sum()
    assert g.value(y) >= line - 1e-9 * (1 + abs(line))


@every_regularizer
@given(seed=seeds, step=steps)
def test_forward_is_a_subgradient_step(name, seed, step):
    g = REGULARIZERS[name](SHAPE)
    (x,) = points(seed, 1)
    moved = x.copy()
    g.record(SHAPE, x.dtype).forward(moved, step)
    assert moved == pytest.approx(x - step * g.subgradient(x), rel=1e-9, abs=1e-9 * (1 + step))


@every_regularizer
def test_a_value_and_a_subgradient_leave_x_alone(name):
    g = REGULARIZERS[name](SHAPE)
    (x,) = points(3, 1)
    before = x.copy()
    g.value(x), g.subgradient(x), g.prox(x, 0.5)
    assert np.array_equal(x, before)


@every_regularizer
@given(seed=seeds, radius=st.floats(0.1, 10))
def test_the_declared_lipschitz_constant_holds_on_the_ball(name, seed, radius):
    g = REGULARIZERS[name](SHAPE)
    (x,) = points(seed, 1)
    x = radius * x / max(np.linalg.norm(x), 1e-12)
    assert np.linalg.norm(g.subgradient(x)) <= g.lipschitz_on(radius, SHAPE) * (1 + 1e-12) + 1e-12


@given(seed=seeds, step=steps)
def test_a_sum_is_the_sum(seed, step):
    tilt = Linear(np.full(SHAPE, 0.3))
    (x,) = points(seed, 1)
    parts = [Ridge(0.5), L1(0.2), OffDiagonalL1(0.1), tilt]
    whole = parts[0] + parts[1] + parts[2] + parts[3]
    assert whole.value(x) == pytest.approx(sum(p.value(x) for p in parts))
    assert whole.subgradient(x) == pytest.approx(sum(p.subgradient(x) for p in parts))
    assert (Ridge(0.2) + Ridge(0.3)).prox(x, step) == pytest.approx(Ridge(0.5).prox(x, step))
    assert (L1(0.2) + Ridge(0.5)).prox(x, step) == pytest.approx(Ridge(0.5).prox(L1(0.2).prox(x, step), step))
    assert repr(whole) == "Ridge(0.5) + L1(0.2) + OffDiagonalL1(0.1) + Linear(shape=(3, 3))"


def test_float32_is_kept():
    g = REGULARIZERS["everything"](SHAPE)
    x = np.ones(SHAPE, np.float32)
    assert g.prox(x, 0.5).dtype == g.subgradient(x).dtype == np.float32


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Ridge(-1.0), "Ridge: a must be a finite number at least zero, got -1"),
        (lambda: L1(float("nan")), "L1: t must be a finite number"),
        (lambda: Linear([1.0, np.inf]), "Linear: a has a NaN or infinite entry"),
        (lambda: OffDiagonalL1(1.0).check((3,)), "OffDiagonalL1 needs square matrices"),
        (lambda: Linear([1.0, 2.0]).check((3,)), r"tilt has shape \(2,\), but x has shape \(3,\)"),
    ],
)
def test_refusals(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_one_of_ones_own_does_not_add():
    with pytest.raises(TypeError, match="Pull is written in Python and cannot be added"):
        REGULARIZERS["pull (own)"](SHAPE) + Ridge(1.0)
