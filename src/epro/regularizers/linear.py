"""A linear term."""

from __future__ import annotations

from typing import Any

from epro.regularizers.base import Regularizer
from epro.validation import finite


class Linear(Regularizer):
    """<a, x>, a tilt; for matrices tr(a' x), as the pull (1 - c) tr(A L) of LMNN.

    Parameters
    ----------
    a : array of x's shape
    """

    def __init__(self, a: Any) -> None:
        self.tilt = finite(a, "Linear: a")
        self._shape = self.tilt.shape

    def __repr__(self) -> str:
        return f"Linear(shape={self._shape})"
