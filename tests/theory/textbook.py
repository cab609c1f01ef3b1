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
    loop = _orda_loop if orda else _sgd_loop
    return loop(
        problem.m,
        problem.beta,
        problem.sigma,
        problem.guard,
        c.n,
        c.b,
        lam,
        steps,
        etas,
        runs,
        np.random.default_rng(seed),
    )


@numba.njit(nogil=True)
def _subgradient(q, m, beta, scale, n, b, lam, rng):
    weight = lam if np.dot(n, q) > b else 0.0
    g = np.empty_like(q)
    for j in range(q.size):
        sign = 1.0 if rng.random() < 0.5 else -1.0
        g[j] = beta * (q[j] - m[j]) + scale * sign + weight * n[j]
    return g


@numba.njit(nogil=True)
def _guarded(x, guard):
    norm = math.sqrt(np.dot(x, x))
    return x * (guard / norm) if norm > guard else x


@numba.njit(nogil=True)
def _sgd_loop(m, beta, sigma, guard, n, b, lam, steps, etas, runs, rng):
    ends, scale = np.zeros((steps.size, runs, m.size)), sigma / math.sqrt(m.size)
    for r in range(runs):
        x = np.zeros(m.size)
        for k in range(steps.size):
            total = np.zeros(m.size)
            for _ in range(steps[k]):
                total += x
                x = _guarded(x - etas[k] * _subgradient(x, m, beta, scale, n, b, lam, rng), guard)
            x = total / steps[k]
            x = x - max(np.dot(n, x) - b, 0.0) * n
            ends[k, r] = x
    return ends


@numba.njit(nogil=True)
def _orda_loop(m, beta, sigma, guard, n, b, lam, steps, etas, runs, rng):
    ends, scale = np.zeros((steps.size, runs, m.size)), sigma / math.sqrt(m.size)
    for r in range(runs):
        x = np.zeros(m.size)
        for k in range(steps.size):
            start, z, weighted = x, x, np.zeros(m.size)
            for t in range(1, steps[k] + 2):
                u = (1 - 2.0 / (t + 1)) * x + 2.0 / (t + 1) * z
                g = _subgradient(u, m, beta, scale, n, b, lam, rng)
                weighted += g * t / 2
                z = _guarded(start - weighted * etas[k] / (t + 1) ** 1.5, guard)
                x = _guarded(u - g * etas[k] / t**1.5, guard)
            x = x - max(np.dot(n, x) - b, 0.0) * n
            ends[k, r] = x
    return ends
