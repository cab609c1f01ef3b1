"""What can be said of a stream: an estimate on held-out rows, with a confidence interval. It is not a certificate."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from epro.losses.base import Loss
from epro.protocols import Array
from epro.validation import positive


class Estimate(NamedTuple):
    """A mean over held-out rows, and an interval that holds the expectation with about the stated confidence."""

    mean: float
    low: float
    high: float
    confidence: float
    rows: int

    def __str__(self) -> str:
        return (
            f"estimate {self.mean:.4g}, {100 * self.confidence:g} % confidence interval "
            f"[{self.low:.4g}, {self.high:.4g}], from {self.rows} held-out rows (an estimate, not a certificate)"
        )


class HeldOut:
    """Estimates on rows that the method never saw.

    The interval is the central limit theorem's, mean +- z s / sqrt(m), for rows drawn independently. It is about one
    fixed x: choosing the best of many x by the same rows makes it too optimistic.

    Parameters
    ----------
    loss : Loss
        A loss on the held-out rows.
    confidence : float, default 0.95

    Examples
    --------
    >>> import numpy as np
    >>> from epro import losses
    >>> from epro.held_out import HeldOut
    >>> y = np.array([0.0, 1.0, 2.0, 1.0])
    >>> print(HeldOut(losses.Squared(np.ones((4, 1)), y)).loss_at(np.ones(1)))
    estimate 0.25, 95 % confidence interval [-0.0329, 0.5329], from 4 held-out rows (an estimate, not a certificate)
    """

    def __init__(self, loss: Loss, confidence: float = 0.95) -> None:
        if loss.n < 2:
            raise ValueError(f"HeldOut: an interval needs at least 2 held-out rows, found {loss.n}")
        if not positive(confidence, "HeldOut: confidence") < 1.0:
            raise ValueError(f"HeldOut: confidence must lie strictly between 0 and 1, got {confidence}")
        self.loss, self.confidence = loss, float(confidence)

    def loss_at(self, x: Array) -> Estimate:
        """The expected loss at x."""
        return self._estimate(self._rows(x))

    def difference(self, x: Array, other: Array) -> Estimate:
        """The expected loss at x minus that at another point, row by row: far narrower than two separate intervals."""
        return self._estimate(self._rows(x) - self._rows(other))

    def _rows(self, x: Array) -> Array:
        predictions = self.loss.atoms.predictions(x)
        link: Any = self.loss.link
        losses = [link.loss(float(p), float(y)) for p, y in zip(predictions, self.loss.y, strict=True)]
        return np.asarray(losses) * self.loss.weights

    def _estimate(self, values: Array) -> Estimate:
        from scipy.stats import norm

        mean, rows = float(np.mean(values)), len(values)
        half = float(norm.ppf(0.5 + 0.5 * self.confidence)) * float(np.std(values, ddof=1)) / math.sqrt(rows)
        return Estimate(mean, mean - half, mean + half, self.confidence, rows)
