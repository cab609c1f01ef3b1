"""``epro solve``: a problem from files, solved from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from epro import constraints, datasets, losses, regularizers
from epro.datasets.local import read_table
from epro.problem import Problem
from epro.result import Result

LOSSES = {
    "squared": losses.Squared, "logistic": losses.Logistic, "hinge": losses.Hinge, "squared-hinge": losses.SquaredHinge,
    "huber": losses.Huber, "absolute": losses.Absolute, "quantile": losses.Quantile,
}  # fmt: skip
COMPRESSED = (".gz", ".bz2", ".xz")


class BadInput(ValueError):
    """What the user can repair; printed without a traceback."""


def read(path: Path, progress: bool | None = None) -> tuple[Any, Any]:
    """X and y of a .npz file, a .csv file (with a header; y is the last column), or LIBSVM text, also compressed."""
    if not path.is_file():
        raise BadInput(f"there is no file {path}")
    if path.suffix in (".npz", ".csv"):
        X, y = read_table(path)
        return X, np.asarray(y, float) if np.issubdtype(np.asarray(y).dtype, np.number) else y
    kind = Path(path.stem).suffix if path.suffix in COMPRESSED else path.suffix
    if kind in (".csv", ".npz"):
        raise BadInput(f"{path}: compressed {kind} files are not read; uncompress it first")
    return datasets.read_libsvm(path, progress=progress)


def signs(y: Any) -> Any:
    """Two classes of any names as -1 (the smaller) and 1."""
    classes = np.unique(y)
    if classes.size != 2:
        raise BadInput(f"this loss needs two classes, but the labels have {classes.size} values")
    return np.where(y == classes[1], 1.0, -1.0)


def build(X: Any, y: Any, loss: str, ridge: float, l1: float, constraint: Any) -> Problem:
    """The problem that the options describe."""
    if loss not in LOSSES:
        raise BadInput(f"--loss must be one of {', '.join(LOSSES)}, got {loss!r}")
    kind = LOSSES[loss]
    y = signs(y) if kind.targets == "signs" else y
    if not np.issubdtype(np.asarray(y).dtype, np.number):
        raise BadInput(f"--loss {loss} needs numbers as targets, but the file's labels are text")
    parts: list[Any] = [regularizers.Ridge(ridge)] * (ridge != 0) + [regularizers.L1(l1)] * (l1 != 0)
    g = None if not parts else parts[0] if len(parts) == 1 else parts[0] + parts[1]
    return Problem(kind(X, y), g, constraint)


def constraint_of(options: dict[str, Any]) -> Any:
    """The one constraint asked for; an intersection where there are several."""
    makers = {
        "l1_ball": constraints.L1Ball, "l2_ball": constraints.L2Ball, "simplex": constraints.Simplex,
        "nonnegative": lambda _: constraints.NonNegative(), "monotone": lambda _: constraints.Monotone(),
        "box": lambda bounds: constraints.Box(*_bounds(bounds)),
    }  # fmt: skip
    asked = [makers[name](value) for name, value in options.items() if value not in (None, False)]
    return asked or None


def _bounds(text: str) -> tuple[float, float]:
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise BadInput(f"--box must be two numbers such as -1,1, got {text!r}") from None
    return low, high


def save(path: Path, result: Result) -> None:
    """x and the numbers of the result, as an .npz file that needs no unpickling."""
    numbers = {name: value for name, value in result.items() if isinstance(value, int | float | np.number)}
    columns = {f"history_{name}": result.history[name] for name in (result.history[0] if result.history else {})}
    kept = {name: values for name, values in columns.items() if values.dtype != object}
    np.savez_compressed(path, x=result.x, message=result.message, **numbers, **kept)


def solve(
    data: Path, loss: str, ridge: float, l1: float, options: dict[str, Any], method: str, tol: float,
    max_steps: int | None, seed: int, out: Path | None,
) -> Result:  # fmt: skip
    """Reads, solves, prints and saves."""
    from epro._minimize import minimize
    from epro.callbacks import Progress

    if out is not None and out.suffix != ".npz":
        raise BadInput(f"--out must end in .npz, got {out}")
    if out is not None and not out.absolute().parent.is_dir():
        raise BadInput(f"--out must name a file in a directory that exists, got {out}")
    X, y = read(data)
    problem = build(X, y, loss, ridge, l1, constraint_of(options))
    print(f"{data.name}: {X.shape[0]:,} rows, {X.shape[1]:,} columns; {loss} loss, {problem.constraint!r}")
    callbacks = [Progress(max_steps)]
    result = minimize(problem, method, tol=tol, max_steps=max_steps, random_state=seed, callbacks=callbacks)
    print(result)
    print(f"  {'nonzeros':<14} {np.count_nonzero(result.x):,} of {result.x.size:,}")
    print(f"  {'guarantee':<14} {result.guarantee}")
    if out is not None:
        save(out, result)
        print(f"saved: {out}")
    return result
