"""One constraint for each row of a matrix, on its first columns."""

from __future__ import annotations

import numpy as np

from epro.constraints.base import Constraint
from epro.protocols import Array


class RowWise(Constraint):
    """{x of shape (K, width or more) : the first ``width`` entries of each row are in the inner set}, c the largest.

    Parameters
    ----------
    inner : Constraint
    width : int

    Examples
    --------
    >>> import numpy as np
    >>> from epro.constraints import L1Ball
    >>> from epro.constraints.row_wise import RowWise
    >>> RowWise(L1Ball(1.0), 2).project(np.array([[3.0, 0.0, 5.0], [0.0, 0.5, 5.0]]))
    array([[1. , 0. , 5. ],
           [0. , 0.5, 5. ]])
    """

    def __init__(self, inner: Constraint, width: int) -> None:
        self.inner, self.width = inner.bind((width,)), width

    def check_feasible(self) -> None:
        self.inner.check_feasible()

    def value(self, x: Array) -> float:
        return max(self.inner.value(row) for row in x[:, : self.width])

    def subgradient(self, x: Array) -> Array:
        v = np.zeros_like(x)
        k = int(np.argmax([self.inner.value(row) for row in x[:, : self.width]]))
        v[k, : self.width] = self.inner.subgradient(x[k, : self.width])
        return v

    def project(self, x: Array) -> Array:
        p = np.array(x)
        for row in p[:, : self.width]:
            row[:] = self.inner.project(row.copy())
        return p
