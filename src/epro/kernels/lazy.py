"""The lazy iterate from Python: epochs and parts of epochs, whose queue grows as needed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from epro.kernels.active import SparseVector
from epro.kernels.lazy_queue import sweep
from epro.kernels.lazy_state import FIRED, L1_CUT, LIVE, PER_TICK, ROOM, TOUCHED, LazyModel, new_state
from epro.kernels.lazy_steps import begin, current, lazy_epoch, one_step, predictions, rebase
from epro.kernels.records import compilable
from epro.protocols import Array, Index


class LazyResult(NamedTuple):
    """The last point and the average of x_1 .. x_T, on the same columns."""

    last: SparseVector
    average: SparseVector


class LazyIterate:
    """A point of R^d that sparse rows can move, millions of times, in epochs and parts of epochs.

    Parameters
    ----------
    columns : int
        d.
    entries : int
        How many places the queue starts with; it grows where needed.
    """

    def __init__(self, columns: int, entries: int = 1 << 16) -> None:
        self.columns = columns
        self.steps = 0
        self.state = new_state(columns, entries)
        self.begin(SparseVector.zero(columns))

    def begin(self, start: SparseVector) -> None:
        """A new epoch, from ``start``."""
        self._reserve(start.columns.size, begun=False)
        begin(self.state, start.columns, start.values)
        self.steps = 0

    def run(self, model: LazyModel, draws: Index, etas: Array) -> None:
        """The next steps of the epoch: ``draws`` (steps x batch, or steps), with one step size each."""
        draws = draws.reshape(len(draws), -1)
        compiled, done = compilable(model.link), 0
        self._set_tick(model, etas)
        while done < len(draws):
            if compiled:
                done = lazy_epoch(model, self.state, draws, etas, done)
            if done < len(draws):
                rows = draws[done]
                needed = int((model.indptr[rows + 1] - model.indptr[rows]).sum())
                if self.state.counts[ROOM] < needed:
                    self._make_room(needed)
                else:
                    self._one_step(model, draws, done, etas[done])
                    done += 1
        self.steps += len(draws)

    def _one_step(self, model: LazyModel, draws: Index, t: int, eta: float) -> None:
        """A step that `lazy_epoch` leaves out, or whose loss is plain Python."""
        rows, linkless = draws[t], model._replace(link=0)
        p = np.empty(rows.size)
        predictions(linkless, self.state, draws, t, p)
        slopes = np.array([model.link.slope(p[b], model.y[i]) for b, i in enumerate(rows)]) / rows.size
        if model.weights.size > 0:
            slopes *= model.weights[rows]
        one_step(linkless, self.state, draws, t, slopes, eta)

    def _set_tick(self, model: LazyModel, etas: Array) -> None:
        """About two ticks of the queue to the smallest regular move of the offset; only speed depends on it."""
        rate = model.l1 if model.l1 > 0.0 else model.lam if model.kind == L1_CUT else 0.0
        smallest = max(etas.min(), 1e-3 * etas.max()) * rate if len(etas) else 0.0
        per_tick = 2.0 / smallest if smallest > 0.0 else 0.0
        scalars = self.state.scalars
        if not per_tick / 8.0 <= scalars[PER_TICK] <= per_tick * 8.0:
            self._reserve(int(self.state.counts[LIVE]), begun=False)
            scalars[PER_TICK] = per_tick
            rebase(self.state, 1.0)

    @property
    def cuts_fired(self) -> int:
        """How many steps of this epoch saw c(x_t) > 0."""
        return int(self.state.counts[FIRED])

    def finish(self) -> LazyResult:
        """Where the epoch ended, and its average."""
        touched = self.state.touched[: self.state.counts[TOUCHED]].copy()
        x, total = np.empty(touched.size), np.empty(touched.size)
        current(self.state, x, total)
        total /= max(self.steps, 1)
        return LazyResult(SparseVector(touched, x, self.columns), SparseVector(touched, total, self.columns))

    def _make_room(self, entries: int) -> None:
        """Sweeps stale entries out of the queue; where it stays more than half full, it grows."""
        sweep(self.state)
        if self.state.counts[ROOM] < max(entries, self.state.entry_key.size // 2):
            self._reserve(self.state.entry_key.size + entries)

    def _reserve(self, entries: int, begun: bool = True) -> None:
        """At least so many places in the queue, twice as many as needed where it grows."""
        if entries > self.state.entry_key.size:
            size = 2 * entries
            self.state = self.state._replace(entry_key=np.empty(size), entry_link=np.empty((size, 2), np.int32))
            if begun:
                rebase(self.state, 1.0)
