"""The ridge."""

from epro.regularizers.base import Regularizer
from epro.validation import positive


class Ridge(Regularizer):
    """(a/2) ||x||^2, which makes the objective a-strongly convex.

    Parameters
    ----------
    a : float
        At least zero.

    Examples
    --------
    >>> import numpy as np
    >>> from epro.regularizers import Ridge
    >>> Ridge(2.0).prox(np.array([3.0, -6.0]), step=1.0)
    array([ 1., -2.])
    """

    def __init__(self, a: float) -> None:
        self.ridge = positive(a, "Ridge: a", zero=True)

    def __repr__(self) -> str:
        return f"Ridge({self.ridge:g})"
