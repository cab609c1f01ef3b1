"""Rows that arrive in batches: one epoch of Epro-SGD each, with step sizes that fall over all of them."""

from __future__ import annotations

import math
from typing import Any

from epro._minimize import minimize
from epro.curvature import row_smoothness
from epro.problem import Problem
from epro.protocols import Array
from epro.solvers import EproSGD


def next_epoch(problem: Problem, x: Array | None, seen: int, random_state: Any = 0) -> Array:
    """The feasible average of one epoch over the batch in ``problem``, after ``seen`` rows before it.

    The step size is the textbook's for a stochastic gradient after t rows: c / t with strong convexity, else
    c / sqrt(t), starting at 1/(2L), L the largest curvature of a row (its squared length where the loss is not smooth).
    """
    loss = problem.loss
    smoothness = row_smoothness(loss) if loss.smoothness is not None else float((loss.row_norms2 * loss.weights).max())
    first, ridge = 0.5 / max(smoothness, 1e-12), float(problem.regularizer.ridge)
    eta = first / math.sqrt(1.0 + seen / problem.n)
    if ridge > 0.0:
        eta = min(eta, max(first / (1.0 + seen / problem.n), 1.0 / (ridge * (1.0 + seen))))
    solver = EproSGD(eta1=eta, t1=problem.n, robust=True)
    return minimize(problem, solver, tol=0.0, max_steps=problem.n, x0=x, random_state=random_state).x
