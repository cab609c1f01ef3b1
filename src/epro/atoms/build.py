"""From what a user passes to atoms: the only place that asks whether a matrix is sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from epro.atoms.dense import DenseRows
from epro.atoms.sparse import CSRRows
from epro.atoms.triplets import CSRTriplets, DenseTriplets

MAPPED = 50_000_000  # entries: a larger map is not read here; the first objective tells whether its entries are finite
Rows = DenseRows | CSRRows
Atoms = DenseRows | CSRRows | DenseTriplets | CSRTriplets


def rows(X: Any) -> Rows:
    """Atoms of the rows of a matrix: dense (also a memory map), or anything sparse, kept sparse."""
    if sp.issparse(X):
        return _csr(X)
    mapped = isinstance(X, np.memmap)
    try:
        X = np.asarray(X)
    except ValueError as ragged:
        raise ValueError(f"X must be a matrix, with rows of one length: {ragged}") from None
    if X.ndim != 2 or X.size == 0:
        raise ValueError(f"X must be a matrix with at least one row and one column, got shape {X.shape}")
    X = np.ascontiguousarray(X, dtype=_float(X.dtype))
    if not mapped or X.size < MAPPED:
        _check_finite(X, "X")
    return DenseRows(X)


def triplets(X: Any, index: Any) -> DenseTriplets | CSRTriplets:
    """Atoms of triplets (anchor, similar, other) of rows of X."""
    points = rows(X)
    index = np.asarray(index)
    if index.ndim != 2 or index.shape[1] != 3 or index.shape[0] == 0:
        raise ValueError(f"triplets must have shape (N, 3) with N >= 1, got {index.shape}")
    if not np.issubdtype(index.dtype, np.integer):
        raise TypeError(f"triplets must be integers, the rows of X, got dtype {index.dtype}")
    if index.min() < 0 or index.max() >= points.n:
        raise ValueError(f"triplets must name rows 0 to {points.n - 1} of X, got {index.min()} to {index.max()}")
    index = np.ascontiguousarray(index, dtype=np.int64)
    if isinstance(points, CSRRows):
        return CSRTriplets(points.indptr, points.indices, points.data, index, points.columns)
    return DenseTriplets(points.X, index)


def _csr(X: Any) -> CSRRows:
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(f"X must be a matrix with at least one row and one column, got shape {X.shape}")
    if X.format != "csr":
        X = X.tocsr()
    data = np.ascontiguousarray(X.data, dtype=_float(X.dtype))
    _check_finite(data, "X")
    # asarray: a memory map becomes a plain view of the same pages
    return CSRRows(np.asarray(X.indptr), np.asarray(X.indices), np.asarray(data), int(X.shape[1]))


def _float(dtype: np.dtype) -> np.dtype:
    if not (np.issubdtype(dtype, np.floating) or np.issubdtype(dtype, np.integer) or np.issubdtype(dtype, np.bool_)):
        raise TypeError(f"X must be a real matrix, got dtype {dtype}")
    return dtype if dtype in (np.float32, np.float64) else np.dtype(np.float64)


def _check_finite(values: Any, name: str, block: int = 1 << 22) -> None:
    """Blockwise, so that a memory map larger than memory is read once and never copied."""
    step = max(1, block // max(1, int(np.prod(values.shape[1:]))))
    for start in range(0, values.shape[0], step):
        part = values[start : start + step]
        if not np.isfinite(part.sum(dtype=np.float64)) and not np.isfinite(part).all():
            where = np.argwhere(~np.isfinite(part))[0]
            where[0] += start
            raise ValueError(f"{name} has a NaN or infinite entry, first at {where.tolist()}")
