"""Calls into parts that may be a user's own, in plain Python: what goes wrong there gets a sentence that names it."""

from __future__ import annotations

import functools
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
        if of_ones_own(owner):
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


def of_ones_own(part: Any) -> bool:
    """Whether a part is a user's: of a class that is not the library's, or made of a user's functions."""
    return not type(part).__module__.startswith("epro.") or type(part).__module__ == "epro.constraints.custom"


def estimates(loss: Any) -> tuple[str, ...]:
    """The sentence that names a smoothness which was estimated, where a run used one."""
    known = loss.__dict__.get("smoothness")
    if known is None or not isinstance(type(loss).smoothness, functools.cached_property) or not of_ones_own(loss):
        return ()
    return (f"smoothness = {known:.3g}, from differences of the slopes of {type(loss).__name__}, which declares none",)


def steepest_slope(loss: Any) -> float | None:
    """An estimate of the largest second derivative of a loss in plain Python; None where its slope jumps.

    Slopes are compared for some of the targets, over a grid of predictions as large as most of them; where they change
    most, the step is halved twelve times. A smooth slope's change shrinks with the step, a jump does not.
    """
    targets = np.unique(np.quantile(np.asarray(loss.y, float), np.linspace(0.0, 1.0, 5), method="nearest"))
    reach = 1.0 + float(np.median(np.abs(targets)))
    p, largest = np.linspace(-reach, reach, 40), 0.0
    try:
        for y in targets:
            change = np.abs(np.diff([float(loss.slope(q, y)) for q in p]))
            j = int(change.argmax())
            low, high, before = p[j], p[j + 1], change[j]
            largest = max(largest, before / (high - low))
            for _ in range(12):
                middle = 0.5 * (low + high)
                left, right = (abs(loss.slope(b, y) - loss.slope(a, y)) for a, b in ((low, middle), (middle, high)))
                low, high, now = (low, middle, left) if left > right else (middle, high, right)
            if now > 1e-3 * before > 0.0:
                return None
            largest = max(largest, now / (high - low))
    except Exception:  # what is wrong with it gets its sentence where a method calls it
        return None
    return (1.0 + 1e-7) * largest if np.isfinite(largest) and largest > 0.0 else None  # differences round
