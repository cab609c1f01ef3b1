"""Certificates: proven lower bounds on the optimal value, from one gradient and one projection.

For a beta-strongly convex F = f + g, any x, any subgradient v of F at x and every feasible z,

    F(z) >= F(x) + <v, z - x> + (beta/2) ||z - x||^2.

The right-hand side is smallest over the feasible set at p = P(x - v/beta), so F* is at least its value at p.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from epro.problem import Problem
from epro.protocols import Array


def lower_bound(problem: Problem, x: Array, project: Callable[[Array], Array]) -> float:
    """A lower bound on the optimal value from a feasible x; minus infinity where none is known."""
    beta = problem.strong_convexity
    if beta <= 0.0:
        return -np.inf
    v = problem.gradient(x)
    move = project(x - v / beta) - x
    return problem.value(x) + float(np.vdot(v, move)) + 0.5 * beta * float(np.vdot(move, move))
