"""The glue that lets one text run as Python and compiled by Numba.

Numba knows a ``NamedTuple``'s fields but not its methods. Each verb of ``protocols.py`` is registered once, on the
base class of all named tuples; the method is then taken from the record's own class. ``kernel`` compiles a function
on first use and keeps the machine code on disk, under a directory named after a hash of the sources that a kernel can
call: Numba itself looks only at the file of the kernel, and would miss an edit in a record.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
from numba.core import types
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.extending import overload_method

from epro import protocols

PACKAGE = Path(__file__).resolve().parent.parent
SOURCES = (
    *("kernels", "atoms", "losses", "regularizers", "constraints", "penalties.py", "moves.py"),
    *("datasets/parsing.py", "datasets/sampling.py"),
)


@functools.cache
def _plain(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method without annotations, which Numba would compare letter by letter."""
    assert isinstance(method, FunctionType)
    return FunctionType(method.__code__, method.__globals__, method.__name__, method.__defaults__, method.__closure__)


def _register(name: str, signature: inspect.Signature) -> None:
    def choose(self: Any, *args: Any) -> Callable[..., Any] | None:
        method = getattr(self.instance_class, name, None)
        return None if method is None else _plain(method)

    choose.__name__ = name
    bare = [parameter.replace(annotation=parameter.empty) for parameter in signature.parameters.values()]
    choose.__signature__ = inspect.Signature(bare)  # type: ignore[attr-defined]  # Numba matches it with the method's
    overload_method(types.BaseNamedTuple, name)(choose)


def _verbs() -> dict[str, inspect.Signature]:
    """The verbs of all protocols, which must not share a name."""
    verbs: dict[str, inspect.Signature] = {}
    for part in vars(protocols).values():
        if inspect.isclass(part) and getattr(part, "_is_protocol", False) and part.__module__ == protocols.__name__:
            for name, method in vars(part).items():
                if inspect.isfunction(method) and not name.startswith("_"):
                    assert name not in verbs, f"two protocols share the verb {name}"
                    verbs[name] = inspect.signature(method)
    return verbs


@functools.cache
def source_hash() -> str:
    """A hash of every source file that compiled code can come from."""
    digest = hashlib.sha256(f"{sys.version_info[:2]} {numba.__version__}".encode())
    for source in SOURCES:
        path = PACKAGE / source
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.name.encode() + (file.read_bytes() if file.exists() else b""))
    return digest.hexdigest()[:16]


def cache_directory() -> Path:
    """Where compiled kernels are kept: ``$EPRO_CACHE_DIR``, or the user's cache directory."""
    base = os.environ.get("EPRO_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "epro" / "kernels" / source_hash()


class _PackageLocator:
    """Tells Numba where the machine code of one function is kept, and which sources it belongs to."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        self._py_file = py_file
        self._line = py_func.__code__.co_firstlineno

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _PackageLocator:
        return cls(py_func, py_file)

    def get_cache_path(self) -> str:
        return str(cache_directory())

    def ensure_cache_path(self) -> None:
        cache_directory().mkdir(parents=True, exist_ok=True)

    def get_source_stamp(self) -> str:
        return source_hash()

    def get_disambiguator(self) -> str:
        stem = Path(self._py_file).stem
        return f"{stem}-{self._line}"


class _PackageCacheImpl(CompileResultCacheImpl):
    _locator_classes = [_PackageLocator]


class _PackageCache(FunctionCache):
    """Keeps what the package's own records give. The index names the classes of all records, and must be readable in a
    process that does not know a user's own."""

    _impl_class = _PackageCacheImpl

    def save_overload(self, sig: Any, data: Any) -> None:
        if all(map(_from_package, sig)):
            try:
                super().save_overload(sig, data)
            except OSError as why:
                _cannot_keep(cache_directory(), str(why))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except OSError:
            return None


@functools.cache
def _cannot_keep(directory: Path, why: str) -> None:
    """Says so once: on a machine without a writable home, every process compiles for itself."""
    warnings.warn(
        f"compiled kernels cannot be kept in {directory} ({why}), so that every process compiles them anew; "
        "set EPRO_CACHE_DIR to a directory that can be written to",
        RuntimeWarning,
        stacklevel=2,
    )


def _from_package(kind: Any) -> bool:
    """Whether a type of Numba's mentions no record from outside the package."""
    record: Any = kind
    if not isinstance(kind, types.BaseNamedTuple):
        return True
    parts = record.types if isinstance(kind, types.NamedTuple) else (record.dtype,)
    return record.instance_class.__module__.startswith("epro.") and all(map(_from_package, parts))


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compiles a function on first use, without the interpreter lock, and keeps the result on disk."""
    if function is None:
        return functools.partial(kernel, **options)
    dispatcher = numba.njit(nogil=True, **options)(function)
    if not numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        dispatcher._cache = _PackageCache(function)  # type: ignore[attr-defined]
    return dispatcher


def compilable(record: Any) -> bool:
    """Whether Numba can type the record: no user's Python object anywhere inside."""
    try:
        numba.typeof(record)
    except (ValueError, TypeError):
        return False
    return True


for _name, _signature in _verbs().items():
    _register(_name, _signature)
