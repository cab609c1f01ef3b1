"""The problem of Eq. (lmnn-sparse): data in two scalings, triplets, and L in its three forms."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from epro import datasets
from epro.constraints import PSD
from epro.losses import TripletHinge
from epro.problem import Problem
from epro.protocols import Array, Index
from epro.regularizers import Linear, OffDiagonalL1, Ridge

FLOOR = 1e-3  # epsilon, which the paper does not state
Pull = Literal["pairs", "weighted", "covariance"]


@dataclass(frozen=True)
class Data:
    """Points for learning and held-out points, one a row of a CSR matrix, with their labels."""

    X: Any
    y: Array
    X_test: Any
    y_test: Array


def load(scale: str, data: Any, unit_norm: bool, seed: int = 0) -> Data:
    """Cora where the data directory has it and scale is "full"; else data shaped like it. A fifth is held out."""
    if scale == "small":
        X, y = datasets.make_cora_like(seed, d=150, sizes=(60, 40, 70, 90, 60, 50, 40), words=12, topic=0.8)
    elif _cora(data).exists():
        X, y = datasets.fetch_cora(data)
    else:
        X, y = datasets.make_cora_like(seed)
    X: Any = sp.csr_array(X)
    if unit_norm:
        norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        X = sp.csr_array(sp.diags_array(1.0 / np.where(norms > 0, norms, 1.0)) @ X)
    order = np.random.default_rng(seed).permutation(X.shape[0])
    held_out, kept = np.sort(order[: X.shape[0] // 5]), np.sort(order[X.shape[0] // 5 :])
    return Data(X[kept], y[kept], X[held_out], y[held_out])


def source(scale: str, data: Any) -> str:
    """A sentence on the data that `load` takes."""
    if scale == "small":
        return "Data: generated, 410 points in 150 columns, of the kind of Cora."
    if _cora(data).exists():
        return f"Data: Cora, 2,708 points in 1,433 columns ({_cora(data)})."
    return f"Data: generated in the shape of Cora, since there is no {_cora(data)}."


def _cora(data: Any) -> Path:
    return datasets.data_dir(data) / "cora.npz"


def make_problem(data: Data, triplets: Index, *, trade_off: float, ridge: float, l1_off: float, pull: Pull) -> Problem:
    """(c/N) sum_j hinge_j + (1 - c) tr(A L) + (mu_1/2) ||A||_F^2 + mu_2 ||A||_1^off subject to A >= FLOOR I."""
    loss = TripletHinge(data.X, triplets, sample_weight=np.full(len(triplets), trade_off))
    L = pull_matrix(data.X, data.y, triplets, pull)
    g = Ridge(ridge) + OffDiagonalL1(l1_off) + Linear((1.0 - trade_off) * L.toarray())
    return Problem(loss, g, PSD(FLOOR))


def pull_matrix(X: Any, y: Array, triplets: Index, kind: Pull) -> sp.csr_array:
    """L of tr(A L), as X' W X with a sparse matrix W of the points: sums of outer products are never formed.

    - "pairs": the mean of (x_1 - x_2)(x_1 - x_2)' over the pairs of the triplets, as Weinberger and Saul;
    - "weighted": sum_ij w_ij (x_i - x_j)(x_i - x_j)' / (n (n - 1)) with w_ij = 1 for two points of one label. W is
      the Laplacian of complete graphs, size I - 1 1', which is one diagonal and one outer product per class;
    - "covariance": the intra-class covariance, (1/n) sum_i (x_i - m_i)(x_i - m_i)', m_i the mean of the class of i.
      With the same W, each class divided by its size and by n.

    The result is sparse where X is.
    """
    n = X.shape[0]
    if kind == "pairs":
        pairs = np.unique(triplets[:, :2], axis=0, return_counts=True)
        (first, second), counts = pairs[0].T, pairs[1] / len(triplets)
        D = sp.csr_array(X)[first] - sp.csr_array(X)[second]
        return sp.csr_array(D.T @ (sp.diags_array(counts) @ D))
    labels, members = np.unique(y, return_inverse=True)
    indicator = sp.csr_array((np.ones(n), (members, np.arange(n))), (labels.size, n))
    sizes = np.bincount(members)
    if kind == "weighted":
        each, between = 2.0 * sizes[members] / (n * (n - 1)), np.full(labels.size, 2.0 / (n * (n - 1)))
    elif kind == "covariance":
        each, between = np.full(n, 1.0 / n), 1.0 / (n * sizes)
    else:
        raise ValueError(f"pull must be 'pairs', 'weighted' or 'covariance', got {kind!r}")
    sums = indicator @ X
    return sp.csr_array(X.T @ (sp.diags_array(each) @ X) - sums.T @ (sp.diags_array(between) @ sums))


def accuracy(data: Data, A: Array, k: int = 3) -> float:
    """Share of held-out points whose k nearest neighbours, under ||x - z||_A^2, name their label."""
    mapped = np.asarray(data.X @ A)
    train2 = np.asarray(data.X.multiply(mapped).sum(axis=1)).ravel()
    distances = train2 - 2.0 * np.asarray(data.X_test @ mapped.T)  # up to ||z||_A^2, the same for a row
    near = np.argsort(distances, axis=1, kind="stable")[:, :k]
    labels, members = np.unique(data.y, return_inverse=True)
    votes = np.zeros((near.shape[0], labels.size))
    for column in range(k):  # the nearer one wins a tie
        votes[np.arange(near.shape[0]), members[near[:, column]]] += 1.0 - 0.01 * column
    return float(np.mean(labels[votes.argmax(axis=1)] == data.y_test))
