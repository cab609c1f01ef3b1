"""Schedules: how many steps each epoch takes, and with which step size.

A schedule is an iterator of `Epoch`, named after the theorem or the method it comes from, and knows nothing of a
solver. Most are infinite; `within` cuts them where the budget ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from epro.protocols import Array
from epro.validation import finite, positive


@dataclass(frozen=True, eq=False)
class Epoch:
    """One epoch: a number of steps, and one step size for all of them or one for each.

    Parameters
    ----------
    steps : int
        At least one.
    step_size : float or array of shape (steps,)
        Positive.

    Examples
    --------
    >>> from epro.schedules import Epoch
    >>> Epoch(8, 0.5).step_sizes(2, 5)
    array([0.5, 0.5, 0.5])
    """

    steps: int
    step_size: float | Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", count(self.steps, "Epoch: steps"))
        if np.ndim(self.step_size) == 0:
            object.__setattr__(self, "step_size", positive(self.step_size, "Epoch: step_size"))
            return
        sizes = finite(self.step_size, "Epoch: step_size", ndim=1)
        if sizes.shape != (self.steps,) or not (sizes > 0).all():
            raise ValueError(
                f"Epoch: step_size must be a positive number or {self.steps} of them, one per step, "
                f"got shape {sizes.shape} with smallest entry {sizes.min(initial=math.inf):g}"
            )
        object.__setattr__(self, "step_size", sizes)

    def step_sizes(self, first: int = 0, last: int | None = None) -> Array:
        """The step sizes of the steps first, ..., last - 1 (counted from zero), as an array of their own."""
        last = self.steps if last is None else last
        if not 0 <= first <= last <= self.steps:
            raise ValueError(f"Epoch: asked for the steps {first} to {last} of an epoch of {self.steps} steps")
        if isinstance(self.step_size, np.ndarray):
            return self.step_size[first:last].copy()
        return np.full(last - first, self.step_size)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Epoch):
            return NotImplemented
        return self.steps == other.steps and np.array_equal(self.step_size, other.step_size)

    def __hash__(self) -> int:
        return hash((self.steps, float(np.max(self.step_size))))


def doubling(t1: int, eta1: float, *, shrink: float = 0.5) -> Iterator[Epoch]:
    """T_{k+1} = 2 T_k and eta_{k+1} = shrink * eta_k, for ever (Algorithm 1, line 9).

    Parameters
    ----------
    t1 : int
        Steps of the first epoch.
    eta1 : float
        Step size of the first epoch.
    shrink : float, default 0.5
        What the step size is multiplied with, above zero and at most one.

    Examples
    --------
    >>> from epro.schedules import doubling, within
    >>> list(within(doubling(8, 0.5), 60))
    [Epoch(steps=8, step_size=0.5), Epoch(steps=16, step_size=0.25), Epoch(steps=32, step_size=0.125)]
    """
    t1, eta1 = count(t1, "doubling: t1"), positive(eta1, "doubling: eta1")
    if not 0 < shrink <= 1:
        raise ValueError(f"doubling: shrink must be above 0 and at most 1, got {shrink:g}")
    return _doubling(t1, eta1, shrink)


def _doubling(steps: int, eta: float, shrink: float) -> Iterator[Epoch]:
    while True:
        yield Epoch(steps, eta)
        steps, eta = 2 * steps, shrink * eta


def epro_orda(t1: int, eta1: float) -> Iterator[Epoch]:
    """T_{k+1} = 2 T_k and eta_{k+1} = eta_k / sqrt(2) (Algorithm 3, line 6).

    Examples
    --------
    >>> from itertools import islice
    >>> from epro.schedules import epro_orda
    >>> [(e.steps, round(e.step_size, 3)) for e in islice(epro_orda(16, 1.0), 3)]
    [(16, 1.0), (32, 0.707), (64, 0.5)]
    """
    return doubling(t1, eta1, shrink=math.sqrt(0.5))


def epoch_sgd(beta: float) -> Iterator[Epoch]:
    """Epoch-SGD (Hazan and Kale): T_1 = 4, eta_1 = 1/beta, T doubles, eta halves.

    Examples
    --------
    >>> from epro.schedules import epoch_sgd
    >>> next(epoch_sgd(0.1))
    Epoch(steps=4, step_size=10.0)
    """
    return doubling(4, 1.0 / positive(beta, "epoch_sgd: beta"))


def inverse_time(beta: float, steps: int) -> Iterator[Epoch]:
    """One epoch with eta_t = 1/(beta t), t = 1, ..., steps: SGD in the manner of Pegasos.

    Examples
    --------
    >>> from epro.schedules import inverse_time
    >>> next(inverse_time(2.0, 4)).step_sizes()
    array([0.5       , 0.25      , 0.16666667, 0.125     ])
    """
    beta, steps = positive(beta, "inverse_time: beta"), count(steps, "inverse_time: steps")
    return iter([Epoch(steps, 1.0 / (beta * np.arange(1, steps + 1)))])


def constant(steps: int, eta: float) -> Iterator[Epoch]:
    """Epochs of the same length and the same step size, for ever.

    Examples
    --------
    >>> from epro.schedules import constant, within
    >>> list(within(constant(10, 0.1), 25))
    [Epoch(steps=10, step_size=0.1), Epoch(steps=10, step_size=0.1)]
    """
    epoch = Epoch(steps, eta)
    return iter(lambda: epoch, None)


def within(schedule: Iterable[Epoch], T: int, *, overhead: int = 0) -> Iterator[Epoch]:
    """The epochs that complete within T stochastic gradients, each costing its steps and ``overhead``.

    This is the loop ``while T_1 + ... + T_k <= T`` of Algorithms 1 and 3. An epoch of ORDA takes T_k + 1 gradients
    (Algorithm 2 runs t = 1, ..., T + 1), hence ``overhead=1`` there.

    Examples
    --------
    >>> from epro.schedules import epro_orda, within
    >>> [e.steps for e in within(epro_orda(16, 1.0), 50, overhead=1)]
    [16, 32]
    >>> [e.steps for e in within(epro_orda(16, 1.0), 49, overhead=1)]
    [16]
    """
    used = 0
    for epoch in schedule:
        used += epoch.steps + overhead
        if used > T:
            return
        yield epoch


def count(value: float, name: str) -> int:
    """A whole number of at least one; 1e3 is one."""
    whole = isinstance(value, int | np.integer) or (isinstance(value, float | np.floating) and value == value // 1)
    if isinstance(value, bool) or not whole:
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, got {value}")
    return int(value)
