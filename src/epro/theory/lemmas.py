"""Lemma 0 and the bounds of single epochs.

How a bound on the penalised objective becomes one on the projected point (used by Lemmas 1 and 4, and pathwise by
Theorem 2). Let F = f + lam [c]_+, x a point, P(x) its projection, f G1-Lipschitz. Lemma 0 gives

    f(P(x)) <= f(x) + G1 ||x - P(x)|| <= f(x) + (G1/rho) [c(x)]_+ <= F(x)      as soon as lam >= G1/rho,

and F(x*) = f(x*). So f(P(x)) - f(x*) <= F(x) - F(x*): nothing is lost, and the factor mu = rho/(rho - G1/lam) that the
paper pays here is not needed. (The paper bounds ||x - P(x)|| and f(x) - f(x*) one after the other, and counts twice
what is there once.) The functions below carry mu as printed, and drop it with ``sharp=True``.

Only the Lipschitz constant of the *expected* objective enters, so that lam >= sup ||grad f||/rho suffices.
"""

from __future__ import annotations

import math

from epro.theory.constants import Constants, mu
from epro.validation import positive


def lemma0(violation: float, rho: float) -> float:
    """[c(x)]_+ / rho, a bound on the distance from x to its projection.

    Where c(x) > 0, x - P(x) = s v with a subgradient v of c at P(x) and s >= 0, so that by convexity
    c(x) = c(x) - c(P(x)) >= <v, x - P(x)> = ||v|| ||x - P(x)|| >= rho ||x - P(x)||. Only the norm of this v, at
    the projected point and normal to the set, needs to be at least rho.

    Examples
    --------
    >>> from epro.theory import lemma0
    >>> lemma0(0.5, rho=2.0), lemma0(-1.0, rho=2.0)
    (0.25, 0.0)
    """
    return max(float(violation), 0.0) / positive(rho, "lemma0: rho")


def lemma1(constants: Constants, lam: float, eta: float, T: int, distance2: float, *, sharp: bool = False) -> float:
    """mu [eta (G1^2 + lam^2 G2^2) + ||x_1 - x*||^2 / (2 eta T)], for one epoch of SGD and its projection.

    From ||x_{t+1} - x*||^2 and convexity, F(x_t) - F(x*) <= (||x_t - x*||^2 - ||x_{t+1} - x*||^2)/(2 eta)
    + (eta/2) ||g_t + lam v_t||^2 in expectation, and ||g + lam v||^2 <= 2 (G1^2 + lam^2 G2^2). Summed over
    t = 1, ..., T and divided by T this bounds F at the average of x_1, ..., x_T. A projection of the iterates on a ball
    that contains x* only shortens ||x_{t+1} - x*||.

    Parameters
    ----------
    constants : Constants
        With ``G1``, ``G2`` and ``rho``.
    lam, eta, T : float, float, int
        Penalty weight, step size, steps.
    distance2 : float
        (The expectation of) ||x_1 - x*||^2.
    sharp : bool, default False
        Without the factor mu, see the head of this module.
    """
    G1, G2 = constants.require("G1", "G2", who="lemma1")
    factor = mu(constants, lam)
    bound = eta * (G1**2 + lam**2 * G2**2) + distance2 / (2 * eta * T)
    return bound if sharp else factor * bound


def lemma_prox(constants: Constants, lam: float, eta: float, T: int, distance2: float, g_drop: float) -> float:
    """Lemma 1's bound plus mu (g(x_1) - g(x_{T+1})) / T: an epoch of the proximal update, Eq. (cb).

    ``g_drop`` is (the expectation of) g(x_1) - g(x_{T+1}), at most g(x_1) where g is never negative.
    """
    return lemma1(constants, lam, eta, T, distance2) + mu(constants, lam) * g_drop / T


def lemma4(constants: Constants, lam: float, eta: float, T: int, distance2: float, *, sharp: bool = False) -> float:
    r"""mu [4 ||x_1 - x*||^2 / (eta sqrt(T)) + 2 eta (3 G1 + 2 lam G2)^2 / sqrt(T)], for one epoch of ORDA.

    Here is a proof, with subgradients taken at u_t, which gives the smaller (``sharp``)
    2 ||x_1 - x*||^2 / (eta sqrt(T)) + eta (3 G1 + 2 lam G2)^2 / (2 sqrt(T)).

    Write phi = f + lam [c]_+, G_t for the stochastic subgradient at u_t, delta_t for its error, a_t = t/2 and
    A_t = a_1 + ... + a_t = t(t+1)/4. Then theta_t = a_t/A_t, 1/(theta_t nu_t) = A_t, and z_{t+1} minimises

        psi_t(x) = sum_{s<=t} a_s [phi(u_s) + <G_s, x - u_s> + g(x)] + (gamma_{t+1}/2) ||x - x_1||^2.

    Claim: A_t F(x_{t+1}) <= min psi_t + E_t. Assume it for t-1. psi_{t-1} is gamma_t-strongly convex with minimum at
    z_t, and gamma grows, so psi_t(x) >= A_{t-1} F(x_t) - E_{t-1} + (gamma_t/2) ||x - z_t||^2 + a_t [...]. Bound
    phi(x_t) below by its tangent at u_t, and put y = (1 - theta_t) x_t + theta_t x, so that
    y - u_t = theta_t (x - z_t); since 1/theta_t^2 >= A_t,

        psi_t(x) >= A_t [phi(u_t) + <G_t, y - u_t> + g(y) + (gamma_t/2) ||y - u_t||^2]
                    - A_{t-1} <delta_t, x_t - u_t> - E_{t-1},

    and x_{t+1} minimises the bracket over y. Here the query at u_t is used twice: the tangent must touch at the point
    from which y - u_t is measured. Finally phi(x_{t+1}) <= phi(u_t) + <phi'(u_t), x_{t+1} - u_t> + M r with
    r = ||x_{t+1} - u_t|| and M = 2(G1 + lam G2), and M r + ||delta_t|| r - (gamma_t/2) r^2 is at most
    (M + ||delta_t||)^2/(2 gamma_t). So the claim holds with
    E_t = E_{t-1} + A_t (M + ||delta_t||)^2/(2 gamma_t) + A_{t-1} <delta_t, x_t - u_t>, where the last term is zero in
    expectation and E(M + ||delta||)^2 <= (M + G1)^2 = G^2. With psi_t(x*) above its minimum,

        E F(x_{n+1}) - F(x*) <= gamma_{n+1} ||x_1 - x*||^2 / (2 A_n) + (G^2 / (2 A_n)) sum_{t<=n} A_t/gamma_t.

    For n = T + 1 and gamma_t = t^{3/2}/eta the first term is 2 sqrt(T+2)/(T+1) ||.||^2/eta <= 2 ||.||^2/(eta sqrt(T)),
    and the second, eta G^2 sum (sqrt(t) + 1/sqrt(t)) / (2 n(n+1)) <= eta G^2 (n/3 + 5/4)/((n+1) sqrt(n)), is below
    eta G^2/(2 sqrt(T)) (for n < 5 by evaluating the sum). The projection is added as in the head of this module.

    Parameters
    ----------
    constants, lam, eta, T, distance2, sharp
        As in `lemma1`; ``T`` is Algorithm 2's T, which takes T + 1 stochastic gradients.
    """
    G1, G2 = constants.require("G1", "G2", who="lemma4")
    factor = mu(constants, lam)
    G = 3 * G1 + 2 * lam * G2
    if sharp:
        return 2 * distance2 / (eta * math.sqrt(T)) + eta * G**2 / (2 * math.sqrt(T))
    return factor * (4 * distance2 / (eta * math.sqrt(T)) + 2 * eta * G**2 / math.sqrt(T))


def first_gap(constants: Constants) -> float:
    """2 G1^2 / beta, above f(x) - f(x*) for every feasible x.

    (beta/2) ||x - x*||^2 <= f(x) - f(x*) <= G1 ||x - x*|| gives ||x - x*|| <= 2 G1/beta.
    """
    G1, beta = constants.require("G1", "beta", who="first_gap")
    return 2 * G1**2 / beta


def epoch_sgd_bound(constants: Constants, T: int) -> float:
    """8 G1^2 / (beta T), Hazan and Kale's bound for Epoch-SGD, which projects at every step.

    Examples
    --------
    >>> from epro.theory import Constants, epoch_sgd_bound
    >>> epoch_sgd_bound(Constants(G1=1.0, G2=None, rho=None, beta=0.1), T=1000)
    0.08
    """
    G1, beta = constants.require("G1", "beta", who="epoch_sgd_bound")
    return 8 * G1**2 / (beta * T)
