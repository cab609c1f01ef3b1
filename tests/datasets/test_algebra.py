"""The algebra-shaped generator: its law, its determinism, and its files."""

import numpy as np
import pytest

from epro.datasets import algebra, algebra_truth, load_csr, make_algebra


def same(a, b):
    return all(np.array_equal(getattr(a, part), getattr(b, part)) for part in ("data", "indices", "indptr"))


@pytest.fixture(scope="module")
def sample():
    return make_algebra(n=20_000, d=50_000, nnz_per_row=12, dtype=np.float64)


def test_shape_types_and_canonical_rows(sample):
    X, y = sample
    assert X.shape == (20_000, 50_000) and y.shape == (20_000,) and set(np.unique(y)) == {-1.0, 1.0}
    assert (X.indptr.dtype, X.indices.dtype, X.data.dtype) == (np.int64, np.int32, np.float64)
    within = np.ones(X.nnz - 1, bool)
    within[X.indptr[1:-1] - 1] = False
    assert (np.diff(X.indices)[within] > 0).all()
    assert X.indices.min() >= 0 and X.indices.max() < 50_000
    np.testing.assert_allclose(np.add.reduceat(X.data**2, X.indptr[:-1]), 1, rtol=1e-12)


def test_row_lengths_vary_around_their_mean(sample):
    lengths = np.diff(sample[0].indptr)
    assert lengths.min() == 6 and lengths.max() == 18
    assert abs(lengths.mean() - 12) < 0.15


def test_column_frequencies_fall_like_one_over_the_rank(sample):
    X, _ = sample
    counts = np.sort(np.bincount(X.indices, minlength=50_000))[::-1]
    assert counts[0] > 0.7 * 20_000 and counts[1] > 0.4 * 20_000
    for rank in (30, 300, 3000):
        expected = 20_000 * 12 / (rank * np.log(50_000))
        assert 0.75 < counts[rank] / expected < 1.3
    assert np.median(counts) <= 5


def test_frequent_columns_are_not_neighbours(sample):
    frequent = np.sort(np.argsort(-np.bincount(sample[0].indices, minlength=50_000))[:20])
    assert np.diff(frequent).min() > 100


@pytest.mark.parametrize("chunk", [1, 13, 200])
def test_same_matrix_for_any_chunks(chunk):
    X, y = make_algebra(n=200, d=900, nnz_per_row=9, seed=3)
    Z, z = make_algebra(n=200, d=900, nnz_per_row=9, seed=3, chunk_rows=chunk)
    assert same(X, Z) and np.array_equal(y, z)


def test_seeds_differ_and_a_longer_matrix_begins_with_the_shorter():
    X, y = make_algebra(n=100, d=900, nnz_per_row=9, seed=3)
    Z, z = make_algebra(n=150, d=900, nnz_per_row=9, seed=3)
    assert same(X, Z[:100]) and np.array_equal(y, z[:100])
    assert not np.array_equal(make_algebra(n=100, d=900, nnz_per_row=9, seed=4)[0].indptr, X.indptr)


def test_on_disk_as_in_memory(tmp_path):
    X, y = make_algebra(n=300, d=1000, nnz_per_row=7, seed=1, chunk_rows=50)
    Z, z = make_algebra(n=300, d=1000, nnz_per_row=7, seed=1, path=tmp_path / "a", chunk_rows=70)
    assert same(X, Z) and np.array_equal(y, z)
    assert all(isinstance(part, np.memmap) and not part.flags.writeable for part in (Z.data, Z.indices, Z.indptr, z))
    assert same(load_csr(tmp_path / "a")[0], X)
    with pytest.raises(FileExistsError, match="already holds a matrix"):
        make_algebra(n=300, d=1000, path=tmp_path / "a")


def test_an_interrupted_matrix_leaves_nothing(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(algebra.Bar, "to", interrupt)
    with pytest.raises(KeyboardInterrupt):
        make_algebra(n=300, d=1000, nnz_per_row=7, path=tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_labels_come_from_the_sparse_truth(sample):
    X, y = sample
    columns, weights = algebra_truth(d=50_000)
    truth = np.zeros(50_000)
    truth[columns] = weights
    assert 100 < len(columns) < 1000
    margin = X @ truth
    assert (np.sign(margin) == y)[abs(margin) > 0.8].mean() > 0.99
    assert 0.7 < (np.sign(margin) == y).mean() < 0.99
    quiet, signs = make_algebra(n=500, d=50_000, nnz_per_row=12, noise=0.0, dtype=np.float64)
    # rounding may turn over a margin of zero, and only that
    differ = np.sign(quiet @ truth) != signs
    assert (abs(quiet @ truth)[differ] < 1e-12).all()


def test_other_labels():
    assert set(np.unique(make_algebra(n=200, d=900, nnz_per_row=9, labels=(0, 1))[1])) == {0.0, 1.0}


@pytest.mark.parametrize("d", [4, 5, 6])
def test_rows_as_long_as_the_matrix_is_wide(d):
    X, _ = make_algebra(n=50, d=d, nnz_per_row=3)
    assert np.diff(X.indptr).max() == 4 and X.has_canonical_format
    assert len(np.unique(np.repeat(np.arange(50), np.diff(X.indptr)) * d + X.indices)) == X.nnz


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n": 0}, "n must be at least 1, got 0"),
        ({"d": 2**31}, "d must be between"),
        ({"d": 10, "nnz_per_row": 8}, "3/2 of it at most d = 10, got 8"),
        ({"seed": -1}, "seed must be an integer"),
        ({"dtype": int}, "dtype must be float32 or float64"),
        ({"chunk_rows": -5}, "chunk_rows must be at least 1, got -5"),
        ({"noise": float("nan")}, "noise must be a finite number, at least zero; got nan"),
    ],
)
def test_wrong_arguments(wrong, message):
    with pytest.raises(ValueError, match=message):
        make_algebra(**{"n": 10, "d": 100, "nnz_per_row": 4, **wrong})
