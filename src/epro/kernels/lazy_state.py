"""The lazy iterate: what it keeps, and why a step costs only the entries of its row.

One step of the clipped form, for every coordinate j, with eta, the slope s of row A_i at x_t, and c(x_t) > 0 or not:

    x_{t+1}[j] = soft(f x_t[j] - eta s A_i[j], h),    soft(v, h) = sign(v) max(|v| - h, 0),
    f = 1 - eta ridge,  h = eta l1 + (eta lam if the l1 cut fires);  where the l2 cut fires, f -= eta lam / ||x_t||_2.

It is the proximal step of l1 ||.||_1 and of the cut, whose subgradient sign(x) is that of ||.||_1. Against the explicit
step x -= eta lam sign(x_t), it differs only where that would carry a coordinate across zero: here it stops at zero.

Scale and offset. Write x_t[j] = a_t u_t[j], with a_{t+1} = f a_t. Where the row has no entry,
u_{t+1}[j] = soft(u_t[j], h / a_{t+1}), so with the running offset B_{t+1} = B_t + h / a_{t+1}

    |x_t[j]| = a_t max(m - B_t, 0),    where the key m = |u[j]| + B (both at j's last touch) does not change.

A cell keeps z = sign * m, and z = 0 once the coordinate is at zero: it is *live* while z is not 0, and dies at the
first t with B_t >= m.

Averages. With S_t = sum_{r<t} a_r (the mass) and P_t = sum_{r<t} a_r B_r (the moment), a live coordinate adds
sign (m (S_t' - S_t) - (P_t' - P_t)) to sum_t x_t[j] between two touches. So with a held number V that is corrected
whenever z changes, V += (z - z') S_t - (sign - sign') P_t, the sum is V + z S_t - sign P_t at any time, and a cell
that dies needs no further care. V, z and all else of one coordinate share a cache line: one miss for each touch.

The norm. N = sum_j |u[j]| changes by what a touch changes, and by -(h / a) * (number of live coordinates) when B moves,
corrected for those that die on the way. A priority queue (`lazy_queue`) finds these in amortised O(1) each, so c(x_t)
is exact at every step, and so is the time of each death. The same for sum_j u[j]^2.

Rounding. u = |z| - B loses about eps B / |u|, relatively: small for any run in which B / |u| stays below 1e6. `rebase`
starts again from a = 1, B = 0 when a has become small, or when f is nearly zero or negative (as in a first epoch with
eta = 1 / ridge); that costs the number of coordinates seen so far.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from epro.kernels.hints import borrowed
from epro.kernels.records import kernel
from epro.protocols import Array

# the places of a cell, and their number, in `LazyState.cells`
KEY, HELD, QUEUED, SEEN, CELL = 0, 1, 2, 3, 4
# the places of `LazyState.scalars`: a, B, S, P, sum |u|, sum u^2, ticks of the queue per unit of B (0: B stays at 0)
SCALE, OFFSET, MASS, MOMENT, NORM, SQUARE, PER_TICK = 0, 1, 2, 3, 4, 5, 6
# the places of `LazyState.counts`
LIVE, TOUCHED, FREE, ROOM, FIRED = 0, 1, 2, 3, 4
# the values of `LazyModel.kind`
NO_CUT, L1_CUT, L2_CUT = 0, 1, 2

DIGIT, LEVELS = 8, 6  # the queue's ticks have 6 digits of 8 bits
SLOTS, LAST_TICK = 1 << DIGIT, float((1 << DIGIT * LEVELS) - 1)


class LazyModel(NamedTuple):
    """What the steps are about: rows, loss, regularizer (ridge/2)||x||^2 + l1 ||x||_1, and a cut with the hinge.

    ``kind`` is `NO_CUT`, `L1_CUT` or `L2_CUT`: the norm in c(x) = ||x|| - radius. ``weights`` is empty where all are
    one. No row may name a column twice.
    """

    indptr: Array
    indices: Array
    data: Array
    y: Array
    weights: Array
    link: Any
    ridge: float
    l1: float
    kind: int
    lam: float
    radius: float


class LazyState(NamedTuple):
    """The iterate between two steps. All arrays are changed in place.

    ``cells[4 * j : 4 * j + 4]`` holds z, V, the key under which the queue knows j (0 where it does not), and whether j
    was ever live. ``touched`` lists the columns that were. ``entry_key``, ``entry_link`` (column, next) and ``waiting``
    (level, slot) are the queue.
    """

    cells: Array
    touched: Array
    scalars: Array
    counts: Array
    entry_key: Array
    entry_link: Array
    waiting: Array


def new_state(columns: int, entries: int) -> LazyState:
    """The origin, with room for some entries in the queue. Pages of memory are only taken when first touched."""
    if columns >= 2**31:
        raise ValueError(f"lazy iterate: at most 2**31 - 1 columns, found {columns}")
    state = LazyState(
        cells=aligned_zeros(columns),
        touched=np.empty(columns, np.int32),
        scalars=np.zeros(7),
        counts=np.zeros(5, np.int64),
        entry_key=np.empty(entries),
        entry_link=np.empty((entries, 2), np.int32),
        waiting=np.empty((LEVELS, SLOTS), np.int32),
    )
    return state


def aligned_zeros(columns: int) -> Array:
    """Zeroed cells of 32 bytes, none of which lies across two cache lines."""
    raw = np.zeros(CELL * columns + 8)
    skip = (-raw.ctypes.data // 8) % 8
    return raw[skip : skip + CELL * columns]


@kernel(forceinline=True)
def borrowed_model(m: LazyModel) -> LazyModel:
    """The same model, uncounted."""
    return LazyModel(
        borrowed(m.indptr), borrowed(m.indices), borrowed(m.data), borrowed(m.y), borrowed(m.weights),
        m.link, m.ridge, m.l1, m.kind, m.lam, m.radius,
    )  # fmt: skip


@kernel(forceinline=True)
def borrowed_state(s: LazyState) -> LazyState:
    """The same state, uncounted."""
    return LazyState(
        borrowed(s.cells), borrowed(s.touched), borrowed(s.scalars), borrowed(s.counts),
        borrowed(s.entry_key), borrowed(s.entry_link), borrowed(s.waiting),
    )  # fmt: skip
