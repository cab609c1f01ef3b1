"""Algorithms 1 to 3 as the paper writes them, vectorised over runs with NumPy; and a compiled loop for long runs.

Independent of the library's kernels and solvers, which are tested against the same bounds.
"""

from __future__ import annotations

import math

import numba
import numpy as np


def unit_noise(rng, shape):
    """Random signs, scaled to norm 1: mean zero."""
    return (2.0 * rng.integers(0, 2, size=shape) - 1.0) / math.sqrt(shape[-1])


def epro_sgd(problem, schedule, lam, runs, seed):
    """The projected points after each epoch of Algorithm 1, shape (epochs, runs, d); started at 0."""
    rng, c = np.random.default_rng(seed), problem.domain
    x, ends = np.zeros((runs, problem.x_star.size)), []
    for epoch in schedule:
        total = np.zeros_like(x)
        for eta in epoch.step_sizes():
            total += x
            g = problem.gradient(x) + problem.sigma * unit_noise(rng, x.shape)
            fires = (c.violation(x) > 0)[:, None]
            x = into_ball(x - eta * (g + lam * fires * c.subgradient(x)), problem.guard)
        x = c.project(total / epoch.steps)
        ends.append(x)
    return np.array(ends)


def epro_orda(problem, schedule, lam, runs, seed, query="u"):
    """The projected points after each epoch of Algorithm 3; the guard ball is the proximal term g."""
    rng, c = np.random.default_rng(seed), problem.domain
    x, ends = np.zeros((runs, problem.x_star.size)), []

    def subgradient(q):
        g = problem.gradient(q) + problem.sigma * unit_noise(rng, q.shape)
        return g + lam * (c.violation(q) > 0)[:, None] * c.subgradient(q)

    for epoch in schedule:
        last = orda(subgradient, x, epoch.step_size, epoch.steps, query, lambda y: into_ball(y, problem.guard))
        x = c.project(last)
        ends.append(x)
    return np.array(ends)


def orda(subgradient, start, eta, T, query="u", prox=lambda y: y, watch=lambda t, x: None):
    """Algorithm 2; returns x_{T+2}, and shows every x_{t+1} to ``watch``."""
    x = z = start
    weighted = np.zeros_like(start)
    for t in range(1, T + 2):
        theta, nu = 2.0 / (t + 1), 2.0 / t
        u = (1 - theta) * x + theta * z
        g = subgradient(u if query == "u" else x)
        weighted = weighted + g / nu
        z = prox(start - weighted * eta / (t + 1) ** 1.5)
        x = prox(u - g * eta / t**1.5)
        watch(t, x)
    return x


def into_ball(x, radius):
    return x * np.minimum(1.0, radius / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-300))


def long_runs(problem, schedule, lam, runs, seed, orda=False):
    """The same for a `Quadratic` on a `HalfSpace`, compiled: half a million steps for a few runs take a second."""
    steps = np.array([e.steps for e in schedule])
    etas = np.array([e.step_size for e in schedule])
    c = problem.domain
    total = steps.sum() + (steps.size if orda else 0)
    draws = np.random.default_rng(seed).integers(0, 2, size=(runs, total, c.n.size), dtype=np.int8)
    loop = _orda_loop if orda else _sgd_loop
    return loop(problem.m, problem.beta, problem.sigma, problem.guard, c.n, c.b, lam, steps, etas, draws)


@numba.njit(cache=True)
def _inner(a, b):
    total = 0.0
    for j in range(a.size):
        total += a[j] * b[j]
    return total


@numba.njit(cache=True)
def _subgradient(g, q, m, beta, scale, n, b, lam, draw):
    """Into g."""
    weight = lam if _inner(n, q) > b else 0.0
    for j in range(q.size):
        g[j] = beta * (q[j] - m[j]) + scale * (2.0 * draw[j] - 1.0) + weight * n[j]


@numba.njit(cache=True)
def _into_ball(x, radius):
    norm = math.sqrt(_inner(x, x))
    if norm > radius:
        x *= radius / norm


@numba.njit(cache=True)
def _sgd_loop(m, beta, sigma, guard, n, b, lam, steps, etas, draws):
    d, scale = m.size, sigma / math.sqrt(m.size)
    ends, g = np.zeros((steps.size, len(draws), d)), np.zeros(d)
    for r in range(len(draws)):
        x, i = np.zeros(d), 0
        for k in range(steps.size):
            total = np.zeros(d)
            for _ in range(steps[k]):
                _subgradient(g, x, m, beta, scale, n, b, lam, draws[r, i])
                i += 1
                for j in range(d):
                    total[j] += x[j]
                    x[j] -= etas[k] * g[j]
                _into_ball(x, guard)
            x = total / steps[k]
            x -= max(_inner(n, x) - b, 0.0) * n
            ends[k, r] = x
    return ends


@numba.njit(cache=True)
def _orda_loop(m, beta, sigma, guard, n, b, lam, steps, etas, draws):
    d, scale = m.size, sigma / math.sqrt(m.size)
    ends, g, u = np.zeros((steps.size, len(draws), d)), np.zeros(d), np.zeros(d)
    for r in range(len(draws)):
        x, i = np.zeros(d), 0
        for k in range(steps.size):
            start, z, weighted = x.copy(), x.copy(), np.zeros(d)
            for t in range(1, steps[k] + 2):
                theta, near, far = 2.0 / (t + 1), etas[k] / t**1.5, etas[k] / (t + 1) ** 1.5
                for j in range(d):
                    u[j] = (1 - theta) * x[j] + theta * z[j]
                _subgradient(g, u, m, beta, scale, n, b, lam, draws[r, i])
                i += 1
                for j in range(d):
                    weighted[j] += g[j] * t / 2
                    z[j] = start[j] - far * weighted[j]
                    x[j] = u[j] - near * g[j]
                _into_ball(z, guard)
                _into_ball(x, guard)
            x -= max(_inner(n, x) - b, 0.0) * n
            ends[k, r] = x
    return ends
