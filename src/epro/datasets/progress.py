"""A progress bar that appears on a terminal only, and only for work longer than two seconds."""

from __future__ import annotations

import sys
import time
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
        self.begun = time.monotonic()
        self.display: Any = None
        self.task: Any = None

    def to(self, done: int) -> None:
        """The work done so far."""
        if self.shown and self.display is None and time.monotonic() - self.begun > PATIENCE:
            self._start()
        if self.display is not None:
            self.display.update(self.task, completed=done)

    def _start(self) -> None:
        from rich import progress
        from rich.console import Console

        amount = (
            (progress.DownloadColumn(), progress.TransferSpeedColumn())
            if self.unit == "bytes"
            else (progress.MofNCompleteColumn(),)
        )
        columns = (progress.TextColumn("{task.description}"), progress.BarColumn(), *amount)
        self.display = progress.Progress(
            *columns, progress.TimeRemainingColumn(), console=Console(stderr=True), transient=True
        )
        self.task = self.display.add_task(self.what, total=self.total)
        self.display.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.display is not None:
            self.display.stop()
