"""Points far away from an intersection, which a certificate asks for."""

from __future__ import annotations

import numpy as np
import pytest

from epro import constraints as c

PAIRS = {
    "box and ball": [c.Box(0, 1), c.L2Ball(1.0)],
    "budget and ball": [c.Box(0, 1), c.HalfSpace(np.ones(6), 2.0), c.L2Ball(1.0)],
    "two balls": [c.L2Ball(0.7), c.L1Ball(1.0)],
    "ellipsoid and box": [c.Ellipsoid(np.diag(np.linspace(0.1, 9.0, 6))), c.Box(-0.2, 0.3)],
}


@pytest.mark.parametrize("scale", [1e2, 1e4, 1e6])
@pytest.mark.parametrize("name", PAIRS)
def test_far_points_are_projected(name, scale):
    both, rng = c.Intersection(PAIRS[name]).bind((6,)), np.random.default_rng(0)
    feasible = [both.project(rng.standard_normal(6)) for _ in range(20)]
    for _ in range(3):
        direction = rng.standard_normal(6)
        p = both.project(scale * direction)
        assert both.value(p) <= 1e-8
        assert max(direction @ (q - p) for q in feasible) <= 2.0 / scale + 1e-8
        x = both.project(1e-3 * scale * direction)  # on the same ray: further out is further along
        assert direction @ (p - x) >= -1e-8
