"""The hinge loss over triplets (metric learning)."""

from __future__ import annotations

from typing import Any

import numpy as np

from epro import atoms
from epro.losses.base import Loss
from epro.losses.hinge import HingeLink
from epro.protocols import Array
from epro.validation import positive


class TripletHinge(Loss):
    """[margin + ||x_a - x_s||_M^2 - ||x_a - x_o||_M^2]_+, averaged over triplets (a, s, o) of rows of X.

    M is a symmetric (d, d) matrix; under a `PSD` constraint it is a metric. The loss is `Hinge` with all labels -1,
    on the prediction <A_i, M> with A_i = (x_a - x_s)(x_a - x_s)' - (x_a - x_o)(x_a - x_o)'.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
    triplets : integer array of shape (N, 3)
        Rows of X: anchor, a point of its class, a point of another class.
    margin : float, default 1.0
    sample_weight : array of shape (N,), optional
    """

    nonnegative = True
    smoothness = None
    slope_bound = 1.0

    def __init__(self, X: Any, triplets: Any, margin: float = 1.0, *, sample_weight: Any = None) -> None:
        self.atoms = atoms.triplets(X, triplets)
        self.margin = positive(margin, "TripletHinge: margin", zero=True)
        self.y = np.full(self.n, -1.0, self.dtype)
        self.weights = self._weights(sample_weight)

    @property
    def link(self) -> HingeLink:
        return HingeLink(self.margin)

    def pieces(self) -> tuple[Array, Array, Array]:
        return np.zeros_like(self.y), np.ones_like(self.y), np.full_like(self.y, -self.margin)
