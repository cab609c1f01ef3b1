"""The proximal step of g on the set: argmin over feasible x of ||x - z||^2 / 2 + step * g(x)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from epro.constraints import Everywhere
from epro.problem import Problem
from epro.protocols import Array
from epro.regularizers.separable import Separable


def composite_prox(problem: Problem, z: Array, step: float, project: Callable[[Array], Array], *, tol: float = 1e-12) -> Array:
    """The proximal step of g restricted to the constraint, ending with ``project`` (so the point is feasible).

    With a ridge a and a tilt s the step is a projection: ||x - z||^2/2 + step ((a/2) ||x||^2 + <s, x>) is, up to a
    constant, (1 + step a)/2 ||x - (z - step s)/(1 + step a)||^2. With an l1 norm left over, the two proximal maps are
    alternated by Dykstra's method (Bauschke and Combettes 2008), which converges to the prox of the sum.
    """
    g, constraint = problem.regularizer, problem.constraint
    if isinstance(constraint, Everywhere):
        return g.prox(z, step)
    if g.smooth and isinstance(g.record(z.shape, z.dtype), Separable):
        return project(g.prox(z, step))
    x, p, q = z, np.zeros_like(z), np.zeros_like(z)
    for _ in range(1000):
        y = g.prox(x + p, step)
        p = x + p - y
        new = project(y + q)
        q = y + q - new
        if np.linalg.norm(new - x) <= tol * max(1.0, float(np.linalg.norm(new))) and np.linalg.norm(new - y) <= np.sqrt(tol):
            return new
        x = new
    return x
