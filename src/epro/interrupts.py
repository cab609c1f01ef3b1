"""Ctrl-C is not lost, whatever code it arrives in."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType


class Interrupts:
    """Inside of this context an interrupt raises `KeyboardInterrupt` as ever, and is remembered.

    Compiled code may call back into Python (for the type of an argument, say) and drop an exception that is raised
    there; `check` raises it again.
    """

    def __init__(self) -> None:
        self.asked = False
        self._before: object = None

    def __enter__(self) -> None:
        self.asked = False
        before = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is not threading.main_thread() or not callable(before):
            self._before = None
            return

        def remember(number: int, frame: FrameType | None) -> None:
            self.asked = True
            before(number, frame)

        self._before, _ = before, signal.signal(signal.SIGINT, remember)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)  # type: ignore[arg-type]

    def check(self) -> None:
        """Raises an interrupt that was dropped."""
        if self.asked:
            self.asked = False
            raise KeyboardInterrupt
