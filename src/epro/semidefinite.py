r"""Sets of matrices as semidefinite cones, for the conic programs of `conic`.

Clarabel's cone holds the upper triangle of a symmetric matrix, column by column, with off-diagonal entries times
sqrt(2). A nuclear norm is at most r if and only if there are U, V with (tr U + tr V)/2 <= r and [[U, X], [X', V]]
semidefinite (Fazel, Hindi and Boyd 2001).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from epro.constraints.psd import PSD
from epro.constraints.spectraplex import Spectraplex
from epro.protocols import Array


def order(size: int) -> int:
    """n, where the triangle of an n x n matrix has so many entries."""
    return (math.isqrt(8 * size + 1) - 1) // 2


def triangle(n: int) -> tuple[Array, Array, Array]:
    """Row, column and factor of the entries of an upper triangle, column by column."""
    column, row = np.tril_indices(n)
    return row, column, np.where(row == column, 1.0, math.sqrt(2.0))


def describe(c: Any, program: Any) -> bool:
    """Adds a set of matrices, read row by row, to a program."""
    if not isinstance(c, (PSD, Spectraplex)):
        return _nuclear(c, program)
    n = math.isqrt(program.d)
    row, column, factor = triangle(n)
    floor = c.floor if isinstance(c, PSD) else 0.0
    above, left, right = row < column, row * n + column, column * n + row
    ones = np.ones(int(above.sum()))
    both = _matrix(
        len(row), program.d, (np.arange(len(row)), left, 0.5 * factor), (np.arange(len(row)), right, 0.5 * factor)
    )
    skew = _matrix(
        len(ones), program.d, (np.arange(len(ones)), left[above], ones), (np.arange(len(ones)), right[above], -ones)
    )
    if n > 1:
        program.add(skew, np.zeros(len(ones)), "zero")
    if isinstance(c, Spectraplex):
        program.add(np.eye(n).reshape(1, -1), np.array([c.trace]), "zero")
    return program.add(-both, -floor * (row == column), "semidefinite")


def _nuclear(c: Any, program: Any) -> bool:
    p, q = c.shape
    n = p + q
    row, column, factor = triangle(n)
    entries = np.arange(len(row))
    across = (row < p) & (column >= p)  # X; the other entries are those of U and V
    own = entries[~across]
    on_z = _matrix(len(row), program.d, (entries[across], (row * q + column - p)[across], factor[across]))
    on_extra = _matrix(len(row), len(own), (own, np.arange(len(own)), factor[own]))
    first = program.variables(len(own))
    trace = np.where(row == column, 0.5, 0.0)[own][None]
    program.add(np.zeros((1, program.d)), np.array([c.radius]), "nonnegative", first, trace)
    return program.add(-on_z, np.zeros(len(row)), "semidefinite", first, -on_extra)


def _matrix(rows: int, columns: int, *parts: tuple[Array, Array, Array]) -> Any:
    """A sparse matrix with these rows, columns and values; values of the same entry add up."""
    i, j, values = (np.concatenate([part[k] for part in parts]) for k in range(3))
    return sparse.csr_array(sparse.coo_array((values, (i, j)), shape=(rows, columns)))
