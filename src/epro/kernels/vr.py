"""Variance-reduced steps around an anchor, and the models of the constraint that they use at every step.

With the slopes sigma_i of all rows at the anchor and G the full gradient there (plus a tilt, see ``solvers/epro_vr``),

    x <- prox of g [x - eta (G + mean over the batch of (s_i(x) - sigma_i) A_i)],

whose noise vanishes as x and the anchor approach the optimum. Then x is moved towards the set by the domain.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from epro.kernels.records import kernel
from epro.protocols import Array, Index


@kernel
def vr_steps(p: Any, domain: Any, anchor: Array, G: Array, x: Array, total: Array, draws: Index, eta: float) -> None:
    """As many steps as there are rows in ``draws``; total gains the points after each step."""
    batch = draws.shape[1]
    predictions, slopes = np.empty(batch, x.dtype), np.empty(batch, x.dtype)
    for t in range(draws.shape[0]):
        rows = draws[t]
        p.atoms.dots(rows, x, predictions)
        for b in range(batch):
            i = rows[b]
            slopes[b] = -eta * (p.weights[i] * p.link.slope(predictions[b], p.y[i]) - anchor[i]) / batch
        x -= eta * G
        p.atoms.axpys(rows, slopes, x)
        p.g.prox(x, eta)
        domain.project(x)
        total += x


class HalfSpaces(NamedTuple):
    """Moves onto the half-space of the deepest cut: a prox-linear step with an infinite weight."""

    constraint: Any
    work: Array

    def project(self, x: Array) -> None:
        c = self.constraint.cut(x, self.work)
        norm2 = self.constraint.cut_norm2(self.work)
        if c > 0.0 and norm2 > 0.0:
            self.constraint.descend(self.work, c / norm2, x)


class DenseSweep(NamedTuple):
    """One sweep over lower <= A x <= upper: each violated row in turn is projected on."""

    A: Array
    lower: Array
    upper: Array
    lengths2: Array

    def project(self, x: Array) -> None:
        sweep_dense(self.A, self.lower, self.upper, self.lengths2, x)


class SparseSweep(NamedTuple):
    """The same for sparse rows."""

    indptr: Array
    indices: Array
    data: Array
    lower: Array
    upper: Array
    lengths2: Array

    def project(self, x: Array) -> None:
        sweep_sparse(self.indptr, self.indices, self.data, self.lower, self.upper, self.lengths2, x)


@kernel
def sweep_dense(A: Array, lower: Array, upper: Array, lengths2: Array, x: Array) -> None:
    """x in place, dense rows."""
    for i in range(lengths2.size):
        value = np.dot(A[i], x)
        excess = max(value - upper[i], 0.0) - max(lower[i] - value, 0.0)
        if excess != 0.0:
            x -= (excess / lengths2[i]) * A[i]


@kernel
def sweep_sparse(
    indptr: Array, indices: Array, data: Array, lower: Array, upper: Array, lengths2: Array, x: Array
) -> None:
    """x in place, sparse rows."""
    for i in range(lengths2.size):
        value = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            value += data[k] * x[indices[k]]
        excess = max(value - upper[i], 0.0) - max(lower[i] - value, 0.0)
        if excess != 0.0:
            for k in range(indptr[i], indptr[i + 1]):
                x[indices[k]] -= excess / lengths2[i] * data[k]
