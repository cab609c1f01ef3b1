"""The l1 norm of what lies off the diagonal."""

from epro.regularizers.base import Regularizer
from epro.validation import positive


class OffDiagonalL1(Regularizer):
    """t sum_{i != j} |x_ij| of a square matrix: sparse metrics (Eq. lmnn-sparse).

    Parameters
    ----------
    t : float
        At least zero.
    """

    def __init__(self, t: float) -> None:
        self.l1_off = positive(t, "OffDiagonalL1: t", zero=True)

    def __repr__(self) -> str:
        return f"OffDiagonalL1({self.l1_off:g})"
