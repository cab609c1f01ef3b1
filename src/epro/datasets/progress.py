"""A progress bar that appears on a terminal only, and only for work longer than two seconds."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import Any, Self

PATIENCE = 2.0  # seconds


class Bar:
    """``with Bar("Reading", total) as bar: ... bar.to(done)``.

    Parameters
    ----------
    what : str
        Shown before the bar.
    total : int or None
        The amount of work; None where unknown.
    shown : bool or None
        None shows the bar on a terminal only; False never does, True always.
    unit : {"bytes", "items"}
        How the amount is shown.
    """

    def __init__(self, what: str, total: int | None, shown: bool | None = None, unit: str = "items") -> None:
        self.what, self.total, self.unit = what, total, unit
        self.shown = sys.stderr.isatty() if shown is None else bool(shown)
        self.done = 0
        self.lock = threading.Lock()
        self.timer: threading.Timer | None = None
        self.display: Any = None
        self.task: Any = None

    def to(self, done: int, what: str | None = None) -> None:
        """The work done so far, and what is done now."""
        with self.lock:
            self.done, self.what = done, what or self.what
            if self.display is not None:
                self.display.update(self.task, completed=done, description=self.what)

    def _start(self) -> None:
        with self.lock:
            if self.timer is not None:
                self._show()

    def _show(self) -> None:
        from rich import progress
        from rich.console import Console
        from rich.table import Column

        console = Console(stderr=True)
        room = Column(max_width=console.width // 3, no_wrap=True, overflow="ellipsis")  # the numbers need the rest
        amount = (
            (progress.DownloadColumn(), progress.TransferSpeedColumn())
            if self.unit == "bytes"
            else (progress.MofNCompleteColumn(),)
        )
        columns = (
            progress.TextColumn("{task.description}", markup=False, table_column=room),
            progress.BarColumn(),
            *amount,
        )
        times = progress.TimeElapsedColumn(), progress.TimeRemainingColumn()
        self.display = progress.Progress(*columns, *times, console=console, transient=True)
        self.task = self.display.add_task(self.what, total=self.total, completed=self.done)
        self.display.start()

    def __enter__(self) -> Self:
        if self.shown:  # a clock of its own, since the first piece of the work may be the longest
            self.timer = threading.Timer(PATIENCE, self._start)
            self.timer.daemon = True
            self.timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.timer is not None:
            self.timer.cancel()
        with self.lock:
            self.timer = None
            if self.display is not None:
                self.display.stop()
