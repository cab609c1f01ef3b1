"""Problems with known constants and a known optimum, vectorised over runs: a point is an array of shape (runs, d).

Every stochastic gradient is the exact (sub)gradient plus noise of norm ``sigma`` and mean zero, and every iterate
is kept in a guard ball around 0, on which G1 holds. 0 is feasible in all of them, so that projections stay in the ball.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from epro.theory import Constants


@dataclass(frozen=True)
class HalfSpace:
    """<n, x> <= b with a unit vector n and b >= 0."""

    n: np.ndarray
    b: float

    def violation(self, x):
        return x @ self.n - self.b

    def subgradient(self, x):
        return np.broadcast_to(self.n, x.shape)

    def project(self, x):
        return x - np.maximum(self.violation(x), 0.0)[..., None] * self.n


@dataclass(frozen=True)
class Ball:
    """||x|| <= R"""

    R: float

    def violation(self, x):
        return np.linalg.norm(x, axis=-1) - self.R

    def subgradient(self, x):
        return x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-300)

    def project(self, x):
        return x * np.minimum(1.0, self.R / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-300))


@dataclass(frozen=True)
class Quadratic:
    """(beta/2) ||x - m||^2: the optimum is the projection of m, the gradient at most beta (guard + ||m||)."""

    domain: HalfSpace | Ball
    m: np.ndarray
    beta: float
    sigma: float
    guard: float

    @property
    def x_star(self):
        return self.domain.project(self.m)

    @property
    def constants(self):
        return Constants(G1=self.beta * (self.guard + np.linalg.norm(self.m)) + self.sigma, G2=1, rho=1, beta=self.beta)

    def value(self, x):
        return 0.5 * self.beta * ((x - self.m) ** 2).sum(axis=-1)

    def gradient(self, x):
        return self.beta * (x - self.m)


@dataclass(frozen=True)
class Kinked:
    """(beta/2) ||x||^2 + <a, x> + w ||x - x*||_1 on a half-space whose boundary holds x*.

    x* is optimal by construction: with |s_i| < 1 and a multiplier nu > 0, a = -beta x* - w s - nu n makes
    0 = beta x* + a + w s + nu n an instance of the optimality condition.
    """

    domain: HalfSpace
    x_star: np.ndarray
    s: np.ndarray
    nu: float
    w: float
    beta: float
    sigma: float
    guard: float

    @property
    def a(self):
        return -self.beta * self.x_star - self.w * self.s - self.nu * self.domain.n

    @property
    def constants(self):
        G1 = self.beta * self.guard + np.linalg.norm(self.a) + self.w * math.sqrt(self.x_star.size) + self.sigma
        return Constants(G1=G1, G2=1, rho=1, beta=self.beta)

    def value(self, x):
        kinks = self.w * np.abs(x - self.x_star).sum(axis=-1)
        return 0.5 * self.beta * (x**2).sum(axis=-1) + x @ self.a + kinks

    def gradient(self, x):
        return self.beta * x + self.a + self.w * np.sign(x - self.x_star)


def half_space(d=3, beta=0.5, sigma=1.0):
    """m lies outside, so that the constraint is active at the optimum."""
    n = np.ones(d) / math.sqrt(d)
    m = np.linspace(1.0, 2.0, d)
    return Quadratic(HalfSpace(n, 1.0), m, beta, sigma, guard=4.0)


def ball(d=4, beta=1.0, sigma=0.5):
    return Quadratic(Ball(1.0), np.linspace(-1.0, 2.0, d), beta, sigma, guard=1.5)


def inactive(d=3, beta=0.5, sigma=1.0):
    """m lies inside: no multiplier."""
    return Quadratic(Ball(2.0), np.full(d, 0.5), beta, sigma, guard=2.5)


def kinked(d=4, beta=0.3, sigma=0.5):
    n = np.array([1.0, -1.0, 1.0, 1.0]) / 2.0
    x_star = np.array([1.0, 0.0, -0.5, 0.5])
    s = np.array([0.5, -0.5, 0.0, 0.25])
    return Kinked(HalfSpace(n, float(n @ x_star)), x_star, s, nu=0.4, w=0.2, beta=beta, sigma=sigma, guard=2.0)


ALL = {"half-space": half_space, "ball": ball, "inactive": inactive, "kinked": kinked}
