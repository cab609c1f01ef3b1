"""The nearest points of other classes, from a block of distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from epro.kernels.records import kernel
from epro.protocols import Array, Index


@kernel
def nearest_others(D: Array, below: Array, y: Index, first: int, cap: int) -> Any:
    """(points, distances, counts) for each row i of D, which belongs to the point ``first + i``.

    At most ``cap`` points of another class with a distance under ``below[i]``, the nearest first.
    """
    points = np.empty((D.shape[0], cap), np.int64)
    distances, counts = np.empty((D.shape[0], cap), D.dtype), np.zeros(D.shape[0], np.int64)
    for i in range(D.shape[0]):
        own, limit, count = y[first + i], below[i], 0
        for l in range(D.shape[1]):
            if D[i, l] < limit and y[l] != own:
                at = min(count, cap - 1)
                while at > 0 and distances[i, at - 1] > D[i, l]:
                    distances[i, at], points[i, at] = distances[i, at - 1], points[i, at - 1]
                    at -= 1
                distances[i, at], points[i, at] = D[i, l], l
                count = min(count + 1, cap)
                if count == cap:
                    limit = distances[i, cap - 1]
        counts[i] = count
    return points, distances, counts
