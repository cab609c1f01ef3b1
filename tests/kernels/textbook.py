"""Every algorithm as its paper writes it, in plain NumPy over the array of all A_i; nothing here is the library's."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass
class Plain:
    """A problem in naive form: A has the shape (n, *shape of x)."""

    A: np.ndarray
    y: np.ndarray
    slope: Callable
    c: Callable
    v: Callable
    project: Callable
    ridge: float = 0.0
    l1: np.ndarray | float = 0.0
    weights: np.ndarray | None = None

    def row_gradient(self, rows, x):
        """The mean over some rows of the gradients of f."""
        total = np.zeros_like(x)
        for i in rows:
            w = 1.0 if self.weights is None else self.weights[i]
            total += w * self.slope(np.sum(self.A[i] * x), self.y[i]) * self.A[i]
        return total / len(rows)

    def g_gradient(self, x):
        return self.ridge * x + self.l1 * np.sign(x)

    def gradient(self, rows, x):
        return self.row_gradient(rows, x) + self.g_gradient(x)

    def prox(self, z, step):
        return np.sign(z) * np.maximum(np.abs(z) - step * self.l1, 0.0) / (1.0 + step * self.ridge)


def doubling(t1, eta1, T, overhead=0, shrink=0.5):
    """(T_k, eta_k) while T_1 + ... + T_k <= T."""
    used = t1 + overhead
    while used <= T:
        yield t1, eta1
        t1, eta1 = 2 * t1, shrink * eta1
        used += t1 + overhead


def into_ball(x, radius):
    norm = np.linalg.norm(x)
    return x * (radius / norm) if norm > radius else x


def draws(rng, p, steps, batch):
    return rng.integers(len(p.A), size=(steps, batch))


def epro_sgd(p, x, T, rng, *, lam, eta1, t1=8, guard=math.inf, proximal=False, batch=1):
    """Algorithm 1, and Eq. (cb)."""
    for steps, eta in doubling(t1, eta1, T // batch):
        total = np.zeros_like(x)
        for rows in draws(rng, p, steps, batch):
            total += x
            d = (p.row_gradient if proximal else p.gradient)(rows, x)
            if p.c(x) > 0:
                d = d + lam * p.v(x)
            x = x - eta * d
            if proximal:
                x = p.prox(x, eta)
            x = into_ball(x, guard)
        x = p.project(total / steps)
        yield x


def robust_epro_sgd(p, x, T, rng, *, eta1, rho, t1=8, implicit):
    """Implicit steps: the slope s solves s = slope(<A, x> - eta |A|^2 s); the hinge's linear model is never crossed.

    Its weight is what a mini-batch at the epoch's start says of the optimal multipliers.
    """
    for steps, eta in doubling(t1, eta1, T):
        total = np.zeros_like(x)
        look = rng.integers(len(p.A), size=min(len(p.A), max(64, steps)))
        lam = np.linalg.norm(p.gradient(look, x)) / rho
        for (i,) in draws(rng, p, steps, 1):
            total += x
            A, c, v, start, row_eta = p.A[i], p.c(x), p.v(x), x, eta * p.weights[i]
            s = implicit(np.sum(A * x), p.y[i], row_eta * np.sum(A * A))
            x = x - row_eta * s * A
            model = c + np.sum(v * (x - start))
            if model > 0:
                x = x - min(model / np.sum(v * v), eta * lam) * v
            x = p.prox(x, eta)
        x = p.project(total / steps)
        yield x


def epro_orda(p, x, T, rng, *, lam, eta1, t1=16, query="u", batch=1):
    """Algorithms 2 and 3."""
    for steps, eta in doubling(t1, eta1, T // batch, 1, math.sqrt(0.5)):
        x = z = x1 = x
        G = np.zeros_like(x)
        for t, rows in enumerate(draws(rng, p, steps + 1, batch), start=1):
            theta, nu, gamma, after = 2 / (t + 1), 2 / t, t**1.5 / eta, (t + 1) ** 1.5 / eta
            u = (1 - theta) * x + theta * z
            q = u if query == "u" else x
            d = p.row_gradient(rows, q) + (lam * p.v(q) if p.c(q) > 0 else 0)
            G = G + d / nu  # line 6: gbar = theta nu sum_tau g_tau / nu_tau
            gbar, weight = theta * nu * G, theta * nu * after
            z = p.prox(x1 - gbar / weight, 1 / weight)  # argmin <gbar, x> + g(x) + weight/2 |x - x1|^2
            x = p.prox(u - d / gamma, 1 / gamma)
        x = p.project(x)
        yield x


def sgd(p, x, T, rng, *, eta0, batch=1):
    """Projected at every step; averages after 8, 24, 56, ... steps."""
    total, done, looks = np.zeros_like(x), 0, 8
    steps = T // batch
    while done < steps:
        now = min(done + looks, steps)
        for t, rows in enumerate(draws(rng, p, now - done, batch), start=done + 1):
            total = total + x
            x = p.project(x - eta0 / t * p.gradient(rows, x))
        done, looks = now, 2 * looks
        yield total / done


def epoch_sgd(p, x, T, rng, *, eta1, t1=4, batch=1):
    """Hazan and Kale."""
    for steps, eta in doubling(t1, eta1, T // batch):
        total = np.zeros_like(x)
        for rows in draws(rng, p, steps, batch):
            total += x
            x = p.project(x - eta * p.gradient(rows, x))
        x = total / steps
        yield x


def oneproj(p, x, T, rng, *, lam, gamma, eta0, radius):
    """SGD on f + gamma log(1 + exp(lam c / gamma)) in a ball, one projection; draws come in blocks of 8, 16, 32, ..."""
    total = np.zeros_like(x)
    for t, rows in enumerate(_blocks(rng, p, T), start=1):
        total += x
        w = lam / (1 + math.exp(min(-lam * p.c(x) / gamma, 700)))
        x = into_ball(x - eta0 / t * (p.gradient(rows, x) + w * p.v(x)), radius)
    yield p.project(total / T)


def oneproj_general(p, x, T, rng, *, gamma, eta, radius):
    """Primal-dual on f + l c - gamma/2 l^2."""
    total, multiplier = np.zeros_like(x), 0.0
    for rows in _blocks(rng, p, T):
        total += x
        c = p.c(x)
        x = into_ball(x - eta * (p.gradient(rows, x) + multiplier * p.v(x)), radius)
        multiplier = max((1 - eta * gamma) * multiplier + eta * c, 0.0)
    yield p.project(total / T)


def _blocks(rng, p, T):
    done, size = 0, 8
    while done < T:
        now = min(done + size, T)
        yield from draws(rng, p, now - done, 1)
        done, size = now, 2 * size


def logt_sgd(p, x, T, rng, *, eta, inner, batch=1):
    """Extra-gradient pairs with mini-batches that double; the next epoch starts from the mean of the z."""
    used = 0
    while used + 2 * inner * batch <= T:
        mean = np.zeros_like(x)
        for _ in range(inner):
            z = p.project(x - eta * p.gradient(rng.integers(len(p.A), size=batch), x))
            x = p.project(x - eta * p.gradient(rng.integers(len(p.A), size=batch), z))
            mean += z / inner
        x = mean
        used, batch = used + 2 * inner * batch, 2 * batch
        yield x


def frank_wolfe(p, x, T, rng, *, vertex):
    """Mini-batches of (t + 1)^2 rows, steps 2/(t + 2); the points after 8, 24, 56, ... gradients, and the last."""
    t, used, since, looks = 0, 0, 0, 8
    n = len(p.A)
    while used + min((t + 1) ** 2, n) <= T:
        size = min((t + 1) ** 2, n)
        rows = np.arange(n) if size == n else rng.integers(n, size=size)
        x = x + 2 / (t + 2) * (vertex(p.gradient(rows, x)) - x)
        t, used, since = t + 1, used + size, since + size
        if since >= max(looks, size):
            since, looks = 0, 2 * looks
            yield x
    if since:
        yield x
