"""Passes over the data are the same bits however many cores there are."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from epro import cores, losses, passes


def loss_of(kind: str, dtype: type, intercept: bool) -> losses.Loss:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 7)) * (rng.random((1000, 7)) < 0.5)
    y = np.where(rng.random(1000) < 0.5, 1.0, -1.0)
    rows = X.astype(dtype) if kind == "dense" else sp.csr_array(X.astype(dtype))
    return losses.Logistic(rows, y, sample_weight=rng.random(1000), intercept=intercept)


def everything(loss: losses.Loss, x: np.ndarray) -> list[np.ndarray]:
    slopes, predictions = np.empty(loss.n), np.empty(loss.n)
    t = passes.tangent(loss, x, 0.0, slopes, predictions)
    at_x = x.astype(loss.dtype)
    return [np.array([t.fun, t.height, t.magnitude]), t.slope, slopes, predictions, loss.subgradient(at_x)]


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_shares_add_up_whatever_the_number_of_cores(kind, dtype, intercept, monkeypatch):
    loss = loss_of(kind, dtype, intercept)
    x = np.linspace(-1.0, 1.0, loss.shape[0])
    whole = everything(loss, x)
    monkeypatch.setattr(cores, "SHARE", 100)
    assert len(passes.shares(loss)) > 3
    found = []
    for threads in (1, 3):
        monkeypatch.setattr(cores, "count", lambda threads=threads: threads)
        found.append(everything(loss, x))
    for one, three, together in zip(*found, whole, strict=True):
        assert np.array_equal(one, three)
        assert np.allclose(one, together, rtol=1e-12 if dtype is np.float64 else 1e-4, atol=1e-7)


def test_overflow_on_another_thread_warns_no_one(monkeypatch):
    loss = losses.Squared(np.full((1000, 7), 1e200), np.zeros(1000))
    monkeypatch.setattr(cores, "SHARE", 100)
    monkeypatch.setattr(cores, "count", lambda: 2)
    with np.errstate(all="ignore"):
        assert not np.isfinite(passes.tangent(loss, np.full(7, 1e200)).fun)


@pytest.mark.parametrize("asked, expected", [("3", 3), ("1", 1)])
def test_the_number_of_threads_can_be_asked_for(asked, expected, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    assert cores.count() == expected
