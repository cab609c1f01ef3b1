"""The steps of `kernels.sgd` for metric learning, in one pass over memory.

A step of the general kernel passes over (d, d) matrices some ten times: the sum of the iterates, the regularizer, the
row, the cut, its products. All iterates are symmetric, so that the upper triangle is enough, packed row by row; and
while a row of it is in cache everything is done to it at once: the sum, the regularizer, the few rank-one terms of the
triplet and the cut, and its part of the next cut's first product. The trajectory is that of the general kernel, up to
rounding.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from epro.kernels.psd_cut import budgeted_cut, rows_of, start_vector
from epro.kernels.records import kernel
from epro.kernels.skipping import BOUND, REACH, SAVED, forget, left_out, renew, renews
from epro.protocols import Array, Index

TILE = 64  # side of the blocks in which a triangle is mirrored


class Packed(NamedTuple):
    """The problem of a metric, with g's terms and the cut's constants spelled out."""

    atoms: Any
    y: Array
    weights: Array
    link: Any
    side: int
    floor: float
    budget: int
    ridge: float
    l1: float
    l1_off: float
    tilt: Array  # packed, or empty
    g_bound: float  # of the norm of g's subgradient without the ridge
    explicit: bool  # g by a subgradient step, before the row; or by its prox, after it
    skip: bool  # leave out cuts that cannot be violated
    counts: Index  # cuts, projections, cuts left out


class Recorder(NamedTuple):
    """Stands for the constraint in a penalty: keeps the weight of the cut, and knows how far the row moved along it."""

    numbers: Array  # the weight, <v, step of the row>

    def descend(self, work: Array, s: float, x: Array) -> None:
        self.numbers[0] = s

    def inner(self, work: Array, x: Array) -> float:
        return self.numbers[1]

    def cut_norm2(self, work: Array) -> float:
        return 1.0


@kernel
def packed_steps(
    p: Any, penalty: Any, move: Any, x: Array, total: Array, work: Array, memo: Array, draws: Index, etas: Array
) -> None:
    """As `sgd_steps`, on packed x and total."""
    batch, d = draws.shape[1], p.side
    vectors, signs = np.zeros((2 * batch + 1, d)), np.zeros(2 * batch + 1)
    recorder = Recorder(np.zeros(2))
    u, warm, y, basis = rows_of(work, d, p.budget)
    given, norm = False, np.sqrt(2.0 * np.dot(x, x))
    for t in range(draws.shape[0]):
        eta = etas[t]
        recorder.numbers[0], recorder.numbers[1], reach = 0.0, 0.0, 0.0
        for b in range(batch):
            i = draws[t, b]
            near, far = vectors[2 * b], vectors[2 * b + 1]
            p.atoms.differences(i, near, far)
            prediction = packed_quadratic(x, near) - packed_quadratic(x, far)
            weight = eta * p.weights[i]
            signs[2 * b] = -weight * move.rate(p.link, p.atoms, i, prediction, p.y[i], weight) / batch
            signs[2 * b + 1] = -signs[2 * b]
            reach += abs(signs[2 * b]) * (np.dot(near, near) + np.dot(far, far))
        c = packed_cut(p, x, work, memo, given)
        for r in range(2 * batch):
            recorder.numbers[1] -= signs[r] * np.dot(vectors[r], u) ** 2
        penalty.push(recorder, work, c, 0.0, eta, x)
        signs[2 * batch] = recorder.numbers[0]
        vectors[2 * batch] = u
        start_vector(warm, int(work[-1]), basis[0])
        sweep(p, eta, vectors, signs, x, total, basis[0], y)
        given = True
        if p.skip:
            reach += abs(signs[2 * batch])
            reach += eta * (p.g_bound + p.ridge * (norm + reach + eta * p.g_bound))  # as in `Regularizer.lipschitz_on`
            memo[REACH] += reach * (1.0 + 1e-9)
            norm += reach


@kernel
def packed_cut(p: Any, x: Array, work: Array, memo: Array, given: bool) -> float:
    """The cut at x; an upper bound of c, and no cut, where that bound is negative."""
    if p.skip and np.isfinite(memo[BOUND]):
        bound = left_out(memo, memo[REACH])
        if bound < 0.0:
            memo[SAVED] += 1.0
            p.counts[2] += 1
            return bound
        forget(memo, p.side // 10)
    p.counts[0] += 1
    c = budgeted_cut(x, p.side, p.floor, p.budget, work, given)
    if p.skip and renews(memo, c):
        full = np.empty((p.side, p.side))
        unpack(x, full)
        memo[REACH] = 0.0
        renew(memo, p.floor - np.linalg.eigvalsh(full)[0], p.side // 10)
    return c


@kernel
def packed_quadratic(x: Array, v: Array) -> float:
    """v'Xv; rows where v is zero are not read."""
    total, start, d = 0.0, 0, v.size
    for i in range(d):
        if v[i] != 0.0:
            row = x[start : start + d - i]
            total += v[i] * (row[0] * v[i] + 2.0 * np.dot(row[1:], v[i + 1 :]))
        start += d - i
    return total


@kernel
def sweep(p: Any, eta: float, vectors: Array, signs: Array, x: Array, total: Array, q: Array, y: Array) -> None:
    """total += x; x = the next point, which adds signs[r] vectors[r] vectors[r]' and takes g's step; y = x q."""
    d, start = q.size, 0
    y[:] = 0.0
    for i in range(d):
        row, sums, tilt = x[start : start + d - i], total[start : start + d - i], p.tilt[start : start + d - i]
        for j in range(row.size):
            sums[j] += row[j]
        if p.explicit:
            forward_row(p, eta, row, tilt)
        for r in range(signs.size):
            weight = signs[r] * vectors[r, i]
            if weight != 0.0:
                tail = vectors[r, i:]
                for j in range(row.size):
                    row[j] += weight * tail[j]
        if not p.explicit:
            prox_row(p, eta, row, tilt)
        out, weight = y[i:], q[i]
        for j in range(row.size):
            out[j] += weight * row[j]
        out[0] += np.dot(row[1:], q[i + 1 :])
        start += d - i


@kernel
def forward_row(p: Any, eta: float, row: Array, tilt: Array) -> None:
    """`Separable.forward` on a row that starts at the diagonal."""
    shrink, threshold, first = 1.0 - eta * p.ridge, eta * (p.l1 + p.l1_off), row[0]
    for j in range(row.size):
        a = row[j]
        row[j] = shrink * a - (threshold if a > 0.0 else (-threshold if a < 0.0 else 0.0))
    row[0] = shrink * first - eta * p.l1 * np.sign(first)
    for j in range(tilt.size):
        row[j] -= eta * tilt[j]


@kernel
def prox_row(p: Any, eta: float, row: Array, tilt: Array) -> None:
    """`Separable.prox` on a row that starts at the diagonal."""
    shrink, threshold = 1.0 / (1.0 + eta * p.ridge), eta * (p.l1 + p.l1_off)
    for j in range(tilt.size):
        row[j] -= eta * tilt[j]
    first = row[0]
    for j in range(row.size):
        row[j] = shrink * (max(row[j] - threshold, 0.0) + min(row[j] + threshold, 0.0))
    row[0] = shrink * (max(first - eta * p.l1, 0.0) + min(first + eta * p.l1, 0.0))


@kernel
def pack(full: Array, x: Array) -> bool:
    """x = the upper triangle; whether ``full`` is symmetric."""
    d, start, symmetric = full.shape[0], 0, True
    for i in range(d):
        x[start : start + d - i] = full[i, i:]
        start += d - i
    for top in range(0, d, TILE):
        for left in range(0, top + TILE, TILE):
            for i in range(top, min(top + TILE, d)):
                for j in range(left, min(left + TILE, i)):
                    symmetric &= full[i, j] == full[j, i]
    return symmetric


@kernel
def unpack(x: Array, full: Array) -> None:
    """Both triangles from the upper one."""
    d, start = full.shape[0], 0
    for i in range(d):
        full[i, i:] = x[start : start + d - i]
        start += d - i
    for top in range(0, d, TILE):
        for left in range(0, top + TILE, TILE):
            for i in range(top, min(top + TILE, d)):
                for j in range(left, min(left + TILE, i)):
                    full[i, j] = full[j, i]
