"""Checks of what a user passes: each error names the argument, what was found and what is expected."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from epro.protocols import Array


def positive(value: Any, name: str, *, zero: bool = False) -> float:
    """A finite number above zero (or at zero, where ``zero`` allows it)."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, got {value!r}") from None
    if not math.isfinite(number) or number < 0 or (number == 0 and not zero):
        kind = "at least zero" if zero else "above zero"
        raise ValueError(f"{name} must be a finite number {kind}, got {number:g}")
    return number


def whole(value: Any, name: str) -> int:
    """A whole number of at least one."""
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        number = 0
    if number < 1 or number != value:
        raise ValueError(f"{name} must be a whole number of at least one, got {value!r}")
    return number


def finite(array: Any, name: str, *, ndim: int | None = None, copy: bool = False) -> Array:
    """A floating array without NaN or infinite entries."""
    try:
        array = np.array(array) if copy else np.asarray(array)
    except ValueError as ragged:
        raise ValueError(f"{name} must be an array of numbers: {ragged}") from None
    if not (np.issubdtype(array.dtype, np.number) or np.issubdtype(array.dtype, np.bool_)) or np.iscomplexobj(array):
        raise TypeError(f"{name} must be a real array, got dtype {array.dtype}")
    if not np.issubdtype(array.dtype, np.floating):
        array = array.astype(float)
    if ndim is not None and array.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} dimension(s), got shape {array.shape}")
    if not np.isfinite(array).all():
        if array.ndim == 0:
            raise ValueError(f"{name} must be a finite number, got {array:g}")
        where = np.argwhere(~np.isfinite(array))[0].tolist()
        raise ValueError(f"{name} has a NaN or infinite entry, first at {where}")
    return array


def real_array(x: Any, name: str, dtype: Any = None) -> Array:
    """A floating array (of this dtype, where one is given), whatever its entries; whole numbers become doubles."""
    try:
        array = np.asarray(x)
        if np.iscomplexobj(array):
            raise TypeError(f"{name} must be real, got dtype {array.dtype}")
        keeps = dtype is None and np.issubdtype(array.dtype, np.floating)
        return array if keeps else array.astype(dtype or np.float64, copy=False)
    except ValueError:
        raise TypeError(f"{name} must be an array of numbers, got {x!r}") from None
