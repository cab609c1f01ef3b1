"""Calls into parts that may be a user's own, in plain Python: what goes wrong there gets a sentence that names it."""

from __future__ import annotations

from typing import Any

import numpy as np

HUGE = 1e100  # beyond it an overflow is the iterates' doing, not the part's


def ask(owner: Any, verb: str, *arguments: Any, shape: tuple[int, ...] | None = None) -> Any:
    """``owner.verb(*arguments)``, checked: a number, or an array of the given shape; not NaN for sane arguments.

    An exception raised inside keeps its type, and gets a note that says in which part it happened.
    """
    name = f"{type(owner).__name__}.{verb}"
    try:
        found = getattr(owner, verb)(*arguments)
    except OverflowError:
        found = np.inf if shape is None else np.full(shape, np.inf)
    except Exception as error:
        if not type(owner).__module__.startswith("epro."):
            error.add_note(f"raised in {name}, a part of your own")
        raise
    try:
        number: Any = float(found) if shape is None else np.asarray(found, dtype=getattr(found, "dtype", float))
    except (TypeError, ValueError):
        expected = "a number" if shape is None else f"an array of shape {shape}"
        raise TypeError(f"{name} must return {expected}, got {_shown(found)}") from None
    if shape is not None and number.shape != shape:
        raise ValueError(f"{name} must return an array of shape {shape}, that of x, got shape {number.shape}")
    if np.isnan(number).any() and all(np.all(np.abs(argument) < HUGE) for argument in arguments):
        raise ValueError(f"{name} returned NaN for finite arguments")
    return number


def _shown(found: Any) -> str:
    return f"an array of shape {found.shape}" if isinstance(found, np.ndarray) else repr(found)
