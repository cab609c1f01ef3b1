"""Cuts for matrices with bounded eigenvalues: a small eigenvector from few products, warm-started.

For any unit vector u, c_u(X) = floor - u'Xu is a lower model of c(X) = floor - lambda_min(X), exact where u is an
eigenvector of the smallest eigenvalue. So every u with u'Xu < floor gives a valid cut, the matrix -u u' of norm 1.

What a method needs of its cuts. The analysis of a penalty adds up <v_t, x_t - x*> over its steps; with v_t the cut of
u_t this is c_u(x_t) - c_u(x*) >= c_u(x_t), since c_u <= c <= 0 at x*. Where c_u(x_t) >= (1 - kappa) [c(x_t)]_+ at
every step, the steps behave as those of the penalty weight (1 - kappa) lam on c itself, so Lemma 0 and all that follows
from it hold for lam > G1 / ((1 - kappa) rho). A cut that is only within delta_t of c adds lam * mean(delta_t) instead.

The vector comes from Lanczos' method, started at the last u with a little of a vector that changes from call to call
(else it could never leave an invariant subspace, such as a block of words that never meet the others). With the
smallest Ritz value theta and the norm r of its residual, some eigenvalue lies in [theta - r, theta]; the smallest Ritz
value converges to the smallest eigenvalue first, and lambda_min >= theta - r once r is small. The products end when

- theta < floor and r <= KAPPA (floor - theta): the cut is deep enough,
- theta - r > floor: there is nothing to cut, or
- r is rounding error, or the budget is used up (the cut is then within delta of c, for no proven delta).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from epro.kernels.records import kernel
from epro.protocols import Array

KAPPA = 0.1
MIX = 0.1  # of the fresh vector in the start
FEWEST = 6  # products before a cut counts as deep enough: fewer may have met an inner eigenvalue only
ROUNDING = 1e-6  # of the largest Ritz value; an eigenvalue's error is of the order of its residual's square


@kernel
def packed_product(x: Array, q: Array, y: Array) -> None:
    """y = X q from the upper triangle of a symmetric X, row by row in one array."""
    d = q.size
    y[:] = 0.0
    start = 0
    for i in range(d):
        row, tail, out, weight = x[start : start + d - i], q[i:], y[i:], q[i]
        for j in range(d - i):
            out[j] += weight * row[j]
        out[0] += np.dot(row[1:], tail[1:])
        start += d - i


@kernel
def symmetric_product(x: Array, q: Array, y: Array) -> None:
    """y = (X + X')/2 q for a square X, or X q for a packed one."""
    if x.ndim == 1:
        packed_product(x, q, y)
    else:
        same = q.astype(x.dtype)  # products of mixed types do not compile
        y[:] = 0.5 * (x @ same + same @ x)


@kernel
def start_vector(u: Array, count: int, q: Array) -> None:
    """q = u, of norm 1 or 0, with ``MIX`` of a vector that depends on ``count``; of norm 1."""
    phase = 0.6180339887498949 * (1 + count % 1024)
    norm2 = 0.0
    for j in range(q.size):
        point = phase * (j + 1) + 0.7548776662466927 * (j + 1) * (j + 1)
        q[j] = point - np.floor(point) - 0.5
        norm2 += q[j] * q[j]
    scale, norm2 = MIX / np.sqrt(norm2), 0.0
    for j in range(q.size):
        q[j] = u[j] + scale * q[j]
        norm2 += q[j] * q[j]
    q /= np.sqrt(norm2)


@kernel
def ritz(alpha: Array, beta: Array, size: int) -> Any:
    """Eigenvalues and eigenvectors of the tridiagonal matrix so far."""
    small = np.zeros((size, size))
    for k in range(size):
        small[k, k] = alpha[k]
        if k + 1 < size:
            small[k, k + 1] = beta[k]
            small[k + 1, k] = beta[k]
    return np.linalg.eigh(small)


@kernel
def lanczos(x: Array, floor: float, basis: Array, y: Array, given: bool, u: Array) -> float:
    """floor - u'Xu, and u, from at most len(basis) products from basis[0] on; ``given``: y has the first already."""
    d, budget = u.size, min(basis.shape[0], u.size)
    alpha, beta = np.zeros(budget), np.zeros(budget)
    rounding = max(ROUNDING, 50.0 * np.finfo(x.dtype).eps)
    used, theta, vectors = 0, 0.0, np.ones((1, 1))
    while used < budget:
        if used > 0 or not given:
            symmetric_product(x, basis[used], y)
        alpha[used] = np.dot(basis[used], y)
        orthogonalise(basis, used + 1, y)
        beta[used] = np.sqrt(np.dot(y, y))
        used += 1
        scale = max(abs(alpha[0]), beta[0])
        ends = used == budget or beta[used - 1] <= 1e-12 * scale
        if not ends:
            for j in range(d):
                basis[used, j] = y[j] / beta[used - 1]
        if ends or used % 2 == 0:
            values, vectors = ritz(alpha, beta, used)
            theta = values[0]
            residual = beta[used - 1] * abs(vectors[used - 1, 0])
            deep_enough = used >= FEWEST and residual <= KAPPA * (floor - theta)
            nothing = used >= FEWEST and residual < theta - floor
            if ends or deep_enough or nothing or residual <= rounding * max(abs(values[0]), abs(values[-1])):
                break
    combine(vectors, basis, used, u)
    return floor - theta


@kernel
def orthogonalise(basis: Array, used: int, y: Array) -> None:
    """Takes from y its part in the span of the basis; twice is enough."""
    for _ in range(2):
        for m in range(used):
            weight = np.dot(basis[m], y)
            for j in range(y.size):
                y[j] -= weight * basis[m, j]


@kernel
def combine(vectors: Array, basis: Array, used: int, u: Array) -> None:
    """u = the first Ritz vector, of norm 1."""
    u[:] = 0.0
    for m in range(used):
        weight = vectors[m, 0]
        for j in range(u.size):
            u[j] += weight * basis[m, j]
    u /= np.sqrt(np.dot(u, u))


def work_size(d: int, budget: int) -> int:
    """The length of ``work`` for cuts of (d, d) matrices."""
    return d if budget == 0 else (budget + 3) * d + 1


@kernel
def exact_cut(x: Array, floor: float, work: Array) -> float:
    """c(x), with u from a full eigendecomposition."""
    w, u = np.linalg.eigh(0.5 * (x + x.T))
    work[: x.shape[0]] = u[:, 0]
    return floor - w[0]


@kernel
def rows_of(work: Array, d: int, budget: int) -> Any:
    """The parts of ``work``: u, the last u that was violated, a scratch row, and the basis of Lanczos' method."""
    rows = work[: (budget + 3) * d].reshape(budget + 3, d)
    return rows[0], rows[1], rows[2], rows[3:]


@kernel
def budgeted_cut(x: Array, d: int, floor: float, budget: int, work: Array, given: bool) -> float:
    """c_u(x) <= c(x), with u from at most ``budget`` products.

    What the next cut starts from changes only when this one is violated: a cut that is not violated may be left out,
    and nothing else changes (see `kernels.skipping`). ``given``: the start and its product are there already.
    """
    u, warm, y, basis = rows_of(work, d, budget)
    if not given:
        start_vector(warm, int(work[-1]), basis[0])
    c = lanczos(x, floor, basis, y, given, u)
    if c > 0.0:
        warm[:] = u
        work[-1] += 1.0
    return c
