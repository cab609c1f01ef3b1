"""Which coordinates reach zero when the offset moves: a timing wheel over their keys.

A key is rounded down to ticks, about two to each move of the offset (see `set_tick`). Written with digits of 8 bits, a
tick differs from the offset's own in some highest digit: that is the level at which an entry waits, in the slot of its
digit there. When the offset moves, let ``top`` be the highest digit that changes: entries above stay where they are,
slots passed are emptied, and what they hold either is due or moves to a lower level. So an entry moves at most once
for each level; most are due within 256 ticks and move not at all. Nothing is rounded but the place of waiting: whether
a coordinate has reached zero is seen from its key.

Entries are never searched for. A live coordinate j always has one whose key is ``cells[4 * j + QUEUED]``, at most |z|.
Keys that grow need no new entry: when the old one is due, j is put back. Keys that fall below get a new one, halfway
to the offset so that this does not happen at every touch; the old one is recognised by its key when due, and dropped.
Where the offset never moves (no tick), nothing is queued.
"""

from __future__ import annotations

import math

from epro.kernels.lazy_state import (
    CELL,
    DIGIT,
    FREE,
    HELD,
    KEY,
    LAST_TICK,
    LEVELS,
    LIVE,
    MASS,
    MOMENT,
    NORM,
    OFFSET,
    PER_TICK,
    QUEUED,
    ROOM,
    SLOTS,
    SQUARE,
    LazyState,
)
from epro.kernels.records import kernel

# Every helper becomes part of the loop: as a call it would pass some fifty words each time.
inlined = kernel(forceinline=True, error_model="numpy")


@inlined
def tick_of(state: LazyState, key: float) -> int:
    """The tick of a key or of the offset; what is too far away waits at the last one."""
    return int(min(key * state.scalars[PER_TICK], LAST_TICK))


@inlined
def digit_length(difference: int) -> int:
    """The position of the highest digit that is not zero, from 0."""
    level = 0
    while difference >= SLOTS:
        difference >>= DIGIT
        level += 1
    return level


@inlined
def file(state: LazyState, e: int, key: float, now: int) -> None:
    """Puts entry e where it waits, seen from the offset's tick."""
    tick = tick_of(state, key)
    level = digit_length(tick ^ now)
    slot = (tick >> (DIGIT * level)) & (SLOTS - 1)
    state.entry_key[e] = key
    state.entry_link[e, 1] = state.waiting[level, slot]
    state.waiting[level, slot] = e


@kernel(error_model="numpy")
def clear(state: LazyState) -> None:
    """An empty queue; all its entries are free."""
    size = state.entry_key.size
    state.waiting[:] = -1
    for e in range(size):
        state.entry_link[e, 1] = e + 1
    state.counts[FREE] = 0
    state.counts[ROOM] = size


@inlined
def push(state: LazyState, j: int, key: float, now: int) -> None:
    """Puts j into the queue under a key, where ``now`` is the offset's tick; there must be room."""
    if state.scalars[PER_TICK] > 0.0:
        e = state.counts[FREE]
        state.counts[FREE] = state.entry_link[e, 1]
        state.counts[ROOM] -= 1
        state.cells[CELL * j + QUEUED] = key
        state.entry_link[e, 0] = j
        file(state, e, key, now)


@inlined
def release(state: LazyState, e: int) -> None:
    """Entry e becomes free."""
    state.entry_link[e, 1] = state.counts[FREE]
    state.counts[FREE] = e
    state.counts[ROOM] += 1


@inlined
def advance(state: LazyState, step: float) -> None:
    """The offset grows by ``step``: sums follow, and the coordinates that reach zero are settled."""
    old = state.scalars[OFFSET]
    new = old + step
    live = state.counts[LIVE]
    step = new - old  # what was really added
    state.scalars[SQUARE] += step * (step * live - 2.0 * state.scalars[NORM])
    state.scalars[NORM] -= step * live
    state.scalars[OFFSET] = new
    before, now = tick_of(state, old), tick_of(state, new)
    top = digit_length(before ^ now)
    for level in range(top + 1):
        first = (before >> (DIGIT * level)) & (SLOTS - 1)
        last = (now >> (DIGIT * level)) & (SLOTS - 1) if level == top else SLOTS - 1
        for slot in range(first, last + 1):
            e = state.waiting[level, slot]
            state.waiting[level, slot] = -1
            while e >= 0:
                following = state.entry_link[e, 1]
                key = state.entry_key[e]
                if key > new:
                    file(state, e, key, now)
                else:
                    take(state, e, key, new, now)
                e = following


@kernel(error_model="numpy")
def sweep(state: LazyState) -> None:
    """Drops the entries that are no longer those of their coordinates."""
    for level in range(LEVELS):
        for slot in range(SLOTS):
            e = state.waiting[level, slot]
            state.waiting[level, slot] = -1
            while e >= 0:
                following = state.entry_link[e, 1]
                if state.cells[CELL * int(state.entry_link[e, 0]) + QUEUED] != state.entry_key[e]:
                    release(state, e)
                else:
                    state.entry_link[e, 1] = state.waiting[level, slot]
                    state.waiting[level, slot] = e
                e = following


@inlined
def take(state: LazyState, e: int, key: float, offset: float, now: int) -> None:
    """An entry is due: its coordinate dies, or waits for longer, or is known under another entry."""
    j = int(state.entry_link[e, 0])
    if state.cells[CELL * j + QUEUED] != key:
        release(state, e)
        return
    z = state.cells[CELL * j + KEY]
    excess = abs(z) - offset
    if z != 0.0 and excess > 0.0:
        halfway = offset + 0.5 * excess
        state.cells[CELL * j + QUEUED] = halfway
        file(state, e, halfway, now)
        return
    if z != 0.0:
        settle(state, j, z)
        state.scalars[NORM] -= excess
        state.scalars[SQUARE] -= excess * excess
        state.counts[LIVE] -= 1
    state.cells[CELL * j + QUEUED] = 0.0
    release(state, e)


@inlined
def settle(state: LazyState, j: int, z: float) -> None:
    """A live coordinate becomes zero; its iterates so far are all in V."""
    state.cells[CELL * j + HELD] += z * state.scalars[MASS] - math.copysign(state.scalars[MOMENT], z)
    state.cells[CELL * j + KEY] = 0.0
