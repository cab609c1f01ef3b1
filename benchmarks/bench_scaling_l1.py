"""How the cost of an Epro-SGD iteration under an l1 ball grows with the columns and with the nonzeros of a row.

    python benchmarks/bench_scaling_l1.py [--steps 20000] [--out out]

Algebra-shaped rows, 20,000 of them; iterations on dense vectors (where they are affordable), on the columns of the
drawn rows, and on the lazy iterate. Prints a table, and writes scaling_l1.csv and scaling_l1.png.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from epro import constraints, datasets, losses, regularizers
from epro.experiments.figure1_lasso.engines import LazyOracles, Scripted, restrict
from epro.moves import Explicit
from epro.oracles import Oracles
from epro.penalties import Hinge
from epro.problem import Problem
from epro.protocols import Array
from epro.report.tables import print_table, write_csv
from epro.schedules import Epoch

COLUMNS = (10_000, 100_000, 1_000_000, 5_000_000, 20_000_000)
NONZEROS = (4, 12, 36, 108, 324)
DENSE = 2e9  # columns times steps that one is ready to wait for


def measure(d: int, nonzeros: int, steps: int) -> list[dict[str, Any]]:
    """Seconds per iteration of each way of holding the iterate."""
    X, y = datasets.make_algebra(n=20_000, d=d, nnz_per_row=nonzeros, progress=False)
    problem = Problem(losses.Squared(X, y), regularizers.Ridge(2e-5), constraints.L1Ball(30.0))
    draws = np.random.default_rng(0).integers(problem.n, size=steps)
    rows = [one("lazy", lambda some: LazyOracles(problem, some), draws)]
    rows.append(one("active columns, 2,000 steps", lambda some: active(problem, some), draws[:2000]))
    affordable = max(20, min(steps, int(DENSE / d / 100)))
    rows.append(one("dense", lambda some: Dense(problem, Scripted(some)), draws[:affordable]))  # type: ignore[arg-type]
    return [{"d": d, "nonzeros": nonzeros, **row} for row in rows]


class Dense(Oracles):
    """All columns at every step, however few of them the rows touch."""

    def epoch(self, x: Array, epoch: Epoch, penalty: Any, move: Any, domain: Any = None, batch: int = 1) -> Array:
        total = np.zeros_like(x)
        self.steps(x, total, epoch.step_sizes(), penalty, move, domain, batch)
        return total / epoch.steps


def active(problem: Problem, draws: Any) -> Oracles:
    """The run on active columns; finding them is part of what is measured."""
    small = restrict(problem, draws)
    return Oracles(small.problem, Scripted(small.draws))  # type: ignore[arg-type]


def one(name: str, make: Any, draws: Any) -> dict[str, Any]:
    """The shorter of two runs, after one that compiles."""
    times = []
    for rows in (draws[:10], draws, draws):
        started = time.perf_counter()
        oracles = make(rows)
        x = np.zeros(oracles.problem.shape, oracles.problem.dtype)
        oracles.epoch(x, Epoch(rows.size, 0.5), Hinge(0.03), Explicit())
        times.append((time.perf_counter() - started) / rows.size)
    return {"engine": name, "steps": draws.size, "seconds per iteration": min(times[1:])}


def draw(tables: list[list[dict[str, Any]]], path: Path) -> None:
    """Two log-log panels."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    for axes, rows, name in zip(figure.subplots(1, 2), tables, ("d", "nonzeros"), strict=True):
        for engine in dict.fromkeys(row["engine"] for row in rows):
            here = [row for row in rows if row["engine"] == engine]
            axes.plot([r[name] for r in here], [r["seconds per iteration"] for r in here], "o-", label=engine)
        axes.set(xscale="log", yscale="log", ylabel="seconds per iteration")
        axes.set_xlabel("columns d (36 nonzeros per row)" if name == "d" else "nonzeros per row (d = 1,000,000)")
        axes.grid(alpha=0.3)
    figure.axes[0].legend()
    figure.savefig(path, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--out", type=Path, default=Path("out"))
    options = parser.parse_args()
    by_columns = [row for d in COLUMNS for row in measure(d, 36, options.steps)]
    by_nonzeros = [row for k in NONZEROS for row in measure(1_000_000, k, options.steps)]
    options.out.mkdir(parents=True, exist_ok=True)
    print_table(by_columns + by_nonzeros)
    write_csv(options.out / "scaling_l1.csv", by_columns + by_nonzeros)
    draw([by_columns, by_nonzeros], options.out / "scaling_l1.png")


if __name__ == "__main__":
    main()
