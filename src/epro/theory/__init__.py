"""What the paper proves: constants, schedules, numbers of epochs, bounds; as printed, and as the proofs support them.

Nothing here runs a solver. `Constants` holds the letters of assumptions A1 to A3 and the strong convexity;
`theorem1`, `theorem2` and `theorem3` turn them into a schedule and a bound; `constants_of` finds them from the parts
of a problem, and says which it cannot find.

Examples
--------
>>> from epro import theory
>>> known = theory.Constants(G1=1.0, G2=1.0, rho=1.0, beta=0.5)
>>> guarantee = theory.theorem1(known, lam=2.0, T=1000)
>>> guarantee.epochs, guarantee.schedule[0], round(guarantee.bound, 3)
(6, Epoch(steps=8, step_size=2.0), 1.27)
"""

from epro.theory.constants import Constants, constants_of, lmnn_constants, lmnn_radius, mu
from epro.theory.lemmas import epoch_sgd_bound, first_gap, lemma0, lemma1, lemma4, lemma_prox
from epro.theory.theorems import Guarantee, theorem1, theorem2, theorem3

__all__ = [
    "Constants",
    "Guarantee",
    "constants_of",
    "epoch_sgd_bound",
    "first_gap",
    "lemma0",
    "lemma1",
    "lemma4",
    "lemma_prox",
    "lmnn_constants",
    "lmnn_radius",
    "mu",
    "theorem1",
    "theorem2",
    "theorem3",
]
