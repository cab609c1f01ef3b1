"""The momentum of accelerated steps (Beck and Teboulle 2009)."""

from __future__ import annotations

import math


def following(t: float) -> tuple[float, float]:
    """t_{k+1} = (1 + sqrt(1 + 4 t_k^2))/2, and the weight (t_k - 1)/t_{k+1} of the last move.

    Examples
    --------
    >>> from epro.momentum import following
    >>> following(1.0)[1]
    0.0
    """
    after = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * t**2))
    return after, (t - 1.0) / after
