"""Coordinates that must not be negative."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from epro.constraints.base import Shape
from epro.constraints.box import Box
from epro.protocols import Array


class NonNegativeRecord(NamedTuple):
    """c(x) = max_j (floor - x_j), v = -e_j for the smallest coordinate; work = (j,)."""

    floor: float

    def cut(self, x: Array, work: Array) -> float:
        flat = x.reshape(-1)
        j = np.argmin(flat)
        work[0] = j
        return self.floor - flat[j]

    def descend(self, work: Array, s: float, x: Array) -> None:
        x.reshape(-1)[int(work[0])] += s

    def inner(self, work: Array, x: Array) -> float:
        return -x.reshape(-1)[int(work[0])]

    def cut_norm2(self, work: Array) -> float:
        return 1.0

    def project(self, x: Array) -> None:
        x[...] = np.maximum(x, self.floor)


class NonNegative(Box):
    r"""{x : x_j >= 0 for all j, or for those that a mask names}, with c(x) = max_j -x_j.

    G2 = 1 and rho = 1/sqrt(m) for m constrained coordinates, as for `Box`.

    Parameters
    ----------
    mask : boolean array, optional
        Which coordinates are constrained; all by default.

    Examples
    --------
    >>> import numpy as np
    >>> from epro.constraints import NonNegative
    >>> NonNegative(mask=[True, False]).project(np.array([-1.0, -1.0]))
    array([ 0., -1.])
    """

    def __init__(self, mask: Any = None) -> None:
        if mask is not None:
            mask = np.asarray(mask)
            if mask.dtype != bool:
                raise TypeError(f"NonNegative: mask must be a boolean array, got dtype {mask.dtype}")
        self.mask = mask
        super().__init__(0.0 if mask is None else np.where(mask, 0.0, -np.inf), np.inf)

    def record(self, shape: Shape, dtype: Any) -> Any:
        return NonNegativeRecord(0.0) if self.mask is None else super().record(shape, dtype)

    def __repr__(self) -> str:
        return "NonNegative()" if self.mask is None else "NonNegative(mask=...)"
