"""Set-up for everything pytest runs here: tests, docstring examples, the examples of the pages.

Tests run on one BLAS thread each, keep compiled kernels in a directory of the user's own, never reach beyond this
machine, and see the same Hypothesis examples every time.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from sybil import Sybil
from sybil.parsers.myst import PythonCodeBlockParser, SkipParser

_cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "epro-tests"
os.environ.setdefault("EPRO_CACHE_DIR", str(_cache))
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(os.environ["EPRO_CACHE_DIR"]) / "numba"))
os.environ.setdefault("MPLBACKEND", "agg")
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before NumPy is loaded: workers share the cores

hypothesis.settings.register_profile(
    "quick",
    derandomize=True,
    deadline=None,  # the first example of a law may compile a kernel
    max_examples=25,
    database=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.register_profile("thorough", hypothesis.settings.get_profile("quick"), max_examples=500)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

_markdown = Sybil(parsers=[PythonCodeBlockParser(), SkipParser()], patterns=["*.md"]).pytest()


def pytest_collect_file(file_path: Path, parent: Any) -> Any:
    """The Python blocks of Markdown pages are tests, where a page is asked for."""
    return _markdown(file_path, parent) if file_path.suffix == ".md" else None


class NetworkUsed(RuntimeError):
    """A test tried to reach another machine."""


def _stays_here(host: Any) -> bool:
    if host in (None, "", b"", "localhost", b"localhost"):
        return True
    try:
        text = host.decode() if isinstance(host, bytes) else str(host)
        return ipaddress.ip_address(text.split("%")[0]).is_loopback
    except ValueError:
        return False


def _refuse(host: Any) -> None:
    if not _stays_here(host):
        raise NetworkUsed(f"tests may reach this machine only, not {host!r}")


def _guarded_method(original: Any) -> Any:
    def call(self: socket.socket, *args: Any) -> Any:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            _refuse(args[-1][0])
        return original(self, *args)

    return call


def _guarded_lookup(original: Any) -> Any:
    def call(host: Any, *args: Any, **kwargs: Any) -> Any:
        _refuse(host)
        return original(host, *args, **kwargs)

    return call


def pytest_configure(config: pytest.Config) -> None:
    """Guards the network for the whole run, fixtures and imports included."""
    patch = pytest.MonkeyPatch()
    for name in ("connect", "connect_ex", "sendto"):
        patch.setattr(socket.socket, name, _guarded_method(getattr(socket.socket, name)))
    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex"):
        patch.setattr(socket, name, _guarded_lookup(getattr(socket, name)))
    config.add_cleanup(patch.undo)
