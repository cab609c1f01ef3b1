"""Solvers: one algorithm box a file, each a frozen dataclass of options. `METHODS` is the table of names."""

from __future__ import annotations

from typing import Any

from epro.solvers.apg import APG
from epro.solvers.auto import Auto
from epro.solvers.base import Solver
from epro.solvers.epoch_sgd import EpochSGD
from epro.solvers.epro_newton import EproNewton
from epro.solvers.epro_orda import EproORDA
from epro.solvers.epro_sgd import EproSGD
from epro.solvers.epro_vr import EproVR
from epro.solvers.frank_wolfe import FrankWolfe
from epro.solvers.gram import Gram
from epro.solvers.logt_sgd import LogTSGD
from epro.solvers.oneproj import OneProj
from epro.solvers.oneproj_general import OneProjGeneral
from epro.solvers.sgd import SGD

SOLVERS = (
    Auto, EproSGD, EproORDA, EproVR, SGD, EpochSGD, OneProj, OneProjGeneral, LogTSGD, FrankWolfe, APG, EproNewton, Gram,
)  # fmt: skip
METHODS: dict[str, type[Solver]] = {solver.name: solver for solver in SOLVERS}


def solver_of(method: Any) -> Solver:
    """The solver that a name or a solver object stands for."""
    if isinstance(method, Solver):
        return method
    if isinstance(method, str) and method in METHODS:
        return METHODS[method]()
    names = ", ".join(sorted(METHODS))
    raise ValueError(f"method must be one of {names}, or a solver object such as solvers.EproSGD(), got {method!r}")


__all__ = [
    "APG",
    "METHODS",
    "SGD",
    "Auto",
    "EpochSGD",
    "EproNewton",
    "EproORDA",
    "EproSGD",
    "EproVR",
    "FrankWolfe",
    "Gram",
    "LogTSGD",
    "OneProj",
    "OneProjGeneral",
    "Solver",
    "solver_of",
]
