"""Penalties: from a violated constraint to a push against it. They are reformulations, not algorithms.

Each stands for a function of c(x) that a solver adds to the objective. With v the cut found at x_t, eta the step size:

=================  ==============================================  =====================================
penalty            adds to the objective                            weight of v in the step
=================  ==============================================  =====================================
`Hinge`            lam [c(x)]_+                (Eq. augment)        lam if c(x_t) > 0
`Softplus`         gamma ln(1 + exp(lam c(x)/gamma))   (Eq. F)      lam * sigmoid(lam c(x_t)/gamma)
`PrimalDual`       l c(x) - (gamma/2) l^2, l >= 0                   l_t, which itself climbs
`ProxLinear`       lam [c(x_t) + <v, x - x_t>]_+, implicitly        clipped, see below
=================  ==============================================  =====================================

ProxLinear. After the loss step has moved x_t to y, solve min_x ||x - y||^2 / 2 + eta lam [c(x_t) + <v, x - x_t>]_+.
The solution is y - eta s v with s in [0, lam]; at s in between the model is zero there:
c(x_t) + <v, y - x_t> - eta s ||v||^2 = 0. So s = clip((c(x_t) + <v, y - x_t>) / (eta ||v||^2), 0, lam): the step never
overshoots the model's boundary, whatever lam, which may be infinite.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from epro.protocols import Array


class Hinge(NamedTuple):
    """lam [c(x)]_+, explicit (Algorithm 1, line 6)."""

    lam: float

    def anchor(self, constraint: Any, work: Array, x: Array) -> float:
        return 0.0

    def push(self, constraint: Any, work: Array, c: float, anchor: float, eta: float, x: Array) -> float:
        if c > 0.0:
            constraint.descend(work, eta * self.lam, x)
            return self.lam
        return 0.0


class Softplus(NamedTuple):
    """gamma ln(1 + exp(lam c(x) / gamma)), explicit (OneProj)."""

    lam: float
    gamma: float

    def anchor(self, constraint: Any, work: Array, x: Array) -> float:
        return 0.0

    def push(self, constraint: Any, work: Array, c: float, anchor: float, eta: float, x: Array) -> float:
        z = self.lam * c / self.gamma
        if z > 0.0:
            weight = self.lam / (1.0 + math.exp(-z))
        else:
            e = math.exp(max(z, -700.0))
            weight = self.lam * e / (1.0 + e)
        constraint.descend(work, eta * weight, x)
        return weight


class PrimalDual(NamedTuple):
    """l c(x) - (gamma/2) l^2 with the multiplier l in ``multiplier[0]``, which takes its own ascent step."""

    multiplier: Array
    gamma: float

    def anchor(self, constraint: Any, work: Array, x: Array) -> float:
        return 0.0

    def push(self, constraint: Any, work: Array, c: float, anchor: float, eta: float, x: Array) -> float:
        weight = self.multiplier[0]
        constraint.descend(work, eta * weight, x)
        self.multiplier[0] = max((1.0 - eta * self.gamma) * weight + eta * c, 0.0)
        return weight


class ProxLinear(NamedTuple):
    """The hinge's linear model at x_t, taken implicitly; lam may be infinite."""

    lam: float

    def anchor(self, constraint: Any, work: Array, x: Array) -> float:
        return constraint.inner(work, x)

    def push(self, constraint: Any, work: Array, c: float, anchor: float, eta: float, x: Array) -> float:
        norm2 = constraint.cut_norm2(work)
        if norm2 <= 0.0:
            return 0.0
        model = c + constraint.inner(work, x) - anchor
        weight = min(max(model / (eta * norm2), 0.0), self.lam)
        if weight > 0.0:
            constraint.descend(work, eta * weight, x)
        return weight


class NoPenalty(NamedTuple):
    """Nothing: for methods that project at every step."""

    lam: float = 0.0

    def anchor(self, constraint: Any, work: Array, x: Array) -> float:
        return 0.0

    def push(self, constraint: Any, work: Array, c: float, anchor: float, eta: float, x: Array) -> float:
        return 0.0
