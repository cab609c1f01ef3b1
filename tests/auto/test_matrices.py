"""Small matrices: conic Newton steps, and variance-reduced steps that do not give up too early."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import epro
from epro import conic, losses, regularizers
from epro.constraints import PSD, Box, Intersection, L1Ball, L2Ball, NuclearNormBall, Spectraplex

RIDGE = regularizers.Ridge(1e-2)


def metric(constraint, regularizer=RIDGE, seed=0, d=6, sparse=False, decades=1.0):
    """Metric learning with columns over two decades."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, d)) * 10.0 ** rng.uniform(-decades, decades, d)
    triplets = np.array([rng.choice(60, 3, replace=False) for _ in range(200)])
    return epro.Problem(losses.TripletHinge(sp.csr_array(X) if sparse else X, triplets), regularizer, constraint)


@pytest.mark.parametrize(
    "constraint",
    [
        PSD(1e-3),
        Spectraplex(1.0),
        NuclearNormBall(1.0),
        L1Ball(1.0),
        Box(-0.1, 0.1),
        Intersection([PSD(), L2Ball(0.3)]),
        None,
    ],
    ids=lambda c: type(c).__name__,
)
def test_small_matrices_are_certified_with_default_arguments(constraint):
    for seed in range(2):
        result = epro.minimize(metric(constraint, seed=seed), tol=1e-6)
        assert result.success and result.choice.startswith("epro-newton"), result


@pytest.mark.parametrize("term", [RIDGE + regularizers.OffDiagonalL1(0.02), RIDGE + regularizers.Linear(np.eye(6))])
def test_terms_of_matrices(term):
    dense, sparse = (epro.minimize(metric(PSD(), term, sparse=kind), tol=1e-5) for kind in (False, True))
    assert dense.success and sparse.success
    assert dense.fun == pytest.approx(sparse.fun, abs=2e-5 * max(1.0, dense.fun))


@pytest.mark.parametrize(
    ("constraint", "shape"),
    [(NuclearNormBall(0.8), (2, 3)), (NuclearNormBall(0.8), (3, 2)), (PSD(-0.1), (3, 3)), (Spectraplex(0.5), (3, 3))],
    ids=str,
)
def test_conic_models_of_matrices_are_minimised(constraint, shape):
    rng = np.random.default_rng(0)
    size, constraint = int(np.prod(shape)), constraint.bind(shape)
    M = rng.standard_normal((8, size))
    H, q, x = M.T @ M / 8, rng.standard_normal(shape), np.zeros(shape)
    z = conic.minimize(constraint, H, q, x)
    assert z is not None and constraint.value(z) <= 1e-7

    def model(v):
        return float(np.vdot(q, v)) + 0.5 * float(v.ravel() @ H @ v.ravel())

    for _ in range(300):
        other = constraint.project(z + rng.standard_normal(shape) * 10.0 ** rng.uniform(-6, 0))
        assert model(z) <= model(other) + 1e-8


def test_matrices_that_newton_does_not_take_are_refused():
    with pytest.raises(ValueError, match=r"400 in a matrix.*\(21, 21\)"):
        epro.minimize(metric(PSD(), d=21), "epro-newton")


def test_an_accelerated_block_without_progress_is_not_the_end():
    problem = metric(NuclearNormBall(1.0), decades=0.0)
    assert epro.minimize(problem, "epro-vr", tol=1e-4, engine="python").success
