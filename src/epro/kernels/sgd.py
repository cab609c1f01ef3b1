"""One kernel for SGD, Epoch-SGD, OneProj, Epro-SGD and its proximal form. The slots:

==============  ============  ====================  ==================================
method          penalty       domain, every step    at the end of the epoch
==============  ============  ====================  ==================================
SGD             none          the constraint        continues
Epoch-SGD       none          the constraint        restarts at the average
OneProj         softplus      a ball around it      one projection, after all steps
OneProj general primal-dual   a ball around it      one projection, after all steps
Epro-SGD        hinge         everywhere (a guard)  restarts at the projected average
==============  ============  ====================  ==================================

The fourth slot, `Move`, says whether losses and regularizers are taken explicitly, proximally or implicitly.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from epro.kernels.records import kernel
from epro.protocols import Array, Index


class Parts(NamedTuple):
    """A problem as kernels see it: records and arrays only."""

    atoms: Any
    y: Array
    weights: Array
    link: Any
    g: Any
    constraint: Any


@kernel
def sgd_steps(
    p: Any, penalty: Any, domain: Any, move: Any, x: Array, total: Array, work: Array, draws: Index, etas: Array
) -> None:
    """As many steps as there are rows in ``draws``; x is left at the last point, ``total`` gains x_1 + ... + x_T."""
    batch = draws.shape[1]
    predictions, slopes = np.empty(batch, x.dtype), np.empty(batch, x.dtype)
    # fmt: off
    for t in range(draws.shape[0]):
        rows, eta = draws[t], etas[t]
        total += x                                                     # Algorithm 1, line 8 averages x_1 .. x_T
        p.atoms.dots(rows, x, predictions)
        for b in range(batch):                                         # line 5: a stochastic gradient
            i = rows[b]
            w = p.weights[i]
            slope = move.rate(p.link, p.atoms, i, predictions[b], p.y[i], eta * w)
            slopes[b] = -eta * w * slope / batch
        c = p.constraint.cut(x, work)
        anchor = penalty.anchor(p.constraint, work, x)
        move.before(p.g, x, eta)
        p.atoms.axpys(rows, slopes, x)                                 # line 6: x - eta (g(x) ...
        penalty.push(p.constraint, work, c, anchor, eta, x)            # ... + lam dc(x))
        move.after(p.g, x, eta)                                        # Eq. (cb): prox of g
        domain.project(x)                                              # nothing for Epro-SGD
    # fmt: on


@kernel
def batch_gradient(p: Any, rows: Index, x: Array, predictions: Array, slopes: Array, out: Array) -> None:
    """out += the mean over ``rows`` of the gradients of their losses at x."""
    p.atoms.dots(rows, x, predictions)
    for b in range(rows.size):
        i = rows[b]
        slopes[b] = p.weights[i] * p.link.slope(predictions[b], p.y[i]) / rows.size
    p.atoms.axpys(rows, slopes, out)
