r"""Quadratic models over curved sets, as conic programs.

min over the set of <q, z - x> + (z - x)'H(z - x)/2 + <t, |z|>, for sets that second-order and semidefinite cones
describe. Each column is measured in units of 1 / sqrt(H_jj), so that the units of the data do not matter. Clarabel
solves it to about 1e-9 relative to the step; one projection then makes z feasible. Matrices are taken row by row.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
from scipy import sparse

from epro import semidefinite
from epro.constraints.base import Constraint, LinearSystem
from epro.constraints.ellipsoid import Ellipsoid
from epro.constraints.everywhere import Everywhere
from epro.constraints.group_l1_ball import GroupL1Ball
from epro.constraints.intersection import Intersection
from epro.constraints.l1_ball import L1Ball
from epro.constraints.l2_ball import L2Ball
from epro.constraints.nuclear_norm_ball import NuclearNormBall
from epro.constraints.psd import PSD
from epro.constraints.second_order_cone import SecondOrderCone
from epro.constraints.spectraplex import Spectraplex
from epro.protocols import Array
from epro.quadratic import steadied

ENTRIES = 4_000_000  # of the conic program's matrices, at most


class Program:
    """Rows with b - A (z, extra) in cones; every set may ask for extra variables of its own."""

    def __init__(self, d: int) -> None:
        self.d, self.extra = d, 0
        self.rows: list[tuple[Any, int, Any, Array, str]] = []

    def variables(self, count: int) -> int:
        """The first of so many extra variables."""
        self.extra += count
        return self.extra - count

    def add(self, on_z: Any, b: Array, cone: str, first: int = 0, on_extra: Any = None) -> bool:
        """b - on_z z - on_extra extra[first:] in the cone: "zero", "nonnegative", "second-order" or "semidefinite"."""
        self.rows.append((on_z, first, on_extra, np.asarray(b, float), cone))
        return True

    def assembled(self, unit: Array, x: Array) -> tuple[Any, Array, list[tuple[str, int]]]:
        """A and b for y = (z - x) / unit and the extra variables, and the cones."""
        blocks, rights, cones = [], [], []
        for on_z, first, on_extra, b, cone in self.rows:
            on_z = sparse.csr_array(on_z)
            k = 0 if on_extra is None else on_extra.shape[1]
            parts = [on_z @ sparse.diags_array(unit), sparse.csr_array((len(b), first))]
            parts += [] if on_extra is None else [sparse.csr_array(on_extra)]
            blocks.append(sparse.hstack([*parts, sparse.csr_array((len(b), self.extra - first - k))]))
            rights.append(b - on_z @ x)
            cones.append((cone, len(b)))
        return sparse.csc_matrix(sparse.vstack(blocks)), np.concatenate(rights), cones


def describe(c: Constraint, program: Program) -> bool:
    """Adds a set to a program; False where cones do not describe it."""
    d = program.d
    if isinstance(c, (NuclearNormBall, PSD, Spectraplex)):
        return semidefinite.describe(c, program)
    linear = c.linear_inequalities(d)
    if linear is not None:
        return _linear(linear, program)
    if isinstance(c, Everywhere):
        return True
    if isinstance(c, Intersection):
        return all(describe(member, program) for member in c.members)
    if isinstance(c, L1Ball):
        w = absolute_values(program)
        return program.add(np.zeros((1, d)), np.array([c.radius]), "nonnegative", w, np.ones((1, d)))
    if isinstance(c, L2Ball):
        return _cone(np.eye(d), np.zeros(d) if c.center is None else np.ravel(c.center), c.radius, program)
    if isinstance(c, Ellipsoid):
        return _cone(np.sqrt(c.s)[:, None] * c.V.T, c.center, c.radius, program)
    if isinstance(c, SecondOrderCone):
        return program.add(-np.eye(d), np.zeros(d), "second-order")
    return isinstance(c, GroupL1Ball) and _groups(c, program)


def absolute_values(program: Program) -> int:
    """Extra variables w with -w <= z <= w; the first of them."""
    w, eye = program.variables(program.d), np.eye(program.d)
    program.add(np.vstack([eye, -eye]), np.zeros(2 * program.d), "nonnegative", w, np.vstack([-eye, -eye]))
    return w


def _linear(linear: LinearSystem, program: Program) -> bool:
    unit: Any = sparse.eye_array(program.d, format="csr")
    low, high = np.flatnonzero(np.isfinite(linear.lb)), np.flatnonzero(np.isfinite(linear.ub))
    blocks = [
        (linear.A_eq, linear.b_eq, "zero"), (linear.A_ub, linear.b_ub, "nonnegative"),
        (-unit[low], -linear.lb[low], "nonnegative"), (unit[high], linear.ub[high], "nonnegative"),
    ]  # fmt: skip
    return all(program.add(A, b, cone) for A, b, cone in blocks if len(b))


def _cone(M: Array, center: Array, radius: float, program: Program) -> bool:
    """||M (z - center)|| <= radius"""
    on_z = np.vstack([np.zeros((1, M.shape[1])), -M])
    return program.add(on_z, np.r_[radius, -M @ center], "second-order")


def _groups(c: GroupL1Ball, program: Program) -> bool:
    """||z_g|| <= w_g for every group, and the sum of w at most the radius."""
    count = len(c.starts) - 1
    w = program.variables(count)
    for k in range(count):
        members = c.members[c.starts[k] : c.starts[k + 1]]
        on_z, on_w = np.zeros((1 + len(members), program.d)), np.zeros((1 + len(members), count))
        on_z[np.arange(len(members)) + 1, members], on_w[0, k] = -1.0, -1.0
        program.add(on_z, np.zeros(1 + len(members)), "second-order", w, on_w)
    return program.add(np.zeros((1, program.d)), np.array([c.radius]), "nonnegative", w, np.ones((1, count)))


def minimize(c: Constraint, H: Array, q: Array, x: Array, l1: Array | float = 0.0) -> Array | None:
    """z, feasible to about 1e-9; None where cones do not describe the set, or Clarabel did not solve the program."""
    z = trust_region(c, H, q, x) if x.ndim == 1 and not np.any(l1) else None
    return _by_cones(c, H, q, x, l1) if z is None else z


def _by_cones(c: Constraint, H: Array, q: Array, point: Array, l1: Array | float) -> Array | None:
    d, q, x = point.size, q.ravel(), point.ravel()
    program = Program(d)
    if 3 * d * d > ENTRIES or not describe(c, program):
        return None
    w = absolute_values(program) if np.any(l1) else 0
    if not program.rows:
        return point - np.linalg.lstsq(H, q, rcond=1e-14)[0].reshape(point.shape)
    diagonal = np.diag(H)
    unit = 1.0 / np.sqrt(np.where(diagonal > 1e-30 * diagonal.max(), diagonal, 1.0))
    P, linear = np.zeros((d + program.extra, d + program.extra)), np.zeros(d + program.extra)
    P[:d, :d], linear[:d] = H * unit * unit[:, None], q * unit
    if np.any(l1):
        linear[d + w : d + w + d] = np.ravel(l1)
    y = _solved(P, linear, *program.assembled(unit, x))
    return None if y is None else point + (unit * y[:d]).reshape(point.shape)


def trust_region(c: Constraint, H: Array, q: Array, x: Array) -> Array | None:
    r"""The minimiser to rounding, where it is the one without a constraint, or the set is a ball or an ellipsoid.

    With N(e)^2 = e'Pe it is z(m) - center = (H + m P)^-1 (H (x - center) - q), N(z - center) = radius. As in
    `ellipsoid.shrinkage`, Newton's method on 1/N(m) = 1/radius climbs from m = 0 to the root without passing it; the
    Cholesky factor of H + m P does not depend on the units of the columns.
    """
    if isinstance(c, Everywhere):
        return None
    if not isinstance(c, (L2Ball, Ellipsoid)):
        z = x - _factor(H)(q)
        return z if c.value(z) <= 0.0 else None
    P = c.P if isinstance(c, Ellipsoid) else np.eye(x.size)
    center = np.zeros(x.size) if c.center is None else c.center
    m, right = 0.0, H @ (x - center) - q
    for _ in range(100):
        inverse = _factor(H + m * P)
        e = inverse(right)
        Pe = P @ e
        n2 = float(e @ Pe)
        if not math.isfinite(n2):
            return None
        step = (math.sqrt(n2) / c.radius - 1.0) * n2 / max(float(Pe @ inverse(Pe)), 1e-300) if n2 > 0.0 else 0.0
        if step <= 1e-15 * m:
            return center + e
        m += step
    return None


def _factor(K: Array) -> Callable[[Array], Array]:
    """The solver of K y = r for a semidefinite K."""
    try:
        factor = scipy.linalg.cho_factor(K, check_finite=False)
    except np.linalg.LinAlgError:
        factor = scipy.linalg.cho_factor(steadied(K), check_finite=False)
    return lambda r: scipy.linalg.cho_solve(factor, r, check_finite=False)


def _solved(P: Array, q: Array, A: Any, b: Array, cones: list[tuple[str, int]]) -> Array | None:
    """The minimiser of y'Py/2 + q'y over b - Ay in the cones."""
    clarabel: Any = importlib.import_module("clarabel")  # its stubs lack the names used here

    kinds = {
        "zero": clarabel.ZeroConeT, "nonnegative": clarabel.NonnegativeConeT, "second-order": clarabel.SecondOrderConeT,
        "semidefinite": lambda size: clarabel.PSDTriangleConeT(semidefinite.order(size)),
    }  # fmt: skip
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    scale = 1.0 / max(float(np.abs(q).max(initial=0.0)), 1e-300)  # the objective in units of its slope
    upper = sparse.csc_matrix(np.triu(P) * scale)
    listed = [kinds[kind](size) for kind, size in cones]
    y = np.array(clarabel.DefaultSolver(upper, q * scale, A, b, listed, settings).solve().x)
    return y if np.isfinite(y).all() else None


__all__ = ["Program", "describe", "minimize"]
