"""Callbacks: called after every epoch with the problem and the state; a true answer stops the run."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from epro.problem import Problem
from epro.state import State

Callback = Callable[[Problem, State], Any]


class StopBelow:
    """Stops as soon as the objective is below a value.

    Parameters
    ----------
    fun : float
    """

    def __init__(self, fun: float) -> None:
        self.fun = fun

    def __call__(self, problem: Problem, state: State) -> bool:
        return problem.value(state.x) < self.fun


class Trace:
    """Keeps every state's point, in ``points``."""

    def __init__(self) -> None:
        self.points: list[Any] = []

    def __call__(self, problem: Problem, state: State) -> None:
        self.points.append(state.x.copy())


class Progress:
    """A line that shows epochs and steps, on a terminal, once a run has lasted two seconds."""

    def __init__(self, total: int | None = None, delay: float = 2.0) -> None:
        self.total, self.delay, self._started, self._bar = total, delay, time.monotonic(), None

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
