"""Every constraint, subscribed by one line to all the laws of ``test_laws.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
from scipy import sparse

from epro.constraints import (
    PSD,
    Affine,
    Box,
    Custom,
    Ellipsoid,
    Everywhere,
    FromCVXPY,
    GroupL1Ball,
    HalfSpace,
    Intersection,
    L1Ball,
    L2Ball,
    Monotone,
    NonNegative,
    NuclearNormBall,
    Polyhedron,
    SecondOrderCone,
    Simplex,
    Spectraplex,
)

rng = np.random.default_rng(7)
A, M = rng.normal(size=(6, 4)), rng.normal(size=(4, 4))
P = M @ M.T + 0.1 * np.eye(4)
a, e, center = rng.normal(size=4), rng.normal(size=(2, 5)), np.array([1.0, -2.0, 0.5, 0.0])
low, high = np.array([-1.0, 0.0, -np.inf, 2.0]), np.array([1.0, np.inf, 3.0, 2.0])
mask = np.array([True, False, True, True])
dag = np.array([[0, 1], [0, 2], [1, 3], [2, 3], [3, 4]])
many, many_b = rng.normal(size=(40, 5)), np.abs(rng.normal(size=40))
variable = cp.Variable(3)


class Case(NamedTuple):
    """A constraint, the shape of x, and the same set in CVXPY's words."""

    name: str
    constraint: Any
    shape: tuple[int, ...]
    reference: Callable[[Any], list[Any]]
    compiled: bool = True  # the compiled cut is tested (where it has not been for an equal record)
    minimizer: bool = False  # it has a linear minimiser


CASES = [
    Case("everywhere", Everywhere(), (3,), lambda x: []),
    Case("l1", L1Ball(1.5), (6,), lambda x: [cp.norm1(x) <= 1.5], minimizer=True),
    Case("l1-matrix", L1Ball(1.5), (2, 3), lambda x: [cp.norm1(cp.vec(x, order="C")) <= 1.5], False, True),
    Case("l2", L2Ball(2.0), (5,), lambda x: [cp.norm(x) <= 2], minimizer=True),
    Case("l2-center", L2Ball(0.7, center), (4,), lambda x: [cp.norm(x - center) <= 0.7], minimizer=True),
    Case("box", Box(low, high), (4,), lambda x: [x[:2] >= [-1, 0], x[0] <= 1, x[2] <= 3, x[3] == 2]),
    Case("box-matrix", Box(-0.5, 1.0), (2, 2), lambda x: [x >= -0.5, x <= 1], False, True),
    Case("nonnegative", NonNegative(), (5,), lambda x: [x >= 0]),
    Case("nonnegative-mask", NonNegative(mask), (4,), lambda x: [x[mask] >= 0]),
    Case("simplex", Simplex(2.0), (5,), lambda x: [x >= 0, cp.sum(x) == 2], minimizer=True),
    Case("half-space", HalfSpace(a, -0.5), (4,), lambda x: [a @ x <= -0.5]),
    Case("affine", Affine(e, [1.0, -1.0]), (5,), lambda x: [e @ x == [1, -1]]),
    Case("affine-dependent", Affine(np.vstack([e, e[0]]), [1.0, -1, 1]), (5,), lambda x: [e @ x == [1, -1]]),
    Case("polyhedron", Polyhedron(A, np.ones(6)), (4,), lambda x: [A @ x <= 1]),
    Case("polyhedron-tall", Polyhedron(many, many_b), (5,), lambda x: [many @ x <= many_b], minimizer=True),
    Case("polyhedron-sparse", Polyhedron(sparse.csr_array(A), np.ones(6)), (4,), lambda x: [A @ x <= 1]),
    Case("increasing", Monotone(), (6,), lambda x: [cp.diff(x) >= 0]),
    Case("decreasing", Monotone(increasing=False), (6,), lambda x: [cp.diff(x) <= 0]),
    Case("chains", Monotone(chains=[[0, 3, 1], [5, 2]]), (6,), lambda x: [x[0] <= x[3], x[3] <= x[1], x[5] <= x[2]]),
    Case("partial-order", Monotone(edges=dag), (5,), lambda x: [x[dag[:, 0]] <= x[dag[:, 1]]]),
    Case("ellipsoid", Ellipsoid(P, center, 1.5), (4,), lambda x: [in_axes(x) <= 1.5], minimizer=True),
    Case("ellipsoid-flat", Ellipsoid(A=e), (5,), lambda x: [cp.norm(e @ x) <= 1]),
    Case("groups", GroupL1Ball([[0, 2], [1, 3, 4]], 1.2), (5,), lambda x: [two_groups(x) <= 1.2], minimizer=True),
    Case("nuclear", NuclearNormBall(1.5), (3, 4), lambda x: [cp.normNuc(x) <= 1.5], minimizer=True),
    Case("psd", PSD(), (4, 4), lambda x: [x == x.T, x >> 0]),
    Case("psd-floor", PSD(0.5), (3, 3), lambda x: [x == x.T, x >> 0.5 * np.eye(3)]),
    Case("spectraplex", Spectraplex(2.0), (3, 3), lambda x: [x == x.T, x >> 0, cp.trace(x) == 2], minimizer=True),
    Case("second-order-cone", SecondOrderCone(), (4,), lambda x: [cp.norm(x[1:]) <= x[0]]),
    Case("meet-linear", Intersection([Monotone(), Box(0, 1), HalfSpace(np.ones(4), 2.0)]), (4,),
         lambda x: [cp.diff(x) >= 0, x >= 0, x <= 1, cp.sum(x) <= 2], minimizer=True),
    Case("meet-curved", Intersection([L2Ball(1.0), NonNegative(), Affine(np.ones((1, 4)), [1.2])]), (4,),
         lambda x: [cp.norm(x) <= 1, x >= 0, cp.sum(x) == 1.2]),
    Case("meet-matrix", Intersection([PSD(), Box(-1, 1)]), (3, 3), lambda x: [x == x.T, x >> 0, cp.abs(x) <= 1],
         compiled=False),
    Case("cvxpy", FromCVXPY([cp.norm(variable) <= 1, variable >= -0.2], variable), (3,),
         lambda x: [cp.norm(x) <= 1, x >= -0.2], compiled=False),
    Case("custom", Custom(lambda x: x.max() - 1, lambda x: np.eye(len(x))[x.argmax()], lambda x: np.minimum(x, 1),
                          lipschitz=1.0, rho=0.5), (4,), lambda x: [x <= 1], compiled=False),
]  # fmt: skip


def in_axes(x: Any) -> Any:
    return cp.norm(np.linalg.cholesky(P).T @ (x - center))


def two_groups(x: Any) -> Any:
    return cp.norm(x[[0, 2]]) + cp.norm(x[[1, 3, 4]])
