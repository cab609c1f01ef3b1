"""`minimize`, the front door."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from epro import checkpoint
from epro.callbacks import Callback, Progress
from epro.oracles import Oracles
from epro.problem import Problem
from epro.result import Result
from epro.run import Budget, Run, feasible_start
from epro.schedules import count
from epro.solvers import solver_of
from epro.state import State
from epro.validation import positive


def minimize(
    problem: Problem, method: Any = "auto", *, tol: float = 1e-4, max_steps: int | None = None, x0: Any = None,
    random_state: Any = 0, callbacks: Sequence[Callback] = (), max_seconds: float = np.inf,
    engine: Literal["auto", "python", "compiled"] = "auto", resume: Any = None, verbose: bool = False,
) -> Result:  # fmt: skip
    """Minimises f + g over the constraint.

    Parameters
    ----------
    problem : Problem
    method : str or Solver, default "auto"
        A name from ``epro.solvers.METHODS``, or a solver object with options of its own.
    tol : float, default 1e-4
        Stop once the certified gap is at most ``tol * max(1, abs(fun))``; ``success`` means exactly that. Zero: never.
    max_steps : int, optional
        The paper's T: stochastic gradients (a full gradient counts n).
    x0 : array, optional
        A feasible start; the feasible point nearest to zero by default. Not modified.
    random_state : int, Generator, RandomState or None, default 0
        The same seed gives the same bits; None draws fresh randomness. A Generator is used, and moves on.
    callbacks : sequence of callables
        Called after every epoch with the problem and the state; a true answer stops the run.
    max_seconds : float, optional
        Stop after the epoch in which this time is used up.
    engine : {"auto", "python", "compiled"}
        "auto" compiles the kernels wherever no part is written in plain Python.
    resume : str or path, optional
        A file that `callbacks.Checkpoint` wrote: continues that run of the same method on the same problem, bit for
        bit. ``x0`` and ``random_state`` must then be left out, and ``max_steps`` is that of the run.
    verbose : bool, default False
        Show a line of progress on a terminal, once the run has lasted two seconds.

    Returns
    -------
    Result
        See `epro.result.Result`: a feasible ``x``, ``fun``, the certified ``gap``, counts, ``history``, ``guarantee``.

    Examples
    --------
    >>> import numpy as np
    >>> import epro
    >>> X, y = np.eye(2), np.array([1.0, 3.0])
    >>> problem = epro.Problem(epro.losses.Squared(X, y), epro.regularizers.Ridge(0.5), epro.constraints.L1Ball(1.0))
    >>> result = epro.minimize(problem, method="apg", tol=1e-9)
    >>> result.success, np.round(result.x, 6)
    (True, array([0., 1.]))
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"minimize: problem must be an epro.Problem, got {type(problem).__name__}")
    solver = solver_of(method)
    tol = positive(tol, "minimize: tol", zero=True)
    if max_seconds != np.inf:
        max_seconds = positive(max_seconds, "minimize: max_seconds")
    if engine not in ("auto", "python", "compiled"):
        raise ValueError(f"minimize: engine must be 'auto', 'python' or 'compiled', got {engine!r}")
    watchers = _callbacks(callbacks, verbose)
    saved = _saved(resume, x0, max_steps)
    problem.constraint.check_feasible()
    solver.check(problem)
    T = max(solver.passes * problem.n, 100_000) if max_steps is None else count(max_steps, "minimize: max_steps")
    oracles = Oracles(problem, _generator(random_state), engine)
    x0 = feasible_start(problem, x0) if saved is None else saved["x0"]
    T = T if saved is None else saved["max_steps"]
    run = Run(solver, oracles, State(x0), Budget(tol, T, max_seconds), watchers)
    if saved is not None:
        checkpoint.restore(run, saved)
    return run()


def _callbacks(callbacks: Any, verbose: bool) -> tuple[Callback, ...]:
    try:
        found = (callbacks,) if callable(callbacks) else tuple(callbacks or ())
    except TypeError:
        found = (callbacks,)
    for callback in found:
        if not callable(callback):
            raise TypeError(f"minimize: callbacks must be functions of (problem, state), got {callback!r}")
    return (*found, Progress()) if verbose else found


def _saved(resume: Any, x0: Any, max_steps: Any) -> dict[str, Any] | None:
    if resume is None:
        return None
    if x0 is not None:
        raise ValueError("minimize: a resumed run has its own start; leave x0 out")
    saved = checkpoint.load(resume)
    if max_steps is not None and max_steps != saved["max_steps"]:
        raise checkpoint.CheckpointError(
            f"resume: the run was planned for max_steps = {saved['max_steps']}, got {max_steps}; leave max_steps out, "
            "or start a new run with x0 = result.x"
        )
    return saved


def _generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        return np.random.Generator(random_state._bit_generator)  # type: ignore[attr-defined]
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise TypeError(
            "minimize: random_state must be a whole number of at least zero, a NumPy Generator or RandomState, "
            f"or None, got {random_state!r}"
        ) from None
