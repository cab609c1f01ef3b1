"""What every benchmark of `minimize` needs: one thread, the best of several runs, the machine's load, a table."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before NumPy is loaded


def best_of(run: Callable[[], Any], repeat: int = 3) -> tuple[float, Any]:
    """The least wall-clock seconds of several runs, and its result; a first run, which compiles, is left out."""
    run()
    best, kept = float("inf"), None
    for _ in range(repeat):
        started = time.perf_counter()
        found = run()
        seconds = time.perf_counter() - started
        if seconds < best:
            best, kept = seconds, found
    return best, kept


def interleaved(runs: dict[str, Callable[[], Any]], repeat: int = 3) -> dict[str, tuple[float, Any]]:
    """`best_of` for several methods in turns, so that a busy machine is busy for all of them."""
    best: dict[str, tuple[float, Any]] = {}
    for turn in range(repeat + 1):
        for name, run in runs.items():
            started = time.perf_counter()
            found = run()
            seconds = time.perf_counter() - started
            if turn and (name not in best or seconds < best[name][0]):
                best[name] = seconds, found
    return best


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Prints a table, and how busy the machine was."""
    cells = [list(columns), *([_text(value) for value in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    print(title)
    for row in cells:
        print("  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
    print(f"  load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n", flush=True)


def _text(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
