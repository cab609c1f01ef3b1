r"""epro-vr: variance-reduced epochs around a projected point.

An epoch. At the anchor, one full pass gives the slopes sigma_i of all rows, the gradient v of f, and with one
projection a certificate (`certificate`), whose model ends at p with a normal vector N of the set, in units of the
gradient. The inner steps (``kernels/vr.py``) take rows or mini-batches; at every step they move towards the set by a
model of it: the exact projection where that is as cheap as a row, a sweep over the violated rows of a polyhedron, else
the deepest cut. The mean of the second half, projected, is the next anchor.

Centring. Since <N, z - p> <= 0 on the set, adding <theta N, x> to the objective, 0 <= theta < 1, leaves the minimiser
x* where it is as long as theta N has no multiplier above the optimal one: x* is optimal if and only if
-(grad F(x*) + theta N) is normal to the set at x*, and -grad F(x*) = N* with N -> N*. What is gained: the steps are no
longer driven against the active constraints by grad F(x*), only by (1 - theta) of it, and a weak model of many
constraints (one cut a step) has that much less to do. While N still changes from one anchor to the next theta is
smaller, and zero where N changes by a quarter: multipliers that are too large would move x*.

Adaptation. An epoch that does not halve the gap makes the next one twice as long, and where that was tried, the step
size half as long; a point that is worse than its anchor is dropped. A nonsmooth loss is smoothed (`losses.smoothed`)
with a mu that shrinks with the gap; the certificate is one of the loss itself.

Acceleration. Where a projection costs less than a fraction of a gradient, or the epochs stall, accelerated projected
steps are tried, and whichever method gains more digits of the gap per counted multiply-add goes on. Where all rows
together cost less than a few one by one (triplets, whose sum is a Laplacian), they are taken from the start; over
semidefinite matrices in white coordinates (``vr/white.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from epro.oracles import Oracles
from epro.problem import Problem
from epro.solvers.base import Solver
from epro.state import State
from epro.vr.epochs import VarianceReduced


@dataclass(frozen=True)
class EproVR(Solver):
    """Variance-reduced epochs with one projection each, and one for the certificate that comes with it.

    Parameters
    ----------
    batch : int, optional
        Rows per step; as many as balance the cost of the step's other work by default (`costs`).
    step_size : float, optional
        The first one; about 1/(2L) by default, L the smoothness of a mini-batch's mean.
    epoch_length : float, default 1.0
        Rows of the first epoch, in passes over the data.
    centring : float, default 0.9
        theta, the share of the multipliers that is added to the anchor's gradient.
    smoothing : float, optional
        The first mu of a nonsmooth loss, in units of predictions.
    accelerate : bool, default True
        Whether accelerated projected steps may take over.
    """

    batch: int | None = None
    step_size: float | None = None
    epoch_length: float = 1.0
    centring: float = 0.9
    smoothing: float | None = None
    accelerate: bool = True
    name: ClassVar[str] = "epro-vr"
    passes: ClassVar[int] = 3000
    certifies: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 <= self.centring <= 1.0:
            raise ValueError(f"EproVR: centring must lie between 0 and 1, got {self.centring!r}")

    def states(self, oracles: Oracles, state: State, T: int) -> Iterator[State]:
        run = VarianceReduced(self, oracles, state)
        while state.steps + run.next_steps <= T and not state.done:
            state = run.advance(state)
            yield state

    def estimates(self, problem: Problem, x0: object, T: int) -> tuple[str, ...]:
        if self.step_size is not None:
            return ()
        return ("the first step size is 1/(2L), L estimated from a sample of rows; it adapts to the measured gap",)
