"""A constraint put to the test: what it says of itself must be true at random points."""

from __future__ import annotations

from typing import Any

import numpy as np

from epro.constraints.base import Constraint
from epro.protocols import Array

TOLERANCE = 1e-7


def check(constraint: Constraint, shape: tuple[int, ...] | int | None = None, seed: int = 0, trials: int = 40) -> None:
    """Raises a ValueError that says which law fails, with which numbers; silent where none does.

    The laws, at random points of several scales: value, subgradient and project return finite numbers of the right
    shape; c is convex; the subgradient inequality; a projection is feasible, leaves feasible points alone, is
    idempotent and nearer than any other feasible point; ||v|| <= G2; Lemma 0 holds for the declared rho.

    Parameters
    ----------
    constraint : Constraint
    shape : tuple of int, optional
        The shape of x, where the constraint does not fix it. Square matrices are drawn symmetric.
    seed, trials : int
        Of the random points.

    Examples
    --------
    >>> import numpy as np
    >>> from epro.constraints import Custom, check
    >>> clip = Custom(lambda x: x.max() - 1, lambda x: np.ones_like(x), lambda x: np.minimum(x, 1))
    >>> check(clip, shape=3)
    Traceback (most recent call last):
    ValueError: Custom(...): the subgradient is wrong: ...
    """
    shape = constraint.shape if shape is None else (shape,) if isinstance(shape, int) else tuple(shape)
    if shape is None:
        raise ValueError(f"{constraint!r}: shape is needed, since the constraint does not fix the shape of x")
    Trial(constraint.bind(shape), shape, np.random.default_rng(seed)).run(trials)


class Trial:
    """The laws, each a method that raises."""

    def __init__(self, constraint: Constraint, shape: tuple[int, ...], rng: np.random.Generator) -> None:
        self.c, self.shape, self.rng = constraint, shape, rng

    def run(self, trials: int) -> None:
        points = [self.draw(k) for k in range(trials)]
        values = [self.value(x) for x in points]
        slopes = [self.array("subgradient", x) for x in points]
        self.convex(points, values)
        self.subgradients(points, values, slopes)
        self.lipschitz(slopes)
        nearest = [self.array("project", x) for x in points]
        self.projections(points, values, nearest)
        self.rho(points, values, nearest)

    def draw(self, k: int) -> Array:
        x = self.rng.normal(size=self.shape) * 10.0 ** (k % 4 - 1)
        square = len(self.shape) == 2 and self.shape[0] == self.shape[1]
        return 0.5 * (x + x.T) if square else x

    def fail(self, law: str, **numbers: Any) -> None:
        found = ", ".join(f"{name} = {value:.6g}" for name, value in numbers.items())
        raise ValueError(f"{self.c!r}: {law}" + (f": {found}" if found else ""))

    def value(self, x: Array) -> float:
        found = np.asarray(self.c.value(x.copy()))
        if found.size != 1 or not np.isfinite(found).all():
            self.fail(f"value(x) must be a finite number, got {found}")
        return float(found.reshape(()))

    def array(self, verb: str, x: Array) -> Array:
        given = x.copy()
        found = np.asarray(getattr(self.c, verb)(given))
        if found.shape != x.shape:
            self.fail(f"{verb}(x) has shape {found.shape}, expected {x.shape}")
        if not np.isfinite(found).all():
            self.fail(f"{verb}(x) has a NaN or infinite entry")
        if not np.array_equal(given, x):
            self.fail(f"{verb}(x) changed its argument")
        return found

    def convex(self, points: list[Array], values: list[float]) -> None:
        for (x, a), (y, b) in pairs(points, values):
            middle, mean = self.value(0.5 * (x + y)), 0.5 * (a + b)
            if middle > mean + TOLERANCE * (1 + abs(a) + abs(b)):
                self.fail("c is not convex, it is larger between two points than their mean", between=middle, mean=mean)

    def subgradients(self, points: list[Array], values: list[float], slopes: list[Array]) -> None:
        for (x, cx, v), (y, cy, _) in pairs(points, values, slopes):
            line = cx + float(np.vdot(v, y - x))
            if cy < line - TOLERANCE * (1 + abs(cx) + abs(line)):
                self.fail("the subgradient is wrong: c(y) < c(x) + <v, y - x>", c_of_y=cy, right_side=line)

    def lipschitz(self, slopes: list[Array]) -> None:
        bound, longest = self.c.lipschitz, max(float(np.linalg.norm(v)) for v in slopes)
        if bound is not None and longest > bound * (1 + TOLERANCE):
            self.fail("lipschitz is too small: a subgradient is longer", norm=longest, lipschitz=bound)

    def projections(self, points: list[Array], values: list[float], nearest: list[Array]) -> None:
        competitors = [q for q in (*nearest, *(self.walk_inside(x) for x in points[:8])) if q is not None]
        for x, c, p in zip(points, values, nearest, strict=True):
            size = 1 + float(np.linalg.norm(x))
            left = self.value(p)
            if left > TOLERANCE * size:
                self.fail("project(x) is not feasible", c_of_it=left)
            moved = float(np.linalg.norm(p - x))
            if c <= 0 and moved > TOLERANCE * size:
                self.fail("project(x) moves a feasible x", c_of_x=c, distance=moved)
            again = float(np.linalg.norm(self.array("project", p) - p))
            if again > TOLERANCE * size:
                self.fail("project is not idempotent: projecting twice moves further", distance=again)
            for q in competitors:
                if float(np.vdot(x - p, q - p)) > TOLERANCE * size * (size + float(np.linalg.norm(q))):
                    self.fail(
                        "project(x) is not the nearest point, the line to another feasible point leads nearer",
                        angle=float(np.vdot(x - p, q - p)),
                        its_distance=moved,
                        distance_of_other=float(np.linalg.norm(x - q)),
                    )

    def walk_inside(self, x: Array) -> Array | None:
        """A feasible point found by steps along subgradients alone; None where they find none."""
        for _ in range(300):
            c, v = self.value(x), self.array("subgradient", x)
            length2 = float(np.vdot(v, v))
            if c <= 0 or length2 == 0:
                return x if c <= 0 else None
            x = x - (1.01 * c / length2) * v
        return None

    def rho(self, points: list[Array], values: list[float], nearest: list[Array]) -> None:
        if self.c.rho is None:
            return
        for x, c, p in zip(points, values, nearest, strict=True):
            distance, allowed = float(np.linalg.norm(x - p)), max(c, 0.0) / self.c.rho
            if distance > allowed + TOLERANCE * (1 + float(np.linalg.norm(x))):
                self.fail("rho is too large: ||x - P(x)|| > c(x) / rho", distance=distance, allowed=allowed)


def pairs(*lists: list[Any]) -> Any:
    """All ordered pairs of neighbours and of a few far apart."""
    items = list(zip(*lists, strict=True))
    n = len(items)
    return [(items[i], items[(i + step) % n]) for i in range(n) for step in (1, 2, 5, n - 1)]
