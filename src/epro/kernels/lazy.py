"""Epochs on sparse rows in time proportional to the entries of the rows drawn, whatever the number of columns.

The iterate is kept as `lazy_state` derives; these are the steps on it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from epro.kernels.active import SparseVector
from epro.kernels.batch import call
from epro.kernels.lazy_queue import advance, clear, inlined, push, settle, sweep, tick_of
from epro.kernels.lazy_state import (
    CELL,
    FIRED,
    HELD,
    KEY,
    L1_CUT,
    L2_CUT,
    LIVE,
    MASS,
    MOMENT,
    NORM,
    OFFSET,
    PER_TICK,
    QUEUED,
    ROOM,
    SCALE,
    SEEN,
    SQUARE,
    TOUCHED,
    LazyModel,
    LazyState,
    new_state,
)
from epro.kernels.prefetch import prefetch
from epro.kernels.records import kernel
from epro.protocols import Array, Index

AHEAD = 3  # rows between fetching a row's cells and using them
SMALLEST_SCALE = 1e-6


@kernel(error_model="numpy")
def lazy_epoch(model: LazyModel, state: LazyState, draws: Index, etas: Array, start: int) -> int:
    """Steps ``start``, ``start + 1``, ... of draws (steps x batch); stops early where the queue is full.

    Returns the number of the step to continue with.
    """
    slopes = np.empty(draws.shape[1])
    for t in range(start, draws.shape[0]):
        if not has_room(model, state, draws, t):
            return t
        look_ahead(model, state, draws, t)
        lazy_step(model, state, draws, t, slopes, etas[t])
    return draws.shape[0]


@inlined
def has_room(model: LazyModel, state: LazyState, draws: Index, t: int) -> bool:
    """Whether the queue can take all entries of a step."""
    needed = 0
    for b in range(draws.shape[1]):
        needed += model.indptr[draws[t, b] + 1] - model.indptr[draws[t, b]]
    return state.counts[ROOM] >= needed


@inlined
def look_ahead(model: LazyModel, state: LazyState, draws: Index, t: int) -> None:
    """Starts fetching what the next steps will read."""
    steps, batch = draws.shape
    cells = state.cells.ctypes.data
    if t + AHEAD < steps:
        for b in range(batch):
            i = draws[t + AHEAD, b]
            for k in range(model.indptr[i], model.indptr[i + 1]):
                prefetch(cells + 32 * model.indices[k])


@inlined
def lazy_step(model: LazyModel, state: LazyState, draws: Index, t: int, slopes: Array, eta: float) -> None:
    """One step of the clipped form: rows at x_t, cut at x_t, then shrink, move and clip."""
    scalars, batch = state.scalars, draws.shape[1]
    for b in range(batch):
        i = draws[t, b]
        slopes[b] = model.link.slope(scalars[SCALE] * row_dot(model, state, i), model.y[i]) / batch
        if model.weights.size > 0:
            slopes[b] *= model.weights[i]
    factor, threshold = pull(model, state, eta)
    scalars[MASS] += scalars[SCALE]
    scalars[MOMENT] += scalars[SCALE] * scalars[OFFSET]
    if scalars[SCALE] * factor < SMALLEST_SCALE:
        rebase(state, factor)
    else:
        scalars[SCALE] *= factor
    threshold /= scalars[SCALE]
    for b in range(batch):
        if slopes[b] != 0.0:
            # where several rows may move one coordinate, only `advance` can clip
            move(model, state, draws[t, b], eta * slopes[b] / scalars[SCALE], threshold if batch == 1 else 0.0)
    if threshold > 0.0:
        advance(state, threshold)


@inlined
def pull(model: LazyModel, state: LazyState, eta: float) -> tuple[float, float]:
    """The factor and the threshold that regularizer and cut apply to all coordinates in this step."""
    factor = 1.0 - eta * model.ridge
    threshold = eta * model.l1
    if model.kind == L1_CUT and state.scalars[SCALE] * state.scalars[NORM] - model.radius > 0.0:
        threshold += eta * model.lam
        state.counts[FIRED] += 1
    elif model.kind == L2_CUT:
        norm = state.scalars[SCALE] * math.sqrt(max(state.scalars[SQUARE], 0.0))
        if norm - model.radius > 0.0:
            factor = max(factor - eta * model.lam / norm, min(factor, 0.0))
            state.counts[FIRED] += 1
    return factor, threshold


@inlined
def row_dot(model: LazyModel, state: LazyState, i: int) -> float:
    """<A_i, u>"""
    offset = state.scalars[OFFSET]
    p = 0.0
    for k in range(model.indptr[i], model.indptr[i + 1]):
        z = state.cells[CELL * model.indices[k] + KEY]
        p += model.data[k] * (z - offset * ((z > 0.0) - (z < 0.0)))
    return p


@inlined
def move(model: LazyModel, state: LazyState, i: int, step: float, threshold: float) -> None:
    """u = u - step * A_i for the row's coordinates, counted as zero where the offset's next move would clip them."""
    offset, now = state.scalars[OFFSET], tick_of(state, state.scalars[OFFSET])
    norm, square, live = 0.0, 0.0, 0
    for k in range(model.indptr[i], model.indptr[i + 1]):
        j, change = model.indices[k], -step * model.data[k]
        z = state.cells[CELL * j + KEY]
        if z == 0.0:
            if abs(change) > threshold:
                raise_cell(state, j, change, now)
                norm += abs(change)
                square += change * change
                live += 1
        else:
            u = z - math.copysign(offset, z)
            v = u + change
            norm -= abs(u)
            square -= u * u
            if abs(v) > threshold:
                norm += abs(v)
                square += v * v
                shift_cell(state, j, z, v, z + change if (v > 0.0) == (z > 0.0) else v + math.copysign(offset, v), now)
            else:
                settle(state, j, z)
                live -= 1
    state.scalars[NORM] += norm
    state.scalars[SQUARE] += square
    state.counts[LIVE] += live


@inlined
def raise_cell(state: LazyState, j: int, u: float, now: int) -> None:
    """A coordinate leaves zero."""
    sign = math.copysign(1.0, u)
    z = u + sign * state.scalars[OFFSET]
    state.cells[CELL * j + KEY] = z
    state.cells[CELL * j + HELD] += sign * state.scalars[MOMENT] - z * state.scalars[MASS]
    if state.cells[CELL * j + SEEN] == 0.0:
        state.cells[CELL * j + SEEN] = 1.0
        state.touched[state.counts[TOUCHED]] = j
        state.counts[TOUCHED] += 1
    queued = state.cells[CELL * j + QUEUED]
    if queued == 0.0 or abs(z) < queued:
        push(state, j, abs(z), now)


@inlined
def shift_cell(state: LazyState, j: int, z: float, u: float, new_z: float, now: int) -> None:
    """A live coordinate stays live, from z to new_z, which stands for u."""
    held = (z - new_z) * state.scalars[MASS]
    if (z > 0.0) != (new_z > 0.0):
        held -= 2.0 * math.copysign(state.scalars[MOMENT], z)
    state.cells[CELL * j + KEY] = new_z
    state.cells[CELL * j + HELD] += held
    if abs(new_z) < state.cells[CELL * j + QUEUED]:
        push(state, j, state.scalars[OFFSET] + 0.5 * abs(u), now)


@kernel(error_model="numpy")
def rebase(state: LazyState, factor: float) -> None:
    """x *= factor, and starts again from scale 1 and offset 0; the queue keeps one entry for each live coordinate."""
    scalars, cells, per_tick = state.scalars, state.cells, state.scalars[PER_TICK]
    clear(state)
    norm, square, live = 0.0, 0.0, 0
    for place in range(state.counts[TOUCHED]):
        j = state.touched[place]
        z = cells[CELL * j + KEY]
        cells[CELL * j + QUEUED] = 0.0
        if z != 0.0:
            settle(state, j, z)
            x = (z - np.sign(z) * scalars[OFFSET]) * scalars[SCALE] * factor
            cells[CELL * j + KEY] = x
            norm += abs(x)
            square += x * x
            if x != 0.0:
                live += 1
                push(state, j, abs(x), 0)
    scalars[:] = 0.0
    scalars[SCALE], scalars[NORM], scalars[SQUARE], scalars[PER_TICK] = 1.0, norm, square, per_tick
    state.counts[LIVE] = live


@kernel(error_model="numpy")
def begin(state: LazyState, columns: Array, values: Array) -> None:
    """Forgets the last epoch and starts at the given point."""
    for place in range(state.counts[TOUCHED]):
        at = CELL * state.touched[place]
        state.cells[at : at + CELL] = 0.0
    state.counts[:] = 0
    state.scalars[:] = 0.0
    state.scalars[SCALE] = 1.0
    for place in range(columns.size):
        j = columns[place]
        state.cells[CELL * j + KEY] = values[place]
        state.cells[CELL * j + SEEN] = 1.0
        state.touched[place] = j
    state.counts[TOUCHED] = columns.size
    rebase(state, 1.0)


@kernel(error_model="numpy")
def current(state: LazyState, x: Array, total: Array) -> None:
    """x_t, and the sum of all iterates before it, on the columns touched."""
    scalars = state.scalars
    for place in range(state.counts[TOUCHED]):
        at = CELL * state.touched[place]
        z = state.cells[at + KEY]
        x[place] = scalars[SCALE] * (z - np.sign(z) * scalars[OFFSET])
        total[place] = state.cells[at + HELD] + z * scalars[MASS] - np.sign(z) * scalars[MOMENT]


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
        done = 0
        self._set_tick(model, etas)
        while True:
            done = call(lazy_epoch, model, self.state, draws, etas, done, records=(model,))
            if done == len(draws):
                break
            self._make_room(int((model.indptr[draws[done] + 1] - model.indptr[draws[done]]).sum()))
        self.steps += len(draws)

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
