"""Convex sets: value, subgradient, exact projection, and the constants that the theorems need.

Each name is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOME = {
    "Affine": "affine",
    "Box": "box",
    "Constraint": "base",
    "Custom": "custom",
    "Ellipsoid": "ellipsoid",
    "Everywhere": "everywhere",
    "FromCVXPY": "from_cvxpy",
    "GroupL1Ball": "group_l1_ball",
    "HalfSpace": "half_space",
    "InfeasibleConstraint": "base",
    "Intersection": "intersection",
    "L1Ball": "l1_ball",
    "L2Ball": "l2_ball",
    "Monotone": "monotone",
    "NonNegative": "nonnegative",
    "NuclearNormBall": "nuclear_norm_ball",
    "PSD": "psd",
    "Polyhedron": "polyhedron",
    "SecondOrderCone": "second_order_cone",
    "Simplex": "simplex",
    "Spectraplex": "spectraplex",
    "as_constraint": "convert",
    "check": "self_test",
}

__all__ = list(_HOME)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
