"""Callbacks: called after every epoch with the problem and the state; a true answer stops the run.

A callback may also have ``attach(run)``, called before the first epoch, and ``close()``, called after the last one.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from epro.problem import Problem
from epro.state import State
from epro.validation import positive

if TYPE_CHECKING:
    from epro.run import Run

Callback = Callable[[Problem, State], Any]


class StopBelow:
    """Stops as soon as the objective is below a value.

    Parameters
    ----------
    fun : float

    Examples
    --------
    >>> import numpy as np
    >>> import epro
    >>> problem = epro.Problem(epro.losses.Squared(np.eye(2), np.array([1.0, 3.0])), epro.regularizers.Ridge(0.5))
    >>> epro.minimize(problem, "apg", tol=0, callbacks=[epro.callbacks.StopBelow(2.0)]).status.name
    'STOPPED'
    """

    def __init__(self, fun: float) -> None:
        self.fun = fun

    def __call__(self, problem: Problem, state: State) -> bool:
        return state.answer and problem.value(state.x) < self.fun


class Trace:
    """Keeps every state's point, in ``points``."""

    def __init__(self) -> None:
        self.points: list[Any] = []

    def __call__(self, problem: Problem, state: State) -> None:
        self.points.append(state.x.copy())


class Checkpoint:
    """Keeps the run in a file, from which ``minimize(..., resume=path)`` continues it bit for bit.

    The file is replaced in one step, so that it is whole at every moment.

    Parameters
    ----------
    path : str or path
        The file.
    every : float, default 60
        Seconds between two writings; zero: after every epoch.
    """

    def __init__(self, path: str | os.PathLike[str], every: float = 60.0) -> None:
        self.path, self.every = path, positive(every, "Checkpoint: every", zero=True)
        self._run: Run | None = None
        self._written = time.monotonic()

    def attach(self, run: Run) -> None:
        """Remembers the run."""
        self._run, self._written = run, time.monotonic()

    def __call__(self, problem: Problem, state: State) -> None:
        if self._run is not None and time.monotonic() - self._written >= self.every:
            from epro import checkpoint

            with self._run.oracles.clock.paused():
                checkpoint.save(self._run, self.path)
            self._written = time.monotonic()

    def close(self) -> None:
        """Forgets the run."""
        self._run = None


class Progress:
    """A line that shows epochs and steps, on a terminal, once a run has lasted two seconds.

    Parameters
    ----------
    total : int, optional
        Steps of the whole run; ``max_steps`` by default.
    delay : float, default 2
        Seconds.
    """

    def __init__(self, total: int | None = None, delay: float = 2.0) -> None:
        self.total, self.delay, self._started, self._bar = total, delay, time.monotonic(), None

    def attach(self, run: Run) -> None:
        """Starts the clock."""
        self.total, self._started = self.total or run.budget.max_steps, time.monotonic()

    def __call__(self, problem: Problem, state: State) -> None:
        if self._bar is None:
            if time.monotonic() - self._started < self.delay or not sys.stderr.isatty():
                return
            self._open()
        self._bar.update(self._task, completed=state.steps, description=f"epoch {state.epoch}")  # type: ignore[union-attr]

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import Progress as Bar

        self._bar = Bar(console=Console(stderr=True), transient=True)
        self._bar.start()
        self._task = self._bar.add_task("epoch", total=self.total)

    def close(self) -> None:
        """Takes the line away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
