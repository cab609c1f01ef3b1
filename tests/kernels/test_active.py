"""An epoch on its active columns is the epoch on all columns, bit for bit."""

import numpy as np
import pytest
import scipy.sparse as sp

import epro
from epro import constraints, losses
from epro.constraints import L1Ball
from epro.kernels.active import SparseVector, active_columns, compact, row_entries, spread
from epro.kernels.sgd import Parts, sgd_steps
from epro.moves import Explicit, Proximal
from epro.oracles import Oracles
from epro.penalties import Hinge, ProxLinear
from epro.regularizers import L1, Ridge

N, D = 60, 500


def parts(X, y, weights, columns, ball):
    """The records of one problem."""
    loss = losses.Logistic(X, y, sample_weight=weights)
    problem = epro.Problem(loss, Ridge(0.05) + L1(1e-3), ball.bind((columns,)))
    return Oracles(problem, np.random.default_rng(0)).parts


def run(p: Parts, penalty, move, x, draws, etas):
    total = np.zeros_like(x)
    domain = constraints.L2Ball(3.0).record(x.shape, x.dtype)
    sgd_steps(p, penalty, domain, move, x, total, np.zeros_like(x), draws, etas)
    return x, total


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("penalty", [Hinge(0.3), ProxLinear(5.0)])
@pytest.mark.parametrize("move", [Explicit(), Proximal()])
def test_the_same_bits(dtype, penalty, move):
    rng = np.random.default_rng(2)
    X = sp.random_array((N, D), density=0.01, random_state=rng, format="csr", dtype=dtype)
    y, weights = np.where(rng.random(N) < 0.5, -1.0, 1.0), rng.uniform(0.5, 2.0, N)
    draws, etas = rng.integers(N // 3, size=(80, 2)), np.full(80, 0.7)
    start = np.where(rng.random(D) < 0.02, rng.standard_normal(D), 0.0).astype(dtype)
    ball = L1Ball(0.4)

    x, total = run(parts(X, y, weights, D, ball), penalty, move, start.copy(), draws, etas)

    small = compact(X.indptr, X.indices, X.data, draws, SparseVector.of(start))
    rows = sp.csr_array((small.data, small.indices, small.indptr), shape=(small.rows.size, small.columns.size))
    few = parts(rows, y[small.rows], weights[small.rows], small.columns.size, ball)
    few = few._replace(weights=parts(X, y, weights, D, ball).weights[small.rows])  # weights are scaled by all rows
    few_x, few_total = run(few, penalty, move, small.x.copy(), small.draws, etas)

    assert small.columns.size < D // 2
    assert np.array_equal(spread(small, few_x, D).dense(), x)
    assert np.array_equal(spread(small, few_total, D).dense(), total)
    assert not np.array_equal(x, start)


def test_names_of_columns_and_rows():
    X = sp.csr_array(np.array([[0, 1.0, 0, 2], [3, 0, 0, 0], [0, 0, 0, 4.0]]))
    start = SparseVector(np.array([3, 2]), np.array([0.5, -1.0]), 4)
    small = compact(X.indptr, X.indices, X.data, np.array([[2], [0], [2]]), start)
    assert small.columns.tolist() == [1, 2, 3] == active_columns(X.indptr, X.indices, np.array([2, 0]), [2]).tolist()
    assert small.rows.tolist() == [0, 2]
    assert small.draws.tolist() == [[1], [0], [1]]
    assert small.x.tolist() == [0, -1.0, 0.5]
    assert (small.indptr.tolist(), small.indices.tolist(), small.data.tolist()) == ([0, 2, 3], [0, 2, 2], [1, 2, 4])
    assert spread(small, small.x, 4).dense().tolist() == start.dense().tolist() == [0, 0, -1.0, 0.5]


def test_no_draws_and_no_support():
    X = sp.csr_array(np.eye(3))
    small = compact(X.indptr, X.indices, X.data, np.empty((0, 1), np.int64), SparseVector.zero(3))
    assert small.columns.size == small.rows.size == small.x.size == 0


def test_interpreted():
    X = sp.csr_array(np.array([[0, 1.0], [2.0, 3.0]]))
    for entries in (X.indices, X.data):
        rows = np.array([1, 0, 1])
        plain = row_entries.py_func(X.indptr, entries, rows)
        assert np.array_equal(row_entries(X.indptr, entries, rows), plain)
