"""Every kind of rows agrees with the naive array of all A_i."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from tests.catalog import ATOMS, some_triplets, sparse

from epro import atoms, losses

every_atom = pytest.mark.parametrize("name", ATOMS)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])
seeds = st.integers(0, 10**6)


def data(seed, dtype, n=7, d=4):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < 0.4, 0.0, rng.standard_normal((n, d))).astype(dtype)
    X[n // 2] = 0.0  # an empty row
    return X, rng


def close(found, expected, dtype):
    tol = 1e-11 if dtype == np.float64 else 2e-4
    return np.allclose(found, expected, rtol=tol, atol=tol)


@every_atom
@dtypes
@given(seed=seeds)
def test_verbs_agree_with_the_naive_array(name, dtype, seed):
    X, rng = data(seed, dtype)
    rows, A = ATOMS[name].build(X), ATOMS[name].naive(X.astype(float))
    assert (rows.n, rows.shape, rows.dtype) == (len(A), A.shape[1:], dtype)
    x = rng.standard_normal(rows.shape).astype(dtype)
    i, s = int(rng.integers(rows.n)), float(rng.standard_normal())
    assert close(rows.dot(i, x), np.vdot(A[i], x), dtype)
    assert close(rows.norm2(i), np.vdot(A[i], A[i]), dtype)
    moved = x.copy()
    rows.axpy(i, s, moved)
    assert close(moved, x + s * A[i], dtype)
    assert moved.dtype == dtype
    for batch in (1, 3):
        which, weights = rng.integers(rows.n, size=batch), rng.standard_normal(batch).astype(dtype)
        p, moved = np.empty(batch, dtype), x.copy()
        rows.dots(which, x, p)
        rows.axpys(which, weights, moved)
        assert close(p, np.tensordot(A[which], x, x.ndim), dtype)
        assert close(moved, x + np.tensordot(weights, A[which], 1), dtype)


@every_atom
@dtypes
@given(seed=seeds)
def test_whole_matrix_agrees_with_the_naive_array(name, dtype, seed):
    X, rng = data(seed, dtype)
    rows, A = ATOMS[name].build(X), ATOMS[name].naive(X.astype(float))
    x, s = rng.standard_normal(rows.shape).astype(dtype), rng.standard_normal(rows.n).astype(dtype)
    if x.ndim == 2:
        x = x + x.T  # metrics are symmetric
    assert close(rows.predictions(x), np.tensordot(A, x, x.ndim), dtype)
    assert close(rows.adjoint(s), np.tensordot(s, A, 1), dtype)
    assert rows.predictions(x).dtype == rows.adjoint(s).dtype == dtype
    which = rng.integers(rows.n, size=3)
    assert close(rows.take(which).predictions(x), np.tensordot(A[which], x, x.ndim), dtype)


def test_a_read_only_memory_map_is_used_in_place(tmp_path):
    X, _ = data(0, np.float64)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    rows = atoms.rows(mapped)
    assert np.shares_memory(rows.X, mapped)
    loss = losses.Squared(mapped, np.zeros(len(X)))
    assert loss.value(np.ones(4)) == pytest.approx(0.5 * np.mean(X.sum(axis=1) ** 2))


def test_read_only_maps_of_sparse_rows_are_used_in_place(tmp_path):
    X, _ = data(0, np.float64)
    full = sparse(X, np.int64)
    for part in ("data", "indices", "indptr"):
        np.save(tmp_path / f"{part}.npy", getattr(full, part))
    mapped = {part: np.load(tmp_path / f"{part}.npy", mmap_mode="r") for part in ("data", "indices", "indptr")}
    matrix = sp.csr_array(full.shape, dtype=float)
    matrix.data, matrix.indices, matrix.indptr = mapped["data"], mapped["indices"], mapped["indptr"]
    rows = atoms.rows(matrix)
    assert np.shares_memory(rows.data, mapped["data"])
    assert rows.indices.dtype == np.int64
    loss = losses.Squared(matrix, np.zeros(len(X)))
    assert loss.subgradient(np.ones(4)) == pytest.approx(X.T @ X.sum(axis=1) / len(X))


def test_the_callers_matrix_is_not_modified():
    X = sp.csr_array(np.array([[0.0, 2.0], [1.0, 0.0]]))
    before = X.toarray()
    rows = atoms.rows(X)
    rows.predictions(np.ones(2)), rows.adjoint(np.ones(2)), rows.take(np.array([1, 1]))
    assert np.array_equal(X.toarray(), before)


@pytest.mark.parametrize("given_dtype", [np.int32, np.int8, bool, np.float16])
def test_other_numbers_become_float64(given_dtype):
    X = np.eye(3).astype(given_dtype)
    assert atoms.rows(X).dtype == np.float64
    if given_dtype != np.float16:
        assert atoms.rows(sp.csr_array(X)).dtype == np.float64


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        (lambda: atoms.rows(np.zeros((0, 3))), ValueError, r"at least one row and one column, got shape \(0, 3\)"),
        (lambda: atoms.rows(np.zeros(3)), ValueError, r"X must be a matrix .* got shape \(3,\)"),
        (lambda: atoms.rows(sp.csr_array((3, 0))), ValueError, "at least one row and one column"),
        (lambda: atoms.rows(np.array([["a"]], object)), TypeError, "X must be a real matrix, got dtype object"),
        (lambda: atoms.rows([["a", "b"]]), TypeError, "X must be a real matrix"),
        (lambda: atoms.rows(np.eye(2) * 1j), TypeError, "X must be a real matrix, got dtype complex128"),
        (lambda: atoms.rows(sp.csr_array(np.eye(2) * 1j)), TypeError, "X must be a real matrix, got dtype complex128"),
        (
            lambda: atoms.rows(np.array([[1.0, np.nan]])),
            ValueError,
            r"X has a NaN or infinite entry, first at \[0, 1\]",
        ),
        (lambda: atoms.rows(sp.csr_array(np.array([[1.0, -np.inf]]))), ValueError, "X has a NaN or infinite entry"),
        (lambda: atoms.triplets(np.eye(3), np.zeros((2, 2), int)), ValueError, r"shape \(N, 3\)"),
        (lambda: atoms.triplets(np.eye(3), np.zeros((2, 3))), TypeError, "triplets must be integers"),
        (lambda: atoms.triplets(np.eye(3), [[0, 1, 3]]), ValueError, "rows 0 to 2 of X, got 0 to 3"),
        (lambda: atoms.triplets(np.eye(3), [[-1, 1, 2]]), ValueError, "rows 0 to 2 of X, got -1 to 2"),
    ],
)
def test_refusals(make, kind, words):
    with pytest.raises(kind, match=words):
        make()


def test_triplets_of_sparse_rows_keep_them_sparse():
    X = sparse(np.eye(5))
    assert isinstance(atoms.triplets(X, some_triplets(5)), atoms.CSRTriplets)
