"""Rows seen by several vectors of coefficients at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from epro.atoms.intercept import WithIntercept
from epro.protocols import Array, Index


class ClassRows(NamedTuple):
    """x has shape (K, d), and a prediction is a row of K numbers, <A_i, x_k>; for full passes only."""

    rows: Any
    classes: int

    @property
    def n(self) -> int:
        return self.rows.n

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.classes, *self.rows.shape)

    @property
    def dtype(self) -> np.dtype:
        return self.rows.dtype

    @property
    def entries(self) -> int:
        """How many numbers the rows hold."""
        return self.rows.entries

    def predictions(self, x: Array) -> Array:
        """<A_i, x_k> for all i and k."""
        return self.rows.predictions(x.T)

    def adjoint(self, s: Array) -> Array:
        """For each k, sum_i s_ik A_i"""
        intercept = isinstance(self.rows, WithIntercept)
        x = ((self.rows.rows if intercept else self.rows).matrix().T @ s).T
        if intercept:
            x = np.column_stack([x, s.sum(axis=0, dtype=np.float64).astype(s.dtype)])
        return np.ascontiguousarray(x)

    def part(self, rows: slice) -> ClassRows:
        """Consecutive rows."""
        return self._replace(rows=self.rows.part(rows))

    def take(self, rows: Index) -> Any:
        """Some of the rows themselves."""
        return self.rows.take(rows)
