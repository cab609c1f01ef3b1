"""Theorems 1, 2 and 3: schedules, numbers of epochs and bounds.

All three proofs are one induction. Let Delta_k = f(x^k_1) - f(x*) and V_k = mu^2 G^2 / (2^(k-2) beta), so V_{k+1} =
V_k/2. Claim: E Delta_k <= V_k (Theorem 2: Delta_k <= V_k as long as no epoch fails).

- It holds for k = 1, since Delta_1 <= 2 G1^2/beta <= 2 mu^2 G^2/beta = V_1 (`lemmas.first_gap`).
- A lemma bounds Delta_{k+1} by a term in eta_k and a term in ||x^k_1 - x*||^2. Strong convexity turns the latter into
  ||x^k_1 - x*||^2 <= 2 Delta_k/beta <= 2 V_k/beta. (This factor 2 is where the printed Theorems 2 and 3 slip.)
  Each docstring below chooses T_k and eta_k so that the terms add up to V_k/2 = V_{k+1}.

After k epochs, with T_1 doubling and every epoch costing at most 2^(i-1) a gradients (a = T_1, and a = T_1 + 1 for
ORDA), (2^k - 1) a gradients suffice. So at least floor(log2(T/a + 1)) epochs fit into T, hence 2^k > (T + a)/(2a),
and

    V_{k+1} = 2 mu^2 G^2 / (2^k beta) < 4 a mu^2 G^2 / (beta (T + a)),

which is the bound of each theorem (a = 8: 32 and T + 8; a = 17: 68 and T + 17; a = 129: 516 and T + 129).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from epro import schedules
from epro.schedules import Epoch, count
from epro.theory.constants import Constants, mu
from epro.validation import positive


@dataclass(frozen=True)
class Guarantee:
    """What a theorem says about a run of T stochastic gradients.

    Attributes
    ----------
    theorem, reading : str
        "Theorem 1", "Theorem 2" or "Theorem 3"; and "stated" (as printed), "proven" (with the constants that the
        paper's argument supports) or "sharp" (its own argument, tightened).
    constants, lam, T
        What the theorem was asked with.
    mu : float
        The factor paid for the projection: rho/(rho - G1/lam), or 1 in the sharp reading.
    G : float
        sqrt(G1^2 + lam^2 G2^2) in Theorems 1 and 2, 3 G1 + 2 lam G2 in Theorem 3.
    t1, eta1, shrink, overhead
        Steps and step size of the first epoch, the factor of the step sizes, and the gradients that an epoch
        takes beyond its steps (1 for ORDA).
    stated_epochs : int
        The number of epochs by the theorem's formula; ``epochs`` is what the loop completes.
    probability : float or None
        With which the bound holds; None for a bound on the expectation.
    epsilon : float or None
        Theorem 2: the failure probability of one epoch.
    """

    theorem: str
    reading: str
    constants: Constants
    lam: float
    T: int
    mu: float
    G: float
    t1: int
    eta1: float
    shrink: float
    overhead: int
    stated_epochs: int
    probability: float | None = None
    epsilon: float | None = None
    _others: tuple[Guarantee, ...] = field(default=(), repr=False, compare=False)

    def __str__(self) -> str:
        known = ", ".join(f"{name} = {getattr(self.constants, name):.4g}" for name in ("G1", "G2", "rho", "beta"))
        least = "E f(x) - f(x*)" if self.probability is None else "f(x) - f(x*)"
        odds = "" if self.probability is None else f" with probability at least {self.probability:g}"
        return (
            f"{self.theorem} ({self.reading} constants): {least} <= {self.bound:.4g}{odds} after {self.T} stochastic "
            f"gradients, in {self.epochs} epochs, with {known}, lam = {self.lam:.4g}"
        )

    @property
    def schedule(self) -> tuple[Epoch, ...]:
        """The epochs that complete within T stochastic gradients."""
        doubling = schedules.doubling(self.t1, self.eta1, shrink=self.shrink)
        return tuple(schedules.within(doubling, self.T, overhead=self.overhead))

    @property
    def epochs(self) -> int:
        """How many epochs, hence projections, the loop completes."""
        return len(self.schedule)

    @property
    def bound(self) -> float:
        """The theorem's bound on the suboptimality of the last epoch's projected point."""
        a = self.t1 + self.overhead
        return 2 * a * self._scale / (self.T + a)

    def bound_after(self, k: int) -> float:
        """V_{k+1} = 2 mu^2 G^2 / (2^k beta): the bound after k epochs (k = 0: at any feasible start)."""
        return self._scale / 2.0**k

    @property
    def proven(self) -> Guarantee:
        """The same theorem with the constants that the paper's argument supports."""
        return next((g for g in self._others if g.reading == "proven"), self)

    @property
    def sharp(self) -> Guarantee:
        """The same theorem with a smaller bound, by the tightened argument."""
        return next((g for g in self._others if g.reading == "sharp"), self)

    @property
    def _scale(self) -> float:
        """V_1"""
        (beta,) = self.constants.require("beta", who=self.theorem)
        return 2 * self.mu**2 * self.G**2 / beta


def theorem1(constants: Constants, lam: float, T: int) -> Guarantee:
    """Epro-SGD (Algorithm 1): E f - f* <= 32 mu^2 G^2 / (beta (T + 8)), with T_1 = 8 and eta_1 = mu/(2 beta).

    Lemma 1 gives E Delta_{k+1} <= mu [eta_k G^2 + V_k/(beta eta_k T_k)]. With eta_k = V_k/(4 mu G^2) the first term
    is V_k/4, and the second 4 mu^2 G^2/(beta T_k), which is V_k/4 for T_k = 16 mu^2 G^2/(V_k beta) = 2^(k+2). The
    induction closes with the printed constants, so that the proven reading differs in one thing only: the printed
    number of epochs, ceil(log2(T/8 + 1)), is one more than the loop completes unless T/8 + 1 is a power of two. It
    completes the floor.

    The sharp reading drops mu (see `epro.theory.lemmas`): eta_1 = 1/(2 beta) and 32 G^2/(beta (T + 8)).

    The number of projections is at most log2(T/4) for every T >= 4; for T < 4 that is negative, and no epoch runs.

    Parameters
    ----------
    constants : Constants
        All four.
    lam : float
        Penalty weight, above G1/rho.
    T : int
        Stochastic gradients.

    Examples
    --------
    >>> from epro.theory import Constants, theorem1
    >>> g = theorem1(Constants(G1=1.0, G2=1.0, rho=1.0, beta=1.0), lam=2.0, T=100)
    >>> g.epochs, g.stated_epochs, round(g.bound, 3)  # 32 * 4 * 5 / 108
    (3, 4, 5.926)
    """
    T, factor, G1, G2, beta = _arguments("theorem1", constants, lam, T)
    G = math.hypot(G1, lam * G2)

    def read(reading: str, factor: float) -> Guarantee:
        stated = (-(-T // 8)).bit_length() if reading == "stated" else floor_log2(T // 8 + 1)
        return Guarantee("Theorem 1", reading, constants, lam, T, factor, G, 8, factor / (2 * beta), 0.5, 0, stated)

    return _together(read("stated", factor), read("proven", factor), read("sharp", 1.0))


def theorem2(constants: Constants, lam: float, T: int, delta: float, D: float) -> Guarantee:
    """Epro-SGD with probability 1 - delta: f - f* <= 4 T_1 mu^2 G^2 / (beta (T + T_1)), with eta_1 = mu/(3 beta).

    All iterates must stay within D of x*: project them at every step on a ball of radius D/2 that contains x*.

    One epoch, except with probability epsilon, has

        Delta_{k+1} <= mu [C/T_k + ||x^k_1 - x*||^2/(2 eta_k T_k) + eta_k G^2],
        C = (8 G1^2/beta + 2 G1 D) ln(m/epsilon) + 2 G1 D,    m = ceil(2 log2 T).

    (The paper's Bernstein inequality has sqrt(2)/3 where 2/3 is right; its bound 2 G1 D ln(m/epsilon) has room for
    that.) With eta_k = V_k/(6 mu G^2):

    - the last term is V_k/6;
    - the first is at most V_k/6 for T_k >= 6 mu C/V_k, that is T_1 >= 3 C beta/(mu G^2);
    - the second is at most mu V_k/(beta eta_k T_k) = 6 mu^2 G^2/(beta T_k): V_k/6 for T_k >= 36 mu^2 G^2/(V_k beta),
      that is T_1 >= 18.

    The paper has mu Delta_k/(2 eta_k T_k beta) there, half as much, and hence T_1 >= 9, with which the three terms
    add up to 2 V_k/3. The proven reading takes T_1 >= max(3 C beta/(mu G^2), 18), and its bound follows with that
    T_1. The sharp one is the same with mu = 1: the step from F to the projected point holds for every outcome, not
    only in expectation.

    epsilon is the failure probability of one epoch; the statement uses delta for that of the run. A union bound over
    k epochs needs epsilon = delta/k, where k depends on T_1, which depends on epsilon: taken is the smallest k with
    which at most k epochs fit into T.

    The number of projections is at most log2(T/4) for every T >= 4.

    Parameters
    ----------
    constants, lam, T
        As in `theorem1`.
    delta : float
        Failure probability, between 0 and 1.
    D : float
        A bound on ||x_t - x*|| for all iterates.

    Examples
    --------
    >>> from epro.theory import Constants, theorem2
    >>> g = theorem2(Constants(G1=1.0, G2=1.0, rho=1.0, beta=1.0), lam=2.0, T=10_000, delta=0.1, D=2.0)
    >>> g.probability, g.epochs, g.t1
    (0.9, 8, 29)
    """
    T, factor, G1, G2, beta = _arguments("theorem2", constants, lam, T)
    delta, D = positive(delta, "theorem2: delta"), positive(D, "theorem2: D")
    if delta >= 1:
        raise ValueError(f"theorem2: delta must lie between 0 and 1, got {delta:g}")
    G = math.hypot(G1, lam * G2)
    m = max(1, math.ceil(2 * math.log2(T)))

    def read(reading: str, factor: float, smallest: int) -> Guarantee:
        def first_steps(k: int) -> int:
            C = (8 * G1**2 / beta + 2 * G1 * D) * math.log(m * k / delta) + 2 * G1 * D
            return max(math.ceil(3 * C * beta / (factor * G**2)), smallest)

        k = _covering(first_steps, T)
        t1, eta1 = first_steps(k), factor / (3 * beta)
        epochs = floor_log2(T // t1 + 1)
        return Guarantee(
            "Theorem 2", reading, constants, lam, T, factor, G, t1, eta1, 0.5, 0, epochs, 1 - delta, delta / k
        )

    return _together(read("stated", factor, 9), read("proven", factor, 18), read("sharp", 1.0, 18))


def theorem3(constants: Constants, lam: float, T: int) -> Guarantee:
    """Epro-ORDA (Algorithm 3): E f - f* <= 68 mu^2 G^2 / (beta (T + 17)), with G = 3 G1 + 2 lam G2.

    Printed with T_1 = 16 and eta_1 = mu/beta.

    Lemma 4 gives E Delta_{k+1} <= mu [2 eta_k G^2/sqrt(T_k) + 8 V_k/(beta eta_k sqrt(T_k))]. With
    eta_k = V_k sqrt(T_k)/(8 mu G^2) the first term is V_k/4, and the second 64 mu^2 G^2/(beta T_k). The printed
    T_k = 32 mu^2 G^2/(V_k beta) = 2^(k+3) makes that 2 V_k (the proof loses the 8 between two lines), and the
    induction does not close. Two ways to repair it:

    - *proven*: T_k = 256 mu^2 G^2/(V_k beta), that is T_1 = 128 and eta_1 = 2 sqrt(2) mu/beta, hence the
      bound 516 mu^2 G^2/(beta (T + 129)).
    - *sharp*: with subgradients at u_t, Lemma 4 holds with 2 in place of 4 and 1/2 in place of 2, and without mu (see
      `epro.theory.lemma4`): E Delta_{k+1} <= eta_k G^2/(2 sqrt(T_k)) + 4 V_k/(beta eta_k sqrt(T_k)).
      With eta_k = V_k sqrt(T_k)/(2 G^2) the first term is V_k/4, and the second 8 G^2/(beta T_k), which is V_k/4 for
      T_k = 32 G^2/(V_k beta): the printed T_1 = 16, with eta_1 = 4/beta. So the printed bound holds after all, even
      with mu = 1, but for a step size four times as long.

    An epoch takes T_k + 1 gradients. Three counts of epochs differ a little: the loop of Algorithm 3 as printed
    compares 16 (2^k - 1) with T, and overruns T by up to k gradients; the theorem says floor(log2(T/17 + 1));
    ``epochs`` counts what is spent, 16 (2^k - 1) + k <= T, which is between the two. The bound holds for it.

    The number of projections is at most log2(T/8) for every T >= 8 (in all three readings).

    Parameters
    ----------
    constants, lam, T
        As in `theorem1`; G1 bounds the subgradients of f + g as well.

    Examples
    --------
    >>> from epro.theory import Constants, theorem3
    >>> g = theorem3(Constants(G1=1.0, G2=1.0, rho=1.0, beta=1.0), lam=2.0, T=1000)
    >>> [(r.t1, r.epochs, round(r.bound)) for r in (g, g.proven, g.sharp)]
    [(16, 5, 13), (128, 3, 90), (16, 5, 3)]
    """
    T, factor, G1, G2, beta = _arguments("theorem3", constants, lam, T)
    G, root = 3 * G1 + 2 * lam * G2, math.sqrt(0.5)

    def read(reading: str, factor: float, t1: int, eta1: float) -> Guarantee:
        epochs = floor_log2(T // (t1 + 1) + 1)
        return Guarantee("Theorem 3", reading, constants, lam, T, factor, G, t1, eta1, root, 1, epochs)

    return _together(
        read("stated", factor, 16, factor / beta),
        read("proven", factor, 128, 2 * math.sqrt(2) * factor / beta),
        read("sharp", 1.0, 16, 4 / beta),
    )


def floor_log2(value: int) -> int:
    """floor(log2(value)) of a whole number, exactly. (And floor(log2(q)) = floor(log2(floor(q))) for q >= 1.)"""
    return value.bit_length() - 1


def _arguments(who: str, constants: Constants, lam: float, T: int) -> tuple[int, float, float, float, float]:
    T = count(T, f"{who}: T")
    G1, G2, _, beta = constants.require("G1", "G2", "rho", "beta", who=who)
    return T, mu(constants, lam), G1, G2, beta


def _covering(first_steps: Callable[[int], int], T: int) -> int:
    """The smallest k >= 1 such that at most k epochs fit into T when the first has first_steps(k) steps."""
    k = 1
    while floor_log2(T // first_steps(k) + 1) > k:
        k += 1
    return k


def _together(stated: Guarantee, proven: Guarantee, sharp: Guarantee) -> Guarantee:
    """The stated reading, with the others reachable from it (and from the proven one)."""
    object.__setattr__(proven, "_others", (sharp,))
    object.__setattr__(stated, "_others", (proven, sharp))
    return stated
