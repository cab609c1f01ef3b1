"""Writes one reference page per public module from its ``__all__``, so that no list of names is kept twice."""

from __future__ import annotations

import importlib
import inspect
import shutil
from pathlib import Path
from types import ModuleType

from plain_formulas import escape_bars

MODULES = (
    "epro",
    "epro.losses",
    "epro.regularizers",
    "epro.constraints",
    "epro.solvers",
    "epro.result",
    "epro.certificate",
    "epro.callbacks",
    "epro.checkpoint",
    "epro.schedules",
    "epro.theory",
    "epro.datasets",
    "epro.plot",
    "epro.protocols",
)

PAGE = """# `{name}`

```{{eval-rst}}
.. currentmodule:: {name}

{summary}
{entries}```
"""


def write(folder: Path) -> None:
    """The pages of all modules that exist and state public names."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for number, name in enumerate(MODULES):
        if importlib.util.find_spec(name) is None:
            continue
        module = importlib.import_module(name)
        entries = [_entry(module, member) for member in _public(module)]
        if any(entries):
            path = folder / f"{number:02d}_{name.replace('.', '_')}.md"
            page = PAGE.format(name=name, summary=_summary(module), entries="".join(entries))
            path.write_text(page, "utf-8")


def _summary(module: ModuleType) -> str:
    return "\n".join(escape_bars((inspect.getdoc(module) or "").splitlines()))


def _public(module: ModuleType) -> list[str]:
    names = getattr(module, "__all__", None)
    if names is None:
        names = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    return [name for name in names if not name.startswith("_")]


def _entry(module: ModuleType, name: str) -> str:
    try:
        member = getattr(module, name)
    except (AttributeError, ImportError):  # a lazy name whose part is not there: a test reports it
        return ""
    if inspect.isclass(member) and member.__module__.startswith("epro.estimators"):
        return f"\n.. autoclass:: {name}\n   :members: {', '.join(_own_methods(member))}\n"
    if inspect.isclass(member):
        return f"\n.. autoclass:: {name}\n   :members:\n   :inherited-members: tuple, int, Enum, dict\n"
    if inspect.isroutine(member) or hasattr(member, "py_func"):
        return f"\n.. autofunction:: {name}\n"
    return ""


def _own_methods(estimator: type) -> list[str]:
    """What an estimator does itself; what it inherits is documented by scikit-learn, with links that end here."""
    ours = [base for base in estimator.__mro__ if base.__module__.startswith("epro.")]
    names = {name for base in ours for name in vars(base) if not name.startswith(("_", "set_"))}
    return sorted(name for name in names if callable(getattr(estimator, name, None)))
