"""Data shaped like the KDD Cup 2010 algebra set."""

from __future__ import annotations

from math import gcd
from typing import Any

import numpy as np
from scipy import sparse

from epro.datasets import sampling, storage
from epro.datasets.progress import Bar

Array = Any

ROWS, COLUMNS = 8_407_752, 20_216_830
ENTRIES = 4_000_000  # in a chunk


def make_algebra(
    n: int = ROWS,
    d: int = COLUMNS,
    nnz_per_row: int = 36,
    seed: int = 0,
    path: Any = None,
    dtype: Any = np.float32,
    *,
    noise: float = 0.2,
    labels: tuple[float, float] = (-1.0, 1.0),
    progress: bool | None = None,
    chunk_rows: int | None = None,
) -> tuple[sparse.csr_matrix, Array]:
    r"""A sparse two-class set shaped like KDD Cup 2010 algebra (its size by default, 302 million nonzeros, 2.5 GB).

    The published rows are records of categorical fields of every size, from a few values to millions, one value each.
    So each row here has one column from each of m equal parts of a log-uniform law of column ranks:
    rank_j = floor((d + 1)^((j + u_j)/m)), u_j uniform, raised by as little as makes the ranks of a row differ. Column
    frequencies hence fall like 1/rank: the column of rank r occurs in about nnz_per_row / (r ln d) of the rows, the
    first few in most of them, and at the default size the middle one (rank d/2) about twice.
    Ranks are scattered over the columns by a fixed bijection, so frequent columns are not neighbours in memory.

    Row lengths m are uniform on nnz_per_row/2 .. 3 nnz_per_row/2. The entries are positive: ones, and numbers in
    (0, 1] in the 8 most frequent columns, scaled to rows of unit norm. The label is the sign of
    <row, truth> + noise * N(0, 1); the truth gives a standard normal weight to a rank with probability min(1, 32/rank),
    and none to the three most frequent columns (about 450 weights at the default size; see `algebra_truth`).

    Parameters
    ----------
    n, d : int
        Rows and columns.
    nnz_per_row : int
        The mean number of nonzeros in a row.
    seed : int
        Every entry is a hash of (seed, row, position): the same seed gives the same matrix, whatever the chunks are,
        and the first rows of a longer matrix are the shorter one.
    path : path, optional
        A directory for memory-mapped arrays, opened with `load_csr`; in memory by default.
    dtype : {float32, float64}
        Of the values and the labels.
    noise : float
        Standard deviation of the noise of the margin (whose own is about 0.4).
    labels : (float, float)
        The labels of negative and positive margins. Both the Lasso (as a regression on -1 and 1) and the classifying
        losses take the default.
    progress : bool, optional
        True or False shows or hides the progress bar (never before two seconds); by default it is shown on a terminal.
    chunk_rows : int, optional
        Rows made at a time; changes nothing but the steps of the progress bar.

    Returns
    -------
    X : scipy.sparse.csr_matrix
        int64 row pointers, int32 column indices, sorted and unique in each row.
    y : ndarray

    Examples
    --------
    >>> import numpy as np
    >>> from epro.datasets import make_algebra
    >>> X, y = make_algebra(n=1000, d=5000, nnz_per_row=10)
    >>> X.shape, X.dtype, X.indptr.dtype, bool(np.allclose(X.power(2).sum(axis=1), 1))
    ((1000, 5000), dtype('float32'), dtype('int64'), True)
    """
    n, d, low, high = _check(n, d, nnz_per_row)
    rows = _check_draws(noise, max(1, ENTRIES // int(nnz_per_row)) if chunk_rows is None else int(chunk_rows))
    dtype, key = storage.floating(dtype), _seed(seed)
    directory = None if path is None else storage.prepare(path)

    def array(name: str, size: int, kind: Any) -> Array:
        return np.empty(size, kind) if directory is None else storage.allocate(directory, name, size, kind)

    try:
        indptr = array("indptr", n + 1, np.int64)
        indptr[0] = 0
        with np.errstate(over="ignore"):
            sampling.row_lengths(key, low, high, 0, indptr)
        nonzeros = int(indptr[-1])
        data, indices, y = array("data", nonzeros, dtype), array("indices", nonzeros, np.int32), array("y", n, dtype)
        with Bar("Generating rows", n, progress) as bar:
            _fill((data, indices, indptr, y), d, key, noise, labels, rows, bar)
        if directory is None:
            return storage.csr(data, indices, indptr, (n, d)), y
        for part in (data, indices, indptr, y):
            part.flush()
        storage.finish(directory, (n, d))
    except BaseException:
        if directory is not None:
            storage.discard(directory)
        raise
    return storage.load_csr(directory)


def _fill(arrays: Any, d: int, key: Any, noise: float, labels: tuple[float, float], rows: int, bar: Bar) -> None:
    """Writes so many rows at a time into (data, indices, indptr, y)."""
    data, indices, indptr, y = arrays
    for first in range(0, len(y), rows):
        last = min(first + rows, len(y))
        part = slice(int(indptr[first]), int(indptr[last]))
        margins = np.empty(last - first)
        targets = np.asarray(indptr[first : last + 1]), np.asarray(indices[part]), np.asarray(data[part]), margins
        with np.errstate(over="ignore"):
            sampling.fill_rows(key, first, float(noise), d, *_bijection(d), *targets)
        y[first:last] = np.where(margins < 0, labels[0], labels[1])
        bar.to(last)


def algebra_truth(d: int = COLUMNS, seed: int = 0) -> tuple[Array, Array]:
    """The columns of the nonzero weights behind the labels of `make_algebra`, in increasing order, and the weights.

    Examples
    --------
    >>> from epro.datasets import algebra_truth
    >>> columns, weights = algebra_truth(d=5000)
    >>> bool((columns[1:] > columns[:-1]).all()), columns.shape == weights.shape
    (True, True)
    """
    columns, weights = np.empty(4096, np.int64), np.empty(4096)
    with np.errstate(over="ignore"):
        count = sampling.true_weights(_seed(seed), d, *_bijection(d), columns, weights)
    order = np.argsort(columns[:count])
    return columns[:count][order], weights[:count][order]


def _bijection(d: int) -> tuple[int, int]:
    """A stride coprime to d near the golden section of it, so that following ranks lie far apart, and a shift."""
    stride = max(1, round(0.6180339887498949 * d))
    while gcd(stride, d) != 1:
        stride += 1
    return stride, d // 3


def _seed(seed: int) -> np.uint64:
    if not 0 <= int(seed) < 2**63:
        raise ValueError(f"seed must be an integer from 0 to 2^63 - 1, got {seed}")
    return np.uint64(seed)


def _check(n: int, d: int, nnz_per_row: int) -> tuple[int, int, int, int]:
    n, d, nnz_per_row = int(n), int(d), int(nnz_per_row)
    low, high = nnz_per_row - nnz_per_row // 2, nnz_per_row + nnz_per_row // 2
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    if not 1 <= d <= np.iinfo(np.int32).max:
        raise ValueError(f"d must be between 1 and 2^31 - 1, got {d}")
    if nnz_per_row < 1 or high > d:
        raise ValueError(f"nnz_per_row must be at least 1, and 3/2 of it at most d = {d}, got {nnz_per_row}")
    return n, d, low, high


def _check_draws(noise: float, chunk_rows: int) -> int:
    if not (np.isfinite(noise) and noise >= 0):
        raise ValueError(f"noise must be a finite number, at least zero; got {noise}")
    if chunk_rows < 1:
        raise ValueError(f"chunk_rows must be at least 1, got {chunk_rows}")
    return chunk_rows
