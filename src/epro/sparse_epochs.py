"""Epochs on sparse rows in many columns, which cost what the drawn rows hold and not what x holds.

Two ways, both exact. *Active columns* (`epro.kernels.active`): an epoch that touches few columns runs on those alone,
by the same kernel, bit for bit. The *lazy iterate* (`epro.kernels.lazy`): any number of steps, each costing the entries
of its row, in the clipped form of the cut: a coordinate that the cut brings to zero stays there until a row moves it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from epro.atoms.sparse import CSRRows
from epro.constraints import Everywhere, L1Ball, L2Ball
from epro.kernels.active import SparseVector, compact
from epro.kernels.lazy import LazyIterate
from epro.kernels.lazy_state import L1_CUT, L2_CUT, NO_CUT, LazyModel
from epro.kernels.lazy_steps import lazy_epoch
from epro.kernels.records import compilable
from epro.problem import Problem
from epro.protocols import Array
from epro.regularizers.separable import Separable

if TYPE_CHECKING:
    from epro.oracles import Oracles

WIDE = 20_000  # columns from which clipped steps are the default
SPARSE_ENOUGH = 8  # active columns pay where d is that many times the entries an epoch touches


def keeps_zeros(problem: Problem) -> bool:
    """Whether a coordinate at zero stays there until a row moves it: shrinking, l1 and l2 cuts do so."""
    constraint = problem.constraint
    centred = isinstance(constraint, L1Ball | Everywhere)
    centred = centred or (isinstance(constraint, L2Ball) and constraint.center is None)
    g = problem.regularizer.record(problem.shape, problem.dtype)
    plain = isinstance(g, Separable) and g.tilt.size == 0 and g.l1_off == 0.0
    return isinstance(problem.loss.atoms, CSRRows) and centred and plain


def clips(problem: Problem) -> bool:
    """Whether clipped steps are the default: they can be taken, and there are many columns."""
    return keeps_zeros(problem) and problem.shape[0] >= WIDE


def active_epoch(
    oracles: Oracles, x: Array, etas: Array, penalty: Any, move: Any, domain: Any, batch: int
) -> Array | None:
    """The sum x_1 + ... + x_T of an epoch on its active columns; None where those are not few."""
    problem = oracles.problem
    if not keeps_zeros(problem):
        return None
    atoms = problem.loss.atoms
    entries = etas.size * batch * (atoms.data.size / max(1, problem.n)) + np.count_nonzero(x)
    if SPARSE_ENOUGH * entries > x.size:
        return None
    draws = np.concatenate([part for part, _ in oracles.blocks(etas, batch)])
    active = compact(atoms.indptr, atoms.indices, atoms.data, draws, SparseVector.of(x))
    rows = atoms._replace(
        indptr=active.indptr, indices=active.indices, data=active.data, columns=active.columns.size
    )  # fmt: skip
    parts = oracles.parts_under(penalty)
    small = parts._replace(atoms=rows, y=parts.y[active.rows], weights=parts.weights[active.rows])
    small_x, total = active.x.copy(), np.zeros_like(active.x)
    oracles.run_steps(small, small_x, total, [(active.draws, etas)], penalty, move, domain, np.zeros(small_x.size))
    out = np.zeros_like(x)
    out[active.columns] = total
    return out


class ClippedEpochs:
    """Epochs of Epro-SGD on the lazy iterate, which keeps its room from one epoch to the next."""

    def __init__(self, oracles: Oracles, lam: float) -> None:
        problem = oracles.problem
        if not keeps_zeros(problem):
            raise ValueError(
                "clipped steps need sparse rows, an L1Ball, a centred L2Ball or no constraint, and Ridge and L1 only, "
                f"got {problem.loss!r} with {problem.regularizer!r} and {problem.constraint!r}"
            )
        self.oracles, self.iterate = oracles, LazyIterate(problem.shape[0])
        constraint, parts = problem.constraint, oracles.parts
        kind = L1_CUT if isinstance(constraint, L1Ball) else L2_CUT if isinstance(constraint, L2Ball) else NO_CUT
        atoms = parts.atoms
        weights = parts.weights if (parts.weights != 1).any() else parts.weights[:0]
        self.model = LazyModel(
            atoms.indptr, atoms.indices, atoms.data, parts.y, weights, parts.link, float(problem.regularizer.ridge),
            float(problem.regularizer.l1), kind, float(lam), float(getattr(constraint, "radius", 0.0)),
        )  # fmt: skip
        if compilable(self.model.link):
            with oracles.clock.paused():
                lazy_epoch(self.model, self.iterate.state, np.empty((0, 1), np.int64), np.empty(0), 0)

    def average(self, x: Array, etas: Array, batch: int) -> Array:
        """The average of x_1 .. x_T of an epoch from x."""
        self.iterate.begin(SparseVector.of(x))
        for draws, part in self.oracles.blocks(etas, batch):
            self.iterate.run(self.model, draws, part)
        self.oracles.counts[0] += etas.size
        found = self.iterate.finish().average
        out = np.zeros_like(x)
        out[found.columns] = found.values
        return self.oracles.finite(out, float(etas.max()))
