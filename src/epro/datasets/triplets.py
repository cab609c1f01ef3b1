"""Triplets for metric learning: rows (i, j, l) where j shares the label of i, and l does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

Array = Any

BLOCK = 4_000_000  # distances held at a time


def make_triplets(y: Any, n_pairs: int = 5416, impostors: int = 3, seed: int = 0) -> Array:
    """Random triplets, as in section 5.2 of the paper.

    Each pair is a random point whose label is not unique and a random other point of the same label; beside it go
    ``impostors`` different random points of other labels.

    Parameters
    ----------
    y : array-like
        Labels.
    n_pairs : int
        Number of pairs.
    impostors : int
        Points of other labels for each pair.
    seed : int

    Returns
    -------
    ndarray of int64, shape (n_pairs * impostors, 3)
        The triplets of a pair follow each other.

    Examples
    --------
    >>> from epro.datasets import make_triplets
    >>> y = [0, 0, 1, 1, 1]
    >>> triplets = make_triplets(y, n_pairs=4, impostors=2)
    >>> triplets.shape, all(y[i] == y[j] != y[l] for i, j, l in triplets)
    ((8, 3), True)
    """
    labels, order, starts, sizes = _classes(y)
    n = len(order)
    if n_pairs < 1 or impostors < 1:
        raise ValueError(f"n_pairs and impostors must be at least 1, got {n_pairs} and {impostors}")
    if impostors > n - sizes.max():
        raise ValueError(
            f"impostors must be at most {n - sizes.max()}, the points outside the largest class; got {impostors}"
        )
    candidates = np.flatnonzero(sizes[labels] > 1)
    if candidates.size == 0:
        raise ValueError("y has no two equal labels, so there is no pair of the same label")
    rng = np.random.default_rng(seed)
    rank = np.empty(n, np.int64)  # of a point within its class
    rank[order] = np.arange(n) - starts[labels[order]]
    i = candidates[rng.integers(len(candidates), size=n_pairs)]
    start, size = starts[labels[i]], sizes[labels[i]]
    j = order[start + (rank[i] + 1 + rng.integers(size - 1)) % size]
    others = _distinct(rng, n - size, impostors)
    # positions outside the class's block of the sorted order
    others = order[others + np.where(others >= start[:, None], size[:, None], 0)]
    return np.stack([np.repeat(i, impostors), np.repeat(j, impostors), others.ravel()], axis=1).astype(np.int64)


def _distinct(rng: np.random.Generator, below: Array, count: int) -> Array:
    """For each entry of ``below``, ``count`` different random integers below it (Floyd's algorithm)."""
    chosen = np.empty((len(below), count), np.int64)
    for k in range(count):
        top = below - count + k
        draw = rng.integers(top + 1)
        taken = (chosen[:, :k] == draw[:, None]).any(axis=1)
        chosen[:, k] = np.where(taken, top, draw)
    return chosen


def _classes(y: Any) -> tuple[Array, Array, Array, Array]:
    """(labels from 0, points sorted by label, where each class starts there, class sizes)"""
    y = np.asarray(y)
    if y.ndim != 1 or y.size == 0:
        raise ValueError(f"y must be a non-empty vector of labels, got shape {y.shape}")
    names, labels, sizes = np.unique(y, return_inverse=True, return_counts=True)
    if len(names) < 2:
        raise ValueError("y must have at least two different labels, got one")
    return labels, np.argsort(labels, kind="stable"), np.cumsum(sizes) - sizes, sizes


def target_neighbors(X: Any, y: Any, n_neighbors: int = 3) -> Array:
    """The nearest points of the same label, nearest first (ties by index), as an int64 array (n, n_neighbors).

    Examples
    --------
    >>> from epro.datasets import target_neighbors
    >>> target_neighbors([[0.0], [1.0], [3.0], [9.0], [9.5]], [0, 0, 0, 1, 1], n_neighbors=1).ravel()
    array([1, 0, 1, 4, 3])
    """
    X, labels, _, _ = _points(X, y)
    sizes = np.bincount(labels)
    if not 1 <= n_neighbors < sizes.min():
        raise ValueError(
            f"n_neighbors must be at least 1 and below the size of the smallest class, {sizes.min()}; got {n_neighbors}"
        )
    found = np.empty((len(labels), n_neighbors), np.int64)
    for kind in range(len(sizes)):
        members = np.flatnonzero(labels == kind)
        part = X[members]
        for rows, distances in _blocks(part, part):
            distances[np.arange(len(rows)), rows] = np.inf
            found[members[rows]] = members[_nearest(distances, n_neighbors)]
    return found


def neighbor_triplets(
    X: Any,
    y: Any,
    n_neighbors: int = 3,
    n_impostors: int = 10,
    *,
    margin: float = 1.0,
    targets: Any = None,
) -> Array:
    """Triplets of Weinberger and Saul: target neighbours, and the impostors that come too near.

    For each point i and each of its ``n_neighbors`` nearest points j of the same label, the impostors are the points l
    of other labels with ||x_i - x_l||^2 < ||x_i - x_j||^2 + margin; the nearest ``n_impostors`` of them are kept. A
    pair without impostors gives no triplet. Distances are computed for a block of rows at a time.

    Parameters
    ----------
    X : array-like or sparse matrix, shape (n, d)
        For a metric A = L'L, pass X @ L.T.
    y : array-like
        Labels.
    n_neighbors : int
        Target neighbours of each point.
    n_impostors : int
        The most impostors kept for a pair.
    margin : float
        At least zero.
    targets : array of int, shape (n, k), optional
        Target neighbours to keep instead of looking for them, see `target_neighbors`.

    Returns
    -------
    ndarray of int64, shape (N, 3)
        In the order of i, then of j and l from the nearest.

    Examples
    --------
    >>> from epro.datasets import neighbor_triplets
    >>> X, y = [[0.0], [1.0], [1.5], [9.0]], [0, 0, 1, 1]
    >>> neighbor_triplets(X, y, n_neighbors=1).tolist()
    [[1, 0, 2], [2, 3, 1], [2, 3, 0]]
    """
    if not (np.isfinite(margin) and margin >= 0):
        raise ValueError(f"margin must be a finite number, at least zero; got {margin}")
    if n_impostors < 1:
        raise ValueError(f"n_impostors must be at least 1, got {n_impostors}")
    X, labels, norms, _ = _points(X, y)
    targets = target_neighbors(X, y, n_neighbors) if targets is None else np.asarray(targets, dtype=np.int64)
    if targets.ndim != 2 or len(targets) != len(labels) or (labels[targets] != labels[:, None]).any():
        raise ValueError(f"targets must hold, for each of the {len(labels)} points, points of its own label")
    kept = []
    for rows, distances in _blocks(X, X, norms):
        reach = np.take_along_axis(distances, targets[rows], axis=1) + margin
        distances[labels[rows][:, None] == labels] = np.inf
        near = _nearest(distances, min(n_impostors, len(labels)))
        close = np.take_along_axis(distances, near, axis=1)[:, None, :] < reach[:, :, None]
        at, j, l = np.nonzero(close)  # the letters of the docstring
        kept.append(np.stack([rows[at], targets[rows[at], j], near[at, l]], axis=1))
    return np.concatenate(kept).astype(np.int64)


def _points(X: Any, y: Any) -> tuple[Any, Array, Array, Array]:
    """(X as a CSR matrix or an array of floats, labels from 0, squared norms, class sizes)"""
    labels, _, _, sizes = _classes(y)
    X = sparse.csr_matrix(X) if sparse.issparse(X) else np.asarray(X)
    if X.ndim != 2 or X.shape[0] != len(labels):
        raise ValueError(f"X must have one row for each of the {len(labels)} labels, got shape {X.shape}")
    if not np.issubdtype(X.dtype, np.floating):
        X = X.astype(float)
    norms = _norms2(X)
    if not np.isfinite(norms).all():
        raise ValueError(
            f"X has a NaN or infinite entry (or one too large to square) in row {np.argmin(np.isfinite(norms))}"
        )
    return X, labels, norms, sizes


def _norms2(X: Any) -> Array:
    return np.asarray(X.multiply(X).sum(axis=1)).ravel() if sparse.issparse(X) else np.einsum("ij,ij->i", X, X)


def _blocks(X: Any, Y: Any, norms: Any = None) -> Iterator[tuple[Array, Array]]:
    """(row numbers, squared distances from these rows of X to all rows of Y), a block at a time"""
    norms = _norms2(Y) if norms is None else norms
    size = max(1, BLOCK // Y.shape[0])
    for first in range(0, X.shape[0], size):
        rows = np.arange(first, min(first + size, X.shape[0]))
        product = X[rows] @ Y.T
        product = product.toarray() if sparse.issparse(product) else product
        product *= -2
        product += norms
        product += norms[rows][:, None]
        np.maximum(product, 0, out=product)
        yield rows, product


def _nearest(distances: Array, count: int) -> Array:
    """The columns of the ``count`` smallest entries of each row, in increasing order, ties by column."""
    if count < distances.shape[1]:
        # the last of the smallest may be tied: keep the first columns among the ties
        last = np.partition(distances, count - 1, axis=1)[:, count - 1 : count]
        below, tied = distances < last, distances == last
        room = count - below.sum(axis=1, keepdims=True)
        keep = below | (tied & (np.cumsum(tied, axis=1) <= room))
        columns = np.nonzero(keep)[1].reshape(len(distances), count)
    else:
        columns = np.broadcast_to(np.arange(count), (len(distances), count))
    order = np.argsort(np.take_along_axis(distances, columns, axis=1), axis=1, kind="stable")
    return np.take_along_axis(columns, order, axis=1)
