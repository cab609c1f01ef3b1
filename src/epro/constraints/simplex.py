"""The scaled simplex, x >= 0 and sum(x) = total."""

from __future__ import annotations

import numpy as np

from epro.kernels.records import kernel
from epro.protocols import Array


@kernel
def project_simplex(x: Array, total: float) -> None:
    """x = the nearest point with x >= 0 and sum(x) = total.

    The nearest point is [x - t]_+ for the one threshold t that makes it sum to ``total``. Michelot's fixed point:
    solve for t as if all coordinates stayed positive, drop those below t, and repeat. t only grows, so every round
    drops a coordinate or ends; it ends at the exact t, without sorting.
    """
    threshold, active = -np.inf, -1
    while True:
        count, s = 0, 0.0
        for j in range(x.size):
            if x[j] > threshold:
                count += 1
                s += x[j]
        if count == active:
            break
        active = count
        threshold = (s - total) / count
    for j in range(x.size):
        x[j] = max(x[j] - threshold, 0.0)
