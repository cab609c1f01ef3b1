"""Epochs on sparse rows in time proportional to the entries of the rows drawn, whatever the number of columns.

The iterate is kept as `lazy_state` derives; these are the steps on it.
"""

from __future__ import annotations

import math

import numpy as np

from epro.kernels.hints import borrowed, prefetch
from epro.kernels.lazy_queue import advance, clear, inlined, push, settle, tick_of
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
    NO_CUT,
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
    borrowed_model,
    borrowed_state,
)
from epro.kernels.records import kernel
from epro.protocols import Array, Index

AHEAD, FAR = 3, 16  # rows, or cells, between fetching and using
SMALLEST_SCALE = 1e-6


@kernel(error_model="numpy")
def lazy_epoch(model: LazyModel, state: LazyState, draws: Index, etas: Array, start: int) -> int:
    """Steps ``start``, ``start + 1``, ... of draws (steps x batch); stops before one that needs care.

    Returns the number of the step to continue with.
    """
    slopes = np.empty(draws.shape[1])
    return lazy_steps(
        borrowed_model(model), borrowed_state(state), borrowed(draws), borrowed(etas), borrowed(slopes), start
    )


@inlined
def lazy_steps(model: LazyModel, state: LazyState, draws: Index, etas: Array, slopes: Array, start: int) -> int:
    """The loop of `lazy_epoch`."""
    for t in range(start, draws.shape[0]):
        factor, threshold, fired = pull(model, state, etas[t])
        if state.scalars[SCALE] * factor < SMALLEST_SCALE or not has_room(model, state, draws, t):
            return t
        look_ahead(model, state, draws, t)
        find_slopes(model, state, draws, t, slopes)
        close_iterate(state, fired)
        state.scalars[SCALE] *= factor
        apply(model, state, draws, t, slopes, etas[t], threshold)
    return draws.shape[0]


@kernel(error_model="numpy")
def predictions(model: LazyModel, state: LazyState, draws: Index, t: int, p: Array) -> None:
    """p[b] = <A_i, x_t> for the rows of step t."""
    for b in range(draws.shape[1]):
        p[b] = state.scalars[SCALE] * row_dot(model, state, draws[t, b])


@kernel(error_model="numpy")
def one_step(model: LazyModel, state: LazyState, draws: Index, t: int, slopes: Array, eta: float) -> None:
    """Step t with given slopes, whatever the scale; the model's link is not used."""
    factor, threshold, fired = pull(model, state, eta)
    close_iterate(state, fired)
    if state.scalars[SCALE] * factor < SMALLEST_SCALE:
        rebase(state, factor)
    else:
        state.scalars[SCALE] *= factor
    apply(model, state, draws, t, slopes, eta, threshold)


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
                prefetch(cells + 8 * CELL * int(model.indices[k]))


@inlined
def pull(model: LazyModel, state: LazyState, eta: float) -> tuple[float, float, bool]:
    """What regularizer and cut do to all coordinates in this step: factor, threshold, and whether c(x_t) > 0."""
    factor, threshold, norm, scale = 1.0 - eta * model.ridge, eta * model.l1, 0.0, state.scalars[SCALE]
    if model.kind == L1_CUT:
        norm = scale * state.scalars[NORM]
    elif model.kind == L2_CUT:
        norm = scale * math.sqrt(max(state.scalars[SQUARE], 0.0))
    fired = model.kind != NO_CUT and norm - model.radius > 0.0
    if fired and model.kind == L1_CUT:
        threshold += eta * model.lam
    elif fired:
        factor = max(factor - eta * model.lam / norm, min(factor, 0.0))
    return factor, threshold, fired


@inlined
def fetch(state: LazyState, place: int) -> None:
    """Starts fetching a cell that a walk through all touched columns comes to soon."""
    if place + FAR < state.counts[TOUCHED]:
        prefetch(state.cells.ctypes.data + 8 * CELL * int(state.touched[place + FAR]))


@inlined
def find_slopes(model: LazyModel, state: LazyState, draws: Index, t: int, slopes: Array) -> None:
    """The slopes of the step's rows at x_t, as parts of their mean."""
    batch = draws.shape[1]
    for b in range(batch):
        i = draws[t, b]
        p = state.scalars[SCALE] * row_dot(model, state, i)
        slopes[b] = model.link.slope(p, model.y[i]) / batch
        if model.weights.size > 0:
            slopes[b] *= model.weights[i]


@inlined
def close_iterate(state: LazyState, fired: bool) -> None:
    """x_t is now one of those that are averaged."""
    state.scalars[MASS] += state.scalars[SCALE]
    state.scalars[MOMENT] += state.scalars[SCALE] * state.scalars[OFFSET]
    state.counts[FIRED] += fired


@inlined
def apply(
    model: LazyModel, state: LazyState, draws: Index, t: int, slopes: Array, eta: float, threshold: float
) -> None:
    """The rows move u, then all coordinates are clipped."""
    batch, scale = draws.shape[1], state.scalars[SCALE]
    for b in range(batch):
        if slopes[b] != 0.0:
            # where several rows may move one coordinate, only `advance` can clip
            move(model, state, draws[t, b], eta * slopes[b] / scale, threshold / scale if batch == 1 else 0.0)
    if threshold > 0.0:
        advance(state, threshold / scale)


@inlined
def row_dot(model: LazyModel, state: LazyState, i: int) -> float:
    """<A_i, u>"""
    offset = state.scalars[OFFSET]
    p = 0.0
    for k in range(model.indptr[i], model.indptr[i + 1]):
        z = state.cells[CELL * int(model.indices[k]) + KEY]
        p += model.data[k] * (z - math.copysign(offset, z) if z != 0.0 else 0.0)
    return p


@inlined
def move(model: LazyModel, state: LazyState, i: int, step: float, threshold: float) -> None:
    """u = u - step * A_i for the row's coordinates, counted as zero where the offset's next move would clip them."""
    offset, now = state.scalars[OFFSET], tick_of(state, state.scalars[OFFSET])
    norm, square, live = 0.0, 0.0, 0
    for k in range(model.indptr[i], model.indptr[i + 1]):
        j, change = int(model.indices[k]), -step * model.data[k]
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
        fetch(state, place)
        j = int(state.touched[place])
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
        fetch(state, place)
        at = CELL * int(state.touched[place])
        state.cells[at : at + CELL] = 0.0
    state.counts[:] = 0
    state.scalars[:] = 0.0
    state.scalars[SCALE] = 1.0
    for place in range(columns.size):
        j = int(columns[place])
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
        fetch(state, place)
        at = CELL * int(state.touched[place])
        z = state.cells[at + KEY]
        x[place] = scalars[SCALE] * (z - np.sign(z) * scalars[OFFSET])
        total[place] = state.cells[at + HELD] + z * scalars[MASS] - np.sign(z) * scalars[MOMENT]
