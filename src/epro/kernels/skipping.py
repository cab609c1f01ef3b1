"""Cuts that need not be computed, because c is Lipschitz.

With an upper bound c_ref of c at a reference point, c(x) <= c_ref + G2 ||x - x_ref||. While that is negative the
constraint holds at x, and a penalty that looks at c only where it is violated (the hinge) does nothing there: leaving
the cut out changes no bit of the trajectory. The bound is renewed where a computed cut is negative.

Renewing it may cost more than a cut (a semidefinite cut is a lower model of c; an upper bound takes all eigenvalues).
Where the last reference saved fewer than ``pays`` cuts, twice as many negative cuts pass before the next.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from epro.kernels.records import kernel
from epro.protocols import Array, Index

BOUND, WAIT, COUNTDOWN, SAVED, REACH = range(5)  # the entries of ``memo``
PATIENCE = 1024.0
MARGIN = 1e-9  # of the reference's bound, for rounding


def new_memo() -> Array:
    """No reference yet: its bound, cuts to wait for the next, how many of these are left, cuts saved, G2 * distance."""
    return np.array([np.inf, 1.0, 1.0, 0.0, 0.0])


@kernel
def forget(memo: Array, pays: int) -> None:
    """The reference has served: one that saved little makes the next one wait."""
    if np.isfinite(memo[BOUND]):
        memo[WAIT] = 1.0 if memo[SAVED] >= pays else min(2.0 * memo[WAIT], PATIENCE)
        memo[COUNTDOWN] = memo[WAIT]
    memo[BOUND], memo[SAVED], memo[REACH] = np.inf, 0.0, 0.0


@kernel
def renews(memo: Array, c: float) -> bool:
    """Whether a computed cut, which was c, should be followed by a new reference."""
    if c >= 0.0:
        return False
    memo[COUNTDOWN] -= 1.0
    return memo[COUNTDOWN] <= 0.0


@kernel
def renew(memo: Array, bound: float, pays: int) -> None:
    """A new reference, if the upper bound of c there is negative."""
    memo[BOUND] = min(bound, 0.0)
    if bound >= 0.0:
        forget(memo, pays + 1)


@kernel
def left_out(memo: Array, reach: float) -> float:
    """An upper bound of c at a point whose distance from the reference, times G2, is ``reach``; zero if of no use."""
    bound = memo[BOUND] + reach
    return bound if bound < -MARGIN * abs(memo[BOUND]) else 0.0


class Skipping(NamedTuple):
    """A constraint record that leaves out cuts which cannot be violated; ``skipped[0]`` counts them.

    Where a cut is left out, ``cut`` returns the (negative) upper bound, and ``work`` keeps an older cut: for penalties
    that do nothing where c < 0.
    """

    inner_record: Any
    lipschitz: float
    pays: int
    reference: Array
    memo: Array
    skipped: Index

    def cut(self, x: Array, work: Array) -> float:
        if np.isfinite(self.memo[BOUND]):
            bound = left_out(self.memo, self.lipschitz * distance(x.reshape(-1), self.reference))
            if bound < 0.0:
                self.skipped[0] += 1
                self.memo[SAVED] += 1.0
                return bound
            forget(self.memo, self.pays)
        c = self.inner_record.cut(x, work)
        if renews(self.memo, c):
            self.reference[:] = x.reshape(-1)
            renew(self.memo, self.inner_record.above(x, c, work), self.pays)
        return c

    def descend(self, work: Array, s: float, x: Array) -> None:
        self.inner_record.descend(work, s, x)

    def inner(self, work: Array, x: Array) -> float:
        return self.inner_record.inner(work, x)

    def cut_norm2(self, work: Array) -> float:
        return self.inner_record.cut_norm2(work)

    def above(self, x: Array, c: float, work: Array) -> float:
        return self.inner_record.above(x, c, work)

    def project(self, x: Array) -> None:
        self.inner_record.project(x)


@kernel
def distance(x: Array, y: Array) -> float:
    """||x - y||, in blocks that stay in cache."""
    size, total = 1024, 0.0
    step = np.empty(min(size, x.size), x.dtype)
    for first in range(0, x.size, size):
        count = min(size, x.size - first)
        for j in range(count):
            step[j] = x[first + j] - y[first + j]
        total += np.dot(step[:count], step[:count])
    return np.sqrt(total)
