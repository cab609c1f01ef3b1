"""What was run, and on what; and how much memory it took."""

from __future__ import annotations

import ctypes
import gc
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from epro._version import __version__

STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")


def machine_info() -> dict[str, str]:
    """Processor, memory, system and versions, as far as they can be found out."""
    return {
        "processor": _processor(),
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "memory": _memory(),
        "system": f"{platform.system()} {platform.release()}",
        "Python": platform.python_version(),
        **{name: _version(name) for name in ("numpy", "scipy", "numba")},
        "epro": __version__,
    }


def command() -> str:
    """The command line, as it can be typed again."""
    name = Path(sys.argv[0]).name
    return " ".join(["epro" if name == "__main__.py" else name, *sys.argv[1:]])


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB"
    except (AttributeError, ValueError, OSError):
        return "unknown"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


class PeakMemory:
    """How far the resident memory of this process rose above where it was; NaN where the system does not tell.

    Linux keeps the peak and lets it be reset; elsewhere there is no honest number.
    """

    megabytes = float("nan")

    @contextmanager
    def watched(self) -> Iterator[PeakMemory]:
        """``with PeakMemory().watched() as peak: ...``, then ``peak.megabytes``."""
        try:
            CLEAR.write_text("5", "ascii")
        except OSError:
            yield self
            return
        _give_back()
        CLEAR.write_text("5", "ascii")
        before = _kilobytes("VmRSS")
        yield self
        self.megabytes = max(_kilobytes("VmHWM") - before, 0) / 1024


def _give_back() -> None:
    """Asks the C library to return what is free: what a method then takes is seen."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _kilobytes(name: str) -> int:
    lines = STATUS.read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name + ":"))
