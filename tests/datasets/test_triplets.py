"""Triplets: the paper's random ones, and those of neighbours against a plain double loop."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from epro.datasets import make_cora_like, make_triplets, neighbor_triplets, target_neighbors, triplets


def test_the_papers_triplets():
    _, y = make_cora_like(seed=0)
    found = make_triplets(y)
    assert found.shape == (16_248, 3) and found.dtype == np.int64
    i, j, l = found.T
    assert (y[i] == y[j]).all() and (i != j).all() and (y[i] != y[l]).all()
    groups = found.reshape(5416, 3, 3)
    assert (groups[:, :, :2] == groups[:, :1, :2]).all()
    assert all(len(set(group)) == 3 for group in groups[:, :, 2])
    assert np.array_equal(found, make_triplets(y, seed=0)) and not np.array_equal(found, make_triplets(y, seed=1))


def test_random_triplets_are_uniform():
    y = np.array([0, 1, 0, 1, 2, 0])  # the label 2 has no pair
    found = make_triplets(y, n_pairs=20_000, impostors=2, seed=0)
    assert set(found[:, 0]) == {0, 1, 2, 3, 5}
    pairs, counts = np.unique(found[found[:, 0] == 0][:, 1], return_counts=True)
    assert pairs.tolist() == [2, 5] and abs(counts[0] / counts.sum() - 0.5) < 0.03
    others, counts = np.unique(found[found[:, 0] == 1][:, 2], return_counts=True)
    assert others.tolist() == [0, 2, 4, 5]
    np.testing.assert_allclose(counts / counts.sum(), 0.25, atol=0.02)


@given(st.lists(st.integers(0, 3), min_size=4, max_size=30), st.integers(1, 5), st.integers(0, 100))
def test_random_triplets_hold_for_any_labels(y, impostors, seed):
    y = np.array(y)
    sizes = np.unique(y, return_counts=True)[1]
    if len(sizes) < 2 or sizes.max() < 2 or impostors > len(y) - sizes.max():
        with pytest.raises(ValueError):
            make_triplets(y, 5, impostors, seed)
        return
    i, j, l = make_triplets(y, 5, impostors, seed).T
    assert (y[i] == y[j]).all() and (i != j).all() and (y[i] != y[l]).all()
    assert all(len(set(group)) == impostors for group in l.reshape(5, impostors))


def by_hand(X, y, k, cap, margin):
    """The definition, point by point."""
    distances = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
    found = []
    for i in range(len(y)):
        order = np.argsort(distances[i], kind="stable")
        targets = [j for j in order if y[j] == y[i] and j != i][:k]
        others = [l for l in order if y[l] != y[i]]
        for j in targets:
            found += [(i, j, l) for l in others[:cap] if distances[i, l] < distances[i, j] + margin]
    return np.array(found).reshape(-1, 3)


@pytest.mark.parametrize("block", [1, 100, 10**6])
@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize(("k", "cap", "margin"), [(1, 1, 0.0), (3, 4, 1.0), (2, 1000, 5.0)])
def test_neighbour_triplets_by_definition(monkeypatch, block, as_sparse, k, cap, margin):
    monkeypatch.setattr(triplets, "BLOCK", block)
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, size=(60, 3)).astype(float), rng.integers(0, 3, 60)  # with many ties
    found = neighbor_triplets(sparse.csr_matrix(X) if as_sparse else X, y, k, cap, margin=margin)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, by_hand(X, y, k, cap, margin))


def test_given_targets_are_kept():
    X, y = np.array([[0.0], [1.0], [5.0], [5.1], [0.5]]), np.array([0, 0, 0, 1, 1])
    targets = np.array([[2], [2], [0], [4], [3]])
    found = neighbor_triplets(X, y, targets=targets)
    assert (found[:, 1] == targets[found[:, 0], 0]).all() and len(found)
    with pytest.raises(ValueError, match="points of its own label"):
        neighbor_triplets(X, y, targets=targets[::-1])


def test_no_impostors_gives_no_triplets():
    X, y = np.array([[0.0], [0.1], [50.0], [50.1]]), [0, 0, 1, 1]
    assert neighbor_triplets(X, y, n_neighbors=1).shape == (0, 3)


def test_wrong_arguments():
    with pytest.raises(ValueError, match="at least two different labels"):
        make_triplets([1, 1, 1])
    with pytest.raises(ValueError, match="no two equal labels"):
        make_triplets([1, 2, 3], impostors=1)
    with pytest.raises(ValueError, match="impostors must be at most 1"):
        make_triplets([1, 1, 2], impostors=2)
    with pytest.raises(ValueError, match="below the size of the smallest class, 2; got 2"):
        target_neighbors(np.zeros((5, 1)), [0, 0, 0, 1, 1], 2)
    with pytest.raises(ValueError, match="X must have one row for each of the 4 labels"):
        neighbor_triplets(np.zeros((5, 1)), [0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"NaN or infinite entry .* in row 1"):
        neighbor_triplets(np.array([[0], [np.nan], [1], [1]]), [0, 0, 1, 1], 1)
    with pytest.raises(ValueError, match="margin must be"):
        neighbor_triplets(np.zeros((4, 1)), [0, 0, 1, 1], margin=-1)
