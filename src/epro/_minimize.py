"""`minimize`, the front door."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from epro.callbacks import Callback
from epro.oracles import Oracles
from epro.problem import Problem
from epro.result import Result
from epro.run import Budget, Run, feasible_start
from epro.solvers import solver_of
from epro.state import State
from epro.validation import positive


def minimize(
    problem: Problem, method: Any = "auto", *, tol: float = 1e-4, max_steps: int | None = None, x0: Any = None,
    random_state: Any = 0, callbacks: Sequence[Callback] = (), max_seconds: float = np.inf,
    engine: Literal["auto", "python", "compiled"] = "auto",
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
    random_state : int, Generator or None, default 0
        The same seed gives the same bits; None draws fresh randomness.
    callbacks : sequence of callables
        Called after every epoch with the problem and the state; a true answer stops the run.
    max_seconds : float, optional
        Stop after the epoch in which this time is used up.
    engine : {"auto", "python", "compiled"}
        "auto" compiles the kernels wherever no part is written in plain Python.

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
    T = solver.passes * problem.n if max_steps is None else _count(max_steps)
    if max_steps is None:
        T = max(T, 100_000)
    problem.constraint.check_feasible()
    solver.check(problem)
    if engine not in ("auto", "python", "compiled"):
        raise ValueError(f"minimize: engine must be 'auto', 'python' or 'compiled', got {engine!r}")
    x0 = feasible_start(problem, x0)
    oracles = Oracles(problem, np.random.default_rng(random_state), engine)
    return Run(solver, oracles, State(x0), Budget(tol, T, max_seconds), tuple(callbacks))()


def _count(max_steps: Any) -> int:
    if isinstance(max_steps, bool) or int(max_steps) != max_steps or max_steps < 1:
        raise ValueError(f"minimize: max_steps must be a whole number above zero, got {max_steps!r}")
    return int(max_steps)
