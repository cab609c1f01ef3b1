"""Which coordinates reach zero when the offset moves: a radix heap over their keys.

Keys and offset are nonnegative floats, ordered like the integers that their bits spell. Only the upper 52 of these bits
are used here. An entry waits at the level of the highest bit in which its key differs from the offset (level 0:
none). When the offset moves, let ``top`` be the level between old and new: entries above it stay where they are; all
others are looked at, and either are due or move to a lower level. So an entry moves at most 52 times, in practice two
to four; no width of buckets has to be chosen, whatever the step sizes.

Entries are never searched for. A live coordinate j always has one whose key is ``cells[j, QUEUED]`` and at most |z|.
Keys that grow need no new entry: when the old one is due, j is put back. Keys that fall below get a new one, halfway
to the offset so that this does not happen at every touch; the old one is recognised by its key when it is due, and dropped.
"""

from __future__ import annotations

import numpy as np

from epro.kernels.lazy_state import FREE, HELD, KEY, LIVE, MASS, MOMENT, NORM, OFFSET, QUEUED, ROOM, SQUARE, LazyState
from epro.kernels.records import kernel


@kernel
def level_of(key: float, offset: float) -> int:
    """The position of the highest of the upper 52 bits in which two nonnegative floats differ, from 1; 0 for none."""
    differing = (np.float64(key).view(np.int64) ^ np.float64(offset).view(np.int64)) >> 11
    if differing == 0:
        return 0
    return (np.float64(differing).view(np.int64) >> 52) - 1022  # the exponent of an exact conversion


@kernel
def clear(state: LazyState) -> None:
    """An empty queue; all its entries are free."""
    size = state.entry_key.size
    state.levels[:] = -1
    for e in range(size):
        state.entry_link[e, 1] = e + 1
    state.counts[FREE] = 0
    state.counts[ROOM] = size


@kernel
def push(state: LazyState, j: int, key: float, offset: float) -> None:
    """Puts j into the queue under a key; there must be room."""
    e = state.counts[FREE]
    state.counts[FREE] = state.entry_link[e, 1]
    state.counts[ROOM] -= 1
    state.cells[j, QUEUED] = key
    state.entry_link[e, 0] = j
    file(state, e, key, level_of(key, offset))


@kernel
def file(state: LazyState, e: int, key: float, level: int) -> None:
    """Puts entry e at a level."""
    state.entry_key[e] = key
    state.entry_link[e, 1] = state.levels[level]
    state.levels[level] = e


@kernel
def release(state: LazyState, e: int) -> None:
    """Entry e becomes free."""
    state.entry_link[e, 1] = state.counts[FREE]
    state.counts[FREE] = e
    state.counts[ROOM] += 1


@kernel
def advance(state: LazyState, step: float) -> None:
    """The offset grows by ``step``: sums follow, and the coordinates that reach zero are settled."""
    old = state.scalars[OFFSET]
    new = old + step
    live = state.counts[LIVE]
    step = new - old  # what was really added
    state.scalars[SQUARE] += step * (step * live - 2.0 * state.scalars[NORM])
    state.scalars[NORM] -= step * live
    state.scalars[OFFSET] = new
    for level in range(level_of(old, new) + 1):
        e = state.levels[level]
        state.levels[level] = -1
        while e >= 0:
            following = state.entry_link[e, 1]
            key = state.entry_key[e]
            if key > new:
                file(state, e, key, level_of(key, new))
            else:
                take(state, e, key, new)
            e = following


@kernel
def take(state: LazyState, e: int, key: float, offset: float) -> None:
    """An entry is due: its coordinate dies, or waits for longer, or is known under another entry."""
    j = state.entry_link[e, 0]
    if state.cells[j, QUEUED] != key:
        release(state, e)
        return
    z = state.cells[j, KEY]
    excess = abs(z) - offset
    if z != 0.0 and excess > 0.0:
        key = offset + 0.5 * excess
        state.cells[j, QUEUED] = key
        file(state, e, key, level_of(key, offset))
        return
    if z != 0.0:
        state.cells[j, HELD] += z * state.scalars[MASS] - np.sign(z) * state.scalars[MOMENT]
        state.cells[j, KEY] = 0.0
        state.scalars[NORM] -= excess
        state.scalars[SQUARE] -= excess * excess
        state.counts[LIVE] -= 1
    state.cells[j, QUEUED] = 0.0
    release(state, e)
