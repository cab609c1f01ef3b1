"""The two settings of the Lasso experiment, and who competes in each with which options."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any, Literal

from epro.constraints import L1Ball
from epro.losses import Squared
from epro.problem import Problem
from epro.regularizers import Ridge
from epro.schedules import Epoch, doubling
from epro.solvers import APG, SGD, EproORDA, EproSGD, EproVR, LogTSGD, OneProj, Solver

Engine = Literal["active", "clipped", "lazy", "full"]


@dataclass(frozen=True)
class Competitor:
    """A method with its options, its budget, and how its vectors are held.

    "active": only the columns of the rows that will be drawn, which is exact; "lazy": all columns, each brought up to
    date when a row touches it, with cuts that stop a coordinate at zero instead of carrying it across; "clipped": such
    cuts on the active columns; "full": dense vectors.
    """

    name: str
    solver: Solver
    steps: int
    engine: Engine = "active"

    @property
    def options(self) -> str:
        """What differs from the method's defaults, in words."""
        given = [f for f in fields(self.solver) if getattr(self.solver, f.name) != f.default]  # type: ignore[arg-type]
        said = [f"{f.name}={_short(getattr(self.solver, f.name))}" for f in given]
        return (
            f"{type(self.solver).__name__}({', '.join(said)}), at most {self.steps:,} gradients, {self.engine} columns"
        )


def _short(value: Any) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(f"{epoch.steps:,} x {epoch.step_size:g}" for epoch in value) + "]"
    return repr(value)


@dataclass(frozen=True)
class Setting:
    """One problem with its competitors."""

    name: str
    alpha: float
    radius: float
    competitors: tuple[Competitor, ...]

    def problem(self, X: Any, y: Any) -> Problem:
        """Eq. (lasso): alpha ||w||^2 is Ridge(2 alpha)."""
        return Problem(Squared(X, y), Ridge(2.0 * self.alpha), L1Ball(self.radius))


def settings(n: int, scale: str) -> tuple[Setting, Setting]:
    """The paper's setting and a realistic one, for n rows."""
    return paper(n, 2000, 10), realistic(n, *((20_000, 20) if scale == "full" else (4000, 40)))


def paper(n: int, steps: int, full_gradients: int) -> Setting:
    """alpha = 1, radius 0.5, 2,000 iterations, the stated eta_0 and lambda.

    Not stated: OneProj's penalty weight (lambda = 0.03 as for Epro), LogT's batches (it starts with one row), and what
    Epro does with the 984 iterations that remain after its seven complete epochs (a last, shorter epoch).
    """
    lam, epochs = 0.03, tuple(cut(doubling(8, 0.3), steps))
    return Setting("paper", 1.0, 0.5, (
        Competitor("SGD", SGD(eta0=0.5), steps),
        Competitor("OneProj", OneProj(lam=lam, eta0=0.1, looks=True), steps),
        Competitor("LogT", LogTSGD(eta=0.1), steps),
        Competitor("Epro-SGD", EproSGD(lam=lam, schedule=epochs, clipped=False), steps),
        Competitor("Epro-SGD, clipped", EproSGD(lam=lam, schedule=epochs), steps, "clipped"),
        Competitor("Epro-ORDA", EproORDA(lam=lam, eta1=0.3), steps),
        Competitor("Epro-VR", EproVR(), full_gradients * n, "full"),
        Competitor("APG", APG(), 2 * full_gradients * n, "full"),
    ))  # fmt: skip


def realistic(n: int, dense_steps: int, full_gradients: int) -> Setting:
    """alpha = 1e-5, a radius that binds, one pass over the rows.

    Methods that pay for all active columns at every step (a projection, a dense average) stop after ``dense_steps``.
    """
    lam, eta = 0.03, 1.0  # rows have unit norm: the largest stable step is 2
    few, epochs = min(n, dense_steps), tuple(cut(doubling(max(8, -(-n // 127)), eta), n))
    return Setting("realistic", 1e-5, 30.0, (
        Competitor("SGD", SGD(), few),
        Competitor("OneProj", OneProj(lam=lam, looks=True), few),
        Competitor("LogT", LogTSGD(), few),
        Competitor("Epro-SGD", EproSGD(lam=lam, schedule=epochs), n, "lazy"),
        Competitor("Epro-ORDA", EproORDA(lam=lam, eta1=eta), few),
        Competitor("Epro-VR", EproVR(), full_gradients * n, "full"),
        Competitor("APG", APG(), 2 * full_gradients * n, "full"),
    ))  # fmt: skip


def cut(schedule: Iterable[Epoch], steps: int) -> Iterator[Epoch]:
    """The epochs that fit into ``steps``, and a last one that takes what remains.

    Examples
    --------
    >>> from epro.experiments.figure1_lasso.settings import cut
    >>> from epro.schedules import doubling
    >>> list(cut(doubling(8, 0.5), 30))
    [Epoch(steps=8, step_size=0.5), Epoch(steps=16, step_size=0.25), Epoch(steps=6, step_size=0.125)]
    """
    for epoch in schedule:
        if epoch.steps >= steps:
            yield Epoch(steps, epoch.step_size)
            return
        yield epoch
        steps -= epoch.steps
