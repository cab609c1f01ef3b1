"""What a solver takes where its user says nothing: a theorem's constants, or a named estimate.

`plan` answers for the methods with a penalty weight. Where strong convexity, G1, G2 and rho are known (on a guard
ball, where the feasible set is bounded), lam = 2 G1/rho, so mu = 2, and the theorem gives t1 and eta1. Where one is
unknown:

- lam is twice the norm of the gradient at the start over rho (erratum 5: the expected gradient is what matters), with
  rho = 1 where it is unknown;
- beta, where no part is strongly convex, is L/n, the curvature that n rows can resolve;
- eta1 is at most 1/L, L the largest curvature of a row's loss: a larger explicit step would diverge. Since a theorem
  keeps eta_k T_k constant, the epochs whose steps would be larger are skipped: t1 grows by the factor by which eta1
  shrinks, though never so far that fewer than three epochs fit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from epro import theory
from epro.problem import Problem
from epro.protocols import Array


@dataclass(frozen=True)
class NoGuarantee:
    """Why no theorem covers a run."""

    reason: str
    theorem: None = None

    def __str__(self) -> str:
        return f"no theorem covers this run: {self.reason}"


@dataclass(frozen=True)
class Plan:
    """The constants that a run uses, where they come from, and what is guaranteed."""

    lam: float
    t1: int
    eta1: float
    guard: float | None  # radius of the ball on which every step is projected
    guarantee: theory.Guarantee | NoGuarantee
    estimates: tuple[str, ...] = ()


def row_smoothness(problem: Problem) -> float | None:
    """L: the largest curvature of one row's loss plus the ridge's; None where the loss is not smooth."""
    loss = problem.loss
    if loss.smoothness is None:
        return None
    return loss.smoothness * float(np.max(loss.row_norms2 * loss.weights)) + problem.regularizer.ridge


def strong_convexity(problem: Problem) -> tuple[float, str | None]:
    """beta, and the sentence that names its estimate where it is one."""
    if problem.strong_convexity > 0:
        return problem.strong_convexity, None
    scale = row_smoothness(problem) or float(np.max(problem.loss.row_norms2))
    beta = max(scale, 1e-12) / problem.n
    return beta, f"beta = {beta:.3g}, the largest row curvature over n, as no part is strongly convex"


def known_constants(problem: Problem, guard: float | None) -> theory.Constants:
    """The constants of the problem on the guard ball."""
    return theory.constants_of(problem.loss, problem.regularizer, problem.constraint, problem.shape, guard)


def estimate_lam(problem: Problem, x0: Array) -> tuple[float, str]:
    """Twice ||grad (f + g)(x0)|| / rho, and the sentence that names it."""
    rho = problem.constraint.rho or 1.0
    lam = 2.0 * max(float(np.linalg.norm(problem.gradient(x0))), 1e-8) / rho
    known = "" if problem.constraint.rho else " with rho taken as 1"
    return lam, f"lam = {lam:.3g}, twice the gradient's norm at the start over rho{known}"


def plan(
    problem: Problem, x0: Array, T: int, theorem: Callable[..., theory.Guarantee], *, lam: float | None,
    eta1: float | None, t1: int, default_t1: int, guard: bool | None = None,
) -> Plan:  # fmt: skip
    """The plan of a method whose theorem is ``theorem``, with what its user fixed (not None) left as it is."""
    radius = problem.constraint.radius_bound
    wants_guard = (lam is None and eta1 is None) if guard is None else guard
    ball = radius if wants_guard and radius is not None and np.isfinite(radius) else None
    constants = known_constants(problem, ball)
    if not constants.missing:
        weight = 2.0 * _g1(constants) / (constants.rho or 1.0) if lam is None else lam
        try:
            covered = theorem(constants, weight, T)
        except ValueError as why:
            return _estimated(problem, x0, T, lam, eta1, t1, ball, str(why))
        if eta1 in (None, covered.proven.eta1) and t1 in (default_t1, covered.proven.t1):
            best = covered.proven
            return Plan(weight, best.t1, best.eta1, ball, best)
        return Plan(weight, t1, eta1 or covered.eta1, ball, NoGuarantee("t1 or eta1 is not the theorem's"))
    reason = "; ".join(f"{name} is unknown: {why}" for name, why in constants.missing.items())
    return _estimated(problem, x0, T, lam, eta1, t1, None, reason)


def _g1(constants: theory.Constants) -> float:
    (g1,) = constants.require("G1", who="the default lam")
    return g1


def _estimated(
    problem: Problem, x0: Array, T: int, lam: float | None, eta1: float | None, t1: int, guard: float | None,
    reason: str,
) -> Plan:  # fmt: skip
    estimates: list[str] = []
    if lam is None:
        lam, sentence = estimate_lam(problem, x0)
        estimates.append(sentence)
    if eta1 is None:
        beta, sentence = strong_convexity(problem)
        if sentence:
            estimates.append(sentence)
        eta1 = 1.0 / beta
        largest = row_smoothness(problem)
        if largest is not None and eta1 > 1.0 / largest:
            longest = max(t1, T // 15)  # 1 + 2 + 4 + 8: at least three epochs fit
            skipped = math.ceil(math.log2(eta1 * largest))
            t1 = min(t1 * 2**skipped, longest)
            eta1 = 1.0 / largest
            estimates.append(f"eta1 = {eta1:.3g}, one over the largest row curvature, and t1 = {t1} to go with it")
    return Plan(lam, t1, eta1, guard, NoGuarantee(reason), tuple(estimates))
