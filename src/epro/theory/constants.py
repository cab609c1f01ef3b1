"""The constants of assumptions A1 to A3, given by hand or found from the parts of a problem."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from epro.protocols import Array
from epro.validation import finite, positive

MEANING = {
    "G1": "a bound on the norm of the stochastic gradients and of the subgradients of the whole objective (A1)",
    "G2": "a bound on the norm of the constraint's subgradients (A2)",
    "rho": "a number with ||x - P(x)|| <= [c(x)]_+ / rho (A3, Lemma 0)",
    "beta": "the strong convexity of the objective",
}


@dataclass(frozen=True)
class Constants:
    """What the theorems need to know about a problem; None means unknown.

    Parameters
    ----------
    G1, G2, rho, beta : float or None
        ``G1`` bounds the norm of the stochastic gradients, and of the subgradients of the whole objective (with g,
        where there is one); ``G2`` that of the constraint's subgradients; ``rho`` satisfies Lemma 0,
        ||x - P(x)|| <= [c(x)]_+ / rho; ``beta`` is the strong convexity. Positive where known (``G2`` may be zero,
        without a constraint).
    missing : dict of str to str
        For each unknown constant, why it is unknown.

    Examples
    --------
    >>> from epro.theory import Constants
    >>> Constants(G1=1.0, G2=1.0, rho=None, beta=0.5).require("rho", who="theorem1")
    Traceback (most recent call last):
    ...
    ValueError: theorem1 needs rho, a number with ||x - P(x)|| <= [c(x)]_+ / rho (A3, Lemma 0), which is unknown
    """

    G1: float | None
    G2: float | None
    rho: float | None
    beta: float | None
    missing: Mapping[str, str] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        for name in MEANING:
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, positive(value, f"Constants: {name}", zero=name == "G2"))

    def require(self, *names: str, who: str) -> tuple[float, ...]:
        """The values of these constants, or an error that names the first unknown one and why it is unknown."""
        for name in names:
            if getattr(self, name) is None:
                why = f": {self.missing[name]}" if name in self.missing else ""
                raise ValueError(f"{who} needs {name}, {MEANING[name]}, which is unknown{why}")
        return tuple(getattr(self, name) for name in names)


def mu(constants: Constants, lam: float) -> float:
    """mu = rho / (rho - G1/lam), the factor that the printed theorems pay for the projection.

    Parameters
    ----------
    constants : Constants
        With ``G1`` and ``rho``.
    lam : float
        The penalty's weight; above G1/rho.

    Examples
    --------
    >>> from epro.theory import Constants, mu
    >>> mu(Constants(G1=1.0, G2=1.0, rho=1.0, beta=0.1), lam=2.0)
    2.0
    """
    G1, rho = constants.require("G1", "rho", who="mu")
    lam = positive(lam, "lam")
    if lam * rho <= G1:
        raise ValueError(
            f"lam must be above G1/rho = {G1 / rho:g} for the theorems to hold, got {lam:g}. (The proof needs only "
            "lam > sup ||grad f||/rho, the expected gradient: if you know a bound on that, pass it as G1 to see mu.)"
        )
    return rho / (rho - G1 / lam)


def constants_of(
    loss: Any, regularizer: Any, constraint: Any, shape: tuple[int, ...], radius: float | None = None
) -> Constants:
    """The constants of f + g under a constraint, as far as the parts and the data determine them.

    A stochastic gradient is w_i s A_i with a slope s, so its norm is at most max|s| * max_i w_i ||A_i||; a
    subgradient of g is bounded on the ball ||x|| <= radius; G1 is the sum of the two. A strongly convex objective has
    unbounded gradients on the whole space (A1 cannot hold there), so with a ridge G1 exists only on a guard
    ball, on which every iterate is projected by a scaling, as in the remark after Theorem 2. The guard keeps the
    proofs: it contains x*, hence never moves an iterate away from it.

    The final projection onto the constraint may leave the guard ball. It does not where 0 is feasible, since
    ||P(x)|| = ||P(x) - P(0)|| <= ||x||. Otherwise, with any feasible p, ||P(x)|| <= ||x|| + 2||p||: pass that
    larger radius here.

    Parameters
    ----------
    loss, regularizer, constraint
        The parts of a problem; None for a regularizer or a constraint that is not there.
    shape : tuple of int
        The shape of x.
    radius : float, optional
        The radius of a ball around 0 that holds all iterates and their projections.

    Returns
    -------
    Constants
        Unknown constants are None, and ``missing`` says why.
    """
    radius = None if radius is None else positive(radius, "constants_of: radius")
    missing: dict[str, str] = {}
    loss_part = _loss_gradient(loss, radius, missing)
    g_part = _regularizer_gradient(regularizer, shape, radius, missing)
    G1 = None if loss_part is None or g_part is None else loss_part + g_part
    if G1 == 0:
        G1, missing["G1"] = None, "every gradient is zero"
    beta = float(getattr(regularizer, "strong_convexity", 0.0) or 0.0) or None
    if beta is None:
        missing["beta"] = "no regularizer makes the objective strongly convex (a Ridge does)"
    G2, rho = _constraint_constants(constraint, missing)
    return Constants(G1=G1, G2=G2, rho=rho, beta=beta, missing=missing)


def _loss_gradient(loss: Any, radius: float | None, missing: dict[str, str]) -> float | None:
    """max|slope| * max_i w_i ||A_i||"""
    slope = loss.slope_bound
    if slope is None and radius is not None:
        y = getattr(loss, "y", None)
        y_max = 0.0 if y is None else float(np.abs(y).max())
        slope = loss.slope_bound_on(radius * float(np.sqrt(np.max(loss.row_norms2))), y_max)
    if slope is None:
        name = type(loss).__name__
        hint = "give the radius of a guard ball" if radius is None else "it declares no bound on its slopes"
        missing["G1"] = f"the slopes of {name} are not known to be bounded; {hint}"
        return None
    return float(slope) * float(loss.max_row_norm())


def _regularizer_gradient(
    g: Any, shape: tuple[int, ...], radius: float | None, missing: dict[str, str]
) -> float | None:
    """The Lipschitz constant of g on the ball."""
    if g is None:
        return 0.0
    bound = g.lipschitz_on(math.inf if radius is None else radius, shape)
    if bound is None or not math.isfinite(bound):
        missing.setdefault(
            "G1", "the regularizer's gradient is unbounded on the whole space; give the radius of a guard ball"
        )
        return None
    return float(bound)


def _constraint_constants(constraint: Any, missing: dict[str, str]) -> tuple[float | None, float | None]:
    if constraint is None:
        missing.update(dict.fromkeys(("G2", "rho"), "there is no constraint"))
        return None, None
    name = type(constraint).__name__
    if constraint.lipschitz is None:
        missing["G2"] = f"{name} does not know a bound on its subgradients"
    if constraint.rho is None:
        missing["rho"] = f"{name} does not know a rho that satisfies Lemma 0"
    return constraint.lipschitz, constraint.rho


def lmnn_radius(trade_off: float, R: float, L: Array, ridge: float, floor: float = 0.0) -> float:
    """r with ||A*||_F <= r: the paper's sqrt(2c/mu_1), made right for a positive floor.

    Any feasible A_0 gives (mu_1/2) ||A*||^2 <= objective(A*) <= objective(A_0), because all other terms are at
    least zero (the trace is, if L is positive semidefinite). With floor 0 take A_0 = 0, whose hinges are 1: the
    paper's r. With a positive floor, 0 is not feasible; A_0 = floor*I has hinges of at most 1 + 4 floor R^2, and

        r^2 = (2/mu_1) [c (1 + 4 floor R^2) + (1 - c) floor tr(L) + mu_1 floor^2 d / 2],

    which tends to the paper's value. (A factor sqrt(2) is left: strong convexity adds (mu_1/2) ||A_0 - A*||^2
    to the left side.)

    Parameters
    ----------
    trade_off, R, L, ridge : float, float, array of shape (d, d), float
        c, the largest norm of a point, the matrix of the linear term (positive semidefinite), and mu_1.
    floor : float, default 0
        The smallest eigenvalue allowed; at least zero.
    """
    c, R, ridge, L = _lmnn_arguments(trade_off, R, ridge, L)
    floor = positive(floor, "lmnn: floor", zero=True)
    hinges = c * (1.0 + 4.0 * floor * R**2)
    start = hinges + (1.0 - c) * floor * float(np.trace(L)) + 0.5 * ridge * floor**2 * L.shape[0]
    return math.sqrt(2.0 * start / ridge)


def lmnn_constants(
    trade_off: float,
    R: float,
    L: Array,
    ridge: float,
    l1_off: float,
    d: int,
    *,
    floor: float = 0.0,
    proven: bool = False,
) -> Constants:
    """The paper's recipe for LMNN: G1 = 8cR^2 + (1-c)||L||_F + mu_1 r + mu_2 d, G2 = 1, rho = 1, beta = mu_1.

    What of it holds:

    - 8cR^2 bounds the hinge's gradient: with points of norm at most R, differences have norm at most 2R, so
      ||d1 d1' - d2 d2'||_F <= ||d1||^2 + ||d2||^2 <= 8R^2. It is generous: the cross term -2 <d1, d2>^2 gives
      4 sqrt(2) R^2, and 4R^2 is attained (x_2 = -x_1, x_3 = x_1).
    - (1-c)||L||_F is the linear term; mu_1 r the ridge on ||A||_F <= r; mu_2 d >= mu_2 sqrt(d(d-1)) the off-diagonal
      l1. But r bounds the optimum, not the iterates: a guard ball of radius r must hold those. With a positive
      floor even the optimum needs the larger r of `lmnn_radius`, and the projection of a point of the ball has norm
      up to r + 2 floor sqrt(d).
    - **rho = 1 does not hold.** ||grad c(A)||_F = 1 only where the smallest eigenvalue is simple. At A = floor*I the
      subgradients are all -W with W positive semidefinite of trace 1, and the shortest, I/d, has norm 1/sqrt(d).
      Lemma 0 fails with it too: A = (floor - 1) I violates by 1 at a distance of sqrt(d). The valid constant is rho =
      1/sqrt(d): the distance is the norm of the negative parts of d eigenvalues, each at most c(A).

    Parameters
    ----------
    trade_off, R, L, ridge, l1_off, d
        c, the largest norm of a point, the matrix of the linear term (positive semidefinite), mu_1, mu_2, and the
        number of columns.
    floor : float, default 0
        The smallest eigenvalue allowed. Used only with ``proven``.
    proven : bool, default False
        False: the recipe as printed. True: rho = 1/sqrt(d), and G1 on a guard ball whose radius is right for the floor.

    Examples
    --------
    >>> import numpy as np
    >>> from epro.theory import lmnn_constants
    >>> lmnn_constants(0.5, 1.0, np.eye(4), ridge=0.01, l1_off=0.0, d=4)
    Constants(G1=5.1, G2=1.0, rho=1.0, beta=0.01, missing={})
    >>> lmnn_constants(0.5, 1.0, np.eye(4), ridge=0.01, l1_off=0.0, d=4, proven=True).rho
    0.5
    """
    c, R, ridge, L = _lmnn_arguments(trade_off, R, ridge, L)
    l1_off = positive(l1_off, "lmnn: l1_off", zero=True)
    if L.shape != (d, d):
        raise ValueError(f"lmnn: L must have shape ({d}, {d}), got {L.shape}")
    r = lmnn_radius(c, R, L, ridge, floor) + 2.0 * floor * math.sqrt(d) if proven else math.sqrt(2.0 * c / ridge)
    G1 = 8.0 * c * R**2 + (1.0 - c) * float(np.linalg.norm(L)) + ridge * r + l1_off * d
    return Constants(G1=G1, G2=1.0, rho=1.0 / math.sqrt(d) if proven else 1.0, beta=ridge)


def _lmnn_arguments(trade_off: float, R: float, ridge: float, L: Array) -> tuple[float, float, float, Array]:
    c, L = positive(trade_off, "lmnn: trade_off"), finite(L, "lmnn: L", ndim=2)
    if c >= 1.0:
        raise ValueError(f"lmnn: trade_off must lie between 0 and 1, got {c:g}")
    return c, positive(R, "lmnn: R"), positive(ridge, "lmnn: ridge"), L
