"""Epro-SGD (Algorithm 1), and its proximal form (Eq. cb)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from epro import theory
from epro.moves import Explicit, Implicit, Proximal
from epro.oracles import Oracles
from epro.penalties import Hinge, ProxLinear
from epro.problem import Problem
from epro.protocols import Array
from epro.schedules import Epoch, doubling, within
from epro.solvers.base import Solver
from epro.solvers.plans import NoGuarantee, Plan, plan
from epro.sparse_epochs import ClippedEpochs, clips
from epro.state import State


@dataclass(frozen=True)
class EproSGD(Solver):
    """Epro-SGD: SGD on f + lam [c]_+ within an epoch, one projection at its end.

    With no option given, the constants are Theorem 1's where the parts and the data determine them (every step is
    then scaled back into a ball that holds the feasible set, on which the gradients are bounded), and estimates,
    named in the result, where they do not.

    Parameters
    ----------
    lam : float, optional
        Penalty weight (the paper's Lagrangian multiplier); above G1/rho in the theorem, any positive number in
        practice.
    eta1 : float, optional
        Step size of the first epoch.
    t1 : int, default 8
        Steps of the first epoch.
    schedule : iterable of Epoch, optional
        Replaces the doubling epochs.
    robust : bool, default False
        Implicit loss steps and the prox-linear penalty: no step size or lam overflows (see `epro.penalties`). lam is
        replaced, epoch by epoch, by what the gradient asks for (see `asked`), so its value makes no difference.
    proximal : bool, default False
        Take g by its proximal step (Eq. cb) instead of a subgradient step.
    batch : int, default 1
        Rows per step.
    guard : bool, optional
        Scale every step back into the ball around the origin that holds the feasible set. None: where Theorem 1's
        constants are asked for (lam and eta1 both None), and steps are not clipped.
    clipped : bool, optional
        Take cuts and l1 norms in their clipped form, which costs no more than a row's entries on sparse data: a
        coordinate that they bring to zero stays there until a row moves it. None: for sparse rows in many columns.
    """

    lam: float | None = None
    eta1: float | None = None
    t1: int = 8
    schedule: Iterable[Epoch] | None = None
    robust: bool = False
    proximal: bool = False
    batch: int = 1
    guard: bool | None = None
    clipped: bool | None = None
    name: ClassVar[str] = "epro-sgd"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.schedule is not None:
            object.__setattr__(self, "schedule", Epochs.of(self.schedule))

    def takes_infinite(self, option: str) -> bool:
        return option == "lam" and self.robust

    def states(self, oracles: Oracles, state: State, T: int) -> Iterator[State]:
        memory = {"x0": state.memory.get("x0", state.x)}
        chosen = self.plan(oracles.problem, memory["x0"], T)
        penalty: Any = Hinge(chosen.lam)
        move = Implicit() if self.robust else Proximal() if self.proximal else Explicit()
        domain = oracles.ball(chosen.guard)
        clipped = ClippedEpochs(oracles, chosen.lam) if self._clips(oracles.problem) else None
        # fmt: off
        schedule = doubling(chosen.t1, chosen.eta1) if self.schedule is None else self.schedule  # line 9
        x = state.x                                                                    # line 2
        for k, epoch in enumerate(within(schedule, T // self.batch), start=1):         # line 3
            if k <= state.epoch:
                continue
            if self.robust:
                penalty = ProxLinear(asked(oracles, x, epoch.steps) or chosen.lam)
            if clipped is not None:
                average = clipped.average(x, epoch.step_sizes(), self.batch)
            else:
                average = oracles.epoch(x, epoch, penalty, move, domain, self.batch)   # lines 4 to 7
            x = oracles.project(average)                                               # line 8
            state = state.after(                                                       # line 10
                x, epoch.steps * self.batch, step_size=epoch.step_sizes(0, 1)[0], lam=penalty.lam,
                violation=oracles.violation_seen(average), memory=memory,
            )
            # fmt: on
            yield state

    def plan(self, problem: Problem, x0: Array, T: int) -> Plan:
        """The constants of a run from x0 with T stochastic gradients."""
        lam = math.inf if self.robust and self.lam is None else self.lam
        return plan(
            problem, x0, T // self.batch, theory.theorem1, lam=lam, eta1=self.eta1, t1=self.t1, default_t1=8,
            guard=False if self.robust or self._clips(problem) else self.guard,
        )  # fmt: skip

    def _clips(self, problem: Problem) -> bool:
        if self.clipped is not None:
            return self.clipped
        return clips(problem) and not (self.robust or self.proximal or self.guard)

    def guarantee(self, problem: Problem, x0: Array, T: int) -> Any:
        if self.robust or self.proximal or self.schedule is not None:
            return NoGuarantee("Theorem 1 is about explicit steps on the theorem's schedule")
        return self.plan(problem, x0, T).guarantee

    def estimates(self, problem: Problem, x0: Array, T: int) -> tuple[str, ...]:
        return self.plan(problem, x0, T).estimates


class Epochs:
    """A schedule that can be gone through many times, also where it came as a generator."""

    def __init__(self, source: Iterator[Epoch]) -> None:
        self.source, self.seen = source, list[Epoch]()

    @classmethod
    def of(cls, schedule: Any) -> Iterable[Epoch]:
        """The schedule as something that starts anew whenever it is iterated."""
        if isinstance(schedule, Epochs):
            return schedule
        try:
            epochs = iter(schedule)
        except TypeError:
            raise TypeError(f"EproSGD: schedule must be an iterable of Epoch, got {schedule!r}") from None
        if epochs is schedule:
            return cls(epochs)
        if not (listed := tuple(map(_an_epoch, epochs))):
            raise ValueError("EproSGD: schedule must hold at least one epoch, got none")
        return listed

    def __iter__(self) -> Iterator[Epoch]:
        for k in itertools.count():
            if k == len(self.seen):
                for epoch in itertools.islice(self.source, 1):
                    self.seen.append(_an_epoch(epoch))
            if not self.seen:
                raise ValueError("EproSGD: schedule must hold at least one epoch, got none")
            if k == len(self.seen):
                return
            yield self.seen[k]

    def __reduce__(self) -> Any:
        raise TypeError("EproSGD: a schedule that is a generator cannot be pickled; pass a list of Epoch instead")


def _an_epoch(epoch: Any) -> Epoch:
    if not isinstance(epoch, Epoch):
        raise TypeError(f"EproSGD: schedule must hold epro.schedules.Epoch(steps, step_size), got {epoch!r}")
    return epoch


def asked(oracles: Oracles, x: Array, steps: int) -> float:
    """A bound m on the optimal multipliers, as far as the gradient at x tells.

    The multipliers nu of cuts v at the optimum satisfy sum nu <= ||grad F|| / rho (Lemma 0), and that is all the weight
    an exact penalty needs. Below it the epochs end outside of the set; far above it, steps that are large for their
    noise are projected on one cut after the other, which moves their average inwards: at 2 m the suboptimality was
    up to twenty times that at m, and at 1.1 m up to five times. As many rows as the epoch has steps tell.
    """
    problem = oracles.problem
    rows = oracles.draw(min(problem.n, max(64, steps)))
    gradient = oracles.batch_gradient(x, rows) + problem.regularizer.subgradient(x)
    return float(np.linalg.norm(gradient)) / (problem.constraint.rho or 1.0)
