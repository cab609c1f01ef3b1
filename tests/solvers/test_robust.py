"""Robust steps: nothing overflows, and the weight that was asked for makes no difference."""

from __future__ import annotations

import numpy as np
import pytest

import epro
from epro import constraints, losses, regularizers, solvers

SETS = {"l1": constraints.L1Ball(2.0), "monotone": constraints.Monotone(), "l2": constraints.L2Ball(0.5)}


@pytest.mark.parametrize("eta1", [None, 1e-2, 1.0, 1e2])
@pytest.mark.parametrize("name", ["Squared", "Logistic"])
@pytest.mark.parametrize("kind", SETS)
def test_the_result_depends_on_lam_by_less_than_a_factor_of_two(kind, name, eta1):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 10))
    y = X @ rng.standard_normal(10) + rng.standard_normal(500)
    target = y if name == "Squared" else np.sign(y)
    problem = epro.Problem(getattr(losses, name)(X, target), regularizers.Ridge(1e-3), SETS[kind])
    best = epro.minimize(problem, tol=1e-9)
    left = []
    for lam in (1e-2, 1.0, 1e4, np.inf):
        run = epro.minimize(problem, solvers.EproSGD(lam=lam, eta1=eta1, robust=True), tol=0, max_steps=4000)
        assert run.status.name == "MAX_STEPS" and run.violation <= 1e-9
        left.append(run.fun - best.lower_bound)
    assert best.success and max(left) < 2 * min(left)
