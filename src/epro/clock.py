"""The clock of a run: it stands still while results are evaluated, and while Numba compiles."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event


class Stopwatch(event.Listener):
    """Seconds in the method."""

    def __init__(self) -> None:
        self._elapsed, self._since, self._pauses = 0.0, time.perf_counter(), 0
        self._thread = threading.get_ident()

    def restart(self, elapsed: float) -> None:
        """Goes on from so many seconds."""
        self._elapsed, self._since = elapsed, time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        return self._elapsed + (0.0 if self._pauses else time.perf_counter() - self._since)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Time inside does not count."""
        self._stop()
        try:
            yield
        finally:
            self._go()

    @contextmanager
    def without_compilation(self) -> Iterator[None]:
        """Inside, what Numba compiles for this thread does not count."""
        self._thread = threading.get_ident()
        with event.install_listener("numba:compile", self):
            yield

    def on_start(self, event: Any) -> None:
        """Numba begins to compile a function."""
        if threading.get_ident() == self._thread:
            self._stop()

    def on_end(self, event: Any) -> None:
        """It is compiled."""
        if threading.get_ident() == self._thread:
            self._go()

    def _stop(self) -> None:
        self._elapsed, self._pauses = self.seconds, self._pauses + 1

    def _go(self) -> None:
        self._pauses -= 1
        self._since = time.perf_counter()
