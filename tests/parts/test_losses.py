"""Laws of every loss: its link, its sums over rows, the constants it declares."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.catalog import LOSSES, sparse

from epro import losses

every_loss = pytest.mark.parametrize("name", LOSSES)
predictions = st.floats(-30, 30)
steps = st.one_of(st.just(0.0), st.floats(1e-6, 1e3))
ROWS = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, -1.0]])


def built(name, rows=ROWS, **kwargs):
    return LOSSES[name].build(rows, np.array([1.0, -1.0, 1.0]), **kwargs)


def target(name, y):
    return math.copysign(1.0, y) if LOSSES[name].targets.__name__ == "signs" else y


@every_loss
@given(p=predictions, q=predictions, y=predictions)
def test_slope_is_a_subgradient(name, p, q, y):
    link, y = built(name).link, target(name, y)
    assert link.loss(q, y) >= link.loss(p, y) + link.slope(p, y) * (q - p) - 1e-9 * (1 + abs(p - q) * 60)


@every_loss
@given(p=predictions, y=predictions)
def test_slope_and_curvature_agree_with_differences(name, p, y):
    line, link, y, h = LOSSES[name], built(name).link, target(name, y), 1e-5
    assume(all(abs(p - kink) > 1e-3 for kink in line.kinks(y)))
    scale = 1 + abs(p - y)
    first = (link.loss(p + h, y) - link.loss(p - h, y)) / (2 * h)
    second = (link.slope(p + h, y) - link.slope(p - h, y)) / (2 * h)
    assert link.slope(p, y) == pytest.approx(first, abs=1e-5 * scale)
    assert link.curvature(p, y) == pytest.approx(second, abs=1e-5 * scale)


@every_loss
@given(p=predictions, y=predictions, step=steps)
def test_implicit_slope_is_a_slope_where_the_step_ends(name, p, y, step):
    """s is a subgradient of the loss at q = p - step s: the loss lies above its line there."""
    link, y = built(name).link, target(name, y)
    s = link.implicit(p, y, step)
    q = p - step * s
    scale = (1 + abs(s)) * (1 + step)
    for other in (q - 1.0, q + 1.0, q - 1e-3, q + 1e-3, p, y):
        assert link.loss(other, y) >= link.loss(q, y) + s * (other - q) - 1e-9 * scale


@every_loss
@given(p=predictions, y=predictions)
def test_implicit_slope_of_no_step_is_a_slope(name, p, y):
    link, y = built(name).link, target(name, y)
    s = link.implicit(p, y, 0.0)
    assert math.isfinite(s)
    for q in (p - 0.1, p + 0.1):
        assert link.loss(q, y) >= link.loss(p, y) + s * (q - p) - 1e-9 * (1 + abs(p) + abs(y))


@every_loss
@given(p=predictions, q=predictions, y=predictions)
def test_declared_constants_hold(name, p, q, y):
    loss, y = built(name), target(name, y)
    if loss.smoothness is not None:
        assert abs(loss.slope(p, y) - loss.slope(q, y)) <= loss.smoothness * abs(p - q) * (1 + 1e-12) + 1e-12
        assert loss.link.curvature(p, y) <= loss.smoothness + 1e-12
    if loss.slope_bound is not None:
        assert abs(loss.slope(p, y)) <= loss.slope_bound + 1e-15
    bound = loss.slope_bound_on(abs(p), abs(y))
    assert bound is None or abs(loss.slope(p, y)) <= bound + 1e-12


@every_loss
def test_declared_constants_are_reached(name):
    """Declared smoothness and slope bound are not generous: some pair of points comes within one per cent."""
    loss, y = built(name), 1.0
    grid = np.linspace(-30, 30, 24001)
    slopes = np.array([loss.slope(p, y) for p in grid])
    if loss.smoothness is not None:
        assert np.abs(np.diff(slopes) / np.diff(grid)).max() >= 0.99 * loss.smoothness
    if loss.slope_bound is not None:
        assert np.abs(slopes).max() >= 0.99 * loss.slope_bound


@pytest.mark.parametrize(("name", "dtype"), [*((name, np.float64) for name in LOSSES), ("logistic", np.float32)])
def test_sums_over_rows(name, dtype):
    weights = np.array([1.0, 0.0, 2.5])
    for rows in (ROWS.astype(dtype), sparse(ROWS.astype(dtype))):
        loss = built(name, rows, sample_weight=weights)
        x = np.array([0.3, -1.2], dtype)
        p = ROWS @ x
        tol = 1e-12 if dtype == np.float64 else 1e-5
        value = sum(w * loss.link.loss(q, y) for w, q, y in zip(weights, p, loss.y, strict=True)) / 3
        gradient = sum(w * loss.link.slope(q, y) * A for w, q, y, A in zip(weights, p, loss.y, ROWS, strict=True)) / 3
        assert loss.value(x) == pytest.approx(value, rel=tol)
        assert loss.subgradient(x) == pytest.approx(gradient, rel=tol)
        assert loss.subgradient(x).dtype == dtype == loss.dtype
        assert loss.curvatures(p.astype(dtype))[1] == 0.0


@every_loss
def test_zero_rows_and_large_predictions(name):
    link = built(name).link
    for y in (-1.0, 1.0):
        for p in (-1e4, 1e4):
            assert math.isfinite(link.loss(p, y))
            assert math.isfinite(link.slope(p, y))
            assert math.isfinite(link.implicit(p, y, 1e-12))
            assert math.isfinite(link.implicit(p, y, 1e12))


def test_triplet_hinge_by_its_definition():
    rng = np.random.default_rng(0)
    X, triplets = rng.standard_normal((6, 3)), np.array([[0, 1, 2], [3, 4, 5], [0, 2, 4]])
    for rows in (X, sparse(X)):
        loss = losses.TripletHinge(rows, triplets, margin=0.5)
        half = rng.standard_normal((3, 3))
        M = half @ half.T
        near, far = X[triplets[:, 0]] - X[triplets[:, 1]], X[triplets[:, 0]] - X[triplets[:, 2]]
        expected = np.maximum(0.5 + ((near @ M) * near).sum(axis=1) - ((far @ M) * far).sum(axis=1), 0)
        assert loss.value(M) == pytest.approx(np.mean(expected))
        h, E = 1e-6, rng.standard_normal((3, 3))
        slope = (loss.value(M + h * E) - loss.value(M - h * E)) / (2 * h)
        assert np.vdot(loss.subgradient(M), E) == pytest.approx(slope, abs=1e-6)
