"""Steps on sparse rows in twenty million columns: the lazy iterate against a bare loop, active columns against dense NumPy.

    python benchmarks/bench_lazy.py pass      one pass over the rows, binding l1 ball, exact averages
    python benchmarks/bench_lazy.py paper     2,000 iterations of Epro-SGD
    python benchmarks/bench_lazy.py scaling   microseconds a step against the number of columns

One thread; compiling is not timed; the best of three; what is compared runs in turn in one process.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from epro.datasets import make_algebra
from epro.kernels.active import SparseVector
from epro.kernels.lazy import LazyIterate
from epro.kernels.lazy_state import L1_CUT, LIVE, LazyModel
from epro.losses.logistic import LogisticLink

Array = Any


@njit(nogil=True)
def bare(indptr: Array, indices: Array, data: Array, y: Array, draws: Array, eta: float, x: Array) -> None:
    """Logistic SGD without regularizer, constraint or average: what any step on these rows must at least do."""
    for t in range(draws.size):
        i = draws[t]
        p = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            p += data[k] * x[indices[k]]
        s = -eta * y[i] / (1.0 + math.exp(y[i] * p))
        for k in range(indptr[i], indptr[i + 1]):
            x[indices[k]] -= -s * -data[k]


def best(function: Callable[[], Any], repeats: int = 3) -> float:
    """The least of a few times, after one call that compiles."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        function()
        times.append(time.perf_counter() - started)
    return min(times)


def model_of(X: Any, y: Array, lam: float, radius: float, ridge: float) -> LazyModel:
    empty = np.empty(0)
    return LazyModel(X.indptr, X.indices, X.data, y, empty, LogisticLink(), ridge, 0.0, L1_CUT, lam, radius)


def one_pass(options: Any) -> None:
    """Lazy epochs against the bare loop, in file order and in random order."""
    X, y = make_algebra(n=options.rows, d=options.columns, progress=False)
    n, d = X.shape
    model = model_of(X, y, options.lam, options.radius, options.ridge)
    iterate, etas = LazyIterate(d), np.full(n, options.eta)
    iterate.run(model, np.arange(10), etas[:10])
    bare(X.indptr, X.indices, X.data, y, np.arange(10), 1.0, np.zeros(d))
    orders = {"file": np.arange(n), "random": np.random.default_rng(0).permutation(n)}
    for name, draws in orders.items():
        x = np.zeros(d)
        spent: dict[str, list[float]] = {"bare": [], "begin": [], "steps": [], "finish": []}
        for _ in range(options.repeats):
            x[:] = 0.0
            spent["bare"].append(best(lambda: bare(X.indptr, X.indices, X.data, y, draws, options.eta, x), 1))
            spent["begin"].append(best(lambda: iterate.begin(SparseVector.zero(d)), 1))
            spent["steps"].append(best(lambda: iterate.run(model, draws, etas), 1))
            spent["finish"].append(best(iterate.finish, 1))
        result = iterate.finish()
        base, (begun, steps, finish) = min(spent["bare"]), (min(spent[k]) for k in ("begin", "steps", "finish"))
        norm = np.abs(result.last.values).sum()
        print(f"{name} order: bare {n / base / 1e6:.2f} M rows/s, lazy {n / steps / 1e6:.2f} M rows/s, ratio "
              f"{base / steps:.2f}; with begin ({begun:.3f} s) and finish ({finish:.3f} s) "
              f"{base / (begun + steps + finish):.2f}")
        print(f"  cuts fired in {iterate.cuts_fired} of {n} steps; ||x||_1 = {norm:.3f}, radius {options.radius}; "
              f"{iterate.state.counts[LIVE]} nonzeros, {result.average.columns.size} columns touched")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("pass", "paper", "scaling"))
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=20_216_830)
    parser.add_argument("--eta", type=float, default=1.0)
    parser.add_argument("--lam", type=float, default=3e-3)
    parser.add_argument("--radius", type=float, default=100.0)
    parser.add_argument("--ridge", type=float, default=2e-5)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    {"pass": one_pass}[options.what](options)
