"""Optimal regularized dual averaging (Algorithm 2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from epro.kernels.records import kernel
from epro.protocols import Array, Index


# fmt: off
@kernel
def orda_steps(
    p: Any, domain: Any, lam: float, eta: float, query_u: bool, t0: int, x1: Array, x: Array, z: Array, dual: Array,
    work: Array, draws: Index,
) -> None:
    """Iterations t = t0, ..., t0 + len(draws) - 1. ``dual`` is sum_tau (g_tau + lam dc_tau) / nu_tau, nu_t = 2/t.

    Line 7 divides by the weight of its quadratic, theta_t nu_t gamma_{t+1}; since gbar_t = theta_t nu_t dual, that is
    z = prox of g with step 1/(theta_t nu_t gamma_{t+1}) at x_1 - dual / gamma_{t+1}.

    ``domain`` is everywhere, or a ball around the origin that counts as a part of g: after the proximal step of a sum
    of ridge, l1 norms and tilt, the step of that sum plus the ball is a scaling. x, z and so u never leave it.
    """
    batch = draws.shape[1]
    predictions, slopes, u = np.empty(batch, x.dtype), np.empty(batch, x.dtype), np.empty_like(x)
    for k in range(draws.shape[0]):
        t = t0 + k
        rows = draws[k]
        theta, nu = 2.0 / (t + 1.0), 2.0 / t                           # line 2
        gamma, gamma_next = t**1.5 / eta, (t + 1.0) ** 1.5 / eta
        u[...] = (1.0 - theta) * x + theta * z                         # line 4
        if query_u:
            x[...] = u                                                 # erratum 3: queries at u_t
        p.atoms.dots(rows, x, predictions)                             # line 5
        for b in range(batch):
            i = rows[b]
            slopes[b] = p.weights[i] * p.link.slope(predictions[b], p.y[i]) / (batch * nu)
        c = p.constraint.cut(x, work)
        p.atoms.axpys(rows, slopes, dual)                              # line 6
        slopes *= -nu / gamma
        p.atoms.axpys(rows, slopes, u)
        if c > 0.0:
            p.constraint.descend(work, -lam / nu, dual)
            p.constraint.descend(work, lam / gamma, u)
        z[...] = x1 - dual / gamma_next                                # line 7
        p.g.prox(z, 1.0 / (theta * nu * gamma_next))
        domain.project(z)
        x[...] = u                                                     # line 8
        p.g.prox(x, 1.0 / gamma)
        domain.project(x)
# fmt: on
