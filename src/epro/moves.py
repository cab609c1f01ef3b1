"""Moves: how a row and the regularizer move the iterate in one step."""

from __future__ import annotations

from typing import Any, NamedTuple

from epro.protocols import Array


class Explicit(NamedTuple):
    """A subgradient step on f + g (Algorithm 1)."""

    unit: float = 1.0  # a record needs a field

    def rate(self, link: Any, atoms: Any, i: int, p: float, y: float, eta: float) -> float:
        return link.slope(p, y)

    def before(self, g: Any, x: Array, eta: float) -> None:
        g.forward(x, eta)

    def after(self, g: Any, x: Array, eta: float) -> None:
        pass


class Proximal(NamedTuple):
    """A subgradient step on f, then the proximal step of g (Eq. cb)."""

    unit: float = 1.0

    def rate(self, link: Any, atoms: Any, i: int, p: float, y: float, eta: float) -> float:
        return link.slope(p, y)

    def before(self, g: Any, x: Array, eta: float) -> None:
        pass

    def after(self, g: Any, x: Array, eta: float) -> None:
        g.prox(x, eta)


class Implicit(NamedTuple):
    """Proximal steps on the row's loss and on g.

    x+ = argmin_x ||x - x_t||^2 / 2 + eta loss(<A_i, x>, y) moves along A_i alone: x+ = x_t - eta s A_i, where
    s = loss'(p - eta s ||A_i||^2). That is the link's ``implicit`` slope with step eta ||A_i||^2. It never overshoots
    the row's minimum, so no step size is too large.
    """

    unit: float = 1.0

    def rate(self, link: Any, atoms: Any, i: int, p: float, y: float, eta: float) -> float:
        return link.implicit(p, y, eta * atoms.norm2(i))

    def before(self, g: Any, x: Array, eta: float) -> None:
        pass

    def after(self, g: Any, x: Array, eta: float) -> None:
        g.prox(x, eta)
