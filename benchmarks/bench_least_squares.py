"""Least squares with many rows: `minimize` with its defaults against forming X'X, and against one read of the data.

    python benchmarks/bench_least_squares.py rows [--repeat 3]
    python benchmarks/bench_least_squares.py simplex [--n 2400000] [--dtype float32] [--directory /tmp]

rows     n = 1e6, p = 100, 99 inequalities (monotone coefficients); X'X by one BLAS call, and the quadratic program
simplex  n = 2.4e6, d = 256 in a memory-mapped file, which is written first and removed after; time against one read,
         and the memory that the process holds beside the map
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from timing import best_of, interleaved, table

# isort: split
import numpy as np

import epro
from epro import constraints, losses, regularizers


def rows(options: argparse.Namespace) -> None:
    n, p = 1_000_000, 100
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    y = X @ np.linspace(-1, 1, p) ** 3 + rng.standard_normal(n)
    order = np.eye(p)[:-1] - np.eye(p)[1:]
    polyhedron = constraints.Polyhedron(order, np.zeros(p - 1))
    problem = epro.Problem(losses.Squared(X, y), regularizers.Ridge(1e-3), polyhedron)
    runs: dict[str, Any] = {
        "X'X": lambda: X.T @ X,
        "auto": lambda: epro.minimize(problem, tol=1e-6),
        "gram": lambda: epro.minimize(problem, "gram", tol=1e-6),
    }
    found = interleaved(runs, options.repeat)
    base = found["X'X"][0]
    lines = [("X'X", base, 1.0, "", "", "")]
    for name in ("auto", "gram"):
        seconds, result = found[name]
        gap = result.gap / max(1.0, abs(result.fun))
        lines.append((name, seconds, seconds / base, gap, result.n_steps / n, (result.choice or "").split(":")[0]))
    title = "least squares, n = 1e6, p = 100, 99 inequalities"
    table(title, ("method", "seconds", "times X'X", "gap", "gradients", "chosen"), lines)


def simplex(options: argparse.Namespace) -> None:
    n, d = options.n, 256
    with tempfile.TemporaryDirectory(dir=options.directory) as directory:
        path = Path(directory) / "X.dat"
        y = write(path, n, d, np.dtype(options.dtype))
        X = np.memmap(path, options.dtype, "r", shape=(n, d))
        before, peak = resident(), Peak()
        peak.start()
        problem = epro.Problem(losses.Squared(X, y), None, constraints.Simplex(1.0))
        read = min(one_read(X) for _ in range(2))
        started = time.perf_counter()
        result = epro.minimize(problem, tol=1e-4)
        first = time.perf_counter() - started
        seconds, result = best_of(lambda problem=problem: epro.minimize(problem, tol=1e-4), 1)
        peak.ended.set()
        beside = (peak.most - before) / 2**20
        allowed = 1.5 * read + 5.0
        gap = result.gap / max(1.0, abs(result.fun))
        line = (seconds, first, read, allowed, beside, gap, result.n_steps / n, (result.choice or "").split(":")[0])
        columns = ("seconds", "first run", "one read", "allowed", "MB beside the map", "gap", "gradients", "chosen")
        table(f"simplex, n = {n:.3g}, d = {d}, {options.dtype}, memory-mapped", columns, [line])
        del X, problem


def write(path: Path, n: int, d: int, dtype: np.dtype) -> np.ndarray:
    """Columns that are correlated and of different sizes; targets from a sparse mixture of them."""
    rng = np.random.default_rng(0)
    mix = np.eye(d) + 0.3 * rng.standard_normal((d, d)) / np.sqrt(d)
    truth = np.where(rng.random(d) < 0.1, rng.random(d), 0.0)
    truth /= truth.sum()
    X, y = np.memmap(path, dtype, "w+", shape=(n, d)), np.empty(n, dtype)
    for start in range(0, n, 20_000):
        block = (rng.standard_normal((min(20_000, n - start), d)) @ mix).astype(dtype)
        X[start : start + len(block)] = block
        y[start : start + len(block)] = block @ truth + 0.1 * rng.standard_normal(len(block))
    X.flush()
    return y


def one_read(X: np.ndarray) -> float:
    started = time.perf_counter()
    total = 0.0
    for start in range(0, len(X), 20_000):
        total += float(X[start : start + 20_000].sum())
    return time.perf_counter() - started


def resident() -> int:
    """Bytes of anonymous memory: what the process holds beside files."""
    return _status("RssAnon:")


class Peak(threading.Thread):
    """The largest `resident` while it runs, looked at every 10 ms."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most, self.ended = resident(), threading.Event()

    def run(self) -> None:
        while not self.ended.wait(0.01):
            self.most = max(self.most, resident())


def _status(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return 1024 * int(line.split()[1])
    raise RuntimeError(f"this system does not tell {name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("question", choices=["rows", "simplex"])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--n", type=int, default=2_400_000)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--directory", default=None)
    options = parser.parse_args()
    {"rows": rows, "simplex": simplex}[options.question](options)


if __name__ == "__main__":
    main()
