r"""The nearest point to z among {x : lower <= A x <= upper}, by pivoting on the set of active rows.

With F the active rows, at the bounds t, the nearest point of {A_F x = t} is

    x = z - A_F' lam,      (A_F A_F') lam = A_F z - t.

It is the projection if every other row holds and every lam has the sign of its bound. Otherwise the rows with a wrong
sign leave F, violated rows enter it, all in one exchange, and again (block principal pivoting). Each round costs one
Cholesky factorisation of a block of the Gram matrix A A', which is formed once; few rounds are needed, one or two
when started from the active rows of a nearby projection. The rounds can cycle, mostly when more rows enter than there
are dimensions left. So only the most violated rows enter, up to a third of the dimensions left; and a run that still
does not end is handed to an interior-point method, whose active rows start a second run (see ``qp.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.linalg
from scipy import sparse
from scipy.sparse.linalg import splu

from epro.atoms import matrices
from epro.protocols import Array

ROUNDS, PATIENCE, ENTER = 80, 20, 0.3
SHIFT = 1e-10  # added to the Gram matrix of unit rows, so that dependent rows can be active together
GRAM_ROWS = 5000  # up to here the Gram matrix of dense rows is kept
DENSE_BLOCK = 400  # up to here a sparse block is factorised as a dense one


@dataclass
class Rows:
    """lower <= A x <= upper with rows of unit length (``lengths`` restores the user's)."""

    A: Any
    lower: Array
    upper: Array
    lengths: Array
    gram: Any = field(default=None, repr=False)

    @classmethod
    def scaled(cls, A: Any, lower: Array, upper: Array) -> Rows:
        """Rows of unit length from rows of any length; a row of zeros stays."""
        A = matrices.matrix(A)
        lengths = np.sqrt(matrices.row_norms2(A))
        lengths = np.where(lengths > 0, lengths, 1.0)
        return cls(matrices.scaled(A, 1 / lengths), lower / lengths, upper / lengths, lengths)

    @property
    def equal(self) -> Array:
        return self.lower == self.upper

    def block(self, F: Array) -> Any:
        """A_F A_F'"""
        if self.gram is None and (matrices.is_sparse(self.A) or self.A.shape[0] <= GRAM_ROWS):
            self.gram = matrices.outer(self.A)
        return matrices.outer(self.A[F]) if self.gram is None else matrices.block(self.gram, F)

    def violation(self, x: Array) -> float:
        """The largest violation, as a distance."""
        Ax = self.A @ x
        return float(max(np.max(Ax - self.upper, initial=0.0), np.max(self.lower - Ax, initial=0.0)))


@dataclass
class Nearest:
    """Where pivoting ended."""

    x: Array
    lam: Array  # positive at an upper bound, negative at a lower one; for unit rows
    state: Array  # +1, -1: the row is active at its upper, lower bound; 0: it is not
    solved: bool
    rounds: int


def factor(block: Any) -> Any:
    """The solver of (block + SHIFT) y = r."""
    n = block.shape[0]
    if matrices.is_sparse(block):
        if n > DENSE_BLOCK:
            shifted = sparse.csc_array(block + SHIFT * sparse.eye_array(n))
            lu = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
            return lu.solve
        block = block.toarray()
    block.flat[:: n + 1] += SHIFT
    cholesky = scipy.linalg.cho_factor(block, lower=True, overwrite_a=True, check_finite=False)
    return lambda r: scipy.linalg.cho_solve(cholesky, r, check_finite=False)


def on_active(rows: Rows, z: Array, state: Array) -> tuple[Array, Array]:
    """(x, lam): the nearest point to z with the active rows as equalities.

    Two further steps with the same factor remove what SHIFT and rounding left.
    """
    lam = np.zeros(len(state))
    F = np.flatnonzero(state)
    if not len(F):
        return z.copy(), lam
    A_F, target = rows.A[F], np.where(state[F] > 0, rows.upper[F], rows.lower[F])
    solve, x = factor(rows.block(F)), z
    for _ in range(3):
        lam[F] += solve(A_F @ x - target)
        x = z - A_F.T @ lam[F]
    return x, lam


def exchange(rows: Rows, x: Array, lam: Array, state: Array, tol: float) -> tuple[Array, int]:
    """The next active rows, and how many were wrong."""
    Ax = rows.A @ x
    wrong = (state * lam < -tol) & ~rows.equal
    above, below = Ax - rows.upper, rows.lower - Ax
    violation = np.where(state == 0, np.maximum(above, below), -np.inf)
    enters = violation > tol
    count = int(wrong.sum() + enters.sum())
    left = x.size - np.count_nonzero(state) + wrong.sum()
    room = max(1, int(ENTER * left))
    if np.count_nonzero(enters) > room:
        enters &= violation >= np.partition(violation, -room)[-room]
    state = np.where(wrong, 0, state)
    return np.where(enters, np.where(above > below, 1, -1), state), count


def nearest(rows: Rows, z: Array, state: Array | None = None, tol: float = 1e-12, rounds: int = ROUNDS) -> Nearest:
    """The nearest point to z, started from the active rows of a nearby problem."""
    size = 1.0 + float(np.max(np.abs(z), initial=0.0))
    state = np.where(rows.equal, 1, 0 if state is None else state).astype(np.int8)
    best, patience, x, lam = np.inf, PATIENCE, z, np.zeros(len(state))
    for k in range(rounds):
        try:
            x, lam = on_active(rows, z, state)
        except (np.linalg.LinAlgError, RuntimeError):  # a singular block
            break
        following, wrong = exchange(rows, x, lam, state, tol * size)
        if wrong == 0:
            solved = rows.violation(x) <= 1e-10 * size and bool(np.isfinite(x).all())
            lam = np.where(rows.equal, lam, np.where(state > 0, np.maximum(lam, 0), np.minimum(lam, 0)))
            return Nearest(x, lam, state, solved, k + 1)
        patience = PATIENCE if wrong < best else patience - 1
        best = min(best, wrong)
        if patience == 0:
            break
        state = following
    return Nearest(x, lam, state, False, rounds)
