"""How the methods run in twenty million columns without paying for them at every step."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from epro.constraints import L1Ball
from epro.kernels.active import SparseVector, compact
from epro.kernels.lazy import LazyIterate
from epro.kernels.lazy_state import L1_CUT, LazyModel
from epro.losses import Squared
from epro.oracles import BLOCK, Oracles
from epro.problem import Problem
from epro.protocols import Array, Index
from epro.schedules import Epoch


class Scripted:
    """A sequence of rows in the place of a random generator: all methods see the same rows in the same order."""

    def __init__(self, draws: Index) -> None:
        self.draws, self.used = draws, 0

    def integers(self, high: int, size: Any) -> Index:
        """The next rows, in the shape asked for."""
        first, self.used = self.used, self.used + math.prod(np.atleast_1d(size))
        if self.used > self.draws.size:
            raise ValueError(f"a script of {self.draws.size} rows was asked for {self.used}")
        return self.draws[first : self.used].reshape(size)


class Restricted(NamedTuple):
    """A problem on the drawn rows and their columns only, and the draws by their names there."""

    problem: Problem
    columns: Array
    draws: Index


def restrict(problem: Problem, draws: Index) -> Restricted:
    """All that a run from zero with these draws can touch: an exact reformulation (see `epro.kernels.active`)."""
    atoms = problem.loss.atoms
    active = compact(
        atoms.indptr, atoms.indices, atoms.data, draws, SparseVector.zero(atoms.columns, problem.dtype.type)
    )
    rows = atoms._replace(
        indptr=active.indptr, indices=active.indices, data=active.data, columns=active.columns.size
    ).matrix()
    loss = Squared(rows, problem.loss.y[active.rows])
    return Restricted(
        Problem(loss, problem.regularizer, L1Ball(problem.constraint.radius)), active.columns, active.draws
    )


class LazyOracles(Oracles):
    """Epochs of Epro-SGD on the lazy iterate; everything else as it is."""

    def __init__(self, problem: Problem, draws: Index) -> None:
        super().__init__(problem, Scripted(draws))  # type: ignore[arg-type]
        self.iterate = LazyIterate(problem.shape[0])

    def epoch(self, x: Array, epoch: Epoch, penalty: Any, move: Any, domain: Any = None, batch: int = 1) -> Array:
        atoms, problem = self.problem.loss.atoms, self.problem
        model = LazyModel(
            atoms.indptr, atoms.indices, atoms.data, problem.loss.y, np.empty(0, x.dtype), problem.loss.link,
            problem.regularizer.ridge, 0.0, L1_CUT, penalty.lam, problem.constraint.radius,
        )  # fmt: skip
        self.iterate.begin(SparseVector.of(x))
        for first in range(0, epoch.steps, BLOCK):
            etas = epoch.step_sizes(first, min(first + BLOCK, epoch.steps))
            self.iterate.run(model, self.rng.integers(problem.n, size=(etas.size, batch)), etas)
        self.counts[0] += epoch.steps
        average = self.iterate.finish().average
        out = np.zeros_like(x)
        out[average.columns] = average.values
        return out
