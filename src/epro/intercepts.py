"""Intercepts: the last coordinate of x where a loss has one, neither penalised nor constrained.

The parts of such a problem act on the other coordinates; `core` finds them. Minimised over the intercept alone, the
slopes of the rows sum to zero, and then an affine function below f does not depend on the intercept: bounds are those
of the core.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq

from epro.constraints.base import Constraint
from epro.constraints.everywhere import Everywhere
from epro.constraints.partial import OnFirst
from epro.protocols import Array
from epro.regularizers.base import Regularizer
from epro.regularizers.partial import OnFirst as PenaltyOnFirst


def beside(constraint: Constraint, regularizer: Regularizer) -> tuple[Constraint, Regularizer]:
    """Both, leaving the last coordinate free."""
    if not isinstance(constraint, Everywhere | OnFirst):
        constraint = OnFirst(constraint)
    if not isinstance(regularizer, PenaltyOnFirst):
        regularizer = PenaltyOnFirst(regularizer)
    return constraint, regularizer


def core(problem: Any) -> tuple[Constraint, Regularizer]:
    """Constraint and regularizer of the coordinates that are not an intercept."""
    constraint, g = problem.constraint, problem.regularizer
    if isinstance(g, PenaltyOnFirst):
        return getattr(constraint, "inner", Everywhere()), g.inner
    return constraint, g


def predictions(loss: Any, x: Array) -> Array:
    """<A_i, x> in double precision."""
    from epro.passes import blocks

    return np.concatenate([part.predictions(x) for _, part in blocks(loss.atoms)])


def shift(loss: Any, p: Array, mu: float = 0.0) -> float:
    """The b that minimises the mean loss (or its Moreau envelope) of p + b: Newton's steps, else a bracket."""
    p = np.asarray(p, np.float64)

    def derivative(b: float) -> float:
        value, magnitude = _slope_sum(loss, p + b, mu)
        return 0.0 if abs(value) <= 8 * np.finfo(float).eps * magnitude else value

    b, at_b = 0.0, derivative(0.0)
    for _ in range(30):
        curvature = 0.0 if mu > 0.0 or at_b == 0.0 else _curvature(loss, p + b)
        if at_b == 0.0 or curvature <= 0.0:
            break
        trial = b - at_b / curvature
        at_trial = derivative(trial)
        if abs(at_trial) > 0.5 * abs(at_b):
            break
        b, at_b = trial, at_trial
    return b if at_b == 0.0 else _bracketed(derivative, b, at_b)


def _curvature(loss: Any, p: Array) -> float:
    return float(loss.curvatures(p.astype(loss.dtype)).sum(dtype=np.float64))


def _slope_sum(loss: Any, p: Array, mu: float) -> tuple[float, float]:
    """The mean slope, and the mean of its terms' sizes."""
    from epro.kernels.batch import call
    from epro.passes import moreau_rows

    slopes = np.empty_like(p)
    total = call(moreau_rows, loss.link, p, loss.y, loss.weights, float(mu), slopes, records=(loss.link,))
    return float(slopes.sum()) / loss.n, float(total[2]) / loss.n


def _bracketed(derivative: Any, b: float, at_b: float) -> float:
    """A root of a growing function; b itself where none is found near."""
    width, side = 1e-6 * max(1.0, abs(b)), -np.sign(at_b)
    for _ in range(40):
        end = b + side * width
        if derivative(end) * at_b <= 0.0:
            root: Any = brentq(derivative, min(b, end), max(b, end), xtol=1e-300, rtol=np.float64(1e-15), maxiter=200)
            return float(root)
        width *= 4.0
    return b


def balanced(s: Array, low: Array, high: Array, weights: Array) -> Array:
    """Slopes near s, each between its ends, whose weighted sum is zero; s itself where there is no room."""
    room = weights @ np.minimum(high - s, s - low)
    excess = weights @ s
    if abs(excess) > room or room <= 0.0:
        return s
    return s - (excess / room) * np.minimum(high - s, s - low)
