"""Sums over large data on all cores.

Data are cut into shares by their size alone, and the shares' sums are added in their order: the result does not depend
on how many cores there are.
"""

from __future__ import annotations

import functools
import itertools
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

SHARE = 2_000_000  # entries that are worth a thread
_here = threading.local()  # .busy: this thread works for `each` and starts no others


def count() -> int:
    """Threads to use: ``OMP_NUM_THREADS`` where it is set, else the cores that this process may run on."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cuts(n: int, entries: int, columns: int) -> list[slice]:
    """Consecutive rows, in shares large enough that a vector of ``columns`` for each hardly counts."""
    shares = max(1, min(n, entries // max(SHARE, 8 * columns)))
    ends = [n * k // shares for k in range(shares + 1)]
    return [slice(low, high) for low, high in itertools.pairwise(ends)]


def each(function: Callable[..., Any], shares: Iterable[tuple[Any, ...]], threads: int | None = None) -> Iterator[Any]:
    """function(*share) for all shares, in their order; the functions run at the same time, in so many threads."""
    shares = list(shares)
    threads = 1 if getattr(_here, "busy", False) else min(threads or count(), len(shares))
    if threads <= 1:
        yield from (function(*share) for share in shares)
        return

    def quiet(share: tuple[Any, ...]) -> Any:
        _here.busy = True
        with np.errstate(all="ignore"):  # as in the thread that asks: overflow is found by looking at the sums
            return function(*share)

    with _blas().limit(limits=1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
        yield from pool.map(quiet, shares)


@functools.cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()
