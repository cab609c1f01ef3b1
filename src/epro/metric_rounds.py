"""Large-margin nearest neighbours: pairs, impostors, and rounds of a convex problem over metrics.

With M a metric, (i, j) the pairs of a point and its nearest points of the same class, and (i, j, l) the triplets in
which a point l of another class is nearer to i than j is, plus a margin (Weinberger and Saul, 2009):

    min over M >= floor of  (1 - c) mean over pairs of |x_i - x_j|_M^2
                            + c / #pairs * sum over triplets of [margin + |x_i - x_j|_M^2 - |x_i - x_l|_M^2]_+  + g(M).

g holds (ridge / 2) ||M - I||^2, which keeps the metric Euclidean where triplets say little, and perhaps an l1 norm.
Points are scaled so that the mean squared distance of the pairs is one; the margin is one as well, so nothing here
depends on units. The hinge is smoothed by `WIDTH` margins and each round takes accelerated projected steps; then
the impostors of the new metric join the triplets, which are kept, so that rounds do not undo each other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from epro._minimize import minimize
from epro.atoms.matrices import dense
from epro.constraints import PSD
from epro.kernels.impostors import nearest_others
from epro.losses import TripletHinge
from epro.losses.smoothed import Smoothed
from epro.problem import Problem
from epro.protocols import Array, Index
from epro.regularizers import Linear, OffDiagonalL1, Ridge
from epro.solvers import APG

STARTS = ("identity", "auto", "pca", "lda", "random")
WIDTH = 0.5
BLOCK = 8_000_000  # distances held at a time


class Metric(NamedTuple):
    """What is asked of M."""

    trade_off: float
    ridge: float
    l1_off: float
    floor: float


def start(kind: str, X: Any, y: Array | None, rank: int, random: Any) -> Array:
    """A metric to start from, of d/rank times the Euclidean size in so many directions: I for all of them."""
    d = X.shape[1]
    if kind == "auto":
        classes = 1 if y is None else len(np.unique(y))
        kind = "lda" if rank < min(d, classes) else "pca" if rank < min(X.shape) else "identity"
    if kind == "identity" or (kind == "pca" and rank >= d):
        return np.eye(d)
    if kind == "lda" and y is None:
        raise ValueError("init='lda' needs labels, and triplets have none")
    if kind == "random":
        L = random.standard_normal((rank, d))
    elif kind == "lda":
        L = LinearDiscriminantAnalysis().fit(dense(X), y).scalings_.T[:rank]  # type: ignore[union-attr]
    else:
        L = PCA(min(rank, *X.shape), svd_solver="full").fit(dense(X)).components_
    M = L.T @ L  # type: ignore[union-attr]
    return M * (d / np.trace(M))


def pairs_within_classes(Z: Array, y: Array, k: int) -> Index:
    """(i, j): each point with its k nearest others of its class, or as many as there are."""
    found = []
    for name in np.unique(y):
        rows = np.flatnonzero(y == name)
        count = min(k, len(rows) - 1)
        if count < 1:
            continue
        D = squared_distances(Z[rows], Z[rows])
        np.fill_diagonal(D, np.inf)
        near = np.argpartition(D, count - 1, axis=1)[:, :count]
        found.append(np.stack([np.repeat(rows, count), rows[near].ravel()], axis=1))
    if not found:
        raise ValueError("y has no two equal labels, so no point has a neighbour of its own class")
    return np.concatenate(found).astype(np.int64)


def impostors(Z: Array, y: Array, pairs: Index, cap: int) -> Index:
    """Triplets (i, j, l): l of another class, nearer to i than j plus one; at most the ``cap`` nearest l of each i."""
    order = np.argsort(pairs[:, 0], kind="stable")
    pairs = pairs[order]
    d = Z[pairs[:, 0]] - Z[pairs[:, 1]]
    reach = np.einsum("ij,ij->i", d, d) + 1.0
    farthest = np.full(len(Z), -np.inf)
    np.maximum.at(farthest, pairs[:, 0], reach)
    starts = np.searchsorted(pairs[:, 0], np.arange(len(Z) + 1))
    # candidates in single precision, about the mean: at the edge of a margin a hinge is zero either way
    near = (Z - Z.mean(axis=0)).astype(np.float32)
    norms, found = np.einsum("ij,ij->i", near, near), []
    columns, farthest = np.column_stack([near, norms]).T, farthest.astype(np.float32) - norms
    size = max(1, BLOCK // len(Z))
    for first in range(0, len(Z), size):
        rows = np.arange(first, min(first + size, len(Z)))
        D = np.column_stack([-2 * near[rows], np.ones(len(rows), np.float32)]) @ columns  # less |z_i|^2
        others, distances, counts = nearest_others(D, farthest[rows], y, first, cap)
        kept = np.arange(cap) < counts[:, None]
        i, l = np.repeat(rows, counts), others[kept]
        distance = distances[kept] + norms[i]
        count = starts[i + 1] - starts[i]
        each = np.repeat(np.arange(len(i)), count)
        pair = starts[i][each] + np.arange(len(each)) - np.repeat(np.cumsum(count) - count, count)
        close = distance[each] < reach[pair]
        found.append(np.stack([i[each], pairs[pair, 1], l[each]], axis=1)[close])
    return np.concatenate(found).astype(np.int64)


def squared_distances(A: Array, B: Array) -> Array:
    """|a - b|^2 for all rows."""
    D = A @ B.T
    D *= -2
    D += np.einsum("ij,ij->i", B, B)
    D += np.einsum("ij,ij->i", A, A)[:, None]
    return np.maximum(D, 0, out=D)


def mean_square(X: Any, pairs: Index) -> float:
    """The mean squared distance of the pairs."""
    d = X[pairs[:, 0]] - X[pairs[:, 1]]
    total = d.multiply(d).sum() if hasattr(d, "multiply") else np.einsum("ij,ij->", d, d)
    return float(total) / len(pairs)


def spread(X: Any, pairs: Index) -> Array:
    """The mean of (x_i - x_j)(x_i - x_j)' over the pairs."""
    d = X[pairs[:, 0]] - X[pairs[:, 1]]
    total = d.T @ d
    return (total.toarray() if hasattr(total, "toarray") else total) / len(pairs)


def merged(old: Index | None, new: Index, n: int) -> Index:
    """Triplets of both, each once."""
    key = np.sort(np.concatenate([(t[:, 0] * n + t[:, 1]) * n + t[:, 2] for t in (old, new) if t is not None]))
    key = key[np.append(True, key[1:] != key[:-1])] if len(key) else key
    return np.stack([key // n // n, key // n % n, key % n], axis=1, dtype=np.int64)


def step_rounds(
    X: Any, triplets: Index, pull: Array, pairs: int, metric: Metric, M: Array, steps: int, smoothness: float | None,
    solver: Any = None, **options: Any,
) -> Any:  # fmt: skip
    """One round: accelerated projected steps (or ``solver``) on the problem of these triplets, from M."""
    share = metric.trade_off * len(triplets) / pairs
    loss: Any = TripletHinge(X, triplets, sample_weight=np.full(len(triplets), share))
    tilt = (1.0 - metric.trade_off) * pull - metric.ridge * np.eye(len(pull))
    g: Any = Ridge(metric.ridge) + Linear(tilt.astype(loss.dtype))
    g = g + OffDiagonalL1(metric.l1_off) if metric.l1_off > 0 else g
    if solver is None:
        solver, loss = APG(smoothness=smoothness), Smoothed(loss, WIDTH)
        options["callbacks"] = (*options.get("callbacks", ()), lambda _, state: state.epoch >= steps)
    problem = Problem(loss, g, PSD(metric.floor))
    return minimize(problem, solver, x0=M, max_steps=(4 * steps + 20) * loss.n, **options)
