"""Epochs on sparse rows: active columns change no bit, clipped steps reach the same optimum, and neither is slow."""

from __future__ import annotations

import numpy as np
import pytest

import epro
from epro import constraints, losses, regularizers, sparse_epochs
from epro.datasets import make_algebra
from epro.solvers import EproSGD


def wide(d: int = 30_000, constraint: object = None) -> epro.Problem:
    X, y = make_algebra(n=400, d=d, nnz_per_row=12, dtype=np.float64)
    ball = constraints.L1Ball(2.0) if constraint is None else constraint
    return epro.Problem(losses.Squared(X, y), regularizers.Ridge(1e-2), ball)


@pytest.mark.parametrize("constraint", [constraints.L1Ball(0.5), constraints.L2Ball(0.3), constraints.Everywhere()])
def test_active_columns_change_no_bit(constraint: object, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, method = wide(constraint=constraint), EproSGD(lam=0.1, eta1=0.5, clipped=False)
    on_active_columns = epro.minimize(problem, method, max_steps=500, tol=0)
    monkeypatch.setattr(sparse_epochs, "SPARSE_ENOUGH", np.inf)
    on_all_columns = epro.minimize(problem, method, max_steps=500, tol=0)
    np.testing.assert_array_equal(on_active_columns.x, on_all_columns.x)
    assert on_active_columns.n_cuts == on_all_columns.n_cuts


def test_clipped_steps_are_the_default_for_many_columns_and_converge() -> None:
    problem = wide()
    assert sparse_epochs.clips(problem)
    assert not sparse_epochs.clips(wide(d=1000))
    best = epro.minimize(problem, "apg", tol=1e-8)
    lam = 1.2 * float(np.abs(problem.gradient(best.x)).max())  # a little above the multiplier of the ball
    result = epro.minimize(problem, EproSGD(lam=lam, eta1=1.0, t1=256), max_steps=600_000, tol=0)
    assert result.violation <= 0
    start = problem.value(np.zeros(problem.shape))
    assert result.fun - best.lower_bound < 0.1 * (start - best.fun)


def test_clipped_steps_are_refused_where_zeros_do_not_stay() -> None:
    problem = wide(constraint=constraints.Simplex(1.0))
    with pytest.raises(ValueError, match="clipped steps need sparse rows"):
        epro.minimize(problem, EproSGD(clipped=True), max_steps=100)
