"""Matrices, dense or CSR, under one set of verbs: the only place beside `build` that asks which it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from epro.protocols import Array, Index


def is_sparse(A: Any) -> bool:
    """Whether the matrix is kept sparse."""
    return bool(sp.issparse(A))


def matrix(A: Any) -> Any:
    """A CSR matrix of doubles without duplicates from anything sparse, else a two-dimensional array."""
    if not sp.issparse(A):
        return np.atleast_2d(np.asarray(A))
    A = sp.csr_array(A).astype(float)
    A.sum_duplicates()
    return A


def dense(A: Any) -> Array:
    """The matrix as an array."""
    return A.toarray() if sp.issparse(A) else np.asarray(A)


def entries(A: Any) -> Array:
    """The stored entries."""
    return A.data if sp.issparse(A) else A


def scaled(A: Any, weight: Array) -> Any:
    """diag(weight) A"""
    return sp.csr_array(sp.diags_array(weight) @ A) if sp.issparse(A) else A * weight[:, None]


def row_norms2(A: Any) -> Array:
    """||A_i||^2 of every row."""
    return np.asarray(A.multiply(A).sum(axis=1)).ravel() if sp.issparse(A) else np.einsum("ij,ij->i", A, A)


def outer(A: Any) -> Any:
    """A A'"""
    return sp.csr_array(A @ A.T) if sp.issparse(A) else A @ A.T


def block(A: Any, F: Index) -> Any:
    """Rows F and columns F of a square matrix."""
    return A[F][:, F] if sp.issparse(A) else A[np.ix_(F, F)]


def above(blocks: Sequence[Any]) -> Any:
    """Matrices one above the other: CSR where all are sparse."""
    if all(sp.issparse(block) for block in blocks):
        return sp.csr_array(sp.vstack(blocks))
    return np.vstack([dense(block) for block in blocks])


def beside(blocks: Sequence[Any]) -> Any:
    """Matrices side by side: CSR where the first is sparse."""
    return sp.csr_array(sp.hstack(blocks)) if sp.issparse(blocks[0]) else np.hstack([dense(block) for block in blocks])
