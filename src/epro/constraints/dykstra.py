r"""The nearest point of an intersection, from the projections on its members: Dykstra's method, extrapolated.

With corrections y_k, one per member, zero at first, and x = z - sum_k y_k, each member in turn does

    x_k = P_k(x + y_k),      y_k = (x + y_k) - x_k,      x = x_k.

This is exact minimisation, one block after the other, of the dual objective

    ||z - sum_k y_k||^2 / 2 + sum_k sup_{p in member k} <y_k, p>,

from any y; after a sweep y_k is normal to member k at x_k, so the supremum is <y_k, x_k> and the objective is known.
Sweeps can converge slowly (sets that meet at a small angle). So every sweep starts from an extrapolation of the last
ones (Anderson's), kept where the dual objective confirms it.

The corrections measure the error: for any feasible p, <y_k, p> <= <y_k, x_k>, so with p = P(z)

    ||x - p||^2 = <x - z, x - p> + <z - p, x - p> = sum_k <y_k, p - x> + <z - p, x - p>
               <= sum_k <y_k, x_k - x> + <z - p, x - p>,

and the last term is at most zero for a feasible x. So ||x - P(z)||^2 <= sum_k <y_k, x_k - x>.

A sweep moves x by about the size of the sets, so a far z would take a sweep for each such length on its way. P(z) is
also the p with p = P(p + eta (z - p)), for any eta > 0, which steps p <- P(p + eta (z - p)) find; eta is chosen so that
each of these projections starts nearby, and the corrections of z are those of the last one, divided by eta.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from epro.protocols import Array

SWEEPS, MEMORY = 3000, 8
FAR, STEPS, PATIENCE = 10.0, 100, 20


class Sweep(NamedTuple):
    """The corrections and the members' points after one round of all members."""

    shares: Array  # y_k, one row per member
    at: Array  # x_k
    dual: float

    @property
    def x(self) -> Array:
        return self.at[-1]

    @property
    def apart(self) -> float:
        """The largest distance of x from a point of a member: x is feasible but for that."""
        return float(np.linalg.norm(self.at - self.x, axis=1).max())

    @property
    def error(self) -> float:
        """A bound on ||x - P(z)||, for an x feasible to within rounding."""
        return math.sqrt(abs(float(np.sum(self.shares * (self.at - self.x)))))


def sweep(projections: list[Callable[[Array], Array]], z: Array, shares: Array) -> Sweep:
    """One round of all members, from any corrections."""
    shares, at = shares.copy(), np.empty_like(shares)
    x = z.ravel() - shares.sum(axis=0)
    for k, project in enumerate(projections):
        y = x + shares[k]
        at[k] = x = project(y.reshape(z.shape)).ravel()
        shares[k] = y - x
    remains = z.ravel() - shares.sum(axis=0)
    return Sweep(shares, at, 0.5 * float(remains @ remains) + float(np.sum(shares * at)))


def extrapolate(starts: list[Array], ends: list[Array]) -> Array:
    """Anderson's extrapolation: the combination of the ends whose steps, combined alike, nearly cancel."""
    steps = np.stack([(e - s).ravel() for s, e in zip(starts, ends, strict=True)])
    changes = np.diff(steps, axis=0)
    weights = np.linalg.lstsq(changes.T, steps[-1], rcond=1e-12)[0]
    moves = np.diff(np.stack([e.ravel() for e in ends]), axis=0)
    return (ends[-1].ravel() - weights @ moves).reshape(ends[-1].shape)


def dykstra(projections: list[Callable[[Array], Array]], z: Array, tol: float = 1e-10) -> Sweep:
    """The nearest point of z, feasible to ``tol``, and its corrections; a far z is approached in steps."""
    near, shares = z, np.zeros((len(projections), z.size))
    for project in projections:
        near = project(near)
    size = 1.0 + float(np.linalg.norm(near))
    away = float(np.linalg.norm(z - near))
    if away <= FAR * size or not math.isfinite(away):
        return sweeps(projections, z, shares, tol)
    end, eta = sweeps(projections, near, shares, tol), FAR * size / away
    for step in range(STEPS):
        if not end.apart <= 1e-7 * size:
            break
        p = end.x.reshape(z.shape)
        end = sweeps(projections, p + eta * (z - p), shares, tol)
        if eta == 1.0 or np.linalg.norm(end.x - p.ravel()) <= tol * size:
            break
        longer = min(1.0, 2.0 * eta) if step >= PATIENCE else eta
        shares, eta = end.shares * (longer / eta), longer
    return Sweep(end.shares / eta, end.at, end.dual)


def sweeps(projections: list[Callable[[Array], Array]], z: Array, start: Array, tol: float) -> Sweep:
    """Sweeps until x is feasible to ``tol`` and the corrections stand still, relative to the size of z."""
    size = 1.0 + float(np.linalg.norm(z))
    now = sweep(projections, z, start)
    starts, ends = [start], [now.shares]
    for _ in range(SWEEPS):
        still = float(np.linalg.norm(ends[-1] - starts[-1]))
        if (now.apart <= tol * size and still <= 10 * tol * size) or not math.isfinite(now.dual):
            break
        if np.linalg.norm(now.shares) > 1e6 * size:  # the dual has no minimum: the members have no common point
            break
        start = now.shares
        if len(ends) > 1:
            guess = extrapolate(starts, ends)
            trial = sweep(projections, z, guess)
            if trial.dual <= now.dual + 1e-14 * size**2:
                now, start = trial, guess
            else:
                starts, ends, now = [], [], sweep(projections, z, start)
        else:
            now = sweep(projections, z, start)
        starts, ends = [*starts, start][-MEMORY:], [*ends, now.shares][-MEMORY:]
    return now
