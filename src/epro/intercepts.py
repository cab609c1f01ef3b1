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


def shift(loss: Any, p: Array, mu: float = 0.0) -> Any:
    """The b that minimises the mean loss (or its Moreau envelope) of p + b: Newton's steps, else a bracket."""
    p = np.asarray(p, np.float64)
    if p.ndim > 1:
        return loss.shift(p)
    b, (at_b, curvature) = 0.0, _derivatives(loss, p, 0.0, mu)
    for _ in range(30):
        if at_b == 0.0 or curvature <= 0.0:
            break
        trial = b - at_b / curvature
        at_trial, curvature_there = _derivatives(loss, p, trial, mu)
        if abs(at_trial) > 0.5 * abs(at_b):
            break
        b, at_b, curvature = trial, at_trial, curvature_there
    return b if at_b == 0.0 else _bracketed(lambda b: _derivatives(loss, p, b, mu)[0], b, at_b)


def _derivatives(loss: Any, p: Array, b: float, mu: float) -> tuple[float, float]:
    """The slope, zero within rounding, and the curvature of the mean loss along b; no curvature of an envelope."""
    from epro.kernels.batch import call, moreau_rows, slope_sums

    if mu > 0.0:
        slopes = np.empty_like(p)
        rest = (p + b, loss.y, loss.weights, float(mu), slopes)
        magnitude, curvature = call(moreau_rows, loss.link, *rest, records=(loss.link,))[2], 0.0
        total = float(slopes.sum())
    else:
        rest = (p, float(b), loss.y, loss.weights)
        total, magnitude, curvature = call(slope_sums, loss.link, *rest, records=(loss.link,))
    small = abs(total) <= 8 * np.finfo(float).eps * magnitude
    return 0.0 if small else float(total) / loss.n, float(curvature) / loss.n


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
