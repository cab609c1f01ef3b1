"""Metric learning: better neighbours, an exact cone, metric-learn's names."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import epro
from epro import metric_rounds as rounds


@pytest.fixture(scope="module")
def hidden():
    """Two classes told apart by two of twelve columns, the others louder."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 12)) * np.r_[1.0, 1.0, np.full(10, 3.0)]
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


def accuracy(model, X, y):
    half = len(y) // 2
    steps = [model] if model is not None else []
    return make_pipeline(*steps, KNeighborsClassifier(3)).fit(X[:half], y[:half]).score(X[half:], y[half:])


def test_neighbours_get_better(hidden):
    X, y = hidden
    assert accuracy(epro.LMNN(), X, y) > accuracy(None, X, y) + 0.1


def test_units_do_not_matter(hidden):
    X, y = hidden
    one, other = epro.LMNN().fit(X, y), epro.LMNN().fit(1000.0 * X, y)
    np.testing.assert_allclose(other.get_mahalanobis_matrix() * 1e6, one.get_mahalanobis_matrix(), rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_digits():
    X, y = load_digits(return_X_y=True)
    a, b, ya, yb = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    model = epro.LMNN().fit(a, ya)
    assert KNeighborsClassifier(3).fit(model.transform(a), ya).score(model.transform(b), yb) >= 0.985


def test_distances_and_metric_agree(hidden):
    X, y = hidden
    model = epro.LMNN(max_iter=10).fit(X, y)
    M, pairs = model.get_mahalanobis_matrix(), np.stack([X[:5], X[5:10]], axis=1)
    d = pairs[:, 0] - pairs[:, 1]
    expected = np.sqrt(np.einsum("ij,jk,ik->i", d, M, d))
    np.testing.assert_allclose(model.pair_distance(pairs), expected)
    np.testing.assert_allclose(model.score_pairs(pairs), -model.pair_score(pairs))
    np.testing.assert_allclose([model.get_metric()(u, v) for u, v in pairs], expected)
    np.testing.assert_allclose(np.linalg.norm(model.transform(X[:5]) - model.transform(X[5:10]), axis=1), expected)
    assert np.linalg.eigvalsh(M).min() > -1e-10
    assert pickle.loads(pickle.dumps(model)).transform(X).shape == model.transform(X).shape


def test_sparse_rows_give_the_same_metric(hidden):
    X, y = hidden
    X = np.where(np.abs(X) > 1.0, X, 0.0)
    dense, sparse = (epro.LMNN(max_iter=10, l1_off=1e-3).fit(convert(X), y) for convert in (np.asarray, sp.csr_array))
    np.testing.assert_allclose(sparse.get_mahalanobis_matrix(), dense.get_mahalanobis_matrix(), atol=1e-8)


def test_a_floor_and_a_sparse_metric(hidden):
    X, y = hidden
    M = epro.LMNN(floor=0.1).fit(X, y).get_mahalanobis_matrix()
    scale = rounds.mean_square(X, rounds.pairs_within_classes(X, y, 3))
    assert np.linalg.eigvalsh(M).min() * scale >= 0.1 - 1e-8
    sparse = epro.LMNN(l1_off=0.05).fit(X, y)
    off = sparse.result_.x[~np.eye(12, dtype=bool)]
    assert np.mean(np.abs(off) < 1e-6) > 0.2


def test_triplets_and_few_components(hidden):
    X, y = hidden
    triplets = epro.datasets.neighbor_triplets(X, y, 3)
    model = epro.LMNN(n_components=2, max_iter=20).fit_triplets(X, triplets)
    assert model.components_.shape[0] <= 2 and model.components_.shape[1] == 12
    near, far = (np.stack([X[triplets[:, 0]], X[triplets[:, c]]], axis=1) for c in (1, 2))
    before = np.mean(np.linalg.norm(near[:, 0] - near[:, 1], axis=1) < np.linalg.norm(far[:, 0] - far[:, 1], axis=1))
    assert np.mean(model.pair_distance(near) < model.pair_distance(far)) > before


def test_starts_are_those_of_metric_learn(hidden):
    X, y = hidden
    for init in ("auto", "pca", "lda", "identity", "random", np.eye(12), np.eye(2, 12)):
        model = epro.LMNN(init=init, n_components=2).fit(X, y)
        assert model.components_.shape == (2, 12) and accuracy(model, X, y) > accuracy(None, X, y)
    with pytest.raises(ValueError, match="labels"):
        epro.LMNN(init="lda").fit_triplets(X, [[0, 1, 2]])


def test_no_triplets(hidden):
    with pytest.raises(ValueError, match="triplets"):
        epro.LMNN().fit_triplets(hidden[0], np.zeros((0, 3), int))


def test_impostors_are_all_and_only_the_near_ones(hidden):
    X, y = hidden
    X = X / 4.0
    pairs = rounds.pairs_within_classes(X, y, 2)
    D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    found = {tuple(t) for t in rounds.impostors(X, y, pairs, 10**6).tolist()}
    other = [(i, j, l) for i, j in pairs.tolist() for l in range(len(y)) if y[l] != y[i]]
    assert found == {(i, j, l) for i, j, l in other if D[i, l] < D[i, j] + 1.0}


def test_bad_parameters_are_named(hidden):
    X, y = hidden
    for name, value in {"n_neighbors": 0, "trade_off": 2.0, "init": "nca", "ridge": -1.0}.items():
        with pytest.raises(ValueError, match=name):
            epro.LMNN(**{name: value}).fit(X, y)
