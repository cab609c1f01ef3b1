"""Runs kept in a file: written atomically while they last, and continued from there bit for bit.

A file is NumPy's ``npz`` archive: the arrays, and one JSON text that says where they belong. It holds no pickled
objects, so that reading one cannot run code. It does not hold the problem, only a fingerprint: the values of its parts
at a few points, and sums over a sample of its rows.
"""

from __future__ import annotations

import dataclasses
import json
import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from epro._version import __version__
from epro.problem import Problem
from epro.protocols import Array
from epro.result import History
from epro.state import State

if TYPE_CHECKING:
    from epro.run import Run

FORMAT = "epro checkpoint 1"
SAMPLE = 1000  # rows that the fingerprint looks at


class CheckpointError(ValueError):
    """A file that holds no checkpoint, or not one of this run."""


def save(run: Run, path: str | os.PathLike[str]) -> None:
    """Writes the state of a run at the end of an epoch; the file is the old one or the new one, never half of it."""
    arrays: dict[str, Array] = {}
    oracles = run.oracles
    found = {
        "format": FORMAT, "version": __version__, "solver": repr(run.solver), "max_steps": run.budget.max_steps,
        "fingerprint": fingerprint(run.problem), "rng": oracles.rng.bit_generator.state,
        "counts": oracles.counts, "work": oracles.work, "seconds": oracles.clock.seconds,
        "state": {field.name: getattr(run.state, field.name) for field in dataclasses.fields(State)},
        "x0": run.x0, "history": list(run.history), "bound": run.bound, "normal": run.normal,
        "certificate_projections": run.certificate_projections, "evaluated": run.evaluated, "certified": run.certified,
    }  # fmt: skip
    arrays["json"] = np.frombuffer(json.dumps(_encoded(found, arrays)).encode(), dtype=np.uint8)
    path = Path(path)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        with open(unfinished, "wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def load(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What `save` wrote."""
    try:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        found = _decoded(json.loads(arrays["json"].tobytes()), arrays)
    except FileNotFoundError:
        raise CheckpointError(f"resume: there is no file {os.fspath(path)!r}") from None
    except (OSError, ValueError, KeyError, AttributeError, TypeError, EOFError, zipfile.BadZipFile) as why:
        raise CheckpointError(f"resume: {os.fspath(path)!r} is damaged or is not a checkpoint ({why})") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise CheckpointError(f"resume: {os.fspath(path)!r} is not a checkpoint that this version can read")
    return found


def restore(run: Run, found: dict[str, Any]) -> None:
    """Puts a run where the saved one stood; an error where it is not a run of the same method on the same problem."""
    _same(found["solver"], repr(run.solver), "by the method")
    _same(found["max_steps"], run.budget.max_steps, "with max_steps")
    expected = fingerprint(run.problem)
    for name, value in found["fingerprint"].items():
        if name not in expected or not _close(value, expected[name]):
            raise CheckpointError(f"resume: the checkpoint belongs to another problem: its {name} differs")
    oracles = run.oracles
    generator = getattr(np.random, found["rng"]["bit_generator"])()
    generator.state = found["rng"]
    oracles.rng = np.random.Generator(generator)
    oracles.counts[...], oracles.work[...] = found["counts"], found["work"]
    oracles.clock.restart(found["seconds"])
    run.state, run.x0, run.history = State(**found["state"]), found["x0"], History(found["history"])
    for name in ("bound", "normal", "certificate_projections", "evaluated", "certified"):
        setattr(run, name, found[name])


def fingerprint(problem: Problem) -> dict[str, Any]:
    """Names, shapes and values at a few points, by which two problems are told apart without reading all data."""
    loss, g, c = problem.loss, problem.regularizer, problem.constraint
    rows = np.unique(np.linspace(0, loss.n - 1, min(loss.n, SAMPLE)).astype(np.int64))
    x = np.cos(np.arange(int(np.prod(problem.shape)), dtype=float)).reshape(problem.shape).astype(problem.dtype)
    x = x + x.T if x.ndim == 2 else x
    p = loss.atoms.take(rows).predictions(x)
    y, weights = loss.y[rows], loss.weights[rows]
    values = [float(loss.link.loss(float(a), float(b))) for a, b in zip(p[:20], y[:20], strict=True)]
    return {
        "shape": [*problem.shape], "number of rows": loss.n, "dtype": str(problem.dtype),
        "data": [float(np.abs(p).sum()), float(p @ np.cos(np.arange(p.size)))],
        "targets": [float(np.abs(y).sum()), float(y @ np.cos(np.arange(y.size)))],
        "weights": [float(weights.sum()), float(weights @ np.cos(np.arange(y.size)))],
        "loss": [type(loss).__name__, *values],
        "regularizer": [g.value(x), g.value(0.1 * x)],
        "constraint": [type(c).__name__, problem.violation(x), problem.violation(0.1 * x)],
    }  # fmt: skip


def _same(saved: Any, asked: Any, what: str) -> None:
    if saved != asked:
        raise CheckpointError(f"resume: the checkpoint was made {what} {saved}, asked for is {asked}")


def _close(a: Any, b: Any) -> bool:
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(_close, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return bool(np.isclose(a, b, rtol=1e-5, atol=1e-12, equal_nan=True))
    return a == b


# -- JSON with arrays


def _encoded(value: Any, arrays: dict[str, Array]) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        arrays[f"array{len(arrays)}"] = value
        return {"array": f"array{len(arrays) - 1}"}
    if isinstance(value, dict):
        return {"dict": {name: _encoded(entry, arrays) for name, entry in value.items()}}
    if isinstance(value, list | tuple):
        return [_encoded(entry, arrays) for entry in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"a checkpoint holds arrays and numbers, not {type(value).__name__}")


def _decoded(value: Any, arrays: dict[str, Array]) -> Any:
    if isinstance(value, dict):
        if "array" in value:
            return arrays[value["array"]]
        return {name: _decoded(entry, arrays) for name, entry in value["dict"].items()}
    return [_decoded(entry, arrays) for entry in value] if isinstance(value, list) else value
