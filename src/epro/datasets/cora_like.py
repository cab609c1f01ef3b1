"""Data shaped like the Cora citation set."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from epro.datasets.storage import csr

Array = Any

SIZES = (351, 217, 418, 818, 426, 298, 180)


def make_cora_like(
    seed: int = 0,
    *,
    d: int = 1433,
    sizes: tuple[int, ...] = SIZES,
    words: float = 18.2,
    topic: float = 0.48,
    dtype: Any = np.float64,
) -> tuple[sparse.csr_matrix, Array]:
    """Sparse 0/1 rows in classes, with Cora's shape: 2708 x 1433, about 18 ones in a row, 7 classes of Cora's sizes.

    A row is a set of words: their number is Poisson (at least one), and the words are drawn without replacement, each
    with a weight that mixes a law common to all classes, falling like rank^-0.8, with one of the row's own
    class: the same law over a permutation of the words of its own. Defaults are chosen so that the 3 nearest
    neighbours of a row of unit norm name its class about as often as in Cora (about two thirds of the held-out rows).

    Parameters
    ----------
    seed : int
    d : int
        Number of words.
    sizes : tuple of int
        Rows in each class; they are shuffled.
    words : float
        The mean number of ones in a row.
    topic : float
        The share of the class's own law, between 0 (classes cannot be told apart) and 1.
    dtype : dtype

    Returns
    -------
    X : scipy.sparse.csr_matrix
    y : ndarray of int64
        The class of each row, from 0.

    Examples
    --------
    >>> from epro.datasets import make_cora_like
    >>> X, y = make_cora_like(seed=0)
    >>> X.shape, y.shape, bool((X.data == 1).all())
    ((2708, 1433), (2708,), True)
    """
    if not 0 <= topic <= 1:
        raise ValueError(f"topic must be between 0 and 1, got {topic}")
    if not 1 <= words <= d / 2:
        raise ValueError(f"words must be between 1 and d/2 = {d / 2:g}, got {words}")
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(sizes), dtype=np.int64), sizes))
    law = np.arange(1, d + 1) ** -0.8
    law /= law.sum()
    common = law[rng.permutation(d)]
    weights = np.array([(1 - topic) * common + topic * law[rng.permutation(d)] for _ in sizes])
    lengths = np.clip(rng.poisson(words, len(y)), 1, d)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    indices = np.empty(indptr[-1], np.int32)
    for i, kind in enumerate(y):
        # the smallest of independent exponential times with these rates are a draw without replacement
        times = rng.standard_exponential(d) / weights[kind]
        indices[indptr[i] : indptr[i + 1]] = np.sort(np.argpartition(times, lengths[i] - 1)[: lengths[i]])
    return csr(np.ones(len(indices), dtype), indices, indptr, (len(y), d)), y
