"""The l1 norm."""

from epro.regularizers.base import Regularizer
from epro.validation import positive


class L1(Regularizer):
    """t ||x||_1; its proximal step is the soft threshold.

    Parameters
    ----------
    t : float
        At least zero.

    Examples
    --------
    >>> import numpy as np
    >>> from epro.regularizers import L1
    >>> L1(1.0).prox(np.array([3.0, -0.5]), step=1.0)
    array([2., 0.])
    """

    def __init__(self, t: float) -> None:
        self.l1 = positive(t, "L1: t", zero=True)

    def __repr__(self) -> str:
        return f"L1({self.l1:g})"
