"""Steps on sparse rows in twenty million columns, against a bare loop and against dense NumPy vectors.

    python benchmarks/bench_lazy.py pass      one pass over the rows, binding l1 ball, exact averages
    python benchmarks/bench_lazy.py paper     2,000 iterations of Epro-SGD
    python benchmarks/bench_lazy.py scaling   microseconds a step against the number of columns

One thread; compiling is not timed; the best of three; what is compared runs in turn in one process. Times are those
of this process on the processor, so that other work on the machine counts less (``--wall`` for the clock on the wall).
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from epro.atoms.sparse import CSRRows
from epro.constraints import L1Ball
from epro.constraints.everywhere import EverywhereRecord
from epro.constraints.l1_ball import L1BallRecord
from epro.datasets import make_algebra
from epro.kernels.active import SparseVector, compact, spread
from epro.kernels.lazy import LazyIterate
from epro.kernels.lazy_state import L1_CUT, LIVE, LazyModel
from epro.kernels.sgd import Parts, sgd_steps
from epro.losses.logistic import LogisticLink
from epro.losses.squared import SquaredLink
from epro.moves import Explicit
from epro.penalties import Hinge
from epro.regularizers.separable import Separable

Array = Any
PAPER_EPOCHS = (8, 16, 32, 64, 128, 256, 512, 984)  # 2,000 iterations


@njit(nogil=True)
def bare(indptr: Array, indices: Array, data: Array, y: Array, draws: Array, eta: float, x: Array) -> None:
    """Logistic SGD without regularizer, constraint or average: what any step on these rows must at least do."""
    for t in range(draws.size):
        i = draws[t]
        p = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            p += data[k] * x[indices[k]]
        s = eta * y[i] / (1.0 + math.exp(y[i] * p))
        for k in range(indptr[i], indptr[i + 1]):
            x[indices[k]] += s * data[k]


def seconds(options: Any, function: Callable[..., Any], *arguments: Any) -> float:
    """How long one call takes."""
    clock = time.perf_counter if options.wall else time.process_time
    started = clock()
    function(*arguments)
    return clock() - started


def one_pass(options: Any) -> None:
    """A lazy epoch against the bare loop, in file order and in random order."""
    X, y = make_algebra(n=options.rows, d=options.columns, progress=False)
    n, d = X.shape
    ball = (L1_CUT, options.lam, options.radius)
    model = LazyModel(X.indptr, X.indices, X.data, y, np.empty(0), LogisticLink(), options.ridge, 0.0, *ball)
    iterate, etas, x = LazyIterate(d), np.full(n, options.eta), np.zeros(d)
    iterate.run(model, np.arange(10), etas[:10])
    iterate.finish()
    bare(X.indptr, X.indices, X.data, y, np.arange(10), 1.0, x)
    for name, draws in ("file", np.arange(n)), ("random", np.random.default_rng(0).permutation(n)):
        times = []
        for _ in range(3):
            x[:] = 0.0
            base = seconds(options, bare, X.indptr, X.indices, X.data, y, draws, options.eta, x)
            start = seconds(options, iterate.begin, SparseVector.zero(d))
            times.append((base, start, seconds(options, iterate.run, model, draws, etas)))
            times[-1] += (seconds(options, iterate.finish),)
        base, start, steps, finish = np.array(times).min(axis=0)
        start = max(start, times[-1][1])  # the first has nothing to forget
        print(f"{name} order: bare {n / base / 1e6:.2f} M rows/s, lazy {n / steps / 1e6:.2f} M rows/s, ratio "
              f"{base / steps:.2f}; with begin ({start:.3f} s) and finish ({finish:.3f} s) "
              f"{base / (start + steps + finish):.2f}")  # fmt: skip
        last = iterate.finish().last.values
        print(f"  cut fired in {iterate.cuts_fired} of {n} steps; ||x||_1 = {np.abs(last).sum():.2f}, radius "
              f"{options.radius}; {iterate.state.counts[LIVE]} nonzeros, {last.size} columns touched")  # fmt: skip


def active_run(X: Any, y: Array, draws: Array, eta: float, ridge: float, lam: float, radius: float) -> SparseVector:
    """Epro-SGD on the columns and rows that its draws can touch."""
    d = X.shape[1]
    small = compact(X.indptr, X.indices, X.data, draws, SparseVector.zero(d))
    rows = CSRRows(small.indptr, small.indices, small.data, small.columns.size)
    g, ball = Separable(ridge, 0.0, 0.0, np.empty(0)), L1BallRecord(radius)
    parts = Parts(rows, y[small.rows], np.ones(small.rows.size), SquaredLink(), g, ball)
    x, first = small.x, 0
    for steps in PAPER_EPOCHS:
        total, work, etas = np.zeros_like(x), np.zeros_like(x), np.full(steps, eta)
        part = small.draws[first : first + steps]
        sgd_steps(parts, Hinge(lam), EverywhereRecord(-1.0), Explicit(), x, total, work, part, etas)
        x, first, eta = L1Ball(radius).project(total / steps), first + steps, eta / 2
    return spread(small, x, d)


def lazy_run(X: Any, y: Array, draws: Array, eta: float, ridge: float, lam: float, radius: float) -> SparseVector:
    """The same, clipped, on the lazy iterate."""
    model = LazyModel(X.indptr, X.indices, X.data, y, np.empty(0), SquaredLink(), ridge, 0.0, L1_CUT, lam, radius)
    x, first = SparseVector.zero(X.shape[1]), 0
    iterate = LazyIterate(X.shape[1])
    for steps in PAPER_EPOCHS:
        iterate.begin(x)
        iterate.run(model, draws[first : first + steps], np.full(steps, eta))
        average = iterate.finish().average
        x, first, eta = average._replace(values=L1Ball(radius).project(average.values)), first + steps, eta / 2
    return x


def numpy_steps(X: Any, y: Array, draws: Array, eta: float, ridge: float, lam: float, radius: float) -> Array:
    """The steps of one epoch with dense vectors."""
    x, total = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for (i,) in draws:
        total += x
        row = slice(X.indptr[i], X.indptr[i + 1])
        columns, values = X.indices[row], X.data[row]
        slope, violated = values @ x[columns] - y[i], np.abs(x).sum() > radius
        sign = np.sign(x) if violated else None
        x *= 1.0 - eta * ridge
        x[columns] -= eta * slope * values
        if sign is not None:
            x -= eta * lam * sign
    return total


def paper(options: Any) -> None:
    """2,000 iterations of the paper's Lasso, and 20 of them with dense vectors."""
    X, y = make_algebra(n=options.rows, d=options.columns, progress=False)
    draws = np.random.default_rng(0).integers(X.shape[0], size=(2000, 1))
    setting = (0.25, 2.0, 0.03, 0.5)
    dense = 100 * min(seconds(options, numpy_steps, X, y, draws[:20], *setting) for _ in range(3))
    for name, run in ("active columns", active_run), ("lazy iterate", lazy_run):
        run(X, y, draws, *setting)
        spent = min(seconds(options, run, X, y, draws, *setting) for _ in range(3))
        print(f"{name}: {spent:.3f} s for 2,000 iterations; dense NumPy {dense:.0f} s, ratio {dense / spent:.0f}")
    gap = np.abs(active_run(X, y, draws, *setting).dense() - lazy_run(X, y, draws, *setting).dense()).max()
    print(f"largest difference of the two results (explicit and clipped): {gap:.1e}")


def scaling(options: Any) -> None:
    """The cost of a lazy step must not grow with d, but for the cache misses of the touched cells."""
    for d in (10**4, 10**5, 10**6, 10**7, 20_216_830):
        X, y = make_algebra(n=min(options.rows, 300_000), d=d, progress=False)
        n = X.shape[0]
        ball = (L1_CUT, options.lam, options.radius)
        model = LazyModel(X.indptr, X.indices, X.data, y, np.empty(0), LogisticLink(), options.ridge, 0.0, *ball)
        iterate, x, times = LazyIterate(d), np.zeros(d), []
        for _ in range(4):
            iterate.begin(SparseVector.zero(d))
            x[:] = 0.0
            base = seconds(options, bare, X.indptr, X.indices, X.data, y, np.arange(n), options.eta, x)
            times.append((base, seconds(options, iterate.run, model, np.arange(n), np.full(n, options.eta))))
        base, steps = np.array(times[1:]).min(axis=0)
        print(f"d = {d:>10,}: {1e6 * steps / n:.3f} us a lazy step, {1e6 * base / n:.3f} us bare, cut fired in "
              f"{iterate.cuts_fired / n:.0%} of the steps", flush=True)  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("pass", "paper", "scaling"))
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=20_216_830)
    parser.add_argument("--eta", type=float, default=1.0)
    parser.add_argument("--lam", type=float, default=3e-3)
    parser.add_argument("--radius", type=float, default=100.0)
    parser.add_argument("--ridge", type=float, default=2e-5)
    parser.add_argument("--wall", action="store_true")
    options = parser.parse_args()
    {"pass": one_pass, "paper": paper, "scaling": scaling}[options.what](options)
