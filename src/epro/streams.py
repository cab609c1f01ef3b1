"""Rows that arrive in batches: epochs of Epro-SGD, with step sizes that fall over all of them.

A batch is an epoch, unless it has fewer than `LEAST` rows: those wait for the next batches, since the average of an
epoch of one row, which is what the epoch returns, is where it started.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from epro._minimize import minimize
from epro.curvature import row_smoothness
from epro.problem import Problem
from epro.protocols import Array
from epro.solvers import EproSGD

LEAST = 8  # rows of an epoch: Algorithm 1's first
FLAT = 128  # rows before the step size falls, whatever the size of the batches


def next_epoch(problem: Problem, x: Array | None, seen: int, random_state: Any = 0) -> Array:
    """The feasible average of one epoch over the batch in ``problem``, after ``seen`` rows before it.

    The step size is the textbook's for a stochastic gradient after t rows: c / t with strong convexity, else
    c / sqrt(t), starting at 2/L, L the largest curvature of a row (its squared length where the loss is not smooth);
    implicit steps are stable at any size.
    """
    loss = problem.loss
    smoothness = row_smoothness(loss) if loss.smoothness is not None else float((loss.row_norms2 * loss.weights).max())
    first, ridge = 2.0 / max(smoothness, 1e-12), float(problem.regularizer.ridge)
    t = 1.0 + seen / max(problem.n, FLAT)
    eta = first / math.sqrt(t)
    if ridge > 0.0:
        eta = min(eta, max(first / t, 1.0 / (ridge * (1.0 + seen))))
    solver = EproSGD(eta1=eta, t1=problem.n, robust=True)
    seeded = isinstance(random_state, int | np.integer)  # other rows are drawn from every batch
    draws = np.random.default_rng([int(random_state), seen]) if seeded else random_state
    return minimize(problem, solver, tol=0.0, max_steps=problem.n, x0=x, random_state=draws).x
